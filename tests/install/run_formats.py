#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that a stranger writes on the installed library print what the command prints, to the byte, of a
capture that is recorded for it. Prints TAP.

usage: run_formats.py BUILD"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import run_install  # noqa: E402  pylint: disable=wrong-import-position

TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
TRACED = """
#include <stdlib.h>
__attribute__((noinline)) static int even(int n) { return n + 1; }
__attribute__((noinline)) static int odd(int n) { return n & 2 ? n - 1 : n; }
__attribute__((noinline)) static int never(int n) { return n * 3; }
int main(int argc, char **argv)
{
    int sum = 0;
    for (int n = 0; n < 100 + argc; n++)
        sum += n % 2 ? odd(n) : even(n);
    return argc > 100 ? never(atoi(argv[1])) : sum == 0;
}
"""
# A program, and the command line that prints the same.
PROGRAMS = {"cover_lcov": ["cover", "-f", "lcov"], "timing_text": ["timing"],
            "list_elements": ["list", "--elements"], "report": ["report"],
            "profile_folded": ["profile", "-f", "folded"],
            "profile_callgrind": ["profile", "-f", "callgrind"], "decode_merge": ["decode", "--merge"],
            "live_timing": ["timing"]}
# Those of another library than the core.
OF_LIBRARY = {"live_timing": "coretap-live"}
# Those for which the two sources of the example, with their timestamps, are of interest, too.
OF_SOURCES = ("decode_merge",)


def record(build, folder):
    source, program, capture = folder / "traced.c", folder / "traced", folder / "capture"
    source.write_text(TRACED)
    subprocess.run([TOOLS[0], "-g", "-O1", "-static", "-o", program, source], check=True)
    subprocess.run([build / "coretap", "record", "-q", "-o", capture, "--cycle-count", "--", program],
                   check=True)
    return capture


def compare(tap, build, folder, package, captures):
    for name, words in PROGRAMS.items():
        program = folder / name
        flags = package.flags(OF_LIBRARY.get(name, "coretap"), "shared")
        tap.run(f"{name} compiles", ["cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o",
                                     program, HERE / f"{name}.c", *flags])
        for capture in captures if name in OF_SOURCES else captures[:1]:
            out = tap.run(f"{name} runs", [program, capture], env=package.env)
            said = tap.run(f"coretap {' '.join(words)} runs", [build / "coretap", *words, capture])
            lines = (out or "").count("\n")
            tap.result(f"{name} prints the {lines} lines of the command",
                       None if out == said and lines > 10 else f"it prints\n{out}\nand not\n{said}")


def main():
    build = pathlib.Path(sys.argv[1])
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"1..0 # SKIP there is no {' and no '.join(missing)}")
        return 0
    tap = run_install.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet"], check=True,
                       env=dict(os.environ, DESTDIR=str(folder / "stage")))
        libdir = next((folder / "stage").rglob("coretap.pc")).parent.parent
        prefix = next(p for p in libdir.parents if (p / "include").is_dir())
        compare(tap, build, folder, run_install.Package(prefix, libdir),
                [record(build, folder), HERE.parent.parent / "examples/quickstart"])
    print(f"1..{tap.number}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
