#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a run which ends while its machine code is made, by itself or by a signal, leaves no temporary
file, and that one whose compiler crashes continues as bytecode. Prints TAP.

usage: test_native_ends.py COMMAND"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from parts import missing_parts  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, skip  # noqa: E402  pylint: disable=wrong-import-position

SPEC = "in x: Events[Int]\nout x + 1 as y\n"
PATIENCE_S = 300


def until(condition):
    """Waits for a condition, for PATIENCE_S at most. Returns its last result."""
    end = time.monotonic() + PATIENCE_S
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.002)
    return found


class Run:
    """A run of a specification, with its own folder for temporary files."""

    def __init__(self, command, folder, engine):
        self.temporary = pathlib.Path(tempfile.mkdtemp(dir=folder))
        spec = folder / "s.tessla"
        spec.write_text(SPEC)
        self.process = subprocess.Popen(
            [command, "tessla", "--engine", engine, "--spec", spec], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(self.temporary)})
        self.process.stdin.write(b"1: x = 1\n")
        self.process.stdin.flush()
        self.compiles = until(lambda: any(self.temporary.iterdir()))

    def compiler(self):
        """Returns the ID of the process that compiles, or None."""
        number = self.process.pid
        for task in pathlib.Path(f"/proc/{number}/task").iterdir():
            children = (task / "children").read_text().split()
            if children:
                return int(children[0])
        return None

    def end(self):
        output, errors = self.process.communicate(b"2: x = 2\n", timeout=PATIENCE_S)
        return output.decode(), errors.decode()

    def left(self):
        return os.listdir(self.temporary)


def killed(command, folder, engine, number):
    run = Run(command, folder, engine)
    run.process.send_signal(number)
    run.process.wait(PATIENCE_S)
    until(lambda: not run.left())
    run.process.communicate()
    check(f"{engine}, {number.name} while it compiles: nothing is left",
          run.compiles and run.process.returncode == -number and not run.left(), run.left())


def ended(command, folder):
    run = Run(command, folder, "background")
    output, errors = run.end()
    check("background, the end while it compiles: all results, nothing is left",
          run.compiles and (run.process.returncode, output, errors) == (0, "1: y = 2\n2: y = 3\n", "")
          and not run.left(), [output, errors, *run.left()])


def crashed(command, folder, engine):
    run = Run(command, folder, engine)
    compiler = run.compiler()
    if compiler:
        os.kill(compiler, signal.SIGSEGV)
    output, errors = run.end()
    told = "no machine code" in errors if engine == "native" else errors == ""
    check(f"{engine}, the compiler crashes: the results of bytecode, nothing is left",
          compiler and run.process.returncode == 0 and output == "1: y = 2\n2: y = 3\n" and told
          and not run.left(), [output, errors, *run.left()])


def main():
    command = str(pathlib.Path(sys.argv[1]).resolve())
    # In the background of a script the signal is ignored, and children would inherit that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if "gccjit" in missing_parts(command):
        skip("ends of runs that compile", missing_parts(command)["gccjit"])
        return finish()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for engine in ("native", "background"):
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
                killed(command, folder, engine, number)
            crashed(command, folder, engine)
        ended(command, folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
