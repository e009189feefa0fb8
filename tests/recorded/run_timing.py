#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks coretap timing: sums, and runs of functions against events of their entries and returns.

usage: run_timing.py COMMAND PLUGIN WORKER.C NESTED.C

For every capture of the corpus with instruction trace: the cycles of all edges and those of no instruction
add up to all cycles in the trace, as 'coretap decode' counts them from the elements alone."""
import collections
import csv
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

COMMAND, PLUGIN, SOURCE, NESTED = sys.argv[1:5]
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN}
SETS = {
    "each cycle": ["--cycle-count=1"],
    "shared counts": ["--cycle-count=40", "--return-stack"],
    "ETE": ["--protocol", "ete", "--cycle-count", "--timestamps=50"],
    "overflows": ["--cycle-count", "--overflow", "300", "--seed", "5"],
}


run = functools.partial(command.output, COMMAND, codes=(0, 1), env=ENV)


def numbers(value, path=()):
    """Returns {path: number} of everything that adds up in a function, edge or pair: counts, sums,
    buckets."""
    if isinstance(value, dict):
        found = {}
        for key, inner in value.items():
            found.update(numbers(inner, (*path, key)))
        return found
    if isinstance(value, list):
        return {(*path, bucket["from"]): bucket["count"] for bucket in value}
    adds = isinstance(value, int) and not isinstance(value, bool) and not {path[0], path[-1]} & NO_SUMS
    return {path: value} if adds else {}


NO_SUMS = {"min", "max", "mean", "deviation", "id", "longest"}
LOSSES = {"gaps", "overflows", "contradictions", "bad_packets", "lost_bytes", "no_access"}


def added_up(things, keys):
    """Returns a Counter of all numbers of things with the same keys."""
    total = collections.Counter()
    for thing in things:
        name = tuple(thing.get(key) for key in keys)
        for path, number in numbers(thing).items():
            total[name, path] += number
    return +total


def check_together(capture, streams, *options):
    """Checks that the sums equal those of the streams, to the last bucket; from a file, too, and of two
    captures."""
    together, = json.loads(run("timing", "-q", "--together", "--format", "json", *options, capture))
    for key in streams[0]["totals"] if streams else []:
        total = sum(stream["totals"][key] for stream in streams)
        assert together["totals"][key] == total or key in LOSSES, (key, together["totals"], total)
    for kind, keys in ("functions", ["name"]), ("pairs", ["name"]), ("edges", ["way", "taken"]):
        one = added_up((thing for stream in streams for thing in stream[kind]), keys)
        assert added_up(together[kind], keys) == one, (kind, capture)
    longest = {}
    for f in (f for stream in streams for f in stream["functions"] if "longest" in f):
        longest[f["name"]] = max(longest.get(f["name"], 0), f["longest"]["cycles"])
    assert {f["name"]: f["longest"]["cycles"] for f in together["functions"] if "longest" in f} == longest
    edges = ["timing", "-q", "--edges", *(options[:2] if "--elf" in options else [])]
    with tempfile.TemporaryDirectory() as folder:
        saved, twice = pathlib.Path(folder, "saved"), pathlib.Path(folder, "twice")
        saved.write_text(run("timing", "-q", "--format", "data", *options, capture))
        twice.write_text(run("merge", "-q", saved, saved))
        assert run(*edges, saved) == run("timing", "-q", "--edges", "--together", *options, capture)
        assert run(*edges, twice) == run("timing", "-q", "--edges", *options, capture, capture)
        assert run("timing", "-q", "--format", "data", *options, saved, capture) == twice.read_text()


def check_sums(capture, *options):
    """Checks the sums of each stream of a capture. Returns the streams."""
    streams = json.loads(run("timing", "-q", "--format", "json", *options, capture))
    check_together(capture, streams, *options)
    last = {}
    for row in csv.DictReader(run("decode", "-q", "--format", "csv", "--along", "trace",
                                  capture).splitlines()):
        last[row["buffer"], row["id"]] = int(row["cycle"])
    for stream in streams:
        totals = stream["totals"]
        edges = sum(edge["cycles"]["sum"] for edge in stream["edges"])
        functions = sum(function["cycles"] for function in stream["functions"])
        assert edges == totals["edges"] == functions, (edges, totals, functions)
        assert totals["edges"] + totals["unplaced"] == totals["cycles"], totals
        if totals["steps"]:
            assert totals["cycles"] == last[stream["buffer"], stream["id"]], (totals, last)
        for edge in stream["edges"]:
            assert (sum(b["count"]
                        for b in edge["cycles"]["histogram"]) == edge["cycles"]["count"] <= edge["count"])
    return streams


def runs_of(events):
    """Returns {function: inclusive times of outermost runs, of inner ones}, from entries and returns."""
    stack, times = [], {}
    for event in events:
        name = event["watch"]
        if event["event"] == "entry":
            stack.append((name, event["cycle"]))
        elif event["event"] == "return":
            while stack:
                function, begin = stack.pop()
                inner = any(f == function for f, _ in stack)
                times.setdefault(function, ([], []))[inner].append(event["cycle"] - begin)
                # a function that was jumped to returns for the one that jumped; its own event came before
                if function == name:
                    break
    return times


def check_functions(capture, program, stream):
    names = ["leaf", "work", "fib"]
    listing = capture.parent / "places"
    listing.write_text("\n".join(names) + "\n")
    events = [json.loads(row)
              for row in run("watch", "-q", "--format", "jsonl", "--elf", program, "--list", listing,
                             capture).splitlines()]
    times = runs_of(events)
    for function in stream["functions"]:
        if function["name"] not in names:
            continue
        outer, inner = times[function["name"]]
        assert (function["inclusive"]["count"] == len(outer)
                and function["recursive"]["count"] == len(inner)), function
        assert (function["inclusive"]["sum"] == sum(outer)
                and function["inclusive"]["max"] == max(outer)), function
        assert function["recursive"]["sum"] == sum(inner), function
        assert function["runs"] == len(outer) + len(inner) and function["cut"] == 0
    pair = stream["pairs"][0]["direct"]
    assert pair["count"] == len(times["work"][0]) and pair["sum"] == sum(times["work"][0]), pair


def check_recorded(folder, program, options):
    capture = folder / "capture"
    shutil.rmtree(capture, ignore_errors=True)
    run("record", "-q", "-o", capture, *options, "--", program)
    stream, = check_sums(capture, "--elf", program, "--pair", "entry:work return:work")
    if "--overflow" in options:
        assert stream["totals"]["gaps"] > 0
    else:
        check_functions(capture, program, stream)
    return f"{stream['totals']['steps']} steps, {stream['totals']['cycles']} cycles"


def check_signals(folder):
    """Checks that the time of signal handlers is counted separately, in preempted times and in the handlers'
    own cycles, and that all sums hold."""
    program, capture = folder / "nested", folder / "capture"
    shutil.rmtree(capture, ignore_errors=True)
    subprocess.run(["aarch64-linux-gnu-gcc", "-g", "-O1", "-nostdlib", "-static", "-ffreestanding",
                    "-fno-builtin", "-o", program, NESTED], check=True)
    run("record", "-q", "-o", capture, "--cycle-count=1", "--", program)
    stream, = check_sums(capture, "--elf", program)
    functions = {f["name"]: f for f in stream["functions"]}
    main = functions["main"]
    assert main["inclusive"]["count"] == main["preempted"]["count"] == 1 and main["cut"] == 0, main
    events = [json.loads(row)
              for row in run("watch", "-q", "--format", "jsonl", "--at", "main", "--elf", program,
                             capture).splitlines()]
    begin, end = ([e["cycle"] for e in events if e["event"] == kind] for kind in ("entry", "return"))
    assert main["inclusive"]["sum"] + main["preempted"]["sum"] == end[-1] - begin[0], (main, begin, end)
    # Inner runs of a recursion are not inclusive: six calls from outside, fib(8), fib(7), … fib(5).
    assert functions["fib"]["inclusive"]["count"] == 6 and functions["fib"]["recursive"]["count"] > 100
    return f"{main['preempted']['sum']} cycles of handlers apart"


def check_corpus(capture):
    streams = [s for s in check_sums(capture) if s["totals"]["steps"]]
    return f"{len(streams)} streams, {sum(s['totals']['cycles'] for s in streams)} cycles"


def main():
    corpus = pathlib.Path(os.environ.get("CT_SHARED")
                          or pathlib.Path(__file__).resolve().parents[3] / "shared")
    captures = sorted(corpus.glob("corpus/snapshots/*")) + sorted(corpus.glob("corpus/perfdata/*.data"))
    missing = next((t for t in ("aarch64-linux-gnu-gcc", "qemu-aarch64") if not shutil.which(t)), None)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = folder / "worker"
        if not missing:
            subprocess.run(["aarch64-linux-gnu-gcc", "-g", "-O1", "-nostdlib", "-static", "-ffreestanding",
                            "-o", program, SOURCE], check=True)
        tests = [(name, missing and f"needs {missing}", lambda o=options: check_recorded(folder, program, o))
                 for name, options in SETS.items()]
        tests.append(("signals and recursion", missing and f"needs {missing}", lambda: check_signals(folder)))
        tests += [(c.name, None, lambda c=c: check_corpus(c)) for c in captures]
        tests += [] if captures else [("corpus", "needs CT_SHARED", None)]
        for test in tests:
            tap.case(*test)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
