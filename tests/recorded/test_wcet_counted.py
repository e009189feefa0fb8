#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which loops coretap wcet counts by their code, and that executions never exceed a count: for A64,
A32, T32 and three Cortex-M, as gcc and clang make them at each level of optimisation.

usage: test_wcet_counted.py COMMAND COUNTED.C FIRMWARE.LD"""
import json
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, SOURCE, SCRIPT = sys.argv[1:4]
TEXT = pathlib.Path(SOURCE).read_text().splitlines()
FLAGS = ["-g", "-nostdlib", "-static", "-ffreestanding", "-fno-builtin", "-fomit-frame-pointer"]
FIRMWARE = ["-DFIRMWARE", "-mthumb", "-T", SCRIPT]
ARM = "arm-linux-gnueabihf-gcc"
# Compiler, and the emulator with its options, if any
TARGETS = {
    "A64": (["aarch64-linux-gnu-gcc"], ["qemu-aarch64"]),
    "A32": ([ARM, "-marm"], ["qemu-arm"]),
    "T32": ([ARM, "-mthumb"], ["qemu-arm"]),
    "A64 by clang": (["clang", "--target=aarch64-linux-gnu", "-fuse-ld=lld"], ["qemu-aarch64"]),
    "A32 by clang": (["clang", "--target=armv7a-linux-gnueabihf", "-marm", "-fuse-ld=lld"], ["qemu-arm"]),
    "T32 by clang": (["clang", "--target=armv7a-linux-gnueabihf", "-mthumb", "-fuse-ld=lld"], ["qemu-arm"]),
    "Cortex-M0": (["arm-none-eabi-gcc", "-mcpu=cortex-m0", *FIRMWARE], ["qemu-system-arm", "-M", "microbit"]),
    "Cortex-M4": (["arm-none-eabi-gcc", "-mcpu=cortex-m4", *FIRMWARE],
                  ["qemu-system-arm", "-M", "mps2-an386"]),
    "Cortex-M55": (["arm-none-eabi-gcc", "-mcpu=cortex-m55", *FIRMWARE],
                   ["qemu-system-arm", "-M", "mps3-an547"]),
}


def lines_with(pattern):
    """Returns the lines of the source with a pattern, and what its group is in each."""
    found = {i: re.search(pattern, line) for i, line in enumerate(TEXT, 1)}
    return {i: m[1] for i, m in found.items() if m}


def result_of(folder, compiler, emulator, level):
    program, capture = folder / "program", folder / "capture"
    shutil.rmtree(capture, ignore_errors=True)
    command.run(*compiler, level, *FLAGS, "-o", program, SOURCE)
    run = ["--", program]
    if emulator[1:]:
        run = ["--system", "--", *emulator, "-nographic", "-semihosting", "-kernel", program]
    command.run(COMMAND, "record", "-q", "-o", capture, "--cycle-count=1", *run)
    words = [COMMAND, "wcet", "--entry", "all", "--format", "json", capture]
    return json.loads(command.output(*words))


def check(folder, compiler, emulator, level):
    """Checks the loops of one program. One that ran more often than it was counted would be an observed one.
    What is not counted is listed with the reason, and with the statement that bounds it."""
    result = result_of(folder, compiler, emulator, level)
    loops = result["loops"]
    told = {(row["start"], row["line"]): row["why"] for row in result["assumed"] if row["kind"] == "loop"}
    by_clang = compiler[0] == "clang"
    marked = r"counted(?: without optimisation)?" if level == "-O0" else "counted"
    for line, rounds in lines_with(rf"/\* {marked}: (\d+)").items():
        for loop in (loop for loop in loops if loop["line"] == line):
            assert loop["origin"] == "counted", loop
            assert by_clang or loop["bound"] in (int(rounds), int(rounds) + 1), loop
    for line, reason in lines_with(r"/\* not counted: (.*) \*/").items():
        for loop in (loop for loop in loops if loop["line"] == line):
            assert loop["origin"] == "observed", loop
            why = told.get((loop["start"], line))  # of loops that the longest path passes
            assert not why or f"'loop counted.c:{line} N'" in why, (loop, why)
            assert not why or any(word in why for word in reason.split(" or ")), (reason, why)
    ran = {loop["start"] for loop in loops if loop["observed"]}
    for row in result["assumed"]:
        assert row["kind"] != "cycles" or row["start"] not in ran or "this block ran" in row["why"], row
    counted = [loop for loop in loops if loop["origin"] == "counted"]
    assert all(loop["observed"] <= loop["bound"] for loop in counted), counted
    assert by_clang or len(counted) >= 18, loops
    return f"{len(counted)} of {len(loops)} loops"


def main():
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, (compiler, emulator)) in enumerate(TARGETS.items()):
            tools = (compiler[0], emulator[0], *(["ld.lld"] if "-fuse-ld=lld" in compiler else []))
            missing = next((f"needs {tool}" for tool in tools if not shutil.which(tool)), None)
            for level in tap.some(("-O0", "-O1", "-O2", "-O3", "-Os"), number % 5):
                tap.case(f"{name} {level}", missing,
                         lambda c=compiler, e=emulator, o=level: check(pathlib.Path(folder), c, e, o))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
