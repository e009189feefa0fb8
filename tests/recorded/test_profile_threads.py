#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares stacks of threads that alternate on one core, with context IDs and without, with the executed path
of each thread, and checks stacks that a program switches itself. Prints TAP.

usage: test_profile_threads.py CORETAP

Each program is recorded in one of the ways, with CT_LONG=1 in all."""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tap import check, finish, some  # noqa: E402  pylint: disable=wrong-import-position
import truth  # noqa: E402  pylint: disable=wrong-import-position

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples" / "record"
PROGRAMS = [("gcc", EXAMPLES / "threads.c", "-O2"), ("g++", HERE / "threads.cc", "-O2"),
            ("g++", HERE / "threads.cc", "-O0")]
LONG = os.environ.get("CT_LONG", "0") not in ("", "0")
WAYS = [[], ["--context-id"], ["--threads", "contexts"]]
NOTE = re.compile(r"the call stack was restarted (\d+) times")
COROUTINES = {"coroutines.c": {"resume": {"main"}, "coroutine": {""}, "yield": {"coroutine"}},
              "contexts.c": {"schedule": {"main"}, "pauses": {"main;schedule"},
                             "pause_at": {"main;schedule;pauses"}}}


def truth_of(path, program, capture):
    """Returns the stacks of all threads, and the number of threads that found their core used."""
    lines = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
    threads = {words[2]: words[1] for words in lines}
    want = collections.Counter()
    decides, functions = truth.branches(program), truth.Functions(program, capture)
    for thread in threads:
        of_it = path.with_suffix(".thread")
        of_it.write_text("".join(" ".join(words) + "\n" for words in lines if words[2] == thread),
                         encoding="ascii")
        want += truth.stacks(of_it, decides, functions)
    return want, len(threads) - len(set(threads.values()))


def check_way(coretap, folder, name, program, way):
    capture, path = folder / "capture", folder / "path"
    shutil.rmtree(capture, ignore_errors=True)
    subprocess.run([coretap, "record", "-q", "-o", capture, "--truth", path, *way, "--", program], check=True,
                   capture_output=True, timeout=300)
    want, followed = truth_of(path, program, capture)
    name = f"{name} {' '.join(way) or 'without context IDs'}"
    profile = subprocess.run([coretap, "profile", "--format", "folded", "--no-demangle", capture],
                             check=False, capture_output=True, text=True, timeout=300)
    got = collections.Counter()
    for line in profile.stdout.splitlines():
        stack, weight = line.rsplit(" ", 1)
        got[stack] += int(weight)
    check(f"{name}: {len(want)} stacks are those of the threads", got == want and len(want) > 50,
          truth.difference(got, want))
    for command in (["profile", "--format", "folded"], ["timing"], ["report", "-o", folder / "report.html"]):
        said = subprocess.run([coretap, *command, capture], check=False, capture_output=True, text=True,
                              timeout=300)
        note = NOTE.search(said.stderr)
        times = int(note[1]) if note else 0
        check(f"{name}: {command[0]} says of {0 if way else followed} threads that they follow another",
              times == (0 if way else followed), said.stderr)
    check(f"{name}: threads followed each other on a core", followed > 0)


def check_coroutines(coretap, folder):
    """Each stack of a coroutine goes on where it was left, and none is restarted."""
    program, capture = folder / "coroutines", folder / "capture"
    for source, callers in COROUTINES.items():
        subprocess.run(["aarch64-linux-gnu-gcc", "-O2", "-static", "-o", program, HERE / source], check=True)
        shutil.rmtree(capture, ignore_errors=True)
        subprocess.run([coretap, "record", "-q", "-o", capture, "--", program], check=True,
                       capture_output=True, timeout=300)
        done = subprocess.run([coretap, "profile", "--format", "folded", capture], check=False,
                              capture_output=True, text=True, timeout=300)
        stacks = [line.rsplit(" ", 1)[0].split(";") for line in done.stdout.splitlines()]
        for function, want in callers.items():
            found = {callers_of(stack, function) for stack in stacks if function in stack}
            check(f"{source}: {function} was called by {' and '.join(map(str, want))} only",
                  found == want, str(found))
        check(f"{source}: no stack is restarted", "restarted" not in done.stderr, done.stderr)


def callers_of(stack, function):
    """Returns the program's functions that are outside of the outermost execution of a function."""
    return ";".join(name for name in stack[:stack.index(function)] if "_" not in name)


def main():
    coretap = os.path.abspath(sys.argv[1])
    if not all(map(shutil.which, ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", "qemu-aarch64"))):
        print("1..0 # SKIP QEMU or a compiler for Arm is missing (tools/install-deps arm)")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number, (compiler, source, level) in some(enumerate(PROGRAMS), 0):
            program = folder / source.stem
            subprocess.run([f"aarch64-linux-gnu-{compiler}", level, "-static", "-o", program, source,
                            "-lpthread"], check=True)
            for way in WAYS if LONG else [WAYS[number]]:
                check_way(coretap, folder, f"{source.name} {level}", program, way)
        check_coroutines(coretap, folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
