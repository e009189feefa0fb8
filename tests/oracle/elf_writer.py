# SPDX-License-Identifier: Apache-2.0
"""Writes small ELF64 files for A64: segments of code, and names of functions."""
import struct

EXECUTABLE, CORE = 2, 4


def elf(kind, segments, symbols=()):
    """Returns an ELF file. `segments` are (address, bytes), `symbols` are (name, address)."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _ in symbols)
    heads = 64 + 56 * len(segments)
    body, programs = bytearray(), b""
    for address, data in segments:
        programs += struct.pack("<IIQQQQQQ", 1, 5, heads + len(body), address, address, len(data), len(data),
                                4096)
        body += data + bytes(-len(data) % 8)
    table, at = bytes(24), 1
    for name, address in symbols:
        table += struct.pack("<IBBHQQ", at, 0x12, 0, 0xfff1, address, 4)  # global function, absolute
        at += len(name) + 1
    symbols_at, names_at = heads + len(body), heads + len(body) + len(table)
    sections_at = (names_at + len(names) + 7) & ~7
    sections = bytes(64) + struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, symbols_at, len(table), 2, 1, 8,
                                       24) + struct.pack(
        "<IIQQQQIIQQ", 0, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)
    head = struct.pack("<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, kind, 183, 1, 0, 64, sections_at, 0,
                       64, 56, len(segments), 64, 3, 2)
    return (head + programs + bytes(body) + table + names + bytes(sections_at - names_at - len(names))
            + sections)
