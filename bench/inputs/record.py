#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what `make bench` decodes: one program, several trace units.

usage: record.py CORETAP PLUGIN SOURCE FOLDER

Prints one line 'NAME FOLDER' for each capture; those that are there are not made again. Without a cross
compiler or QEMU it says on standard error what is missing and leaves those captures out."""
import os
import pathlib
import shutil
import subprocess
import sys

# Name, architecture, arguments of the program, options of the recorder.
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


def record(coretap, plugin, program, folder, arguments, options):
    if (folder / "snapshot.ini").exists() and folder.stat().st_mtime > program.stat().st_mtime:
        return
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([coretap, "record", "-q", "-o", folder, *options, "--", program, *arguments], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "CORETAP_TRACE_PLUGIN": plugin})


def main():
    coretap, plugin, source, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(
        sys.argv[4])
    folder.mkdir(parents=True, exist_ok=True)
    for name, arch, arguments, options in INPUTS:
        missing = [tool for tool in TOOLS[arch] if not shutil.which(tool)]
        if missing:
            print(f"bench: input {name} is left out: {', '.join(missing)} not there", file=sys.stderr)
            continue
        record(coretap, plugin, build(source, folder, arch), folder / name, arguments, options)
        print(name, folder / name)


main()
