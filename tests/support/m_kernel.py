# SPDX-License-Identifier: Apache-2.0
"""A model of a small kernel of the M profile: threads that yield at one address, a handler that switches
them, interrupts that nest, chain and arrive late. The model writes the program (ELF, T32) and the trace of
its ETMv4, and keeps books of what ran."""
import collections
import random
import struct

BASE = 0x8000
NOP, RETURN, BACK, DOWN = "nop", "bx lr", "bne", "b"
CODE = {
    "task_a": [NOP, "bl work", "bl pause", (DOWN, 0)],
    "task_b": ["bl pause", NOP, NOP, "bl work", (DOWN, 0)],
    "work": [NOP, NOP, NOP, (BACK, 1), NOP, RETURN],
    "pause": [NOP, "bl yield", NOP, RETURN],
    "yield": [NOP, NOP, RETURN],
    "pendsv": [NOP, NOP, RETURN],
    "systick": [NOP, NOP, NOP, RETURN],
    "uart": [NOP, RETURN],
}
YIELDS = ("yield", 1)  # pendsv is taken after its first instruction
PRIORITIES = {"pendsv": 0, "systick": 1, "uart": 2}
CHAINED = 0xfffffffe  # return address of a chained exception, as a trace unit reports it


def _place():
    """Returns the address of each instruction by (function, index)."""
    at, places = BASE, {}
    for name, body in CODE.items():
        for i, insn in enumerate(body):
            places[name, i] = at
            at += 4 if isinstance(insn, str) and insn.startswith("bl ") else 2
        at += 2  # what is behind a function is none of it
    return places


PLACES = _place()


def _encode(name, i):
    insn, at = CODE[name][i], PLACES[name, i]
    if insn == NOP:
        return struct.pack("<H", 0xbf00)
    if insn == RETURN:
        return struct.pack("<H", 0x4770)
    if isinstance(insn, tuple):
        offset = (PLACES[name, insn[1]] - at - 4) // 2
        return struct.pack("<H", 0xe000 | offset & 0x7ff if insn[0] == DOWN else 0xd100 | offset & 0xff)
    offset = (PLACES[insn[3:], 0] - at - 4) // 2
    sign = offset >> 23 & 1
    bits = sign << 10 | offset >> 11 & 0x3ff
    ones = (~(offset >> 22 & 1) ^ sign) & 1, (~(offset >> 21 & 1) ^ sign) & 1
    return struct.pack("<HH", 0xf000 | bits, 0xd000 | ones[0] << 13 | ones[1] << 11 | offset & 0x7ff)


def elf():
    """Returns the program as an ELF file."""
    code, strings, symbols = b"", b"\0$t\0", bytes(16) + struct.pack("<IIIBBH", 1, BASE, 0, 0, 0, 1)
    for name, body in CODE.items():
        first = len(code)
        code += b"".join(_encode(name, i) for i in range(len(body)))
        symbols += struct.pack("<IIIBBH", len(strings), BASE + first | 1, len(code) - first, 0x12, 0, 1)
        strings += name.encode() + b"\0"
        code += b"\x00\xbf"
    names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    parts, at = [code, symbols, strings, names], [84]
    for part in parts:
        at.append(at[-1] + len(part))
    head = b"\x7fELF\1\1\1" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 40, 1, BASE | 1, 52, at[4],
                                                     0x5000200, 52, 32, 1, 40, 5, 4)
    segment = struct.pack("<8I", 1, 84, BASE, BASE, len(code), len(code), 5, 4)
    rows = [(1, 1, 6, BASE, at[0], len(code), 0, 0, 4, 0), (7, 2, 0, 0, at[1], len(symbols), 3, 2, 4, 16),
            (15, 3, 0, 0, at[2], len(strings), 0, 0, 1, 0), (23, 3, 0, 0, at[3], len(names), 0, 0, 1, 0)]
    return head + segment + b"".join(parts) + bytes(40) + b"".join(struct.pack("<10I", *row) for row in rows)


CONFIG = ("[capture]\nfile=trace.bin\nframing=none\n[source 10]\nprotocol=etmv4i\nid=0x10\ncore=Cortex-M7\n"
          "TRCCONFIGR=0x10\nTRCIDR0=0x280002a1\nTRCIDR1=0x4100f403\nTRCIDR2=0x4\n")


class Unit:
    """The trace unit. Its output costs no time, and each instruction takes one cycle."""

    def __init__(self, at):
        self.bytes = bytes(11) + b"\x80\x01\x09\x01\x00\x04\x83" + self._address(at) + b"\0"
        self.cycles = self.arrivals = 0

    @staticmethod
    def _address(at):
        return bytes([at >> 1 & 0x7f, at >> 8 & 0xff, at >> 16 & 0xff, at >> 24])

    def address(self, at):
        self.bytes += b"\x9b" + self._address(at)

    def arrive(self, at):
        """Execution continues at an address. Every eighth time the trace is synchronised there, and repeats
        the context."""
        self.address(at)
        self.arrivals += 1
        if self.arrivals % 8 == 0:
            self.bytes += bytes(11) + b"\x80\x01\x09\x01\x00\x83" + self._address(at) + b"\0"

    def atom(self, taken):
        self.bytes += b"\xf7" if taken else b"\xf6"
        count = self.cycles
        self.bytes += b"\x0e" + bytes([count & 0x7f | 0x80, count >> 7] if count > 0x7f else [count])
        self.cycles = 0

    def exception(self, returns_to):
        self.bytes += b"\x06\x21"
        self.address(returns_to)

    def returns(self):
        self.bytes += b"\x07"


class Frame:
    def __init__(self, function, handler=False):
        self.function, self.at, self.cycles, self.rounds, self.handler = function, 0, 0, 0, handler


class Kernel:
    """Executes the kernel. `runs` has the cycles of each finished run by function, `begun` the number of runs
    begun, `stacks` the instructions by stack, `seen` the number of events by kind, and `rounds` the most
    rounds of the loop in work. A quiet kernel has no interrupts while it is unknown which thread
    continues."""

    def __init__(self, seed, is_quiet):
        self.rng = random.Random(seed)
        self.is_quiet, self.is_open = is_quiet, False
        self.threads = [[Frame("task_a")], [Frame("task_b")]]
        self.now, self.handlers, self.pending = 0, [], set()
        self.unit = Unit(PLACES["task_a", 0])
        self.stacks, self.begun, self.seen = (collections.Counter() for _ in range(3))
        self.runs = collections.defaultdict(list)
        self.rounds = 0

    def stack(self):
        return self.handlers[-1] if self.handlers else self.threads[self.now]

    def resumes_at(self):
        frame = self.stack()[-1]
        return PLACES[frame.function, frame.at]

    def first_pending(self):
        return max(self.pending, key=PRIORITIES.get) if self.pending else None

    def enter(self, handler):
        self.pending.remove(handler)
        self.handlers.append([Frame(handler, True)])
        self.begun[handler] += 1

    def take(self):
        """Takes exceptions of higher priority, some of which arrive while the state is saved, and some after
        that but before the first instruction of the handler."""
        while self.pending:
            first = self.first_pending()
            if self.handlers and PRIORITIES[first] <= PRIORITIES[self.handlers[-1][0].function]:
                return
            at = self.resumes_at()
            if self.handlers:
                self.seen["nested at once" if self.handlers[-1][0].cycles == 0 else "nested"] += 1
            self.unit.exception(at)
            if first != "uart" and self.rng.random() < .1:
                self.pending.add("uart")
                first = "uart"
                self.unit.exception(at)
                self.seen["late"] += 1
            self.enter(first)
            self.unit.arrive(PLACES[first, 0])
            if first != "uart" and self.rng.random() < .1:
                self.pending.add("uart")

    def leave_handler(self, handler):
        """Ends a handler: the next one follows at once, or the interrupted code continues."""
        self.handlers.pop()
        if handler == "pendsv":
            self.now ^= 1
            self.seen["switch"] += 1
        elif handler == "systick" and not self.handlers and not self.is_open and self.rng.random() < .2:
            self.pending.add("pendsv")
        first = self.first_pending()
        outer = self.handlers[-1][0].function if self.handlers else None
        if first and (not outer or PRIORITIES[first] > PRIORITIES[outer]):
            self.unit.exception(CHAINED)
            if first != "uart" and self.rng.random() < .2:
                self.pending.add("uart")
                first = "uart"
                self.unit.exception(CHAINED)
                self.seen["late in a chain"] += 1
            self.enter(first)
            self.unit.arrive(PLACES[first, 0])
            self.seen["chained"] += 1
        else:
            self.unit.returns()
            self.unit.arrive(self.resumes_at())
            frames = [thread[-1] for thread in self.threads]
            self.is_open |= not self.handlers and len({(f.function, f.at) for f in frames}) == 1

    def spend(self):
        everything = [*self.threads[self.now], *(f for h in self.handlers for f in h)]
        self.stacks[";".join(f.function for f in everything)] += 1
        for frame in self.stack():
            frame.cycles += 1
        self.unit.cycles += 1

    def step(self):
        stack = self.stack()
        frame = stack[-1]
        insn = CODE[frame.function][frame.at]
        self.spend()
        if (frame.function, frame.at) == ("work", 1):
            frame.rounds += 1
            self.rounds = max(self.rounds, frame.rounds)
        frame.at += 1
        if insn == RETURN:
            stack.pop()
            self.runs[frame.function].append(frame.cycles)
            self.unit.atom(True)
            if frame.handler:
                self.leave_handler(frame.function)
            else:
                self.unit.arrive(self.resumes_at())
                self.is_open &= len(stack) > 1
        elif isinstance(insn, tuple):
            taken = insn[0] == DOWN or self.rng.random() < .7 and frame.rounds < 12
            self.unit.atom(taken)
            frame.at = insn[1] if taken else frame.at
        elif insn != NOP:
            self.unit.atom(True)
            stack.append(Frame(insn[3:]))
            self.begun[insn[3:]] += 1
        if not self.handlers and (frame.function, frame.at) == YIELDS:
            self.pending.add("pendsv")

    def run(self, steps):
        """Executes a number of instructions, then continues up to the second branch of a known thread that is
        no call: the trace shows where the first one led."""
        self.step()
        while steps > 0 or self.unit.cycles or self.handlers or self.is_open:
            steps -= 1
            may_interrupt = self.handlers or not (self.is_quiet and self.is_open)
            for name in ("systick", "uart"):
                if may_interrupt and self.rng.random() < .02:
                    self.pending.add(name)
            self.take()
            self.step()
        self.step()
        while self.unit.cycles or not self.stack()[-1].cycles:
            self.step()
