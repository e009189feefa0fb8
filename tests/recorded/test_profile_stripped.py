#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that what needs no symbols is the same for a program and its stripped copies: ranges and branches,
executed instructions, and the bounds of functions from .eh_frame. Prints TAP.

usage: test_profile_stripped.py CORETAP"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tap import check, finish, skip  # noqa: E402  pylint: disable=wrong-import-position

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
CPP = """#include <map>
#include <string>
#include <cstdio>
struct error { int at; };
static int step(int n) { if (n % 7 == 6) throw error{n}; return n * 2; }
int main() {
    std::map<std::string, int> counts;
    for (int i = 0; i < 40; i++)
        try { counts[std::to_string(i % 5)] += step(i); } catch (const error &e) { counts["error"] += e.at; }
    for (const auto &entry : counts) std::printf("%s %d\\n", entry.first.c_str(), entry.second);
}
"""
KINDS = [  # name, compiler, source, options, where the libraries are
    ("A64, static", "aarch64-linux-gnu-gcc", "text.c", ["-O2", "-static"], None),
    ("A64, dynamic", "aarch64-linux-gnu-gcc", "text.c", ["-O2", "-pie"], "/usr/aarch64-linux-gnu"),
    ("A64, C++", "aarch64-linux-gnu-g++", "maps.cpp", ["-O1"], "/usr/aarch64-linux-gnu"),
    ("T32, dynamic", "arm-linux-gnueabihf-gcc", "recursion.c", ["-O1", "-mthumb"],
     "/usr/arm-linux-gnueabihf"),
    ("A32, dynamic", "arm-linux-gnueabihf-gcc", "switches.c", ["-O1", "-marm"], "/usr/arm-linux-gnueabihf"),
]
# Functions that .eh_frame does not bound, and why.
UNBOUNDED = {
    r"_init|_fini|call_weak_fn": "assembly of crti.o and start.o, without unwind information",
    r".*@plt": "entries of the linkage table that a static program relocates: their names are in the symbol "
               "table alone",
}


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, check=True, timeout=300,
                          **options).stdout


def without_sections(program, copy):
    """Makes a copy whose ELF header names no sections."""
    data = bytearray(program.read_bytes())
    wide = data[4] == 2
    offset, counts = (0x28, 0x3c) if wide else (0x20, 0x30)
    data[offset:offset + (8 if wide else 4)] = bytes(8 if wide else 4)
    data[counts:counts + 4] = bytes(4)
    copy.write_bytes(data)


def stripped(folder, program, compiler):
    """Returns (what is left, copy): without the symbol table, and without any section."""
    copies = [(name, folder / name.replace(" ", "-") / program.name)
              for name in ("dynamic symbols", "segments")]
    for _, copy in copies:
        copy.parent.mkdir()
    run(compiler.rsplit("-", 1)[0] + "-strip", "-o", copies[0][1], program)
    without_sections(program, copies[1][1])
    return copies


def functions(coretap, program, capture):
    """Returns (address -> (instructions, name), executed instructions)."""
    found = json.loads(run(coretap, "cover", "-q", "--all-functions", "--format", "json", "--elf", program,
                           capture))
    rows = next(row for row in found["programs"] if row["program"] == str(program))
    return ({f["address"]: (f["instructions"]["all"], f["name"]) for f in rows["functions"]},
            rows["sums"]["instructions"]["seen"])


def check_bounds(kind, program, whole, copy):
    """Checks that all code with unwind information has the same bounds without symbols; each known difference
    has a reason."""
    frames = run("readelf", "--debug-dump=frames", program).decode()
    starts = {int(start, 16) for start in re.findall(r"FDE.* pc=([0-9a-f]+)\.\.", frames)}
    wrong = [f"{at:#x}: {whole.get(at)}, without symbols {copy.get(at)}"
             for at in sorted(starts & whole.keys())
             if whole[at][0] != copy.get(at, (0,))[0]]
    check(f"{kind}: {len(starts & whole.keys())} functions of .eh_frame have the same bounds without symbols",
          not wrong and len(starts & whole.keys()) > 5, wrong)
    reasons = set()
    for at, (count, name) in whole.items():
        if copy.get(at, (0,))[0] == count:
            continue
        reason = next((why for pattern, why in UNBOUNDED.items() if re.fullmatch(pattern, name)), None)
        reasons.add(reason or f"{name} at {at:#x} differs without a reason: {copy.get(at)}")
    check(f"{kind}: {len(reasons)} reasons for which others differ", reasons <= set(UNBOUNDED.values()),
          sorted(reasons))


def check_kind(coretap, kind, compiler, source, options, libraries):
    missing = compiler if not shutil.which(compiler) else f"{libraries}/lib" if libraries and \
        not os.path.exists(f"{libraries}/lib/libc.so.6") else None
    if missing:
        skip(kind, f"{missing} is missing (tools/install-deps arm)")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program, capture = folder / "program", folder / "capture"
        if source == "maps.cpp":
            (folder / source).write_text(CPP)
        run(compiler, *options, "-g", "-w", "-o", program,
            folder / source if source == "maps.cpp" else PROGRAMS / source)
        run(coretap, "record", "-q", "-o", capture, "--", program,
            env={**os.environ, **({"QEMU_LD_PREFIX": libraries} if libraries else {})})

        def profile(form, elf, counts=capture):
            return run(coretap, "profile", "-q", "--format", form, "--elf", elf, counts)

        whole = {form: profile(form, program) for form in ("autofdo", "bolt")}
        bounds, executed = functions(coretap, program, capture)
        for left, copy in stripped(folder, program, compiler):
            left_bounds, left_executed = functions(coretap, copy, capture)
            check(f"{kind}: {executed} executed instructions with {left} alone",
                  left_executed == executed > 50, left_executed)
            if kind.startswith("A64") and left == "dynamic symbols":
                check_bounds(kind, program, bounds, left_bounds)
            for form, want in whole.items():
                got = profile(form, copy)
                check(f"{kind}: {form} of a copy with {left} alone: {want.count(10)} lines",
                      got == want and want.count(10) > 50, f"{got[:300]}\ninstead of\n{want[:300]}")
            counts = copy.parent / "counts"
            counts.write_bytes(run(coretap, "cover", "-q", "--format", "data", "--elf", copy, capture))
            check(f"{kind}: bolt of a coverage file of a copy with {left} alone",
                  profile("bolt", copy, counts) == whole["bolt"])


def main():
    coretap = os.path.abspath(sys.argv[1])
    for kind in KINDS:
        check_kind(coretap, *kind)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
