# SPDX-License-Identifier: Apache-2.0
"""Computes from the truth file of 'coretap record', without coretap, the counts of runs and branches, and the
stack of functions at each of them."""
import collections
import pathlib
import re

from command import output as run

BRANCH = re.compile(r"\s+([0-9a-f]+):\s+[0-9a-f]{8}\s+(b|bl|blr|br|ret|cbz|cbnz|tbz|tbnz|b\.\w+)(?:\s|$)")
SIGRETURN = bytes.fromhex("681180d2 010000d4")  # mov x8, #139; svc #0
SYMBOL = re.compile(r"\s*\d+: ([0-9a-f]+)\s+(\d+|0x[0-9a-f]+) "
                    r"(FUNC|IFUNC|LOOS\+0)\s+(LOCAL|GLOBAL|WEAK)\s+\S+\s+(\S+) (\S+)")
ALWAYS = ("b", "bl", "blr", "br", "ret")


def difference(got, want):
    """Returns a line for each key whose count is not that of the truth."""
    return "\n".join(f"{key}: {got.get(key)}, truth {want.get(key)}" for key in {**got, **want}
                     if got.get(key) != want.get(key))


def runs(file):
    """Yields (first address, address after the last instruction, instructions) of each traced run."""
    with open(file, encoding="ascii") as lines:
        for line in lines:
            words = line.split()
            if words and words[0] == "+":
                yield int(words[4], 16), int(words[5], 16), int(words[6])


def code(program):
    """Returns the range of its executable sections."""
    text = run("aarch64-linux-gnu-readelf", "-SW", str(program))
    rows = [(int(addr, 16), int(addr, 16) + int(size, 16)) for addr, size in
            re.findall(r"PROGBITS\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+\s+AX ", text)]
    return min(low for low, _ in rows), max(high for _, high in rows)


def branches(program):
    """Returns address -> mnemonic."""
    return {int(m.group(1), 16): m.group(2)
            for m in map(BRANCH.match, run("aarch64-linux-gnu-objdump", "-d", str(program)).splitlines())
            if m}


class Functions:
    """Functions by address, with the names that coretap chooses: of several names the one with a size, then
    the most global, the longest, the one with the fewest underscores, the first in the alphabet. Code
    without a name is named by module and address."""

    def __init__(self, program, capture):
        self.dumps = {int(path.stem[4:], 16): path for path in capture.glob("mem_*.bin")}
        best = {}
        for line in run("aarch64-linux-gnu-readelf", "-sW", str(program)).splitlines():
            match = SYMBOL.match(line)
            if not match or match.group(5) == "UND":
                continue
            addr, size = int(match.group(1), 16), int(match.group(2), 0)
            rank = {"GLOBAL": 0, "WEAK": 1, "LOCAL": 2}[match.group(4)]
            name = match.group(6)
            key = (size == 0, rank, -size, len(name) - len(name.lstrip("_")), name)
            if addr not in best or key < best[addr][0]:
                best[addr] = (key, size, name, match.group(5))
        self.module = pathlib.Path(program).name
        code = run("aarch64-linux-gnu-objdump", "-d", str(program))
        self.sections = [int(m[1], 16)
                         for m in re.finditer(r"Disassembly of section .*\n\n([0-9a-f]+) ", code)]
        self.code = {int(m, 16) for m in re.findall(r"^ *([0-9a-f]+):\t", code, re.M)}
        self.padding = {int(m[1], 16)
                        for m in re.finditer(r"^ *([0-9a-f]+):\t[0-9a-f]+ \t(?:nop|udf\t#0)$", code, re.M)}
        self.add_plt(program, code, best)
        self.add_unwind(program, best)
        ends = self.section_ends(program)
        found = sorted((addr, size, name, ndx) for addr, (_, size, name, ndx) in best.items())
        starts = [f[0] for f in found] + [1 << 64]
        self.all = [(addr, size or min(starts[i + 1], ends.get(ndx, 1 << 64)) - addr, name)
                    for i, (addr, size, name, ndx) in enumerate(found)]
        self.known = {}

    @staticmethod
    def add_plt(program, code, best):
        """Adds entries of functions that are chosen when the program starts: each reads a slot that a
        relocation fills."""
        slots = {int(m[1], 16): int(m[2], 16) for m in re.finditer(
            r"^([0-9a-f]+)  \S+ R_AARCH64_IRELATIV\S* +([0-9a-f]+)$",
            run("aarch64-linux-gnu-readelf", "-rW", str(program)), re.M)}
        for m in re.finditer(r"^ *([0-9a-f]+):\t\w+ \tadrp\tx16, ([0-9a-f]+).*\n.*\tldr\tx17, \[x16(?:, "
                             r"#(\d+))?\]", code, re.M):
            target = slots.get(int(m[2], 16) + int(m[3] or 0))
            if target in best:
                best[int(m[1], 16)] = (None, 16, best[target][2] + "@plt", None)

    def add_unwind(self, program, best):
        """Adds functions without a symbol."""
        named = sorted((addr, addr + size) for addr, (_, size, _, _) in best.items() if size)
        frames = run("aarch64-linux-gnu-readelf", "--debug-dump=frames", str(program))
        for m in re.finditer(r" FDE .* pc=([0-9a-f]+)\.\.([0-9a-f]+)", frames):
            addr, end = int(m[1], 16), int(m[2], 16)
            if addr not in best and not any(low < addr < high for low, high in named):
                best[addr] = (None, end - addr, f"{self.module}+0x{addr:x}", None)

    def memory(self, addr):
        """Returns address and name of a place that the capture has only as bytes: QEMU's page with the return
        from signals."""
        begin = max(start for start in self.dumps if start <= addr)
        assert addr < begin + self.dumps[begin].stat().st_size
        is_return = self.dumps[begin].read_bytes().startswith(SIGRETURN)
        return begin, "__kernel_rt_sigreturn" if is_return else f"{self.dumps[begin].name}+0x0"

    def piece(self, addr):
        """Returns address and name of code outside of functions: it begins at the end of the last function,
        without padding."""
        section = max((s for s in self.sections if s <= addr), default=None)
        if section is None or addr not in self.code:
            return self.memory(addr)
        begin = max([section] + [f[0] + f[1] for f in self.all if f[0] + f[1] <= addr])
        while begin > section and begin in self.padding and begin < addr:
            begin += 4
        return begin, f"{self.module}+0x{begin:x}"

    @staticmethod
    def section_ends(program):
        text = run("aarch64-linux-gnu-readelf", "-SW", str(program))
        rows = re.findall(r"\[ *(\d+)\] \S+\s+\S+\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", text)
        return {ndx: int(addr, 16) + int(size, 16) for ndx, addr, size in rows}

    def at(self, addr):
        """Returns address and name of the innermost function."""
        if addr not in self.known:
            inside = [f for f in self.all if f[0] <= addr < f[0] + f[1]]
            self.known[addr] = (inside[-1][0], inside[-1][2]) if inside else self.piece(addr)
        return self.known[addr]


def counts(file, program):
    """Returns ranges (first, last instruction) and branches (from, to), with their counts."""
    decides = branches(program)
    ranges = collections.Counter()
    taken = collections.Counter()
    before = None
    for start, end, _ in runs(file):
        ranges[start, end - 4] += 1
        op = decides.get(before)
        if op and (op in ALWAYS or start != before + 4):
            taken[before, start] += 1
        before = end - 4
    return ranges, taken


def followed(stack, here, start, before, op):
    """Returns the stack after a step: from the branch `op` at `before`, or another instruction, to `start` in
    the function `here`. A frame is [function, return address, entered by a signal]."""
    if not stack:
        stack.append([here, None, False])
    elif op in ("bl", "blr"):
        stack.append([here, before + 4, False])
    elif op == "ret" or (not op and start != before + 4) or \
            (stack[-1][1] == start and (op == "br" or (op and stack[-1][0] != here))):
        waits = [i for i, frame in enumerate(stack) if i and frame[1] == start]
        same = [i for i, frame in enumerate(stack) if frame[0] == here]
        if waits:
            del stack[waits[-1]:]
        elif not op:
            stack.append([here, before + 4, True])
        elif stack[-1][2]:
            pass  # the handler returns to the code that ends it
        elif same:
            del stack[same[-1] + 1:]
        else:
            stack = [[here, None, False]]
    if stack[-1][0] != here:
        same = [i for i, frame in enumerate(stack) if frame[0] == here]
        if op and start != here[0] and same:
            del stack[same[-1] + 1:]  # longjmp
        else:
            stack[-1][0] = here
    return stack


def stacks(file, decides, functions):
    """Returns "outer;inner" -> instructions, computed from the branches and functions of the program."""
    weights = collections.Counter()
    stack, name, before = [], "", None
    for start, end, n in runs(file):
        here = functions.at(start)
        op = decides.get(before)
        # Most steps stay in their function, which changes no stack.
        if not stack or here != stack[-1][0] or (op in ("bl", "blr", "br", "ret") if op
                                                 else start != before + 4):
            stack = followed(stack, here, start, before, op)
            name = ";".join(frame[0][1] for frame in stack)
        weights[name] += n
        before = end - 4
    return weights
