#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens every snapshot of the corpus and compares each ID's bytes and their offsets with the golden packet
lists.

usage: check_demux.py DEMUX_DUMP
The corpus is a folder 'corpus' in $CT_SHARED, or in ../shared beside the sources. Prints TAP. The bytes of
all packets of an ID and of its unsynchronised runs are all the bytes of the ID, and each packet line begins
at the offset of its first byte (docs/listing.md)."""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def dump(tool, snapshot, chunk):
    """Runs the demultiplexer. Returns {buffer: {id: (bytes, offsets)}}, {buffer: fields}, and the number of
    missing images."""
    out = subprocess.run([tool, str(snapshot), str(chunk)], stdout=subprocess.PIPE, check=True,
                         text=True).stdout
    streams, buffers, ids, missing = {}, {}, {}, 0
    for line in out.splitlines():
        word = line.split()
        if word[0] == "buffer":
            buffers[word[1]], streams[word[1]] = word[2:], ids
            ids = {}
        elif word[0] == "missing":
            missing = int(word[1])
        else:
            data, offsets = ids.setdefault(word[0], (bytearray(), []))
            piece = bytes.fromhex(word[2])
            data += piece
            offsets += range(int(word[1]), int(word[1]) + len(piece))
    return streams, buffers, missing


def compare_description(snapshot, buffers, missing):
    """Checks that every source with a device file is in a buffer, and that every named image is either there
    once or missing."""
    text = "\n".join(path.read_text() for path in sorted(snapshot.glob("*.ini")))
    sections = re.findall(r"^\[(.*?)\]$([^\[]*)", text, re.MULTILINE)
    dumps, devices, wanted = set(), set(), []
    for name, body in sections:
        keys = re.findall(r"^\s*([^=\n]+)=(.*?)\s*$", body, re.MULTILINE)
        if name.startswith("dump"):
            dumps.add((dict(keys)["file"], int(dict(keys)["address"], 0)))
        elif name == "device":
            devices.add(dict(keys)["name"])
        elif name == "source_buffers":
            wanted += [key for key, _ in keys]
    sources = sum(int(fields[1]) for fields in buffers.values())
    images = max(int(fields[2]) for fields in buffers.values())
    if sources != sum(name in devices for name in wanted):
        return f"{sources} sources"
    if images + missing != len(dumps):
        return f"{images} images and {missing} missing, {len(dumps)} are named"
    return None


def compare_stm(lines, data, offsets):
    """Compares only where each packet begins, because STM packets share bytes."""
    where = {offset: i for i, offset in enumerate(offsets)}
    for number, line in enumerate(lines, 1):
        idx, _, hexbytes = line.split()[:3]
        if int(idx) not in where:
            return f"line {number}: offset {idx} is no byte of this ID"
        if hexbytes != "-":
            packet = bytes.fromhex(hexbytes)
            first = data[where[int(idx)]]
            if packet[0] not in (first, first & 0xF0):
                return f"line {number}: byte at {idx} is {first:02x}"
    return None


def compare(lines, data, offsets, prefix):
    at = 0
    for number, line in enumerate(lines, 1):
        word = line.split()
        packet = None if word[2] == "-" else bytes.fromhex(word[2])
        size = len(packet) if packet is not None else int(word[4].removeprefix("bytes="))
        if at + size > len(data):
            return f"line {number}: {at + size} bytes needed, {len(data)} are there"
        if offsets[at] != int(word[0]):
            return f"line {number}: offset {offsets[at]}, expected {word[0]}"
        if packet is not None and packet != data[at:at + size]:
            return f"line {number}: bytes {data[at:at + size].hex()}, expected {word[2]}"
        at += size
    if at != len(data) and not prefix:
        return f"{len(data) - at} bytes are in no packet"
    return None


def main():
    tool = sys.argv[1]
    shared = os.environ.get("CT_SHARED")
    corpus = (pathlib.Path(shared) if shared else ROOT.parent / "shared") / "corpus"
    if not corpus.is_dir():
        return tap.skip_all("there is no corpus (CT_SHARED names the folder that holds it)")
    manifest = [line.split("\t") for line in (corpus / "golden/MANIFEST.tsv").read_text().splitlines()[1:]]
    for chunk in (65536, 7):
        cache = {}
        for listing, ident, protocol, _, _, extent, _ in manifest:
            if listing.endswith("src_addr_n"):
                continue
            name, _, buffer = listing.partition("/")
            if name not in cache:
                cache[name] = streams, buffers, missing = dump(tool, corpus / "snapshots" / name, chunk)
                tap.told(f"{name}: sources and images",
                         compare_description(corpus / "snapshots" / name, buffers, missing))
            streams = cache[name][0]
            data, offsets = streams[buffer or next(iter(streams))].get(ident, (b"", []))
            lines = (corpus / "golden" / listing / f"packets.{ident}.txt").read_text().splitlines()
            if protocol == "stm":
                trouble = compare_stm(lines, data, offsets)
            else:
                trouble = compare(lines, data, offsets, extent == "prefix")
            tap.told(f"{listing} {ident}, pieces of {chunk}", trouble)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
