# SPDX-License-Identifier: Apache-2.0
"""The sum at the end of a saved file, as docs/formats.md defines it."""
import struct

MASK = (1 << 64) - 1


def step(total, word):
    product = (total ^ word) * 0x9e3779b97f4a7c15 & MASK
    return (product << 32 | product >> 32) & MASK


def with_sum(body):
    """Returns the text of a file of coverage or times (version 5) or of stacks (version 3) with its last
    line."""
    data = body.encode()
    padded = data + bytes(-len(data) % 32)
    sums = [0, 0, 0, 0]
    for index, (word,) in enumerate(struct.iter_unpack("<Q", padded)):
        sums[index % 4] = step(sums[index % 4], word)
    total = step(0, len(data))
    for one in sums:
        total = step(total, one)
    return f"{body}end {total:016x}\n"
