#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks named events of recorded programs, which include coretap/itm.h: `decode` prints what the program
itself printed; C and C++, A64, A32 and T32, ITM and STM, with the names in memory and outside. Prints TAP.

usage: run_named.py CORETAP PLUGIN SOURCE INCLUDE"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402

CORETAP, PLUGIN, SOURCE, INCLUDE = (os.path.abspath(path) for path in sys.argv[1:5])
A64, T32 = ["aarch64-linux-gnu-gcc", "-x", "c"], ["arm-linux-gnueabihf-gcc", "-x", "c"]
CPP64, CPP32 = ["aarch64-linux-gnu-g++", "-x", "c++"], ["arm-linux-gnueabihf-g++", "-x", "c++"]
OUT = "SECTIONS { coretap_events 0 (INFO) : { KEEP(*(coretap_events)) } } INSERT AFTER .comment;\n"
BUILDS = [("C, A64", A64, ["-O1", "-static"]),
          ("C, A64, dynamic, position-independent", A64, ["-O2"]),
          ("C, A64, static, position-independent", A64, ["-O2", "-static-pie"]),
          ("C, A64, stripped, sections of their own", A64,
           ["-Os", "-static", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-s"]),
          ("C, A64, names out of memory", A64, ["-O1", "-static", "-T", "out.ld"]),
          ("C, T32", T32, ["-O1", "-static", "-mthumb"]), ("C, A32, dynamic", T32, ["-O1", "-marm"]),
          ("C, A64, STM", A64, ["-O1", "-static", "-DCHANNELS"]),
          ("C, T32, STM", T32, ["-O1", "-static", "-mthumb", "-DCHANNELS"]),
          ("C++, A64", CPP64, ["-O2", "-static"]),
          ("C++, A64, with link-time optimisation", CPP64, ["-O2", "-static", "-flto"]),
          ("C++, A32", CPP32, ["-O0", "-static", "-marm"])]
KINDS = {"Txt", "Val", "Begin", "Finish"}


def build(folder, compiler, options):
    (folder / "out.ld").write_text(OUT)
    words = [*compiler, *options, "-Wall", "-Wextra", "-Werror", "-I", INCLUDE, "-o", "program", SOURCE]
    subprocess.run(words, check=True, cwd=folder)
    return folder / "program"


def record(folder, program, *options, name=None):
    """Records a program and returns the lines that it prints."""
    shutil.rmtree(folder / "capture", ignore_errors=True)
    port = {"channels": ["--stm", "channels"], "nothing": []}.get(name, ["--itm", "ports"])
    run = subprocess.run([CORETAP, "record", "-q", "-o", folder / "capture", *port, *options, "--", program],
                         capture_output=True, text=True, check=True, timeout=300,
                         env={**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN})
    return run.stdout.splitlines()


def decode(capture, *options):
    run = subprocess.run([CORETAP, "decode", *options, capture], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0 and not run.stderr, run
    return run.stdout


def events(capture, *options):
    """Returns what decode prints of named events, in the form that the program prints."""
    rows = [json.loads(line) for line in decode(capture, "--format", "jsonl", *options).splitlines()]
    assert not any(row["type"] == "Sw" for row in rows), rows
    return [f"{row['type']} {int(row['value'], 16) & 0xffff} {row['note']}" for row in rows
            if row["type"] in KINDS]


def check_build(folder, compiler, options):
    name = "channels" if "-DCHANNELS" in options else "ports"
    program = build(folder, compiler, [word for word in options if word != "-s"])
    said = record(folder, program, "--timestamps=100", name=name)
    if "-s" in options: # the recorder needs the symbol of the ports
        subprocess.run(["aarch64-linux-gnu-strip", program], check=True)
    assert said and events(folder / "capture") == said, (events(folder / "capture"), said)
    assert events(folder / "capture", "--merge") == said
    return f"{len(said)} events"


def check_json(folder):
    """Checks that a program can read names and arguments without the text."""
    record(folder, build(folder, A64, ["-O1", "-static"]))
    rows = [json.loads(line) for line in decode(folder / "capture", "--format", "jsonl").splitlines()]
    by_event = {row["event"]: row for row in rows if "event" in row}
    assert by_event["float"]["arguments"] == [1.5] and by_event["double"]["arguments"] == [1e100]
    assert by_event["long"]["arguments"] == [-5000000000] and by_event["outer"]["arguments"] == []
    assert by_event["%" "lu %d %x"]["arguments"][0] == str(2**64 - 1), by_event.keys()
    return f"{len(by_event)} names"


def check_watch(folder):
    """Checks that the lines of watchpoints have the values, each in its type; texts and spans have none."""
    record(folder, build(folder, A64, ["-O1", "-static"]))
    said = {name: (None, "-") for name in ("text:nothing", "begin:outer")}
    for row in map(json.loads, decode(folder / "capture", "--format", "jsonl").splitlines()):
        if row["type"] == "Val":
            said[f"value:{row['event']}"] = (float(row["arguments"][0]), row["note"].split(" = ")[1])
    places = [word for name in said for word in ("--at", name)]
    command = [CORETAP, "watch", "-q", *places, folder / "capture"]
    rows = subprocess.run(command, capture_output=True, text=True, check=True,
                          timeout=300).stdout.splitlines()
    columns = dict(reversed(row.split("\t")[7:]) for row in rows if not row.startswith("#"))
    rows = subprocess.run([*command, "--format", "jsonl"], capture_output=True, text=True, check=True,
                          timeout=300).stdout.splitlines()
    members = {row["watch"]: row.get("value") for row in map(json.loads, rows)}
    for name, (value, text) in said.items():
        is_same = columns[name] == text if value is None else float(columns[name]) == float(text)
        assert is_same and members[name] == value, (name, value, text, columns, members)
    return f"{len(said)} names"


def check_live(folder):
    """Checks that a live run knows the names of its program, like monitor on the same stream. One core and
    the ITM are one run, on the axis of their timestamps; the ITM alone is a run of its own."""
    stream, spec, ini = folder / "stream", folder / "spec.tessla", folder / "capture" / "live.ini"
    record(folder, build(folder, A64, ["-O1", "-static"]), "--timestamps=100", "--stream", stream)
    sources = re.findall(r"\[source (\w+)\]\n(?:.+\n)+\n", ini.read_text())
    few = re.sub(r"\[source cpu[1-9]\d*\]\n(?:.+\n)+\n", "", ini.read_text())
    assert few.count("[source ") == 2 < len(sources), few
    spec.write_text("in x: Events[Float]\nin l: Events[String]\nin b: Events[Unit]\nin e: Events[Unit]\n"
                    "in f: Events[Unit]\nout x\nout l\nout runtime(b, e) as t\n"
                    "out count(f) + count(x) as n\n")
    binds = ["x=value:float", "l=text:%+d % d %*d %.*f", "b=begin:inner", "e=end:inner"]
    counts = []
    for text, place in ((ini.read_text(), "entry:main"), (few, "entry:main"),
                        (re.sub(r"\[source cpu0\]\n(?:.+\n)+\n", "", few), "begin:outer")):
        ini.write_text(text)
        options = ["--format", "jsonl", "--spec", spec, "--config", ini, "-"]
        options += [word for bind in (*binds, f"f={place}") for word in ("--bind", bind)]
        said = []
        for command in (["monitor", "--all"], ["live", "--outputs", "-"]):
            with open(stream, "rb") as trace:
                run = subprocess.run([CORETAP, *command, *options], stdin=trace, capture_output=True,
                                     text=True, timeout=300)
            assert run.returncode == 0 and run.stdout, run
            rows = [json.loads(line) for line in run.stdout.splitlines()]
            said.append([(row["time"], row["output"], row["value"]) for row in rows])
        assert said[0] == said[1] and {row[1] for row in said[0]} == {"x", "l", "t", "n"}, said
        counts.append(len(said[0]))
    return f"{counts} results"


def check_raw(folder):
    """Checks that without names the plain writes are printed."""
    said = record(folder, build(folder, A64, ["-O1", "-static"]))
    rows = decode(folder / "capture", "--no-names").splitlines()
    assert not any(row.split("\t")[0] in KINDS for row in rows)
    writes = [row for row in rows if row.startswith("Sw\t")]
    assert len(writes) > len(said)
    return f"{len(writes)} writes"


def section(capture, *options):
    """Returns the report's section of named events, as text by row of its tables, or None when there is
    none."""
    run = subprocess.run([CORETAP, "report", "-q", *options, capture], capture_output=True, text=True,
                         timeout=300)
    assert run.returncode == 0, run
    found = re.search(r'<section id="events">(.*?)</section>', run.stdout, re.S)
    assert ('href="#events"' in run.stdout) == bool(found)
    if not found:
        return None
    rows = re.findall(r"<tr>(.*?)</tr>", found[1], re.S)
    cells = [[re.sub("<.*?>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in rows]
    return found[1], {row[2] if row[0][0].isdigit() else row[0]: row for row in cells if row}


def check_report(folder):
    """Checks that the report adds values and spans up by name, draws them, and has the texts."""
    program = build(folder, A64, ["-O1", "-static"])
    said = record(folder, program, "--timestamps=100")
    page, rows = section(folder / "capture")
    assert rows["nested"][:7] == ["nested", "1", "5", "0", "1.2", "2", "2"], rows["nested"]
    assert rows["float"][:4] == ["float", "3", "1", "1.5"] and rows["float"][6] == "1.5"
    assert rows["inner"][:3] == ["inner", "2", "3"] and rows["outer"][:3] == ["outer", "2", "1"]
    spans = [[float(cell) for cell in rows[name][3:7]] for name in ("inner", "outer")]
    assert all(0 < low <= mean <= most <= whole for low, mean, most, whole in spans), spans
    assert spans[0][3] < spans[1][3]  # those inside are together shorter than the one around them
    texts = [line.split(" ", 2)[2] for line in said if line.startswith("Txt")]
    assert all(text.replace("<", "&lt;") in page for text in texts)
    assert page.count('class="line"') == 6 and page.count("<svg") == 6 and "port 2" in page
    begin = int(rows["nothing"][0].replace(",", ""))
    early, few = section(folder / "capture", "--to", f"{begin + 1}ticks")
    assert list(few) == ["nothing"] and "nested" not in early, few
    assert section(folder / "capture", "--function", "main") is None
    record(folder, program, "--timestamps=100", name="nothing")
    assert section(folder / "capture") is None
    return f"{len(rows)} rows"


def check_many_values(folder):
    """Checks that more values than a curve has points become ranges of several values. A value that only
    grows is a curve that only rises, from its first value to its last."""
    source = folder / "ramp.c"
    source.write_text("""#include <stdint.h>
volatile uint32_t ports[32];
#define CORETAP_PORTS ports
#include <coretap/itm.h>
int main(void)
{
    for (int i = 0; i < 1300; i++)
        CORETAP_VALUE(1, "ramp", i);
}
""")
    program = folder / "ramp"
    subprocess.run([*A64, "-O1", "-static", "-I", INCLUDE, "-o", program, source], check=True)
    record(folder, program, "--timestamps=100")
    page, rows = section(folder / "capture")
    assert rows["ramp"][2:7] == ["1,300", "0", "649.5", "1299", "1299"], rows["ramp"]
    begin, *moves = re.findall(r"[MHV][\d. ]+", re.search(r'class="line" d="([^"]*)"', page)[1])
    left, bottom = map(float, begin[1:].split())
    across = [left] + [float(move[1:]) for move in moves if move[0] == "H"]
    up = [bottom] + [float(move[1:]) for move in moves if move[0] == "V"]
    grid = [float(y) for y in re.findall(r'class="(?:tick|axis)"[^>]* y1="([\d.]+)"', page)]
    assert across == sorted(across) and up == sorted(up, reverse=True), begin
    assert (up[0], up[-1]) == (max(grid), min(grid)), (up[0], up[-1], grid)
    assert ">1299</text>" in page and ">0</text>" in page  # at the axis
    points = len(up) // 2
    assert points == 325, points  # of four values each, so of three of the four times between values
    assert sum(across[1:-1:2]) - sum(across[:-1:2]) > (across[-1] - across[0]) / 2, across
    return f"{points} points"


def packets(capture):
    """Returns offset and text of the ITM's packets."""
    text = subprocess.run([CORETAP, "list", "-q", "--packets", capture], capture_output=True, text=True,
                          check=True, timeout=300).stdout
    return [(int(line.split()[0]), line) for line in text.splitlines() if " itm_" in line]


def check_cut(folder):
    """Checks that where the ITM lost trace, an event says that it is incomplete, and no other one is mixed
    with it."""
    said = record(folder, build(folder, A64, ["-O1", "-static"]), "--sync-period", "8")
    trace = folder / "capture" / "trace_itm.bin"
    whole = trace.read_bytes()
    offsets = [at for at, _ in packets(folder / "capture")] + [len(whole)]
    cuts = 0
    for first in range(5, len(offsets) - 6, 3):
        trace.write_bytes(whole[:offsets[first]] + b"\x70" + whole[offsets[first + 5]:])  # an overflow packet
        run = subprocess.run([CORETAP, "decode", folder / "capture"], capture_output=True, text=True,
                             timeout=300)
        rows = [line.split("\t") for line in run.stdout.splitlines()]
        assert ["trace unit overflow"] == [row[3].split(": ")[1] for row in rows if row[0] == "Gap"], run
        got = [f"{row[0]} {int(row[2], 16)} {row[3]}" for row in rows if row[0] in KINDS]
        cut = [line for line in got if line.endswith(", not whole")]
        cuts += len(cut)
        assert all(line in said or line in cut for line in got), (first, got)
    assert cuts > 20, cuts
    trace.write_bytes(whole)
    return f"{cuts} events cut"


def check_damaged(folder):
    """Checks that damaged names are reported, and the writes are printed."""
    program = build(folder, A64, ["-O1", "-static"])
    record(folder, program)
    data = program.read_bytes()
    assert b"tiup\0" in data
    program.write_bytes(data.replace(b"tiup\0", b"ti?p\0"))
    run = subprocess.run([CORETAP, "decode", folder / "capture"], capture_output=True, text=True, timeout=300)
    assert "coretap_events: the data at" in run.stderr, run.stderr
    assert any(line.startswith("Sw\t") for line in run.stdout.splitlines())
    return re.search(r"the data at \w+", run.stderr)[0]


def main():
    tools = ["aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc", "aarch64-linux-gnu-g++",
             "arm-linux-gnueabihf-g++", "qemu-aarch64", "qemu-arm"]
    missing = next((f"needs {tool}" for tool in tools if not shutil.which(tool)), None)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for title, compiler, options in BUILDS:
            tap.case(title, missing, lambda c=compiler, o=options: check_build(folder, c, o))
        for title, check in (("names and arguments in JSON", check_json), ("report", check_report),
                             ("many values", check_many_values),
                             ("live", check_live), ("values of watchpoints", check_watch),
                             ("without names", check_raw),
                             ("lost trace", check_cut), ("damaged names", check_damaged)):
            tap.case(title, missing, lambda check=check: check(folder))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
