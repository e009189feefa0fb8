#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks software trace of recorded programs: ITM and DWT trace of stores to stimulus ports and of accesses
to variables agrees with what the program itself prints; A64, T32, dynamic, position-independent, several
threads, frames and streams. Prints TAP.

usage: run_software.py CORETAP PLUGIN SOURCE"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402

CORETAP, PLUGIN, SOURCE = (os.path.abspath(path) for path in sys.argv[1:4])
A64, T32 = "aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc"
WATCH = ["--itm", "ports", "--watch-data", "speed", "--watch-data", "level"]
BUILDS = [("A64, static", A64, ["-O1", "-static"]), ("A64, dynamic, position-independent", A64, ["-O2"]),
          ("A64, static, position-independent", A64, ["-O2", "-static-pie"]),
          ("T32, static", T32, ["-O1", "-static", "-mthumb"]), ("A32, dynamic", T32, ["-O1", "-marm"])]


def build(folder, name, compiler, options):
    program = folder / re.sub(r"\W+", "_", name)
    subprocess.run([compiler, "-pthread", *options, "-o", program, SOURCE], check=True)
    return program


def record(program, capture, *options, arguments=(), check=True):
    shutil.rmtree(capture, ignore_errors=True)
    return subprocess.run([CORETAP, "record", "-q", "-o", capture, *options, "--", program, *arguments],
                          capture_output=True, text=True, check=check, timeout=300,
                          env={**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN})


def elements(capture):
    """Returns the ITM elements as words, those of global timestamps as numbers."""
    text = subprocess.run([CORETAP, "list", "-q", "--elements", capture], capture_output=True, text=True,
                          check=True, timeout=300).stdout
    rows = [dict(word.split("=") for word in line.split()[3:]) for line in text.splitlines()
            if line.split()[2:3] == ["itm_trace"]]
    return [int(row["ts"], 16) if row["type"] == "ts_global" else row for row in rows]


def groups(rows):
    """Returns the elements before each global timestamp."""
    group = []
    for row in rows:
        if isinstance(row, int):
            yield row, group
            group = []
        else:
            group.append(row)
    assert not group, group


def value_of(group, which):
    """Returns the data of one access, whose halves come in turn."""
    parts = [row["data"] for row in group if which(row)]
    return sum(len(part) for part in parts) // 2, "".join(reversed(parts)).lstrip("0") or "0"


def accesses(rows):
    """Returns each access that the program prints, with its time and the PC of a variable's."""
    for time, group in groups(rows):
        if group[0]["type"] == "swit":
            size, data = value_of(group, lambda row: True)
            yield time, None, f"port {int(group[0]['src'], 16)} {size} {data}"
            continue
        descs = [int(row["desc"], 16) for row in group]
        assert descs == descs[:3] * (len(descs) // 3), group
        number = (descs[0] - 8) // 2
        assert descs[:2] == [8 + 2 * number, 9 + 2 * number], group
        size, data = value_of(group, lambda row: int(row["desc"], 16) >= 16)
        yield time, int(group[0]["data"], 16), f"{'write' if descs[2] & 1 else 'read'} {number} {size} {data}"


def halves(lines):
    """Returns the output for an access of eight bytes, which may be two of four in an A32 program."""
    for line in lines:
        what, number, size, data = line.split()
        if size != "8":
            yield line
            continue
        data = data.zfill(16)
        yield f"{what} {number} 4 {data[8:].lstrip('0') or '0'}"
        yield f"{what} {int(number) + (what == 'port')} 4 {data[:8].lstrip('0') or '0'}"


def function(program, compiler, name):
    """Returns the address of a function, and the one after it."""
    text = subprocess.run([compiler.replace("-gcc", "-nm"), "-S", program], capture_output=True, text=True,
                          check=True).stdout
    low, size = re.search(rf"^(\w+) (\w+) [tT] {name}$", text, re.M).groups()
    return int(low, 16) & ~1, int(low, 16) + int(size, 16)


def check_build(folder, name, compiler, options):
    program = build(folder, name, compiler, options)
    said = record(program, folder / "capture", *WATCH).stdout.splitlines()
    got = list(accesses(elements(folder / "capture")))
    assert len(said) == 300 and list(halves(said)) == list(halves(line for _, _, line in got)), (said, got)
    times = [time for time, _, _ in got]
    assert times == sorted(times)
    if "-static" in options:
        low, high = function(program, compiler, "work")
        assert all(pc is None or low <= pc < high for _, pc, _ in got)
    return f"{len(got)} accesses"


WIDE = '''#include <stdint.h>
uint32_t all[8] __attribute__((aligned(16)));
__asm__(".globl middle\\n.type middle,%object\\n.size middle,6\\n.set middle,all+6");
int main(void)
{
    __asm__ volatile("movi v0.16b, #0x5a\\n str q0, [%0]\\n ldr x1, [%0, #8]\\n"
                     "strb w1, [%0, #11]\\n strb w1, [%0, #12]"
                     : : "r"(all) : "v0", "x1", "memory");
    return 0;
}
'''


def check_wide(folder):
    """Checks an access that covers more than the variable: the part in the variable is traced."""
    (folder / "wide.c").write_text(WIDE)
    subprocess.run([A64, "-static", "-o", folder / "wide", folder / "wide.c"], check=True)
    record(folder / "wide", folder / "capture", "--watch-data", "middle")
    got = [line for _, _, line in accesses(elements(folder / "capture"))]
    assert got == ["write 0 2 5a5a", "write 0 4 5a5a5a5a", "read 0 4 5a5a5a5a", "write 0 1 5a"], got
    return got


STM = '''#include <pthread.h>
#include <stdint.h>
volatile uint8_t stm[400 * 256];
#define STORE(bits, channel, at, value) *(volatile uint##bits##_t *)&stm[(channel)*256 + (at)] = (value)
static void *work(void *user)
{
    const unsigned first = user ? 300 : 2;
    for (unsigned i = 0; i < 300; i++) {
        STORE(8, first, 0x18, i);
        STORE(16, first + 1, 0x10, i);
        STORE(32, first + 1, 0x00, 0xdead0000 + i);
        STORE(64, first, 0x88, 0x1122334455660000 + i);
        STORE(32, first, 0x60, i);
        STORE(32, first, 0xf8, i);
        STORE(32, first, 0x28, i); /* to no packet */
    }
    return user;
}
int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, 0, work, &thread))
        return 2;
    work(0);
    return pthread_join(thread, 0);
}
'''


def check_stm(folder, *options):
    """Checks two cores with an STM: each master has its stores in order, by the address that each went to."""
    (folder / "stm.c").write_text(STM)
    subprocess.run([A64, "-static", "-pthread", "-o", folder / "stm", folder / "stm.c"], check=True)
    record(folder / "stm", folder / "capture", "--timestamps=100", "--stm", "stm", *options)
    text = subprocess.run([CORETAP, "list", "-q", "--elements", folder / "capture"], capture_output=True,
                          text=True, check=True, timeout=300).stdout
    rows = [line.split(" sw_trace ")[1] for line in text.splitlines() if " sw_trace " in line]
    times = [int(match, 16) for match in re.findall(r" ts=(\w+)", "\n".join(rows))]
    assert times == sorted(times) and len(times) == 2 * 3 * 300
    for first in (2, 300):
        mine = [re.sub(r" ts=\w+", " ts", row) for row in rows
                if int(re.search(r"chan=(\w+)", row)[1], 16) // 256 == first // 256]
        masters = {row.split()[0] for row in mine}
        assert len(masters) == 1, masters
        expected = []
        for i in range(300):
            low, high = (f"{masters.copy().pop()} chan={channel:x}" for channel in (first, first + 1))
            expected += [f"{low} data={i & 255:02x}", f"{high} data={i:04x} ts",
                         f"{high} data={0xdead0000 + i:08x} marker=1 ts",
                         f"{low} data={0x1122334455660000 + i:016x} marker=1", f"{low} marker=1 ts",
                         f"{low} data={i & 255:02x} trig=1"]
        assert mine == expected, (mine, expected)
    return f"{len(rows)} elements"


def check_same_trace(folder):
    """Checks that the trace of the cores does not depend on what is watched."""
    program = build(folder, "same", A64, ["-O1", "-static"])
    traces = []
    for options in ([], WATCH, [*WATCH, "--each"]):
        record(program, folder / "capture", "--cycle-count", "--timestamps=100", *options)
        traces.append([(folder / "capture" / name).read_bytes() for name in ("trace_0.bin", "trace_itm.bin")
                       if (folder / "capture" / name).exists()])
    assert traces[0] == traces[1][:1] and traces[1] == traces[2] and len(traces[1]) == 2
    return f"{len(traces[0][0])} bytes of the core, {len(traces[1][1])} of the ITM"


def check_frames(folder):
    """Checks trace in one buffer with the cores, and in a stream."""
    program = build(folder, "frames", A64, ["-O1", "-static"])
    alone = record(program, folder / "capture", *WATCH, "--sync-period", "8").stdout
    expected = elements(folder / "capture")
    assert record(program, folder / "capture", "--framed", "--ids", "1,3", *WATCH).stdout == alone
    assert elements(folder / "capture") == expected
    record(program, folder / "capture", "--stream", folder / "stream", *WATCH)
    ini = (folder / "capture" / "live.ini").read_text()
    (folder / "stream.ini").write_text(ini.replace("file = -", f"file = {folder / 'stream'}"))
    assert elements(folder / "stream.ini") == expected
    return f"{len(expected)} elements"


def check_threads(folder):
    """Checks two threads: the writes of each port are in order, and time does not go back."""
    program = build(folder, "threads", A64, ["-O1", "-static"])
    said = record(program, folder / "capture", "--timestamps=100", *WATCH,
                  arguments=["2"]).stdout.splitlines()
    got = list(accesses(elements(folder / "capture")))
    times = [time for time, _, _ in got]
    assert times == sorted(times)
    for first in (0, 32):
        mine = [line for line in said if first <= int(line.split()[1]) < first + 16]
        assert mine == [line for _, _, line in got if first <= int(line.split()[1]) < first + 16]
    assert len(said) == len(got) == 400
    return f"{len(got)} writes"


def check_errors(folder):
    program = build(folder, "errors", A64, ["-O1", "-static"])
    bare = folder / "bare"
    subprocess.run(["aarch64-linux-gnu-strip", "-o", bare, program], check=True)
    five = [word for _ in range(5) for word in ("--watch-data", "speed")]
    for options, what, text in (
            (["--itm", "nothing"], program, "'nothing': this is not a variable of"),
            (["--itm", "main"], program, "'main': this is not a variable of"),
            (["--itm", "ports"], bare, "which has no symbols"),
            (["--itm", "all"], program, "an ITM has 256 stimulus ports"),
            (five, program, "a DWT has no more comparators")):
        result = record(what, folder / "capture", *options, check=False)
        assert result.returncode == 2 and text in result.stderr, (options, result)
        assert not (folder / "capture").exists()
    return "5 refused"


def main():
    missing = next((tool for tool in (A64, T32, "qemu-aarch64", "qemu-arm") if not shutil.which(tool)), None)
    missing = missing and f"needs {missing}"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for row in BUILDS:
            tap.case(row[0], missing, lambda row=row: check_build(folder, *row))
        for title, check in (("the cores' trace is the same", check_same_trace),
                             ("an access that covers more", check_wide),
                             ("STM, two cores", check_stm),
                             ("STM beside an ITM, a buffer each",
                              lambda folder: check_stm(folder, "--watch-data", "stm")),
                             ("STM beside an ITM, in frames",
                              lambda folder: check_stm(folder, "--framed", "--watch-data", "stm")),
                             ("frames and streams", check_frames), ("two threads", check_threads),
                             ("what cannot be is refused", check_errors)):
            tap.case(title, missing, lambda check=check: check(folder))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
