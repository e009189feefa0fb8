#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the cycles of the inner loops of bench/inner_loops*.c on AVX2 and on NEON, as llvm-mca calculates
them. llvm-mca models no cache and no branch misprediction, and assumes that stored data can be loaded at
once. So the numbers compare loops and are not speeds.

usage: loop_cycles.py SOURCES [MCA]

SOURCES is the folder of the project. MCA is llvm-mca-19 (Debian: llvm-19; version 14 does not know the
Neoverse V2). gcc and aarch64-linux-gnu-gcc compile the code."""
import pathlib
import re
import subprocess
import sys
import tempfile

DECODER = {"loop_scan": "scan, 64 bytes", "loop_scan_values": "scan with values of counts, 64 bytes",
           "loop_sums": "sums of counts, 64 bytes", "loop_address": "an address with its cycles",
           "loop_cut_masks": "cuts: masks of 64 bytes", "loop_cut_bytes": "cuts: 64 bytes kept",
           "loop_cut_list": "cuts: the places of 64 bytes", "loop_hop": "a hop",
           "loop_hops": "hops of two lanes"}
FLOW = {"loop_stretch_collect": "stretches: an element", "loop_stretch_rows": "stretches: the row of one",
        "loop_strip_rows": "strips: the row of one",
        "loop_stretch_count": "stretches, strips: one is counted"}
STRIPS = {"loop_strip_address": "strips: an address", "loop_strip_atoms": "strips: 64 bytes kept"}
LOOPS = {"inner_loops.c": DECODER, "inner_loops_flow.c": FLOW, "inner_loops_strips.c": STRIPS}
# Each row: compiler, its option for the processor, architecture, and the processors of llvm-mca. The first
# one is compared.
SIDES = [("gcc", "x86_64-linux-gnu", ["znver3"]),
         ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu", ["neoverse-v2", "neoverse-v1", "neoverse-n2"])]
ROUNDS = 400
LABEL = re.compile(r"^(\.L\w+):")
JUMP = re.compile(r"^\t(?:j\w+|b(?!lr?\t|r\t)[a-z.]*|cbn?z|tbn?z)\t.*?(\.L\w+)$")
RETURN = re.compile(r"^\tret\b")


def assembly(compiler, sources, file, folder):
    path = pathlib.Path(folder) / "loops.s"
    subprocess.run([compiler, "-std=gnu17", "-O3", "-fno-ipa-icf", "-S", "-o", path, f"-I{sources}/src",
                    f"-I{sources}/include", f"{sources}/bench/{file}"], check=True)
    return path.read_text()


def body(text, function):
    """Returns the lines of a function."""
    lines = text.splitlines()
    begin = lines.index(f"{function}:") + 1
    end = next(i for i in range(begin, len(lines)) if lines[i].startswith("\t.size\t" + function))
    return lines[begin:end]


def is_code(line):
    return line.startswith("\t") and not line.startswith("\t.")


def longest_loop(lines):
    """Returns the code of the loop with the most instructions, or all lines when there is no loop. Code with
    a return in it is no loop: there the jump back comes from rare code after the return."""
    labels, best = {}, []
    for i, line in enumerate(lines):
        label, jump = LABEL.match(line), JUMP.match(line)
        if label:
            labels[label[1]] = i
        elif jump and jump[1] in labels:
            loop = [each for each in lines[labels[jump[1]]:i + 1] if is_code(each)]
            if not any(RETURN.match(each) for each in loop):
                best = max(best, loop, key=len)
    return best or [each for each in lines if is_code(each)]


def cycles(mca, triple, processor, code):
    done = subprocess.run([mca, f"-mtriple={triple}", f"-mcpu={processor}", f"-iterations={ROUNDS}"],
                          input="\n".join(code) + "\n", text=True, capture_output=True, check=True)
    return int(re.search(r"Total Cycles:\s+(\d+)", done.stdout)[1]) / ROUNDS


def compare(function, name, texts, mca):
    """Prints what a loop costs on each processor. `texts` are tuples of assembly, architecture and
    processors."""
    found = {}
    for text, triple, names in texts:
        code = longest_loop(body(text, function))
        found |= {processor: cycles(mca, triple, processor, code) for processor in names}
    ratio = found["neoverse-v2"] / found["znver3"]
    print(f"{name}: " + ", ".join(f"{key} {value:.1f}" for key, value in found.items()) +
          f"; neoverse-v2 / znver3 {ratio:.2f}")


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__)
        return 2
    sources = pathlib.Path(sys.argv[1])
    mca = sys.argv[2] if len(sys.argv) == 3 else "llvm-mca-19"
    for file, loops in LOOPS.items():
        with tempfile.TemporaryDirectory() as folder:
            texts = [(assembly(compiler, sources, file, folder), triple, names)
                     for compiler, triple, names in SIDES]
        for function, name in loops.items():
            compare(function, name, texts, mca)
    return 0


if __name__ == "__main__":
    sys.exit(main())
