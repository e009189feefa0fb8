#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the names that coretap decode prints beside addresses: those of the linker's symbol table, in all
formats, also for a stripped program with separate symbols, and none with --no-names. Prints TAP.

usage: test_decode_names.py CORETAP"""
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
TRIPLE = "aarch64-linux-gnu-"
TOOLS = [TRIPLE + tool for tool in ("g++", "nm", "strip", "objcopy")] + ["qemu-aarch64"]
LONG = "x" * 3000
ODD = 'a"b\\c, d'
SOURCE = f"""
#include <cstdio>
namespace shop {{
struct Till {{
    int sum = 0;
    __attribute__((noinline)) void add(int price) {{
        sum += price; for (int i = 0; i < price % 5; i++) asm volatile(""); }}
    template <class T> __attribute__((noinline)) T total(T rate) {{
        asm volatile(""); return static_cast<T>(sum) * rate; }}
}};
}}
extern "C" __attribute__((noinline)) int odd(int n) {{ asm volatile(""); return n + 1; }}
extern "C" __attribute__((noinline)) int {LONG}(int n) {{ asm volatile(""); return n + 2; }}
int main()
{{
    shop::Till till;
    for (int i = 0; i < 50; i++)
        till.add(odd({LONG}(i)));
    printf("%d\\n", till.total<int>(2));
    return 0;
}}
"""


def decode(capture, *options):
    return run(CORETAP, "decode", "-q", *options, capture).stdout.splitlines()


def rows(capture, *options):
    """Returns address and name of all branches."""
    lines = [line.split("\t") for line in decode(capture, *options)]
    return [(int(row[2], 16), row[3]) for row in lines if row[0] in ("Br", "Go")]


class Table:
    """The functions of a program as nm prints them."""

    def __init__(self, program):
        self.functions = {}
        for line in run(TRIPLE + "nm", "-S", "-C", program).stdout.splitlines():
            match = re.fullmatch(r"([0-9a-f]+) ([0-9a-f]+) [tTwWiI] (.*)", line)
            if match:
                self.functions.setdefault(int(match[1], 16), (int(match[2], 16), set()))[1].add(match[3])
        self.starts = sorted(self.functions)

    def names(self, addr):
        """Returns the valid names of an address, or an empty set where no function is."""
        start = self.starts[max(bisect.bisect_right(self.starts, addr) - 1, 0)]
        size, names = self.functions[start]
        if not start <= addr < start + size:
            return set()
        return {name + (f"+0x{addr - start:x}" if addr > start else "") for name in names}


def check_names(program, capture):
    table = Table(program)
    found = rows(capture)
    wrong = [(hex(addr), name) for addr, name in found if table.names(addr) and name not in table.names(addr)]
    known = sum(bool(table.names(addr)) for addr, _ in found)
    tap.check("each address has its name of the symbol table", not wrong and known > 500,
              (wrong[:5], known, len(found)))
    tap.check("no address is without a name", all(name for _, name in found),
              [row for row in found if not row[1]][:5])
    names = {name.partition("+")[0] for _, name in found}
    wanted = {"main", "shop::Till::add(int)", "int shop::Till::total<int>(int)", ODD, LONG}
    tap.check("names are readable, whatever is in them", wanted <= names, sorted(names)[:30])
    raw = {name.partition("+")[0] for _, name in rows(capture, "--no-demangle")}
    tap.check("--no-demangle", "_ZN4shop4Till3addEi" in raw and "shop::Till::add(int)" not in raw,
              sorted(raw)[:30])
    return found


def check_formats(capture, found):
    objects = [json.loads(line) for line in decode(capture, "--format", "jsonl")]
    tap.check("JSON",
              [(int(o["value"], 16), o["name"]) for o in objects if o["type"] in ("Br", "Go")] == found)
    tap.check("JSON: where an exception returns to",
              any(o.get("return_name", "").startswith(("__libc_write+", "__write+"))
                  for o in objects if o["type"] == "Exc"),
              [o for o in objects if o["type"] == "Exc"])
    table = list(csv.DictReader(decode(capture, "--format", "csv")))
    tap.check("CSV",
              [(int(row["value"], 16), row["note"]) for row in table if row["type"] in ("Br", "Go")] == found)
    merged = [line.split("\t") for line in decode(capture, "--merge")]
    tap.check("--merge", [(int(row[4], 16), row[5]) for row in merged if row[2] in ("Br", "Go")] == found)
    plain = [[*line.split("\t")[:3], ""] for line in decode(capture)[1:] if line.startswith(("Br", "Go"))]
    without = [line.split("\t") for line in decode(capture, "--no-names") if line.startswith(("Br", "Go"))]
    tap.check("--no-names: addresses alone", plain == without and len(plain) == len(found))


def check_exported(folder, capture):
    """Checks which file the exported perf.data names: the one that --symdir found, otherwise the image of the
    capture."""
    found, images = folder / "found.data", folder / "images.data"
    run(CORETAP, "export", "-q", "--perf", found, "--symdir", folder / "moved", capture)
    run(CORETAP, "export", "-q", "--perf", images, capture)
    program = str(folder / "moved" / "deep" / "elsewhere").encode()
    tap.check("export --symdir: the program that was found is named",
              program in found.read_bytes() and program not in images.read_bytes()
              and b"/mem_" in images.read_bytes())
    here = [addr for addr, _ in rows(capture)]
    tap.check("export --symdir: the same branches with its names",
              rows(found) == [(addr, f"elsewhere+0x{addr:x}") for addr in here] and len(here) > 500,
              rows(found)[:5])


def check_stripped(folder, program, found):
    """Records the same program without symbols, and checks that the names are found in other places."""
    symbols = folder / "symbols"
    symbols.mkdir()
    run(TRIPLE + "objcopy", "--only-keep-debug", program, symbols / "any.debug")
    stripped = folder / "stripped"
    shutil.copy(program, stripped)
    run(TRIPLE + "strip", "--remove-section=.eh_frame", "--remove-section=.eh_frame_hdr", stripped)
    capture = folder / "stripped.capture"
    run(CORETAP, "record", "-q", "-o", capture, "--", stripped)
    places = [(addr, name) for addr, name in rows(capture) if (addr, name) != (addr, f"stripped+0x{addr:x}")]
    tap.check("stripped: addresses in the module", not places, places[:5])
    main = [(addr, name) for addr, name in rows(capture, "--symdir", symbols)
            if name.startswith(("main", "shop::"))]
    wanted = [row for row in found if row[1].startswith(("main", "shop::"))]
    tap.check("stripped, with --symdir: names", main == wanted and len(main) > 100, (main[:3], wanted[:3]))
    moved = folder / "moved" / "deep"
    moved.mkdir(parents=True)
    shutil.move(stripped, moved / "elsewhere")
    result = run(CORETAP, "decode", capture)
    tap.check("a program that is not there is no error",
              "stripped" in result.stderr and "are unknown" in result.stderr and
              len(result.stdout.splitlines()) > 500, result.stderr)
    wrong = [(addr, name) for addr, name in rows(capture, "--symdir", folder / "moved")
             if name != f"elsewhere+0x{addr:x}"]
    tap.check("--symdir finds the program itself, too", not wrong, wrong[:5])
    for option in ("--elf", "--symdir"):
        said = run(CORETAP, "decode", option, moved / "elsewhere", capture).stderr
        wrong = [(addr, name) for addr, name in rows(capture, option, moved / "elsewhere")
                 if name != f"elsewhere+0x{addr:x}"]
        tap.check(f"{option}: the file that ran, from elsewhere, is not told as missing",
                  not said and not wrong, said or wrong[:5])
    check_exported(folder, capture)
    both = rows(capture, "--symdir", folder / "moved", "--symdir", symbols)
    tap.check("and its symbols in another folder",
              [row for row in both if row[1].startswith(("main", "shop::"))] == wanted, both[:5])
    same = rows(capture, "--elf", program)
    tap.check("--elf: another copy of it",
              [row for row in same if row[1].startswith(("main", "shop::"))] == wanted, same[:5])
    said = run(CORETAP, "decode", "--elf", folder / "none", capture, codes=(2,)).stderr
    tap.check("--elf: a file that is not there is an error", "none" in said, said)
    absent = folder / "absent" / stripped.name
    said = run(CORETAP, "decode", "--elf", absent, capture, codes=(2,)).stderr
    tap.check("--elf: nor is the program of that name that ran taken for it",
              str(absent) in said and str(stripped) in said, said)


def main():
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    missing += [part for part in ("demangle",) if part in parts.missing_parts(CORETAP)]
    if missing:
        print(f"1..0 # SKIP {', '.join(missing)} missing")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "till.cc").write_text(SOURCE)
        program = folder / "till"
        run(TRIPLE + "g++", "-O1", "-g", "-static", "-Wl,--build-id", "-o", program, folder / "till.cc")
        run(TRIPLE + "objcopy", "--redefine-sym", f"odd={ODD}", program)
        capture = folder / "capture"
        run(CORETAP, "record", "-q", "-o", capture, "--", program)
        found = check_names(program, capture)
        check_formats(capture, found)
        check_stripped(folder, program, found)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
