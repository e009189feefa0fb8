#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a window gives the same whether decoding begins shortly before it, by an index beside the
capture, or at the first byte, as with standard input: random windows in a recording of several cores in
frames, for all kinds of commands. Losses concern what was decoded, so they are not compared. CT_SEED sets
the first seed, CT_COUNT the number of windows. Prints TAP.

usage: run_windows.py CORETAP PLUGIN SOURCES"""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402

CORETAP, PLUGIN = (os.path.abspath(path) for path in sys.argv[1:3])
SOURCE = pathlib.Path(sys.argv[3]).resolve() / "threads.c"
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
SEED, COUNT = int(os.environ.get("CT_SEED", "1")), int(os.environ.get("CT_COUNT", "4" if tap.WHOLE else "2"))
TIMES = 60  # the recording, one behind the other: long enough for points before a window
COMMANDS = ("cover --format data", "timing --format json", "timing --format data", "profile --format folded",
            "profile --format chrome", "watch --at context --at exception", "stats --level timing",
            "watch --format sums --at main --at context", "decode --format jsonl",
            "decode --along trace --format csv")
LOST = re.compile(r"(seconds|mb_per_s|bytes)=|lost |captures |capture |damaged |end ")
COUNTS = re.compile(r"\"?(gaps|overflows|contradictions|bad_packets|lost_bytes|no_access)\"?(=|: )\d+,?")


def record(folder):
    program, capture = folder / "program", folder / "capture"
    subprocess.run([TOOLS[0], "-O1", "-g", "-static", "-pthread", "-o", program, SOURCE], check=True)
    subprocess.run([CORETAP, "record", "-q", "--framed", "--threads", "cores", "--cycle-count", "-o", capture,
                    "--", program], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN})
    trace = (capture / "trace.bin").read_bytes()
    (capture / "trace.bin").write_bytes(trace * TIMES)
    return capture


def run(command, capture, piped=False):
    words = [CORETAP, *command, *(["--config", capture / "snapshot.ini", "-"] if piped else [capture])]
    with open(capture / "trace.bin", "rb") as trace:
        result = subprocess.run(words, stdin=trace, capture_output=True, text=True, check=False, timeout=300)
    said = result.stdout.replace(str(capture / "snapshot.ini"), str(capture))  # as it was given
    kept = [COUNTS.sub("", line) for line in said.splitlines() if not LOST.match(line)]
    return result.returncode, kept


def sums(capture, key):
    result = subprocess.run([CORETAP, "stats", "-q", "--level", "timing", capture], capture_output=True,
                            text=True, check=True)
    return int(re.search(rf"^{key}=(\d+)$", result.stdout, re.M)[1])


def check(line, capture, rng, most):
    kept = 0
    for number in range(COUNT):
        unit = rng.choice([unit for unit in most if unit == "cyc" or not line.startswith("decode")])
        begin = rng.randrange(most[unit])
        window = ["--from", f"{begin}{unit}", "--to", f"{begin + 1 + rng.randrange(most[unit] // 20)}{unit}"]
        command = [*line.split(), "-q", *window, "--threads", str(1 + number % 2)]
        whole = run(command, capture, piped=True)
        for index in ([], ["--index"]):
            assert run([*command, *index], capture) == whole, (command, index)
        kept += len(whole[1]) > 0
    assert kept, line
    return f"{COUNT} windows, {kept} with something in them"


def main():
    missing = next((tool for tool in TOOLS if not shutil.which(tool)), None)
    with tempfile.TemporaryDirectory() as folder:
        capture = None if missing else record(pathlib.Path(folder))
        # Of a stream, of which there are several.
        most = None if missing else {unit: sums(capture, key) // 3
                                     for unit, key in (("cyc", "cycles"), ("insn", "instructions"))}
        for line in COMMANDS:
            tap.case(line, missing and f"needs {missing}",
                     lambda line=line: check(line, capture, random.Random(f"{SEED} {line}"), most))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
