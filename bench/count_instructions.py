#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions for each byte of trace under QEMU, of bench_packets built for x86-64 and for arm64.
Subtracts a run of one pass from a run of three, so that work that is done once does not count.

usage: count_instructions.py PLUGIN X86_BENCH EMULATOR... ARM64_BENCH

PLUGIN is bench/insn_count.c as a shared object. EMULATOR are the words that run programs for arm64
(tools/arm64.ini), beginning with qemu-aarch64."""
import os
import subprocess
import sys

MODES = ["plain", "cycle counts", "branch broadcast, cycle counts, events"]
WAYS = {"elements": 11, "events": 13}  # each level's number in bench_packets.c
PASSES = (1, 3)


def counted(emulator, plugin, program, numbers, simd):
    """Returns the bytes of the trace, and how many instructions the whole program executed."""
    done = subprocess.run([*emulator, "-plugin", plugin, program, *map(str, numbers)], check=True, text=True,
                          capture_output=True, env={**os.environ, "CORETAP_SIMD": simd})
    return int(done.stdout), int(done.stderr.split()[0])


def a_byte(emulator, plugin, program, mode, way, simd):
    runs = [counted(emulator, plugin, program, (mode, way, passes), simd) for passes in PASSES]
    return (runs[1][1] - runs[0][1]) / (PASSES[1] - PASSES[0]) / runs[0][0]


def main():
    if len(sys.argv) < 5:
        print(__doc__)
        return 2
    plugin, x86, *emulator, arm64 = sys.argv[1:]
    for name, way in WAYS.items():
        for mode, text in enumerate(MODES):
            figures = {f"{processor}, {simd}": a_byte(words, plugin, program, mode, way, simd)
                       for processor, words, program, wide in (
                           ("x86-64", ["qemu-x86_64", "-cpu", "max"], x86, "avx2"),
                           ("arm64", emulator, arm64, "neon"))
                       for simd in (wide, "none")}
            print(f"{name}, {text}: " + "; ".join(f"{key} {value:.2f}" for key, value in figures.items()),
                  flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
