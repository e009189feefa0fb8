#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what is missing of the inputs, measures, and says how to look closer. With names in BENCH_ONLY
only inputs whose name has one of these words.

usage: run_decode.py CORETAP PLUGIN BENCH SOURCE FOLDER [--check REFERENCE]

With --check the ratios to libopencsd are compared with those of REFERENCE: exit code 1 when one fell by more
than 15 %. Ratios do not depend much on the machine; BENCH_ROUNDS says how many rounds there are."""
import json
import math
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).with_name("inputs")))
from real import PROGRAMS, UNITS  # noqa: E402

MOST_FALL = 0.15


def inputs(coretap, plugin, source, folder):
    recorder = pathlib.Path(__file__).with_name("inputs") / "record.py"
    words = os.environ.get("BENCH_ONLY", "").split()
    lines = subprocess.run([sys.executable, recorder, coretap, plugin, source, folder, *words], check=True,
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


def say_worst(result):
    """Of the programs that were not made for this: what the least of them, and all together, come to in one
    pass over their trace, tables empty at its begin."""
    real = [row for row in result["rows"] if row["input"].split("-")[0] in PROGRAMS and row["cold_ratio"]]
    for level in ("coverage", "timing"):
        for suffix, *_ in UNITS:
            rows = [r for r in real if r["level"] == level and r["input"].partition("-")[2] == suffix[1:]]
            if not rows:
                continue
            worst = min(rows, key=lambda r: r["cold_ratio"])
            slowest = min(rows, key=lambda r: r["cold_matoms_per_s"])
            print(f"real programs, {level:8} {suffix[1:] or 'plain':9}: "
                  f"worst {worst['cold_ratio']:.0f} x libopencsd ({worst['input']}), "
                  f"mean {mean(r['cold_ratio'] for r in rows):.0f} x; "
                  f"worst {slowest['cold_matoms_per_s']:.0f} M atoms/s ({slowest['input']}), "
                  f"mean {mean(r['cold_matoms_per_s'] for r in rows):.0f}")


def mean(values):
    """The geometric one."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))


def main():
    coretap, plugin, bench, source, folder = sys.argv[1:6]
    captures = inputs(coretap, plugin, source, folder)
    if not captures:
        print("bench: nothing could be recorded", file=sys.stderr)
        return 77
    out = pathlib.Path(folder) / "decode.json"
    rounds = ["--rounds", os.environ.get("BENCH_ROUNDS", "5")]
    subprocess.run([bench, *rounds, "--json", out, *captures], check=True)
    result = json.loads(out.read_text(encoding="utf-8"))
    say_worst(result)
    print(f"as JSON: {out}")
    print(f"where the time goes: valgrind --tool=callgrind {bench} --once LEVEL {captures[0]} {captures[1]}")
    if "--check" in sys.argv:
        reference = json.loads(pathlib.Path(sys.argv[7]).read_text(encoding="utf-8"))
        return 1 if check(result, reference) else 0
    return 0


sys.exit(main())
