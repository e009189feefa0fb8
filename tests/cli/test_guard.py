#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A library that uses a null pointer: exit code 2 with a message where memory ran out, else a fault that can
be seen. Prints TAP.

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


def main():
    command, compiler = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
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
