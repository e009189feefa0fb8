#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that decode --merge with a window, of ticks or cycles, prints the lines of the whole output that are
in it, with any number of threads. Prints TAP.

usage: test_merge_windows.py COMMAND [CAPTURE]…

Captures that are named are checked in addition. CT_SEED sets the first seed, CT_COUNT the number of
windows."""
import os
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND = sys.argv[1]
CAPTURES = [ROOT / "examples/quickstart", ROOT / "examples/raw/itm.ini", *map(pathlib.Path, sys.argv[2:])]
SEED, COUNT = int(os.environ.get("CT_SEED", "1")), int(os.environ.get("CT_COUNT", "12"))
TIME, ID, CYCLE = 0, 1, 3


def merged(capture, *options):
    result = subprocess.run([COMMAND, "decode", "-q", "--no-names", "--merge", *map(str, options), capture],
                            capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode in (0, 1), result.stderr
    assert result.returncode == 0 or result.stderr, "1 without a word"
    return [line.split("\t") for line in result.stdout.splitlines()[1:]]


def in_ticks(line, begin, end):
    """Returns whether a line is in a window of ticks. A source without timestamps comes before all times."""
    return int(line[TIME]) in range(begin, end) if line[TIME] else begin == 0


def cut(rng, values):
    begin = rng.choice(values)
    return begin, max(begin + 1, rng.choice(values)) + rng.randrange(3)


def ticks(capture, whole, rng):
    times = [int(line[TIME]) for line in whole if line[TIME]] or [1, 10]
    some = 0
    for number in range(COUNT):
        begin, end = cut(rng, times)
        if number % 3 == 1:
            begin = 0
        window = [*(["--from", f"{begin}ticks"] if begin else []), "--to", f"{end}ticks"]
        got = merged(capture, *window, "--threads", 1 + number % 3)
        assert got == [line for line in whole if in_ticks(line, begin, end)], window
        some += bool(got)
    return f"{COUNT} windows, {some} with events"


def cycles(capture, whole, rng):
    """Checks windows of cycles of each source that counts cycles. (Local timestamps of an ITM are printed as
    cycles, but do not count.)"""
    some = 0
    for source in sorted({line[ID] for line in whole}):
        of_source = [line for line in whole if line[ID] == source]
        counts = [int(line[CYCLE]) for line in of_source]
        refused = subprocess.run([COMMAND, "decode", "--merge", "--id", source, "--to", "5cyc", capture],
                                 capture_output=True, text=True, check=False)
        if refused.returncode == 2:
            assert "has no cycle counts" in refused.stderr, refused.stderr
            continue
        for _ in range(COUNT if max(counts) else 0):
            begin, end = cut(rng, counts)
            window = ["--from", f"{begin}cyc", "--to", f"{end}cyc"]
            got = merged(capture, "--id", source, *window)
            assert got == [line for line in of_source if int(line[CYCLE]) in range(begin, end)], window
            some += bool(got)
    return f"{some} windows with events"


def threads(capture, whole, rng):
    for count in (2, 4, 7):
        assert merged(capture, "--threads", count) == whole, count
    return f"{len(whole)} lines"


def main():
    for capture in CAPTURES:
        whole = merged(capture)
        assert whole, capture
        for check in (ticks, cycles, threads):
            rng = random.Random(f"{SEED} {check.__name__} {capture.name}")
            tap.case(f"{check.__name__}: {capture.name}", None, lambda c=check, r=rng: c(capture, whole, r))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
