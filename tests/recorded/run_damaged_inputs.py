#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks damaged trace of real programs: all ways to count agree, and all commands report the same losses.

usage: run_damaged_inputs.py COMMAND FOLDER     a folder of snapshot directories, such as `make bench` records

Each trace is a window of a recording with damages: bytes that are flipped, cut out, doubled or moved, runs of
00 or ff. The plain engine is the reference; the fast one counts with each kind of vector instructions, with
one thread and with several. Every fourth trace also goes through cover, timing, decode and report.

CT_SEED sets the first seed, CT_COUNT the number of traces of each recording, CT_ONLY the words in names of
recordings (BENCH_ONLY in `make bench`), CT_KEEP a folder for the traces that differ. Prints TAP."""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402

COMMAND, FOLDER = (pathlib.Path(arg).resolve() for arg in sys.argv[1:3])
SEED, COUNT = (int(os.environ.get(name, start)) for name, start in (("CT_SEED", 1), ("CT_COUNT", 40)))
ONLY = os.environ.get("CT_ONLY", "gzip python3-stack cc1-cycles sqlite3-broadcast framed ptm").split()
KEEP = os.environ.get("CT_KEEP")
WINDOW = 300000
TIMES = ("seconds", "mb_per_s")  # of a run of stats: no result
WAYS = [("avx512", 1), ("avx2", 1), ("none", 1), ("avx512", 2), ("avx2", 3), ("none", 2)]
COMMANDS = (["cover", "--all-functions"], ["timing", "--edges"], ["decode"], ["report", "-o", "page.html"])


def damage(trace, rng):
    """Returns a window of the trace with 1 to 30 damages."""
    start = rng.randrange(max(1, len(trace) - WINDOW))
    data = bytearray(trace[start:start + WINDOW])
    for _ in range(rng.randint(1, 30)):
        at = rng.randrange(len(data))
        size = min(len(data) - at, int(2 ** rng.uniform(0, 13)))
        piece = data[at:at + size]
        kind = rng.choice(("flip", "flip", "cut", "double", "swap", "zeros", "ones"))
        if kind == "flip":
            data[at] ^= 1 << rng.randrange(8)
        elif kind == "double":
            data[at:at] = piece
        elif kind in ("zeros", "ones"):
            data[at:at + size] = (b"\0" if kind == "zeros" else b"\xff") * size
        else:
            del data[at:at + size]
            if kind == "swap":
                to = rng.randrange(len(data) + 1)
                data[to:to] = piece
    return bytes(data)


def run(capture, simd, *command):
    """Returns the output of a command, its exit code, and the losses that it reports."""
    # "avx512" is no value of the variable: without it everything that the processor has is used.
    env = {key: value for key, value in os.environ.items() if key != "CORETAP_SIMD"}
    env |= {"CORETAP_SIMD": simd} if simd != "avx512" else {}
    got = subprocess.run([COMMAND, *command, capture], capture_output=True, text=True, check=False, env=env,
                         cwd=capture.parent)
    assert got.returncode in (0, 1, 2), f"{command} {simd}: exit code {got.returncode}, {got.stderr}"
    found = re.findall(r": losses: (.*)", got.stderr)
    return got.stdout, got.returncode, found[0] if found else ""


def stats(capture, level, engine, simd, threads):
    text, code, losses = run(capture, simd, "stats", "--format", "json", "--level", level, "--engine", engine,
                             "--threads", str(threads))
    return {key: value for key, value in json.loads(text).items() if key not in TIMES}, code, losses


def differs(capture, seed):
    """Returns '', or where the ways to count disagree."""
    for level in ("flow", "coverage" if seed % 2 else "timing"):
        plain = stats(capture, level, "plain", "none", 1)
        for simd, threads in WAYS:
            fast = stats(capture, level, "fast", simd, threads)
            if fast != plain:
                return f"{level}, {simd}, {threads} threads:\n  plain {plain}\n  fast  {fast}"
    if seed % 4:
        return ""
    for command in COMMANDS:
        _, code, losses = run(capture, "avx512", *command)
        # An empty table of times has exit code 1, too.
        if losses != plain[2] or code != plain[1] and command[0] != "timing":
            return f"{command[0]}: {code}, {losses!r}; stats: {plain[1:]}"
    pages = {run(capture, simd, "cover", "--format", "data", "--threads", str(threads))[0]
             for simd, threads in WAYS}
    return "" if len(pages) == 1 else "saved coverage differs"


def check(source, folder):
    """Checks damaged copies of one recording. Its memory images are not copied."""
    capture = folder / source.name
    capture.mkdir()
    for path in source.iterdir():
        (capture / path.name).symlink_to(path)
    name = re.search(r"^file=(\S+)", (source / "trace.ini").read_text(), re.M).group(1)
    trace = (source / name).read_bytes()
    (capture / name).unlink()
    bad = []
    for seed in range(SEED, SEED + COUNT):
        (capture / name).write_bytes(damage(trace, random.Random(f"{source.name} {seed}")))
        why = differs(capture, seed)
        if why:
            bad.append(f"seed {seed}: {why}")
            if KEEP:
                shutil.copy(capture / name, pathlib.Path(KEEP) / f"{source.name}-{seed}.bin")
    assert not bad, "\n".join(bad)
    return f"{COUNT} traces from seed {SEED} on"


def main():
    sources = [FOLDER / name for name in ONLY if (FOLDER / name / "trace.ini").exists()]
    if not sources:
        tap.skip("damaged inputs", f"no recordings in {FOLDER} (make bench)")
    with tempfile.TemporaryDirectory() as name:
        for source in sources:
            tap.case(source.name, "", lambda source=source: check(source, pathlib.Path(name)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
