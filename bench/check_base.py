#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the speed of decoding with that of another commit. Both are measured in turns in one run, so that
the load of the machine affects both alike.

usage: check_base.py CORETAP PLUGIN BENCH SOURCE FOLDER TOP

The other commit is BENCH_BASE of the environment; without it, HEAD when there are uncommitted changes, else
HEAD~1. It is built below FOLDER. Exit code 1 when, for any input and level, the best speed of BENCH_ROUNDS
(5) passes is less than LEAST times that of the other commit. BENCH_ONLY is as in run_decode.py."""
import os
import pathlib
import re
import subprocess
import sys

import run_decode

LEAST = 0.95
LEVELS = ["frame", "packet", "element", "events", "flow", "coverage", "timing"]


def git(top, *words):
    return subprocess.run(["git", "-C", top, *words], check=True, stdout=subprocess.PIPE).stdout


def build_base(top, folder):
    """Builds bench_decode of the commit to compare with (BENCH_BASE, otherwise HEAD or HEAD~1). Returns the
    path of the program, and the commit's hash and subject."""
    wanted = os.environ.get("BENCH_BASE") or ("HEAD" if git(top, "status", "--porcelain") else "HEAD~1")
    commit = git(top, "log", "-1", "--format=%h %s", wanted).decode().strip()
    tree = folder.resolve() / f"base-{commit.split()[0]}"
    if not tree.exists():
        tree.mkdir()
        subprocess.run(["tar", "-x", "-C", tree], input=git(top, "archive", wanted), check=True)
    for words in ([tree / "tools/configure", "build"], ["ninja", "-C", "build", "bench/bench_decode"]):
        subprocess.run(words, cwd=tree, check=True, stdout=subprocess.DEVNULL)
    return tree / "build/bench/bench_decode", commit


def has_level(name, level):
    """Returns whether an input is measured at a level: the same rule as bench_has_level. Real programs are
    measured only for coverage and timing, the levels that people wait for."""
    if run_decode.is_real(name) and level not in ("coverage", "timing"):
        return False
    cycles = name == "ptm" or name.endswith(("cycles", "broadcast"))
    some = {"frame": name == "framed", "events": name.endswith("broadcast"), "timing": cycles}
    return some.get(level, True)


def measure(bench, level, name, path):
    """Returns the MB a second of the faster of two passes."""
    text = subprocess.run([bench, "--once", level, name, path], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    return max(float(rate) for rate in re.search(r"twice: ([\d.]+) and ([\d.]+)", text).groups())


def compare(bench, base, level, name, path, rounds):
    here, there = 0.0, 0.0
    for _ in range(rounds):
        here = max(here, measure(bench, level, name, path))
        there = max(there, measure(base, level, name, path))
    slower = here < LEAST * there
    mark = "  SLOWER" if slower else ""
    print(f"  {name:17} {level:9} {here:9.1f} {there:9.1f}  {here / there:5.2f}{mark}", flush=True)
    return slower


def main():
    coretap, plugin, bench, source, folder, top = sys.argv[1:7]
    captures = run_decode.inputs(coretap, plugin, source, folder)
    if not captures:
        print("bench: nothing could be recorded", file=sys.stderr)
        return 77
    base, commit = build_base(top, pathlib.Path(folder))
    rounds = int(os.environ.get("BENCH_ROUNDS", "5"))
    print(f"MB/s here, and of {commit}")
    slower = [f"{name}/{level}" for name, path in zip(captures[::2], captures[1::2]) for level in LEVELS
              if has_level(name, level) and compare(bench, base, level, name, path, rounds)]
    print(f"slower than {LEAST}: {', '.join(slower) or 'none'}")
    return 1 if slower else 0


sys.exit(main())
