#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that programs and libraries whose files are deleted or replaced while they run, or have no name,
have their names and functions in results. Prints TAP.

usage: test_deleted.py COMMAND PLUGIN PROGRAM.c    (deleted.c)"""
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
GCC = "aarch64-linux-gnu-gcc"
LIBRARY = "int added(int i);\nint added(int i) { return i + 3; }\n"
TIMES = 1000

def check(folder, name, functions, *command, **options):
    """Records a program, whose functions are in the files with the given names afterwards."""
    capture = folder / f"capture-{name.replace(' ', '-')}"
    done = run(COMMAND, "record", "-o", capture, "--", *command, **options)
    tap.check(f"{name}: record", done.returncode == 0 and "warning" not in done.stderr, done.stderr)
    done = run(COMMAND, "cover", "-q", "--format", "json", "--all-functions", capture)
    programs = json.loads(done.stdout or '{"programs": []}')["programs"]
    for function, wanted in functions.items():
        found = [(program["program"], entry["count"]) for program in programs
                 for entry in program["functions"] if entry["name"] == function]
        tap.check(f"{name}: {function} is a function of {wanted}", [(pathlib.Path(path).name, count)
                  for path, count in found] == [(wanted, TIMES)], f"{found} {done.stderr}")
    profile = run(COMMAND, "profile", capture)
    tap.check(f"{name}: no code without a name", "mem_" not in profile.stdout and not profile.stderr,
              profile.stdout + profile.stderr)


def main():
    missing = [tool for tool in (GCC, "qemu-aarch64") if not shutil.which(tool)]
    if missing:
        tap.skip("deleted programs", " and ".join(missing) + ": missing")
        return tap.finish()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        built, library = folder / "built", folder / "built.so"
        (folder / "library.c").write_text(LIBRARY, encoding="ascii")
        subprocess.run([GCC, "-O2", "-o", built, SOURCE, "-ldl"], check=True)
        subprocess.run([GCC, "-O2", "-shared", "-fPIC", "-o", library, folder / "library.c"], check=True)
        program = folder / "prog"
        shutil.copy(built, program)
        check(folder, "deleted", {"work": "prog (deleted)"}, program, "unlink", program)
        shutil.copy(built, program)
        shutil.copy(library, folder / "other")
        check(folder, "replaced", {"work": "prog (deleted)"}, program, "rename", program, folder / "other")
        check(folder, "library without a file", {"added": "memfd:made (deleted)"}, built, "memory",
              library)
        other = folder / "other.so"
        (folder / "library.c").write_text(LIBRARY.replace("added", "summed"), encoding="ascii")
        subprocess.run([GCC, "-O2", "-shared", "-fPIC", "-o", other, folder / "library.c"], check=True)
        names = {"added": "plugin.so (deleted)", "summed": "plugin.so-2 (deleted)"}
        # the loader does not load again what has the same name
        check(folder, "libraries deleted at once", names, built, "plugins", folder / "plugin.so", library,
              "added", f"{folder}/./plugin.so", other, "summed")
        with os.fdopen(os.memfd_create("nameless"), "wb", buffering=0) as memory:
            memory.write(built.read_bytes())
            os.fchmod(memory.fileno(), 0o700)
            check(folder, "program without a file", {"work": "memfd:nameless (deleted)"},
                  f"/proc/self/fd/{memory.fileno()}", pass_fds=[memory.fileno()])
    return tap.finish()


sys.exit(main())
