#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the A64 instructions that coretap disassembles itself with objdump: all hints, and random words of
the groups that contain atomic accesses and the SVE of copy loops. Prints TAP.

usage: run_a64_words.py A64_WORDS"""
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

OBJDUMP = "aarch64-linux-gnu-objdump"
# For each group of instructions: a mask of the bits that vary, and the values of the others.
GROUPS = [(0xC0DF83FF, 0x08207C00), (0xC0DFF3FF, 0x38200000), (0x01FF1FFF, 0xA400A000),
          (0x01FF1FFF, 0xA4004000), (0x01FF1FFF, 0xE400E000), (0x01FF1FFF, 0xE4004000),
          (0x00DF1FFF, 0x25200000), (0x00DF07FF, 0x0420E000), (0x00DF07FF, 0x0430E000)]
HINTS = {"xpaclri", "pacia1716", "pacib1716", "autia1716", "autib1716", "esb", "psb csync", "tsb csync",
         "csdb", "paciaz", "paciasp", "pacibz", "pacibsp", "autiaz", "autiasp", "autibz", "autibsp", "bti",
         "bti c", "bti j", "bti jc"}
ATOMIC = re.compile(r"(casp?a?l?[bh]?|swpa?l?[bh]?|(ld|st)(add|clr|eor|set|[su]max|[su]min)a?l?[bh]?) ")
SVE = re.compile(r"((ld1s?|st1)[bhwd] {z\d+\.[bhsd]}, p\d+(/z)?, \[(x\d+|sp)[],]|while.. p|"
                 r"(cnt|inc|dec)[bhwd] x)")


def some_words(count):
    rng = random.Random(int(os.environ.get("CT_SEED", "1")))
    yield from (0xD503201F | hint << 5 for hint in range(128))
    for number in range(count):
        free, fixed = GROUPS[number % len(GROUPS)]
        # Registers with number 31 have other names and make aliases.
        yield rng.getrandbits(32) & free | fixed | rng.choice((0, 0, 0x1F, 0x3E0, 0x1F0000))


def main():
    print("1..1")
    if not shutil.which(OBJDUMP):
        print(f"ok 1 # SKIP needs {OBJDUMP} (Debian: binutils-aarch64-linux-gnu)")
        return 0
    words = list(some_words(40000))
    with tempfile.TemporaryDirectory() as folder:
        raw = pathlib.Path(folder, "words")
        raw.write_bytes(struct.pack(f"<{len(words)}I", *words))
        text = subprocess.run([OBJDUMP, "-D", "-z", "-b", "binary", "-m", "aarch64", raw], check=True,
                              capture_output=True, text=True).stdout
        said = subprocess.run([sys.argv[1], raw], check=True, capture_output=True,
                              text=True).stdout.splitlines()
    theirs = re.findall(r"^ *[0-9a-f]+:\t([0-9a-f]{8}) *\t(.*)$", text, re.M)
    wrong, same = [], 0
    for (word, called), line in zip(theirs, said, strict=True):
        assert line.startswith(word), (word, line)
        called = " ".join(called.partition("//")[0].split())
        known = called in HINTS or bool(ATOMIC.match(called) or SVE.match(called))
        mine = " ".join(line.split()[1:])
        same += mine == called and known
        if mine != (called if known else "-"):
            wrong.append((word, called, mine))
    for row in wrong[:20]:
        print("#", *row)
    fine = not wrong and same > 20000
    print(f"{'' if fine else 'not '}ok 1 - objdump says the same: {same} of {len(words)} words have a text")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
