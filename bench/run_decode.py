#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what is missing of the inputs, measures, and says how to look closer.

usage: run_decode.py CORETAP PLUGIN BENCH SOURCE FOLDER [--check REFERENCE]

With --check the ratios to libopencsd are compared with those of REFERENCE: exit code 1 when one fell by more
than 15 %. Ratios do not depend much on the machine; BENCH_ROUNDS says how many rounds there are."""
import json
import os
import pathlib
import subprocess
import sys

MOST_FALL = 0.15


def inputs(coretap, plugin, source, folder):
    recorder = pathlib.Path(__file__).with_name("inputs") / "record.py"
    lines = subprocess.run([sys.executable, recorder, coretap, plugin, source, folder], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    return lines.split()


def check(result, reference):
    """Number of ratios that fell."""
    now = {f"{row['input']}/{row['level']}": row["ratio"] for row in result["rows"]}
    print(f"against {reference['machine']}, {reference['note']}")
    fallen = 0
    for name, wanted in reference["ratios"].items():
        got = now.get(name, 0)
        if not got:
            print(f"  {name}: not measured here")
            continue
        low = got < wanted * (1 - MOST_FALL)
        fallen += low
        print(f"  {name}: {got:.1f} x libopencsd, {wanted:.1f} in the reference{'  FELL' if low else ''}")
    return fallen


def main():
    coretap, plugin, bench, source, folder = sys.argv[1:6]
    captures = inputs(coretap, plugin, source, folder)
    if not captures:
        print("bench: nothing could be recorded", file=sys.stderr)
        return 77
    out = pathlib.Path(folder) / "decode.json"
    rounds = ["--rounds", os.environ.get("BENCH_ROUNDS", "5")]
    subprocess.run([bench, *rounds, "--json", out, *captures], check=True)
    print(f"as JSON: {out}")
    print(f"where the time goes: valgrind --tool=callgrind {bench} --once LEVEL {captures[0]} {captures[1]}")
    if "--check" in sys.argv:
        reference = json.loads(pathlib.Path(sys.argv[7]).read_text(encoding="utf-8"))
        return 1 if check(json.loads(out.read_text(encoding="utf-8")), reference) else 0
    return 0


sys.exit(main())
