#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that several captures count as one run of a system only when their timestamps overlap in time.
Prints TAP.

usage: test_common_time.py CORETAP"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

CORETAP = os.path.abspath(sys.argv[1])
SPEC = "in e: Events[Unit]\nout count(e) as n\n"


def stamp(ticks):
    """Returns an ETMv4 timestamp packet of 64 bits."""
    out = b"\x02"
    for i in range(9):
        part = ticks >> 7 * i & (0xff if i == 8 else 0x7f)
        out += bytes([part | (0x80 if i < 8 else 0)])
    return out


def capture(folder, core, times, names=""):
    """Writes a capture with event 0 before each timestamp. Returns its description."""
    trace = bytes(11) + b"\x80\x01\x01\x00\x04\x85\x10\x00" + (0x40).to_bytes(6, "little") + b"\x10\xf7"
    for time in times:
        trace += b"\x71" + stamp(time)
    (folder / f"{core}.bin").write_bytes(trace)
    path = folder / f"{core}.ini"
    path.write_text(f"[capture]\nfile={core}.bin\nframing=none\n[source {core}]\nprotocol=etmv4i\nid=0x10\n"
                    "core=ARMv8.0-A\nTRCCONFIGR=0x800\nTRCIDR0=0x28000ea1\nTRCIDR1=0x4100f403\n"
                    f"TRCIDR2=0x00000488\n{names}")
    return path


def monitor(folder, *captures, options=(), place="event:0"):
    (folder / "spec.tessla").write_text(SPEC)
    bind = ["--bind", f"e={place}"] if place else []
    return subprocess.run([CORETAP, "monitor", "-a", "--spec", folder / "spec.tessla", *bind, *options,
                           *captures], capture_output=True, text=True, timeout=300, check=False)


def check_apart(folder):
    early, late = capture(folder, "a", (100, 200)), capture(folder, "b", (201, 300))
    third, bridge = capture(folder, "c", (290, 400)), capture(folder, "d", (150, 250))
    refused = [(early, late), (late, early), (early, late, third), (third, early)]
    for captures in refused:
        for options in ((), ("--format", "sums", "--captures", "together")):
            got = monitor(folder, *captures, options=options)
            assert got.returncode == 2 and not got.stdout, got
            assert "end before those of the other begin (at " in got.stderr, got
            assert "--captures apart" in got.stderr, got
    for captures in ((late, third), (early, bridge, late), (third, late, bridge, early)):
        got = monitor(folder, *captures)
        assert got.returncode < 2 and got.stdout.count("\n") == 2 * len(captures), got
    got = monitor(folder, early, late, options=("--captures", "apart"))
    assert got.returncode < 2 and got.stdout.count("# capture") == 2, got
    return f"{len(refused)} refused"


def check_shown(folder):
    """Checks traces for viewers: captures without a common time are on separate axes, and a message says
    so."""
    early, late = capture(folder, "a", (100, 200)), capture(folder, "b", (201, 300))
    bridge = capture(folder, "d", (150, 250))

    def profile(*args):
        return subprocess.run([CORETAP, "profile", "-f", "perfetto", *args], capture_output=True, timeout=300,
                              check=False)

    got = profile(early, late)
    assert got.returncode < 2 and b"end before those of the other begin" in got.stderr and \
        b"each capture is shown on its own time axis" in got.stderr, got
    for quiet in (profile("-q", early, late), profile("--captures", "apart", early, late),
                  profile(early, bridge), profile(early, early)):
        assert quiet.returncode < 2 and b"its own time axis" not in quiet.stderr, quiet
    for pair, why in (((early, late), b"end before those"), ((early, early), b"both have trace of a")):
        got = profile("--captures", "together", *pair)
        assert got.returncode == 2 and why in got.stderr and b"leave out --captures" in got.stderr, got
    got = profile("--captures", "together", early, folder / "nothing.ini")
    assert got.returncode == 2 and b"nothing.ini" in got.stderr, got
    return "shown"


def check_names(folder):
    """Checks that the names in every capture of a run are known."""
    one = capture(folder, "a", (100, 200), "[event]\nL1=0\n[context]\nidle=0x10\n")
    two = capture(folder, "b", (150, 300), "[event b]\nL1=0\nL2=1\n")
    for captures in ((one, two), (two, one)):
        got = monitor(folder, *captures, options=("--bind", "e=event:L1"), place=None)
        assert got.stdout.count("\n") == 4, got
        for place, wanted in (("event:L3", "there are L1"), ("context:x", "there are idle")):
            got = monitor(folder, *captures, options=("--bind", f"e={place}"), place=None)
            assert got.returncode == 2 and wanted in got.stderr, got
    return "names"


def main():
    with tempfile.TemporaryDirectory() as name:
        tap.case("captures without a time in common", None, lambda: check_apart(pathlib.Path(name)))
        tap.case("what viewers show of several captures", None, lambda: check_shown(pathlib.Path(name)))
        tap.case("names of several captures", None, lambda: check_names(pathlib.Path(name)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
