#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no execution of a loop exceeds the rounds that its code counts, in programs made at random:
nested loops of all forms, whose counters and limits depend on constants, on loops around them and on
arguments, or change in ways that must not be counted.

usage: test_wcet_random.py COMMAND LEAVE_FOLDER [PROGRAMS [FIRST_SEED]]"""
import json
import pathlib
import random
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, FOLDER = sys.argv[1:3]
PROGRAMS = int(sys.argv[3]) if len(sys.argv) > 3 else 2 if tap.WHOLE else 1
FIRST = int(sys.argv[4]) if len(sys.argv) > 4 else 12  # CBC's heuristics aborted in its model for A64 -O1
FLAGS = ["-g", "-w", "-nostdlib", "-static", "-ffreestanding", "-fno-builtin", "-fomit-frame-pointer",
         "-fwrapv", "-I", FOLDER]
ARM = "arm-linux-gnueabihf-gcc"
TARGETS = {"A64": (["aarch64-linux-gnu-gcc"], "qemu-aarch64"), "A32": ([ARM, "-marm"], "qemu-arm"),
           "T32": ([ARM, "-mthumb"], "qemu-arm")}
LEVELS = ["-O0", "-O1", "-O2", "-Os"]
FEW = {"A64": (1,), "A32": (2,), "T32": (0,)}  # levels of each target when not all cases run
FUNCTIONS = 12
TYPES = ["int", "unsigned", "unsigned char", "short", "signed char", "long long", "long", "unsigned short"]
WIDTHS = {"unsigned char": 100, "signed char": 60}

HEAD = """#include "leave.h"
#define APART __attribute__((noinline))
volatile int noise = 1;
int words[64];
static int fuel;
static int chance(void) { noise = noise * 1103515245 + 12345; return noise >> 16 & 15; }
void *memset(void *to, int byte, unsigned long size)
{
    for (char *at = to; size--; at++) *(volatile char *)at = byte;
    return to;
}
APART void change(int *at) { *at += chance() & 3; }
"""


class Function:
    """Makes the text of one function with two parameters."""

    def __init__(self, rng, number):
        self.rng, self.number, self.names, self.depth = rng, number, 0, 0
        self.lines = []
        self.gives_away = rng.randrange(4) == 0  # addresses of the frame, to its array and to other code
        self.may_change = rng.randrange(2)  # counters, in other ways than by the step of the loop

    def put(self, text):
        self.lines.append("    " * (self.depth + 1) + text)

    def value(self, around, least, most):
        """Returns an expression: mostly a constant, or one with a counter around or a parameter."""
        kind = self.rng.randrange(10)
        constant = str(self.rng.randint(least, most))
        if kind < 4 or (not around and kind < 7):
            return constant
        if kind < 8 and around:
            name = self.rng.choice(around)
            return self.rng.choice([name, f"{name} + {constant}", f"{constant} - {name}", f"{name} * 2",
                                    f"{name} / 2", f"{name} & 7"])
        return self.rng.choice(["p", "q", "p + 1", constant])

    def statement(self, counter, kind):
        """Puts something into a loop; some of it changes the counter."""
        die = self.rng.randrange(16)
        if die in (2, 6) and not self.may_change or die in (3, 4) and not self.gives_away:
            die = 7
        if die == 0:
            self.put("if (chance() == 3) break;")
        elif die == 1 and kind != "while":
            self.put("if (chance() < 4) continue;")
        elif die == 2:
            self.put(f"if (chance() < 3) {counter}++;")
        elif die == 3:
            self.put(f"array[({counter} + chance()) & 7] = {counter};")
        elif die == 4:
            self.put("change(&other);")
        elif die == 5:
            self.put("if (other++ > 40) return sum;")
        elif die == 6:
            self.put(f"if (chance() == 9) {counter} = {self.rng.randint(0, 4)};")
        else:
            self.put(f"sum += noise ^ {counter};")

    def loop(self, around):
        rng = self.rng
        kind = rng.choice(["for", "for", "for", "while", "do"])
        form = rng.randrange(9)
        name = f"i{self.names}"
        self.names += 1
        type_ = rng.choice(TYPES if rng.randrange(3) else TYPES[:1])
        most = WIDTHS.get(type_, 200) if not around else 24
        first, limit = self.value(around, 0, most // 2), self.value(around, 0, most)
        step = rng.choice([1, 1, 1, 2, 3, 5])
        compare = rng.choice(["<", "<=", "!=", "<"])
        change = f"{name} += {step}"
        if form == 1:
            compare, change, first, limit = rng.choice([">", ">=", "!="]), f"{name} -= {step}", limit, first
        elif form == 2:
            first, limit, compare = str(rng.randint(1, 3)), str(rng.randint(10, 60)), "<"
            change = name + rng.choice([" *= 2", " *= 3", " *= 5", " *= 7", " *= 10", " <<= 1", " <<= 2",
                                        f" += {name}", f" = {name} * 2 + 1"])
        elif form == 3:
            type_ = rng.choice([type_, f"unsigned {type_}" if type_.startswith("long") else "unsigned"])
            unknown = ["p", "noise", "-noise", f"{rng.choice('pq')} * noise"]
            first = rng.choice([str(rng.randint(20, 120)), *unknown, *around])
            limit, compare = str(rng.choice([0, 0, 0, 1, 3, 9])), rng.choice([">", "!=", ">="])
            change = f"{name} >>= {rng.choice([1, 1, 2, 3])}"
        test = f"{name} {compare} {limit}"
        if form == 4:
            test = f"{test} && chance() != 5"
        self.put(f"{type_} {name} = {first};")
        if kind == "for":
            self.put(f"for (; {test}; {change}) {{")
        else:
            self.put(f"while ({test}) {{" if kind == "while" else "do {")
        self.depth += 1
        self.put("if (--fuel < 0) return sum;")
        self.body(name, kind, around)
        if kind != "for":
            self.put(f"{change};")
        self.depth -= 1
        self.put(f"}} while ({test});" if kind == "do" else "}")

    def body(self, name, kind, around):
        for _ in range(self.rng.randint(1, 2)):
            self.statement(name, kind)
        if self.depth < 4 and self.rng.randrange(3):
            self.loop([*around, name])
        if self.rng.randrange(5) == 0 and self.number:
            self.put(f"sum += f{self.rng.randrange(self.number)}({name}, {self.rng.randint(0, 20)});")

    def text(self):
        self.put("int sum = 0, other = 0;")
        if self.gives_away:
            self.put("int array[8] = {0};")
        for _ in range(self.rng.randint(1, 2)):
            self.loop([])
        self.put("return sum + other + array[sum & 7];" if self.gives_away else "return sum + other;")
        return "\n".join([f"APART int f{self.number}(int p, int q)", "{", *self.lines, "}"])


def program(seed):
    rng = random.Random(seed)
    parts = [HEAD] + [Function(rng, n).text() for n in range(FUNCTIONS)]
    pointers = [n for n in range(FUNCTIONS) if rng.randrange(5) == 0]
    names = ", ".join(f"f{n}" for n in [0, *pointers])
    parts.append(f"int (*volatile pointers[])(int, int) = {{{names}}};")
    parts.append("int all(void)\n{\n    int sum = 0;")
    for n in range(FUNCTIONS):
        for _ in range(rng.randint(1, 2)):
            parts.append(f"    fuel = 1500;\n    sum += f{n}({rng.randint(0, 30)}, {rng.randint(0, 30)});")
    for i, _ in enumerate([0, *pointers]):
        parts.append(f"    fuel = 1500;\n    sum += pointers[{i}]({rng.randint(0, 60)}, chance() * 5);")
    parts.append("    return sum;\n}\nvoid _start(void) { words[0] = all(); leave(); }\n")
    return "\n".join(parts)


def check(folder, compiler, level, seed):
    source, binary, capture = folder / "random.c", folder / "random", folder / "capture"
    shutil.rmtree(capture, ignore_errors=True)
    source.write_text(program(seed))
    command.run(*compiler, level, *FLAGS, "-o", binary, source, "-lgcc")
    command.run(COMMAND, "record", "-q", "-o", capture, "--cycle-count=1", "--", binary)
    words = [COMMAND, "wcet", "--entry", "all", "--format", "json", capture]
    result = json.loads(command.output(*words))
    exceeded = [row for row in result["assumed"] if "more iterations were observed" in row["why"]]
    assert not exceeded, (seed, compiler, level, exceeded)
    counted = [loop for loop in result["loops"] if loop["origin"] == "counted"]
    return f"{len(counted)} of {len(result['loops'])} loops"


def main():
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(FIRST, FIRST + PROGRAMS):
            for name, (compiler, emulator) in TARGETS.items():
                tools = (compiler[0], emulator)
                missing = next((f"needs {tool}" for tool in tools if not shutil.which(tool)), None)
                for level in tap.some(LEVELS, *FEW[name]):
                    tap.case(f"seed {seed} {name} {level}", missing,
                             lambda c=compiler, o=level, s=seed: check(pathlib.Path(folder), c, o, s))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
