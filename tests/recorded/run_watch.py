#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares coretap watch on a recorded program with the executed path.

usage: run_watch.py COMMAND PLUGIN WORKER.C

Every instruction and every edge of the program is watched: the events must be the path of the truth, one by
one."""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, PLUGIN, SOURCE = sys.argv[1], sys.argv[2], sys.argv[3]
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN}
run = functools.partial(command.output, COMMAND, env=ENV)
SETS = {
    "no cycles": [],
    "cycles": ["--cycle-count=4"],
    "times": ["--cycle-count", "--timestamps=100", "--context-id"],
    "ETE": ["--protocol", "ete", "--cycle-count=2", "--return-stack"],
}

def truth_path(path):
    """Returns the addresses of the instructions in the order of execution."""
    addresses = []
    for line in path.read_text().splitlines():
        fields = line.split()
        if fields[0] == "+":
            start, end = int(fields[4], 16), int(fields[5], 16)
            addresses += range(start, end, 4)
    return addresses


def watch(capture, program, places):
    listing = capture.parent / "places"
    listing.write_text("\n".join(places) + "\n")
    rows = run("watch", "-q", "--format", "jsonl", "--elf", program, "--list", listing, capture).splitlines()
    return [json.loads(row) for row in rows]


def check_addresses(capture, program, graph, path):
    instructions = [a for f in graph["functions"] for b in f["blocks"]
                    for a in range(int(b["start"], 16), int(b["end"], 16), 4)]
    events = watch(capture, program, [hex(a) for a in instructions])
    assert [int(e["addr"], 16) for e in events] == path
    assert all(e["event"] == "addr" for e in events)
    times = [e["cycle"] for e in events]
    assert times == sorted(times)


def check_edges(capture, program, graph, path):
    """Checks edges: the last instruction of a block and the next one identify the edge."""
    edges, blocks = {}, {}
    for f in graph["functions"]:
        for b in f["blocks"]:
            blocks[int(b["last"], 16)] = b["edges"]
            edges.update({e["id"]: e for e in b["edges"]})
    wanted = []
    for now, then in zip(path, path[1:]):
        for edge in blocks.get(now, []):
            if edge["kind"] == "return" or (edge["kind"] != "called" and int(edge["target"], 16) == then):
                wanted.append(edge["id"])
    events = watch(capture, program, [f"edge:{number}" for number in edges])
    assert [int(e["watch"][5:]) for e in events][:len(wanted)] == wanted
    assert len(events) - len(wanted) in (0, 1)  # what comes behind the last instruction is not in the path


def check_functions(capture, program, graph, path):
    """Checks that entries nest with returns, and that their numbers are those of the path."""
    names = {int(f["entry"], 16): f["name"] for f in graph["functions"]}
    counts = {name: path.count(entry) for entry, name in names.items()}
    events = watch(capture, program, list(counts))
    for name, count in counts.items():
        mine = [e["event"] for e in events if e["watch"] == name]
        assert mine.count("entry") == count, (name, count, mine)
        if name not in ("_start", "leave"):
            assert mine.count("return") == count, (name, count, mine)
    assert counts["work"] == 7 and counts["leaf"] == 1 + sum((10 + k) // 2 for k in range(7))


def check_lines(capture, program):
    source = pathlib.Path(SOURCE).read_text().splitlines()
    line = 1 + next(i for i, text in enumerate(source) if "x * 3 + 1" in text)
    events = watch(capture, program, [f"worker.c:{line}"])
    assert [e["event"] for e in events] == ["line"] * 45, len(events)
    assert watch(capture, program, [f"./worker.c:{line}"]) == [
        dict(e, watch=f"./worker.c:{line}") for e in events]


def check(folder, program, options):
    capture, truth = folder / "capture", folder / "truth"
    shutil.rmtree(capture, ignore_errors=True)
    run("record", "-q", "-o", capture, "--truth", truth, *options, "--", program)
    graph = json.loads(run("graph", "-f", "json", "--elf", program))
    path = truth_path(truth)
    check_addresses(capture, program, graph, path)
    check_edges(capture, program, graph, path)
    check_functions(capture, program, graph, path)
    check_lines(capture, program)
    return len(path)


def main():
    missing = next((f"needs {t}" for t in ("aarch64-linux-gnu-gcc", "qemu-aarch64") if not shutil.which(t)),
                   None)
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "worker"
        if not missing:
            subprocess.run(["aarch64-linux-gnu-gcc", "-g", "-O1", "-nostdlib", "-static", "-ffreestanding",
                            "-foptimize-sibling-calls", "-o", program, SOURCE], check=True)
        for name, options in SETS.items():
            tap.case(name, missing,
                     lambda o=options: f"{check(pathlib.Path(folder), program, o)} instructions")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
