#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks coretap list and decode with --symbols and --disasm: each executed instruction is listed, with the
name of the symbol table, the source line of addr2line and the mnemonic of objdump, in A64, A32 and T32.
Prints TAP.

usage: test_code_lines.py CORETAP"""
import bisect
import csv
import json
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command import run  # noqa: E402  pylint: disable=wrong-import-position
import parts  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

CORETAP = pathlib.Path(sys.argv[1]).resolve()
SOURCE = """
#ifdef __arm__
#define NARROW __attribute__((target("thumb"), noinline))
#define WIDE __attribute__((target("arm"), noinline))
#else
#define NARROW __attribute__((noinline))
#define WIDE NARROW
#endif
namespace shop {
struct Till {
    int sum = 0;
    NARROW void add(int price)
    {
        sum += price;
#ifdef __arm__
        asm volatile("cmp %0, #7; ite eq; addeq %0, %0, #1; addne.w %0, %0, #2; add %0, %0, #0"
                     : "+r"(price));
        /* In place of a return from an exception, which may lead into a block. */
        asm volatile("b 1f; it eq; 1: addeq %0, %0, #0" : "+r"(price) : : "cc");
#endif
        for (int i = 0; i < price % 5; i++)
            asm volatile("");
    }
};
}
NARROW int thrice(int n) asm("thrice.isra.0");
NARROW int thrice(int n)
{
    asm volatile("");
    return 3 * n;
}
WIDE int twice(int n)
{
    asm volatile("");
    return n < 20 ? 2 * n
                  : n;
}
int main()
{
    shop::Till till;
    for (int i = 0; i < 50; i++)
        till.add(twice(i));
    return till.sum == thrice(0);
}
"""
# Mnemonics that objdump and Capstone share. For other instructions each of them prints its own aliases.
HEADS = ("offset", "id", "kind")
PACKET_HEADS = ("offset", "id", "bytes", "type")
COMMON = {"add", "adds", "sub", "b", "bl", "blx", "bx", "cbz", "cbnz", "ldr", "ldp", "ret", "str", "stp",
          "addeq", "addne", "paciasp", "autiasp", "bti"}


def lines(*command):
    return run(CORETAP, *command).stdout.splitlines()


class Truth:
    """What binutils print about a program."""

    def __init__(self, triple, program):
        self.triple, self.program = triple, program
        self.mnemonics, self.starts, name = {}, {}, ""
        for line in run(triple + "objdump", "-d", "-C", program).stdout.splitlines():
            head = re.fullmatch(r"([0-9a-f]+) <(.*)>:", line)
            insn = re.match(r" *([0-9a-f]+):\t[0-9a-f ]+\t([a-z][\w.]*)", line)
            if head:
                name = head[2]
                self.starts.setdefault(name, int(head[1], 16))
            elif insn:
                self.mnemonics[int(insn[1], 16)] = insn[2].removesuffix(".n").removesuffix(".w")

    def sources(self, addrs):
        """Returns file:line of each address, "" where it is not known."""
        said = run(self.triple + "addr2line", "-e", self.program, *map(hex, addrs)).stdout.splitlines()
        return ["" if "?" in line else line.split(" (")[0] for line in said]


def listed(capture, *options):
    """Returns for each element its line and its lines of code, split into columns."""
    found = []
    for line in lines("list", "-q", "--elements", *options, capture):
        if line.startswith("\t"):
            found[-1][1].append(line[1:].split("\t"))
        else:
            found.append((line, []))
    return found


def number(line, key):
    return int(re.search(rf" {key}=([0-9a-f]+)", line)[1], 10 if key == "n" else 16)


def check_ranges(name, truth, found):
    """Checks that each range has one line of code for each instruction."""
    wrong, known = [], sorted(truth.mnemonics)
    ranges = [(line, code) for line, code in found if " instr_range " in line]
    for line, code in ranges:
        addrs = [int(row[0], 16) for row in code]
        first, last = (bisect.bisect_left(known, number(line, key)) for key in ("start", "end"))
        if len(addrs) != number(line, "n") or addrs != known[first:last]:
            wrong.append((line, code))
    tap.check(f"{name}: each instruction of a range has a line", not wrong and len(ranges) > 300,
              (wrong[:3], len(ranges)))


def check_names(name, truth, rows):
    mine = [(int(row[0], 16), row[1]) for row in rows if row[1].startswith(("shop::", "twice", "main"))]
    wrong = [(hex(addr), called) for addr, called in mine
             if truth.starts[called.partition("+")[0]] + int(called.partition("+0x")[2] or "0", 16) != addr]
    functions = {called.partition("+")[0] for _, called in mine}
    tap.check(f"{name}: functions and offsets are those of objdump",
              not wrong and {"shop::Till::add(int)", "twice(int)", "main"} <= functions,
              (wrong[:5], functions))


def check_sources(name, truth, rows):
    unique = dict((int(row[0], 16), row[2]) for row in rows)
    addrs = sorted(unique)
    wrong = [(hex(addr), unique[addr], said) for addr, said in zip(addrs, truth.sources(addrs))
             if unique[addr] != said and not said.endswith(":0")]
    told = sum("till.cc:" in source for source in unique.values())
    tap.check(f"{name}: source lines are those of addr2line", not wrong and told > 5, (wrong[:5], told))


def check_mnemonics(name, truth, rows):
    if "capstone" in parts.missing_parts(CORETAP):
        tap.check(f"{name}: opcodes", all(row[-1].startswith(".inst") for row in rows))
        return
    seen, wrong = 0, []
    for row in rows:
        wanted = truth.mnemonics[int(row[0], 16)]
        seen += wanted in COMMON
        if wanted in COMMON and row[-1].split()[0].removesuffix(".w") != wanted:
            wrong.append((row, wanted))
    tap.check(f"{name}: instructions have the mnemonics of objdump", not wrong and seen > 150,
              (wrong[:5], seen))


def check_alone(name, capture, found):
    """Checks each option alone, no option, and several threads."""
    plain = [line for line, _ in found]
    tap.check(f"{name}: the other lines stay", plain == lines("list", "-q", "--elements", capture))
    both = [row for _, code in found for row in code]
    disasm = [row for _, code in listed(capture, "--disasm") for row in code]
    tap.check(f"{name}: --disasm alone", disasm == [[row[0], row[3]] for row in both])
    changes = []
    for _, code in found:
        before = None
        for row in code:
            place = (row[1].partition("+")[0], row[2])
            if place != before:
                changes.append(row[:3])
            before = place
    symbols = [row for _, code in listed(capture, "--symbols") for row in code]
    tap.check(f"{name}: --symbols alone has a line for each function and source line",
              symbols == changes and len(symbols) < len(both), (symbols[:5], changes[:5]))
    tap.check(f"{name}: threads change nothing",
              listed(capture, "--symbols", "--disasm", "--threads", "3") == found)


def members_of(line, heads):
    """Returns the members of the JSON object that equals a line of text; all values are texts."""
    words = line.split(" ")
    return dict(zip(heads, words)) | dict(word.split("=", 1) for word in words[len(heads):])


def check_objects(name, capture, found):
    """Checks that --format jsonl has the same content as the text, and that each number is a JSON number."""
    told = [json.loads(line, object_pairs_hook=lambda pairs: pairs) for line in
            lines("list", "-q", "-e", "-f", "jsonl", "--symbols", "--disasm", capture)]
    twice = [pairs for pairs in told if len(dict(pairs)) < len(pairs)]
    wrong = []
    records = [record for record in found if record[0][0] != "#"]
    for pairs, (line, code) in zip(told, records):
        members = dict(pairs)
        rows = [dict(row) for row in members.pop("code", [])]
        columns = [[row["addr"], row["name"], f"{row['file']}:{row['line']}" if "file" in row else "",
                    row.get("instruction", "")] for row in rows]
        buffer = members.pop("buffer")
        if columns != code or not buffer.startswith("ETB") or \
                {key: str(value) for key, value in members.items()} != members_of(line, HEADS):
            wrong.append((members, line))
    tap.check(f"{name}: list says the same in JSON", len(told) == len(records) and not wrong and not twice,
              (wrong[:2], twice[:2], len(told)))
    numbers = {key for pairs in told for key, value in pairs if isinstance(value, int)}
    tap.check(f"{name}: counts are numbers", {"offset", "n", "last_sz"} <= numbers and "start" not in numbers,
              numbers)
    packets = [line for line in lines("list", "-q", "--packets", capture) if line[0] != "#"]
    objects = [json.loads(line) for line in lines("list", "-q", "--packets", "-f", "jsonl", capture)]
    wrong = [(line, o) for line, o in zip(packets, objects) if members_of(line, PACKET_HEADS) | {
        "buffer": o["buffer"]} != {key: str(value) for key, value in o.items()}]
    tap.check(f"{name}: so it does of packets", len(packets) == len(objects) > 100 and not wrong, wrong[:2])


def check_decode(name, truth, capture):
    """Checks the columns of events in all formats."""
    table = [line.split("\t") for line in lines("decode", "-q", "--symbols", "--disasm", capture)]
    tap.check(f"{name}: decode has columns of these names",
              table[0] == ["type", "cycle", "value", "note", "source", "instruction"], table[0])
    rows = [[row[2][2:], row[3], row[4], row[5]] for row in table if row[0] in ("Br", "Go")]
    check_names(f"{name}, decode", truth, rows)
    check_sources(f"{name}, decode", truth, rows)
    check_mnemonics(f"{name}, decode", truth, rows)
    objects = [json.loads(line) for line in lines("decode", "-q", "-f", "jsonl", "--symbols", "--disasm",
                                                  capture)]
    told = [(o["value"][2:], o["name"], f"{o['file']}:{o['line']}" if "file" in o else "",
             o.get("instruction", "")) for o in objects if o["type"] in ("Br", "Go")]
    tap.check(f"{name}: decode says the same in JSON", told == [tuple(row) for row in rows], told[:3])
    comma = list(csv.DictReader(lines("decode", "-q", "-f", "csv", "--symbols", "--disasm", capture)))
    told = [[row["value"][2:], row["note"], row["source"], row["instruction"]] for row in comma
            if row["type"] in ("Br", "Go")]
    tap.check(f"{name}: and as CSV", told == rows, told[:3])
    merged = [line.split("\t") for line in lines("decode", "-q", "--merge", "--symbols", "--disasm", capture)]
    told = [[row[4][2:], *row[5:]] for row in merged if row[2] in ("Br", "Go")]
    tap.check(f"{name}: and with --merge", told == rows, told[:3])


def check_copy(name, folder, program):
    """Checks the name of a function of which only a copy that the compiler made is left."""
    capture = folder / "copy"
    run(CORETAP, "record", "-q", "--cycle-count", "-o", capture, "--start", "main", "--", program)
    graph = lines("graph", "--elf", program, "--function", "thrice")
    tap.check(f"{name}: graph of a copy", any(line.startswith("thrice.isra.0 ") for line in graph), graph[:3])
    path = lines("wcet", "-q", "--entry", "thrice", capture)
    tap.check(f"{name}: the longest path of a copy", "entry=thrice" in path, path[:3])
    run(CORETAP, "record", "-q", "-o", folder / "part", "--start", "thrice", "--", program)
    rows = [row for _, code in listed(folder / "part", "--symbols", "--disasm") for row in code]
    tap.check(f"{name}: a recording from a copy on", rows[0][1] == "thrice.isra.0", rows[:2])


def check_program(name, folder, triple, *options):
    folder.mkdir()
    source, program, capture = folder / "till.cc", folder / "till", folder / "capture"
    source.write_text(SOURCE)
    run(triple + "g++", "-O1", "-g", "-static", *options, "-o", program, source)
    run(CORETAP, "record", "-q", "-o", capture, "--start", "main", "--", program)
    truth = Truth(triple, program)
    found = listed(capture, "--symbols", "--disasm")
    rows = [row for line, code in found for row in code if " instr_range " in line]
    check_ranges(name, truth, found)
    check_names(name, truth, rows)
    check_sources(name, truth, rows)
    check_mnemonics(name, truth, rows)
    check_alone(name, capture, found)
    check_objects(name, capture, found)
    check_decode(name, truth, capture)
    check_copy(name, folder, program)
    events = lines("decode", "-q", "--disasm", capture)
    run(triple + "strip", program)
    bare = listed(capture, "--symbols", "--disasm")
    rows = [row for line, code in bare for row in code]
    told = [[[row[0], row[3]] for line, code in both if " exception " in line for row in code]
            for both in (found, bare)]
    tap.check(f"{name}, stripped: the same instruction after an exception", told[0] == told[1] and told[0],
              [pair for pair in zip(*told) if pair[0] != pair[1]][:3])
    pairs = [(a.split("\t")[-1], b.split("\t")[-1])
             for a, b in zip(events, lines("decode", "-q", "--disasm", capture), strict=True)]
    wrong = [pair for pair in pairs if pair[1] not in ("", pair[0])]
    tap.check(f"{name}, stripped: decode shows no other instruction", not wrong, wrong[:3])
    tap.check(f"{name}, stripped: every address has a name, and its instruction",
              len(rows) > 1000 and all(re.fullmatch(r"till\+0x[0-9a-f]+", row[1]) and not row[2] and row[3]
                                       for row in rows), rows[:5])


def check_exceptions(folder):
    """Checks instructions that exceptions return to, in libraries without symbols, where they run later."""
    program, capture = folder / "shared", folder / "shared-capture"
    (folder / "till.cc").write_text(SOURCE)
    run("arm-linux-gnueabihf-g++", "-O1", "-o", program, folder / "till.cc")
    run(CORETAP, "record", "-q", "-o", capture, "--", program)
    code = listed(capture, "--disasm")
    ran = {row[0]: row[1] for line, rows in code if " instr_range " in line for row in rows}
    back = [row for line, rows in code if " exception " in line for row in rows if row[0] in ran]
    wrong = [row for row in back if row[1] != ran[row[0]]]
    tap.check("T32 without symbols: instructions after exceptions", back and not wrong, wrong[:3])


def main():
    missing = [name for name in ("aarch64-linux-gnu-g++", "arm-linux-gnueabihf-g++", "qemu-aarch64",
                                 "qemu-arm") if not shutil.which(name)]
    missing += [part for part in ("demangle",) if part in parts.missing_parts(CORETAP)]
    if missing:
        print(f"1..0 # SKIP {', '.join(missing)} missing")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_program("A64", folder / "wide", "aarch64-linux-gnu-", "-mbranch-protection=standard")
        check_program("A32 and T32", folder / "narrow", "arm-linux-gnueabihf-")
        check_exceptions(folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
