#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a solver that takes long. On a terminal a line reports what is being done; in a pipe there is none.
When the solver gives up, the message names what to remove from the model. Prints TAP.

usage: test_wcet_wait.py COMMAND COMPILER...

The solver is a library of this test, which waits and reports that it ran out of time."""
import concurrent.futures
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position
from parts import missing_parts  # noqa: E402  pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = str(pathlib.Path(sys.argv[1]).resolve())
COMPILER = sys.argv[2:]
SECONDS = 3
UNUSED = """newModel deleteModel loadProblem setObjSense setInteger setParameter solve setMaximumSeconds
isNodeLimitReached isSecondsLimitReached isProvenOptimal getColSolution"""
CLP_UNUSED = """deleteModel loadProblem setMaximumSeconds setLogLevel setOptimizationDirection
primalColumnSolution"""
SOLVER = "\n".join([
    "#include <unistd.h>",
    *(f"void Cbc_{name}(void) {{}}" for name in UNUSED.split()),
    *(f"void Clp_{name}(void) {{}}" for name in CLP_UNUSED.split()),
    "void *Clp_newModel(void) { static int model; return &model; }",
    f"int Clp_initialSolve(void *model) {{ (void)model; return (int)sleep({SECONDS}); }}",
    "int Clp_status(void *model) { (void)model; return 3; }",
    "double Clp_objectiveValue(void *model) { (void)model; return 0; }",
])
PROGRAM = """static volatile int sum;
static __attribute__((noinline)) void leaf(int i) { for (int k = 0; k < 9; k++) sum += i & 3 ? i : k; }
__attribute__((noinline)) void work(int n) { for (int i = 0; i < n; i++) leaf(i); }
int main(int argc, char **argv) { (void)argv; work(10 * argc); return 0; }
"""


def prepare(folder):
    """Makes the capture. Returns why there can be none, or None."""
    for tool in ("aarch64-linux-gnu-gcc", "qemu-aarch64"):
        if not shutil.which(tool):
            return f"{tool} is missing"
    if "cbc" in missing_parts(COMMAND):
        return "CBC is missing"
    (folder / "solver.c").write_text(SOLVER)
    (folder / "task.c").write_text(PROGRAM)
    for line in ([*COMPILER, "-shared", "-fPIC", "-w", "-o", "solver.so", "solver.c"],
                 ["aarch64-linux-gnu-gcc", "-O1", "-static", "-o", "task", "task.c"],
                 [COMMAND, "record", "-q", "--cycle-count", "-o", "capture", "--", "./task"]):
        subprocess.run(line, cwd=folder, check=True)
    return None


def run(folder, terminal, *options):
    """Runs wcet. Returns its standard error and the exit code."""
    reader, writer = pty.openpty() if terminal else os.pipe()
    env = {**os.environ, "CORETAP_CBC": str(folder / "solver.so")}
    with subprocess.Popen([COMMAND, "wcet", *options, "--entry", "work", "capture"], cwd=folder, env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=writer) as process:
        os.close(writer)
        text = b""
        try:
            while piece := os.read(reader, 4096):
                text += piece
        except OSError:  # this is how a terminal reports that the other side is closed
            pass
        code = process.wait()
    os.close(reader)
    return text.decode(), code


def check_all(folder):
    # At the same time, because each of them only waits.
    runs = ((True,), (True, "--seconds", "90"), (False,), (True, "--quiet"))
    with concurrent.futures.ThreadPoolExecutor(len(runs)) as pool:
        (shown, code), (limited, _), (piped, _), (quiet, _) = pool.map(lambda more: run(folder, *more), runs)
    tap.check("the exit code is that of an error", code == 2, shown)
    line = "\rlooking for the longest path, 0:01; at most 0:30 of processor time\x1b[K"
    tap.check("a terminal shows what is done, and the limit", line in shown, repr(shown))
    tap.check("the line is gone before the message", "\r\x1b[Kcoretap: " in shown, repr(shown))
    tap.check("--seconds is the limit", "at most 1:30 of" in limited and "solved in 90 s" in limited,
              repr(limited))
    tap.check("a pipe has the message alone", piped.startswith("coretap: work: the model could not be") and
              piped.count("\n") == 1, repr(piped))
    tap.check("it names what makes the model smaller", "'measured leaf' (" in piped, piped)
    tap.check("no line with --quiet", "looking" not in quiet, repr(quiet))


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        why = prepare(folder)
        if why:
            tap.skip("a solver that takes long", why)
        else:
            check_all(folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
