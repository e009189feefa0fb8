#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the events of all edges and prints which edges took the most time.

usage: coretap watch --all-edges --format binary --edge-numbers NUMBERS CAPTURE |
       read_edges.py NUMBERS [MOST]"""
import collections
import struct
import sys

MAGIC = b"CTEDGES\1"
OTHER = 0xFFFFFF00  # numbers from here on are not edges
WIDE = 0x80         # kinds from here on have eight more bytes
UNCOUNTED = 0xFFFFFFFF
LOSSES = {3: "gap", 4: "overflow", 5: "no-access"}


def read(file):
    """Yields number and cycles of each event, and skips the eight extra bytes of wide events."""
    assert file.read(8) == MAGIC, "these are no events of edges"
    pieces = iter(lambda: file.read(1 << 16), b"")
    skip = False
    for piece in pieces:
        for number, cycles in struct.iter_unpack("<II", piece):
            if not skip:
                yield number, cycles
            skip = not skip and number >= OTHER + WIDE


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    counts, times, lost = collections.Counter(), collections.Counter(), collections.Counter()
    for number, cycles in read(sys.stdin.buffer):
        if number < OTHER:
            counts[number] += 1
            times[number] += 0 if cycles == UNCOUNTED else cycles
        elif number - OTHER in LOSSES:
            lost[LOSSES[number - OTHER]] += 1
    with open(sys.argv[1], encoding="utf-8") as file:
        edges = [line.rstrip("\n").split("\t") for line in file][1:]
    print(f"{sum(counts.values())} events of {len(counts)} edges, {sum(times.values())} cycles")
    for kind, count in sorted(lost.items()):
        print(f"{kind}: {count}")
    print("cycles\ttimes\tway\tfrom\tto")
    slowest = sorted(times.items(), key=lambda item: (-item[1], -counts[item[0]], item[0]))
    for number, cycles in slowest[:most]:
        _, way, _, _, _, _, branch, target = edges[number]
        print(f"{cycles}\t{counts[number]}\t{way}\t{branch}\t{target}")


if __name__ == "__main__":
    main()
