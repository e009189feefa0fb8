#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that coverage tells how much of a program is optimised code, by what compilers say of themselves in
the debug information. The coverage file needs no trace. Prints TAP.

usage: test_cover_units.py CORETAP"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command import output as run  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, lacks, skip  # noqa: E402  pylint: disable=wrong-import-position

GCC = ["aarch64-linux-gnu-gcc"]
CLANG = ["clang", "--target=aarch64-linux-gnu"]
FIRST = "int other(int);\nvoid _start(void) { for (;;) other(3); }\n"
OTHER = "int other(int n) { return n && n < 9 ? other(n - 1) : 2; }\n"
# The compiler, options of both files, options of linking, and the number of optimised units.
CASES = [
    (GCC, [], [], [], 0),
    (GCC, ["-O0"], ["-O2", "-O0"], [], 0),
    (GCC, ["-O0"], ["-O2"], [], 1),
    (GCC, ["-Og"], ["-Os"], [], 2),
    (GCC, ["-O2", "-gsplit-dwarf"], ["-O0"], [], 1),
    (CLANG, ["-O0"], ["-O0"], [], 0),
    (CLANG, ["-O0"], ["-O1"], [], 1),
    (CLANG, ["-O0", "-grecord-command-line"], ["-O2", "-gdwarf-4"], [], 1),
    (CLANG, ["-O0", "-glldb"], ["-O2", "-glldb"], [], 1),
    (GCC, ["-O2", "-flto"], ["-O2", "-flto"], ["-O0", "-flto"], 1),
]


def build(folder, compiler, options, linking):
    objects = []
    for name, text, chosen in zip(("first", "other"), (FIRST, OTHER), options):
        (folder / f"{name}.c").write_text(text)
        run(*compiler, "-g", *chosen, "-c", f"{name}.c", "-o", f"{name}.o", cwd=folder)
        objects.append(f"{name}.o")
    run(*GCC, "-g", *linking, "-nostdlib", "-static", "-o", "program", *objects, cwd=folder)
    program = folder / "program"
    (folder / "counts").write_text(f"coretap-coverage 1\nprogram 400000 410000 - {program}\n"
                                   "context 0 0 0 0 0\nrun 400000 400004 1\n")
    return folder / "counts"


def cover(coretap, counts, form, *options):
    return subprocess.run([coretap, "cover", "--format", form, *options, counts], capture_output=True,
                          text=True, check=False)


def check_case(coretap, folder, compiler, first, other, linking, optimised):
    counts = build(folder, compiler, (first, other), linking)
    done = cover(coretap, counts, "json")
    units = json.loads(done.stdout)["programs"][0]["compile_units"]
    all_units = 1 if "-flto" in first else 2
    says = f"{optimised} of {all_units} compile units are optimised code" in done.stderr
    name = f"{compiler[0]} {' '.join(first)} and {' '.join(other)}"
    check(f"{name}: {optimised} optimised units",
          units == {"optimised": optimised, "all": all_units} and says == bool(optimised),
          f"{units}\n{done.stderr}")
    page = cover(coretap, counts, "html").stdout
    check(f"{name}: the page tells it", ("compile units are optimised code" in page) == bool(optimised))
    check(f"{name}: --quiet does not", "optimised" not in cover(coretap, counts, "lcov", "--quiet").stderr)


def main():
    coretap = os.path.abspath(sys.argv[1])
    for compiler, first, other, linking, optimised in CASES:
        missing = lacks(GCC[0], compiler[0])
        if missing:
            skip(f"{compiler[0]} {first}", missing)
            continue
        with tempfile.TemporaryDirectory() as folder:
            check_case(coretap, pathlib.Path(folder), compiler, first, other, linking, optimised)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
