#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the places of the longest runs of functions, in sums of captures as well.

usage: test_longest.py COMMAND

A window at the printed place must contain one run of the function, which takes the printed time. Prints
TAP."""
import functools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap

COMMAND = str(pathlib.Path(sys.argv[1]).resolve())
WORK = pathlib.Path(tempfile.mkdtemp())
CALL = 64  # cycles, more than any call takes: a block may wait for 32
PROGRAM = r"""
static volatile unsigned long sink;
__attribute__((noinline)) void job(int n) { for (int i = 0; i < n; i++) sink += i * i; }
__attribute__((noinline)) void outer(int n) { job(n); job(n / 2); }
__attribute__((noinline)) int deep(int n) { return n ? 1 + deep(n - 1) : 0; }
int main(int argc, char **argv)
{
    for (int i = 0; i < 50; i++)
        outer(i * 7919 % 97 * 10);
    outer(argc * 1500);
    return deep(argc) - argc;
}
"""


run = functools.partial(command.output, COMMAND, cwd=WORK)


def functions(*captures, options=()):
    """Returns the functions in the sums of captures, by name."""
    told = json.loads(run("timing", "-q", "--together", "--format", "json", *options, *captures))[0]
    return {f["name"]: f for f in told["functions"]}


def record():
    """Records a program twice; the second capture has longer runs. Returns the names of the captures, or None
    without the tools."""
    if not shutil.which("aarch64-linux-gnu-gcc") or not shutil.which("qemu-aarch64"):
        return None
    (WORK / "task.c").write_text(PROGRAM)
    subprocess.run(["aarch64-linux-gnu-gcc", "-O1", "-g", "-static", "task.c", "-o", "task"], check=True,
                   cwd=WORK)
    for name, words in (("on a board", ()), ("other", ("more", "words"))):
        made = subprocess.run([COMMAND, "record", "-q", "--cycle-count", "-o", name, "--", WORK / "task",
                               *words], capture_output=True, timeout=300, check=False, cwd=WORK)
        if made.returncode:
            return None
    return ["on a board", "other"]


def hold_windows(capture):
    """Checks that a window around the longest run of a function contains this run. The window begins with the
    call, which is a step."""
    held = 0
    for name, f in functions(capture).items():
        if "longest" not in f:
            assert not f["inclusive"]["max"], f
            continue
        longest = f["longest"]
        assert longest["cycles"] == f["inclusive"]["max"] <= longest["to"] - longest["from"], f
        assert (longest["capture"], longest["buffer"], longest["id"]) == (capture, "ETB_0", 0), longest
        window = ("--from", f"{longest['from'] - CALL}cyc", "--to", f"{longest['to']}cyc")
        if name in ("job", "outer", "deep") and held < 40:
            inside = functions(capture, options=window)[name]
            assert inside["inclusive"]["count"] == 1, (name, longest, inside)
            assert inside["longest"]["cycles"] == longest["cycles"], (name, longest, inside)
            assert (inside["longest"]["from"], inside["longest"]["to"]) == (longest["from"], longest["to"])
            held += 1
    assert held == 3, held
    text = run("timing", "-q", "--longest", capture)
    assert len(re.findall(rf"^outer\t\d+\t\d+cyc\t\d+cyc\t00\tETB_0\t{capture}$", text, re.M)) == 1, text
    return f"{held} windows"


def hold_sums(one, other):
    """Checks that sums have the longest of all runs in any order of merging. Of equally long runs, they have
    that of the capture whose name is first."""
    for name in (one, other):
        run("timing", "-q", "--format", "data", "-o", f"{name}.times", name)
    first = run("merge", "-q", f"{one}.times", f"{other}.times")
    assert first == run("merge", "-q", f"{other}.times", f"{one}.times")
    assert first == run("timing", "-q", "--format", "data", other, one)
    (WORK / "sum").write_text(first)
    told, alone, more = functions("sum"), functions(one), functions(other)
    assert told["outer"]["longest"] == more["outer"]["longest"], told["outer"]
    # a function whose runs all took less than a cycle has no longest one
    same = [name for name in told if "longest" in alone.get(name, {}) and "longest" in more.get(name, {})
            and alone[name]["longest"]["cycles"] == more[name]["longest"]["cycles"]]
    assert same and all(told[name]["longest"] == alone[name]["longest"] for name in same)
    return f"{len(same)} functions with equal ones"


def fnv(data):
    """Returns the checksum at the end of a file: FNV-1a with 64 bits."""
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 % (1 << 64)
    return value


def hold_old_files():
    """Checks a file of an older version, which has no longest runs, alone and merged with a file that has
    them."""
    text = (WORK / "other.times").read_text()
    old = re.sub(r"^(longest|end) .*\n", "", text, flags=re.M)
    # in version 1, lines of edges lack the last two words
    old = re.sub(r"^(edge .*) \d+ \w+$", r"\1", old, flags=re.M)
    old = old.replace("coretap-timing 5", "coretap-timing 1", 1)
    (WORK / "old").write_text(f"{old}end {fnv(old.encode()):016x}\n")
    assert all("longest" not in f for f in functions("old").values())
    both = functions("old", "on a board.times")["outer"]
    assert both["longest"]["capture"] == "on a board" and \
        both["longest"]["cycles"] < both["inclusive"]["max"], both


def hold_bad_lines():
    """Checks that malformed lines are refused with their line number."""
    for lines, said in (("longest 5 1 6 0\n", "once after a function"),
                        ("function - 10 1 5 1 0 f\nlongest 5 9 6 0\n", "is not 'longest CYCLES"),
                        ("function - 10 1 5 1 0 f\nlongest 5 1 6 0 capture\n", "is not 'longest CYCLES"),
                        ("function - 10 1 5 1 0 f\nlongest 5 1 6 100 a b\n", "is not 'longest CYCLES"),
                        ("function - 10 1 5 1 0 f\nlongest 5 1 6 0 a\\x00 b\n", "has an escape sequence")):
        (WORK / "bad").write_text("coretap-timing 1\n" + lines)
        done = subprocess.run([COMMAND, "timing", WORK / "bad"], capture_output=True, text=True, check=False)
        place = f"bad:{lines.count(chr(10)) + 1}: "
        assert done.returncode == 2 and place in done.stderr and said in done.stderr, (lines, done.stderr)


def main():
    made = record()
    nothing = None if made else "nothing can be recorded here"
    tap.case("windows", nothing, lambda: hold_windows(made[0]))
    tap.case("sums", nothing, lambda: hold_sums(*made))
    tap.case("files that do not tell", nothing, hold_old_files)
    tap.case("bad lines", None, hold_bad_lines)
    shutil.rmtree(WORK)
    return tap.finish()


sys.exit(main())
