#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of FRACTAL with an AMBA ACE or CHI port: the traced accesses equal those of a port
without a protocol, and those of the cluster.

usage: run_fractal_protocols.py COMMAND PLUGIN EXAMPLES"""
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COMMAND, PLUGIN, EXAMPLES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
COMPILER = "aarch64-linux-gnu-gcc"
PROTOCOLS = ((), ("--protocol", "ace"), ("--protocol", "chi"))
IMAGE = ("-s", "96x80", "-t", "1")
POINTS = ("--section", ".text", "--section", ".bss", "--point", "table", "--mode", "points")
# name, options of the run, arguments, whether two runs of the program are the same
RUNS = [("canny", (), IMAGE, True), ("disparity", ("--sets", "1"), IMAGE, True), ("mser", (), IMAGE, True),
        ("sift", (), IMAGE, True), ("tracking", ("--section", ".text", "--point", "main"), IMAGE, True),
        ("stages", POINTS, (), True), ("processes", ("--follow-forks", *POINTS), ("fork",), False),
        ("processes", (), ("shared",), True), ("processes", (), ("mremap",), True),
        ("processes", (), ("huge",), True), ("processes", (), ("threads",), False)]


def coretap(*args, given=""):
    result = subprocess.run([COMMAND, "fractal", *map(str, args)], capture_output=True, text=True,
                            env={**os.environ, "CORETAP_ACCESS_PLUGIN": PLUGIN}, check=False, input=given)
    if result.returncode not in (0, 1):
        raise RuntimeError(f"coretap fractal {args[0]}: {result.stderr}")
    return result.stdout


def run(folder, program, options, arguments):
    """Returns the log as a table, and whether it agrees with the cluster."""
    coretap("run", "-q", "-o", folder / "log", "--truth", folder / "truth", *options, "--", program,
            *arguments, given="\n\n")
    logged = coretap("report", folder / "log", "--elf", program, "--csv")
    return logged, logged == (folder / "truth").read_text()


def accesses_are_the_same(folder, name, options, arguments, repeats):
    plain, true = run(folder, folder / name, options, arguments)
    if plain.count("\n") < 20:
        raise RuntimeError(f"{name}: {plain.count(chr(10))} lines are too few to hold anything against")
    for protocol in PROTOCOLS[1:]:
        logged, fits = run(folder, folder / name, (*options, *protocol), arguments)
        if (logged != plain if repeats else fits != true):
            raise RuntimeError(f"{name} {' '.join(arguments)}: {' '.join(protocol)} differs")
    return True


def flits_replay(folder):
    """Checks that replayed flits of a run give the same events, also when the port does not distinguish
    instructions from data, and that commands are flits of the protocol."""
    for protocol, snoop, request in (("ace", "AC.ReadClean", "AR.DVMMessage"),
                                     ("chi", "SNP.SnpClean", "REQ.DVMOp")):
        options = ("--protocol", protocol, "--messages", folder / "flits")
        _, true = run(folder, folder / "canny", options, IMAGE)
        flits = (folder / "flits").read_text()
        if f",{snoop}," not in flits or re.search(r"^\d+,Read", flits, re.MULTILINE) or not true:
            return False
        replay = ("replay", "--protocol", protocol, "--commands", folder / "commands", "-o", folder / "again",
                  "--messages")
        truth = [row[:6] for row in csv.reader((folder / "truth").read_text().splitlines())]
        for told in (True, False):
            (folder / "flits").write_text(flits if told else re.sub(r",[ID],", ",-,", flits))
            out = coretap(*replay, folder / "flits")
            events = coretap("report", folder / "again", "--elf", folder / "canny", "--csv")
            rows = [row[:6] for row in csv.reader(events.splitlines())]
            kept = 6 if told else 5
            if not re.search(r"^refused +0$", out, re.MULTILINE) or \
                    [row[:kept] for row in rows[1:]] != [row[:kept] for row in truth[1:]]:
                return False
        if f",{request}:0x" not in (folder / "commands").read_text():
            return False
    return True


def main():
    if not shutil.which("qemu-aarch64") or not shutil.which(COMPILER):
        print("1..0 # SKIP qemu-aarch64 and aarch64-linux-gnu-gcc are needed (Debian: qemu-user "
              "gcc-aarch64-linux-gnu libc6-dev-arm64-cross)")
        return 0
    print(f"1..{len(RUNS) + 1}")
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for source in {run[0] for run in RUNS}:
            subprocess.run([COMPILER, "-O2", "-static", "-pthread", "-o", folder / source,
                            EXAMPLES / f"{source}.c", "-lm"], check=True)
        tests = [(" ".join((run[0], *run[2][:1])), accesses_are_the_same, run) for run in RUNS]
        tests.append(("flits replay", flits_replay, ()))
        for number, (what, test, arguments) in enumerate(tests, 1):
            try:
                ok = test(folder, *arguments)
            except RuntimeError as error:
                print(f"# {error}")
                ok = False
            bad += not ok
            print(f"{'ok' if ok else 'not ok'} {number} - {what}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
