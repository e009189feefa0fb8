#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a file named by --elf that is another build of what ran. It is refused by its build ID, whether what
ran is still there, was built again or is gone; or by its code, when it has no build ID and the capture has
memory or the file that ran. Files of the same build are accepted, with a build ID or without, also when a
few words of their code differ. When only the trace shows the difference, its contradictions are reported.
Prints TAP.

usage: test_other_build.py CORETAP"""
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
TRIPLET = "aarch64-linux-gnu-"
TOOLS = (TRIPLET + "gcc", TRIPLET + "objcopy", TRIPLET + "strip", "qemu-aarch64", "readelf")
BIAS = "5500000000"  # address of a position-independent program under QEMU
SOURCE = """#include <stdio.h>
__attribute__((noinline)) int used(int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += i;
    return s; }
int main(int argc, char **argv) { printf("%d\\n", used(argc + 40 + (argv[0] == 0))); return 0; }
"""
CHANGED = SOURCE.replace("s += i;", "s += i * 3 + (i ^ s);").replace(
    "__attribute__", "int pad(int x) { return x * 7; }\n__attribute__", 1)
COMMANDS = ["cover", "profile", "timing", "watch --at used", "list --elements --symbols", "decode --symbols",
            "report", "spec --timing", "wcet --entry used"]
RAW = """[capture]
file = {trace}
framing = none
[source cpu]
protocol = etmv4i
core = ARM-AA64
id = 0x10
TRCCONFIGR = 0x00000001
TRCIDR0 = 0x28000ea1
TRCIDR1 = 0x4100f424
TRCIDR2 = 0x10001088
TRCIDR8 = 0
"""

def build(path, text, *options):
    path.parent.mkdir(exist_ok=True)
    source = path.with_name("program.c")
    source.write_text(text)
    subprocess.run([TRIPLET + "gcc", "-O1", "-g", "-fPIE", "-pie", *options, "-o", path, source], check=True)
    return path


def build_id(path):
    return re.search(r"Build ID: (\S+)", run("readelf", "-nW", path).stdout)[1]


def check_refused(coretap, state, capture, named, ids):
    for command in COMMANDS:
        got = run(coretap, *command.split(), "--elf", named, capture)
        check(f"{state}: {command} refuses another build",
              got.returncode == 2 and not got.stdout and all(i in got.stderr for i in ids)
              and named.partition("@")[0] in got.stderr and str(capture) in got.stderr,
              f"exit code {got.returncode}\n{got.stdout[:300]}\n{got.stderr}")


def check_code(coretap, state, capture, named):
    """Checks that a file without a build ID is refused because its code differs."""
    for command in COMMANDS:
        got = run(coretap, *command.split(), "--elf", f"{named}@{BIAS}", capture)
        check(f"{state}: {command} refuses other code",
              got.returncode == 2 and not got.stdout and f"{named}: its code differs from " in got.stderr
              and str(capture) in got.stderr and f"the first at 0x{BIAS}" in got.stderr,
              f"exit code {got.returncode}\n{got.stdout[:300]}\n{got.stderr}")


def without_id(program, copy, patched):
    """Copies a program without its build ID, with a few instructions of `used` changed when `patched`."""
    subprocess.run([TRIPLET + "objcopy", "-R", ".note.gnu.build-id", program, copy], check=True)
    if patched:
        line = next(line for line in run("readelf", "-sW", copy).stdout.splitlines()
                    if line.split()[-1:] == ["used"])
        data = bytearray(copy.read_bytes())
        at = int(line.split()[1], 16)  # the first segment is at the same offset in the file and in memory
        data[at:at + 8] = b"\x1f\x20\x03\xd5" * 2
        copy.write_bytes(data)
    return copy


def check_taken(coretap, state, capture, files, silent):
    for file in files:
        got = run(coretap, "cover", "--elf", f"{file}@{BIAS}", capture)
        head = re.search(r"^" + re.escape(str(file)) + r"\n  functions +[1-9]", got.stdout, re.MULTILINE)
        said = [line for line in got.stderr.splitlines() if "are optimised code" not in line]
        check(f"{state}: {file.name} is taken",
              got.returncode == 0 and head and not (silent and said),
              f"exit code {got.returncode}\n{got.stdout[:300]}\n{got.stderr}")


def check_trace(coretap, folder, capture, right, wrong):
    """Checks raw trace, whose memory comes from the named file: commands report that the trace contradicts
    it."""
    raw = folder / "raw.ini"
    raw.write_text(RAW.format(trace=capture / "trace_0.bin"))
    for command in ("cover", "profile", "timing", "watch --at used"):
        got = run(coretap, *command.split(), "-q", "--elf", f"{wrong}@{BIAS}", raw)
        check(f"{command} tells that the trace contradicts the program",
              got.returncode == 1 and "contradictions with the program" in got.stderr
              and f"{wrong} may not be the build that ran" in got.stderr,
              f"exit code {got.returncode}\n{got.stderr}")
    described = folder / "described.ini"
    for program, contradicted in ((wrong, True), (right, False)):
        described.write_text(raw.read_text() + f"\n[image]\nelf = {program}\nbias = 0x{BIAS}\n")
        got = run(coretap, "stats", described)
        check(f"stats with {program.name} in the description",
              (f"{program} may not be what ran" in got.stderr) == contradicted, got.stderr)
    got = run(coretap, "cover", "--elf", f"{right}@{BIAS}", raw)
    check("the trace does not contradict what ran",
          got.returncode == 0 and "contradiction" not in got.stderr, got.stderr)


def check_pieces(coretap, folder):
    """Checks a capture whose memory is in many pieces, most of which belong to the C library and are equal in
    both builds."""
    plain = ("-static", "-no-pie", "-fno-pie", "-falign-functions=4096", "-Wl,--build-id=none")
    ran, other = (build(folder / "pieces" / name, SOURCE.replace("s += i;", "{%s}" % (line * 40)), *plain)
                  for name, line in (("ran", "s = s * 5 - (i | s);"),
                                     ("other", "s = (s ^ i) + i * n;")))
    capture = folder / "pieces" / "capture"
    run(coretap, "record", "-q", "-o", capture, "--", ran)
    index = capture / "snapshot.ini"
    index.write_text(index.read_text().partition("[program]")[0])
    pieces = len(list(capture.glob("mem_*.bin")))
    for command in ("cover", "profile", "report", "list --elements --symbols"):
        mine, got = (run(coretap, *command.split(), "--elf", file, capture) for file in (ran, other))
        check(f"memory in {pieces} pieces: {command} refuses another build, and takes the right one",
              mine.returncode == 0 and mine.stdout and got.returncode == 2 and not got.stdout
              and f"{other}: its code differs from that of " in got.stderr and pieces > 5,
              f"exit codes {mine.returncode}, {got.returncode}\n{mine.stderr}\n{got.stderr}")


def main():
    coretap = os.path.abspath(sys.argv[1])
    for tool in TOOLS:
        if not shutil.which(tool):
            print(f"1..0 # SKIP {tool} is missing (Debian: gcc-aarch64-linux-gnu qemu-user)")
            return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ran = build(folder / "program", SOURCE)
        kept = folder / "whole"
        shutil.copy(ran, kept)
        other = build(folder / "new" / "program", CHANGED)
        renamed = folder / "renamed"
        shutil.copy(other, renamed)
        bare, debug = folder / "bare", folder / "debug"
        subprocess.run([TRIPLET + "strip", "-o", bare, ran], check=True)
        subprocess.run([TRIPLET + "objcopy", "--only-keep-debug", ran, debug], check=True)
        unknown = build(folder / "unknown" / "unknown", CHANGED, "-Wl,--build-id=none")
        nameless = without_id(ran, folder / "nameless", False)
        patched = without_id(ran, folder / "patched", True)
        ids = (build_id(ran), build_id(other))

        capture, perf = folder / "capture", folder / "perf.data"
        run(coretap, "record", "-q", "-o", capture, "--", ran)
        run(coretap, "export", "-q", "--perf", perf, capture)
        for of, path in (("snapshot", capture), ("perf.data", perf)):
            shutil.copy(kept, ran)
            check_refused(coretap, f"{of}, what ran is there", path, f"{renamed}@{BIAS}", ids)
            check_refused(coretap, f"{of}, by name", path, str(other), ids)
            check_taken(coretap, f"{of}, what ran is there", path, (kept, bare, debug), True)
            check_taken(coretap, f"{of}, what ran is there", path, (nameless, patched), False)
            check_code(coretap, f"{of}, what ran is there", path, unknown)
            shutil.copy(other, ran)
            check_refused(coretap, f"{of}, built again", path, f"{ran}@{BIAS}", ids)
            ran.unlink()
            check_refused(coretap, f"{of}, what ran is gone", path, f"{renamed}@{BIAS}", ids)
            check_taken(coretap, f"{of}, what ran is gone", path, (kept, bare), False)
        check_taken(coretap, "snapshot, what ran is gone", capture, (nameless, patched), False)
        check_code(coretap, "snapshot, what ran is gone", capture, unknown)
        check_taken(coretap, "perf.data, what ran is gone", perf, (nameless,), False)
        listed = run(coretap, "manifest", capture)
        check("a manifest has the build id of what is gone", ids[0] in listed.stdout,
              listed.stdout + listed.stderr)
        check_trace(coretap, folder, capture, kept, unknown)
        check_pieces(coretap, folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
