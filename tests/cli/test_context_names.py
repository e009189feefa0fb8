#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks context switches by name: names from the [context] section of an .ini, and threads and processes of
a perf.data; as places of watch and inputs of monitor, and as Strings. Also checks lines written to an ITM
as Strings. Prints TAP.

usage: test_context_names.py CORETAP"""
import functools
import json
import os
import pathlib
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import perf_writer  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

CORETAP = os.path.abspath(sys.argv[1])
UNIT = [1 << 6, 0x10, 0x28000ea1, 0x4100f403, 0x488, 0, 0xcc]  # context IDs of 32 bits
NAMES = "in who: Events[String]\nout who\nout idle_error\n" \
    "def idle_error = filter(constIf(true, who == \"idle\"), who == \"idle\")\n"


def to_context(number):
    """Returns an ETMv4 context packet: EL0, non-secure, 64-bit state."""
    return b"\x81\xb0" + struct.pack("<I", number)


def trace(contexts):
    """Returns a trace: synchronisation, trace info, trace on, then an address and an atom in each context."""
    out = bytes(11) + b"\x80" + b"\x01\x01\x00" + b"\x04"
    for number in contexts:
        out += to_context(number) + b"\x9d\x10\x00" + (0x40).to_bytes(6, "little") + b"\xf7"
    return out


def capture(folder, sections, contexts=(0x10, 0x11, 0x12, 0x10), config=0x40):
    (folder / "trace.bin").write_bytes(trace(contexts))
    path = folder / "trace.ini"
    path.write_text("[capture]\nfile=trace.bin\nframing=none\n[source cpu_0]\nprotocol=etmv4i\nid=0x10\n"
                    f"core=ARMv8.0-A\nTRCCONFIGR={config:#x}\nTRCIDR0=0x28000ea1\nTRCIDR1=0x4100f403\n"
                    "TRCIDR2=0x00000488\n" + sections)
    return path


def snapshot(folder, sections):
    (folder / "trace.bin").write_bytes(trace((0x10, 0x11, 0x10)))
    (folder / "trace.ini").write_text("[trace_buffers]\nbuffers=b\n[b]\nname=ETB\nfile=trace.bin\n"
                                      "format=source_data\n[source_buffers]\nETM_0=ETB\n"
                                      "[core_trace_sources]\ncpu_0=ETM_0\n")
    (folder / "cpu.ini").write_text("[device]\nname=cpu_0\nclass=core\ntype=ARMv8.0-A\n")
    (folder / "etm.ini").write_text("[device]\nname=ETM_0\nclass=trace_source\ntype=ETM4\n[regs]\n"
                                    "TRCCONFIGR=0x40\nTRCTRACEIDR=0x10\nTRCIDR0=0x28000ea1\n"
                                    "TRCIDR1=0x4100f403\nTRCIDR2=0x00000488\n")
    (folder / "snapshot.ini").write_text("[snapshot]\nversion=1.0\n[device_list]\na=cpu.ini\nb=etm.ini\n"
                                         "[trace]\nmetadata=trace.ini\n" + sections)
    return folder / "snapshot.ini"


def recording(folder):
    """Writes a recording of a shell (100), its thread (102) with another name, and its child (101), which
    later executes another program."""
    writer = perf_writer.Writer([UNIT], contexts=True)
    writer.time = 1
    writer.comm(100, "bash")
    writer.record(perf_writer.FORK, struct.pack("<IIIIQ", 100, 100, 102, 100, 1)
                  + writer.stamp(100, 102, perf_writer.DUMMY_EVENT))
    writer.record(perf_writer.COMM, struct.pack("<II", 100, 102) + perf_writer.text("helper")
                  + writer.stamp(100, 102, perf_writer.DUMMY_EVENT))
    writer.fork(101, 100)
    writer.run(100, perf_writer.frames(trace((100, 101, 102)), 0x10))
    writer.time = 5000
    writer.comm(101, "ls")
    writer.run(100, perf_writer.frames(trace((101, 100)), 0x10))
    path = folder / "perf.data"
    path.write_bytes(writer.whole())
    return path


run = functools.partial(command.run, CORETAP, codes=(0, 1))


def watched(path, *places):
    words = [word for place in places for word in ("--at", place)]
    rows = map(json.loads, run("watch", "-q", "-f", "jsonl", *words, path).stdout.splitlines())
    return [(row["watch"], int(row["ctxt"], 16) if isinstance(row["ctxt"], str) else row["ctxt"])
            for row in rows if row["event"] == "context"]


def outputs(folder, spec, path, *binds, codes=(0, 1)):
    (folder / "spec.tessla").write_text(spec)
    words = [word for bind in binds for word in ("--bind", bind)]
    done = run("monitor", "-q", "-a", "-f", "jsonl", "--spec", folder / "spec.tessla", *words, path,
               codes=codes)
    return [(row["output"], row["value"]) for row in map(json.loads, done.stdout.splitlines())]


def check_raw(folder):
    path = capture(folder, "[context]\nidle=0x10\nping thread=0x11\n")
    assert watched(path, "context:idle", "context:ping thread", "context:0x12") == [
        ("context:idle", 0x10), ("context:ping thread", 0x11), ("context:0x12", 0x12),
        ("context:idle", 0x10)], watched(path, "context:idle", "context:ping thread", "context:0x12")
    got = outputs(folder, NAMES, path, "who=context")
    assert got == [("who", '"idle"'), ("idle_error", "true"), ("who", '"ping thread"'), ("who", '"0x12"'),
                   ("who", '"idle"'), ("idle_error", "true")], got
    got = outputs(folder, "in a: Events[String]\nin b: Events[Int]\nout a\nout b\n", path,
                  "a=context:ping thread", "b=context:ping thread")
    assert got == [("a", '"ping thread"'), ("b", "17")], got
    path = snapshot(folder, "[context]\nidle=0x10\n")
    assert watched(path, "context:idle") == [("context:idle", 0x10)] * 2
    return "raw and snapshot"


def check_perf(folder):
    path = recording(folder)
    # without timestamps a thread has all its names
    assert [c for _, c in watched(path, "context:bash")] == [100, 101, 102, 101, 100], watched(
        path, "context:bash")
    assert [c for _, c in watched(path, "context:helper")] == [102]
    assert [c for _, c in watched(path, "context:ls")] == [101, 101]
    got = outputs(folder, NAMES, path, "who=context")
    assert [v for _, v in got] == ['"bash"', '"ls"', '"helper"', '"ls"', '"bash"'], got
    return "perf.data"


def check_refused(folder):
    rows = [("[context]\nidle=0x10\n", "context:ping", "no context with this name; there are idle"),
            ("", "context:ping", "no context with this name; use an ID"),
            ("[context]\nidle=0x10\n", "context:", "write a context ID or name"),
            ("[context]\nidle=0x10\n", "context:0x100000000", "write a context ID or name"),
            ("[context]\nidle=0x10\nother=16\n", "context", "this context already has the name idle"),
            ("[context]\nidle=x\n", "context", "idle=x")]
    for sections, place, wanted in rows:
        got = run("watch", "--at", place, capture(folder, sections), codes=(2,))
        assert wanted in got.stderr, (sections, place, got.stderr)
    got = run("watch", "--at", "context:idle", capture(folder, rows[0][0], config=0), codes=(2,))
    assert "no trace unit of the capture traces context IDs" in got.stderr, got.stderr
    (folder / "spec.tessla").write_text("in s: Events[String]\nout s\n")
    for place, wanted in (("0x40", "no text"), ("event:0", "no text"), ("exception", "no text")):
        got = run("monitor", "--spec", folder / "spec.tessla", "--bind", f"s={place}",
                  capture(folder, rows[0][0]), codes=(2,))
        assert wanted in got.stderr and "spec.tessla:1:" in got.stderr, (place, got.stderr)
    return f"{len(rows) + 4} refused"


def itm(folder, parts):
    """Writes a capture of an ITM. `parts` are pairs of port and bytes; each write has 1, 2 or 4 bytes."""
    head = {1: 1, 2: 2, 4: 3}
    packets = (bytes([port << 3 | head[len(data)]]) + data for port, data in parts)
    stream = bytes(5) + b"\x80" + b"".join(packets)
    (folder / "itm.bin").write_bytes(stream)
    path = folder / "itm.ini"
    path.write_text("[capture]\nfile=itm.bin\nframing=none\n[source ITM]\nprotocol=itm\nid=0x20\n")
    return path


def check_lines(folder):
    words = b"boot\r\nready\nspeed 12\nlast"
    parts = [(0, words[i:i + 1]) for i in range(len(words))]
    parts[3:3] = [(1, b"a\nb\n"), (0, b"\x00")]  # another port, then padding
    path = itm(folder, parts)
    spec = "in line: Events[String]\ndef ready = filter(line, line == \"ready\")\nout line\nout ready\n"
    got = outputs(folder, spec, path, "line=itm:0")
    assert got == [("line", '"boot"'), ("line", '"ready"'), ("ready", '"ready"'), ("line", '"speed 12"')], got
    got = outputs(folder, "in line: Events[String]\nin n: Events[Int]\nout line\nout n\n", path, "line=itm:1",
                  "n=itm:1")
    assert got == [("line", '"a\\nb"'), ("n", str(int.from_bytes(b"a\nb\n", "little")))], got
    long = [(0, b"abcd")] * 1500 + [(0, b"!\n")]
    got = outputs(folder, "in line: Events[String]\nout line == line as l\n", itm(folder, long), "line=itm:0")
    assert len(got) == 2, got
    # text before a loss is not part of a line
    lost = [(0, b"lost"), None, (0, b"kept"), (0, b"\n")]
    packets = (b"\x70" if p is None else bytes([3 if len(p[1]) == 4 else 1]) + p[1] for p in lost)
    stream = bytes(5) + b"\x80" + b"".join(packets)
    path = itm(folder, [])
    (folder / "itm.bin").write_bytes(stream)
    got = outputs(folder, "in line: Events[String]\nout line\n", path, "line=itm:0")
    assert got == [("line", '"kept"')], got
    return "lines of an ITM"


def main():
    for title, check in (("names that an .ini gives", check_raw),
                         ("threads and processes of a perf.data", check_perf),
                         ("what cannot be is refused", check_refused),
                         ("lines as Strings", check_lines)):
        with tempfile.TemporaryDirectory() as name:
            tap.case(title, None, lambda c=check, p=pathlib.Path(name): c(p))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
