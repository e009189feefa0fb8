#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks names that would control a terminal or look like records of their own. Prints TAP.

usage: test_hostile_names.py COMMAND PLUGIN

One program is recorded, with two sets of names for its functions and source files: usual ones, and names with
line breaks, escape sequences, tabs and separators. Every format has the same number of lines for both, and no
control character."""
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import protobuf  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position
if not protobuf.MISSING:
    import perfetto  # noqa: E402  pylint: disable=wrong-import-position

COMMAND = os.path.abspath(sys.argv[1])
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": os.path.abspath(sys.argv[2])}
GCC, OBJCOPY = "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objcopy"
TOOLS = (GCC, OBJCOPY, "qemu-aarch64")
CONTROL = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")

FUNCTIONS = {
    "first": "first\nend_of_record\nSF:/evil.c\nFN:1,evil",
    "second": "second\x1b]0;title\x07\x1b[2J",
    "third": "third;a,b\t\"c\"\r\x7f",
    "fourth": "fourth größe\nfn=evil\n1 1000000\xc2\x9b31m",
}
FILE = "source\nend_of_record\nSF:/evil.c\nDA:1,99\x1b[2J\r\t.c"
PLAIN = "s" * (len(FILE) - 2) + ".c"

SOURCE = """
#define NAMED __attribute__((noinline))
volatile unsigned sink;
# 10 "%s"
NAMED void fourth(unsigned n) { while (n--) sink += n; }
NAMED void third(unsigned n) { fourth(n); sink++; }
NAMED void second(unsigned n) { third(n); fourth(n); sink++; }
NAMED void first(unsigned n) { second(n); third(n); sink++; }
void _start(void)
{
    for (unsigned n = 0; n < 40; n++)
        first(n);
    __asm__ volatile("mov x8, 93\\nmov x0, 0\\nsvc 0");
}
"""

LINES = [["cover"], ["cover", "-f", "lcov"], ["cover", "-f", "data"], ["cover", "-f", "cobertura"],
         ["cover", "-f", "json"],
         ["cover", "-f", "html"], ["profile"], ["profile", "-f", "callgrind"], ["profile", "-f", "bolt"],
         ["profile", "-f", "llvm"], ["profile", "-f", "autofdo"], ["profile", "-f", "chrome"],
         ["timing", "--edges"],
         ["timing", "-f", "json"], ["watch", "--at", "@"], ["watch", "--at", "@", "-f", "csv"],
         ["watch", "--at", "@", "-f", "jsonl"], ["decode"], ["decode", "-f", "csv"],
         ["decode", "-f", "jsonl"], ["report"]]


def build(folder):
    """Builds the program, and a copy of it with other names in its symbols, and names of the same length in
    its debug information."""
    source = folder / "program.c"
    source.write_text(SOURCE % PLAIN)
    usual, hostile = folder / "usual", folder / "hostile"
    subprocess.run([GCC, "-O1", "-g", "-nostdlib", "-static", "-fno-inline", "-o", usual, source], check=True)
    rename = [word for old, new in FUNCTIONS.items() for word in ("--redefine-sym", f"{old}={new}")]
    subprocess.run([OBJCOPY, *rename, usual, hostile], check=True)
    bytes_of = hostile.read_bytes()
    assert PLAIN.encode() in bytes_of
    hostile.write_bytes(bytes_of.replace(PLAIN.encode(), FILE.encode()))


def run(*words):
    return subprocess.run([COMMAND, *map(str, words)], capture_output=True, timeout=300, check=False, env=ENV)


def fields(text, separator):
    return [line.count(separator) for line in text.splitlines()]


def check_format(words, usual, hostile, place):
    """Checks that both runs of a command print the same, apart from the names."""
    line = [place if word == "@" else word for word in words]
    plain = run(*line, "-q", *usual)
    got = run(*line, "-q", *hostile)
    title = " ".join(words)
    tap.check(f"{title}: as many lines", plain.returncode == got.returncode == 0 and plain.stdout and
              len(plain.stdout.split(b"\n")) == len(got.stdout.split(b"\n")),
              f"{plain.returncode} {got.returncode} {got.stderr} {got.stdout[:1500]}")
    tabs = words[0] in ("decode", "watch") and "-f" not in words
    text = got.stdout.replace(b"\t", b"") if tabs else got.stdout
    bad = CONTROL.search(text.replace(b"\t", b"") if b"\t" in plain.stdout else text)
    tap.check(f"{title}: no control character", not bad and not CONTROL.search(got.stderr),
              bad and text[max(0, bad.start() - 40):][:80])
    if words == ["profile"]:
        tap.check("profile: as many frames",
                  sorted(fields(plain.stdout, b";")) == sorted(fields(got.stdout, b";")), got.stdout)
    if b"\t" in plain.stdout:
        tap.check(f"{title}: as many columns",
                  sorted(fields(plain.stdout, b"\t")) == sorted(fields(got.stdout, b"\t")))
    if words[-1] == "json" or words[-1] == "chrome":
        read = json.loads(got.stdout)
    if words[-1] == "chrome":
        names = {event["name"] for event in read["traceEvents"]}
        tap.check("chrome: letters beyond ASCII are themselves",
                  any(name.startswith("fourth größe") for name in names), names)
    if words[-1] == "cobertura":
        xml.etree.ElementTree.fromstring(got.stdout)


def check_messages(capture):
    """Checks that names in binary messages, which have no lines, have no control characters either."""
    if protobuf.MISSING:
        tap.skip("names in messages", protobuf.MISSING)
        return
    read = protobuf.messages("pprof", protobuf.PPROF)["Profile"].FromString
    profile = read(gzip.decompress(run("profile", "-q", "-f", "pprof", capture).stdout))
    trace = perfetto.Trace(run("profile", "-q", "-f", "perfetto", capture).stdout)
    for form, texts in (("pprof", profile.string_table), ("perfetto", trace.names.values())):
        tap.check(f"{form}: letters beyond ASCII are themselves, and no control character is in a name",
                  any(text.startswith("fourth größe") for text in texts) and
                  not any(CONTROL.search(text.replace("\n", "\x1b").encode()) for text in texts), list(texts))


def check_index(folder):
    """Checks that a path with a line break does not add a line to the files that describe a recording."""
    program = folder / "program\n[program9]\nelf=passwd\n\x1b[2J"
    shutil.copy(folder / "usual", program)
    done = run("record", "-q", "-o", folder / "path.capture", "--", program)
    usual, got = ((folder / f"{name}.capture" / "snapshot.ini").read_bytes() for name in ("usual", "path"))
    tap.check("record: a path is no line of its own",
              done.returncode == 0 and usual.count(b"\n") == got.count(b"\n") and
              not CONTROL.search(got), got)


def main():
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"1..0 # SKIP not installed: {' '.join(missing)}")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build(folder)
        options = ["-q", "--cycle-count", "-o"]
        made = [run("record", *options, folder / f"{program}.capture", "--", folder / program)
                for program in ("usual", "hostile")]
        tap.check("both are recorded", [done.returncode for done in made] == [0, 0], str(made))
        check_index(folder)
        for words in LINES:
            check_format(words, [folder / "usual.capture"], [folder / "hostile.capture"], "_start")
        check_messages(folder / "hostile.capture")
        check_format(["graph"], ["--elf", folder / "usual"], ["--elf", folder / "hostile"], "")
        done = run("decode", "-q", f"{folder}/\x1b[2J\x07nowhere")
        tap.check("messages: no control character",
                  done.returncode == 2 and not CONTROL.search(done.stderr) and
                  b"\\x1b[2J\\x07nowhere" in done.stderr, str(done))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
