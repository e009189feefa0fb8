#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks coretap monitor on values: what programs write to an ITM or STM, and data that a DWT traces. The
right results are computed here from `coretap decode --merge`. Prints TAP.

usage: run_values.py CORETAP PLUGIN EXAMPLES NAMED INCLUDE"""
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402

CORETAP, PLUGIN, EXAMPLES, NAMED, INCLUDE = (os.path.abspath(path) for path in sys.argv[1:6])
A64 = "aarch64-linux-gnu-gcc"
A32 = "arm-linux-gnueabihf-gcc"
CONTROL = ["--bind", "set=value:set point", "--bind", "speed=value:speed", "--bind", "output=value:output",
           "--bind", "begin=begin:control", "--bind", "end=end:control"]


run = functools.partial(command.run, CORETAP, env={**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN})


def record(folder, source, *options, defines=(), clock=("--cycle-count=4", "--timestamps=100")):
    program, capture = folder / "program", folder / "capture"
    shutil.rmtree(capture, ignore_errors=True)
    subprocess.run([A64, "-g", "-O1", "-static", "-I", INCLUDE, *defines, "-o", program, source], check=True)
    run("record", "-q", "-o", capture, *clock, *options, "--", program)
    return capture


def decoded(capture):
    """Returns time and row of each event of software trace."""
    rows = map(json.loads, run("decode", "--merge", "-f", "jsonl", capture).stdout.splitlines())
    return [(int(row["time"]), row) for row in rows if row["type"] in ("Val", "Begin", "Finish", "Dwt", "Sw")]


def monitor(capture, *words, codes=(0,)):
    return list(map(json.loads, run("monitor", "-q", "-f", "jsonl", *words, capture, codes=codes).stdout
                    .splitlines()))


def spec(folder, text):
    path = folder / "spec.tessla"
    path.write_text(text)
    return path


def built(bug):
    return ["-DBUG"] if bug else []


def check_control(folder, bug):
    """Checks that violations are where the values in decode are wrong, and that all of them are certain."""
    capture = record(folder, f"{EXAMPLES}/motor.c", "--itm", "itm_ports", defines=built(bug))
    expected, most, begun = [], 0, None
    for time, row in decoded(capture):
        if row.get("event") == "set point":
            most = max(most, row["arguments"][0])
        elif row.get("event") == "speed" and row["arguments"][0] > most * 1.1:
            expected.append(("overshoot_error", time))
        elif row.get("event") == "output" and abs(row["arguments"][0]) > 40:
            expected.append(("output_error", time))
        elif row["type"] == "Begin":
            begun = time
        elif row["type"] == "Finish" and time - begun >= 200:
            expected.append(("slow_error", time))
    got = monitor(capture, "--spec", f"{EXAMPLES}/motor.tessla", *CONTROL, codes=(1 if bug else 0,))
    assert [(row["output"], row["time"]) for row in got] == expected, (got, expected)
    assert bool(expected) == bug
    assert all(row["violation"] and not row.get("uncertain") and row["core"] == "ITM" for row in got)
    words = ["monitor", "-a", "--spec", f"{EXAMPLES}/motor.tessla", *CONTROL, capture]
    text = [run(*words, "--threads", threads, codes=(0, 1)).stdout for threads in (1, 2, 3)]
    assert text[0] == text[1] == text[2] and text[0].count("\n") == 900
    return f"{len(expected)} violations"


def check_boot(folder, bug):
    """Checks lines that are written one letter at a time."""
    capture = record(folder, f"{EXAMPLES}/boot.c", "--itm", "itm_ports", defines=built(bug))
    words = ["-a", "--spec", f"{EXAMPLES}/boot.tessla", "--bind", "line=itm:0"]
    got = [(row["output"], row["value"], row.get("violation", False))
           for row in monitor(capture, *words, codes=(1 if bug else 0,))]
    said = ['"boot"', f'"self-test {"failed" if bug else "passed"}"', '"ready"']
    verdict = ("ready_error", "true" if bug else "false", bug)
    assert got == [*(("line", text, False) for text in said), verdict], got
    return f"{len(said)} lines"


SAYS = """#include <stdint.h>
volatile uint32_t ports[32];
#define CORETAP_PORTS ports
#include <coretap/itm.h>
static const char *const names[] = {"left", "right"};
int main(void)
{
    for (int turn = 0; turn < 6; turn++)
        CORETAP_TEXT(1, "turn %d of %s", turn / 2, names[turn % 2]);
    return 0;
}
"""


def check_texts(folder):
    """Checks the output of a named text, and the same without texts."""
    (folder / "says.c").write_text(SAYS)
    capture = record(folder, folder / "says.c", "--itm", "ports")
    text = spec(folder, "in said: Events[String]\nin n: Events[Unit]\nout said\nout count(n) as n\n"
                "out count(filter(said, said == \"turn 1 of left\")) as lefts\n")
    bind = "text:turn %d of %s"
    rows = monitor(capture, "-a", "--spec", text, "--bind", f"said={bind}", "--bind", f"n={bind}")
    said = [row["value"] for row in rows if row["output"] == "said"]
    assert said == [f'"turn {turn // 2} of {("left", "right")[turn % 2]}"' for turn in range(6)], said
    assert [row["value"] for row in rows if row["output"] == "lefts"][-1] == "1"
    number = spec(folder, "in v: Events[String]\nout v\n")
    got = run("monitor", "--spec", number, "--bind", "v=dwt:0", capture, codes=(2,))
    assert "events have no text" in got.stderr, got
    return f"{len(said)} texts"


FAR = """#include <stdint.h>
struct { volatile int32_t one; uint8_t between[65532]; volatile int32_t other; } far;
int main(void)
{
    for (int turn = 0; turn < 5; turn++) {
        far.one = turn;
        far.other = 100 + turn;
    }
    return 0;
}
"""


def check_far(folder):
    """Checks variables 64 KiB apart: the comparator's match identifies the variable."""
    (folder / "far.c").write_text(FAR)
    capture = record(folder, folder / "far.c", "--watch-data", "far.one")
    values = lambda name: [row["value"] for row in watched(capture, f"store:far.{name}", codes=(0, 1))]
    assert values("one") == [0, 1, 2, 3, 4] and values("other") == [], (values("one"), values("other"))
    itm = capture / "device_ITM.ini"
    text = itm.read_text()
    itm.write_text(re.sub(r"(?m)^DWT_COMP0.*\n", "", text))
    assert values("one") == values("other") == [0, 1, 2, 3, 4] and itm.read_text() != text
    return "told apart"


# A tank that is filled and emptied, and never above 90; with BUG one valve closes too late.
LEVEL = """#include <stdint.h>

volatile int32_t level = 20;

__attribute__((noinline)) void fill(int by)
{
    level = level + by;
}

__attribute__((noinline)) void empty(int by)
{
    level = level - by;
}

int main(void)
{
    for (int turn = 0; turn < 200; turn++) {
#ifdef BUG
        const int most = turn == 120 ? 95 : 88;
#else
        const int most = 88;
#endif
        while (level + 7 <= most)
            fill(7);
        while (level > 30)
            empty(9);
    }
    return 0;
}
"""
BOUNDS = "in level: Events[Int]\ndef level_error = level > 90 || level < 0\nout level_error\n"


def check_level(folder, bug):
    (folder / "level.c").write_text(LEVEL)
    capture = record(folder, folder / "level.c", "--watch-data", "level", defines=built(bug))
    written = [(time, int(row["value"], 16)) for time, row in decoded(capture)
               if "written" in row.get("note", "")]
    expected = [time for time, value in written if value > 90]
    got = monitor(capture, "--spec", spec(folder, BOUNDS), "--bind", "level=dwt:0.write",
                  codes=(1 if bug else 0,))
    assert [row["time"] for row in got] == expected and len(expected) == bug, (got, expected)
    every = spec(folder, "in w: Events[Int]\nin a: Events[Int]\nin p: Events[Int]\nin d: Events[Int]\n"
                 "out w\nout count(a) as addresses\nout p\nout count(d) as data\n")
    rows = monitor(capture, "-a", "--spec", every, "--bind", "w=dwt:0.write", "--bind", "a=dwt:0.address",
                   "--bind", "p=dwt:0.pc", "--bind", "d=dwt:0")
    of = {name: [row for row in rows if row["output"] == name] for name in ("w", "addresses", "p", "data")}
    assert [(row["time"], int(row["value"])) for row in of["w"]] == written
    assert of["addresses"][-1]["value"] == of["data"][-1]["value"] == str(len(of["p"]))
    # one that nothing is watched by is silent, and no error
    assert monitor(capture, "-a", "--spec", spec(folder, "in w: Events[Int]\nout w\n"), "--bind",
                   "w=dwt:3") == []
    return f"{len(written)} values"


# A tank again, of all that a variable may be.
TANK = """#include <stdint.h>
enum state { OFF = -1, FILLING = 1, EMPTYING = 200 };
struct tank {
    volatile int32_t level;
    volatile enum state state;
    volatile int64_t total;
    volatile double mean;
    volatile uint16_t parts[4];
    volatile unsigned low : 3, high : 5;
};
struct tank tank = {20, OFF, -5, 0, {0}, 0, 0};
int lost;
#ifndef BARE
int main(void)
{
    static int made = 7;
    for (int turn = 0; turn < 20; turn++) {
        tank.state = turn % 2 ? FILLING : EMPTYING;
        tank.level += turn % 2 ? 7 : -9;
        tank.total += tank.level;
        tank.mean = (double)tank.total / (turn + 1);
        tank.parts[turn % 4] = (uint16_t)(turn * 3000);
        tank.high = (unsigned)turn;
    }
    return made > 7;
}
#endif
"""


def tank_values():
    """Returns what the program stores, by place."""
    level, total = 20, -5
    stored = {name: [] for name in ("level", "state", "total", "mean", "parts[2]", "high")}
    for turn in range(20):
        stored["state"].append("FILLING" if turn % 2 else "EMPTYING")
        level += 7 if turn % 2 else -9
        total += level
        stored["level"].append(level)
        stored["total"].append(total)
        stored["mean"].append(total / (turn + 1))
        if turn % 4 == 2:
            stored["parts[2]"].append(turn * 3000)
        stored["high"].append(turn)
    return stored


def watched(capture, *places, options=(), codes=(0,)):
    words = [word for place in places for word in ("--at", place)]
    done = run("watch", "-q", "-f", "jsonl", *options, *words, capture, codes=codes)
    return [row for row in map(json.loads, done.stdout.splitlines()) if row["event"] in ("load", "store")]


def check_variables(folder):
    """Checks variables by name, with the width, the sign and the names of their types."""
    (folder / "tank.c").write_text(TANK)
    capture = record(folder, folder / "tank.c", "--watch-data", "tank")
    stored = tank_values()
    rows = watched(capture, *(f"store:tank.{name}" for name in stored), "load:tank.total")
    for name, values in stored.items():
        got = [row.get("name", row["value"]) for row in rows if row["watch"] == f"store:tank.{name}"]
        assert len(got) == len(values), (name, got)
        assert all(abs(a - b) < 1e-9 if name == "mean" else a == b for a, b in zip(got, values)), (name, got)
    loaded = [row["value"] for row in rows if row["watch"] == "load:tank.total"]
    assert loaded[::2] == [-5, *stored["total"][:-1]] and loaded[1::2] == stored["total"], loaded
    text = "in level: Events[Int]\nin mean: Events[Float]\nin state: Events[Int]\nin any: Events[Unit]\n" \
        "out level\nout mean\nout state\nout count(any) as n\n"
    results = monitor(capture, "-a", "--spec", spec(folder, text), "--bind", "level=store:tank.level",
                      "--bind", "mean=store:tank.mean", "--bind", "state=store:tank.state", "--bind",
                      "any=store:tank")
    of = {name: [row for row in results if row["output"] == name] for name in ("level", "mean", "state", "n")}
    assert [int(row["value"]) for row in of["level"]] == stored["level"]
    assert [float(row["value"]) for row in of["mean"]] == stored["mean"]
    assert {row["value"] for row in of["state"]} == {"1", "200"}
    # all results of one access have the same time
    times = {row["time"] for row in of["n"]}
    assert all(row["time"] in times for name in ("level", "mean", "state") for row in of[name])
    # the recorder knows parts, too: accesses to others are not traced
    capture = record(folder, folder / "tank.c", "--watch-data", "tank.total", "--watch-data", "tank.parts[2]")
    some = watched(capture, "store:tank", "store:tank.total", "store:tank.parts[2]")
    assert [row["value"] for row in some if row["watch"] == "store:tank.total"] == stored["total"]
    assert sum(row["watch"] == "store:tank" for row in some) == 25, some
    capture = record(folder, folder / "tank.c", "--watch-data", "tank")
    path = folder / "recent.tessla"
    for name in ("tank.level", "tank.parts[2]"):
        path.write_text(f"define v := variable_value {name}\nout v\n")
        got = [int(row["value"]) for row in monitor(capture, "-a", "--spec", path)]
        values = stored[name[5:]]
        assert got[0] == 0 and got[1:] == values, (name, got)
    return f"{len(rows)} accesses"


def check_variable_errors(folder):
    (folder / "tank.c").write_text(TANK)
    capture = record(folder, folder / "tank.c", "--watch-data", "tank")
    rows = [("store:tank.nix", "has no field nix; its fields are level, state, total, mean, parts, low"),
            ("store:tank.parts[4]", "index 4 is outside of the array, whose last index is 3"),
            ("store:tank.level.x", "is not a structure"), ("store:nothing", "has no variable 'nothing'"),
            ("load:made", "by a constant"), ("load:main::turn", "optimised it away"),
            ("store:other.c:tank", "has no variable 'other.c:tank'"), ("load:", "has no variable ''")]
    for place, text in rows:
        got = run("watch", "--at", place, capture, codes=(2,))
        assert text in got.stderr or "on the stack" in got.stderr, (place, got.stderr)
    v = spec(folder, "in v: Events[Float]\nout v\n")
    got = run("monitor", "--spec", v, "--bind", "v=store:tank.level", capture, codes=(2,))
    assert "gives a Unit, an Int or a Bool" in got.stderr, got
    for part in ("tank.nix", "nothing"):
        got = run("record", "-q", "-o", folder / "none", "--watch-data", part, "--", folder / "program",
                  codes=(2,))
        assert "has no field nix" in got.stderr or "is not a variable of" in got.stderr, got.stderr
    only = record(folder, folder / "tank.c")
    v = spec(folder, "in v: Events[Int]\nout v\n")
    got = run("monitor", "--spec", v, "--bind", "v=store:tank.level", only, codes=(2,))
    assert "belongs to a data trace" in got.stderr and "has none with trace" in got.stderr, got
    return f"{len(rows) + 2} refused"


# What an Arm core does to the tank, with its data trace: instruction, address and value of each transfer.
# A multiple access has an address with the first alone.
BARE = [("ldr r1, [r0]", [(0, 20)]), ("str r1, [r0, #4]", [(4, 200)]),
        ("strd r2, r3, [r0, #8]", [(8, 0xfffffff9), (None, 0xffffffff)]),
        ("stm r0, {r1, r2}", [(0, 31), (None, 1)]), ("strh r1, [r0, #28]", [(28, 65535)]),
        ("ldrb r1, [r0, #29]", [(29, 0xff)]), ("add r1, r1, #1", []),
        ("swp r1, r2, [r0]", [(0, 31), (0, 32)]),
        ("mrc p15, 0, r1, c0, c0, 0", [(None, 0x410fc075)]), ("strb r1, [r0, #32]", [(32, 0xb0)]),
        ("str r1, [r0, #64]", [(64, 5)])]
BARE_SEEN = [("load", "level", 20), ("store", "state", "EMPTYING"), ("store", "total", -7),
             ("store", "level", 31), ("store", "state", "FILLING"), ("store", "parts[2]", 65535),
             ("load", "parts[2]", 65535), ("load", "level", 31), ("store", "level", 32),
             ("store", "high", 22)]


def data_packet(addr, value):
    """Returns a data packet of ETMv3 as coded in IHI 0014Q 7.8: 0b00A0SS10, the address in five bytes, the
    value."""
    size, code = next((n, c) for n, c in ((0, 0), (1, 1), (2, 2), (4, 3)) if value < 1 << 8 * n)
    header = bytes([2 | code << 2 | (0x20 if addr is not None else 0)])
    where = b""
    if addr is not None:
        where = bytes([*(addr >> shift & 127 | 128 for shift in (0, 7, 14, 21)), addr >> 28])
    return header + where + value.to_bytes(size, "little")


def bare_capture(folder, values=True):
    """Writes a capture of an ETMv3, which the recorder cannot make."""
    folder.mkdir(exist_ok=True)
    (folder / "tank.c").write_text("#define BARE\n" + TANK)
    (folder / "start.s").write_text(".arch armv7-a\n.arm\n.globl _start\n_start:\n" +
                                    "".join(f"{insn}\n" for insn, _ in BARE) + "b _start\n")
    program = folder / "bare"
    subprocess.run([A32, "-g", "-nostdlib", "-static", "-o", program, folder / "start.s", folder / "tank.c"],
                   check=True, capture_output=True)
    table = subprocess.run([A32.replace("gcc", "nm"), program], capture_output=True, text=True,
                           check=True).stdout
    at = {line.split()[2]: int(line.split()[0], 16) for line in table.splitlines()}
    trace = bytes(5) + b"\x80\x08\x21" + at["_start"].to_bytes(4, "little")
    for _, transfers in BARE:
        trace += b"\x84" + b"".join(data_packet(None if offset is None else at["tank"] + offset,
                                                value if values else 0) for offset, value in transfers)
    (folder / "trace.bin").write_bytes(trace)
    (folder / "bare.ini").write_text(
        "[capture]\nfile=trace.bin\nframing=none\n[source etm]\nprotocol=etmv3\nid=0x10\ncore=Cortex-A7\n"
        f"ETMCR=0x{0xc if values else 8:08x}\nETMIDR=0x410cf250\nETMCCER=0x34000000\n"
        "[image bare]\nelf=bare\n")
    return folder / "bare.ini"


def check_etm3(folder):
    """Checks the data trace of an ETMv3, which does not distinguish loads from stores: the instructions
    do."""
    capture = bare_capture(folder / "etm3")
    names = ("level", "state", "total", "parts[2]", "high")
    rows = watched(capture, *(f"{kind}:tank.{name}" for kind in ("load", "store") for name in names))
    got = [(row["event"], row["watch"].partition(".")[2], row.get("name", row["value"])) for row in rows]
    assert got == BARE_SEEN, got
    # where addresses alone are traced, accesses are seen and their values are not
    capture = bare_capture(folder / "etm3", values=False)
    rows = watched(capture, "store:tank.level")
    assert len(rows) == 2 and not any("value" in row for row in rows), rows
    v = spec(folder, "in v: Events[Int]\nin u: Events[Unit]\nout v\nout count(u) as n\n")
    words = ["monitor", "-a", "-f", "jsonl", "--spec", v, "--bind", "v=store:tank.level", "--bind",
             "u=store:tank.level"]
    done = run(*words, capture)
    assert "its value is unknown and it is ignored" in done.stderr and '"value":"2"' in done.stdout, done
    off = capture.read_text().replace("ETMCR=0x00000008", "ETMCR=0x00000000")
    capture.write_text(off)
    done = run(*words, capture, codes=(2,))
    assert "belongs to a data trace" in done.stderr, done
    return f"{len(got)} accesses"


def check_ports(folder):
    """Checks raw writes, as unsigned numbers and as floats."""
    (folder / "raw.c").write_text("""#include <stdint.h>
volatile uint32_t ports[8];
int main(void)
{
    for (int i = 0; i < 50; i++) {
        float f = (float)i / 4 - 3;
        __builtin_memcpy((void *)&ports[1], &f, 4);
        ports[2] = (uint32_t)-i;
        *(volatile uint8_t *)&ports[3] = (uint8_t)(i * 9);
    }
    return 0;
}
""")
    capture = record(folder, folder / "raw.c", "--itm", "ports")
    text = "in f: Events[Float]\nin i: Events[Int]\nin b: Events[Int]\nin u: Events[Unit]\n" \
        "out f\nout i\nout b\nout count(u) as u\n"
    rows = monitor(capture, "-a", "--spec", spec(folder, text), "--bind", "f=itm:1", "--bind", "i=itm:2",
                   "--bind", "b=itm:3", "--bind", "u=itm:2")
    of = {name: [row["value"] for row in rows if row["output"] == name] for name in "fibu"}
    assert [float(x) for x in of["f"]] == [i / 4 - 3 for i in range(50)], of["f"]
    assert [int(x) for x in of["i"]] == [-i & 0xffffffff for i in range(50)]
    assert [int(x) for x in of["b"]] == [i * 9 & 255 for i in range(50)] and of["u"][-1] == "50"
    # a port that is never written to: said, for each such place, and only for these
    words = ["monitor", "-a", "--spec", spec(folder, text), "--bind", "f=itm:1", "--bind", "i=itm:7",
             "--bind", "b=itm:3", "--bind", "u=itm:2", capture]
    for each in ([], ["--per-core"]):
        told = [line for line in run(*words, *each).stderr.splitlines() if "the trace has no event" in line]
        assert len(told) == 1 and "'itm:7'" in told[0], told
    return f"{len(rows)} results"


def check_stm(folder):
    """Checks that each event of an STM has the time attached to it, whichever master wrote it."""
    capture = record(folder, NAMED, "--stm", "channels", defines=["-DCHANNELS"])
    want = [(time, row["arguments"][0]) for time, row in decoded(capture) if row.get("event") == "nested"]
    text = spec(folder, "in v: Events[Int]\nin b: Events[Unit]\nin c: Events[Int]\n"
                "out v\nout count(b) as b\nout c\n")
    rows = monitor(capture, "-a", "--spec", text, "--bind", "v=value:nested", "--bind", "b=begin:inner",
                   "--bind", "c=stm:1")
    assert [int(row["value"]) for row in rows if row["output"] == "v"] == [value for _, value in want]
    assert max(int(row["value"]) for row in rows if row["output"] == "b") == 3
    raw = [row for row in rows if row["output"] == "c"]
    assert len(raw) > len(want)
    masters = {row["value"] for _, row in decoded(capture) if row["type"] == "Val"}
    master = int(min(masters), 16) >> 16
    text = spec(folder, "in c: Events[Int]\nout c\n")
    own, other = (monitor(capture, "-a", "--spec", text, "--bind", f"c=stm:{number}:1")
                  for number in (master, master + 1))
    assert own and not other
    return f"{len(raw)} writes"


def uncertain(rows):
    return sum(bool(row.get("uncertain")) for row in rows)


def check_cores(folder):
    """Checks values beside places of execution: each number of calls equals that of spans at the end and is
    certain, and a value in doubt names its reason."""
    capture = record(folder, f"{EXAMPLES}/motor.c", "--itm", "itm_ports")
    text = spec(folder, "in call: Events[Unit]\nin v: Events[Float]\nout count(call) as calls\n"
                "out count(v) as n\ndef ahead = count(call) - count(v)\nout ahead\n")
    words = ["-a", "--spec", text, "--bind", "call=entry:control", "--bind", "v=value:speed"]
    rows = monitor(capture, *words)
    last = {row["output"]: row for row in rows}
    assert last["calls"]["value"] == last["n"]["value"] == "300" and not last["n"].get("uncertain"), last
    assert {row["core"] for row in rows if "core" in row} == {"cpu_0", "ITM"}
    assert all(row["value"] in ("0", "1") or row.get("uncertain") for row in rows
               if row["output"] == "ahead")
    assert all({x["watch"] for x in row["doubt"]} == {"entry:control", "value:speed"} for row in rows
               if row.get("uncertain"))
    # Where timestamps are rare, more is in doubt.
    capture = record(folder, f"{EXAMPLES}/motor.c", "--itm", "itm_ports", clock=["--timestamps=2000"])
    doubts = [uncertain(rows), uncertain(monitor(capture, *words, codes=(0, 1)))]
    device = capture / "device_ITM.ini"
    text = device.read_text()
    tcr = re.search(r"ITMTCR\(0xE80\)=0x(\w+)", text)[1]
    device.write_text(text.replace(tcr, f"{int(tcr, 16) & ~0xc00:08x}"))
    doubts.append(uncertain(monitor(capture, *words, codes=(0, 1))))
    assert doubts[0] < min(doubts[1:]), doubts
    return f"{doubts} of {len(rows)} results in doubt"


def check_loss(folder):
    """Checks that results which depend on what an ITM overflow lost are uncertain after it."""
    capture = record(folder, f"{EXAMPLES}/motor.c", "--itm", "itm_ports")
    trace = capture / "trace_itm.bin"
    listed = run("list", "-q", "--packets", capture).stdout.splitlines()
    offsets = [int(line.split()[0]) for line in listed if " itm_" in line]
    whole = trace.read_bytes()
    middle = len(offsets) // 2
    trace.write_bytes(whole[:offsets[middle]] + b"\x70" + whole[offsets[middle + 40]:])
    text = spec(folder, "in v: Events[Float]\nout count(v) as n\nout v\n")
    rows = monitor(capture, "-a", "--spec", text, "--bind", "v=value:speed")
    counts = [row for row in rows if row["output"] == "n"]
    assert not counts[1].get("uncertain") and counts[-1]["uncertain"] and int(counts[-1]["value"]) < 300
    assert not [row for row in rows if row["output"] == "v"][-1].get("uncertain")
    return f"{counts[-1]['value']} of 300 values"


def check_errors(folder):
    capture = record(folder, f"{EXAMPLES}/motor.c", "--itm", "itm_ports")
    rows = [("Events[Float]", "value:sped", "has an event with this name; there are 'set point', "),
            ("Events[Int]", "value:speed", "the place value:speed gives a Unit or a Float"),
            ("Events[Float]", "value:set point", "gives a Unit, an Int or a Bool"),
            ("Events[Float]", "entry:control", "gives a Unit or an Int"),
            ("Events[Bool]", "begin:control", "gives a Unit or an Int"),
            ("Events[String]", "value:speed", "events have no text"),
            ("Events[Int]", "itm:256", "a stimulus port, 0 to 255"),
            ("Events[Int]", "dwt:4", "a comparator with data trace, 0 to 3"),
            ("Events[Int]", "dwt:0.size", "a comparator with data trace, 0 to 3"),
            ("Events[Int]", "stm:1", "the capture has none"),
            ("Events[Int]", "text:none", "or any other event of this kind")]
    for kind, place, text in rows:
        one = spec(folder, f"in v: {kind}\nout v\n")
        got = run("monitor", "--spec", one, "--bind", f"v={place}", capture, codes=(2,))
        assert text in got.stderr and not got.stdout, (place, got.stderr)
    v = spec(folder, "in v: Events[Int]\nout v\n")
    got = run("monitor", "--clock", "cycles", "--spec", v, "--bind", "v=itm:1", capture, codes=(2,))
    assert got.stderr and not got.stdout, got
    (capture / "trace_itm.bin").write_bytes(b"")
    got = run("monitor", "--spec", v, "--bind", "v=itm:1", capture, codes=(2,))
    assert "the capture has none with trace" in got.stderr, got
    shutil.rmtree(capture)
    run("record", "-q", "-o", capture, "--itm", "itm_ports", "--", folder / "program")
    got = run("monitor", "--spec", v, "--bind", "v=itm:1", capture, codes=(2,))
    assert "has no timestamps" in got.stderr, got
    return f"{len(rows) + 3} refused"


def main():
    missing = next((f"needs {tool}" for tool in (A64, "qemu-aarch64") if not shutil.which(tool)), None)
    cases = [(f"{check.__name__[6:]}, {'bug' if bug else 'no bug'}", check, bug)
             for check in (check_control, check_level, check_boot) for bug in (False, True)]
    cases += [("variables", check_variables), ("variables that cannot be are refused", check_variable_errors)]
    cases += [("texts", check_texts), ("variables 64 KiB apart", check_far)]
    cases += [("ports", check_ports), ("STM", check_stm), ("beside cores", check_cores),
              ("lost trace", check_loss), ("what cannot be is refused", check_errors)]
    with tempfile.TemporaryDirectory() as name:
        for title, check, *rest in cases:
            tap.case(title, missing, lambda check=check, rest=rest: check(pathlib.Path(name), *rest))
        tap.case("variables by the data trace of an ETMv3", None if shutil.which(A32) else f"needs {A32}",
                 lambda: check_etm3(pathlib.Path(name)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
