#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that `coretap volume` counts, for each combination of settings, the bytes that `coretap record`
writes with them; one and several threads, A64 and T32, ranges and limits; text, JSON and bars agree.
Prints TAP.

usage: run_volume.py CORETAP PLUGIN SOURCE FIGURE"""
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402
import tap  # noqa: E402

CORETAP, PLUGIN, SOURCE, FIGURE = (os.path.abspath(path) for path in sys.argv[1:5])
A64, T32 = ["aarch64-linux-gnu-gcc", "-O1"], ["arm-linux-gnueabihf-gcc", "-O1", "-mthumb"]
SETTINGS = [("branch_broadcast", "--branch-broadcast"), ("cycle_count", "--cycle-count"),
            ("return_stack", "--return-stack"), ("timestamps", "--timestamps"),
            ("context_id", "--context-id")]
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN}
run = functools.partial(command.run, CORETAP, env=ENV)


def build(folder, compiler):
    program = folder / compiler[0]
    subprocess.run([*compiler, "-static", "-pthread", "-o", program, SOURCE], check=True)
    return program

def volume(*words):
    return json.loads(run("volume", "-q", "--format", "json", *words).stdout)


def record(folder, protocol, row, *words):
    """Returns instructions and bytes of a recording with the settings of a row."""
    shutil.rmtree(folder / "capture", ignore_errors=True)
    options = [option for name, option in SETTINGS if row[name]]
    said = run("record", "-o", folder / "capture", "--protocol", protocol, *options, *words).stderr
    return tuple(map(int, re.search(r"(\d+) instructions in (\d+) bytes", said).groups()))


def check_rows(folder, compiler, protocols, *options):
    """Checks that all rows exist once, and compares some of them with recordings."""
    program = build(folder, compiler)
    got = volume(*options, "--", program)
    rows = got["rows"]
    keys = [(row["protocol"], *(row[name] for name, _ in SETTINGS)) for row in rows]
    assert len(set(keys)) == len(rows) == 32 * len(protocols) and {key[0] for key in keys} == set(protocols)
    for row in rows[::9 if tap.WHOLE else 23] + rows[-1:]:
        expected = (got["instructions"], row["bytes"])
        assert record(folder, row["protocol"], row, *options, "--", program) == expected, (row, expected)
        bits = 8 * row["bytes"]
        assert abs(row["bits_per_instruction"] - bits / got["instructions"]) < 1e-4
        assert abs(row["bits_per_branch"] - bits / got["branches"]) < 1e-3
    return f"{len(rows)} rows, {got['instructions']} instructions"


def check_order(folder):
    """Checks that more settings cost more trace."""
    program = build(folder, A64)
    rows = {tuple(row[name] for name, _ in SETTINGS): row["bytes"]
            for row in volume("--protocol", "etm4", "--timestamps", "1000", "--", program)["rows"]}
    for key, size in rows.items():
        for i, (name, _) in enumerate(SETTINGS):
            if key[i]:
                without = rows[key[:i] + (False,) + key[i + 1:]]
                assert without >= size if name == "return_stack" else without <= size, (name, key)
    return f"{min(rows.values())} to {max(rows.values())} bytes"


def check_threads(folder):
    """Checks that with several threads each core counts; one core that runs all threads has less to count."""
    program = build(folder, A64)
    protocol = [] if tap.WHOLE else ["--protocol", "etm4"]
    several = volume(*protocol, "--", program, "3")
    one = volume(*protocol, "--threads", "contexts", "--", program, "3")
    assert several["cores"] > 1 and one["cores"] == 1
    assert all(row["bytes"] for row in several["rows"] + one["rows"])
    return f"{several['cores']} cores"


def check_formats(folder):
    program = build(folder, A64)
    clock = ["--clock", "1.3GHz", "--ipc", "0.5", *([] if tap.WHOLE else ["--protocol", "etm4"])]
    got = volume(*clock, "--", program)
    assert got["cycles"] == 2 * got["instructions"] and got["clock"] == 1300000000
    rates = [row["bytes"] / got["cycles"] * 1300 for row in got["rows"]]
    assert all(abs(row["mb_per_s"] - rate) < 0.001 * rate for row, rate in zip(got["rows"], rates))
    table = [line.split("\t") for line in run("volume", "-q", *clock, "--", program).stdout.splitlines()]
    assert [int(row[6]) for row in table[2:]] == [row["bytes"] for row in got["rows"]]
    assert all(abs(float(row[9]) - rate) < 0.006 for row, rate in zip(table[2:], rates))
    picture = run("volume", "-q", "--format", "svg", *clock, "--", program).stdout
    assert picture.startswith("<svg") and picture.count('height="11"') == len(rates)
    drawn = [float(text) for text in re.findall(r">([\d.]+) MB/s<", picture)]
    assert all(abs(a - b) < 0.06 for a, b in zip(drawn, rates, strict=True))
    plain = run("volume", "-q", "--", program).stdout
    assert "MB/s" not in plain and "bits/branch" in plain
    return f"{max(rates):.0f} MB/s at most"


def check_output(folder):
    """Checks that the output of the program is not among the numbers."""
    (folder / "hello.c").write_text('#include <stdio.h>\nint main(void) { puts("hello"); return 3; }\n')
    subprocess.run([A64[0], "-static", "-o", folder / "hello", folder / "hello.c"], check=True)
    got = run("volume", "--format", "json", "--", folder / "hello")
    assert json.loads(got.stdout)["instructions"] and "hello\n" in got.stderr
    run("volume", "-f", "json", "-o", folder / "out", "--", folder / "hello")
    assert json.loads((folder / "out").read_text()) == json.loads(got.stdout)
    return "set aside"


def check_figure(folder):
    """Checks that the example draws figure 1: by workload and settings, with more for what costs more."""
    got = subprocess.run([FIGURE, CORETAP, "1.3GHz", "10"], capture_output=True, text=True, env=ENV,
                         check=True, timeout=300).stdout
    lines = [line.split("\t") for line in got.splitlines()[1:]]
    rows = {line[0]: [float(cell) for cell in line[1:]] for line in lines}
    assert len(rows) == 7 and all(len(row) == 6 for row in rows.values()), got
    for plain, stack, cycles, broadcast, both, everything in rows.values():
        assert 0 < stack <= plain < min(cycles, broadcast) and max(cycles, broadcast) < both < everything, got
    bounds = rows["complex-loop"], rows["simple-loop"]
    assert all(10 * low < high for low, high in list(zip(*bounds))[3:]), got
    return f"{len(rows)} workloads"


def check_capture(folder, compiler, *recordings):
    """Checks that the volume of a capture is that of its program: exactly without traced time, else nearly,
    because trace without cycle counts does not contain waits."""
    program = build(folder, compiler)
    direct = volume("--", program)
    for options, most in tap.some(recordings, -1):
        shutil.rmtree(folder / "capture", ignore_errors=True)
        run("record", "-q", "-o", folder / "capture", *options, "--", program)
        got = volume("--capture", folder / "capture")
        assert (got["instructions"], got["branches"]) == (direct["instructions"], direct["branches"]), options
        for row, expected in zip(got["rows"], direct["rows"], strict=True):
            timed = row["cycle_count"] or row["timestamps"]
            off = abs(row["bytes"] / expected["bytes"] - 1)
            assert off <= (most if timed else 0), (options, row, expected)
    return f"{len(recordings)} captures"


def check_capture_part(folder):
    """Checks that a smaller part of a capture equals a recording of that part."""
    program = build(folder, A64)
    run("record", "-q", "-o", folder / "whole", "--", program)
    part = ["--range", "400000..410000", "--sync-period", "8"]
    direct, got = volume(*part, "--", program), volume(*part, "--capture", folder / "whole")
    for row, expected in zip(got["rows"], direct["rows"], strict=True):
        if not row["cycle_count"] and not row["timestamps"]:
            assert row == expected, (row, expected)
    limited = volume("--max-instructions", "5000", "--capture", folder / "whole")
    assert 0 < limited["instructions"] <= 5000 < direct["instructions"]
    return f"{got['instructions']} instructions"


def check_capture_damaged(folder):
    """Checks that the missing part of a damaged trace is reported, and the rest is measured."""
    program = build(folder, A64)
    run("record", "-q", "-o", folder / "flipped", "--", program)
    whole = volume("--capture", folder / "flipped")
    file = max(folder.glob("flipped/**/*.bin"), key=lambda path: "trace" in path.name)
    data = bytearray(file.read_bytes())
    for at in range(1000, len(data), 5000):
        data[at] ^= 0x55
    file.write_bytes(data)
    got = run("volume", "--format", "json", "--capture", folder / "flipped", codes=None)
    assert got.returncode == 1 and "losses: " in got.stderr, got
    assert 0 < json.loads(got.stdout)["instructions"] < whole["instructions"]
    return "told"


def check_errors(folder):
    program = build(folder, A64)
    rows = [(["--protocol", "ptm", "--", program], 2, "an A64 program, but a PTM traces only A32 and T32"),
            (["--", folder / "nothing"], 2, "nothing"), (["--"], 2, "PROGRAM and --capture are missing"),
            (["--clock", "fast", "--", program], 2, "not a frequency"),
            (["--clock", "0", "--", program], 2, "not a frequency"),
            (["--clock", "nan", "--", program], 2, "not a frequency"),
            (["--ipc", "1", "--", program], 2, "--ipc works only with --clock; add that, or leave --ipc out"),
            (["--clock", "1GHz", "--ipc", "-1", "--", program], 2, "not a number above 0"),
            (["--start", "no_such_function", "--", program], 2, "neither a hexadecimal address nor a func"),
            (["--range", "10..20", "--", program], 1, "nothing was traced"),
            ([], 2, "PROGRAM and --capture are missing"),
            (["--capture", folder / "whole", "--", program], 2, "--capture and PROGRAM cannot"),
            (["--id", "10", "--", program], 2, "--id works only with --capture; add that, or leave it out"),
            (["--seed", "1", "--capture", folder / "whole"], 2, "--seed applies to running a program"),
            (["--protocol", "ptm", "--capture", folder / "whole"], 2, "a PTM traces only A32 and T32"),
            (["--range", "10..20", "--capture", folder / "whole"], 1, "nothing was measured"),
            (["--capture", folder / "nothing"], 2, "nothing: cannot be opened: No such file")]
    for words, code, text in rows:
        got = run("volume", *words, codes=None)
        assert got.returncode == code and text in got.stderr, (words, got)
    return f"{len(rows)} refused"


def main():
    missing = next((f"needs {tool}" for tool in (A64[0], T32[0], "qemu-aarch64", "qemu-arm")
                    if not shutil.which(tool)), None)
    cases = [("A64", check_rows, A64, ["etm4", "ete"]), ("T32", check_rows, T32, ["etm4", "ete", "ptm"]),
             ("a part of the program", check_rows, A64, ["etm4", "ete"], "--start", "main",
              "--max-instructions", "20000", "--sync-period", "8"),
             ("a capture of A64", check_capture, A64, ([], 0.06), (["--return-stack"], 0.06),
              (["--branch-broadcast", "--cycle-count=1", "--timestamps"], 0.01),
              (["--context-id", "--protocol", "ete", "--framed"], 0.06)),
             ("a capture of T32", check_capture, T32, ([], 0.06),
              (["--protocol", "ptm", "--cycle-count=1"], 0.01)),
             ("a part of a capture", check_capture_part), ("a damaged capture", check_capture_damaged),
             ("what costs", check_order), ("threads", check_threads), ("formats", check_formats),
             ("the program's output", check_output),
             ("what cannot be is refused", check_errors)]
    cases += [("the example", check_figure)] if tap.WHOLE else []  # seven programs, all settings of each
    with tempfile.TemporaryDirectory() as name:
        for title, check, *rest in cases:
            tap.case(title, missing, lambda check=check, rest=rest: check(pathlib.Path(name), *rest))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
