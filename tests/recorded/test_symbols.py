#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks names and bounds of functions: a program and its stripped copies of every kind have the same ones.
Prints TAP.

usage: test_symbols.py DUMP COMMAND    (tests/recorded/symbols_dump.c; COMMAND says which parts were built)"""
import http.server
import lzma
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command import output as run  # noqa: E402  pylint: disable=wrong-import-position
from parts import missing_parts  # noqa: E402  pylint: disable=wrong-import-position
from tap import case, check, finish, skip, some  # noqa: E402  pylint: disable=wrong-import-position

DUMP, NO_LZMA = "", None
A64, ARM = "aarch64-linux-gnu-", "arm-linux-gnueabihf-"
SOURCE = """#include <stdexcept>
#include <string>
#include <vector>
#include <cstdio>
#include <cstdlib>
#define KEEP __attribute__((noinline, noclone))
struct shape { virtual ~shape() = default; virtual int area(int) const = 0; };
struct square : shape { int area(int n) const override { return n * n; } };
template <class T> static KEEP T twice(const T &value) { return value + value; }
static KEEP int checked(int n) { if (n > 900) throw std::runtime_error("large"); return n + 1; }
KEEP int exported(const shape &s, int n) { return s.area(n) + checked(n); }
static KEEP int leaf(int n) { return n / 3; }
int main(int argc, char **) {
    square s;
    std::vector<std::string> words;
    int sum = 0;
    for (int i = 0; i < argc * 3; i++) {
        try { sum += exported(s, i) + leaf(i); } catch (const std::exception &e) { std::puts(e.what()); }
        words.push_back(twice(std::string("x")));
    }
    std::printf("%d %zu %d\\n", sum, words.size(), twice(std::abs(sum)));
}
"""
OWN = ("twice", "checked", "exported", "leaf", "main", "area")
PROGRAMS = [  # name, tools, compiler's options
    ("A64", A64, ["-O1", "-g"]),
    ("A64, no BTI or PAC", A64, ["-O1", "-g", "-mbranch-protection=none"]),
    ("A64, BTI and PAC in the PLT", A64,
     ["-O1", "-g", "-mbranch-protection=standard", "-Wl,-z,force-bti", "-Wl,-z,pac-plt"]),
    ("A64, static", A64, ["-O1", "-g", "-static"]),
    ("A64, exports its functions", A64, ["-O1", "-g", "-rdynamic"]),
    ("A32", ARM, ["-O1", "-g", "-marm"]),
    ("T32", ARM, ["-O1", "-g", "-mthumb"]),
]
RUST = [
    "_ZN4core3fmt9Formatter3pad17h1234567890abcdefE",
    "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
    "_ZN3foo17h05af221e174051e9E", "_RNvC6_123foo3bar",
    "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
    "_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_",
    "_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate", "_RINvNtC3std3mem8align_ofdE",
    "_RNvNvMCs4fqI2P2rA04_13const_genericINtB4_3FooKpE3FOO", "_R", "_RN", "_ZN3fooE.llvm.1234"
]
HOSTILE = ["_Z", "_Z1", "_ZN", "_Z1fIXE", "_Z99999999999999999999f", "_RYFG_FGyG_" * 20,
           "_ZN" + "1a" * 3000 + "E", "_Z1f" + "P" * 4000 + "i"]


def dump(path, *options, **more):
    """Returns [(address, size, source, isa, name, label)], and the messages."""
    done = subprocess.run([DUMP, *map(str, options), str(path)], capture_output=True, text=True, check=True,
                          timeout=300, **more)
    rows = [re.match(r"(\w+) (\d+) (\w+) (\d+) (.*) \| (.*)", line).groups()
            for line in done.stdout.splitlines()[1:]]
    return [(int(r[0], 16), int(r[1]), r[2], int(r[3]), r[4], r[5]) for r in rows], done.stderr


def named(rows):
    """Returns functions of the symbol table, wherever their names come from."""
    return {row[0]: (row[1], row[3], row[4]) for row in rows
            if row[2] in ("symtab", "dynsym", "minidebug", "debugfile", "go")}


def compare(name, rows, whole, source):
    want, got = named(whole), named(rows)
    wrong = [f"{addr:x}: {got.get(addr)}, not {want.get(addr)}" for addr in sorted({**want, **got})
             if got.get(addr) != want.get(addr)]
    check(f"{name}: {len(want)} functions as with all symbols",
          not wrong and any(row[2] == source for row in rows), wrong or [f"none from {source}"])


def function_names(tools, path, *options):
    text = run(tools + "nm", "--format=posix", "--defined-only", *options, path)
    return {line.split()[0] for line in text.splitlines() if line.split()[1] in "TtWwiVv"}


def mini_debug(tools, whole, out):
    """Returns the packed names that .dynsym does not have, as distributions add them."""
    keep = out.with_suffix(".keep")
    keep.write_text("\n".join(sorted(function_names(tools, whole) - function_names(tools, whole, "-D"))))
    run(tools + "objcopy", "--only-keep-debug", whole, out)
    run(tools + "objcopy", "-S", "--remove-section=.comment", f"--keep-symbols={keep}", out)
    return lzma.compress(out.read_bytes())


def add_section(tools, program, data, out):
    raw = out.with_suffix(".raw")
    raw.write_bytes(data)
    run(tools + "objcopy", f"--add-section=.gnu_debugdata={raw}", program, out)
    return out


class Server(http.server.ThreadingHTTPServer):
    """A debuginfod server: /buildid/ID/debuginfo."""

    def __init__(self, files):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # pylint: disable=invalid-name
                data = files.get(self.path)
                self.send_response(200 if data else 404)
                self.send_header("Content-Length", str(len(data or b"")))
                self.end_headers()
                self.wfile.write(data or b"")

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def build_id(program):
    return re.search(r"Build ID: (\w+)", run("readelf", "-n", program))[1]


def separate_files(name, tools, folder, whole, rows):
    """Checks that the same debug file is found in each of the places where it can be."""
    stripped = folder / "root" / "usr" / "bin" / "program"
    stripped.parent.mkdir(parents=True)
    debug = folder / "program.debug"
    run(tools + "objcopy", "--only-keep-debug", whole, debug)
    run(tools + "objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", whole, stripped)
    ident = build_id(whole)
    by_id = f".build-id/{ident[:2]}/{ident[2:]}.debug"
    root = folder / "root" / "usr" / "lib" / "debug"
    places = [("beside", stripped.parent / "program.debug", []),
              (".debug", stripped.parent / ".debug" / "program.debug", []),
              ("usr/lib/debug, by link", root / "usr" / "bin" / "program.debug", []),
              ("usr/lib/debug, by build id", root / by_id, []),
              ("--symdir", folder / "deep" / "a" / "b" / "any name", ["--symdir", folder / "deep"])]
    for place, path, options in places:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(debug, path)
        compare(f"{name}: debug file: {place}", dump(stripped, *options)[0], rows, "debugfile")
        path.unlink()
    other = bytearray(debug.read_bytes())
    other[-1] ^= 1
    (stripped.parent / "program.debug").write_bytes(other)
    got = dump(stripped)[0]
    check(f"{name}: debug file with the same build id but another checksum",
          any(row[2] == "debugfile" for row in got), len(got))
    run(tools + "objcopy", "--remove-section=.note.gnu.build-id", stripped)
    got, said = dump(stripped)
    check(f"{name}: debug file with another checksum and no build id is not taken",
          not any(row[2] == "debugfile" for row in got), len(got))
    check(f"{name}: debug file with another checksum and no build id is named",
          "/program.debug: this file has another checksum than .gnu_debuglink of" in said, said)
    (stripped.parent / "program.debug").write_bytes(debug.read_bytes())
    compare(f"{name}: debug file by checksum alone", dump(stripped)[0], rows, "debugfile")
    return debug, ident


def served(folder, whole, debug, ident, rows):
    if not any(pathlib.Path("/usr/lib").glob("*/libdebuginfod.so.1")):
        skip("debug file from a debuginfod server",
             "its client library is not installed (Debian: libdebuginfod1)")
        return
    stripped = folder / "alone"
    run(A64 + "strip", "-o", stripped, whole)
    with Server({f"/buildid/{ident}/debuginfo": debug.read_bytes()}) as server:
        env = {**os.environ, "DEBUGINFOD_URLS": f"http://127.0.0.1:{server.server_port}",
               "DEBUGINFOD_CACHE_PATH": str(folder / "cache")}
        compare("debug file from a debuginfod server", dump(stripped, env=env)[0], rows, "debugfile")
        cached = folder / "cache" / ident / "debuginfo"
        cached.chmod(0o600)
        cached.write_bytes(b"damaged")
        said = dump(stripped, env=env)[1]
        check("a damaged file in the cache is named", f"{cached}: this file of a debuginfod server" in said,
              said)
        said = dump(stripped, env={**env, "DEBUGINFOD_CACHE_PATH": str(stripped)})[1]
        check("a cache that is no folder is named", "cannot be stored in this cache: Not a dir" in said, said)
        server.shutdown()


def stripped_bounds(name, tools, folder, whole, rows):
    """Checks that unwind information alone gives the bounds of compiled functions."""
    stripped = folder / "stripped"
    run(tools + "strip", "-o", stripped, whole)
    got = {row[0]: row for row in dump(stripped)[0]}
    own = [row for row in rows if row[2] == "symtab" and any(word in row[5] for word in OWN)
           and "std::" not in row[5]]
    exact = tools == A64  # .ARM.exidx says where functions begin, and leaves out those that share an entry
    wrong = [f"{row[5]} {row[0]:x} {row[1]}: {got.get(row[0])}" for row in own if row[0] in got or exact
             if got.get(row[0], (0, 0))[1] != row[1] and exact]
    check(f"{name}: bounds of {len(own)} functions without any name", len(own) >= 6 and not wrong, wrong)
    if exact:
        nameless = [row for row in got.values() if row[2] in ("unwind", "code")]
        check(f"{name}: what has no name is module+address",
              all(row[4] == f"stripped+0x{row[0]:x}" for row in nameless), nameless[:3])
    return stripped


def plt(name, tools, whole, rows):
    text = run(tools + "objdump", "-d", whole)
    want = {int(m[1], 16): m[2] + "@plt" for m in re.finditer(r"^([0-9a-f]+) <([^*>+]+)@plt>:", text, re.M)}
    got = {row[0]: row[4] for row in rows if row[2] == "plt"}
    wrong = [f"{addr:x}: {got.get(addr)}, not {want.get(addr)}" for addr in sorted({**want, **got})
             if got.get(addr) != want.get(addr)]
    check(f"{name}: {len(want)} entries of the PLT as objdump has them", len(want) > 5 and not wrong, wrong)


def no_overlap(name, rows):
    """Checks that pieces of code are in no function, and that the text has no holes."""
    ends, faults = 0, []
    for addr, size, source, *_ in sorted(rows):
        if source == "code" and addr < ends:
            faults.append(f"{addr:x}: inside of what ends at {ends:x}")
        ends = max(ends, addr + size)
    check(f"{name}: pieces of code are in no function", not faults, faults)


def claim_dictionary(packed, size):
    """Changes the dictionary size in the header of an xz file (36: 1 GiB); making such a file takes ten times
    as much memory."""
    data = bytearray(packed)
    header = 12  # behind the magic of the stream and its flags
    # Of the block's header without its CRC; flags, filter (LZMA2, one byte), size.
    end = header + 4 * data[header]
    assert data[header + 2:header + 4] == b"\x21\x01"
    data[header + 4] = size
    data[end:end + 4] = zlib.crc32(data[header:end]).to_bytes(4, "little")
    return bytes(data)


def damaged(folder, stripped, packed, whole_rows):
    """Checks that faults of .gnu_debugdata are reported, and that the program's own names remain."""
    want = dump(stripped)[0]
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))  # noqa: E731
    flipped = bytearray(packed)
    flipped[len(flipped) // 2] ^= 0x55
    huge = lzma.compress(bytes(1 << 28), preset=1)
    kinds = [("cut", packed[:-40]), ("a few bytes", packed[:9]), ("flipped", bytes(flipped)),
             ("no xz", b"something else, that is no xz"),
             ("xz of something else", lzma.compress(b"no ELF file" * 50)), ("2^28 zeros", huge),
             ("a dictionary of 1 GiB", claim_dictionary(lzma.compress(b"x" * 4096), 36)),
             ("an ELF file of another machine", lzma.compress(pathlib.Path(DUMP).read_bytes()))]
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    if "asan" in DUMP:
        limit = None
    for kind, data in kinds:
        file = add_section(A64, stripped, data, folder / "damaged")
        rows, said = dump(file, preexec_fn=limit, env=env)  # pylint: disable=subprocess-popen-preexec-fn
        check(f"damaged: {kind}", [row[:4] for row in rows] == [row[:4] for row in want]
              and ".gnu_debugdata" in said, said or "nothing said")
    compare("damaged: not at all", dump(add_section(A64, stripped, packed, folder / "damaged"))[0],
            whole_rows, "minidebug")


def compile_program(folder, tools, options):
    source = folder / "program.cpp"
    source.write_text(SOURCE)
    whole = folder / "whole"
    run(tools + "g++", *options, "-Wl,--build-id", "-o", whole, source)
    return whole


def one(name, tools, options, folder):
    folder.mkdir()
    whole = compile_program(folder, tools, options)
    rows, said = dump(whole)
    check(f"{name}: nothing is said", not said, said)
    no_overlap(name, rows)
    if "static" not in name:
        plt(name, tools, whole, rows)
    stripped = stripped_bounds(name, tools, folder, whole, rows)
    packed = mini_debug(tools, whole, folder / "mini")
    named, said = dump(add_section(tools, stripped, packed, folder / "with-mini"))
    if NO_LZMA:
        check(f"{name}: .gnu_debugdata that nothing can read is told", "built without (liblzma)" in said,
              said or "nothing said")
        skip(f"{name}: .gnu_debugdata", NO_LZMA)
    else:
        compare(f"{name}: .gnu_debugdata", named, rows, "minidebug")
    debug, ident = separate_files(name, tools, folder, whole, rows)
    if name == "A64":
        served(folder, whole, debug, ident, rows)
        if NO_LZMA:
            skip("damaged .gnu_debugdata", NO_LZMA)
        else:
            damaged(folder, stripped, packed, rows)


def dump_lines(path, *options):
    done = subprocess.run([DUMP, *map(str, options), "--lines", str(path)], capture_output=True, text=True,
                          check=True, timeout=300)
    return sorted(done.stdout.splitlines()), done.stderr


def lines_elsewhere(folder):
    """Checks debug information in a separate file, and in one that several programs share through dwz."""
    folder.mkdir()
    whole = compile_program(folder, A64, ["-O1", "-g"])
    want, said = dump_lines(whole)
    check("lines: there are some", len(want) > 500 and not said, said)
    other = folder / "other"
    (folder / "other.cpp").write_text(SOURCE.replace("sum += exported", "sum -= exported"))
    run(A64 + "g++", "-O1", "-g", "-Wl,--build-id", "-o", other, folder / "other.cpp")
    stripped = folder / "stripped"
    debug = folder / "whole.debug"
    run(A64 + "objcopy", "--only-keep-debug", whole, debug)
    run(A64 + "objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", whole, stripped)
    got, said = dump_lines(stripped)
    check("lines: of a separate file", got == want and not said,
          [line for line in want if line not in set(got)][:5])
    debug.unlink()
    check("lines: without it there are none", dump_lines(stripped) == ([], ""))
    if not shutil.which("dwz"):
        skip("lines: of a file that dwz made", "dwz is not installed")
        return
    shared = folder / "shared" / "common.debug"
    shared.parent.mkdir()
    run("dwz", "-m", shared, "-M", shared, whole, other)
    check("lines: dwz moved something", shared.exists() and shared.stat().st_size > 1000)
    got, said = dump_lines(whole)
    check("lines: of a file that dwz made, by its path", got == want and not said,
          said or [line for line in want if line not in set(got)][:5])
    moved = folder / "root" / "usr" / "lib" / "debug" / ".build-id" / build_id(shared)[:2] / (
        build_id(shared)[2:] + ".debug")
    moved.parent.mkdir(parents=True)
    shared.rename(moved)
    got, said = dump_lines(whole)
    check("lines: a shared file that is not there is named", "common.debug" in said and got != want, said)
    check("lines: of a file that dwz made, with --symdir",
          dump_lines(whole, "--symdir", folder / "root") == (want, ""))
    inside = folder / "root" / "usr" / "bin" / "whole"
    inside.parent.mkdir(parents=True)
    shutil.copy(whole, inside)
    check("lines: of a file that dwz made, by build id below the root", dump_lines(inside) == (want, ""))


def demangling():
    if not subprocess.run([DUMP, "--demangle"], input="_Z1fv\n", text=True, capture_output=True,
                          check=True).stdout.startswith("f()"):
        skip("demangling", "built without libiberty")
        return
    library = next((path for path in map(pathlib.Path, ("/usr/aarch64-linux-gnu/lib/libstdc++.so.6",))
                    if path.exists()), None)
    names = sorted({row[4] for row in dump(library, "--raw")[0] if row[2] == "dynsym"}) if library else []
    names += RUST + HOSTILE
    text = "\n".join(names) + "\n"
    want = run("c++filt", "-i", input=text).splitlines()
    got = run(DUMP, "--demangle", input=text).splitlines()
    wrong = [f"{name}: {g}, not {w}" for name, g, w in zip(names, got, want) if g != w]
    check(f"{len(names)} names as c++filt writes them",
          len(names) > 3000 and len(got) == len(want) and not wrong, wrong)
    check("many of them are mangled", sum(name != g for name, g in zip(names, got)) > 3000)
    if library:
        raw, labelled = dump(library, "--raw")[0], dump(library)[0]
        check("--raw: labels are the names",
              all(row[4] == row[5] for row in raw) and any(row[4] != row[5] for row in labelled))


GO = """package main

type shape struct{ side int }

//go:noinline
func (s *shape) area() int { return s.side * s.side }

func main() {
	sum := 0
	for i := 0; i < 10; i++ {
		sum += (&shape{i}).area()
	}
	println(sum)
}
"""


def check_go(folder, architecture):
    """Checks that a Go program keeps its names, which its run time needs, when it is stripped."""
    name = f"Go, {architecture}"
    if not shutil.which("go"):
        skip(name, "go is missing (Debian: golang-go)")
        return
    source, program, stripped = folder / "shapes.go", folder / "shapes", folder / "shapes.stripped"
    source.write_text(GO)
    run("go", "build", "-o", program, source,
        env={**os.environ, "GOOS": "linux", "GOARCH": architecture, "CGO_ENABLED": "0", "GOFLAGS": "",
             "GOCACHE": str(folder / "cache"), "GOPATH": str(folder)})
    run(("aarch64-linux-gnu-" if architecture == "arm64" else "arm-linux-gnueabihf-") + "strip", "-o",
        stripped, program)
    want, got = named(dump(program)[0]), named(dump(stripped)[0])
    # The run time has neither the calling convention nor the types that a generic function is made for.
    plain = {addr: (row[1], re.sub(r"\[[^]]*\]", "[...]", row[2].removesuffix(".abi0")))
             for addr, row in want.items()}
    odd = [(hex(addr), row, want.get(addr)) for addr, row in got.items() if row[1:] != plain.get(addr)]
    own = {row[2] for row in got.values() if row[2].startswith("main.")}
    check(f"{name}: {len(got)} functions of a stripped program have their names",
          not odd and len(got) > 1000 and own == {"main.main", "main.(*shape).area"}, (odd[:3], own))


def main():
    global DUMP, NO_LZMA
    DUMP = str(pathlib.Path(sys.argv[1]).resolve())
    NO_LZMA = missing_parts(sys.argv[2]).get("lzma")
    with tempfile.TemporaryDirectory(prefix="ct-symbols-") as name:
        for number, (title, tools, options) in enumerate(some(PROGRAMS, 2, 6)):
            if not shutil.which(tools + "g++"):
                skip(title, f"{tools}g++ is not installed")
                continue
            one(title, tools, options, pathlib.Path(name) / str(number))
        if shutil.which(A64 + "g++"):
            lines_elsewhere(pathlib.Path(name) / "lines")
        # The Go compiler compiles its library first; tests/unit/test_go_table.c reads such tables, too.
        for architecture in some(("arm64", "arm")):
            folder = pathlib.Path(name) / architecture
            folder.mkdir()
            check_go(folder, architecture)
        demangling()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
