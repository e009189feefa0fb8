#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the log of a program has the accesses that its source says: blocks that are zeroed, copies of a
C library that chooses its instructions by the processor, accesses over the end of a line, and memory that is
mapped anew at the same addresses; and that the report shows objects beside many functions, with the names of
their sources. Prints TAP.

usage: test_fractal_accesses.py COMMAND PLUGIN"""
import collections
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND = os.path.abspath(sys.argv[1])
ENV = {name: text for name, text in os.environ.items() if name != "QEMU_CPU"}
ENV["CORETAP_ACCESS_PLUGIN"] = os.path.abspath(sys.argv[2])
LINE = 64

SOURCES = {
    "zero": """
#include <string.h>
char zeroed[64 << 10] __attribute__((aligned(64)));
int main(void) { memset(zeroed, 0, sizeof zeroed); __asm__ volatile("" ::: "memory"); return 0; }
""",
    "copy": """
#include <string.h>
char from[64] __attribute__((aligned(64))), to[64] __attribute__((aligned(64)));
volatile int size = 24;
int main(void) { for (int i = 0; i < 100; i++) memcpy(to, from, size); return 0; }
""",
    # one access over the end of a line, one over the end of a page, two registers, four structures, an atomic
    "ends": """
char line[4096] __attribute__((aligned(4096))), page[8192] __attribute__((aligned(4096)));
char pair[4096] __attribute__((aligned(4096))), four[4096] __attribute__((aligned(4096)));
char lock[4096] __attribute__((aligned(4096)));
int main(void)
{
    long x = 1, y;
    __asm__ volatile("ldr %0, [%1, #60]" : "=r"(y) : "r"(line));
    __asm__ volatile("str %0, [%1]" :: "r"(x), "r"(page + 4092));
    __asm__ volatile("ldp q0, q1, [%0, #48]" :: "r"(pair) : "v0", "v1");
    __asm__ volatile("st4 {v0.b-v3.b}[3], [%0]" :: "r"(four + 62));
    __asm__ volatile("ldadd %1, %0, [%2]" : "=r"(y) : "r"(x), "r"(lock + 128));
    return 0;
}
""",
    "sve": """
char seen[4096] __attribute__((aligned(64)));
int main(void)
{
    __asm__ volatile("ptrue p0.b\\n ld1b {z0.b}, p0/z, [%0]" :: "r"(seen) : "p0", "z0");
    return 0;
}
""",
    # more functions than rows of a table, each with more misses than the object
    "many": """
extern char small[64] __asm__("_ZN4unit5smallE"); /* unit::small of C++ */
char small[64] __attribute__((aligned(64))) = {1};
__asm__(".text\\n .altmacro\\n .macro one number\\n .balign 4096\\n "
        ".type many\\\\number, %function\\n many\\\\number:\\n .rept 4\\n nop\\n .balign 64\\n "
        ".endr\\n .size many\\\\number, .-many\\\\number\\n .endm\\n .global many\\n many:\\n "
        ".set n, 0\\n .rept 300\\n one %n\\n .set n, n + 1\\n .endr\\n ret\\n ");
void many(void);
int main(void) { many(); return small[0] - 1; }
""",
    "maps": """
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>
#define FIXED(at, size, flags, fd) mmap((void *)at, size, PROT_READ | PROT_WRITE, MAP_FIXED | flags, fd, 0)
#define OWN (MAP_PRIVATE | MAP_ANONYMOUS)
int main(void)
{
    const int fd = memfd_create("shared", 0);
    volatile char *shared, *other, *huge;
    if (ftruncate(fd, 4096))
        return 1;
    shared = FIXED(0x100000000, 4096, MAP_SHARED, fd);
    other = FIXED(0x100010000, 4096, MAP_SHARED, fd);
    shared[0] = other[0];
    shared = FIXED(0x100000000, 4096, OWN, -1);
    shared[64] = 1;
    huge = FIXED(0x200000000, 2 << 20, OWN, -1);
    madvise((void *)huge, 2 << 20, MADV_HUGEPAGE);
    huge[0] = huge[8192] = 1;
    munmap((void *)huge, 2 << 20);
    huge = FIXED(0x200000000, 2 << 20, OWN, -1);
    huge[64] = huge[8256] = 1;
    return 0;
}
""",
}


def build(folder):
    for name, text in SOURCES.items():
        (folder / f"{name}.c").write_text(text)
        subprocess.run(["aarch64-linux-gnu-gcc", "-O1", "-static", "-march=armv8.1-a+sve",
                        "-fno-tree-vectorize", "-o", folder / name, folder / f"{name}.c"], check=True)


def trace(folder, program, *options, cpu=None, codes=(0,)):
    """Runs a program; returns its events and what the command said."""
    env = {**ENV, "QEMU_CPU": cpu} if cpu else ENV
    log = folder / "log"
    said = command.run(COMMAND, "fractal", "run", "-q", "-o", log, *options, "--", folder / program, env=env,
                       codes=codes).stderr
    listed = command.output(COMMAND, "fractal", "report", "-q", "--csv", log, codes=codes)
    return list(csv.DictReader(listed.splitlines())), said


def points(*names):
    return ["--mode", "points", "--points-only", *(word for name in names for word in ("--point", name))]


def lines_of(events, name):
    """Returns how often each line of an object was accessed, by its number."""
    first = min((int(event["va"], 16) for event in events if event["symbol"] == name), default=0)
    return collections.Counter((int(event["va"], 16) - first) // LINE for event in events
                               if event["symbol"] == name)


def every_zeroed_line(folder, cpu):
    events, _ = trace(folder, "zero", *points("zeroed"), cpu=cpu)
    missing = set(range((64 << 10) // LINE)) - set(lines_of(events, "zeroed"))
    assert not missing, f"{len(missing)} zeroed lines are not in the log"
    return True


def every_copy(folder):
    events, said = trace(folder, "copy", *points("from", "to"))
    counts = collections.Counter((event["symbol"], event["op"]) for event in events)
    assert counts["from", "ReadShared"] >= 100 and counts["to", "ReadUnique"] >= 100, counts
    assert "SVE" not in said, said
    return True


def both_sides(folder):
    events, _ = trace(folder, "ends", *points("line", "page", "pair", "four", "lock"))
    base = {name: min((int(event["va"], 16) for event in events if event["symbol"] == name), default=0) % 4096
            for name in ("line", "page", "pair", "four", "lock")}
    counts = {name: sorted(lines_of(events, name)) for name in base}
    assert counts == {"line": [0, 1], "page": [0, 1], "pair": [0, 1], "four": [0, 1], "lock": [0]}, counts
    assert base == {"line": 0, "page": 4096 - LINE, "pair": 0, "four": 0, "lock": 128}, base
    return True


def unseen_is_told(folder):
    _, said = trace(folder, "sve", *points("seen"), cpu="max", codes=(1,))
    assert "SVE" in said, said
    return True


def mapped_anew(folder):
    """With caches of one line nearly every access is a miss."""
    (folder / "small").write_text("".join(f"{cache}_bytes = 64\n{cache}_ways = 1\n"
                                          for cache in ("l1i", "l1d", "l2")))
    events, _ = trace(folder, "maps", "--config", folder / "small", "--range", "100000000..300000000")
    at = [(int(event["va"], 16), int(event["pa"], 16)) for event in events]
    pages = dict(at)
    assert 0x100010000 in pages and 0x100000040 in pages, at
    assert 0x100010040 not in pages, "an access to private memory is logged at the shared memory before it"
    assert pages[0x200002000] - pages[0x200000000] == 0x2000, "the first mapping is no huge page"
    assert pages[0x200000040] - 0x40 != pages[0x200000000], "an unmapped huge page is still mapped"
    return True


def objects_beside_functions(folder):
    log = folder / "log"
    command.run(COMMAND, "fractal", "run", "-q", "-o", log, "--section", ".text", "--symbol",
                "unit::small", "--",
                folder / "many", env=ENV)
    text = command.output(COMMAND, "fractal", "report", "--top", "256", log)
    functions, objects = text.split("Functions\n")[1].split("Objects, sections and regions\n")
    assert functions.count("%") == 256, functions.count("%")
    assert re.search(r" 1 +\d+\.\d+% .* unit::small$", objects, re.MULTILINE), objects
    page = command.output(COMMAND, "fractal", "report", "--html", log)
    assert "<td>unit::small</td>" in page, "the page lacks the object"
    return True


def main():
    missing = tap.lacks("aarch64-linux-gnu-gcc", "qemu-aarch64")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if not missing:
            build(folder)
        tap.case("memory is zeroed in blocks of 512 bytes", missing, lambda: every_zeroed_line(folder, None))
        tap.case("memory is zeroed in blocks of 64 bytes", missing,
                 lambda: every_zeroed_line(folder, "neoverse-n1"))
        tap.case("small copies", missing, lambda: every_copy(folder))
        tap.case("accesses over the end of a line", missing, lambda: both_sides(folder))
        tap.case("accesses that QEMU does not report", missing, lambda: unseen_is_told(folder))
        tap.case("memory that is mapped anew", missing, lambda: mapped_anew(folder))
        tap.case("objects beside many functions", missing, lambda: objects_beside_functions(folder))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
