#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that an empty result while instructions ran is an error: exit code 1, the number of instructions,
their modes, what is missing, and nothing on standard output that looks like a result. Prints TAP.

usage: test_empty.py CORETAP"""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish  # noqa: E402  pylint: disable=wrong-import-position

run = functools.partial(command.run, codes=None)
COMPILER = "aarch64-linux-gnu-gcc"
SOURCE = """__attribute__((noinline)) int used(int n) {
    int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
__attribute__((noinline)) int unused(int n) { return n * 3; }
int main(int argc, char **argv) { return argc > 5 ? unused(argc) : used(argc + (argv[0] == 0)); }
"""
OTHER = "void _start(void) { for (;;); }"
ADDRESS = 0x7000000  # address of OTHER, away from the code that ran

# Each row: arguments, and what is missing. {w}: the program; {bare}: its copy without symbols and lines;
# {other}: a program that did not run.
EMPTY = [
    ("cover --context 77", "none of them belongs to the selected part"),
    ("cover --context 77 --format lcov", "none of them belongs to the selected part"),
    ("cover --context 77 --format cobertura", "none of them belongs to the selected part"),
    ("cover --context 77 --format json", "none of them belongs to the selected part"),
    ("cover --context 77 --format html", "none of them belongs to the selected part"),
    ("profile --format autofdo --elf {other}", "none of them belongs to {other}"),
    ("profile --format bolt --elf {other}", "none of them belongs to {other}"),
    ("profile --format llvm --elf {bare}", "no function that ran in {bare} has known source lines"),
    ("profile --format folded --weight cycles", "the trace has no cycle counts"),
    ("profile --format chrome --weight cycles", "the trace has no cycle counts"),
    ("profile --format chrome --from 99999999", "no function ran in the selected time"),
    ("spec --timing", "with cycle counts"),
    ("spec --timing --function used", "with cycle counts"),
    ("wcet --entry used", "the trace has no cycle counts"),
]
HEADED = [  # the same for formats that may begin with a line of column names
    ("watch --at used --el 3", "none of them belongs to the selected part"),
    ("timing --from unused", "none of them belongs to the selected part"),
    ("watch --at unused", "execution reached none of the watchpoints"),
    ("timing", "the trace has no cycle counts"),
    ("graph --elf {other} --learn", "none of them belongs to the program"),
]

def build(folder, name, text, *options):
    path = folder / name
    (folder / f"{name}.c").write_text(text)
    subprocess.run([COMPILER, "-O1", "-g", "-static", *options, "-o", path, folder / f"{name}.c"], check=True)
    return path


def check_case(coretap, words, why, files, capture, count, headed):
    words, why = words.format(**files), why.format(**files)
    got = run(coretap, *words.split(), "-q", capture) if "--learn" not in words else \
        run(coretap, *words.split(), capture)
    says = re.search(r" empty although (\d+) instructions ran(, in [^:]+)?: (.*); (.*)", got.stderr)
    fine = (got.returncode == 1 and says and int(says[1]) == count and why in says[3]
            and (headed or not got.stdout))
    if "--learn" not in words:
        fine = fine and says[2] and "program" in says[2]
    check(f"{words.split(' --elf')[0]}", fine,
          f"exit code {got.returncode}\n{got.stdout[:300]}\n{got.stderr}")


def check_missing(coretap, folder, program, capture):
    """Checks that a profile of a recording whose files are all missing is empty, and that another capture
    beside it still counts."""
    own, data, saved = folder / "own", folder / "gone.data", folder / "saved"
    subprocess.run([coretap, "record", "-q", "-o", own, "--", program], check=False)
    subprocess.run([coretap, "export", "-q", "--perf", data, own], check=True)
    program.unlink()
    for form in ("autofdo", "llvm", "bolt", "folded", "callgrind", "pprof", "chrome", "data", "branch-list"):
        got = run(coretap, "profile", "-q", "--format", form, data)
        check(f"profile --format {form} of a program that is not here",
              got.returncode == 1 and not got.stdout
              and "none of the program files that the capture names was found" in got.stderr
              and f"no memory image of code that ran in {program} (" in got.stderr,
              f"exit code {got.returncode}\n{got.stdout[:300]}\n{got.stderr}")
    got = run(coretap, "profile", "-q", "--format", "bolt", "--each", saved, data)
    check("profile --each of a program that is not here", got.returncode == 1 and not saved.exists(),
          got.stderr)
    got = run(coretap, "profile", "--format", "bolt", own)
    check("a snapshot names the program that is not here", got.returncode == 1 and str(program) in got.stderr,
          got.stderr)
    alone = run(coretap, "profile", "-q", "--format", "bolt", capture).stdout
    for operands in ([data, capture], [capture, data]):
        got = run(coretap, "profile", "-q", "--format", "bolt", *operands)
        check("what is here is in the profile", got.returncode == 1 and got.stdout == alone != "", got.stderr)
    got = run(coretap, "cover", "-q", data)
    check("other commands need the program", got.returncode == 2, got.stderr)


def check_nothing(coretap, folder, capture):
    """Checks that a profile is refused when no instruction ran, and that empty sums can be saved and
    merged."""
    nothing = folder / "nothing"
    shutil.copytree(capture, nothing)
    for trace in nothing.glob("trace*.bin"):
        trace.write_bytes(b"")
    for form in ("autofdo", "llvm", "bolt", "branch-list", "folded", "callgrind", "pprof", "chrome"):
        got = run(coretap, "profile", "--format", form, nothing)
        check(f"no instruction ran: {form}", got.returncode == 1 and not got.stdout
              and f"{nothing}: the capture contains no trace bytes" in got.stderr, got.stderr)
    got = run(coretap, "profile", "--format", "bolt", "--each", folder / "each", nothing)
    check("no instruction ran: a file each", got.returncode == 1 and "no trace bytes" in got.stderr
          and not list((folder / "each").glob("*")), got.stderr)
    for form in ("data", "perfetto"):
        got = run(coretap, "profile", "--format", form, "-o", folder / "made", nothing)
        check(f"no instruction ran: {form}", got.returncode == 1 and (folder / "made").exists(), got.stderr)


def check_no_interpreter(coretap, folder):
    """Checks a recording of a dynamic program whose interpreter QEMU does not find."""
    program = folder / "dynamic"
    subprocess.run([COMPILER, "-o", program, folder / "program.c"], check=True)
    for words in (("record", "-o", folder / "none"), ("volume",)):
        done = subprocess.run([coretap, *words, "--", program], capture_output=True, text=True, check=False,
                              env=dict(os.environ, QEMU_LD_PREFIX="/nonexistent"))
        check(f"{words[0]}: without an interpreter, the remedy is named",
              done.returncode and "the program ran no code" in done.stderr and
              "QEMU_LD_PREFIX" in done.stderr, f"{done.returncode} {done.stderr}")


def main():
    coretap = os.path.abspath(sys.argv[1])
    for tool in (COMPILER, "qemu-aarch64"):
        if not shutil.which(tool):
            print(f"1..0 # SKIP {tool} is missing (Debian: gcc-aarch64-linux-gnu qemu-user)")
            return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = build(folder, "program", SOURCE)
        bare = folder / "bare" / "program"
        bare.parent.mkdir()
        subprocess.run([COMPILER.replace("gcc", "strip"), "-o", bare, program], check=True)
        other = build(folder, "other", OTHER, "-nostdlib", f"-Wl,-Ttext-segment={ADDRESS:#x}",
                      "-Wl,--build-id=none")
        capture = folder / "capture"
        subprocess.run([coretap, "record", "-q", "-o", capture, "--", program], check=False)
        count = int(re.search(r"^instructions=(\d+)", run(coretap, "stats", "-q", capture).stdout,
                              re.MULTILINE)[1])
        files = {"w": program, "bare": bare, "other": other}
        for words, why in EMPTY:
            check_case(coretap, words, why, files, capture, count, False)
        for words, why in HEADED:
            check_case(coretap, words, why, files, capture, count, True)
        check_missing(coretap, folder, build(folder, "gone", SOURCE), capture)
        check_nothing(coretap, folder, capture)
        check_no_interpreter(coretap, folder)
        fine = run(coretap, "profile", "-q", "--format", "autofdo", capture)
        check("what is not empty has exit code 0",
              fine.returncode == 0 and not fine.stderr and len(fine.stdout) > 100, fine.stderr)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
