#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that programs which each use one function of OpenCSD's C interface print the same, and write the
same files, with the system's library and with coretap's in its place. There is a program for each function
that the header declares, except those of statistics, which have tests of their own.

usage: api.py PROGRAMS LIBRARY"""
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "oracle"))
from perf_tool import Tap, first_difference

HEADER = pathlib.Path("/usr/include/opencsd/c_api/opencsd_c_api.h")
ELSEWHERE = {"ocsd_dt_get_decode_stats", "ocsd_dt_reset_decode_stats"}


def run(programs, name, path):
    """Runs a program. Returns what it prints and writes, as lines. `path`: folder of the library, or None for
    the system's."""
    env = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    if path:
        env["LD_LIBRARY_PATH"] = path
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([programs, name], cwd=folder, env=env, capture_output=True, timeout=300)
        text = done.stdout + b"\nstandard error:\n" + done.stderr
        for file in sorted(pathlib.Path(folder).iterdir()):
            text += b"\nfile %s:\n%s" % (os.fsencode(file.name), file.read_bytes())
    return [f"exit code {done.returncode}".encode(), *text.splitlines()]


def without_crashes(theirs, ours):
    """Removes from both outputs the calls at which OpenCSD crashes and coretap does not."""
    def calls(lines):
        found = [[]]
        for line in lines:
            if line.startswith(b"> "):
                found.append([])
            found[-1].append(line)
        return found
    pairs = list(itertools.zip_longest(calls(theirs), calls(ours), fillvalue=[]))
    kept = [(a, b) for a, b in pairs
            if not (a[:1] == b[:1] and b"crashes" in a and b"crashes" not in b)]
    return tuple(list(itertools.chain.from_iterable(lines)) for lines in zip(*kept))


def main():
    programs, library = (str(pathlib.Path(argument).resolve()) for argument in sys.argv[1:])
    names = subprocess.run([programs], check=True, capture_output=True, text=True).stdout.splitlines()
    tap = Tap()
    for name in names:
        theirs, ours = run(programs, name, None), run(programs, name, os.path.dirname(library))
        why = first_difference(*without_crashes(theirs, ours), ("OpenCSD", "coretap"))
        tap.check(name, f"OpenCSD ends with {theirs[0].decode()}" if theirs[0] != b"exit code 0" else why)
    declared = set(re.findall(r"^OCSD_C_API .*?\b(ocsd_\w+)\(", HEADER.read_text(), re.MULTILINE))
    missing = declared - {name.split(",")[0] for name in names} - ELSEWHERE
    tap.check(f"each of {len(declared)} functions has a program", ", ".join(sorted(missing)) or None)
    tap.end()


if __name__ == "__main__":
    main()
