#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the trace and image files of this folder: a loop of three rounds traced by an ETMv4, and a greeting
on ITM port 0. It writes byte by byte, so that the files explain themselves."""
import pathlib

HERE = pathlib.Path(__file__).parent

LOOP = bytes.fromhex(
    "600080d2"  # 80000: mov  x0, #3
    "000400f1"  # 80004: subs x0, x0, #1
    "e1ffff54"  # 80008: b.ne 80004
    "c0035fd6"  # 8000c: ret
)

ETM = bytes.fromhex(
    "000000000000000000000080"  # alignment
    "010100"  # trace info: nothing special
    "04"  # trace on
    "85000008000000000030"  # address 80000 with context: A64, EL0, non-secure
    "fb"  # atoms E E N: the b.ne taken twice, then not
    "f7"  # atom E: the ret
    "9d0008080000000000"  # address 81000: where it returned to
)

# Alignment; port 0, one byte each.
ITM = bytes.fromhex("000000000080") + b"".join(bytes([0x01, c]) for c in b"hello")


def frame(ident, data):
    """Returns one CoreSight frame with up to 14 bytes of one ID; the rest belongs to ID 0."""
    body = bytearray([ident << 1 | 1]) + data
    low, ids = 0, {0}  # low: bit 0 of the even bytes
    if len(body) < 15 and len(body) % 2 == 0:
        ids.add(len(body))
        body.append(0x01)
    elif len(body) < 15:  # the last byte goes back: its bit says that ID 0 takes effect after it
        ids.add(len(body) - 1)
        body.insert(len(body) - 1, 0x01)
        low |= 1 << (len(body) - 2) // 2
    for i in range(0, len(body), 2):
        if i not in ids:
            low |= (body[i] & 1) << i // 2
            body[i] &= 0xFE
    return bytes(body).ljust(15, b"\0") + bytes([low])


def frames(pieces):
    return b"".join(frame(i, data[at:at + 14]) for i, data in pieces for at in range(0, len(data), 14))


if __name__ == "__main__":
    (HERE / "loop-code.bin").write_bytes(LOOP)
    (HERE / "itm.bin").write_bytes(ITM)
    (HERE / "board.bin").write_bytes(frames([(0x10, ETM), (0x20, ITM)]))
