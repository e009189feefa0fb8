#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares coretap with other tools that check the same three properties of the same events. Prints events a
second of processor time, including reading and writing text. Leaves out programs that are missing.

usage: run.py CORETAP FOLDER [EVENTS]"""
import pathlib
import random
import resource
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
SLOW = 20  # interpreters get one in this many events


def write_events(path, count):
    rng = random.Random(1)
    time = 0
    with open(path, "w", encoding="ascii") as out:
        for _ in range(count // 1000):
            lines = []
            for bits in rng.choices(range(96), k=1000):
                time += 1 + bits // 3
                lines.append(f"{time}: {('call', 'ret', 'tick')[bits % 3]}\n")
            out.writelines(lines)


def run(command, path):
    """Returns what the command wrote and the processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(path, encoding="ascii") as events:
        done = subprocess.run(command, stdin=events, stdout=subprocess.PIPE, check=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return sorted(done.stdout.splitlines()), took


def main():
    coretap, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 10000000
    folder.mkdir(parents=True, exist_ok=True)
    every, few = folder / "events", folder / "few-events"
    write_events(every, count)
    write_events(few, count // SLOW)
    by_hand = folder / "by-hand"
    subprocess.run(["cc", "-O2", "-o", by_hand, HERE / "properties.c"], check=True)
    tessla = [coretap, "tessla", "--spec", HERE / "properties.tessla", "--time-unit", "ns", "--trace", "-"]
    rows = [
        ("C by hand", [by_hand], every),
        ("coretap tessla, bytecode", tessla, every),
        ("coretap tessla, native", [*tessla, "--engine", "native"], every),
        ("mawk", ["mawk", "-f", HERE / "properties.awk"], every),
        ("gawk", ["gawk", "-f", HERE / "properties.awk"], every),
        ("Python", [sys.executable, HERE / "properties.py"], few),
        ("sec (Perl)", ["sec", "--conf", HERE / "properties.sec", "--input=-", "--notail", "--nointevents",
                        "--quoting"], few),
    ]
    expected = {path: run([by_hand], path)[0] for path in (every, few)}
    for name, command, path in rows:
        if not shutil.which(command[0]):
            print(f"{name:28} is not there")
            continue
        best = 1e9
        for _ in range(3):
            lines, took = run(command, path)
            best = min(best, took)
        lines = [line for line in lines if line[:1].isdigit()]
        events = count if path == every else count // SLOW
        same = "same results" if lines == expected[path] else "OTHER RESULTS"
        print(f"{name:28} {events / best / 1e6:8.2f} M events/s   {same}")


main()
