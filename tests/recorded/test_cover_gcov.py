#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares coverage with gcov: programs built at -O0 for A64, A32 and T32 run once plain under QEMU, where
their path is recorded, and once with gcov's counters. Lines and branches have the same counts; where they
cannot agree, docs/analysis.md gives the reason, and the list below has each such line. Prints TAP.

usage: test_cover_gcov.py CORETAP [PROGRAM…]      without a program: all of them with CT_LONG=1, else a few"""
import collections
import json
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command import output as run  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, skip  # noqa: E402  pylint: disable=wrong-import-position
import traced  # noqa: E402  pylint: disable=wrong-import-position

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
TARGETS = {  # compiler and its options, gcov, QEMU
    "A64": (["aarch64-linux-gnu-gcc"], "aarch64-linux-gnu-gcov", "qemu-aarch64"),
    "A32": (["arm-linux-gnueabihf-gcc", "-marm"], "arm-linux-gnueabihf-gcov", "qemu-arm"),
    "T32": (["arm-linux-gnueabihf-gcc", "-mthumb"], "arm-linux-gnueabihf-gcov", "qemu-arm"),
}
FEW_ARM = ["loops", "jumps"]
FEW = ["loops", "ternaries", "one_line", "several_lines", "joins", "jumps", "recursion", "attributed"]

# What gcov counts and no instruction is made from.
NO_CODE = {
    "arrays": {37: "opening brace of a function with an array of variable length as parameter"},
    "attributes": {29: "va_end"},
}
OTHER_COUNT = {
    "gotos": {50: "all computed gotos are one jump, which has the line of the first"},
    "several_lines": {47: "a statement that calls divide, of which gcov counts each piece"},
}
# Lines to which gcov attributes other code: its count, and that of the trace, which the program shows.
ATTRIBUTED = {
    "attributed": {5: (11, 5), 17: (15, 5),  # functions that begin with a loop, called 5 times
                   45: (10, 0),  # the end of a block with a variable; the jump back never runs
                   59: (73, 61),  # a decision whose block has a variable and a return
                   75: (5, 11),  # a label to which code leads on
                   86: (3, 5)},  # two labels, which are one address
}
# Branches by line: gcov has them elsewhere, or not at all, or as one of several ways.
OTHER_BRANCHES = {
    "attributes A64": {28: "va_arg decides where the argument is"},
    "inlines": {11: "condition of an inlined function", 30: "condition of an inlined function"},
    "attributed": {27: "switch", 28: "switch behind a label", 93: "a value that is not used"},
    "switches": {6: "switch", 29: "switch", 46: "switch", 64: "switch"},
}
# Lines on which a decision goes on, and the line on which it begins, where coretap has all of its branches.
GOES_ON = {"several_lines": {18: 17}}
CLOSING = "}"
LABELS = ("case ", "default:")


def by_gcov(folder, source, target):
    """Returns lines and branches counted by gcov: line -> count, line -> [count]."""
    program = folder / "counted"
    compiler, gcov, qemu = TARGETS[target]
    run(*compiler, "-O0", "-g", "--coverage", "-static", "-w", "-o", str(program), str(source), cwd=folder)
    run(qemu, str(program), cwd=folder)
    data = next(folder.glob("*.gcda"))
    report = json.loads(run(gcov, "-b", "-c", "-j", "-t", data.name, cwd=folder))
    lines = collections.Counter()
    branches = {}
    for file in report["files"]:
        if not file["file"].endswith(source.name):
            continue
        for line in file["lines"]:
            lines[line["line_number"]] += line["count"]
            if line["branches"]:
                branches[line["line_number"]] = [branch["count"] for branch in line["branches"]]
    return dict(lines), branches


def by_trace(coretap, folder, source, target):
    """Returns the same from the lcov tracefile."""
    program = folder / "plain"
    run(*TARGETS[target][0], "-O0", "-g", "-static", "-w", "-o", str(program), str(source))
    capture = traced.capture(coretap, folder, program)
    lines = collections.Counter()
    branches = collections.defaultdict(list)
    here = False
    tracefile = run(coretap, "cover", "--format", "lcov", "--elf", str(program), "--source-root",
                    str(source.parent), str(capture))
    for line in tracefile.splitlines():
        key, _, rest = line.partition(":")
        if key == "SF":
            here = rest.endswith(source.name)
        if here and key == "DA":
            number, hits = rest.split(",")
            lines[int(number)] += int(hits)
        if here and key == "BRDA":
            number, _, _, hits = rest.split(",")
            branches[int(number)].append(0 if hits == "-" else int(hits))
    return dict(lines), dict(branches)


def pairs(counts):
    """Returns both directions of each conditional branch; the compiler chooses which one is the taken one."""
    return sorted(tuple(sorted(pair)) for pair in zip(counts[::2], counts[1::2]))


def compare_lines(name, title, source, gcov, trace):
    text = source.read_text().splitlines()
    wrong = []
    equal = 0
    for line in sorted(set(gcov) | set(trace)):
        code = text[line - 1].strip()
        if line not in gcov and code == CLOSING:
            continue
        if line not in trace and (code.startswith(LABELS) or line in NO_CODE.get(name, {})):
            continue
        if line in OTHER_COUNT.get(name, {}):
            continue
        if line in ATTRIBUTED.get(name, {}):
            if (gcov.get(line), trace.get(line)) != ATTRIBUTED[name][line]:
                wrong.append(f"{source.name}:{line}: gcov {gcov.get(line)}, trace {trace.get(line)}")
            continue
        equal += 1
        if gcov.get(line) != trace.get(line):
            wrong.append(f"{source.name}:{line}: gcov {gcov.get(line)}, trace {trace.get(line)}: {code}")
    check(f"{title}: {equal} lines have gcov's counts", equal > 10 and not wrong, wrong)


def compare_branches(name, title, gcov, trace):
    other = OTHER_BRANCHES.get(title, OTHER_BRANCHES.get(name, {}))
    for line, first in GOES_ON.get(name, {}).items():
        gcov[first] = gcov[first] + gcov.pop(line)
    lines = sorted((set(gcov) | set(trace)) - set(other))
    wrong = [f"line {line}: gcov {gcov.get(line)}, trace {trace.get(line)}" for line in lines
             if pairs(gcov.get(line, [])) != pairs(trace.get(line, []))]
    check(f"{title}: branches of {len(lines)} lines have gcov's counts", lines and not wrong, wrong)
    known = [line for line in other if pairs(gcov.get(line, [])) == pairs(trace.get(line, []))]
    check(f"{title}: {len(other)} lines have branches that gcov sees otherwise", not known, known)


def compare(coretap, name, target):
    source = PROGRAMS / f"{name}.c"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        gcov_lines, gcov_branches = by_gcov(folder, source, target)
        trace_lines, trace_branches = by_trace(coretap, folder, source, target)
    title = f"{name} {target}"
    compare_lines(name, title, source, gcov_lines, trace_lines)
    compare_branches(name, title, gcov_branches, trace_branches)


def main():
    coretap = os.path.abspath(sys.argv[1])
    many = os.environ.get("CT_LONG") == "1"
    names = sys.argv[2:] or (sorted(p.stem for p in PROGRAMS.glob("*.c")) if many else FEW)
    for target, (compiler, gcov, qemu) in TARGETS.items():
        missing = next((tool for tool in (compiler[0], gcov, qemu) if not shutil.which(tool)), None)
        if missing:
            skip(target, f"needs {missing}")
            continue
        for name in names if many or sys.argv[2:] or target == "A64" else FEW_ARM:
            compare(coretap, name, target)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
