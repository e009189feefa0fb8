#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the simulator of fleets (bench/fleet/simulate.py) gives the times computed by hand. Prints
TAP."""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

# 1000 captures of 1 MB. Each takes 0.5 s to start, 0.25 s to decode, 0.125 s to compare and 0.125 s to merge,
# which is one second together. Nothing else takes time.
FIGURES = {"cores": 4, "captures": 1000, "sizes_mb": [1.0] * 1000, "start_s": 0.5, "decode_s_per_mb": 0.25,
           "digest_s_per_mb": 0.125, "merge_s_per_mb": 0.125, "piece_mb": 1.0, "keep_s": 0.0, "sum_mb": 0.0,
           "job_s": 0.0, "job_s_per_rank": 0.0}


def simulate(folder, *words, code=0, **more):
    """Returns the rows of the table that simulate.py prints for a fleet, with `more` replacing its
    figures."""
    path = pathlib.Path(folder, "figures.json")
    path.write_text(json.dumps({**FIGURES, **more}), encoding="utf-8")
    script = ROOT / "bench/fleet/simulate.py"
    done = subprocess.run([sys.executable, script, "--measured", path, "--hand-out-s", "0", *words],
                          capture_output=True, text=True, check=False)
    assert done.returncode == code, (words, done.stdout, done.stderr)
    return [line.split("\t") for line in done.stdout.splitlines()[1:]]


def hold_check(folder):
    """Checks that ranks share the processors: 1000 s, 500 s, then never less than 250 s. A measured time that
    is twice as long is refused."""
    right = {"1": 1000, "2": 500, "4": 250, "8": 250}
    rows = simulate(folder, "--check", seconds=right)
    assert [row[2] for row in rows] == ["1000.00", "500.00", "250.00", "250.00"], rows
    simulate(folder, "--check", code=1, seconds={**right, "2": 1000})


def hours(folder, *words):
    rows = simulate(folder, "--captures", "1000", "--stragglers", "0", "--failures-per-day", "0", "--store",
                    "local", *words)
    return [float(row[1]) for row in rows]


def hold_scale(folder):
    """Checks that with a rank for each capture a job takes as long as one capture, and that further ranks
    have nothing to do."""
    one, ten, all_of_them, more = hours(folder, "1", "10", "1000", "3000")
    assert abs(one - 1000 / 3600) < 0.001 and abs(ten - 100 / 3600) < 0.001, (one, ten)
    assert all_of_them == more < 0.001, (all_of_them, more)


def hold_trouble(folder):
    """Checks that slow ranks, failures and an object store cost time, and that with too many failures a job
    never ends."""
    words = ("--captures", "1000", "--stragglers", "0", "--failures-per-day", "0")
    row, = simulate(folder, *words, "--store", "local", "10")
    slow, = simulate(folder, *words, "--store", "local", "--stragglers", "0.5", "--slow", "4", "10")
    far, = simulate(folder, *words, "--store", "object", "10", decode_s_per_mb=0.0, digest_s_per_mb=0.0)
    near, = simulate(folder, *words, "--store", "local", "10", decode_s_per_mb=0.0, digest_s_per_mb=0.0)
    assert float(slow[1]) > float(row[1]) and float(far[1]) > float(near[1]), (row, slow, far, near)
    never, = simulate(folder, *words[:-1], "100000", "--restart-s", "60", "--store", "local", "10")
    assert never[-1] == "inf", never


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, body in (("check", hold_check), ("scale", hold_scale), ("trouble", hold_trouble)):
            tap.case(name, None, lambda body=body: body(folder))
    return tap.finish()


sys.exit(main())
