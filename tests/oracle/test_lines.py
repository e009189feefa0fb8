#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares source lines with addr2line: each instruction of a program, at several optimisation levels and in
several versions of DWARF, has the same file, line and chain of inlined calls. Prints TAP.

usage: test_lines.py DUMP_LINES"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command import output  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish  # noqa: E402  pylint: disable=wrong-import-position

HERE = pathlib.Path(__file__).resolve().parent
CC = "aarch64-linux-gnu-gcc"
ADDR2LINE = "aarch64-linux-gnu-addr2line"
OBJCOPY = "aarch64-linux-gnu-objcopy"
BUILDS = [
    ("O0", ["-O0"]),
    ("O2", ["-O2"]),
    ("O2, DWARF 4", ["-O2", "-gdwarf-4"]),
    ("O3, PIE", ["-O3", "-fPIE", "-pie"]),
    ("O1, compressed", ["-O1", "-gz=zlib"]),
    ("Os, sections thrown away", ["-Os", "-ffunction-sections", "-Wl,--gc-sections"]),
]
BIAS = 0x5500000000


def compiled(folder, name, options):
    program = folder / re.sub(r"\W+", "_", name)
    output(CC, "-g", *options, "-o", str(program), str(HERE / "sample.c"))
    return program


def expected(program, addresses):
    """Returns what addr2line prints: address -> [(file:line, function), …]."""
    text = output(ADDR2LINE, "-a", "-f", "-i", "-e", str(program), input="\n".join(addresses) + "\n")
    frames = {}
    chain = None
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("0x"):
            chain = frames.setdefault(f"{int(line, 16):x}", [])
        else:
            place = re.sub(r" \(discriminator \d+\)", "", next(lines))
            chain.append((place, line))
    return frames


def ours(text, bias=0):
    frames = {}
    for line in text.splitlines():
        addr, *words = line.split(" ")
        frames[f"{int(addr, 16) - bias:x}"] = list(zip(words[::2], words[1::2]))
    return frames


def check_instructions(dump, name, program):
    got = ours(output(dump, str(program)))
    want = expected(program, list(got))
    # Padding after a function belongs to no function; addr2line names the symbol before it.
    wrong = [f"{a}: {got[a]}, addr2line: {want[a]}" for a in got if got[a] != want[a]
             and got[a][0][1] != "??"]
    padding = sum(chain[0][1] == "??" for chain in got.values())
    check(f"{name}: {padding} instructions are in no function", padding <= 8)
    check(f"{name}: {len(got)} instructions as addr2line has them", len(got) > 40 and not wrong,
          "\n".join(wrong))
    check(f"{name}: load bias", ours(output(dump, str(program), f"{BIAS:x}"), BIAS) == got)
    depth = max(len(chain) for chain in got.values())
    check(f"{name}: inlined calls in inlined calls", depth >= 2, depth)
    return got


def check_find(dump, name, program, got):
    """Checks that each begin of the line is one of its instructions, and follows an instruction of another
    line."""
    line = next(i for i, text in enumerate((HERE / "sample.c").read_text().splitlines(), 1)
                if "sum += sample" in text)
    taken, *addrs = output(dump, str(program), "0", "oracle/sample.c", str(line)).split()
    place = f"{HERE / 'sample.c'}:{line}"
    check(f"{name}: sample.c:{line} begins somewhere", int(taken) == line and addrs, (taken, addrs))
    wrong = [a for a in addrs if got[a][0][0] != place]
    before = [f"{int(a, 16) - 4:x}" for a in addrs]
    wrong += [a for a in before if a in got and got[a][0][0] == place]
    check(f"{name}: its beginnings", not wrong, wrong)


def check_unended_string(dump, folder, options, name):
    """Checks a table of strings whose last string has no end: no debug information is read, and a message
    says so."""
    program = compiled(folder, "unended", ["-O0"])
    strings = folder / "strings"
    output(OBJCOPY, "--dump-section", f".debug_str={strings}", str(program))
    strings.write_bytes(strings.read_bytes()[:-1] + b"x")
    output(OBJCOPY, "--update-section", f".debug_str={strings}", *options, str(program))
    said = subprocess.run([dump, str(program)], capture_output=True, text=True, check=True, timeout=300)
    check(f"{name} without an end", said.stdout == "" and "is not terminated" in said.stderr, said.stderr)


def main():
    dump = sys.argv[1]
    for tool in (CC, ADDR2LINE):
        if not shutil.which(tool):
            print(f"1..0 # SKIP {tool} is missing (Debian: gcc-aarch64-linux-gnu)")
            return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for build, options in BUILDS:
            program = compiled(folder, build, options)
            got = check_instructions(dump, build, program)
            check_find(dump, build, program, got)
        program = compiled(folder, "O0", ["-O0"])
        empty = output(dump, str(program), "0", "sample.c", "6").split()
        check("a line without code is the next that has some", empty[0] == "9", empty)
        for place in (("ample.c", "9"), ("sample.c", "1000")):
            check(f"{':'.join(place)} is not found",
                  output(dump, str(program), "0", *place).strip() == "CT_ERR_NOT_FOUND")
        check_unended_string(dump, folder, [], "a string")
        check_unended_string(dump, folder, ["--compress-debug-sections=zlib"], "a packed string")
        output("aarch64-linux-gnu-strip", str(program))
        check("without debug information", output(dump, str(program)) == "")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
