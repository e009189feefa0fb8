#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several captures on one command line, coverage files among them, are what their merged coverage files are:
of one program at different paths and of different ones, of memory that changes, and with one that is damaged.
Prints TAP.

usage: test_several.py CORETAP"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

CORETAP = sys.argv[1]
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
PROGRAM = """
#include <stdlib.h>
__attribute__((noinline)) static int even(int n) { return n + 1; }
__attribute__((noinline)) static int odd(int n) { return n - 1; }
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    return n % 2 ? odd(n) : even(n);
}
"""
OTHER = "int helper(int n) { return n * 3; }\nint main(void) { return helper(2) == 6 ? 0 : 1; }\n"


def run(*args, code=0):
    done = subprocess.run([CORETAP, *map(str, args)], capture_output=True, check=False)
    assert done.returncode == code, f"{args}: exit code {done.returncode}: {done.stderr.decode()}"
    return done.stdout


def build(folder, name, source, *options):
    (folder / f"{name}.c").write_text(source)
    subprocess.run([TOOLS[0], "-g", "-O1", *options, "-o", folder / name, folder / f"{name}.c"], check=True)
    return folder / name


def record(folder, name, *command, options=()):
    subprocess.run([CORETAP, "record", "-q", "-o", folder / name, *options, "--", *command], check=False,
                   env=os.environ)
    return folder / name


def data(path):
    return run("cover", "--format", "data", path)


def sum_of(folder, *paths):
    files = []
    for i, path in enumerate(paths):
        files.append(folder / f"sum{i}")
        files[-1].write_bytes(data(path))
    return run("merge", *files)


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    why = f"{missing[0]} is missing" if missing else None
    made = {}

    def captures():
        program = build(folder, "program", PROGRAM, "-static")
        moved = folder / "moved"
        shutil.copy(program, moved)
        dynamic = build(folder, "dynamic", PROGRAM)
        other = build(folder, "other", OTHER, "-static")
        made.update(even=record(folder, "even", program, "2"), odd=record(folder, "odd", moved, "3"),
                    dynamic=record(folder, "dynamic.capture", dynamic, "3"),
                    other=record(folder, "other.capture", other))

    def same(*names):
        paths = [made[name] for name in names]
        both = run("cover", "--format", "data", *paths)
        assert both == sum_of(folder, *paths), "not the merged files"
        assert both == run("cover", "--format", "data", *reversed(paths)), "depends on the order"
        assert f"captures {len(paths)}\n".encode() in both
        for path in paths:
            assert f"capture {path}\n".encode() in both

    def perf():
        for name in ("dynamic", "even"):
            made[name + ".data"] = folder / f"{name}.data"
            run("export", "--perf", made[name + ".data"], made[name])
        same("dynamic.data", "even.data", "other")
        same("even.data", "dynamic.data")

    def files():
        saved = folder / "saved"
        saved.write_bytes(data(made["odd"]))
        mixed = run("cover", "--functions", made["even"], saved)
        both = run("cover", "--functions", made["even"], made["odd"])
        assert mixed.replace(b"saved", b"odd") == both, f"{mixed.decode()}\n{both.decode()}"
        for function in (b"even", b"odd"):
            assert function in mixed

    def several_programs():
        summary = run("cover", made["even"], made["other"]).decode()
        assert "program" in summary and "other" in summary, summary
        saved = folder / "both"
        saved.write_bytes(run("cover", "--format", "data", made["even"], made["other"]))
        summary = run("cover", saved).decode()
        assert "/program" in summary and "/other" in summary, summary
        (folder / "other").rename(folder / "away")
        summary = run("cover", saved).decode()
        assert "/program" in summary and "/other" not in summary, summary
        (folder / "away").rename(folder / "other")

    def profiles():
        saved = folder / "sum"
        saved.write_bytes(data(made["even"]))
        for form in ("autofdo", "bolt", "llvm"):
            both = run("profile", "--format", form, made["even"], made["odd"])
            assert both == run("profile", "--format", form, saved, made["odd"]), form
            assert both != run("profile", "--format", form, made["odd"]), form
        saved.write_bytes(data(made["dynamic"]))
        assert run("profile", "--format", "autofdo", saved) == run("profile", "--format", "autofdo",
                                                                   made["dynamic"])
        for form in ("callgrind", "chrome"):
            run("profile", "--format", form, made["even"], made["odd"], code=2)

    def folded(*paths):
        """Stack -> instructions."""
        lines = [line.rsplit(" ", 1) for line in run("profile", *paths).decode().splitlines()]
        assert len({stack for stack, _ in lines}) == len(lines), "a stack has two lines"
        return {stack: int(count) for stack, count in lines}

    def stacks():
        saved, both = folder / "odd.stacks", folder / "both.stacks"
        saved.write_bytes(run("profile", "--format", "data", made["odd"]))
        both.write_bytes(run("profile", "--format", "data", made["even"], made["odd"]))
        assert both.read_bytes() == run("merge", saved, "--kind", "stacks", made["even"])
        for form in ("folded", "data"):
            for paths in ((made["odd"], made["even"]), (made["even"], saved), (both,)):
                said = run("profile", "--format", form, *paths)
                assert said == run("profile", "--format", form, made["even"], made["odd"]), (form, paths)
        one, two, sums = folded(made["even"]), folded(made["odd"]), folded(both)
        assert sums == {stack: one.get(stack, 0) + two.get(stack, 0) for stack in one | two}
        assert any(stack.endswith(";main;even") for stack in sums) and any(
            stack.endswith(";main;odd") for stack in sums), sums
        run("profile", "--threads", 2, "--format", "data", "-o", saved, made["even"], made["odd"])
        assert saved.read_bytes() == both.read_bytes()
        run("profile", "--format", "autofdo", both, code=2)
        run("profile", "--from", "main", both, code=2)
        part = run("profile", "--format", "data", "--from", "main", "--to", "900000insn", made["even"])
        assert f"capture {made['even']} (--from main --to 900000insn)\n".encode() in part, part[:200]
        saved.write_bytes(both.read_bytes()[:-30])
        run("profile", saved, code=2)

    def damaged():
        broken = folder / "broken"
        shutil.copytree(made["odd"], broken)
        trace = next(path for path in broken.iterdir() if path.suffix == ".bin" and "mem" not in path.name)
        content = bytearray(trace.read_bytes())
        content[len(content) // 2:len(content) // 2 + 40] = b"\xff" * 40
        trace.write_bytes(content)
        run("cover", made["even"], broken, code=1)
        run("cover", made["even"], folder / "nothing", code=2)

    tap.case("recordings", why, captures)
    tap.case("one program at two paths, run in two ways", why, lambda: same("even", "odd"))
    tap.case("programs that are not the same", why, lambda: same("even", "other"))
    tap.case("shared objects, at their own addresses", why, lambda: same("dynamic", "even", "other"))
    tap.case("perf.data, where each memory has programs of its own", why, perf)
    tap.case("coverage files in the place of captures", why, files)
    tap.case("all programs of a coverage file are told of", why, several_programs)
    tap.case("profiles that are counts", why, profiles)
    tap.case("stacks, and files of them", why, stacks)
    tap.case("one of them is damaged or not there", why, damaged)
    shutil.rmtree(folder)
    return tap.finish()


sys.exit(main())
