#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks small programs whose debug information or jump tables would become very large, and recordings with
very many processes: a command reports what it leaves out, and needs little memory. Prints TAP.

usage: test_hostile_programs.py CORETAP"""
import os
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cpu_time  # noqa: E402  pylint: disable=wrong-import-position
import perf_writer  # noqa: E402  pylint: disable=wrong-import-position
import small_elf  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, is_emulated, is_sanitized  # noqa: E402  pylint: disable=wrong-import-position

CORETAP = os.path.abspath(sys.argv[1])
CAPTURE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "quickstart"
CODE = CAPTURE / "firmware.bin"
BASE = 0x80000
MOST_MEMORY = 1 << 30
BOUND = not is_sanitized(CORETAP) and not is_emulated(CORETAP)
COMPILE_UNIT, NAME, LINES, LOW, HIGH = 0x11, 3, 0x10, 0x11, 0x12
STRING, ADDRESS, DATA8, OFFSET, TEXT_OFFSET = 8, 1, 7, 0x17, 14
SUBPROGRAM = 0x2e


def number(value):
    """Returns a number as LEB128."""
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes([*out, value])


def abbreviation(code, tag, *attributes):
    return number(code) + number(tag) + bytes([0, *(b for pair in attributes for b in pair), 0, 0])


def with_length(data):
    return struct.pack("<I", len(data)) + data


def units(count, entry, offsets=(0,)):
    """Returns units with one entry each. Their tables of abbreviations begin at `offsets`, in turns."""
    return b"".join(with_length(struct.pack("<HIB", 4, offsets[i % len(offsets)], 8) + entry)
                    for i in range(count))


def line_table():
    """Returns a line table in which all code belongs to line 7 of a.c."""
    head = bytes([4, 1, 1, 251, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0]) + b"a.c\0\0\0\0\0"
    program = (b"\0\x09\2" + struct.pack("<Q", BASE) + b"\3\6\1\2" + number(CODE.stat().st_size // 4)
               + b"\0\1\1")
    return with_length(struct.pack("<HI", 4, len(head)) + head + program)


def shared_names(folder):
    """Runs `graph` on a program whose names of functions are all ends of one long string."""
    count, longest = 2000, 300000
    code = struct.pack("<I", 0xd65f03c0) * count
    data = bytearray(small_elf.make(code, BASE, [
        (b"" if i else b"a" * longest, BASE + 4 * i, 4) for i in range(count)]))
    symbols = 64 + 56 + len(code) + 24
    for i in range(count):
        struct.pack_into("<I", data, symbols + 24 * i, 1 + i)
    program = folder / "names"
    program.write_bytes(data)
    return subprocess.run([CORETAP, "graph", "-f", "json", "--elf", str(program)], capture_output=True,
                          text=True, check=False)


def shared_debug_names(folder):
    """The same of debug information."""
    count, longest = CODE.stat().st_size // 4, 300000
    unit = abbreviation(1, COMPILE_UNIT, (LINES, OFFSET), (NAME, STRING), (LOW, ADDRESS), (HIGH, DATA8))
    table = unit.replace(b"\1\x11\0", b"\1\x11\1") + abbreviation(
        2, SUBPROGRAM, (NAME, TEXT_OFFSET), (LOW, ADDRESS), (HIGH, DATA8)) + b"\0"
    entry = b"\1" + bytes(4) + b"a.c\0" + struct.pack("<QQ", BASE, 4 * count)
    entry += b"".join(struct.pack("<BIQQ", 2, i, BASE + 4 * i, 4) for i in range(count)) + b"\0"
    return covered(folder, units(1, entry), table, (b".debug_str", b"a" * longest + b"\0"))


def shared_go_names(folder):
    """The same of the table of a program of Go, which is after its names."""
    count, longest = 3800, 4090  # a name of Go has less than 4096 bytes
    code = struct.pack("<I", 0xd65f03c0) * count
    names = b"\0" + b"a" * longest + b"\0"
    begin, record, index = 8 + 8 * 8, 44, 8 * count + 4
    at = begin + len(names)
    data = struct.pack("<IBBBBQQQQQQQQ", 0xfffffff1, 0, 0, 4, 8, count, 1, BASE, begin, at, at, at, at)
    data += names + b"".join(struct.pack("<II", 4 * i, index + record * i) for i in range(count))
    data += struct.pack("<I", 4 * count)
    data += b"".join(struct.pack("<Ii36x", 4 * i, 1 + i) for i in range(count)) + b"\0"
    program = folder / "go"
    program.write_bytes(small_elf.make(code, BASE, [], debug=[(b".gopclntab", data)]))
    return subprocess.run([CORETAP, "graph", "-f", "json", "--elf", str(program)], capture_output=True,
                          text=True, check=False)


def limit():
    """Limits the memory of a command."""
    if BOUND:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def covered(folder, entries, abbreviations, *more):
    """Runs `cover` with limited memory on a program with this debug information."""
    program = folder / "program"
    code = CODE.read_bytes()
    program.write_bytes(small_elf.make(code, BASE, [(b"f", BASE, len(code))], debug=[
        (b".debug_info", entries), (b".debug_abbrev", abbreviations), (b".debug_line", line_table()), *more]))
    return subprocess.run(
        [CORETAP, "cover", "-f", "lcov", "--elf", str(program), str(CAPTURE)], capture_output=True,
        text=True, check=False, stdin=subprocess.DEVNULL, preexec_fn=limit)


def shared_table(folder):
    """Runs `graph` on a program whose branches all use the same table of 4096 entries."""
    count, unit, entries = 400, 7, 4096
    table = count * unit + 1  # as all numbers here, in words of four bytes
    code = []
    for at in range(0, count * unit, unit):
        to_table = table - at - 2
        code += [0x713ffc1f,  # cmp w0, #4095
                 0x54000008 | (table - 1 - at - 1) << 5,  # b.hi to the return
                 0x10000001 | to_table << 5,  # adr x1, the table
                 0xb8a05820, 0x8b000020, 0xd61f0000,  # ldrsw x0, [x1, w0, uxtw #2]; add x0, x1, x0; br x0
                 0xd503201f]  # nop
    words = struct.pack(f"<{len(code) + 1}I", *code, 0xd65f03c0)
    words += struct.pack(f"<{entries}i", *(4 * (i % count * unit - table) for i in range(entries)))
    program = folder / "tables"
    program.write_bytes(small_elf.make(words, BASE, [(b"f", BASE, 4 * table)]))
    return subprocess.run([CORETAP, "graph", "--elf", str(program), "-o", os.devnull], capture_output=True,
                          text=True, check=False)


def recorded(folder, mappings, children):
    """Runs `cover` on a recording of a process that forks. The process maps a program, and more after it.
    Each child maps something else in place of the program. Then the process runs, and a child that changed
    nothing."""
    start = BASE + 120  # address of the code in the file
    trace = bytes(11) + bytes([0x80, 1, 0, 4, 0x85, (start & 0x1ff) >> 2, start >> 9 & 0x7f, start >> 16,
                               0, 0, 0, 0, 0, 0x30, 0xf7])
    writer = perf_writer.Writer([[1, 0x10, 0x28000ea1, 0x4100f400, 0x488, 0, 0xcc]])
    program = folder / "forks"
    program.write_bytes(small_elf.make(struct.pack("<I", 0x14000000), start, [(b"check", start, 4)]))
    writer.comm(1, "forks")
    for i in range(mappings):
        writer.map(1, BASE + 0x2000 * i, 0x1000, 0, program)
    for pid in range(2, children + 2):
        writer.time += 1
        writer.fork(pid, 1)
        writer.map(pid, BASE, 0x1000, 0x1000, "/gone")
    writer.fork(children + 2, 1)
    for pid in (1, children + 2):
        writer.run(pid, perf_writer.frames(trace, 0x10))
    recording = folder / "perf.data"
    recording.write_bytes(writer.whole())
    return subprocess.run([CORETAP, "cover", str(recording)], capture_output=True, text=True,
                          check=False, preexec_fn=limit)


def nested(folder, depth):
    """Returns the command that works out the control flow of `depth` nested loops."""
    backward = [0xb5000000 | (-(2 * i + 1) & 0x7ffff) << 5 for i in range(depth)]
    code = struct.pack(f"<{2 * depth + 1}I", *[0x91000400] * depth, *backward, 0xd65f03c0)
    program = folder / f"nested{depth}"
    program.write_bytes(small_elf.make(code, BASE, [(b"nested", BASE, len(code))]))
    return CORETAP, "graph", "-f", "json", "--elf", program


def main():
    unit = abbreviation(1, COMPILE_UNIT, (LINES, OFFSET), (NAME, STRING), (LOW, ADDRESS), (HIGH, DATA8))
    entry = b"\1" + bytes(4) + b"a.c\0" + struct.pack("<QQ", BASE, 16)
    variables = [abbreviation(code, 0x34) for code in range(2, 40000)]
    long = b"".join(variables) + unit + b"\0"
    begins = [sum(map(len, variables[:i])) for i in range(64)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        said = covered(folder, units(300, entry), unit + b"".join(variables[:600]) + b"\0")
        check("units that share one table have their lines", "\nDA:7," in said.stdout,
              said.stdout[:400] + said.stderr)
        for title, offsets in (("one table", (0,)), ("tables that overlap", begins)):
            said = covered(folder, units(20000, entry, offsets), long)
            check(f"many units of {title}, which is too long: said, and not read",
                  said.returncode in (0, 1) and ".debug_abbrev" in said.stderr and "a.c" not in said.stdout,
                  f"exit code {said.returncode}\n{said.stderr[:2000]}")
        said = shared_table(folder)
        check("many branches that share a jump table: said, and not all of them resolved",
              said.returncode == 0 and "jump tables" in said.stderr, said.stderr)
        for title, shared in (("names", shared_names), ("names in debug information", shared_debug_names),
                              ("names of Go", shared_go_names)):
            said = shared(folder)
            check(f"many {title} that share a long string: said, and cut",
                  said.returncode == 0 and "its symbol names" in said.stderr
                  and "a" * 256 + "..." in said.stdout and len(said.stdout) < 8 << 20,
                  f"exit code {said.returncode}, {len(said.stdout)} bytes\n{said.stderr[:2000]}")
        growth = cpu_time.growth(nested(folder, 5000), nested(folder, 5000 * cpu_time.TIMES))
        check(f"{cpu_time.TIMES} times as many loops, one in the other, take about as many times as long",
              growth < cpu_time.MOST, growth)
        print(f"# {growth:.1f} times", flush=True)
        said = recorded(folder, 1, 3)
        check("a child that maps something leaves the memory of its parent as it is",
              said.returncode == 0 and "1 of        1" in said.stdout, said.stdout + said.stderr)
        said = recorded(folder, 4000, 4000)
        check("many children that change many mappings: said, and not all of them followed",
              said.returncode in (0, 1) and "forked processes" in said.stderr
              and "1 of        1" in said.stdout,
              f"exit code {said.returncode}\n{said.stdout[:400]}{said.stderr[:2000]}")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
