#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each example shown by help runs, on a capture made for it.

usage: test_examples.py COMMAND [COMMAND_MPI]

All examples run in one folder, which has what they read, or another example writes it. They must end with
exit code 0 and without an error, and the files that they name must not be empty. The man page of a command
has the same lines. Prints TAP."""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position
from live import free_port, wait_for, wait_for_port  # noqa: E402  pylint: disable=wrong-import-position
from parts import missing_for, missing_parts  # noqa: E402  pylint: disable=wrong-import-position

COMMAND = pathlib.Path(sys.argv[1]).resolve()
RAW = ROOT / "examples" / "raw"
WIDTH = 79
# Commands whose examples write files that other examples read.
FIRST = ["record", "manifest", "export", "fractal run", "spec"]
PORT = "8080"
PROGRAM = """#include <stdlib.h>

static volatile int sum;

static __attribute__((noinline)) void work(int number)
{
    for (int i = 0; i < 10; i++)
        sum += (number ^ i) % 7;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < rounds; i++)
        work(i);
    return 0;
}
"""
FILES = {
    "main.c": PROGRAM,
    "count.tessla": "in call: Events[Unit]\ndef calls = count(call)\nout calls\n",
    "calls.txt": "10: call = ()\n20: call = ()\n",
    "bounds.txt": "loop main 500\n",
    "trace.ini": (RAW / "board.ini").read_text().replace("board.bin", "trace.bin"),
}
ENVIRONMENT = {**os.environ, "LC_ALL": "C", "PATH": f"{COMMAND.parent}:{os.environ['PATH']}",
               "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}
# Open MPI itself leaks memory, so leaks are not reported.
RANKS = {**ENVIRONMENT, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


def help_of(*words):
    return subprocess.run([COMMAND, *words, "--help"], capture_output=True, text=True, check=True,
                          env=ENVIRONMENT).stdout


def names_in(text):
    """Returns the commands that a help text lists."""
    listed = text.split("\nCommands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\S+(?: \S+)?)  +\S", listed, re.MULTILINE)


def examples_in(text):
    return [line.strip() for line in text.partition("\nExamples:\n")[2].splitlines()]


def all_examples(mpi):
    """Returns name -> lines of all commands and their parts. The ones that write files for others come
    first."""
    examples = {}
    for name in names_in(help_of()):
        text = help_of(name)
        parts = names_in(text) if "\nCommands:\n" in text else [name]
        examples |= {part: examples_in(help_of(*part.split())) for part in parts}
    if mpi:
        text = subprocess.run([mpi, "--help"], capture_output=True, text=True, check=True, env=RANKS)
        examples["mpi"] = examples_in(text.stdout)
    return {name: examples[name] for name in [*FIRST, *(n for n in examples if n not in FIRST)]}


def in_pages(examples):
    """Checks that the man pages contain exactly these examples."""
    pages = {}
    for name, lines in examples.items():
        pages.setdefault(name.split()[0], []).extend(lines)
    for name, lines in pages.items():
        page = (ROOT / "docs" / "man" / f"coretap-{name}.1").read_text().replace("\\-", "-")
        found = re.search(r"\.SH EXAMPLES\n\.nf\n(.*?)\n?\.fi\n", page, re.DOTALL)
        assert found and found.group(1).splitlines() == lines, f"{name}: {found and found.group(1)}"
    return f"{len(pages)} pages"


def prepare(folder):
    """Writes the files that no example makes. Returns the reason when the examples cannot run, otherwise
    None."""
    if not shutil.which("aarch64-linux-gnu-gcc") or not shutil.which("qemu-aarch64"):
        return "aarch64-linux-gnu-gcc or qemu-aarch64 is missing"
    for name, text in FILES.items():
        (folder / name).write_text(text)
    shutil.copy(RAW / "board.bin", folder / "trace.bin")
    shutil.copy(RAW / "loop-code.bin", folder)
    subprocess.run(["aarch64-linux-gnu-gcc", "-g", "-O1", "-static", "-o", "program", "main.c"], check=True,
                   cwd=folder)
    return None


def run(folder, line):
    """Runs an example in a shell, as a user would."""
    here = line.replace("perf-env", f"perf-env --library-dir {COMMAND.parent / 'src' / 'opencsd'}")
    done = subprocess.run(["bash", "-c", here], cwd=folder, env=RANKS if "mpirun" in here else ENVIRONMENT,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
    told = done.stderr.decode(errors="replace")
    assert done.returncode == 0, f"exit code {done.returncode}: {told}"
    assert "coretap: error" not in told, told
    files = re.findall(r"(?:-o|--lp|--perf|--messages) ([^- ]\S*)", line)
    empty = [name for name in files if not (folder / name).exists() or not os.path.getsize(folder / name)]
    assert not empty, f"nothing is in {empty}: {told}"
    assert done.stdout or files or told, "nothing is printed"
    return f"{len(done.stdout)} bytes printed, files: {files}"


def run_live(folder, lines, ctl):
    """Runs the examples of `live`. The pipe stays open after the program's trace, until 'ctl' stops the
    run."""
    port = str(free_port())
    recorder, live = lines[-2:]
    run_quietly = {"cwd": folder, "env": ENVIRONMENT, "stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(["bash", "-c", f"{recorder} wait"], **run_quietly):
        wait_for(folder / "stream" / "live.ini")
        with subprocess.Popen(["bash", "-c", live.replace(PORT, port)], stdout=subprocess.PIPE,
                              **run_quietly) as process, contextlib.ExitStack() as stack:
            stack.callback(process.kill)
            keep_open = stack.enter_context((folder / "pipe").open("wb"))
            assert keep_open
            wait_for_port(port)
            for line in ctl:
                run(folder, line.replace(PORT, port))
            out, err = process.communicate(timeout=300)
            assert process.returncode == 0, err.decode()
    assert b"work" in out, out
    return f"{len(out)} bytes"


def run_all(folder, examples):
    parts = missing_parts(COMMAND)
    for name, lines in examples.items():
        for line in lines:
            if "pipe" in line or PORT in line:
                continue
            tap.case(f"{name}: {line}".replace("#", "\\#"), missing_for(COMMAND, line, parts),
                     lambda line=line: run(folder, line))
    tap.case("live, and ctl", missing_for(COMMAND, PORT, parts),
             lambda: run_live(folder, examples["live"], examples["ctl"]))


def main():
    mpi = sys.argv[2] if len(sys.argv) > 2 else None
    examples = all_examples(mpi)
    bare = [name for name, lines in examples.items() if not lines]
    tap.check("each command has examples", not bare, bare)
    wide = [line for lines in examples.values() for line in lines if len(line) + 2 > WIDTH]
    tap.check("each fits the width of help", not wide, wide)
    tap.case("man pages have the same", None, lambda: in_pages(examples))
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        why = prepare(folder)
        if why:
            tap.skip("the examples run", why)
        else:
            run_all(folder, examples)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
