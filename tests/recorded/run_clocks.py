#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the clocks of the cores of a recording agree with causality: what one core stored and another
one saw comes before the next branch of the other core, in the order of decode --merge.

usage: run_clocks.py COMMAND PLUGIN EXAMPLES

examples/record/pingpong.c passes each number on after it was taken, so produce and consume alternate.
CT_LONG=1 records it more often."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, PLUGIN, EXAMPLES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN}
LONG = os.environ.get("CT_LONG") == "1"
ROUNDS, TIMES = (100, 20) if LONG else (25, 2)
COMPILERS = {"A64": ("aarch64-linux-gnu-", []), "A32": ("arm-linux-gnueabihf-", ["-marm"]),
             "T32": ("arm-linux-gnueabihf-", ["-mthumb"])}
COUNTED = ["--cycle-count", "--timestamps"]
CASES = [("A64", "etm4", COUNTED), ("A64", "etm4", ["--cycle-count=4", "--timestamps=300"]),
         ("A64", "etm4", ["--cycle-count=100", "--timestamps", "--framed", "--return-stack"]),
         ("A64", "etm4", ["--timestamps=1"]), ("A64", "ete", COUNTED), ("A32", "etm4", COUNTED),
         ("A32", "ptm", COUNTED), ("T32", "ptm", COUNTED), ("T32", "etm4", COUNTED)]


def build(folder, isa):
    """Returns the program, and the names of its two functions by address."""
    prefix, flags = COMPILERS[isa]
    path = folder / isa
    subprocess.run([prefix + "gcc", "-O2", "-static", *flags, "-o", path, EXAMPLES / "pingpong.c",
                    "-lpthread"], check=True)
    names = subprocess.run([prefix + "nm", path], check=True, capture_output=True, text=True).stdout.split()
    return path, {f"{int(names[names.index(name) - 2], 16) & ~1:#x}": name for name in ("produce", "consume")}


def order(capture, names):
    """Returns the calls of the functions in merged order, with their times, and whether time ran back."""
    calls, last = [], 0
    with subprocess.Popen([COMMAND, "decode", "-q", "--merge", capture], stdout=subprocess.PIPE,
                          text=True) as merged:
        next(merged.stdout)
        for line in merged.stdout:
            time, _, kind, _, value, _ = line.rstrip("\n").split("\t")
            if int(time) < last:
                return calls, f"{time} comes behind {last}"
            last = int(time)
            if kind == "Br" and value in names:
                calls.append((names[value], last))
    return calls, "" if merged.returncode == 0 else f"decode ends with {merged.returncode}"


TURNS = """in produce: Events[Unit]
in consume: Events[Unit]
def produced = count(produce)
def consumed = count(consume)
def error = produced < consumed || produced > consumed + 1
out error
"""


def monitor_says(folder, calls):
    """Returns '', or how a specification over both cores contradicts the merged order."""
    (folder / "turns.tessla").write_text(TURNS, encoding="ascii")
    events = "".join(f"{time}: {name} = ()\n" for name, time in calls)
    ran = subprocess.run([COMMAND, "tessla", "--spec", folder / "turns.tessla"], input=events,
                         capture_output=True, text=True, check=False, timeout=300)
    # A result for each event and one before them, at time 0.
    results = [line for line in ran.stdout.splitlines() if ": error = " in line]
    good = (ran.returncode == 0 and len(results) == len(calls) + 1
            and all(line.endswith("= false") for line in results))
    return "" if good else f"tessla: {ran}"


def turns_are_taken(folder, program, names, protocol, options):
    """Returns '' or what is wrong."""
    for attempt in range(TIMES):
        capture = folder / "capture"
        shutil.rmtree(capture, ignore_errors=True)
        recorded = subprocess.run([COMMAND, "record", "-q", "-o", capture, "--protocol", protocol, *options,
                                   "--", program,
                                   str(ROUNDS)], env=ENV, capture_output=True, text=True, check=False,
                                  timeout=600)
        if recorded.returncode != 0:
            return f"exit code {recorded.returncode}: {recorded.stderr}"
        calls, why = order(capture, names)
        if why or len(calls) != 2 * ROUNDS:
            return f"{why} ({len(calls)} calls, not {2 * ROUNDS})"
        for number, (name, time) in enumerate(calls):
            if name != ("produce", "consume")[number % 2]:
                before = calls[number - 1]
                return f"recording {attempt + 1}: call {number + 1} is {name}, at {time}; before it {before}"
        why = monitor_says(folder, calls)
        if why:
            return why
    return ""


def main():
    missing = tap.lacks(*[prefix + "gcc" for prefix, _ in COMPILERS.values()], "qemu-aarch64", "qemu-arm")
    if missing:
        return tap.skip_all(f"{missing} (tools/install-deps arm)")
    with tempfile.TemporaryDirectory() as name:
        programs = {isa: build(pathlib.Path(name), isa) for isa in COMPILERS}
        for isa, protocol, options in CASES:
            tap.told(f"{isa} {protocol} {' '.join(options)}",
                     turns_are_taken(pathlib.Path(name), *programs[isa], protocol, options))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
