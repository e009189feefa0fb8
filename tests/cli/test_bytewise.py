#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that byte-wise decoding, with any number of bytes per turn, prints what decoding always prints.

usage: test_bytewise.py COMMAND

Compares the output, the losses and the exit code, along the program and by the trace alone, for whole
captures and for copies that are cut off and have flipped bits. A copy is decoded with three of the numbers of
bytes, which differ from copy to copy; under the sanitizers a whole capture is, too; with CT_LONG=1 all
numbers are used. The corpus is in $CT_SHARED, or in ../shared beside the sources. Prints TAP."""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402

COMMAND = str(pathlib.Path(sys.argv[1]).resolve())
ALL = range(1, 9)
LONG = os.environ.get("CT_LONG", "0") not in ("", "0")
SHARED = pathlib.Path(os.environ.get("CT_SHARED", ROOT.parent / "shared"))
CORPUS = ["001-ack_test", "ete_ip", "ete_spec_1", "juno_r1_1", "maxspec0_commopt1", "src_addr", "tme_simple",
          "trace_file_cid_vmid", "ts_marker"]


def decode(path, *words):
    done = subprocess.run([COMMAND, "decode", *words, path], capture_output=True, timeout=300)
    return done.stdout, done.stderr, done.returncode


def hold(path, turns):
    """Compares `decode --bytewise` for several numbers of bytes a turn with `decode`, in three ways. Returns
    how many lines were printed."""
    lines = 0
    for words in ([], ["--along", "trace"], ["--threads", "2"]):
        expected = decode(path, *words)
        for bytes_a_turn in ALL if LONG else turns:
            got = decode(path, *words, f"--bytewise={bytes_a_turn}")
            assert got == expected, f"{path.name} {words} {bytes_a_turn}: {got[1:]}, not {expected[1:]}"
        lines += expected[0].count(b"\n")
    assert decode(path, "--bytewise") == decode(path)
    return lines


def damage(folder, capture, seed):
    """Returns a copy of a capture with some bits flipped and its end cut off."""
    copy = folder / f"{capture.name}-{seed}"
    shutil.copytree(capture, copy)
    chosen = random.Random(seed)
    described = (copy / "trace.ini").read_text()
    buffers = re.findall(r"^\[buffer\d+\][^\[]*?^file *= *(\S+)", described, re.M | re.S)
    assert buffers
    for name in buffers:
        data = bytearray((copy / name).read_bytes())
        for _ in range(20):
            data[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)
        (copy / name).write_bytes(data[:-chosen.randrange(1, len(data) // 4)])
    return copy


def check(folder, capture):
    lines = hold(capture, ALL[::3] if tap.is_sanitized(COMMAND) else ALL)
    damaged = sum(hold(damage(folder, capture, seed), ALL[seed::3]) for seed in range(3))
    assert lines > 10
    return f"{lines} lines, {damaged} of damaged copies"


def refused():
    quickstart = ROOT / "examples/quickstart"
    for words, text in ((["--bytewise=0"], b"from 1 to 8"), (["--bytewise=9"], b"from 1 to 8"),
                        (["--bytewise", "--merge"], b"cannot be used with --merge")):
        out, said, code = decode(quickstart, *words)
        assert (out, code) == (b"", 2) and text in said, (words, said)
    return "by name"


def other_protocol():
    out, said, code = decode(SHARED / "corpus/snapshots/TC2", "--bytewise=4")
    assert (out, code) == (b"", 2) and b"the capture has no such source" in said, said
    return "PTM and ETMv3"


def main():
    corpus = SHARED / "corpus/snapshots"
    missing = None if corpus.is_dir() else f"needs {corpus}"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tap.case("examples/quickstart", None, lambda: check(folder, ROOT / "examples/quickstart"))
        for capture in CORPUS:
            tap.case(capture, missing, lambda capture=capture: check(folder, corpus / capture))
        tap.case("another protocol is refused", missing, other_protocol)
        tap.case("what cannot be is refused", None, refused)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
