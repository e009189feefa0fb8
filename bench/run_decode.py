#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the inputs that are missing, measures them, and prints how to look closer. With BENCH_ONLY in the
environment, takes only inputs whose name contains one of its words.

usage: run_decode.py CORETAP PLUGIN BENCH SOURCE FOLDER

BENCH_ROUNDS is the number of rounds."""
import json
import math
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).with_name("inputs")))
from real import PROGRAMS, UNITS  # noqa: E402


def inputs(coretap, plugin, source, folder):
    recorder = pathlib.Path(__file__).with_name("inputs") / "record.py"
    words = os.environ.get("BENCH_ONLY", "").split()
    lines = subprocess.run([sys.executable, recorder, coretap, plugin, source, folder, *words], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    return lines.split()


def is_real(name):
    return name.split("-")[0] in PROGRAMS


def say_worst(result):
    """Prints the lowest and the mean speed on the real programs, for one pass over their trace that begins
    with empty tables: as a ratio to libopencsd, and in atoms a second."""
    real = [row for row in result["rows"] if is_real(row["input"]) and row["cold_ratio"]]
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
    """Returns the geometric mean."""
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
