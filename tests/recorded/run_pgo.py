#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the example of a closed loop of profiles (examples/pgo): a program that clang compiles with
coretap's profile executes fewer instructions, and takes fewer branches after BOLT has reordered its
blocks. All three programs print the same. Prints TAP.

usage: run_pgo.py COMMAND PLUGIN EXAMPLE"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tap import check, finish, skip  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, PLUGIN = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:3])
EXAMPLE = pathlib.Path(sys.argv[3])
PREFIX = "/usr/aarch64-linux-gnu"
TOOLS = {"clang": "clang", "ld.lld": "lld", "qemu-aarch64": "qemu-user",
         "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu"}


def missing():
    for tool, package in TOOLS.items():
        if not shutil.which(tool):
            return f"{tool} is missing (Debian: {package})"
    if not list(pathlib.Path("/usr/lib").glob("llvm-*/bin/perf2bolt")):
        return "perf2bolt is missing (Debian: bolt-15)"
    return None


def main():
    if missing():
        skip("a closed loop of profiles", missing())
        return finish()
    env = {**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN, "QEMU_LD_PREFIX": PREFIX}
    with tempfile.TemporaryDirectory() as name:
        folder, page = pathlib.Path(name) / "loop", pathlib.Path(name) / "page.html"
        done = subprocess.run([sys.executable, EXAMPLE, COMMAND, folder, page], capture_output=True,
                              text=True, env=env, timeout=300, check=False)
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        check("the example runs", done.returncode == 0 and len(rows) == 4, done.stderr or done.stdout)
        if len(rows) != 4:
            return finish()
        counts = {row[0]: (int(row[1]), int(row[2])) for row in rows[1:]}
        plain, profile, bolt = (counts[key] for key in ("plain", "profile", "bolt"))
        check("with the profile a fifth of the instructions and more is not executed",
              profile[0] < 0.8 * plain[0], counts)
        check("… and behind BOLT a quarter of the taken branches and more is not taken",
              bolt[1] < 0.75 * profile[1] and bolt[0] < plain[0], counts)
        printed = {subprocess.run(["qemu-aarch64", folder / key, "20000"], capture_output=True, text=True,
                                  env=env, check=True).stdout for key in counts}
        check("all three print the same", printed == {"39998\n"}, printed)
        text = page.read_text(encoding="utf-8")
        check("the page has the figures, and needs no other file",
              all(f"{number:,}" in text for pair in counts.values() for number in pair) and
              not re.search(r"src=|href=|url\(|<script", text))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
