#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks names of generated code: coretap record takes the symbol map that the program wrote into the
capture, and commands use it, or the one that is named. Prints TAP.

usage: test_generated_names.py COMMAND PLUGIN PROGRAM.c    (generated_names.c)"""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[3])
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": os.path.abspath(sys.argv[2])}
run = functools.partial(command.run, codes=None, env=ENV)
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
# what the program does: function i has 2 instructions and runs 100 * (i + 1) times
WANTED = {f"made {i} of script.js:{10 + i}": 200 * (i + 1) for i in range(3)}
FOLDED = {name.replace(" ", "_"): n for name, n in WANTED.items()}

def instructions(capture, *options):
    """Returns function -> instructions, of those that were made and of unknown ones. The format has no blanks
    in names."""
    counts = {}
    for line in run(COMMAND, "profile", "-q", *options, capture).stdout.splitlines():
        stack, count = line.rsplit(" ", 1)
        name = stack.rsplit(";", 1)[-1]
        if name.startswith("made") or not re.match(r"[A-Za-z_]", name) or name.startswith("mem_"):
            counts[name] = counts.get(name, 0) + int(count)
    return counts


def record(folder, name, *arguments):
    capture = folder / name
    done = run(COMMAND, "record", "-q", "--cycle-count", "-o", capture, folder / "program", *arguments)
    return capture, done


def check_own(capture):
    """Checks a capture that has its map."""
    counts = instructions(capture)
    tap.check("profile counts the functions of the map", counts == FOLDED, str(counts))
    timing = run(COMMAND, "timing", "-q", capture).stdout.splitlines()
    runs = {line.split("\t")[0]: int(line.split("\t")[2]) for line in timing if line.startswith("made ")}
    last = "made 2 of script.js:12" # ran most often; the table may be cut before the others
    tap.check("timing has their executions", runs.get(last) == WANTED[last] // 2, str(runs))
    listing = run(COMMAND, "decode", "-q", "--symbols", capture).stdout
    tap.check("decode --symbols names their addresses", all(name in listing for name in WANTED))
    said = run(COMMAND, "cover", capture).stderr
    tap.check("cover counts them together as code of no program's file", "that code is in no program's file"
              in said and "in generated code (1200 instructions)" in said, said)
    report = run(COMMAND, "report", "-q", capture).stdout
    tap.check("report has their names", all(name in report for name in WANTED))


def check_named(folder, capture, wanted):
    """Checks a map that an option names, with a capture that has none."""
    without = instructions(capture)
    tap.check("without a map the functions are unknown", sum(without.values()) == sum(WANTED.values())
              and not without.keys() & FOLDED.keys(), str(without))
    named = instructions(capture, "--symbol-map", wanted)
    tap.check("--symbol-map names them", named == FOLDED, str(named))
    done = run(COMMAND, "profile", "--symbol-map", folder / "none", capture)
    tap.check("a map that does not exist is an error", done.returncode == 2 and not done.stdout
              and "none: the symbol map cannot be read: No such file" in done.stderr, done.stderr)


def check_others(folder, capture, wanted):
    """Checks commands that take a map, but do not count instructions by function."""
    done = run(COMMAND, "list", "-q", "--elements", "--symbols", "--symbol-map", wanted, capture)
    tap.check("list --symbols names them", all(name in done.stdout for name in WANTED), done.stderr)
    sums = folder / "sums"
    sums.write_text(run(COMMAND, "merge", "-q", "--kind", "timing", "--symbol-map", wanted, capture).stdout,
                    encoding="utf-8")
    timing = run(COMMAND, "timing", "-q", sums).stdout
    tap.check("merge keeps their names", "made 2 of script.js:12" in timing, timing)
    done = run(COMMAND, "live", "-q", "--config", capture / "snapshot.ini", "--symbol-map", wanted,
               capture / "trace_0.bin")
    tap.check("live names them", "made 2 of script.js:12" in done.stdout, done.stderr)


def raw_description(capture, symbol_map):
    """Returns the .ini of the capture's trace, without its programs."""
    rows = re.findall(r"^(TRC\w+).*=(.*)$", (capture / "device_0.ini").read_text(), re.M)
    text = (f"[capture]\nfile={capture}/trace_0.bin\nframing=none\nsymbol_map={symbol_map}\n"
            "[source etm]\nprotocol=etmv4i\ncore=ARM-AA64\n" + "".join(f"{a}={b}\n" for a, b in rows))
    for section in re.split(r"\[dump\d*\]", (capture / "cpu_0.ini").read_text())[1:]:
        rows = dict(re.findall(r"^(\w+)=(.*)$", section, re.M))
        rows["file"] = f"{capture}/{rows['file']}"
        text += "[image]\n" + "".join(f"{key}={rows[key]}\n" for key in rows if key != "space")
    return text


def check_raw(folder, capture, wanted):
    """Checks a raw trace whose description names the map, and no program."""
    description = folder / "raw.ini"
    description.write_text(raw_description(capture, wanted.relative_to(folder)), encoding="utf-8")
    done = run(COMMAND, "profile", "-q", description)
    tap.check("a raw trace needs no program beside its map", all(name in done.stdout for name in FOLDED),
              done.stderr)


def check_jitdump(folder):
    """Checks that record takes the jitdump of a program, wherever it is, and no other program's."""
    place = folder / "jit ü"
    place.mkdir()
    (place / "jit-1.dump").write_text("of another process", encoding="utf-8")
    capture, done = record(folder, "jitdump", place)
    tap.check("record takes the jitdump that the program wrote", (capture / "jit.dump").exists()
              and "[symbol_map]\nfile=jit.dump" in (capture / "snapshot.ini").read_text(), done.stderr)
    counts = instructions(capture)
    tap.check("profile counts the functions of the jitdump", counts == FOLDED, str(counts))


def check_missing(capture):
    """Checks a capture whose map is gone."""
    (capture / "symbols.map").unlink()
    done = run(COMMAND, "profile", capture)
    tap.check("a capture without its map is used, with a warning", "main" in done.stdout
              and "generated code has no names" in done.stderr, done.stderr)


def main():
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        tap.skip("all", " and ".join(missing) + ": missing")
        return tap.finish()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["aarch64-linux-gnu-gcc", "-O2", "-static", "-o", folder / "program", SOURCE],
                       check=True)
        capture, done = record(folder, "own")
        taken = capture / "symbols.map"
        tap.check("record takes the map that the program wrote", taken.exists()
                  and "[symbol_map]\nfile=symbols.map" in (capture / "snapshot.ini").read_text(), done.stderr)
        other, done = record(folder, "other", "no-map")
        tap.check("record takes no map when the program wrote none", not (other / "symbols.map").exists()
                  and "symbol_map" not in (other / "snapshot.ini").read_text(), done.stderr)
        check_jitdump(folder)
        if taken.exists():
            text = taken.read_bytes()
            check_own(capture)
            check_named(folder, other, taken)
            check_others(folder, other, taken)
            check_raw(folder, other, taken)
            check_missing(capture)
            for left in pathlib.Path("/tmp").glob("perf-*.map"): # the program's own file
                if left.read_bytes() == text:
                    left.unlink()
    return tap.finish()


sys.exit(main())
