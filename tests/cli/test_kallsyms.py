#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a perf.data of a kernel with kcore: functions have the names of the kallsyms file beside it, in
every command that names functions; with its vmlinux, the kernel is a program of its own. Prints TAP.

usage: test_kallsyms.py CORETAP"""
import os
import pathlib
import subprocess
import sys
import tempfile

for place in ("support", "oracle"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / place))
import elf_writer  # noqa: E402  pylint: disable=wrong-import-position
import perf_writer  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

CORETAP = os.path.abspath(sys.argv[1])
UNIT = [0, 0x10, 0x28000ea1, 0x4100f403, 0x488, 0, 0xcc]
MOVED = 0x200000  # distance between the addresses at which the kernel was linked and ran
KERNEL, MODULE = 0xffff800010000000, 0xffff800008000000
RETURN = bytes.fromhex("c0035fd6")
LISTED = f"{KERNEL:016x} T _text\n{KERNEL + 0x40:016x} t helper\n{MODULE:016x} t probe\t[one]\n"
NAMES = ("_text", "helper", "probe [one]")


def trace():
    """Returns a trace: synchronisation, trace info, trace on, EL1, and a taken RET at each address."""
    out = bytes(11) + b"\x80" + b"\x01\x01\x00" + b"\x04" + b"\x81\x31"
    for at in (KERNEL, KERNEL + 0x44, MODULE + 8, KERNEL):
        address = bytes((at >> 2 & 0x7f, at >> 9 & 0x7f)) + (at >> 16).to_bytes(6, "little")
        out += b"\x9d" + address + b"\xf7"
    return out


def recording(folder):
    """Writes the folder that 'perf record --kcore' makes."""
    writer = perf_writer.Writer([UNIT], kernel=True)
    writer.map(perf_writer.KERNEL, KERNEL, 0x1000, KERNEL, "[kernel.kallsyms]_text")
    writer.run(0, perf_writer.frames(trace(), 0x10))
    (folder / "kcore_dir").mkdir()
    (folder / "data").write_bytes(writer.whole())
    core = elf_writer.elf(elf_writer.CORE, [(at, RETURN * 1024) for at in (MODULE, KERNEL)])
    (folder / "kcore_dir/kcore").write_bytes(core)
    return folder / "kcore_dir/kallsyms"


def run(folder, command, *options):
    return subprocess.run([CORETAP, command, *options, folder], capture_output=True, text=True, timeout=300,
                          check=False)


def check_names(folder, line):
    got = run(folder, *line)
    # names in folded lines have no spaces
    gone = [name for name in NAMES if name not in got.stdout.replace("_[", " [")]
    assert not gone, f"without {gone}: {got.returncode} {got.stderr} {got.stdout[:2000]}"
    return f"{len(NAMES)} names"


def check_told(folder, listed, text, want):
    listed.write_text(text)
    said = run(folder, "cover", "--functions").stderr
    assert want in said, said
    return want


def check_vmlinux(folder):
    """Checks that three of four instructions belong to the kernel's own file, and one to kcore alone."""
    vmlinux, made = folder / "vmlinux", folder / "each"
    code = [(KERNEL - MOVED, RETURN * 16), (KERNEL + 0x40 - MOVED, RETURN * 1008)]
    vmlinux.write_bytes(elf_writer.elf(elf_writer.EXECUTABLE, code, [("_text", KERNEL - MOVED)]))
    got = run(folder, "profile", "--format", "bolt", "--each", made, "--vmlinux", vmlinux)
    runs = {file.name: [line.split() for line in file.read_text().splitlines() if line[0] in "Ff"]
            for file in made.iterdir()}
    counts = {name: sum(int(run[3]) for run in found) for name, found in runs.items()}
    assert counts == {"vmlinux.bolt": 3, "kcore.bolt": 1}, f"{counts} {got.stderr}"
    functions = run(folder, "cover", "--functions", "--vmlinux", vmlinux).stdout
    assert functions.count("_text") == 1 and "helper" not in functions, functions
    assert functions.count("probe [one]") == 1, functions
    assert ", ELF, names only" in run(folder, "info", "--vmlinux", vmlinux).stdout
    return f"{counts}"


def check_other_vmlinux(folder):
    """Checks that a kernel of another version is refused because its code differs. The files have no build
    IDs."""
    other = folder / "other"
    other.write_bytes(elf_writer.elf(elf_writer.EXECUTABLE, [(KERNEL - MOVED, bytes(range(256)) * 16)],
                                     [("_text", KERNEL - MOVED)]))
    got = run(folder, "cover", "--functions", "--vmlinux", other)
    assert got.returncode == 2 and "its code differs from" in got.stderr, f"{got.returncode} {got.stderr}"
    return got.stderr


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        listed = recording(folder)
        listed.write_text(LISTED)
        for line in (["cover", "--functions"], ["profile", "-f", "folded"], ["profile", "-f", "callgrind"],
                     ["timing"], ["decode"], ["list", "--elements", "--symbols"], ["report", "-o", "-"]):
            tap.case(" ".join(line), None, lambda line=line: check_names(folder, line))
        tap.case("vmlinux is a program by itself", None, lambda: check_vmlinux(folder))
        tap.case("another vmlinux is refused", None, lambda: check_other_vmlinux(folder))
        hidden = "".join("0" * 16 + line[16:] for line in LISTED.splitlines(True))
        for title, text, want in (("hidden addresses", hidden, "kernel.kptr_restrict"),
                                  ("another boot", "ffff900000000000 T _text\n", "from the same boot"),
                                  ("a damaged line", LISTED + "cut", "kallsyms: line 4 is not a symbol")):
            tap.case(f"{title}: told", None,
                     lambda text=text, want=want: check_told(folder, listed, text, want))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
