#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks perf.data that is cut off before its trace: no command crashes, and each reports what is missing.

usage: perf_cut.py COMMAND"""
import os
import pathlib
import struct
import sys
import tempfile

from perf_tool import ROOT, Tap, corpus, run

AUXTRACE = 71
# Records are multiples of 8 bytes. An odd step comes to each byte of them.
STEP = 1 if os.environ.get("CT_LONG", "0") not in ("", "0") else 23
# Each command that reads a capture; those that need a program report that.
COMMANDS = [["info"], ["info", "--format", "json"], ["list", "--packets"], ["list", "--elements"], ["decode"],
            ["decode", "--format", "jsonl"], ["decode", "--merge"], ["stats"], ["stats", "--threads", "4"],
            ["stats", "--level", "frame"], ["stats", "--level", "timing", "--engine", "plain"], ["cover"],
            ["cover", "--format", "html"], ["timing"], ["timing", "--format", "json"], ["profile"],
            ["report"],
            ["watch", "--at", "context"], ["wcet", "--entry", "main"], ["export", "--perf", "/dev/null"]]


def places(data):
    """Returns the offsets of the records, and the offset of the trace."""
    at, size = struct.unpack_from("<QQ", data, 40)
    starts, end = [], at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        starts.append(at)
        if kind == AUXTRACE:
            return starts, at
        at += length
    return starts, at


def complaint(line, size):
    out, err, code = run(line)
    if code not in (1, 2):
        return f"{' '.join(map(str, line[1:-1]))}, cut at {size}: exit code {code}\n{out}{err}"
    return (None if err.startswith("coretap")
            else f"{' '.join(map(str, line[1:-1]))}, cut at {size}: says nothing")


def check(tap, coretap, name, data, cut):
    starts, end = places(data)

    def first(lines, sizes):
        for size in sizes:
            cut.write_bytes(data[:size])
            for line in lines:
                why = complaint([coretap, *line, cut], size)
                if why:
                    return why
        return None

    tap.check(f"{name}: stats anywhere", first([["stats"]], range(0, min(end, 2000), STEP)))
    tap.check(f"{name}: each command",
              first(COMMANDS, [0, 104, 105, starts[0], starts[len(starts) // 2] + 9, end - 1, end]))


def main():
    coretap, tap = sys.argv[1], Tap()
    with tempfile.TemporaryDirectory() as folder:
        whole, cut = pathlib.Path(folder) / "whole.data", pathlib.Path(folder) / "cut.data"
        why = run([coretap, "export", "--perf", whole, ROOT / "examples/quickstart"])[1]
        tap.check("an example is exported", None if whole.exists() else why)
        check(tap, coretap, "exported", whole.read_bytes(), cut)
        phone = corpus() / "perfdata" / "perf_etm.data"
        if phone.exists():
            check(tap, coretap, "of a phone", phone.read_bytes(), cut)
        else:
            tap.skip("of a phone", f"{phone} is not there (set CT_SHARED)")
    tap.end()


if __name__ == "__main__":
    main()
