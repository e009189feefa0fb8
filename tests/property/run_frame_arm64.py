#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles src/frame and its twin test for arm64 and runs it under qemu-aarch64, for the NEON functions.

usage: run_arm64.py SOURCE_ROOT"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")


def main():
    root = pathlib.Path(sys.argv[1])
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"1..1\nok 1 # SKIP {', '.join(missing)} not there (Debian: gcc-aarch64-linux-gnu, qemu-user)")
        return 0
    sources = [*sorted((root / "src/frame").glob("*.c")),
               *(root / "src/base" / name
                 for name in ("arena.c", "ctx.c", "options.c", "packed.c", "version.c")),
               root / "tests/property/frame_twin.c"]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "twin"
        subprocess.run([TOOLS[0], "-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", "-static",
                        "-DCT_BUILDING", *(f"-I{root / name}" for name in ("include", "src", "tests")),
                        *map(str, sources), "-o", str(program)], check=True)
        env = {**os.environ, "CT_COUNT": os.environ.get("CT_COUNT", "40")}
        return subprocess.run([TOOLS[1], str(program)], env=env).returncode


sys.exit(main())
