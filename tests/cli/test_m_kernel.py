#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a kernel of the M profile (support/m_kernel.py) whose threads yield at one address: times of runs,
stacks, rounds of a loop and calls equal the model's own books, or a note says that threads were guessed.
Prints TAP.

usage: test_m_kernel.py CORETAP"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import m_kernel  # noqa: E402  pylint: disable=wrong-import-position
import parts  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

CORETAP = os.path.abspath(sys.argv[1])
GUESSED = re.compile(r"was restarted (\d+) time")


def coretap(folder, command, *options):
    """Runs a command. Returns its output, and how many guessed threads it reports."""
    got = subprocess.run([CORETAP, command, *options, "-E", folder / "kernel.elf", folder / "capture.ini"],
                         capture_output=True, text=True, timeout=300, check=False)
    assert got.returncode == 0, got.stderr
    guessed = GUESSED.search(got.stderr)
    return got.stdout, int(guessed[1]) if guessed else 0


def run(folder, seed, is_quiet, steps):
    kernel = m_kernel.Kernel(seed, is_quiet)
    kernel.run(steps)
    (folder / "kernel.elf").write_bytes(m_kernel.elf())
    (folder / "capture.ini").write_text(m_kernel.CONFIG)
    (folder / "trace.bin").write_bytes(kernel.unit.bytes)
    return kernel


def stacks(folder):
    folded, guessed = coretap(folder, "profile", "--format", "folded")
    rows = [line.rsplit(" ", 1) for line in folded.splitlines()]
    return {stack: int(count) for stack, count in rows}, guessed


def calls(folder):
    """Returns the calls by callee, as profile and report count them."""
    names, counts = [], collections.Counter()
    for line in coretap(folder, "profile", "--format", "data")[0].splitlines():
        words = line.split(" ")
        if words[0] == "function":
            names.append(words[3])
        elif words[0] == "call":
            counts[names[int(words[3])]] += int(words[4])
    return counts


def check_all(folder, seed):
    kernel = run(folder, seed, True, 6000)
    assert len(kernel.seen) == 6, kernel.seen
    got, guessed = stacks(folder)
    assert not guessed and got == kernel.stacks, (guessed, got, kernel.stacks)
    assert calls(folder) == kernel.begun, (calls(folder), kernel.begun)
    report = json.loads(coretap(folder, "timing", "--format", "json")[0])[0]["functions"]
    times = {row["name"]: row for row in report if row["runs"]}
    assert {name: row["runs"] for name, row in times.items()} == kernel.begun, times
    for name, runs in kernel.runs.items():
        whole = times[name]["inclusive"]
        got = [whole["count"], whole["sum"], whole["max"], times[name]["cut"]]
        assert got == [len(runs), sum(runs), max(runs), 0], (name, got)
    return f"{kernel.seen}"


def check_rounds(folder, seed):
    kernel = run(folder, seed, True, 6000)
    loops = re.findall(r"^l\d+ work .*\t(\d+)$", coretap(folder, "wcet", "--entry", "work")[0], re.M)
    assert loops == [str(kernel.rounds)], (loops, kernel.rounds)
    return f"{kernel.rounds} rounds at most"


def check_told(folder):
    """Checks that a profile that is wrong says that it guessed. An interrupt that comes before the thread is
    known leads to a guess."""
    wrong = told = 0
    for seed in range(40):
        kernel = run(folder, seed, False, 600)
        got, guessed = stacks(folder)
        assert sum(got.values()) == sum(kernel.stacks.values())
        assert guessed or got == kernel.stacks, (seed, got, kernel.stacks)
        wrong += got != kernel.stacks
        told += guessed > 0
    return f"{wrong} of 40 profiles are wrong somewhere, {told} say that they may be"


def check_told_by(folder, *command):
    """Another command guesses as often as profile."""
    told = 0
    for seed in range(8):
        run(folder, seed, False, 600)
        guessed = stacks(folder)[1]
        said = coretap(folder, *command)[1]
        assert said == guessed, (seed, said, guessed)
        told += guessed > 0
    return f"{told} of 8 say that they may be wrong"


def main():
    no_solver = parts.missing_parts(CORETAP).get("cbc")
    with tempfile.TemporaryDirectory(prefix="coretap-kernel-") as name:
        folder = pathlib.Path(name)
        for seed in range(1, 4):
            tap.case(f"everything that ran is found, seed {seed}", None, lambda s=seed: check_all(folder, s))
            tap.case(f"rounds of a loop, seed {seed}", no_solver, lambda s=seed: check_rounds(folder, s))
        tap.case("guesses are told", None, lambda: check_told(folder))
        tap.case("timing tells them", None, lambda: check_told_by(folder, "timing"))
        tap.case("wcet tells them", no_solver, lambda: check_told_by(folder, "wcet", "--entry", "work"))
    return tap.finish()


sys.exit(main())
