#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares a job on one rank with one on two, and with two jobs of one rank beside each other.

The two jobs beside each other have half of the captures each and share nothing, so they show what the machine
gives to two processes. The three are measured in turns, because the speed of a machine changes. Prints the
seconds of each turn, and the gain over one rank by all turns and by the quickest. Nothing else should run
meanwhile. Ranks are not bound to processors: two jobs would be bound to the same one.

usage: compare_ranks.py CORETAP_MPI MANIFEST FOLDER [--command COMMAND]... [--turns N] [--cache DIR]

MANIFEST is that of make_captures.py, or lists one large capture; then nothing runs beside."""
import argparse
import os
import pathlib
import subprocess
import tempfile
import time

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_odls_base_sigkill_timeout": "0"}  # otherwise mpirun waits 2 s after exit code 1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("coretap_mpi", "manifest", "folder"):
        parser.add_argument(name, type=lambda word: pathlib.Path(word).resolve())
    parser.add_argument("--command", action="append")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--cache")
    how = parser.parse_args()
    how.command = how.command or ["cover", "timing"]
    return how


def measure(how, command, ranks, manifests, folder):
    """Runs a job for each manifest, all at once. Returns the elapsed seconds, and the results."""
    begin = time.monotonic()
    outputs = [folder / f"result{number}" for number in range(len(manifests))]
    jobs = [subprocess.Popen(  # pylint: disable=consider-using-with
        ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), how.coretap_mpi, command,
         "-q", "--trust", "--manifest", manifest, "-o", output,
         *(["--cache", how.cache] if how.cache else [])],
        env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for manifest, output in zip(manifests, outputs)]
    for job in jobs:
        if job.wait() > 1:  # 1: some captures are damaged
            raise SystemExit(f"a job of '{command}' failed")
    return time.monotonic() - begin, [output.read_bytes() for output in outputs]


def compare(how, command, folder):
    lines = how.manifest.read_text(encoding="utf-8").splitlines(keepends=True)
    halves = [folder / "even", folder / "odd"]
    for number, half in enumerate(halves):
        half.write_text("".join(lines[number::2]), encoding="utf-8")
    kinds = {"one rank": (1, [how.manifest]), "two ranks": (2, [how.manifest])}
    if len(lines) > 1:
        kinds["beside"] = (1, halves)
    turns = {kind: [] for kind in kinds}
    whole = None
    for _ in range(how.turns):
        for kind, (ranks, manifests) in kinds.items():
            elapsed, results = measure(how, command, ranks, manifests, folder)
            turns[kind].append(elapsed)
            print(f"{command}\t{kind}\t{elapsed:.2f} s", flush=True)
            if len(results) == 1 and whole not in (None, results[0]):
                raise SystemExit(f"'{command}' on {kind} gave another result")
            whole = results[0] if len(results) == 1 else whole
    for kind, all_turns in turns.items():
        gain, best = sum(turns["one rank"]) / sum(all_turns), min(turns["one rank"]) / min(all_turns)
        print(f"{command}\t{kind}\tgain {gain:.2f}\tof the quickest turns {best:.2f}", flush=True)


def main():
    how = arguments()
    for command in how.command:
        with tempfile.TemporaryDirectory(dir=how.folder) as folder:
            compare(how, command, pathlib.Path(folder))


if __name__ == "__main__":
    main()
