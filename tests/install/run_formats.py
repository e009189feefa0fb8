#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that programs built against the installed library print what the command prints, to the byte, for a
capture recorded here. Prints TAP.

usage: run_formats.py BUILD"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import run_install  # noqa: E402  pylint: disable=wrong-import-position

TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
MESSAGES = HERE.parent / "cli/cases/fractal-log.messages"
TRACED = """
#include <stdlib.h>
__attribute__((noinline)) static int even(int n) { return n + 1; }
__attribute__((noinline)) static int odd(int n) { return n & 2 ? n - 1 : n; }
__attribute__((noinline)) static int never(int n) { return n * 3; }
int main(int argc, char **argv)
{
    int sum = 0;
    for (int n = 0; n < 100 + argc; n++)
        sum += n % 2 ? odd(n) : even(n);
    return argc > 100 ? never(atoi(argv[1])) : sum == 0;
}
"""
# Each program, and the command line that prints the same.
PROGRAMS = {"lcov": ["cover", "-f", "lcov"], "timing_text": ["timing"],
            "list_elements": ["list", "--elements"], "info_json": ["info", "-f", "json"],
            "report": ["report"], "profile_folded": ["profile", "-f", "folded"],
            "profile_callgrind": ["profile", "-f", "callgrind"], "decode_merge": ["decode", "--merge"],
            "live_timing": ["timing"]}
# Programs that use a library other than the core.
OF_LIBRARY = {"live_timing": "coretap-live"}
# Programs that write an event log: their arguments, and the command line that writes the same log.
FRACTAL = {"fractal_run": ("{log} {program}", "fractal run -q -o {log} --point main -- {program}"),
           "fractal_replay": ("{messages} {log}",
                              "fractal replay --messages {messages} --pgd 1000 --va-bits 39 -o {log}")}
# Programs that also run on the example's two sources with timestamps.
OF_SOURCES = ("decode_merge",)


def record(build, folder):
    source, program, capture = folder / "traced.c", folder / "traced", folder / "capture"
    source.write_text(TRACED)
    subprocess.run([TOOLS[0], "-g", "-O1", "-static", "-o", program, source], check=True)
    subprocess.run([build / "coretap", "record", "-q", "-o", capture, "--cycle-count", "--", program],
                   check=True)
    return capture


def compiled(tap, folder, package, name, library):
    program = folder / name
    example = HERE.parent.parent / "examples" / f"{name}.c"
    source = example if example.exists() else HERE / f"{name}.c"
    tap.run(f"{name} compiles", ["cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o",
                                 program, source, *package.flags(library, "shared")])
    return program


def compare_logs(tap, build, folder, package):
    """Checks that the FRACTAL logs of programs equal those of the command, byte for byte."""
    names = {"program": folder / "traced", "messages": MESSAGES}
    for name, (args, command) in FRACTAL.items():
        program = compiled(tap, folder, package, name, "coretap-fractal")
        logs = [folder / f"{name}.{who}" for who in ("log", "command")]
        out = tap.run(f"{name} runs", [program, *args.format(log=logs[0], **names).split()], env=package.env)
        said = tap.run(f"coretap {command.split(' -')[0]} runs",
                       [build / "coretap", *command.format(log=logs[1], **names).split()],
                       env=package.env)  # the stack of the traced program contains the environment
        got, wanted = (log.read_bytes() if log.exists() else b"" for log in logs)
        tap.result(f"{name} writes the {len(wanted)} bytes of the command",
                   None if got == wanted and len(wanted) > 300 else f"it writes {len(got)} bytes")
        if said:
            tap.result(f"{name} prints what the command does",
                       None if out == said else f"it prints\n{out}\nand not\n{said}")


def compare(tap, build, folder, package, captures):
    for name, words in PROGRAMS.items():
        program = compiled(tap, folder, package, name, OF_LIBRARY.get(name, "coretap"))
        for capture in captures if name in OF_SOURCES else captures[:1]:
            out = tap.run(f"{name} runs", [program, capture], env=package.env)
            said = tap.run(f"coretap {' '.join(words)} runs", [build / "coretap", *words, capture])
            lines = (out or "").count("\n")
            tap.result(f"{name} prints the {lines} lines of the command",
                       None if out == said and lines > 10 else f"it prints\n{out}\nand not\n{said}")


def main():
    build = pathlib.Path(sys.argv[1])
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        return run_install.results.skip_all(f"there is no {' and no '.join(missing)}")
    tap = run_install.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet"], check=True,
                       env=dict(os.environ, DESTDIR=str(folder / "stage")))
        libdir = next((folder / "stage").rglob("coretap.pc")).parent.parent
        prefix = next(p for p in libdir.parents if (p / "include").is_dir())
        package = run_install.Package(prefix, libdir)
        compare(tap, build, folder, package,
                [record(build, folder), HERE.parent.parent / "examples/quickstart"])
        compare_logs(tap, build, folder, package)
    return run_install.results.finish()


if __name__ == "__main__":
    sys.exit(main())
