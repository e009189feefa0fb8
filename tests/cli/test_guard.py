#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a library that uses a null pointer: exit code 2 with a message when memory ran out, else a visible
fault. Checks a file that is cut while it is read: exit code 2 with a message that says what is lost.
Prints TAP.

usage: test_guard.py COMMAND COMPILER..."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from parts import missing_parts  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, skip  # noqa: E402  pylint: disable=wrong-import-position
from tap import is_emulated, is_sanitized  # noqa: E402  pylint: disable=wrong-import-position

# A library in place of libgccjit, which is loaded when the first specification needs it.
LIBRARY = """#include <errno.h>
__attribute__((constructor)) static void fault(void)
{
    errno = %s;
    *(volatile int *)%s = 1;
}
"""
CASES = [  # file, errno, address, and whether the command ends by itself
    ("libgccjit.so.0", "ENOENT", "8", True),  # a later call may need the file
    ("libgccjit.so.0", "ENOMEM", "8", True),
    ("libother.so", "ENOMEM", "8", True),
    ("libother.so", "ENOENT", "8", False),
    ("libgccjit.so.0", "ENOENT", "0x7ffff0000", False),
]


QUICKSTART = pathlib.Path(__file__).resolve().parents[2] / "examples" / "quickstart"

# Trace of an ETMv4: a synchronisation point, then events.
TRACE = bytes(11) + b"\x80\x01\x00" + b"\x71" * (4 << 20)
CONFIG = """[capture]
file = trace.bin
framing = none
[source cpu0]
protocol = etmv4i
id = 0x10
TRCCONFIGR = 0x00000001
TRCIDR0 = 0x28000ea1
TRCIDR2 = 0x00000488
"""


def cut_while_read(name, words, file, left, lost):
    """Truncates a file while a command waits for its output to be read. At that time most of the file has not
    been used."""
    done = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    first = done.stdout.read(10)
    os.truncate(file, left)
    errors = done.communicate()[1].decode()
    fine = (first and done.returncode == 2 and f"{file}: became shorter while it was read" in errors and
            lost in errors)
    check(f"{name} is cut to {left} bytes while it is read: exit code 2, a message", fine,
          f"{done.returncode}: {errors}")


def cut_trace(command, folder):
    """Truncates the trace while several threads read the mapped file, and with one thread when there is one
    processor. The last cut is inside the file's last page: no access raises SIGBUS, and the rest reads as
    zeros."""
    trace = folder / "trace.bin"
    (folder / "trace.ini").write_text(CONFIG)
    most = len(TRACE)
    several = f"{most} of its {most} bytes are lost"
    one = "only 0 bytes are left"
    for threads, left, lost in (("1", 0, one), ("1", 5000, "only 5000 bytes are left"),
                                ("2", 0, several if len(os.sched_getaffinity(0)) > 1 else one),
                                ("1", most - 5, f"5 of its {most} bytes are lost")):
        trace.write_bytes(TRACE)
        cut_while_read(f"trace, listed by {threads} threads,",
                       [command, "list", "--packets", "-q", "--threads", threads, folder / "trace.ini"],
                       trace, left, lost)


def cut_perf(command, folder):
    """Truncates a perf.data file, whose trace is in pieces."""
    perf = folder / "perf.data"
    shutil.copytree(QUICKSTART, folder / "snapshot")
    frames = (QUICKSTART / "trace.bin").read_bytes()
    (folder / "snapshot" / "trace.bin").write_bytes(frames * (1 + (4 << 20) // len(frames)))
    subprocess.run([command, "export", "-q", "--perf", perf, folder / "snapshot"], check=True)
    cut_while_read("perf.data", [command, "list", "--packets", "-q", "--threads", "1", perf], perf, 70000,
                   "lost")


def cut_text(command, folder):
    spec, trace = folder / "copy.tessla", folder / "trace.txt"
    spec.write_text("in x: Events[Int]\nout x\n")
    text = "".join(f"{i}: x = {i}\n" for i in range(400000))
    trace.write_text(text)
    cut_while_read("a textual trace", [command, "tessla", "--spec", spec, "--trace", trace], trace, 6,
                   f"of its {len(text)} bytes are lost")


def little_memory(command):
    """Limits the memory to sizes between what the loader needs and what the command needs, so that it runs
    out."""
    if is_sanitized(command) or is_emulated(command):
        skip("little memory", "the command needs memory for more than itself")
        return
    said = []
    for size in range(8 << 20, 40 << 20, 1 << 20):
        done = subprocess.run(["sh", "-c", f"ulimit -v {size >> 10}; exec \"$@\"", "sh", command, "timing",
                               "-t", "4", QUICKSTART], capture_output=True, text=True, check=False)
        if done.returncode == 2:
            said.append(done.stderr)
        if not done.returncode:
            break
    wanted = ("out of memory", "'timing' needs more memory", "fewer --threads", "--from and --to")
    told = any(all(word in text for word in wanted) for text in said)
    check("little memory: what takes less is said", told, said)


def main():
    command, compiler = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
    little_memory(command)
    with tempfile.TemporaryDirectory() as name:
        for cut in (cut_trace, cut_perf, cut_text):
            cut(command, pathlib.Path(name))
    if "gccjit" in missing_parts(command):
        skip("faults in libraries", missing_parts(command)["gccjit"])
        return finish()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "s.tessla").write_text("in x: Events[Int]\nout x\n")
        for file, number, address, ends in CASES:
            (folder / "library.c").write_text(LIBRARY % (number, address))
            subprocess.run([*compiler, "-shared", "-fPIC", "-o", folder / file, folder / "library.c"],
                           check=True)
            done = subprocess.run([command, "tessla", "--engine", "native", "--spec", folder / "s.tessla"],
                                  input="", text=True,
                                  env={**os.environ, "CORETAP_GCCJIT": str(folder / file)},
                                  capture_output=True, check=False)
            fine = (done.returncode == 2 and "memory" in done.stderr if ends
                    else done.returncode == -signal.SIGSEGV)
            check(f"{file}, {number}, at {address}: {'exit code 2' if ends else 'a fault'}", fine, done)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
