#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares profiles of a phone's recording with those of simpleperf. The program itself is not available; one
with the same branches at the same addresses, without symbols, replaces it. Also checks which missing files
are named.

usage: perf_profile.py COMMAND"""
import pathlib
import struct
import sys
import tempfile

from elf_writer import elf
from perf_tool import Tap, corpus, first_difference, run, skip

LOADED = 0x582b2b0000  # address on the phone of the file's address 0
START, END = 0x1000, 0x10f0
NOP, RET, BR_X17 = 0xd503201f, 0xd65f03c0, 0xd61f0220

# What 'simpleperf inject --output autofdo' and 'bolt' write for this recording (test data of the Android Open
# Source Project, simpleperf/testdata/etm). It writes 0 for the target of an indirect branch, and for
# addresses outside of the file.
RANGES = {(0x1000, 0x1004): 1, (0x100c, 0x1050): 1, (0x1054, 0x106c): 1, (0x105c, 0x106c): 100,
          (0x1070, 0x1070): 1,
          (0x1074, 0x1080): 100, (0x1084, 0x1088): 1, (0x108c, 0x10a0): 1, (0x10a4, 0x10b0): 1,
          (0x10e0, 0x10ec): 1}
BRANCHES = {(0x1004, 0x100c): 1, (0x1050, 0x10e0): 1, (0x106c, 0x1074): 100, (0x1070, 0x1084): 1,
            (0x1080, 0x105c): 100, (0x1088, 0): 1, (0x10a0, 0x1054): 1, (0x10b0, 0): 1, (0x10ec, 0): 1}
INSIDE = {0x1088: 0x10a4}  # the one return whose target is in the trace and in the file; "f" in BOLT's format
# simpleperf ends a range at the branch that was once not taken. coretap continues the range behind it.
JOINED = {(0x105c, 0x106c): 99, (0x105c, 0x1070): 1, (0x1070, 0x1070): 0}
ENTRIES = {0x1000: 1, 0x108c: 1}  # addresses at which execution came from other files, for BOLT


def code():
    words = {at: NOP for at in range(START, END, 4)}
    for at, to in ((0x1004, 0x100c), (0x1070, 0x1084), (0x1080, 0x105c)):
        words[at] = 0x14000000 | (to - at) // 4 & 0x3ffffff  # B
    for at, to in ((0x1050, 0x10e0), (0x10a0, 0x1054)):
        words[at] = 0x94000000 | (to - at) // 4 & 0x3ffffff  # BL
    words |= {0x106c: 0x54000040, 0x1088: RET, 0x10b0: RET, 0x10ec: BR_X17}  # B.EQ over one instruction
    return struct.pack(f"<{len(words)}I", *words.values())


def wanted():
    ranges = {place: n for place, n in (RANGES | JOINED).items() if n}
    return ranges, {(start, INSIDE.get(start, end)): n for (start, end), n in BRANCHES.items()}


def as_autofdo(base):
    """Returns the AutoFDO lines. Addresses are relative to the file's first segment, because AutoFDO's
    readers add its address."""
    ranges, branches = wanted()
    lines = [str(len(ranges))] + [f"{start - base:x}-{end - base:x}:{n}"
                                  for (start, end), n in sorted(ranges.items())]
    lines += ["0", str(len(branches))]
    return lines + [f"{start - base:x}->{end - base if end else 0:x}:{n}"
                    for (start, end), n in sorted(branches.items())]


def as_bolt():
    ranges, branches = wanted()
    return [f"{'f' if start in INSIDE.values() else 'F'} {start:x} {end:x} {n}"
            for (start, end), n in sorted(ranges.items())] + \
        [f"B {start:x} {end:x} {n} 0" for (start, end), n in sorted(branches.items())] + \
        [f"B 0 {start:x} {n} 0" for start, n in ENTRIES.items()]


def check_notes(tap, path):
    """Checks that missing files are named once, and only those that contain traced code, unless -v asks for
    all."""
    for words, count in ((["watch", "--at", "context"], 1), (["timing"], 1),
                         (["stats", "--level", "flow"], 1), (["cover"], 1),
                         (["watch", "--at", "context", "-v"], 9), (["timing", "--verbose"], 9),
                         (["timing", "-q"], 0)):
        notes = [line for line in run([sys.argv[1], *words, path])[1].splitlines() if " note: " in line]
        fine = (len(notes) == len(set(notes)) == count
                and (count != 1 or "/data/local/tmp/etm_test_loop," in notes[0]))
        tap.check(f"{' '.join(words)}: {count} notes about missing files",
                  None if fine else "\n".join(notes) or "none")


def main():
    path = corpus() / "perfdata" / "perf_etm.data"
    if not path.exists():
        skip(f"{path} is not there (set CT_SHARED)")
    tap = Tap()
    head = (0, bytes(64))
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "etm_test_loop"
        for name, segments, base in (("a program whose code starts at 0x1000", [head, (START, code())], 0),
                                     ("a shared object that starts at 0x1000", [(START, code())], START)):
            program.write_bytes(elf(3, segments))
            for form, want in (("autofdo", as_autofdo(base)), ("bolt", as_bolt())):
                out, said, status = run([sys.argv[1], "profile", "-q", "--format", form, "--elf",
                                         f"{program}@{LOADED:x}", path])
                why = first_difference(want, out.splitlines(), ("simpleperf", "coretap"))
                tap.check(f"{name}: {form}", why or (said if status not in (0, 1) else None))
    check_notes(tap, path)
    tap.end()


if __name__ == "__main__":
    main()
