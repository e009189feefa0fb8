#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernel modules (.ko) of a recording. A module is an object file; for the truth the same object is linked
into a program, in the order in which the kernel lays sections out, and runs. The recording says that the part
of the program was the module, and the rest the kernel.

usage: modules.py COMMAND PLUGIN"""
import collections
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from branch_lists import Lists, build_id, difference, file_of, profile
from perf_recordings import COMPILER, Recording, decoded, need_recorder
from perf_tool import Tap, first_difference, run
from perf_writer import KERNEL, Writer

NEAR, FAR = 0x2000000, 0x10000000  # where the module lies: a branch reaches the program, or does not
INIT = 0x100000                   # from there to its .init.text

MODULE = """
extern int helper(int);
static const char info[] __attribute__((section(".modinfo"), used)) = "license=GPL";
int table[4] = {1, 2, 3, 4};
static __attribute__((noinline)) int twice(int x) { return x & 1 ? helper(x) : 2 * x + table[x & 3]; }
__attribute__((noinline, cold)) int seldom(int x) { return helper(x + 1) - twice(x); }
__attribute__((section(".init.text"), noinline)) int begin(int x) { return twice(x) + 1; }
int module_work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i % 5 == 4 ? seldom(i) : twice(i);
    return sum;
}
"""
PROGRAM = """
extern int module_work(int), begin(int);
__attribute__((noinline)) int helper(int x) { return x % 7 ? x * 3 : 1; }
int main(void) { return begin(module_work(40)) & 1; }
"""
# As modules have it: sections that the kernel fills.
FILLED = r"""
    .section .plt,"ax"
    .byte 0
    .section .init.plt,"a"
    .byte 0
    .section .text.ftrace_trampoline,"ax"
    .byte 0
"""
SCRIPT = """SECTIONS {
  .module BASE : { . += PLT; *module.o(.text) *module.o(.text.*) }
  .module_init BASE + INIT : { *module.o(.init.text) }
} INSERT AFTER .text;"""


def plt_size(module):
    """As the kernel sizes .plt: an entry for each kind of branch and symbol of each section, and a spare."""
    entries = set()
    for name, table in re.findall(r"(?s)'\.rela(\.text[^']*)'(.*?)(?=\nReloc|\Z)",
                                  run(["aarch64-linux-gnu-readelf", "-rW", module])[0]):
        branches = re.findall(r"(R_AARCH64_(?:CALL|JUMP)26) +\w+ (\S+) \+ 0", table)
        entries.update((name, *branch) for branch in branches)
    return 12 * (len(entries) + 1)


class Build(Recording):
    """The module, and the program that has it."""

    def __init__(self, recorder, folder, base):
        self.base, self.root = base, folder / "root"
        self.root.mkdir(parents=True)
        self.module = self.root / "module.ko"
        (folder / "module.c").write_text(MODULE)
        (folder / "filled.s").write_text(FILLED)
        (folder / "program.c").write_text(PROGRAM)
        subprocess.run([COMPILER, "-g", "-O1", "-ffunction-sections", "-fno-pic", "-c", "-o",
                        folder / "module.o", folder / "module.c"], check=True)
        subprocess.run([COMPILER, "-r", "-nostdlib", "-Wl,--build-id", "-o", self.module, folder / "module.o",
                        folder / "filled.s"], check=True)
        script = SCRIPT.replace("BASE", hex(base)).replace("INIT", hex(INIT))
        (folder / "script").write_text(script.replace("PLT", str(plt_size(self.module))))
        super().__init__(recorder, folder, "program", folder / "program.c",
                         ["-O1", "-static", "-Wl,--defsym=_text=__executable_start", "-Wl,-T",
                          folder / "script", folder / "module.o"], [], ["--framed"])
        self.kernel = folder / "vmlinux"
        subprocess.run(["aarch64-linux-gnu-objcopy", "-R", ".module", "-R", ".module_init", self.program,
                        self.kernel], check=True)
        self.symbols = {name: int(addr, 16) for addr, _, name in
                        (line.split() for line in
                         run(["aarch64-linux-gnu-nm", self.program])[0].splitlines() if line[0] != " ")}
        self.veneers = [addr for name, addr in self.symbols.items() if name.endswith("_veneer")]
        self.data = folder / "perf.data"
        self.data.write_bytes(self.recording(self.module.name))

    def recording(self, name):
        """As perf records it: the kernel's map, called by its first symbol, and the module's."""
        text = self.symbols["_text"]
        writer = Writer(self.capture.units, kernel=True)
        writer.map(KERNEL, text, 0x1000000, text, "[kernel.kallsyms]_text")
        writer.map(KERNEL, self.base, 0x4000, 0, name if name[0] == "[" else f"/{name}",
                   bytes.fromhex(build_id(self.module)))
        writer.run(0, self.capture.trace)
        return writer.whole()

    def sections(self):
        """Where they lie: as /sys/module/module/sections says it."""
        found = {f".text.{name}": self.symbols[name] for name in ("twice", "seldom", "module_work")}
        return {**found, ".init.text": self.symbols["begin"], ".plt": self.base}

    def with_sections(self, shift=0):
        """A copy of the target's files with /sys/module."""
        root = self.copy("sections")
        folder = root / "sys/module/module/sections"
        folder.mkdir(parents=True)
        for name, addr in self.sections().items():
            (folder / name).write_text(f"0x{addr + shift:016x}\n")
        return root

    def with_kallsyms(self, shift=0):
        root = self.copy("kallsyms")
        (root / "proc").mkdir()
        names = ("twice", "seldom", "module_work", "begin")
        (root / "proc/kallsyms").write_text("".join(
            [f"{self.symbols['_text']:016x} T _text\n"]
            + [f"{self.symbols[name] + shift:016x} t {name}\t[module]\n" for name in names]))
        return root

    def copy(self, name):
        root = self.root.parent / name
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(self.root, root)
        return root

    def is_jump(self, at):
        """Whether it is in .plt, or in what the linker made of it."""
        return self.base <= at < self.base + 12 * 8 and at < self.symbols["twice"] or any(
            addr <= at < addr + 12 for addr in self.veneers)

    def truth(self):
        return [f"{at:x}" for at in self.path if not self.is_jump(at)]

    def decoded(self, *options):
        path = decoded(self.command, options[0], *options[1:])
        return [f"{at:x}" for at in path if not self.is_jump(at)], len(path)


def check_path(tap, b, where):
    """Without sections that are known, up to the call of a function that only loading needs."""
    init = f"{b.symbols['begin']:x}"
    truth = b.truth()
    path, all_of = b.decoded(b.data, "--symfs", b.root, "--vmlinux", b.kernel)
    first = truth.index(init)
    tap.check(f"{where}: {all_of} instructions, as executed",
              first_difference(truth[:first], path[:first], ("truth", "coretap")))
    tap.check(f"{where}: what only loading needs has no address", "it has" if init in path else None)
    for name, place in (("/sys/module", b.with_sections()), ("kallsyms", b.with_kallsyms())):
        path, all_of = b.decoded(b.data, "--symfs", place, "--vmlinux", b.kernel)
        tap.check(f"{where}: {all_of} instructions, with addresses of {name}",
                  first_difference(truth, path, ("truth", "coretap")))


def check_results(tap, b):
    """What commands make of it."""
    named = ["--symfs", b.with_sections(), "--vmlinux", b.kernel]
    runs = collections.Counter(b.path)
    module = range(b.base, b.symbols["_fini"])
    folder = b.root.parent / "each"
    said = run([b.command, "profile", "-q", "-f", "bolt", "--each", folder, *named, b.data])[1]
    made = folder / "module.ko.bolt"
    text = made.read_text() if made.exists() else ""
    runs_made = [line.split()[1:] for line in text.splitlines() if line[0] == "F"]
    counted = sum(((int(last, 16) - int(first, 16)) // 4 + 1) * int(count)
                  for first, last, count in runs_made)
    wanted = sum(count for at, count in runs.items() if at in module and not b.is_jump(at))
    tap.check(f"profile: {wanted} instructions of the module", None if counted == wanted else (counted, said))
    lines = (b.root.parent / "module.c").read_text().splitlines()
    loop = next(i for i, line in enumerate(lines, 1) if "sum +=" in line)
    lcov = run([b.command, "cover", "-q", "-f", "lcov", *named, b.data])[0]
    lcov = lcov[lcov.index("module.c"):]
    tap.check("cover: its lines", None if f"\nDA:{loop},40\n" in lcov else lcov[:300])
    text = run([b.command, "decode", "-q", "--symbols", *named, b.data])[0]
    tap.check("decode --symbols: its functions", None if "module_work+0x" in text else text[-300:])
    llvm = run([b.command, "profile", "-q", "-f", "llvm", *named, b.data])[0]
    tap.check("profile for LLVM: its functions", None if "\nmodule_work:" in f"\n{llvm}" else llvm[:300])
    page = b.root.parent / "report.html"
    run([b.command, "report", "-q", "-o", page, *named, b.data])
    tap.check("report: its functions", None if "module_work" in page.read_text() else "not there")


def check_export(tap, b):
    """Samples with branch stacks name the module as perf does: from the begin of its memory on."""
    made = b.root.parent / "samples.data"
    said = run([b.command, "export", "-q", "--perf", made, "--branch-stacks", "--symfs", b.root,
                "--vmlinux", b.kernel, b.data])[1]
    data = made.read_bytes() if made.exists() else b""
    at = data.find(str(b.module).encode())
    head = [i for i in range(max(at - 80, 0), max(at - 20, 0)) if data[i:i + 8] == struct.pack("<Q", b.base)]
    offset = data[head[0] + 16:head[0] + 24] if head else said
    tap.check("export: the mapping of the module", None if offset == bytes(8) else offset)


def check_lists(tap, b):
    """Branch lists, in which addresses count from the begin of .text."""
    path, data = b.root.parent / "branches.data", b.root.parent / "one.data"
    data.write_bytes(subprocess.run([b.command, "profile", "-q", "-f", "branch-list", "--symfs", b.root,
                                     "--vmlinux", b.kernel, b.data],
                                    stdout=subprocess.PIPE, check=False).stdout)
    direct = profile(b.command, [b.data], "--elf", b.module, "--symfs", b.root, "--vmlinux", b.kernel)
    got = profile(b.command, [data], "--elf", b.module)
    tap.check("a branch list that is written is read", difference(direct, got))
    lists = Lists("/vendor/lib/modules/module.ko", build_id(b.module), kind=2)
    text = b.symbols["module_work"] - b.base - 12 * 6  # .text is empty, behind .plt
    lists.add(text, "1")
    path.write_bytes(file_of([lists.text()]))
    got = profile(b.command, [path], "--symfs", b.root)
    tap.check("addresses of branch lists count from .text", None if got[3] == 1 or got[0] else got[2:])


def check_others(tap, b):
    """What is not there, or is another version."""
    def missing(*options, data=b.data):
        lines = run([b.command, "info", "-q", "--vmlinux", b.kernel, *options, data])[0].splitlines()
        return [line for line in lines if line.startswith("missing")]

    got = missing()
    tap.check("a module that is not there is named",
              None if len(got) == 1 and "/module.ko" in got[0] and "--symfs" in got[0] else got)
    said = run([b.command, "stats", "--vmlinux", b.kernel, b.data])[1]
    tap.check("what ran in it is told by its name", None if "ran in /module.ko (" in said else said)
    said, code = run([b.command, "profile", "-f", "bolt", b.data])[1:]
    tap.check("a profile of nothing says what is not there", None if code == 1 and (
        "none of the files that it names is here" in said and "/module.ko" in said) else (code, said))
    data = b.root.parent / "name.data"
    data.write_bytes(b.recording("[module]"))
    got = missing("--symfs", b.root, data=data)
    tap.check("a module without a path is found by its name", got or None)
    got = missing(data=data)
    tap.check("… and is named when it is not there", None if len(got) == 1 and "[module]" in got[0] else got)
    other = b.copy("other")
    bytes_of = b.module.read_bytes()
    identity = bytes.fromhex(build_id(b.module))
    (other / "module.ko").write_bytes(bytes_of.replace(identity, identity[::-1]))
    got = missing("--symfs", other)
    tap.check("another version is told by its build id",
              None if len(got) == 1 and "another build id" in got[0] else got)
    got = missing("--symfs", b.with_sections(shift=0x10000000))
    tap.check("sections of another boot are told", None if len(got) == 1 and "sections" in got[0] else got)
    for tool, ending in (("xz", "xz"), ("zstd", "zst"), ("gzip", "gz")):
        if not shutil.which(tool):
            tap.skip(f"a module packed by {tool}", f"{tool} is not installed")
            continue
        packed = b.copy("packed")
        subprocess.run([tool, "-q", packed / "module.ko"], check=True)
        data.write_bytes(b.recording(f"module.ko.{ending}"))
        path, _ = b.decoded(data, "--symfs", packed, "--vmlinux", b.kernel)
        tap.check(f"a module packed by {tool}", first_difference(
            b.decoded(b.data, "--symfs", b.root, "--vmlinux", b.kernel)[0], path, ("plain", "packed")))


def main():
    recorder = need_recorder(sys.argv[1:3])
    tap = Tap()
    with tempfile.TemporaryDirectory() as temporary:
        near = Build(recorder, pathlib.Path(temporary) / "near", NEAR)
        far = Build(recorder, pathlib.Path(temporary) / "far", FAR)
        check_path(tap, near, "near the kernel")
        check_path(tap, far, "far from the kernel")
        check_results(tap, near)
        check_export(tap, near)
        if shutil.which("protoc"):
            check_lists(tap, near)
        else:
            tap.skip("branch lists of a module", "protoc is not installed (Debian: protobuf-compiler)")
        check_others(tap, near)
    tap.end()


if __name__ == "__main__":
    main()
