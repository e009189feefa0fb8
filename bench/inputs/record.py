#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the inputs of `make bench`: a program of the project under several trace units, and programs of
Debian (real.py).

usage: record.py CORETAP PLUGIN SOURCE FOLDER [WORD...]

With words, records only inputs whose name contains one of them. Prints a line 'NAME FOLDER' for each capture.
Existing captures are not made again. Without a cross compiler, QEMU or the programs, prints on standard error
what is missing, and leaves out the captures that need it."""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

import real

# Each row: name, architecture, arguments of the program, options of the recorder.
INPUTS = [
    ("broadcast", "arm64", ["10"], ["--branch-broadcast", "--cycle-count", "--events", "500"]),
    ("plain", "arm64", ["40"], []),
    ("cycles", "arm64", ["20"], ["--cycle-count"]),
    ("framed", "arm64", ["8", "4"], ["--framed"]),
    ("ptm", "armhf", ["20"], ["--protocol", "ptm", "--cycle-count"]),
]
TOOLS = {"arm64": ("aarch64-linux-gnu-gcc", "qemu-aarch64"), "armhf": ("arm-linux-gnueabihf-gcc", "qemu-arm")}


def build(source, folder, arch):
    program = folder / f"work-{arch}"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        subprocess.run([TOOLS[arch][0], "-O2", "-static", "-o", program, source, "-lpthread"], check=True)
    return program


class Recorder:
    def __init__(self, coretap, plugin):
        self.coretap, self.plugin = coretap, plugin

    def record(self, folder, command, options, stdin=None, env=None):
        """Makes the capture unless it is there and newer than the program."""
        made = folder / "snapshot.ini"
        if made.exists() and made.stat().st_mtime > pathlib.Path(command[0]).stat().st_mtime:
            return
        shutil.rmtree(folder, ignore_errors=True)
        with open(stdin or os.devnull, "rb") as given:
            subprocess.run([self.coretap, "record", "-q", "-o", folder, *options, "--", *command], check=True,
                           stdin=given, stdout=subprocess.DEVNULL,
                           env={**os.environ, **(env or {}), "CORETAP_TRACE_PLUGIN": self.plugin})


def own_inputs(source, folder):
    for name, arch, arguments, options in INPUTS:
        missing = [tool for tool in TOOLS[arch] if not shutil.which(tool)]
        if missing:
            yield f"{', '.join(missing)} not there"
        else:
            yield name, options, [build(source, folder, arch), *arguments], None, None


def main():
    coretap, plugin, source, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(
        sys.argv[4])
    words = sys.argv[5:]
    folder.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(coretap, plugin)
    names = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = []
        for found in [*own_inputs(source, folder), *real.inputs(source, folder)]:
            if isinstance(found, str):
                print(f"bench: inputs are left out: {found}", file=sys.stderr)
                continue
            name, options, command, stdin, env = found
            if not words or any(word in name for word in words):
                names.append(name)
                jobs.append(pool.submit(recorder.record, folder / name, command, options, stdin, env))
        for job in jobs:
            job.result()
    for name in names:
        print(name, folder / name)


main()
