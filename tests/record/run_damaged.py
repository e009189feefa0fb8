#!/usr/bin/env python3
"""Damaged trace of recorded programs: what is counted ran, or no decoder could have known (damaged.c says exactly what).

usage: run_damaged.py COMMAND PLUGIN DAMAGED EXAMPLES

A few hundred damaged traces of recordings with several sets of options; with CT_LONG=1 ten thousand. Of the last one of
each recording also the commands are held against each other: instructions and exit code of stats at all levels, with all
engines and with threads, and the exit codes of list and decode."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

COMMAND, PLUGIN, DAMAGED, EXAMPLES = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
LONG = os.environ.get("CT_LONG") == "1"
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN}
COMPILERS = {"a64": ["aarch64-linux-gnu-gcc"], "a32": ["arm-linux-gnueabihf-gcc", "-marm"],
             "t32": ["arm-linux-gnueabihf-gcc", "-mthumb"]}

# Program, instruction set, options of the recording.
RECORDINGS = [
    ("primes", "a64", "--protocol etm4 --return-stack"),
    ("primes", "a64", "--protocol etm4 --branch-broadcast --cycle-count=4"),
    ("primes", "a64", "--protocol ete --return-stack --cycle-count=4"),
    ("signals", "a64", "--protocol ete --return-stack --overflow 5000 --context-id"),
    ("primes", "t32", "--protocol etm4 --branch-broadcast --timestamps"),
    ("primes", "t32", "--protocol ptm --return-stack"),
    ("signals", "t32", "--protocol ptm --branch-broadcast --timestamps=500"),
    ("primes", "a32", "--protocol etm4 --return-stack"),
    ("primes", "a32", "--protocol ptm --cycle-count"),
    ("signals", "a32", "--protocol etm4 --return-stack --timestamps=500 --cycle-count"),
]
EACH = 1000 if LONG else 30
# In so many of a hundred traces coretap may invent more than libopencsd where both follow: after the first contradiction
# they go on from different addresses and with different return stacks.
MORE = 5

# What stats counts instructions with.
WAYS = [["--level", "flow"], ["--level", "flow", "--engine", "plain"], ["--level", "coverage"],
        ["--level", "coverage", "--engine", "plain"], ["--level", "timing"], ["--level", "coverage", "--threads", "3"],
        ["--level", "flow", "--threads", "2"]]


def program(folder, source, isa):
    path = folder / f"{source}_{isa}"
    if not path.exists():
        subprocess.run([*COMPILERS[isa], "-O2", "-static", "-o", path, EXAMPLES / f"{source}.c", "-lpthread"], check=True)
    return path


def run(*command):
    return subprocess.run([COMMAND, *command], capture_output=True, text=True, check=False)


def commands_agree(capture):
    """'' or what is wrong."""
    answers = set()
    for way in WAYS:
        got = run("stats", "-q", *way, capture)
        values = dict(line.split("=") for line in got.stdout.splitlines())
        answers.add((got.returncode, values["instructions"], values["gaps"], values["lost_bytes"]))
    if len(answers) != 1:
        return f"stats: {answers}"
    code = next(iter(answers))[0]
    for command in (["list", "--elements"], ["decode"]):
        got = run(*command, "-q", capture)
        if got.returncode != code:
            return f"{command}: exit code {got.returncode}, that of stats is {code}; {got.stderr}"
    return ""


def check(folder, number):
    """What is wrong, or '', and the line of sums."""
    source, isa, options = RECORDINGS[number]
    capture, truth = folder / "capture", folder / "truth"
    shutil.rmtree(capture, ignore_errors=True)
    subprocess.run([COMMAND, "record", "-q", "-o", capture, "--truth", truth, "--sync-period", "9", "--max-instructions",
                    "60000", *options.split(), "--", program(folder, source, isa), "60"], check=True, env=ENV,
                   stdout=subprocess.DEVNULL)
    kept = folder / "kept"
    got = subprocess.run([DAMAGED, capture, truth, str(EACH), str(1 + number * EACH), kept], capture_output=True, text=True,
                         check=False)
    if got.returncode:
        return got.stdout + got.stderr, ""
    shutil.copy(kept, capture / "trace_0.bin")
    return commands_agree(capture), got.stdout


def main():
    if not shutil.which("qemu-aarch64") or any(not shutil.which(command[0]) for command in COMPILERS.values()):
        print("1..0 # SKIP QEMU or a compiler for Arm is missing (tools/install-deps arm)")
        return 0
    failed = 0
    total = {"traces": 0, "invented": 0, "opencsd": 0, "more": 0}
    print(f"1..{len(RECORDINGS) + 1}")
    with tempfile.TemporaryDirectory() as name:
        for number, (source, isa, options) in enumerate(RECORDINGS):
            why, sums = check(pathlib.Path(name), number)
            failed += bool(why)
            print(f"{'not ok' if why else 'ok'} {number + 1} - {source} {isa} {options}", flush=True)
            print("# " + (why or sums).strip().replace("\n", "\n# "), flush=True)
            if sums:
                values = dict(field.split("=") for field in sums.splitlines()[-1].split())
                total = {key: total[key] + int(values[key]) for key in total}
    # libopencsd goes on behind contradictions, so that coretap invents a third of what it does. Without it both are 0.
    fine = 2 * total["invented"] <= total["opencsd"] and total["more"] * 100 <= total["traces"] * MORE
    failed += not fine
    print(f"{'ok' if fine else 'not ok'} {len(RECORDINGS) + 1} - not half of what libopencsd invents is: {total}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
