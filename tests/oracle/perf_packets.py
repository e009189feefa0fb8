#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the recording of a phone: packets as 'perf report -D' lists them, missing files by name, and what
remains when it is cut off.

usage: perf_packets.py COMMAND"""
import json
import pathlib
import re
import sys
import tempfile

from perf_tool import Tap, corpus, first_difference, need_perf, run, skip


def of_perf(perf, path):
    """Returns (offset in the trace, ID, type, address, context ID, atoms) of each packet, and the offset of
    the trace in the file."""
    text, _, _ = run([perf, "report", "-D", "-i", path])
    head = re.search(r"(0x[0-9a-f]+) \[0x30\]: PERF_RECORD_AUXTRACE size", text)
    packets = []
    for line in text.splitlines():
        m = re.match(r"\s*Idx:(\d+); ID:(\w+);\s+(\w+) : (.*)", line)
        if not m:
            continue
        offset, trace_id, kind, rest = m.groups()
        address = re.search(r"Addr=0x([0-9A-F]+)", rest)
        context = re.search(r"CID=0x([0-9a-f]+)", rest)
        atoms = re.search(r"; ([EN]+)\s*$", rest)
        packets.append((int(offset), trace_id, kind.lower(), int(address[1], 16) if address else None,
                        int(context[1], 16) if context else None, atoms[1] if atoms else None))
    return packets, int(head[1], 16) + 0x30


def of_coretap(coretap, path, base):
    packets, trace_id = [], None
    for line in run([coretap, "list", "-q", "--packets", path])[0].splitlines():
        if line.startswith("# id"):
            trace_id = line.split()[2]
        if line.startswith("#"):
            continue
        offset, listed, _, kind, *fields = line.split()
        values = dict(field.split("=") for field in fields)
        assert listed == trace_id
        packets.append((int(offset) - base, listed, kind,
                        int(values["addr"], 16) if "addr" in values else None,
                        int(values["ctxt"], 16) if "ctxt" in values else None, values.get("atoms")))
    return packets


def same_places(wanted, got):
    """Returns the first packet at a wrong offset, or None. When an ID byte precedes a packet, OpenCSD counts
    the packet from that byte."""
    for w, g in zip(wanted, got):
        if not 0 <= g[0] - w[0] <= 1:
            return f"{g[2]} at {g[0]}, perf has it at {w[0]}"
    return None


def check_cuts(coretap, path, tap, whole, base):
    data = path.read_bytes()
    before, why = 0, None
    with tempfile.TemporaryDirectory() as folder:
        cut = pathlib.Path(folder) / "cut.data"
        for size in [*range(base - 64, base + 384, 7), base + 384, len(data)]:
            cut.write_bytes(data[:size])
            got = of_coretap(coretap, cut, base)
            complete = [p for p in got if "incomplete" not in p[2] and "not_sync" not in p[2]]
            if complete != whole[:len(complete)] or len(complete) < before:
                why = why or f"cut at {size}: {len(complete)} packets that are not those before the cut"
            before = len(complete)
            said = run([coretap, "info", cut])[1]
            if size < base + 384 and "truncated or damaged at offset 0x" not in said:
                why = why or f"cut at {size}: not said: {said}"
    tap.check("cut recordings give what is before the cut",
              why or (None if before == len(whole) else f"{before} packets"))


def main():
    coretap = sys.argv[1]
    path = corpus() / "perfdata" / "perf_etm.data"
    if not path.exists():
        skip(f"{path} is not there (set CT_SHARED)")
    perf = need_perf()
    tap = Tap()
    wanted, base = of_perf(perf, path)
    got = of_coretap(coretap, path, base)
    tap.check("packets", first_difference([p[1:] for p in wanted], [p[1:] for p in got]))
    tap.check("their places", same_places(wanted, got))
    info = json.loads(run([coretap, "info", "-q", "--format", "json", path])[0])
    named = [text for text in info["missing"] if text.startswith("/data/local/tmp/etm_test_loop")]
    tap.check("the missing program is named, with a remedy",
              None if len(named) == 1 and "--symfs" in named[0] else info["missing"])
    check_cuts(coretap, path, tap, got, base)
    tap.end()


if __name__ == "__main__":
    main()
