#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks events of trace units by name: names from an [event] section, and those of PMU events that the
registers of an ETE select; in decode, in the columns of Table I, in watch and in monitor. Prints TAP.

usage: test_event_names.py CORETAP"""
import functools
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

CORETAP = os.path.abspath(sys.argv[1])


def address(addr):
    return b"\x9d" + bytes([addr >> 2 & 127, addr >> 9 & 127]) + (addr >> 16).to_bytes(6, "little")


def trace():
    """Returns a trace: synchronisation, trace info, trace on, address 0x400040 in 64-bit state; a taken
    branch to 0xff0040, event 0, events 0 and 2, a taken branch to 0xff0080, event 3."""
    start = bytes(11) + b"\x80" + b"\x01\x01\x00" + b"\x04" + b"\x85" + address(0x400040)[1:] + b"\x10"
    return (start + b"\xf7" + address(0xff0040) + b"\x71" + b"\x75" + b"\xf7" + address(0xff0080) + b"\x78")


def capture(folder, protocol, registers, sections=""):
    (folder / "trace.bin").write_bytes(trace())
    path = folder / "trace.ini"
    path.write_text("[capture]\nfile=trace.bin\nframing=none\n[source cpu_0]\n"
                    f"protocol={protocol}\nid=0x10\ncore=ARMv9.0-A\nTRCCONFIGR=0x00000000\n"
                    "TRCIDR0=0x28000ea1\nTRCIDR1=0x4100f403\nTRCIDR2=0x00000488\n"
                    + ("TRCDEVARCH=0x47705a13\n" if protocol == "ete" else "") + registers + sections)
    return path


run = functools.partial(command.run, CORETAP)


# Event 0 is of resource 2, which is external input 1. Event 2 is of resource 3, which is input 0.
SELECTED = "TRCEVENTCTL0R=0x05030002\nTRCEVENTCTL1R=0x0000000d\nTRCRSCTLR2=0x00000002\n" \
    "TRCRSCTLR3=0x00000001\nTRCRSCTLR5=0x00020001\nTRCEXTINSELR0=0x0000c0de\nTRCEXTINSELR1=0x00000003\n"


def notes(path):
    done = run("decode", "--along", "trace", "-f", "jsonl", path)
    return [row.get("note") for row in map(json.loads, done.stdout.splitlines()) if row["type"] == "Evt"]


def check_given(folder):
    path = capture(folder, "etmv4i", "", "[event]\nL1D_CACHE_REFILL=0\nBR_MIS_PRED=2\n"
                   "[event cpu_0]\nmine=3\n")
    assert notes(path) == ["L1D_CACHE_REFILL", "L1D_CACHE_REFILL, BR_MIS_PRED", "mine"], notes(path)
    table = run("decode", "--table1", "--along", "trace", path).stdout
    table = "".join(line for line in table.splitlines(True) if not line.startswith("#"))
    assert table == ("Type\tCycle\tValue\nBr\t0x000\t0xFF0040\nEvt\t0x000\tL1D_CACHE_REFILL\n"
                     "Evt\t0x000\tL1D_CACHE_REFILL\nEvt\t0x000\tBR_MIS_PRED\nBr\t0x000\t0xFF0080\n"
                     "Evt\t0x000\tmine\n"), table
    rows = run("watch", "-f", "jsonl", "--at", "event:BR_MIS_PRED", path, codes=(1,)).stdout.splitlines()
    rows = [json.loads(row) for row in rows]
    assert [(row["event"], row["value"]) for row in rows if row["event"] == "event"] == [("event", 2)], rows
    spec = folder / "spec.tessla"
    spec.write_text("in e: Events[Unit]\nout count(e) as n\n")
    got = run("monitor", "-q", "-a", "-f", "jsonl", "--spec", spec, "--bind", "e=event:L1D_CACHE_REFILL",
              path, codes=(1,)).stdout
    assert [json.loads(row)["value"] for row in got.splitlines()] == ["1", "2"], got
    return "given"


def check_selected(folder):
    path = capture(folder, "ete", SELECTED)
    assert notes(path) == ["L1D_CACHE_REFILL", "L1D_CACHE_REFILL, PMU_0xc0de", None], notes(path)
    # a name in the capture takes precedence
    path = capture(folder, "ete", SELECTED, "[event]\nother=0\n")
    assert notes(path)[0] == "other"
    # an ETMv4 has only the inputs of its core
    assert notes(capture(folder, "etmv4i", SELECTED)) == [None] * 3
    return "selected"


def check_list(folder):
    path = capture(folder, "ete", SELECTED)
    listed = run("list", "--elements", path, codes=(1,)).stdout.splitlines()
    rows = [line.split(" event ")[1] for line in listed if " event " in line]
    assert rows == ["num=1 name=L1D_CACHE_REFILL", "num=5 name=L1D_CACHE_REFILL,PMU_0xc0de", "num=8"], rows
    objects = [json.loads(line) for line in
               run("list", "--elements", "--format", "jsonl", path, codes=(1,)).stdout.splitlines()]
    rows = [(o["num"], o.get("names")) for o in objects if o["kind"] == "event"]
    assert rows == [(1, ["L1D_CACHE_REFILL"]), (5, ["L1D_CACHE_REFILL", "PMU_0xc0de"]), (8, None)], rows
    return "elements"


def check_sums(folder):
    """Checks the sums, also over several captures, and the names in windows."""
    paths = []
    for name, sections in (("a", "[event]\nL1=1\nL2=0\n"), ("b", "[event]\nL2=2\n")):
        (folder / name).mkdir()
        paths.append(capture(folder / name, "etmv4i", "", sections))
    got = run("watch", "-q", "--format", "sums", "--at", "event:L2", *paths, codes=(1,)).stdout
    assert [line.split()[0] for line in got.splitlines() if "event:L2" in line] == ["3"], got
    spec = folder / "spec.tessla"
    spec.write_text("in e: Events[Unit]\nout count(e) as n\n")
    words = ("monitor", "-q", "--spec", spec, "--bind", "e=event:L2", "--format", "sums")
    got = run(*words, *paths, codes=(1,)).stdout
    assert ": n: 3 events" in got, got
    for begin, count in (("event:L2", 2), ("event:L2#2", 1)):
        got = run("watch", "-q", "-f", "jsonl", "--from", begin, "--at", "event:0", paths[0],
                  codes=(1,)).stdout
        assert got.count("\"event\":\"event\"") == count, (begin, got)
    return "sums and windows"


def check_refused(folder):
    rows = [("[event]\nx=4\n", "x"), ("[event]\nx=1\ny=1\n", "may appear only once"),
            ("[event]\nx=1\nx=2\n", "may appear only once"),
            ("[event nobody]\nx=1\n", "no source has this name"),
            ("[event]\n1x=1\n", "must not begin with a digit"),
            ("[event]\nx y=1\n", "only letters, digits, _"),
            ("[event]\ntrigger=1\n", "or be 'trigger'")]
    for text, wanted in rows:
        got = run("decode", capture(folder, "etmv4i", "", text), codes=(2,))
        assert wanted in got.stderr, (text, got.stderr)
    got = run("watch", "--at", "event:L2", capture(folder, "etmv4i", "", "[event]\nL1=1\n"), codes=(2,))
    assert "no event with this name; there are L1" in got.stderr, got.stderr
    named = capture(folder, "etmv4i", "", "[event]\nL1=1\n")
    got = run("decode", "--table1", "--merge", capture(folder, "etmv4i", ""), codes=(2,))
    assert "--merge" in got.stderr, got.stderr
    return f"{len(rows) + 2} refused"


def check_snapshot(folder):
    """Checks that a device file has the events of its own source only. A name after `[event]` would belong to
    another source."""
    (folder / "trace.bin").write_bytes(trace())
    (folder / "snapshot.ini").write_text("[snapshot]\nversion=1.0\n[device_list]\ndevice0=ete.ini\n"
                                         "[trace]\nmetadata=trace.ini\n")
    (folder / "trace.ini").write_text("[trace_buffers]\nbuffers=buffer0\n[buffer0]\nname=ETB\n"
                                      "file=trace.bin\nformat=source_data\n[source_buffers]\nETE=ETB\n")
    for section, code in (("[event]", 0), ("[event ETE]", 2)):
        (folder / "ete.ini").write_text(
            "[device]\nname=ETE\nclass=trace_source\ntype=ETE\n[regs]\nTRCCONFIGR=0x0\nTRCTRACEIDR=0x10\n"
            "TRCDEVARCH=0x47705a13\nTRCIDR0=0x28000ea1\nTRCIDR1=0x4100fff0\nTRCIDR2=0x488\n"
            f"TRCIDR8=0x0\n{section}\nmine=3\n")
        got = run("decode", "--table1", folder, codes=(code,))
        assert "\tmine\n" in got.stdout if not code else "ete.ini:13: [event ETE]: " in got.stderr, got
    return "a snapshot"


def main():
    for title, check in (("names that the capture gives", check_given),
                         ("PMU events by registers", check_selected),
                         ("elements", check_list),
                         ("sums and windows", check_sums),
                         ("a snapshot", check_snapshot),
                         ("what cannot be is refused", check_refused)):
        with tempfile.TemporaryDirectory() as name:
            tap.case(title, None, lambda c=check, p=pathlib.Path(name): c(p))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
