#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that debug information is not trusted: line tables that name files of this machine reveal nothing of
them, and unpacked sections have a size limit. The programs are made here; the coverage file needs no
trace. Prints TAP.

usage: test_cover_trust.py CORETAP"""
import os
import pathlib
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tap import check, finish, is_sanitized, skip  # noqa: E402  pylint: disable=wrong-import-position

CC = "aarch64-linux-gnu-gcc"
OBJCOPY = "aarch64-linux-gnu-objcopy"
SECRET = "root:$6$not-for-pages:19000"
SHOWN = "int shown(int n) { return n + 1; } // the own source"


def compiled(program, named):
    """Compiles a program whose line table names each file of `named`."""
    text = "".join(f'#line 1 "{path}"\nint f{i}(int n) {{ return n * {i + 3}; }}\n'
                   for i, path in enumerate(named))
    text += "void _start(void) { for (;;) ; }\n"
    subprocess.run([CC, "-x", "c", "-", "-g", "-gz=none", "-O1", "-nostdlib", "-static", "-o", str(program)],
                   input=text, text=True, check=True, cwd=program.parent)
    return program


def page(coretap, program, *options, cwd="/", form="html", limit=None):
    """Runs cover on counts without any executed instruction of the program. Returns exit code, page and
    messages."""
    counts = program.parent / "counts"
    counts.write_text(f"coretap-coverage 1\nprogram 400000 410000 - {program}\ncontext 0 0 0 0 0\n"
                      "run 400000 400004 1\n")

    def bound():
        if limit and not is_sanitized(coretap):
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    done = subprocess.run([coretap, "cover", "--quiet" if form == "text" else "--verbose", "--format", form,
                           *options, str(counts)],
                          capture_output=True, text=True, timeout=300, cwd=cwd, preexec_fn=bound, check=False)
    return done.returncode, done.stdout, done.stderr


def check_sources(coretap, folder):
    tree, outside, other = (folder / name for name in ("tree", "outside", "other"))
    for place in (tree / "src", outside, other):
        place.mkdir(parents=True)
    (outside / "shadow").write_text(SECRET + "\n")
    (tree / "src" / "own.c").write_text(SHOWN + "\n")
    (tree / "link.c").symlink_to(outside / "shadow")
    (tree / "linked").symlink_to(outside)
    os.mkfifo(tree / "fifo.c")
    shutil.copy(outside / "shadow", folder / "tree-beside.c")
    ways = {"an absolute path": outside / "shadow",
            "a path with ..": tree / "src" / ".." / ".." / "outside" / "shadow",
            "a link to a file": tree / "link.c", "a link to a folder": tree / "linked" / "shadow",
            "a pipe": tree / "fifo.c", "a device": "/dev/zero",
            "the folder's name as a beginning": folder / "tree-beside.c"}
    for name, path in ways.items():
        program = compiled(tree / "program", [path, tree / "src" / "own.c"])
        code, text, said = page(coretap, program)
        check(f"{name}: nothing of it is shown, and the page is whole",
              code in (0, 1) and SECRET not in text and
              "own source" in text and text.rstrip().endswith("</html>"), said or text[-300:])
        if name == "an absolute path":
            check("the note names the option", "--source-root" in said and str(path) in said, said)
    program = compiled(tree / "program", [outside / "shadow"])
    check("below the current folder it is shown", SECRET in page(coretap, program, cwd=outside)[1])
    check("below a named folder it is shown",
          SECRET in page(coretap, program, "--source-root", str(outside))[1])
    check("a named folder takes the place of the current one",
          SECRET not in page(coretap, program, "--source-root", str(other), cwd=outside)[1])
    check("--source-root / is all", SECRET in page(coretap, program, "--source-root", "/")[1])
    code, _, said = page(coretap, program, "--source-root", str(folder / "none"))
    check("a folder that is not there is an error", code == 2 and "folder of sources cannot be read" in said,
          said)


def with_section(program, name, content, flags=0, kind=1):
    """Adds a section with these flags and this type to the ELF file."""
    section = program.parent / "section"
    section.write_bytes(content)
    subprocess.run([OBJCOPY, "--remove-section", name, str(program)], check=True)
    subprocess.run([OBJCOPY, "--add-section", f"{name}={section}", str(program)], check=True)
    data = bytearray(program.read_bytes())
    at, = struct.unpack_from("<Q", data, 0x28)
    size, count, strings = struct.unpack_from("<HHH", data, 0x3a)
    names, = struct.unpack_from("<Q", data, at + strings * size + 0x18)
    for i in range(count):
        word, = struct.unpack_from("<I", data, at + i * size)
        if bytes(data[names + word:]).split(b"\0", 1)[0] == name.encode():
            struct.pack_into("<IQ", data, at + i * size + 4, kind, flags)
    program.write_bytes(data)
    return program


def packed(megabytes, claim=None):
    """Returns a section of zeros, compressed as SHF_COMPRESSED stores it. `claim` is the size that its header
    states."""
    pack = zlib.compressobj(9)
    body = b"".join(pack.compress(bytes(1 << 20)) for _ in range(megabytes)) + pack.flush()
    return struct.pack("<IIQQ", 1, 0, (megabytes << 20) if claim is None else claim, 1) + body


def check_bombs(coretap, folder):
    size = 600
    bomb = packed(size)
    room = 400 << 20  # bytes of address space: less than the decompressed section needs
    zdebug = b"ZLIB" + struct.pack(">Q", size << 20) + bomb[24:]
    for name, section, content, flags in (
            (".debug_str, packed", ".debug_str", bomb, 0x800),
            (".debug_line that claims the most", ".debug_line", packed(1, 2**64 - 1), 0x800),
            (".zdebug_str", ".zdebug_str", zdebug, 0),
            (".gnu.debuglto_.debug_str", ".gnu.debuglto_.debug_str", bomb, 0x800)):
        program = with_section(compiled(folder / "program", ["a.c"]), section, content, flags)
        code, text, said = page(coretap, program, form="text", limit=room)
        check(f"{name}: refused by what it claims ({program.stat().st_size >> 10} KiB)",
              code == 2 and "--debug-limit" in said and "compressed debug information" in said,
              f"{code} {said} {text}")
    program = with_section(compiled(folder / "program", ["a.c"]), ".debug_str", packed(20), 0x800)
    code, _, said = page(coretap, program, "--debug-limit", "19", form="text")
    check("--debug-limit is the limit", code == 2 and "--debug-limit" in said, said)
    code, _, said = page(coretap, program, "--debug-limit", "20", form="text")
    check("as much as it says is read", code in (0, 1) and "--debug-limit" not in said, said)
    program = with_section(compiled(folder / "program", ["a.c"]), ".strings", bomb, 0x800, kind=3)
    code, _, said = page(coretap, program, form="text", limit=room)
    check("a packed table of strings is refused", code == 2 and "a string table" in said, said)


def main():
    if not shutil.which(CC) or not shutil.which(OBJCOPY):
        skip("debug information is not trusted", f"{CC} is missing")
        return finish()
    coretap = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        for name, body in (("sources", check_sources), ("bombs", check_bombs)):
            place = pathlib.Path(folder).resolve() / name
            place.mkdir()
            body(coretap, place)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
