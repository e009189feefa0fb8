#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A library that uses a null pointer: exit code 2 with a message where memory ran out, else a fault that can
be seen. A file of trace that somebody cuts while it is read: exit code 2 with a message. Prints TAP.

usage: test_guard.py COMMAND COMPILER..."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from parts import missing_parts  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, skip  # noqa: E402  pylint: disable=wrong-import-position

# Loaded in the place of libgccjit, which is looked for when the first specification wants it.
LIBRARY = """#include <errno.h>
__attribute__((constructor)) static void fault(void)
{
    errno = %s;
    *(volatile int *)%s = 1;
}
"""
CASES = [  # file, errno, address; whether the command ends by itself
    ("libgccjit.so.0", "ENOENT", "8", True),  # which may be that of a later call
    ("libgccjit.so.0", "ENOMEM", "8", True),
    ("libother.so", "ENOMEM", "8", True),
    ("libother.so", "ENOENT", "8", False),
    ("libgccjit.so.0", "ENOENT", "0x7ffff0000", False),
]


# ETMv4: a point of synchronisation, then events.
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


def cut_while_read(command, folder, threads):
    """The listing is not read while the file becomes shorter, so that most of it is not decoded by then."""
    trace = folder / "trace.bin"
    trace.write_bytes(TRACE)
    (folder / "trace.ini").write_text(CONFIG)
    done = subprocess.Popen([command, "list", "--packets", "-q", "--threads", threads, folder / "trace.ini"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = done.stdout.read(10)
    os.truncate(trace, 0)
    errors = done.communicate()[1].decode()
    fine = first and done.returncode == 2 and "trace.bin" in errors and "shorter" in errors
    check(f"a file that is cut while it is listed, {threads} threads: exit code 2, a message", fine, errors)


def main():
    command, compiler = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
    with tempfile.TemporaryDirectory() as name:
        for threads in ("1", "2"):
            cut_while_read(command, pathlib.Path(name), threads)
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
