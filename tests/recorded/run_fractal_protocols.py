#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of FRACTAL with an AMBA ACE or CHI port: the traced accesses equal those of a port
without a protocol, and those of the cluster.

usage: run_fractal_protocols.py COMMAND PLUGIN EXAMPLES"""
import csv
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, PLUGIN, EXAMPLES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
COMPILER = "aarch64-linux-gnu-gcc"
PROTOCOLS = (("--protocol", "ace"), ("--protocol", "chi"))
IMAGE = ("-s", "96x80", "-t", "1")
POINTS = ("--section", ".text", "--section", ".bss", "--point", "table", "--mode", "points")
# name, options of the run, arguments, whether two runs of the program are the same
RUNS = [("canny", (), IMAGE, True), ("disparity", ("--sets", "1"), IMAGE, True), ("mser", (), IMAGE, True),
        ("sift", (), IMAGE, True), ("tracking", ("--section", ".text", "--point", "main"), IMAGE, True),
        ("stages", POINTS, (), True), ("processes", ("--follow-forks", *POINTS), ("fork",), False),
        ("processes", (), ("shared",), True), ("processes", (), ("mremap",), True),
        ("processes", (), ("huge",), True), ("processes", (), ("threads",), False)]


coretap = functools.partial(command.output, COMMAND, "fractal", codes=(0, 1), input="",
                            env={**os.environ, "CORETAP_ACCESS_PLUGIN": PLUGIN})


def run(folder, program, options, arguments):
    """Returns the log as a table, and whether it agrees with the cluster."""
    coretap("run", "-q", "-o", folder / "log", "--truth", folder / "truth", *options, "--", program,
            *arguments, input="\n\n")
    logged = coretap("report", folder / "log", "--elf", program, "--csv")
    return logged, logged == (folder / "truth").read_text()


def accesses_are_the_same(folder, protocols, name, options, arguments, repeats):
    plain, true = run(folder, folder / name, options, arguments)
    if plain.count("\n") < 20:
        raise AssertionError(f"{name}: {plain.count(chr(10))} lines are too few to hold anything against")
    for protocol in protocols:
        logged, fits = run(folder, folder / name, (*options, *protocol), arguments)
        if (logged != plain if repeats else fits != true):
            raise AssertionError(f"{name} {' '.join(arguments)}: {' '.join(protocol)} differs")
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
    if tap.lacks("qemu-aarch64", COMPILER):
        return tap.skip_all(tap.lacks("qemu-aarch64", COMPILER) + " (tools/install-deps arm)")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # mser and sift are much like canny; each of the others has one of the protocols, in turn.
        runs = tap.some(RUNS, 0, 1, 4, 5, 6, 7, 8, 9, 10)
        for source in {run[0] for run in runs}:
            subprocess.run([COMPILER, "-O2", "-static", "-pthread", "-o", folder / source,
                            EXAMPLES / f"{source}.c", "-lm"], check=True)
        tests = [(" ".join((run[0], *run[2][:1])), accesses_are_the_same,
                  (tap.some(PROTOCOLS, number % 2), *run)) for number, run in enumerate(runs)]
        tests.append(("flits replay", flits_replay, ()))
        for what, test, arguments in tests:
            tap.case(what, None, lambda test=test, arguments=arguments: bool(test(folder, *arguments)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
