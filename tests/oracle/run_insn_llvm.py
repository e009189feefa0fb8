#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the A64 classifier with LLVM 19 and all its extensions: random words of the branch group, most of
them close to valid encodings. Differences must be in the list of instructions newer than LLVM 19.

usage: run_insn_llvm.py INSN_WORDS"""
import collections
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

OBJDUMP, OBJCOPY = "llvm-objdump-19", "llvm-objcopy-19"
NEWER = {
    "FEAT_CMPBR": (0x7E000000, 0x74000000),
    "TEXIT, FEAT_TEV": (0xFFFFFBFF, 0xD6FF03E0),
}
NEAR = [0xD6000000, 0xD5030000, 0xD4000000, 0x54000000, 0x55000000, 0xD61F0000, 0xD65F0000, 0xD69F0000,
        0xD6BF0000, 0xD6FF0000, 0xD5233000, 0xD5031000, 0xD65F0BE0, 0xD71F0800, 0xD73F0800]
IBR = {"br": 0, "braa": 0, "brab": 0, "braaz": 0, "brabz": 0, "blr": 1, "blraa": 1, "blrab": 1, "blraaz": 1,
       "blrabz": 1,
       "ret": 2, "retaa": 2, "retab": 2, "retaasppc": 2, "retabsppc": 2, "retaasppcr": 2, "retabsppcr": 2,
       "eret": 3, "eretaa": 3, "eretab": 3}
EVENTS = {"isb": "isb", "dsb": "dsb", "dmb": "dsb", "ssbb": "dsb", "pssbb": "dsb", "dfb": "dsb", "wfe": "wfi",
          "wfi": "wfi", "wfet": "wfi", "wfit": "wfi", "tstart": "tstart"}


def some_words(count):
    rng = random.Random(int(os.environ.get("CT_SEED", "1")))
    for _ in range(count):
        yield rng.getrandbits(32) & ~0x1C000000 | 0x14000000
        near = (rng.choice(NEAR) | rng.getrandbits(32) & rng.getrandbits(32)
                & rng.choice([0xFFF, 0xFFFF, 0x1FFFFF]))
        yield near ^ (1 << rng.randrange(26) if rng.random() < .3 else 0)
    yield 0xD6FF03E0
    yield 0x74010040


def verdict(name, operands):
    """Returns type, subtype, condition and target as the classifier numbers them. A target of None is not
    known."""
    target = re.search(r"0x([0-9a-f]+)", operands)
    target = int(target[1], 16) if target else None
    if name in ("b", "bl"):
        return "br", int(name == "bl"), 0, target
    if name in ("cbz", "cbnz", "tbz", "tbnz") or name.startswith(("b.", "bc.")):
        return "br", 0, 1, target
    if name in IBR:
        return "ibr", IBR[name], 0, 0
    return EVENTS.get(name, "other"), 0, 0, 0


def main():
    print("1..1")
    for tool in (OBJDUMP, OBJCOPY):
        if not shutil.which(tool):
            print(f"ok 1 # SKIP needs {tool} (Debian: llvm-19)")
            return 0
    words = list(some_words(500000 if os.environ.get("CT_LONG") == "1" else 100000))
    with tempfile.TemporaryDirectory() as folder:
        raw, elf = pathlib.Path(folder, "words"), pathlib.Path(folder, "words.o")
        raw.write_bytes(struct.pack(f"<{len(words)}I", *words))
        subprocess.run([OBJCOPY, "-I", "binary", "-O", "elf64-littleaarch64",
                        "--rename-section=.data=.text,alloc,readonly,code", raw, elf], check=True)
        text = subprocess.run([OBJDUMP, "-d", "--mattr=+all", "--no-print-imm-hex", elf], check=True,
                              capture_output=True, text=True).stdout
        said = subprocess.run([sys.argv[1], raw], check=True, capture_output=True,
                              text=True).stdout.splitlines()
    theirs = re.findall(r"^\s*[0-9a-f]+: ([0-9a-f]{8})\s+(\S+)(.*)$", text, re.M)
    counts, wrong = collections.Counter(), []
    for (word, name, operands), line in zip(theirs, said, strict=True):
        mine = line.split()
        op = int(word, 16)
        assert mine[0] == word, (mine, word)
        wanted = verdict(name, operands)
        target = int(mine[4], 16) if wanted[3] is not None else None
        if (mine[1], int(mine[2]), int(mine[3]), target) == wanted:
            counts["the same"] += 1
            continue
        newer = next((n for n, (mask, value) in NEWER.items() if op & mask == value), None)
        if newer and name == "<unknown>":
            counts[newer] += 1
        else:
            wrong.append((word, name + operands, line))
    for what, count in counts.items():
        print(f"# {count} words: {what}")
    for word in wrong[:20]:
        print("#", *word)
    fine = not wrong and all(counts[n] for n in NEWER)
    print(f"{'' if fine else 'not '}ok 1 - LLVM says the same of {len(words)} words")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
