#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the options that select a part of a capture: windows that meet add up to the whole, and so do
contexts, cores and exception levels; threads change no byte; functions and modules are selected by name;
an option that cannot be applied is refused by name; perf.data has processes and threads. Prints TAP.

usage: test_cover_filter.py CORETAP"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

CORETAP = sys.argv[1]
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
PROGRAM = """
#include <pthread.h>
__attribute__((noinline)) static int leaf(int n) { return n * 7 % 5; }
__attribute__((noinline)) static int even(int n) { return leaf(n) + 1; }
__attribute__((noinline)) static int odd(int n) { return leaf(n) + leaf(n + 1) - 1; }
__attribute__((noinline)) static int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i % 2 ? odd(i) : even(i);
    return sum;
}
volatile int sink;
static void *other(void *n) { return (void *)(long)work(*(int *)n); }
int main(void)
{
    pthread_t thread;
    int n = 30;
    pthread_create(&thread, 0, other, &n);
    sink = work(20);
    pthread_join(thread, 0);
    return 0;
}
"""
COUNTS = ("program", "started", "context", "run", "taken", "not")


def run(*args, code=0):
    done = subprocess.run([CORETAP, *map(str, args)], capture_output=True, check=False)
    assert done.returncode == code, f"{args}: exit code {done.returncode}: {done.stderr.decode()}"
    return done.stdout.decode() if code != 2 else done.stderr.decode()


def data(capture, *options, code=0):
    return run("cover", "--format", "data", *options, capture, code=code)


def counts(text):
    """Returns program, context, kind and addresses -> how often."""
    found = collections.Counter()
    program = context = None
    for line in text.splitlines():
        words = line.split()
        if words[0] == "program":
            program = line
        elif words[0] == "context":
            context = line
        elif words[0] in COUNTS and words[0] != "started":
            found[program, context, *words[:-1]] += int(words[-1])
    return found


def adds_up(capture, *parts):
    whole = counts(data(capture))
    total = collections.Counter()
    for options in parts:
        part = counts(data(capture, *options))
        assert part and part != whole, options
        total += part
    assert total == whole, f"{len(total)} {len(whole)} {sum(total.values())} {sum(whole.values())}"


def said(capture, *options):
    """Returns the message about a capture of which nothing is kept."""
    command = [CORETAP, "cover", *map(str, options), capture]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and not done.stdout, done
    assert "none of them belongs to the selected part" in done.stderr, done.stderr
    return done.stderr


def functions(capture, *options):
    rows = run("cover", "--functions", *options, capture).split("function\n")[1].splitlines()
    return {row.split()[-1]: int(row.split()[0]) for row in rows if row.split()[0] != "0"}


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    why = f"{missing[0]} is missing" if missing else None
    capture = folder / "capture"
    cores = folder / "cores"

    def captures():
        (folder / "program.c").write_text(PROGRAM)
        program = folder / "program"
        subprocess.run([TOOLS[0], "-g", "-O1", "-static", "-pthread", "-o", program, folder / "program.c"],
                       check=True)
        for path, threads in ((capture, "contexts"), (cores, "cores")):
            run("record", "-q", "-o", path, "--cycle-count", "--timestamps=50", "--context-id", "--threads",
                threads, "--sync-period", "8", "--", program)

    def windows():
        first, last = re.search(r"timestamps (\d+) to (\d+)", said(capture, "--el", 3)).groups()
        middle = f"{(int(first) + int(last)) // 2}ticks"
        for point in ("9000insn", "12000cyc", middle, "work", "leaf#31", "0.00001s"):
            rate = ("--frequency", 1000000000)
            adds_up(capture, ("--to", point, *rate), ("--from", point, *rate))
        adds_up(capture, ("--to", "work"), ("--from", "work", "--to", "leaf#40"), ("--from", "leaf#40"))

    def contexts():
        there = [line.split()[2] for line in data(capture).splitlines() if line.startswith("context ")]
        assert len(set(there)) == 2, there
        adds_up(capture, *(("--context", context) for context in set(there)))
        adds_up(capture, *(("--tid", int(context, 16)) for context in set(there)))
        both = [option for context in set(there) for option in ("--context", context)]
        assert counts(data(capture, *both)) == counts(data(capture))
        saved = folder / "saved"
        saved.write_text(data(capture))
        for context in set(there):
            assert run("cover", "--context", context, saved) == run("cover", "--context", context, capture)

    def levels():
        assert counts(data(capture, "--el", 0)) == counts(data(capture)), "a program of Linux is at level 0"
        there = said(capture, "--el", 1)
        for words in ("cycles", "timestamps", "contexts", "exception levels 0"):
            assert words in there, there

    def by_core():
        adds_up(cores, ("--core", "cpu_0"), ("--core", "1"))
        assert "cpu_0, cpu_1" in run("cover", "--core", "7", cores, code=2)

    def code():
        assert functions(capture, "--function", "leaf") == {"leaf": 75}
        assert functions(capture, "--function", "leaf", "--function", "odd") == {"leaf": 75, "odd": 25}
        assert counts(data(capture, "--module", "program")) == counts(data(capture))
        third = ("--from", "leaf#3")
        assert functions(capture, *third, "--to", "leaf") == functions(capture, *third, "--to", "leaf#4")
        folded = run("profile", "--function", "leaf", capture).split()
        assert folded[0] == "leaf" and len(folded) == 2, folded
        for option in ("--function", "--module", "--from"):
            assert "'nobody'" in run("cover", option, "nobody", capture, code=2)

    def threads():
        for options in (("--from", "leaf#9", "--to", "leaf#60"), ("--function", "work"),
                        ("--context", "1", "--from", "9000insn")):
            assert data(capture, *options) == data(capture, "--threads", 3, *options), options

    def places():
        whole = [line for line in run("watch", "--at", "leaf", capture).splitlines() if line[0] != "#"]
        some = run("watch", "--at", "leaf", "--from", "leaf#3", "--to", "leaf#9", capture).splitlines()
        some = [line for line in some if line[0] != "#"]
        entries = [line for line in whole if "\tentry\t" in line]
        assert [line for line in some if "\tentry\t" in line] == entries[2:8], "\n".join(some)
        assert set(some) <= set(whole), "times are those of the whole trace"

    def times():
        for option in (("--from", "leaf#3", "--to", "leaf#9"), ("--context", "1"), ("--module", "program")):
            assert "\nleaf\t" in run("timing", *option, capture)
        first = run("timing", "--to", "15000cyc", capture)
        second = run("timing", "--from", "15000cyc", capture)
        whole = run("timing", capture)

        def total(text):
            return sum(int(word.split("=")[1]) for word in text.split() if word.startswith("cycles="))

        assert total(first) + total(second) == total(whole) and total(first) and total(second)

    def refused():
        saved = folder / "saved"
        for options in (("--from", "main"), ("--to", "5cyc"), ("--core", "0"), ("--pid", 1), ("--tid", 1),
                        ("--el", 0), ("--module", "program"), ("--function", "leaf")):
            assert f"{options[0]} cannot be applied" in run("cover", *options, saved, code=2), options
        spec = folder / "spec.tessla"
        spec.write_text("in x: Events[Int]\nout x\n")
        monitor = ("monitor", "-a", "--spec", spec, "--bind", "x=leaf", "--frequency", 1000000000,
                   "--from", "1us")
        assert "the frequency of its timestamps" in run(*monitor, capture, code=2), "it is of the cycles"
        run(*monitor, "--clock", "timestamps", capture)
        entry = run("report", "--entry", "main", "--from", "5cyc", capture, code=2)
        assert "--from cannot be applied: --entry needs" in entry, entry
        for options in (("--el", 4), ("--el", "x"), ("--context", "xyz"), ("--pid", "-1"), ("--from", "5"),
                        ("--to", "5parsecs")):
            assert f"{options[0]}: " in run("cover", *options, capture, code=2), options

    def processes():
        path = folder / "perf.data"
        run("export", "--perf", path, capture)
        threads = said(path, "--tid", 77).split("; threads ")[1].split(";")[0].split(", ")
        assert len(threads) == 2, threads
        adds_up(path, *(("--tid", thread) for thread in threads))
        process = next(p["pid"] for p in json.loads(run("info", "--format", "json", path))["processes"])
        assert counts(data(path, "--pid", process)) == counts(data(path)), "both are threads of it"
        said(path, "--pid", 77)

    tap.case("recordings", why, captures)
    tap.case("windows that meet are the whole", why, windows)
    tap.case("contexts and threads together are the whole", why, contexts)
    tap.case("exception levels, and what there is when nothing is kept", why, levels)
    tap.case("cores together are the whole", why, by_core)
    tap.case("functions and modules", why, code)
    tap.case("threads change no byte", why, threads)
    tap.case("events of a window have the times of the whole", why, places)
    tap.case("times of a part", why, times)
    tap.case("what cannot be applied is refused by name", why, refused)
    tap.case("processes and threads of perf.data", why, processes)
    shutil.rmtree(folder)
    return tap.finish()


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
