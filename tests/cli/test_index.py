#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks indexes beside captures: one is written when there is none, used when it belongs to the trace,
replaced when it belongs to another one, and refused when it is damaged. The output never changes. Prints
TAP.

usage: test_index.py COMMAND"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND = sys.argv[1]
WINDOW = ("--from", "500insn")


def run(*args, code=0, stdin=None):
    result = subprocess.run([COMMAND, *map(str, args)], capture_output=True, text=True, check=False,
                            stdin=stdin)
    assert result.returncode == code, (args, result.returncode, result.stderr)
    return result.stderr if code else result.stdout


def index_of(capture):
    found = list(capture.glob("*.ctx"))
    assert len(found) == 1, found
    return found[0]


def look(capture, code=0):
    return run("timing", "-q", "--index", *WINDOW, capture, code=code)


def is_written_once(capture):
    plain = run("timing", "-q", *WINDOW, capture)
    assert not list(capture.glob("*.ctx"))
    assert look(capture) == plain
    before = (index_of(capture).stat().st_ino, index_of(capture).read_bytes())
    assert look(capture) == plain
    assert (index_of(capture).stat().st_ino, index_of(capture).read_bytes()) == before
    assert not list(capture.glob("*.ctx.*"))


def is_made_anew_when_stale(capture):
    look(capture)
    index = index_of(capture)
    before = index.read_bytes()
    trace = index.with_suffix("")
    os.utime(trace, ns=(1, 1))
    assert look(capture) == run("timing", "-q", *WINDOW, capture)
    assert index.read_bytes() != before
    index.write_bytes(before.replace(b"coretap-index 1", b"coretap-index 0"))
    look(capture)
    assert index.read_bytes().startswith(b"coretap-index 1")


def is_made_anew_for_another_trace_of_the_same_size_and_time(capture):
    look(capture)
    index = index_of(capture)
    before = index.read_bytes()
    trace = index.with_suffix("")
    when = trace.stat().st_mtime_ns
    data = bytearray(trace.read_bytes())
    for at in (0, len(data) // 2, len(data) - 1):
        other = data[:]
        other[at] ^= 0x40
        trace.write_bytes(other)
        os.utime(trace, ns=(when, when))
        subprocess.run([COMMAND, "timing", "-q", "--index", *WINDOW, capture], capture_output=True,
                       check=False)
        assert index.read_bytes() != before, at
    trace.write_bytes(data)
    os.utime(trace, ns=(when, when))
    look(capture)
    assert index.read_bytes() == before


def has_instructions_when_asked(capture):
    run("timing", "-q", "--index", "--from", "1ticks", capture)
    before = index_of(capture).read_bytes()
    look(capture)
    after = index_of(capture).read_bytes()
    assert after != before
    run("timing", "-q", "--index", "--from", "1ticks", capture)
    assert index_of(capture).read_bytes() == after


def is_refused_when_damaged(capture):
    look(capture)
    index = index_of(capture)
    whole = index.read_bytes()
    changed = whole[:80] + b"\x07" + whole[81:]
    for damaged in (whole[:-8], whole[:-3], changed, whole[:16], b"", b"something else"):
        index.write_bytes(damaged)
        said = look(capture, code=2)
        assert str(index) in said and "remove the file" in said, said
        assert index.read_bytes() == damaged
    index.unlink()
    index.mkdir()
    assert str(index) in look(capture, code=2)


def is_refused_for_standard_input(capture):
    with open(os.devnull, encoding="ascii") as nothing:
        said = run("timing", "--index", *WINDOW, "-", code=2, stdin=nothing)
    assert "--index cannot be used with standard input" in said, said
    assert capture


def is_refused_where_nothing_is_looked_up(capture):
    for window in ((), ("--to", "500insn"), ("--from", "0x80560"), ("--from", "1insn", "--to", "0x80560")):
        said = run("timing", "--index", *window, capture, code=2)
        assert "--index needs a --from" in said and not list(capture.glob("*.ctx")), said
    run("decode", "--index", *WINDOW, capture, code=2)


def main():
    tests = (is_written_once, is_made_anew_when_stale,
             is_made_anew_for_another_trace_of_the_same_size_and_time, has_instructions_when_asked,
             is_refused_when_damaged, is_refused_for_standard_input, is_refused_where_nothing_is_looked_up)
    with tempfile.TemporaryDirectory() as folder:
        for test in tests:
            capture = pathlib.Path(folder) / test.__name__
            shutil.copytree(ROOT / "examples" / "quickstart", capture)
            tap.case("an index " + test.__name__.replace("_", " "), None, lambda t=test, c=capture: t(c))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
