#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that coretap record records all threads of a program that always starts the next one before the last
one has ended, however many there are in all, and tells which processes are not in the trace. Prints TAP.

usage: test_started.py COMMAND PLUGIN PROGRAM.c    (started.c)"""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[3])
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": os.path.abspath(sys.argv[2])}
run = functools.partial(command.run, codes=None, env=ENV)
MACHINES = (("arm64", "aarch64-linux-gnu-gcc", "qemu-aarch64"),
            ("armhf", "arm-linux-gnueabihf-gcc", "qemu-arm"))
THREADS = 520 # more than are recorded at a time

def check_threads(folder, program):
    done = run(COMMAND, "record", "-o", folder / "threads", program, THREADS, 0)
    covered = run(COMMAND, "cover", "-q", "--format", "json", "--all-functions", folder / "threads")
    counts = {function["name"]: function["count"] for name in json.loads(covered.stdout)["programs"]
              for function in name["functions"]}
    tap.check("each thread is in the trace, without a warning",
              counts.get("in_thread") == THREADS and "warning" not in done.stderr,
              f"{counts.get('in_thread')} {done.stderr}")
    tap.check("nothing is said of processes when there were none", "process" not in done.stderr
              and "exec" not in done.stderr, done.stderr)


def check_plugin(folder, program):
    done = subprocess.run([COMMAND, "record", "-o", folder / "empty", program, "0", "0"], capture_output=True,
                          text=True, check=False, env={**ENV, "CORETAP_TRACE_PLUGIN": ""}, timeout=300)
    tap.check("an empty CORETAP_TRACE_PLUGIN counts as none", "is not at ," not in done.stderr, done.stderr)


def check_processes(folder, program, name):
    done = run(COMMAND, "record", "-o", folder / f"one-{name}", program, 0, 1)
    tap.check(f"{name}: a process is told, not its children, and no exec that fails",
              "1 process that it started is not in the trace" in done.stderr and "exec" not in done.stderr,
              done.stderr)
    if not os.access("/bin/true", os.X_OK):
        tap.skip(f"{name}: exec", "/bin/true is missing")
        return
    done = run(COMMAND, "record", "-o", folder / f"many-{name}", program, 0, 3, "/bin/true")
    tap.check(f"{name}: several processes and exec are told",
              "3 processes that it started are not in the trace" in done.stderr
              and "it replaced itself by another program (exec)" in done.stderr and done.returncode == 0,
              done.stderr)


def main():
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for name, *tools in MACHINES:
            missing = [tool for tool in tools if not shutil.which(tool)]
            if missing:
                tap.skip(name, " and ".join(missing) + ": missing")
                continue
            program = folder / name
            subprocess.run([tools[0], "-O2", "-static", "-pthread", "-o", program, SOURCE], check=True)
            check_processes(folder, program, name)
            if name == "arm64":
                check_plugin(folder, program)
                check_threads(folder, program)
    return tap.finish()


sys.exit(main())
