#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how long a user waits for each command on traces of real programs. Prints processor time, its
ratio to that of `stats --level timing` on the same trace, time of the clock, and peak memory.

usage: run_waits.py CORETAP PLUGIN BENCH SOURCE FOLDER

BENCH_ONLY is as in run_decode.py. WAITS_MB=1000 repeats each trace until it has that many MB."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from run_decode import inputs, is_real

MOST = 600  # longest time of one command, in seconds of the clock

# The input f of each specification is bound to the function that ran most often.
SPECS = {
    "count": "in f: Events[Unit]\ndef error := filter(f, count(f) > 9000000000)\nout error\n",
    "pause": "in f: Events[Unit]\ndef error := filter(f, time(f) - last(time(f), f) > 900000000000)\n"
             "out error\n",
    "order": "in f: Events[Unit]\ndef error := filter(f, time(f) < last(time(f), f))\nout error\n",
}


class Waits:
    """The commands, measured on one capture."""

    def __init__(self, coretap, capture, folder):
        self.coretap, self.capture, self.folder = coretap, capture, pathlib.Path(folder)
        self.function = self.usual_function()
        for name, text in SPECS.items():
            (self.folder / f"{name}.tessla").write_text(text)

    def usual_function(self):
        """Returns the program's own function that ran most often. Reads the output line by line, because the
        peak memory of this process counts for those that it starts, too."""
        most, name = -1, None
        with subprocess.Popen([self.coretap, "timing", "-q", "-n", "1000000", self.capture],
                              stdout=subprocess.PIPE, text=True) as timing:
            for line in timing.stdout:
                columns = line.split("\t")
                if line.startswith(("#", "lib", "ld-")) or "@plt" in line or len(columns) < 3:
                    continue
                if int(columns[2]) > most:
                    most, name = int(columns[2]), columns[0]
        return name

    def commands(self):
        """Yields names and arguments of the commands. All others are compared with the first one."""
        page = self.folder / "page.html"
        yield "stats --level timing", ["stats", "--level", "timing"]
        yield "info", ["info"]
        yield "cover", ["cover"]
        for kind in ("autofdo", "folded", "chrome"):
            yield f"profile -f {kind}", ["profile", "-f", kind]
        yield "watch", ["watch", "--at", self.function, "--at", "memcpy"]
        yield "monitor", ["monitor", "--bind", f"f=entry:{self.function}",
                          *[word for name in SPECS for word in ("--spec", self.folder / f"{name}.tessla")]]
        yield "timing", ["timing"]
        yield "wcet", ["wcet", "--entry", self.function]
        yield "report", ["report", "-o", page]

    def measure(self, arguments):
        """Returns processor time and time of the clock in seconds, peak memory in MB, and the exit code."""
        began = time.monotonic()
        child = subprocess.Popen([self.coretap, arguments[0], "-q", *arguments[1:], self.capture],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (done := os.wait4(child.pid, os.WNOHANG))[0]:
            time.sleep(0.01)
            if time.monotonic() - began > MOST:
                child.kill()
        child.returncode = os.waitstatus_to_exitcode(done[1])
        usage = done[2]
        return (usage.ru_utime + usage.ru_stime, time.monotonic() - began, usage.ru_maxrss / 1000,
                child.returncode)

    def run(self, name):
        """Prints a row for each command."""
        base = None
        for command, arguments in self.commands():
            seconds, clock, memory, code = self.measure(arguments)
            base = base or seconds
            said = "" if code == 0 else f" exit code {code}"
            print(f"{name:16} {command:22} {seconds:8.2f} s {seconds / base:6.2f} x "
                  f"{clock:8.2f} s by the clock {memory:7.0f} MB{said}", flush=True)


def lengthened(capture, size, folder):
    """Copies a capture to a folder of its own, and repeats its trace until it has the given size. Returns
    that folder."""
    made = pathlib.Path(folder) / "capture"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    for file in pathlib.Path(capture).iterdir():
        if file.name != "trace_0.bin":
            (made / file.name).symlink_to(file.resolve())
    trace = pathlib.Path(capture) / "trace_0.bin"
    with open(made / "trace_0.bin", "wb") as out:
        for _ in range(max(1, round(size / trace.stat().st_size))):
            with open(trace, "rb") as once:
                shutil.copyfileobj(once, out)
    return made


def main():
    coretap, plugin, _, source, folder = sys.argv[1:6]
    rows = inputs(coretap, plugin, source, folder)
    captures = [(name, path) for name, path in zip(rows[::2], rows[1::2])
                if is_real(name) and name.endswith("-cycles")]
    if not captures:
        print("waits: no real program with cycle counts could be recorded", file=sys.stderr)
        return 77
    size = int(os.environ.get("WAITS_MB", "0")) * 1000000
    for name, path in captures:
        with tempfile.TemporaryDirectory(dir=folder) as own:
            Waits(coretap, lengthened(path, size, own) if size else path, own).run(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
