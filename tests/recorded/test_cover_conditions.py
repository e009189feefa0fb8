#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks conditions that no branch shows, on instructions executed a known number of times; the table of
contexts, in which each row equals --context for it alone; functions in assembly, and in a big-endian
program. Prints TAP.

usage: test_cover_conditions.py CORETAP"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position
from command import output as run  # noqa: E402  pylint: disable=wrong-import-position
from saved import with_sum  # noqa: E402  pylint: disable=wrong-import-position

CORETAP = sys.argv[1]
FREE = ["-O0", "-g", "-nostdlib", "-static", "-ffreestanding"]
# Each line of assembly is one instruction of the function. Conditional ones can go two ways, and the second
# never happens.
PROGRAM = """
__attribute__((naked)) int decide(int x)
{
    __asm__(%s);
}
volatile int result;
void _start(void)
{
    result = decide(1) + decide(2);
    %s
    for (;;)
        ;
}
"""
LEAVE = {"A64": '__asm__ volatile("mov x8, #93\\nmov x0, #0\\nsvc #0");',
         "A32": '__asm__ volatile("mov r7, #1\\nmov r0, #0\\nsvc #0");'}
LEAVE["T32"] = LEAVE["A32"]
COMPILERS = {"A64": ["aarch64-linux-gnu-gcc"], "A32": ["arm-linux-gnueabihf-gcc", "-marm"],
             "T32": ["arm-linux-gnueabihf-gcc", "-mthumb"]}
# Each row: the instructions that decide; the number of conditions whose outcome no branch shows; how many of
# these ran; the number of conditional branches.
CASES = {
    "A64": (["cmp w0, #9", "csel w1, w0, w2, eq", "ccmp w0, #3, #0, eq", "fcsel s0, s1, s2, eq",
             "cset w1, lt", "b.eq 1f", "ret", "1: csinc w0, w1, w2, eq", "ret"], 5, 4, 1),
    "A32": (["cmp r0, #9", "moveq r1, #1", "addne r1, r1, #1", "bxne lr", "movs r0, #1",
             "strge r0, [sp, #-8]", "bx lr"],
            3, 2, 1),
    # The first branch shows nothing of its block's condition, because the block compares before it.
    "T32": (["cmp r0, #9", "itt eq", "cmpeq r1, #3", "bxeq lr", "itt eq", "moveq r1, #1", "moveq r2, #1",
             "it ne", "bxne lr", "ite gt",
             "movgt r0, #2",
             "movle r0, #1", "bx lr"], 3, 2, 2),
}
ASSEMBLY = """
    .syntax unified
    .thumb
    .global _start
    .type _start, %function
_start:
    bl leaf
    bl leaf
    mov r7, #1
    svc #0
    .size _start, . - _start
    .type leaf, %function
leaf:
    mov r0, #0
    bx lr
    .size leaf, . - leaf
"""
# Line 2 ends the block before the loop, but not the block inside the loop.
LOOP = """
    .file 1 "loop.c"
    .global _start
    .type _start, %function
_start:
    .loc 1 1
    mov w1, #5
    .loc 1 2
    mov w2, #0
1:  add w2, w2, w1
    .loc 1 3
    subs w1, w1, #1
    b.ne 1b
    .loc 1 4
    mov x8, #93
    svc #0
    .size _start, . - _start
"""
THREADS = """
#include <pthread.h>
static int first(int n) { return n > 3 ? 1 : 2; }
static int second(int n) { if (n) n *= 2; return n; }
static void *one(void *p) { return (void *)(long)first(*(int *)p); }
static void *two(void *p) { return (void *)(long)second(*(int *)p); }
int main(void)
{
    pthread_t thread;
    int n = 5;
    pthread_create(&thread, 0, one, &n);
    pthread_join(thread, 0);
    pthread_create(&thread, 0, two, &n);
    pthread_join(thread, 0);
    return 0;
}
"""


def build(folder, text, compiler, *options):
    source, program, capture = folder / "program.c", folder / "program", folder / "capture"
    source.write_text(text)
    run(*compiler, "-o", program, source)
    run(CORETAP, "record", "-q", *options, "-o", capture, "--", program)
    return program, capture


def cover(program, capture, *options):
    report = json.loads(run(CORETAP, "cover", "-f", "json", "--elf", program, *options, capture))
    return report["programs"][0]


def check_hidden(folder, isa):
    code, hidden, ran, branches = CASES[isa]
    asm = "\n".join(f'"{line}\\n"' for line in code)
    program, capture = build(folder, PROGRAM % (asm, LEAVE[isa]), [*COMPILERS[isa], *FREE])
    report = cover(program, capture)
    sums = report["sums"]
    assert sums["unobservable_conditions"] == {"executed": ran, "all": hidden}, sums
    assert sums["branches"] == {"seen": branches,
                                "all": 2 * branches} and sums["conditions"]["all"] == branches, sums
    lines = [line for file in report["files"] for line in file["lines"] if "unobservable_conditions" in line]
    assert [line["unobservable_conditions"] for line in lines] == [{"executed": ran, "all": hidden}], lines
    page = run(CORETAP, "cover", "-f", "html", "--elf", program, capture)
    assert "files that were not read" not in page and report["unread_files"] == 0
    assert f"◂ {ran} condition{'s' * (ran > 1)} that no branch shows" in page
    text = run(CORETAP, "cover", "--elf", program, capture)
    says = f"{hidden} conditions are not observable (no branch shows them); {ran} executed"
    assert says in text and "not read" not in text, text
    (folder / "program.c").unlink()
    text = run(CORETAP, "cover", "--elf", program, capture)
    assert "1 source file was not read" in text and cover(program, capture)["unread_files"] == 1, text
    page = run(CORETAP, "cover", "-f", "html", "--elf", program, capture)
    assert "files that were not read, so that decisions end there with the line: 1." in page
    return f"{ran} of {hidden}"


def check_assembly(folder):
    """Checks that functions of T32 are found although GNU as sets bit 0 of their symbols' addresses."""
    program, capture = build(folder, ASSEMBLY, ["arm-linux-gnueabihf-gcc", "-g", "-nostdlib", "-static",
                                                "-x", "assembler"])
    functions = [(f["name"], f["address"] % 2, f["count"]) for f in cover(program, capture)["functions"]]
    assert functions == [("_start", 0, 1), ("leaf", 0, 2)], functions
    return f"{len(functions)} functions"


def check_loop(folder):
    """Checks that a line whose code the compiler put before a loop and into it ran as often as the loop."""
    program, capture = build(folder, LOOP, ["aarch64-linux-gnu-gcc", "-nostdlib", "-static", "-x",
                                            "assembler"])
    tracefile = run(CORETAP, "cover", "-f", "lcov", "--elf", program, capture)
    counts = re.findall(r"^DA:(.*)", tracefile, re.MULTILINE)
    assert counts == ["1,1", "2,5", "3,5", "4,1"], counts
    return f"{len(counts)} lines"


def check_big_endian(folder):
    """Checks a big-endian program (BE8, whose code is little-endian): the trace of its little-endian build
    gives the same coverage."""
    compiler = ["arm-linux-gnueabihf-gcc", "-mthumb", "-Wl,--build-id=none", *FREE]
    program, capture = build(folder, ASSEMBLY, [*compiler, "-x", "assembler"])
    run(*compiler, "-mbig-endian", "-Wl,--be8", "-o", folder / "be8", "-x", "assembler", folder / "program.c")
    be32 = bytearray((folder / "be8").read_bytes())
    be32[37] &= 0x7f  # EF_ARM_BE8
    (folder / "be32").write_bytes(be32)
    program.unlink()
    functions = cover(folder / "be8", capture)["functions"]
    got = [(f["name"], f["count"], f["line"]) for f in functions]
    assert got == [("_start", 1, 7), ("leaf", 2, 14)], got
    done = subprocess.run([CORETAP, "cover", "--elf", folder / "be32", capture], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 2 and "--be8" in done.stderr, done.stderr
    return f"{len(functions)} functions"


def turn_contexts(text):
    """Returns a coverage file of one program with its contexts in the opposite order, and the matching
    checksum."""
    head, *contexts = re.split(r"^(?=context )", text.rsplit("end ", 1)[0], flags=re.MULTILINE)
    assert len(contexts) > 1
    return with_sum(head + "".join(reversed(contexts)))


def check_contexts(folder):
    program, capture = build(folder, THREADS, ["aarch64-linux-gnu-gcc", "-O0", "-g", "-static"],
                             "--context-id", "--threads", "contexts")
    whole = cover(program, capture, "--contexts")
    contexts = whole["contexts"]
    assert len(contexts) == 3 and {c["exception_level"] for c in contexts} == {0}, contexts
    for context in contexts:
        alone = cover(program, capture, "--context", f"{context['context_id']:x}")
        assert alone["sums"] == context["sums"] and "contexts" not in alone, (context, alone["sums"])
    # Each line belongs to one thread here, so the parts add up to the whole.
    assert sum(c["sums"]["lines"]["seen"] for c in contexts) == whole["sums"]["lines"]["seen"]
    assert sum(c["sums"]["functions"]["seen"] for c in contexts) == whole["sums"]["functions"]["seen"] == 5
    rows = [row.split() for row in run(CORETAP, "cover", "--contexts", "--elf", program, capture).splitlines()
            if " id=" in row]
    assert [row[-2] for row in rows] == [f"id={c['context_id']:x}" for c in contexts], rows
    # The same from a coverage file.
    data = folder / "counts"
    data.write_text(run(CORETAP, "cover", "-f", "data", "--elf", program, capture))
    assert cover(program, data, "--contexts")["contexts"] == contexts
    # The order of threads in the trace varies; that of the table must not.
    data.write_text(turn_contexts(data.read_text()))
    assert cover(program, data, "--contexts")["contexts"] == contexts
    return f"{len(contexts)} contexts"


def in_folder(body):
    """Calls a test with an empty folder. Returns its note."""
    with tempfile.TemporaryDirectory() as folder:
        return body(pathlib.Path(folder))


def main():
    tests = [(f"conditions that no branch shows, {isa}", COMPILERS[isa][0],
              lambda f, i=isa: check_hidden(f, i)) for isa in CASES]
    tests.append(("assembly, T32", "arm-linux-gnueabihf-gcc", check_assembly))
    tests.append(("a line in front of a loop", "aarch64-linux-gnu-gcc", check_loop))
    tests.append(("big-endian", "arm-linux-gnueabihf-gcc", check_big_endian))
    tests.append(("contexts", "aarch64-linux-gnu-gcc", check_contexts))
    for name, compiler, body in tests:
        qemu = "qemu-aarch64" if "aarch64" in compiler else "qemu-arm"
        tap.case(name, tap.lacks(compiler, qemu), lambda body=body: in_folder(body))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
