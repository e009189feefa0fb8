#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the example capture is what its generator writes, and that a decode finds the instructions that
the generator's machine ran. Prints TAP.

usage: test_quickstart.py GENERATE COMMAND"""
import json
import pathlib
import subprocess
import sys
import tempfile

EXAMPLE = pathlib.Path(__file__).resolve().parent.parent


def main():
    generate, coretap = sys.argv[1:3]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        said = subprocess.run([generate, folder], capture_output=True, text=True, check=True).stdout
        for name in ("firmware.bin", "trace.bin"):
            same = pathlib.Path(folder, name).read_bytes() == (EXAMPLE / name).read_bytes()
            results.append((f"{name} is what the generator writes", same))
    ran = {name: int(count) for name, count in (line.split() for line in said.splitlines())}
    info = json.loads(subprocess.run([coretap, "info", "--format", "json", str(EXAMPLE)], capture_output=True,
                                     text=True, check=True).stdout)
    found = {source["name"]: source["instructions"] for source in info["buffers"][0]["sources"]}
    for name, count in ran.items():
        results.append((f"{name}: {count} instructions ran, {found.get(name)} were found",
                        found.get(name) == count))
    for number, (name, good) in enumerate(results, 1):
        print(f"{'' if good else 'not '}ok {number} - {name}")
    print(f"1..{len(results)}")
    return 0 if all(good for _, good in results) else 1


if __name__ == "__main__":
    sys.exit(main())
