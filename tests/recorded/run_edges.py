#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks `coretap watch --all-edges`: an event for each run of instructions that the recorder saw, in order,
and all cycles of the trace; also the binary form, threads, filters, losses, and the reader of the example.
Prints TAP.

usage: run_edges.py CORETAP PLUGIN SOURCE READER"""
import collections
import functools
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402
import tap  # noqa: E402

CORETAP, PLUGIN, SOURCE, READER = (os.path.abspath(path) for path in sys.argv[1:5])
A64, T32 = ["aarch64-linux-gnu-gcc", "-O1"], ["arm-linux-gnueabihf-gcc", "-O1", "-mthumb"]
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN}
run = functools.partial(command.run, CORETAP, env=ENV)
KINDS = ["stream", "sync", "on", "gap", "overflow", "no-access", "exception", "return", "context", "cycles",
         "end"]

def record(folder, compiler, *options, program=None):
    """Returns a capture and its truth: core, first address, instructions of each traced run."""
    program = program or folder / compiler[0]
    subprocess.run([*compiler, "-static", "-pthread", "-o", program, SOURCE], check=True)
    shutil.rmtree(folder / "capture", ignore_errors=True)
    run("record", "-q", "-o", folder / "capture", "--truth", folder / "truth", *options, "--", program)
    runs = [line.split() for line in (folder / "truth").read_text().splitlines()]
    return folder / "capture", [(run[1], int(run[4], 16), int(run[6])) for run in runs if run[0] == "+"]


def watch(folder, capture, *options):
    """Returns the events (what, value), and the table of numbers."""
    text = run("watch", "-q", "--all-edges", "--edge-numbers", folder / "numbers", *options, capture).stdout
    table = [line.split("\t") for line in (folder / "numbers").read_text().splitlines()[1:]]
    assert [int(row[0]) for row in table] == list(range(len(table)))
    return [tuple(line.split("\t")) for line in text.splitlines()[1:]], table


def check_truth(folder, compiler, *options):
    """Checks that each run of the truth is an event, and each cycle count of the trace is in one."""
    capture, truth = record(folder, compiler, *options)
    events, table = watch(folder, capture)
    edges = [table[int(what)] for what, _ in events if what.isdigit()]
    assert [(int(row[2], 16), int(row[5])) for row in edges] == [run[1:] for run in truth]
    listed = run("list", "--elements", capture).stdout
    counts = [int(count) for count in re.findall(r"\bcc=(\d+)", listed)]
    cycles = sum(int(value) for what, value in events
                 if (what.isdigit() or what == "cycles") and value != "-")
    assert cycles == sum(counts), (cycles, sum(counts))
    unknown = sum(value == "-" for what, value in events if what.isdigit())
    assert unknown == (0 if counts else len(edges)) or unknown < len(edges) / 500, unknown
    assert {row[1] for row in edges} >= {"taken", "not-taken", "call", "return"}
    return f"{len(edges)} events of {len(table)} edges, {cycles} cycles"


def check_threads(folder):
    """Checks that cores have separate streams and common numbers, and that threads change nothing."""
    program = folder / "threads"
    capture, truth = record(folder, A64, "--cycle-count=1", "--timestamps=500", program=program)
    events, table = watch(folder, capture)
    assert (events, table) == watch(folder, capture, "--threads", "2")
    edges = [table[int(what)] for what, _ in events if what.isdigit()]
    cores = sorted({run[0] for run in truth}, key=int)
    by_core = [run[1:] for core in cores for run in truth if run[0] == core]
    assert [(int(row[2], 16), int(row[5])) for row in edges] == by_core
    stamps = [int(value) for what, value in events if what == "timestamp"]
    assert stamps and stamps == [int(t, 16) for t in
                                 re.findall(r"timestamp ts=([0-9a-f]+)", run("list", "-e", capture).stdout)]
    return f"{len(edges)} events, {len(stamps)} timestamps"


def check_binary(folder):
    """Checks the binary form: eight bytes per event, with the same content as the lines."""
    capture, _ = record(folder, A64, "--cycle-count=1", "--timestamps=500", "--context-id")
    events, _ = watch(folder, capture)
    data = run("watch", "-q", "--all-edges", "--format", "binary", capture, text=False).stdout
    assert data[:8] == b"CTEDGES\1" and len(data) % 8 == 0
    words, got, wide = struct.unpack(f"<{len(data) // 8 - 1}Q", data[8:]), [], False
    for word in words:
        number, value = word & 0xFFFFFFFF, word >> 32
        if wide:
            got.append(("timestamp", str(word)))
        elif number != 0xFFFFFF80:
            kind = number - 0xFFFFFF00
            got.append((str(number) if kind < 0 else KINDS[kind], "-" if value == 0xFFFFFFFF else str(value)))
        wide = not wide and number == 0xFFFFFF80
    assert got == events
    return f"{len(data)} bytes"


def check_filter(folder):
    """Checks that --function keeps only the edges of a function."""
    capture, _ = record(folder, A64, "--cycle-count=1")
    whole, _ = watch(folder, capture)
    events, table = watch(folder, capture, "--function", "main")
    edges = [table[int(what)] for what, _ in events if what.isdigit()]
    assert edges and all(row[6].split("+")[0] == "main" for row in edges), edges[:5]
    assert len(edges) < sum(what.isdigit() for what, _ in whole)
    return f"{len(edges)} events"


def check_losses(folder):
    """Checks that each overflow of the trace unit is an event."""
    capture, truth = record(folder, A64, "--overflow=20000")
    events, table = watch(folder, capture)
    told = run("info", "--format", "json", capture, codes=None).stdout
    overflows = int(re.search(r'"overflows": *(\d+)', told).group(1))
    kinds = collections.Counter(what for what, _ in events if not what.isdigit())
    assert overflows and kinds["overflow"] == overflows and not kinds["gap"], (kinds, overflows)
    edges = [table[int(what)] for what, _ in events if what.isdigit()]
    lost = len(truth) - len(edges)
    assert 0 <= lost <= overflows * 64
    return f"{overflows} overflows"


def check_reader(folder):
    """Checks that the example's reader adds up the events."""
    capture, truth = record(folder, A64, "--cycle-count=1")
    events, _ = watch(folder, capture)
    data = run("watch", "-q", "--all-edges", "-f", "binary", capture, text=False).stdout
    got = subprocess.run([sys.executable, READER, folder / "numbers", "5"], input=data, capture_output=True,
                         check=True).stdout.decode()
    cycles = sum(int(value) for what, value in events if what.isdigit() and value != "-")
    assert got.startswith(f"{len(truth)} events of ") and f", {cycles} cycles\n" in got, got
    assert len(got.splitlines()) == 7 and "main" in run("watch", "-q", "-a", "main", capture).stdout
    return got.splitlines()[2]


def check_errors(folder):
    capture, _ = record(folder, A64)
    rows = [(["--all-edges", "--at", "main"], "cannot be used with --at"),
            (["--all-edges", "--format", "csv"], "--format tsv and binary"),
            (["--format", "binary", "--at", "main"], "--format binary works only with --all-edges"),
            (["--edge-numbers", "x", "--at", "main"], "--edge-numbers works only with --all-edges"),
            (["--all-edges", "--edge-numbers", folder / "no" / "file"], "No such file"),
            (["--all-edges", capture], "one capture")]
    for words, text in rows:
        got = run("watch", *words, capture, codes=None)
        assert got.returncode == 2 and text in got.stderr, (words, got.stderr, got.returncode)
    empty = run("watch", "--all-edges", "--function", "no_such_function", capture, codes=None)
    assert empty.returncode in (1, 2) and "no_such_function" in empty.stderr, empty
    return f"{len(rows)} refused"


def main():
    missing = next((f"needs {tool}" for tool in (A64[0], T32[0], "qemu-aarch64", "qemu-arm")
                    if not shutil.which(tool)), None)
    cases = [("A64 with cycles", check_truth, A64, "--cycle-count=1"), ("A64", check_truth, A64),
             ("A64, return stack, rare counts", check_truth, A64, "--return-stack", "--cycle-count=100"),
             ("T32 as ETMv4", check_truth, T32, "--cycle-count=4", "--branch-broadcast"),
             ("T32 as PTM", check_truth, T32, "--protocol", "ptm", "--cycle-count=1"),
             ("threads", check_threads), ("binary", check_binary), ("a function", check_filter),
             ("overflows", check_losses), ("the example's reader", check_reader),
             ("what cannot be is refused", check_errors)]
    with tempfile.TemporaryDirectory() as name:
        for title, check, *rest in tap.some(cases, 0, 2, 4, 5, 6, 7, 8, 9, 10):
            tap.case(title, missing, lambda check=check, rest=rest: check(pathlib.Path(name), *rest))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
