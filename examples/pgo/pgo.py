#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Closes the loop of profile-guided optimization: compiles and traces script.c, lets clang compile it again
with the profile of that run, and lets BOLT reorder the blocks of the result with the profile of a second
run. Each of the three programs is traced, and their numbers are compared.

usage: pgo.py CORETAP FOLDER [PAGE.html]"""
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "fleet"))
import fleet  # noqa: E402  pylint: disable=wrong-import-position

# BOLT moves code by the linker's relocations. It leaves functions with jump tables unchanged.
COMPILER = ["clang", "--target=aarch64-linux-gnu", "-fuse-ld=lld", "-O2", "-fno-jump-tables",
            "-gline-tables-only", "-fdebug-info-for-profiling", "-Wl,--emit-relocs,--build-id"]
ROUNDS = "20000"
WAYS = {"plain": "clang -O2", "profile": "… with the profile of its run", "bolt": "… put into order by BOLT"}

LEAD = ("One run of each program under QEMU, as its trace tells. Fewer instructions are executed where hot "
        "calls were inlined; fewer branches are taken where the next block stands behind the one before.")


def find(name):
    """Returns the path of an LLVM tool, under its own name or in the folders of Debian's versions."""
    found = shutil.which(name) or max(map(str, pathlib.Path("/usr/lib").glob(f"llvm-*/bin/{name}")),
                                      default=None)
    if not found:
        raise SystemExit(f"{name} is not there (Debian: bolt-15)")
    return found


def run(*words):
    try:
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise SystemExit(f"{words[0]} is not there (Debian: clang lld)") from error
    if done.returncode:
        raise SystemExit(f"{words[0]}: {done.stderr or done.stdout}")
    return done.stdout


class Loop:
    def __init__(self, coretap, folder):
        self.coretap, self.folder = coretap, folder

    def trace(self, name):
        """Runs and traces a program. Returns its capture, and its numbers of instructions and branches."""
        capture = self.folder / f"{name}.capture"
        run(self.coretap, "record", "-q", "-o", capture, "--", self.folder / name, ROUNDS)
        said = run(self.coretap, "stats", "--level", "flow", capture)
        counts = dict(line.split("=") for line in said.splitlines() if "=" in line)
        return capture, int(counts["instructions"]), int(counts["branches"])

    def profile(self, form, name, capture):
        path = self.folder / f"{name}.{form}"
        path.write_text(run(self.coretap, "profile", "-q", "-f", form, "--elf", self.folder / name, capture),
                        encoding="utf-8")
        return path

    def compile(self, name, *options):
        run(*COMPILER, *options, "-o", self.folder / name, HERE / "script.c")

    def reorder(self, name, result, profile):
        """Converts a summed profile to BOLT's own form, then lets BOLT reorder the blocks."""
        data = self.folder / f"{name}.fdata"
        run(find("perf2bolt"), self.folder / name, "-pa", "-p", profile, "-o", data)
        run(find("llvm-bolt"), self.folder / name, "-o", self.folder / result, "-data", data,
            "-reorder-blocks=cache")

    def go(self):
        """Builds the three programs and returns what each executed: instructions, and taken branches."""
        self.compile("plain")
        first = self.trace("plain")
        self.compile("profile", f"-fprofile-sample-use={self.profile('llvm', 'plain', first[0])}")
        second = self.trace("profile")
        self.reorder("profile", "bolt", self.profile("bolt", "profile", second[0]))
        third = self.trace("bolt")
        return {name: traced[1:] for name, traced in zip(WAYS, (first, second, third))}


def picture(counts):
    rows = []
    for name, (instructions, branches) in counts.items():
        all_instructions, all_branches = counts["plain"]
        rows.append(fleet.row(WAYS[name], ("number", f"{instructions:,}"),
                              ("", fleet.bar(instructions / all_instructions)), ("number", f"{branches:,}"),
                              ("", fleet.bar(branches / all_branches))))
    return fleet.table(["program", "#instructions", "", "#branches taken", ""], rows)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    coretap, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    counts = Loop(coretap, folder).go()
    print("program\tinstructions\tbranches taken")
    for name, numbers in counts.items():
        print(name, *numbers, sep="\t")
    if len(sys.argv) > 3:
        fleet.write_page(sys.argv[3], "A program, compiled with what it did", LEAD, picture(counts))


if __name__ == "__main__":
    main()
