#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares coretap graph with objdump, for the code that gcc and clang make of switches.c for A64, A32 and
T32.

usage: run_graph.py COMMAND SWITCHES.C

For every program: each block is a series of whole instructions, its edges follow from its last instruction,
every computed branch is a recognised table whose targets are instructions, and loops agree with
dominators."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, SOURCE = sys.argv[1], sys.argv[2]
PLAIN = ["-nostdlib", "-static", "-ffreestanding", "-fno-builtin", "-fno-stack-protector"]
CLANG = ["-fuse-ld=lld", *PLAIN]
TARGETS = {
    "gcc A64": ["aarch64-linux-gnu-gcc", *PLAIN],
    "gcc A32": ["arm-linux-gnueabihf-gcc", "-marm", *PLAIN],
    "gcc T32": ["arm-linux-gnueabihf-gcc", "-mthumb", *PLAIN],
    "clang A64": ["clang", "--target=aarch64-linux-gnu", *CLANG],
    "clang A32": ["clang", "--target=arm-linux-gnueabihf", "-march=armv7-a", "-marm", *CLANG],
    "clang T32": ["clang", "--target=arm-linux-gnueabihf", "-march=armv7-a", "-mthumb", *CLANG],
}
LEVELS = ["-O0", "-O1", "-O2", "-Os"]


def disassembly(program, arm64):
    """Returns {address: (size, mnemonic, operands)} as objdump disassembles the instructions."""
    tool = "aarch64-linux-gnu-objdump" if arm64 else "arm-linux-gnueabihf-objdump"
    rows = {}
    for line in subprocess.run([tool, "-d", program], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        match = re.match(r"\s*([0-9a-f]+):\t([0-9a-f ]+?)\s*\t(\S+)\s*(.*)", line)
        if match and not match[3].startswith("."):
            rows[int(match[1], 16)] = (len(match[2].replace(" ", "")) // 2, re.sub(r"\.[nw]$", "", match[3]),
                                       match[4])
    return rows


def blocks_of(graph):
    return [(function, block) for function in graph["functions"] for block in function["blocks"]]


def check_blocks(graph, rows):
    for _, block in blocks_of(graph):
        at, count = int(block["start"], 16), 0
        while at < int(block["end"], 16):
            assert at in rows, f"{at:x} is no instruction"
            last, at, count = at, at + rows[at][0], count + 1
        assert at == int(block["end"], 16) and last == int(block["last"],
                                                           16) and count == block["instructions"], block


def check_branches(graph, rows):
    """Checks that direct branches lead where objdump says, and conditional ones also to the next
    instruction."""
    for _, block in blocks_of(graph):
        _, name, operands = rows[int(block["last"], 16)]
        kinds = {edge["kind"] for edge in block["edges"]}
        target = re.search(r"\b(?:0x)?([0-9a-f]+) <", operands)
        if not target or not re.fullmatch(r"b|bl|blx|b\.?\w\w|cbn?z|tbn?z|bl\w\w", name):
            continue
        aims = {int(edge.get("target", "0"), 16) for edge in block["edges"]}
        assert int(target[1], 16) in aims, (block, operands)
        calls = name in ("bl", "blx") or re.fullmatch(r"bl(eq|ne|gt|lt|ge|le|hi|ls|cc|cs)", name)
        assert ("call" in kinds) == bool(calls), (block, name)
        assert ("next" in kinds) == (name not in ("b", "bl", "blx")), (block, name)


def check_tables(graph):
    tables = {}
    for function, block in blocks_of(graph):
        assert all(edge["kind"] != "unknown" for edge in block["edges"]), (function["name"], block)
        targets = [edge for edge in block["edges"] if edge["origin"] == "table"]
        if targets:
            tables.setdefault(function["name"], []).append(len(targets))
    return tables


def check_calls(graph):
    """Checks that nothing follows calls of stop(), which never returns, and something follows all others."""
    names = {f["name"]: f for f in graph["functions"]}
    assert not names["stop"]["returns"] and not names["_start"]["returns"]
    assert all(f["returns"] for f in graph["functions"] if f["name"] not in ("stop", "_start"))
    entry = {f["entry"]: f["name"] for f in graph["functions"]}
    for _, block in blocks_of(graph):
        kinds = [edge["kind"] for edge in block["edges"]]
        for edge in block["edges"]:
            if edge["kind"] == "call":
                assert ("called" in kinds) == (entry[edge["target"]] != "stop"), block


def dominators(blocks, entry):
    """Returns {block: blocks that are on every way to it}, by iteration."""
    inner = {b["id"]: [e["to"] for e in b["edges"] if e["kind"] in ("next", "branch", "called")
                       and e["to"] is not None]
             for b in blocks}
    reached, stack = {entry}, [entry]
    while stack:
        for to in inner[stack.pop()]:
            if to in inner and to not in reached:
                reached.add(to)
                stack.append(to)
    over = {b: set(reached) for b in reached}
    over[entry] = {entry}
    changed = True
    while changed:
        changed = False
        for b in reached - {entry}:
            ways = [over[f] for f in reached if b in inner[f]]
            new = set.intersection(*ways) | {b}
            changed, over[b] = changed or new != over[b], new
    return over, inner


def check_loops(graph):
    """Checks that an edge to a block that dominates its start goes back to the head of a loop, and that each
    such head has a loop."""
    heads = {loop["head"] for loop in graph["loops"] if not loop["irreducible"]}
    seen = set()
    for function in graph["functions"]:
        if not function["blocks"]:
            continue
        entry = next(b["id"] for b in function["blocks"] if b["start"] == function["entry"])
        over, inner = dominators(function["blocks"], entry)
        for block in function["blocks"]:
            number = block["id"]
            if number in over and number != entry:
                strict = over[number] - {number}
                nearest = next(d for d in strict if over[d] == strict)
                assert block["dominator"] == nearest, (function["name"], block, nearest)
            for to in inner[number]:
                if number in over and to in over[number]:
                    assert to in heads, (function["name"], block, to)
                    seen.add(to)
            for edge in block["edges"]:
                if edge["back"] and edge["to"] in heads:
                    assert edge["to"] in over[number], (function["name"], edge)
    assert heads == seen, (heads, seen)


def check(program, arm64):
    graph = json.loads(subprocess.run([COMMAND, "graph", "-f", "json", "--elf", program], capture_output=True,
                                      text=True, check=True).stdout)
    again = subprocess.run([COMMAND, "graph", "-f", "json", "--elf", program], capture_output=True, text=True,
                           check=True)
    assert json.loads(again.stdout) == graph
    rows = disassembly(program, arm64)
    check_blocks(graph, rows)
    check_branches(graph, rows)
    check_calls(graph)
    check_loops(graph)
    return check_tables(graph)


def tables(command, program, a64):
    subprocess.run([*command, "-o", program, SOURCE], check=True)
    return f"tables: {check(program, a64)}"


VENEER = """.syntax unified
.text
.thumb
.type veneer, %function
veneer: bx pc
 nop
 .arm
 b worker
.size veneer, .-veneer
.type worker, %function
worker: bx lr
.size worker, .-worker
.thumb
.global _start
.type _start, %function
_start: bl veneer
 bx lr
.size _start, .-_start
"""


def veneer(folder):
    """Checks that T32 code which enters A32 by BX PC, as linkers write it, leads on there."""
    source, program = folder / "veneer.s", folder / "veneer"
    source.write_text(VENEER)
    subprocess.run(["arm-linux-gnueabihf-gcc", "-nostdlib", "-static", "-o", program, source], check=True)
    graph = json.loads(subprocess.run([COMMAND, "graph", "-f", "json", "--elf", program], capture_output=True,
                                      text=True, check=True).stdout)
    functions = {f["name"]: f for f in graph["functions"]}
    kinds = [e["kind"] for b in functions["veneer"]["blocks"] for e in b["edges"]]
    assert sorted(kinds) == ["branch", "tail"] and functions["_start"]["returns"], functions


CHOSEN = """
static int plain(int x) { return x + 1; }
static int (*choose(void))(int) { return plain; }
int chosen(int x) __attribute__((ifunc("choose")));
__attribute__((noinline)) int first(int x) { return chosen(x ^ 3); }
__attribute__((noinline)) int second(int x) { return chosen(x + 5); }
void _start(void) { first(1); second(2); chosen(3); for (;;); }
"""


def stubs(folder, way):
    """Checks that the stub through which a static program calls a function that is chosen when it starts is a
    function, and not part of one that jumps to it."""
    source, program = folder / "chosen.c", folder / "chosen"
    source.write_text(CHOSEN)
    subprocess.run(["arm-linux-gnueabihf-gcc", way, "-O2", *PLAIN, "-o", program, source], check=True)
    graph = json.loads(subprocess.run([COMMAND, "graph", "-f", "json", "--elf", program], capture_output=True,
                                      text=True, check=True).stdout)
    functions = {f["name"]: f for f in graph["functions"]}
    assert "chosen@plt" in functions, list(functions)
    for name in ("first", "second"):
        kinds = [e["kind"] for b in functions[name]["blocks"] for e in b["edges"]]
        assert kinds == ["tail"] and functions[name]["returns"], functions[name]


def main():
    with tempfile.TemporaryDirectory() as folder:
        for target, command in TARGETS.items():
            lld = "clang" not in command[0] or shutil.which("ld.lld")
            missing = None
            if not shutil.which(command[0]) or not lld:
                missing = f"needs {command[0]}" + ("" if lld else " and ld.lld (Debian: lld)")
            for level in LEVELS:
                program = pathlib.Path(folder) / f"{target}{level}"
                tap.case(f"{target} {level}", missing,
                         lambda c=(*command, level), p=program, a="A64" in target: tables(c, p, a))
        missing = None if shutil.which("arm-linux-gnueabihf-gcc") else "needs arm-linux-gnueabihf-gcc"
        tap.case("a veneer from T32 to A32", missing, lambda: veneer(pathlib.Path(folder)))
        for way in ("-marm", "-mthumb"):
            tap.case(f"stubs of chosen functions, {way}", missing,
                     lambda w=way: stubs(pathlib.Path(folder), w))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
