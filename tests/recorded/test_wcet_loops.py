#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks where coretap wcet finds the loops of a source: the line that it lists is the one that a file of
bounds takes, and no bound of one loop becomes that of another.

usage: test_wcet_loops.py COMMAND LOOPS.C"""
import json
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, SOURCE = sys.argv[1:3]
TEXT = pathlib.Path(SOURCE).read_text().splitlines()
FLAGS = ["-g", "-nostdlib", "-static", "-ffreestanding", "-fno-builtin", "-fomit-frame-pointer",
         "-Wno-unknown-pragmas"]
COMPILERS = {"A64": ["aarch64-linux-gnu-gcc"], "A32": ["arm-linux-gnueabihf-gcc", "-marm"],
             "T32": ["arm-linux-gnueabihf-gcc", "-mthumb"]}
EMULATORS = {"A64": "qemu-aarch64", "A32": "qemu-arm", "T32": "qemu-arm"}


def lines_with(pattern):
    """Returns the lines of the source with a pattern, as numbers, and the number in each."""
    found = {i: re.search(pattern, line) for i, line in enumerate(TEXT, 1)}
    return {i: int(m[1]) for i, m in found.items() if m}


class Recording:
    def __init__(self, folder, isa, level):
        program, self.capture = folder / "program", folder / "capture"
        shutil.rmtree(self.capture, ignore_errors=True)
        command.run(*COMPILERS[isa], level, *FLAGS, "-o", program, SOURCE)
        command.run(COMMAND, "record", "-q", "-o", self.capture, "--cycle-count=1", "--", program)
        self.bounds = folder / "bounds"
        self.words = [COMMAND, "wcet", "--entry", "all", "--format", "json", "--source-root",
                      pathlib.Path(SOURCE).parent, self.capture]

    def run(self, bounds=None, codes=(0,)):
        self.bounds.write_text(bounds or "")
        return command.run(*self.words, *(["--bounds", self.bounds] if bounds else []), codes=codes)

    def loops(self, bounds=None):
        return json.loads(self.run(bounds).stdout)["loops"]


def check_lines(recording):
    """Checks that each loop is listed with its line, and that this line is its place."""
    loops = recording.loops()
    for line, rounds in lines_with(r"rounds: (\d+)").items():
        at = [loop for loop in loops if loop["line"] == line]
        assert at and all(loop["observed"] in (rounds, rounds + 1) for loop in at), (line, rounds, loops)
    places = {loop["line"]: f"loop {loop['file']}:{loop['line']} {1000 + loop['line']}\n" for loop in loops}
    for loop in recording.loops("".join(places.values())):
        assert loop["origin"] == "told" and loop["bound"] == 1000 + loop["line"], loop


def check_file(recording):
    """Checks that the file of bounds that the command writes is one that it reads, and names all loops."""
    loops = recording.loops()
    text = command.output(*(word if word != "json" else "bounds" for word in recording.words))
    for loop in loops:
        kind = "" if loop["origin"] == "observed" else "# "
        assert f"{kind}loop loops.c:{loop['line']} " in text, (loop, text)
    assert "\nrecursion recursive " in text, text
    again = recording.loops(text)
    assert all(loop["origin"] != "observed" for loop in again), again
    assert json.loads(recording.run(text).stdout)["is_bound"], text


def check_comments(recording):
    """Checks that a bound in the source is that of its loop only."""
    loops = {loop["line"]: loop for loop in recording.loops()}
    for line, bound in lines_with(r"(?:loop bound: |max )([6-9]0)").items():
        loop = loops.get(line) or loops[line + 1]
        assert loop["origin"] == "comment" and loop["bound"] in (bound, bound + 1), loop
    for line in lines_with(r"rounds: (\d+)"):
        assert loops[line]["origin"] == "observed", loops[line]
    recursive = loops[max(lines_with(r"loop bound: (12)"))]
    assert recursive["origin"] == "comment" and recursive["bound"] in (12, 13), recursive
    line, = lines_with(r"loop bound: (5)\b")
    assert loops[line]["origin"] == "observed" and loops[line]["bound"] >= 25, loops[line]
    assert f"loops.c:{line}: the bound of this loop in the source, 5, is not used" in recording.run().stderr


def check_shared(recording):
    """Checks that the bound of one of two loops is not that of the loop that a compiler made of both."""
    line = min(lines_with(r"loop bound: (12)"))
    loop, = [loop for loop in recording.loops() if loop["line"] == line]
    is_one = loop["observed"] > 13
    assert loop["origin"] == ("observed" if is_one else "comment"), loop
    assert ("may be more than one loop" in recording.run().stderr) == is_one
    return "one loop of two" if is_one else "two loops"


def check_refusals(recording):
    """Checks bounds that the trace contradicts, and places without a loop."""
    line, *_ = lines_with(r"rounds: (13)")
    done = recording.run(f"loop loops.c:{line} 9\n", (2,))
    assert f"bounds:1: loop loops.c:{line} 9: the head of this loop ran 1" in done.stderr, done.stderr
    done = recording.run("loop loops.c:1 9\n", (2,))
    assert f"the nearest one is at line {line}: 'loops.c:1'" in done.stderr, done.stderr
    done = recording.run(f"loop loops.c:{line + 3} 9\n", (2,))
    assert f"the nearest ones are at lines {line + 1} and " in done.stderr, done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        for number, (isa, compiler) in enumerate(COMPILERS.items()):
            missing = next((f"needs {tool}" for tool in (compiler[0], EMULATORS[isa])
                            if not shutil.which(tool)), None)
            for level in tap.some(("-O0", "-O1", "-O2", "-Os"), number):
                recording = None if missing else Recording(pathlib.Path(folder), isa, level)
                for check in (check_lines, check_file, check_comments, check_shared, check_refusals):
                    name = f"{isa} {level} {check.__name__.removeprefix('check_')}"
                    tap.case(name, missing, lambda c=check, r=recording: c(r))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
