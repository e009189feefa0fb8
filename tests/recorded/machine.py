# SPDX-License-Identifier: Apache-2.0
"""Compares recordings of bare machines with QEMU's log of the same run (-d exec,nochain,int,in_asm)."""
import re
import struct


class Code:
    """The halfwords of programs."""

    def __init__(self, *paths):
        self.parts = []
        for data in (path.read_bytes() for path in paths):
            at, count = struct.unpack_from("<I", data, 28)[0], struct.unpack_from("<H", data, 44)[0]
            segments = [struct.unpack_from("<8I", data, at + 32 * i) for i in range(count)]
            self.parts += [(s[2], data[s[1]:s[1] + s[4]]) for s in segments if s[0] == 1]

    def after(self, addr):
        """Returns the address of the next instruction."""
        for start, data in self.parts:
            if start <= addr < start + len(data):
                return addr + (4 if struct.unpack_from("<H", data, addr - start)[0] >> 11 >= 29 else 2)
        raise KeyError(hex(addr))


def executed(truth, code):
    """Returns the addresses of all instructions of a truth file, which must all have been traced."""
    insns = []
    for line in truth.read_text(encoding="ascii").splitlines():
        sign, _, _, isa, at, end, count = line.split()
        assert sign == "+", line
        first, addr = len(insns), int(at, 16)
        while addr < int(end, 16):
            insns.append(addr)
            addr = code.after(addr) if isa == "t32" else addr + 4
        assert len(insns) - first == int(count), line
    return insns


def log_of(path, taking, code=None):
    """Returns the blocks that QEMU executed, as lists of addresses, and the numbers in the lines that
    `taking` matches. `code`: everything is T32, and the listing splits instructions that it does not know."""
    known, blocks, taken, block = {}, [], [], None
    for line in path.read_text(encoding="ascii", errors="replace").splitlines():
        if entered := re.match(r"Trace \d+: 0x\w+ \[\w+/(\w+)/", line):
            blocks.append(known[int(entered[1], 16)])
            block = None
        elif line.startswith("Stopped execution"):
            blocks.pop()
        elif gate := re.match(r"\.\.\.really an SG instruction at 0x(\w+)", line):
            blocks.append([int(gate[1], 16)])
        elif number := re.search(taking, line):
            taken.append(int(number[1]))
        elif line.startswith("IN:"):
            block = []
        elif block is not None and (insn := re.match(r"0x([0-9a-f]+):", line)):
            addr = int(insn[1], 16)
            while code and block and block[-1] < addr:
                block.append(code.after(block[-1]))
            if not code or not block:
                block.append(addr)
            elif block[-1] > addr:
                block.pop()
            known[block[0]] = block
    return blocks, taken


def compare_path(insns, blocks):
    """Checks that the instructions are those of the blocks, each executed up to its end or to a fault.
    Returns how many blocks were left early."""
    at = early = 0
    for i, block in enumerate(blocks):
        count = 0
        while count < len(block) and at < len(insns) and insns[at] == block[count]:
            count += 1
            at += 1
        early += count < len(block)
        # QEMU counts instructions exactly when it begins a block with an access to a device once more
        assert at == len(insns) or count == len(block) or blocks[i + 1][0] in (insns[at], block[0]), \
            f"instruction {at}: {insns[at]:x}, but QEMU is in {block[0]:x}, then in {blocks[i + 1][0]:x}"
    assert at == len(insns), f"{len(insns)} instructions, but QEMU executed {at}"
    return early
