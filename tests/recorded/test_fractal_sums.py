#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that sums of FRACTAL logs agree with the events of each log: two programs that ran under QEMU are
counted here again from --csv. Prints TAP.

usage: test_fractal_sums.py COMMAND PLUGIN SOURCE…"""
import collections
import csv
import functools
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, SOURCES = sys.argv[1], sys.argv[3:]
run = functools.partial(command.output, COMMAND)
os.environ["CORETAP_ACCESS_PLUGIN"] = sys.argv[2]
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")

def report(*args):
    return run("fractal", "report", *args)


def make(folder):
    """Returns (program, its log, its saved sums) of each source."""
    made = []
    for source in SOURCES:
        program = folder / pathlib.Path(source).stem
        subprocess.run([TOOLS[0], "-O2", "-static", "-o", program, source, "-lm"], check=True)
        log = program.with_suffix(".log")
        run("fractal", "run", "-q", "--range", "all", "--point", "main", "-o", log, "--", program)
        saved = program.with_suffix(".sums")
        report("--data", log, "--elf", program, "-o", saved)
        made.append((program, log, saved))
    return made


def events(program, log):
    return list(csv.DictReader(io.StringIO(report("--csv", log, "--elf", program))))


def saved_lines(text):
    """Returns [program, words] of each line about one."""
    program, lines = "", []
    for line in text.splitlines():
        if line.startswith("program"):
            program = line[8:]
        else:
            lines.append((program, line))
    return lines


def check_sums(made, text):
    wanted, fetched, ops = (collections.Counter() for _ in range(3))
    for program, log, _ in made:
        rows = events(program, log)
        assert rows, "the log is empty"
        for row in rows:
            wanted[(program.name, row["symbol"])] += 1
            fetched[(program.name, row["symbol"])] += row["kind"] == "I"
            ops[row["op"]] += 1
    found, found_fetched, found_ops = (collections.Counter() for _ in range(3))
    pages = 0
    for program, line in saved_lines(text):
        words = line.split(" ", 3)
        if words[0] in ("function", "object", "section", "region", "elsewhere"):
            found[(program, words[3])] += int(words[1])
            found_fetched[(program, words[3])] += int(words[2])
        elif words[0] == "op":
            found_ops[words[2]] += int(words[1])
        elif words[0] == "page":
            pages += int(words[1])
    assert found == wanted, (found - wanted, wanted - found)
    assert +found_fetched == +fetched and found_ops == ops
    assert 0 < pages <= sum(wanted.values())
    points = [(program, line) for program, line in saved_lines(text) if line.startswith("point ")]
    assert [(p, line.split()[-1]) for p, line in points] == sorted((m[0].name, "main") for m in made)


def sums_are_those_of_events(made):
    for one in made:
        check_sums([one], one[2].read_text())
    merged = run("merge", "-q", *(m[2] for m in made))
    check_sums(made, merged)
    assert merged == run("merge", "-q", *(m[2] for m in reversed(made)))
    assert merged == report("--data", *(m[2] for m in made))


def functions(text):
    return {line.split(" ", 3)[3] for _, line in saved_lines(text) if line.startswith("function ")}


def runs_of_a_program_add_up(made):
    program, log, saved = made[0]
    second = log.with_suffix(".again")
    run("fractal", "run", "-q", "--range", "all", "--point", "main", "-o", second, "--", program)
    both = report("--data", log, second, "--elf", program)
    assert both == report("--data", saved, second, "--elf", program)
    assert functions(both) >= functions(saved.read_text())
    assert "logs      2, 0 of them damaged or incomplete" in report(log, second, "--elf", program)


def programs_are_not_taken_for_each_other(made):
    result = subprocess.run([COMMAND, "fractal", "report", made[0][1], made[1][1], "--elf", made[0][0]],
                            capture_output=True, text=True, check=False)
    assert result.returncode == 2 and "names from --elf would be wrong" in result.stderr, result
    assert not result.stdout


def main():
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    with tempfile.TemporaryDirectory() as folder:
        made = [] if missing else make(pathlib.Path(folder))
        tests = (sums_are_those_of_events, runs_of_a_program_add_up, programs_are_not_taken_for_each_other)
        for test in tests:
            tap.case(test.__name__.replace("_", " "), missing and f"no {missing[0]}", lambda t=test: t(made))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
