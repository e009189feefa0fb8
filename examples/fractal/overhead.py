#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Repeats the study of the paper's Fig. 2: four workloads, three image sizes, four configurations.

usage: overhead.py COMMAND [SIZE...]     sqcif, qcif, cif, vga, fullhd, WxH; by default those from cif on"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
WORKLOADS = ["disparity", "mser", "sift", "tracking"]


def measure(command, program, size):
    done = subprocess.run([command, "fractal", "overhead", "--csv", "--", program, "-s", size], text=True,
                          capture_output=True, check=False)
    if done.returncode:
        sys.exit(done.stderr.strip())
    line = done.stdout.splitlines()[-1]
    return [int(cycles) for cycles in line.split(",")]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    command, sizes = sys.argv[1], sys.argv[2:] or ["cif", "vga", "fullhd"]
    print("| workload | size | no fabric, ms | coherent port | tracing | tracing, log in memory "
          "|\n|---|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name in WORKLOADS:
            program = pathlib.Path(folder) / name
            subprocess.run(["aarch64-linux-gnu-gcc", "-O2", "-static", "-o", program, HERE / f"{name}.c",
                            "-lm"],
                           check=True)
            for size in sizes:
                none, *others = measure(command, program, size)
                print(f"| {name} | {size} | {none / 1.3e6:.2f} | " +
                      " | ".join(f"{100 * (cycles / none - 1):+.3f} %" for cycles in others) + " |",
                      flush=True)


if __name__ == "__main__":
    main()
