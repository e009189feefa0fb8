#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks functions and inlined calls of programs whose debug information is in separate files
(-gsplit-dwarf), or in a package of them: coverage equals that of the same program compiled without. The
counts are written here, so no trace is needed. Prints TAP.

usage: test_split_lines.py COMMAND"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command import output as run  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND = str(pathlib.Path(sys.argv[1]).resolve())
A64, ARM, CLANG = "aarch64-linux-gnu-g++", "arm-linux-gnueabihf-g++", "clang++"
# Inlined calls, function parts in other places (lists of ranges), a label, and a header.
HEADER = """static inline int clamp(int x)
{
    if (x < 0)
        return 0;
    return x > 100 ? 100 : x;
}
"""
SOURCE = """#include "clamp.h"
namespace shape {
template <int N> struct Power {
    static inline int of(int x) { return x * Power<N - 1>::of(clamp(x)); }
};
template <> struct Power<0> {
    static inline int of(int x) { return x + 1; }
};
__attribute__((noinline, cold)) void complain(int *p) { *p = -1; }
__attribute__((noinline)) int area(int a, int b, int *bad)
{
    int sum = 0;
    for (int i = 0; i < b; i++) {
        if (__builtin_expect(a == i, 0)) {
            complain(bad);
            goto out;
        }
        sum += Power<3>::of(clamp(a + i));
    }
out:
    return sum + clamp(sum);
}
}
int main(int argc, char **)
{
    int bad = 0;
    return shape::area(argc, 4, &bad) + shape::area(clamp(argc), argc, &bad) + bad;
}
"""
# Each row: name, compiler, its options, packer.
WAYS = (
    ("g++, DWARF 5", A64, ["-O2", "-gdwarf-5"], None),
    ("g++, DWARF 4", A64, ["-O2", "-gdwarf-4"], "aarch64-linux-gnu-dwp"),
    ("g++, DWARF 5, plain", A64, ["-O0", "-gdwarf-5"], None),
    ("g++ for T32, DWARF 5", ARM, ["-O2", "-mthumb", "-gdwarf-5"], None),
    ("clang++, DWARF 5", CLANG, ["--target=aarch64-linux-gnu", "-O2", "-gdwarf-5"], "llvm-dwp-14"),
    ("clang++, DWARF 4", CLANG, ["--target=aarch64-linux-gnu", "-O2", "-gdwarf-4"], None),
)


def build(folder, compiler, options):
    """Builds the program. Returns the address and size of each of its own functions."""
    for name, text in (("clamp.h", HEADER), ("area.cc", SOURCE)):
        (folder / name).write_text(text)
    linker = compiler if compiler != CLANG else A64
    run(compiler, "-g", *options, "-c", "area.cc", cwd=folder)
    run(linker, "-static", "-Wl,--build-id=none", "-o", "area", "area.o", cwd=folder)
    nm = linker.replace("g++", "nm")
    at = [line.split() for line in run(nm, "-S", "area", cwd=folder).splitlines()]
    return [(int(words[0], 16) & ~1, int(words[1], 16)) for words in at
            if words[-1] in ("main", "_ZN5shape4areaEiiPi", "_ZN5shape8complainEPi",
                             "_ZN5shape4areaEiiPi.cold")]


def said(folder, code, form):
    """Returns what coverage prints about a run of all that code, and its messages."""
    low, high = min(at for at, _ in code), max(at + size for at, size in code)
    (folder / "counts").write_text(
        f"coretap-coverage 1\nprogram {low:x} {high:x} - {folder}/area\ncontext 0 0 0 0 0\n"
        + "".join(f"run {at:x} {at + size:x} 3\n" for at, size in code))
    done = subprocess.run([COMMAND, "cover", "--format", form, "counts"], cwd=folder, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.replace(str(folder), "FOLDER"), done.stderr


def check_way(folder, compiler, options, packer):
    plain, split = folder / "plain", folder / "split"
    plain.mkdir(parents=True)
    split.mkdir()
    code = build(plain, compiler, options)
    assert build(split, compiler, [*options, "-gsplit-dwarf"]) == code, "this compiler makes other code of it"
    want = {form: said(plain, code, form)[0] for form in ("json", "lcov")}
    lines = {line["line"] for file in json.loads(want["json"])["programs"][0]["files"]
             if file["path"].endswith("clamp.h") for line in file["lines"]}
    assert lines, "nothing of the header was inlined"
    for form, text in want.items():
        got, warned = said(split, code, form)
        assert got == text and "debug information" not in warned, (form, warned, got, text)
    dwo = split / "area.dwo"
    if packer:
        run(packer, "-o", "area.dwp", "area.dwo", cwd=split)
        dwo.unlink()
        assert said(split, code, "lcov")[0] == want["lcov"], "of a package"
        (split / "area.dwp").unlink()
    else:
        dwo.unlink()
    warned = said(split, code, "lcov")[1]
    assert f"{dwo}, which is missing" in warned and "PROGRAM.dwp" in warned, warned
    return f"{len(want['json'])} bytes"


def main():
    # ccache would give the debug information of an earlier run, which names that run's folder.
    os.environ["CCACHE_DISABLE"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, compiler, options, packer) in enumerate(WAYS):
            missing = [tool for tool in (compiler, packer, A64) if tool and not shutil.which(tool)]
            place = pathlib.Path(folder).resolve() / str(number)
            tap.case(name, missing and f"{missing[0]} is missing",
                     lambda place=place, way=(compiler, options, packer): check_way(place, *way))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
