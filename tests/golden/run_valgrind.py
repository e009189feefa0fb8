#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks for reads of uninitialised, foreign or freed memory, and for leaks, with valgrind: in the listings of
the corpus and the seeds of the commands (tests/fuzz/corpus/command). Prints TAP.

usage: run_valgrind.py COMMAND PROTOCOL[,PROTOCOL...] REPLAY

REPLAY is the fuzz target of the commands, built without a fuzzer. valgrind does not support AVX-512: on a
processor that has it, the AVX2 decoders are checked instead and, in the long form, those of
CORETAP_SIMD=none. The short form replays a few seeds; CT_LONG=1 runs all seeds and all listings."""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

import run_golden

sys.path.insert(0, str(run_golden.ROOT / "tests/support"))
import tap  # noqa: E402

VALGRIND = ["valgrind", "-q", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite"]
SEEDS = run_golden.ROOT / "tests/fuzz/corpus/command"
FEW = ["recorded_etm4", "perf_no_trace", "stream"]
LONG = os.environ.get("CT_LONG", "0") not in ("", "0")


def replay(program, seed, simd):
    line = [*VALGRIND, program, str(SEEDS / seed)]
    result = subprocess.run(line, capture_output=True, stdin=subprocess.DEVNULL, env=os.environ | simd)
    return result.stderr.decode(errors="replace") if result.returncode else None


def listings(coretap, protocols, simd):
    """Yields name and comparison of each listing of the corpus."""
    folder = run_golden.corpus()
    for row in run_golden.rows_of(folder, protocols):
        for kind in "packets", "elements":
            name = f"{row['listing']}/{kind}.{row['id']}.txt"
            yield (name,
                   lambda row=row, kind=kind: run_golden.check([*VALGRIND, coretap], folder, row, kind, simd))


def jobs(coretap, protocols, program, simd):
    for seed in sorted(path.name for path in SEEDS.iterdir()) if LONG else tap.some(FEW, 0, 2):
        yield f"seed {seed}", lambda seed=seed: replay(program, seed, simd)
    if LONG and run_golden.rows_of(run_golden.corpus(), protocols):
        yield from listings(coretap, protocols, simd)


def main():
    coretap, protocols, program = os.path.abspath(sys.argv[1]), sys.argv[2].split(","), os.path.abspath(
        sys.argv[3])
    if not shutil.which("valgrind"):
        print("1..0 # SKIP valgrind is missing (Debian: valgrind)")
        return 0
    if pathlib.Path(coretap).read_bytes().startswith(b"#!"):
        print("1..0 # SKIP valgrind runs no program of another processor")
        return 0
    if tap.is_sanitized(coretap):
        print("1..0 # SKIP a sanitizer and valgrind exclude each other")
        return 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for simd in ({}, {"CORETAP_SIMD": "none"}) if LONG else ({},):
            named = list(jobs(coretap, protocols, program, simd))
            way = f" ({simd['CORETAP_SIMD']})" if simd else ""
            for (name, _), why in zip(named, pool.map(lambda job: job[1](), named)):
                tap.check(name + way, not why, why)
    if LONG and not run_golden.rows_of(run_golden.corpus(), protocols):
        tap.skip("listings", "there is no corpus (CT_SHARED names the folder that holds it)")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
