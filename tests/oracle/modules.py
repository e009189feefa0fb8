#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks recordings with kernel modules (.ko). A module is an object file; to know what ran, the same object
is linked into a program, in the order in which the kernel lays sections out, and run. The recording then
says that this part of the program was the module, and the rest the kernel.

usage: modules.py COMMAND PLUGIN"""
import collections
import dataclasses
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from branch_lists import Lists, build_id, difference, file_of, profile
from perf_recordings import COMPILER, Recording, need_recorder
from perf_tool import Tap, first_difference, run
from parts import missing_parts  # comes after perf_tool, which adds its folder to the path
from perf_writer import KERNEL, Writer

NEAR, FAR = 0x800000, 0x10000000  # module in reach of a branch to the program, or not
INIT = 0x100000  # distance from the module to its .init.text

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
# Sections that a module has and the kernel fills.
FILLED = r"""
    .section .plt,"ax"
    .byte 0
    .section .init.plt,"a"
    .byte 0
    .section .note.GNU-stack,""
"""
TRAMPOLINE = r"""
    .section .text.ftrace_trampoline,"ax"
    .byte 0
"""
# GNU's linker makes no code for far calls of 32-bit modules, so the linked module calls this code instead.
JUMP = """
    .syntax unified
    .section .module_plt,"ax"
    ISA
    .globl jump
    .type jump, %function
jump:
    ldr pc, 1f
    .p2align 2
1:  .word helper
    .section .note.GNU-stack,""
"""
SCRIPT = """SECTIONS {
  .module BASE : { *(.module_plt) . = PLT; *module.o(.text) *module.o(.text.*) }
  .module_init BASE + INIT : { *module.o(.init.text) }
} INSERT AFTER .bss;"""


@dataclasses.dataclass
class Machine:
    """Properties of a module that depend on its processor. An entry of .plt has `entry` bytes. The number of
    entries includes `spare` ones and is rounded up to a multiple of `entries`."""
    name: str
    compiler: str = COMPILER
    flags: tuple = ()
    jump: str = ""  # code by which the module calls far functions; "": the linker makes it
    to_module: tuple = ()  # flags of the program, which calls the module
    filled: str = FILLED + TRAMPOLINE
    step: int = 4  # bytes of the shortest instruction
    relocations: str = "R_AARCH64_(?:CALL|JUMP)26"
    entry: int = 12
    entries: int = 1
    spare: int = 1

    def tool(self, name):
        return self.compiler.removesuffix("gcc") + name

    def plt_size(self, module):
        """Returns the bytes of .plt by the kernel's rule: an entry for each section, kind of branch and
        symbol, and the spare ones."""
        found = set()
        for name, table in re.findall(r"(?s)'\.rela?(\.text[^']*)'(.*?)(?=\nReloc|\Z)",
                                      run([self.tool("readelf"), "-rW", module])[0]):
            branches = re.findall(rf"({self.relocations}) +\w+ +(\S+)(?: \+ 0)?\n", table)
            found.update((name, *branch) for branch in branches)
        return -(-(len(found) + self.spare) // self.entries) * self.entries * self.entry


ARM = {"compiler": "arm-linux-gnueabihf-gcc", "filled": FILLED, "step": 2, "entry": 8, "entries": 16,
       "spare": 2,
       "to_module": ("-mlong-calls",),
       "relocations": r"R_ARM_(?:CALL|PC24|JUMP24|THM_CALL|THM_JUMP24)"}
A64 = Machine("A64")
A32 = Machine("A32", flags=("-marm",), jump=JUMP.replace("ISA", ".arm"), **ARM)
T32 = Machine("T32", flags=("-mthumb",), jump=JUMP.replace("ISA", ".thumb"), **ARM)


def instructions(command, step, data, *options):
    """Returns the addresses of all instructions in order; for T32, of all halfwords."""
    addresses = []
    for line in run([command, "list", "-q", "--elements", *options, data])[0].splitlines():
        if " instr_range " in line:
            fields = dict(field.split("=") for field in line.split()[3:] if "=" in field)
            addresses.extend(range(int(fields["start"], 16), int(fields["end"], 16), step))
    return addresses


class Build(Recording):
    """A recording of a program that has the module linked in."""

    def __init__(self, recorder, folder, base, machine=A64):
        self.base, self.root, self.machine = base, folder / "root", machine
        self.root.mkdir(parents=True)
        self.module = self.root / "module.ko"
        (folder / "module.c").write_text(MODULE)
        (folder / "filled.s").write_text(machine.filled)
        (folder / "program.c").write_text(PROGRAM)
        compiler = [machine.compiler, *machine.flags]
        subprocess.run([*compiler, "-g", "-O1", "-ffunction-sections", "-fno-pic", "-c", "-o",
                        folder / "module.o", folder / "module.c"], check=True)
        subprocess.run([*compiler, "-r", "-nostdlib", "-Wl,--build-id", "-o", self.module,
                        folder / "module.o", folder / "filled.s"], check=True)
        if machine.jump and base == FAR:
            (folder / "jump.s").write_text(machine.jump)
            subprocess.run([*compiler, "-c", "-o", folder / "jump.o", folder / "jump.s"], check=True)
            subprocess.run([machine.tool("objcopy"), "--redefine-sym", "helper=jump", folder / "module.o"],
                           check=True)
        script = SCRIPT.replace("BASE", hex(base)).replace("INIT", hex(INIT))
        (folder / "script").write_text(script.replace("PLT", str(machine.plt_size(self.module))))
        flags = ["-O1", "-static", *machine.flags, *machine.to_module,
                 "-Wl,--defsym=_text=__executable_start", "-Wl,-T", folder / "script", folder / "module.o",
                 *folder.glob("jump.o")]
        super().__init__(recorder, folder, "program", folder / "program.c", flags, [], ["--framed"],
                         machine.compiler, machine.step)
        self.kernel = folder / "vmlinux"
        subprocess.run([machine.tool("objcopy"), "-R", ".module", "-R", ".module_init", self.program,
                        self.kernel], check=True)
        self.symbols = {name: int(addr, 16) for addr, _, name in
                        re.findall(r"(?m)^(\w+) (\w) (\S+)$", run([machine.tool("nm"), self.program])[0])}
        self.veneers = [addr for name, addr in self.symbols.items() if name.endswith("_veneer")]
        self.data = folder / "perf.data"
        self.data.write_bytes(self.recording(self.module.name))

    def recording(self, name):
        """Returns a recording as perf writes it: the kernel's map, named by its first symbol, and the
        module's map."""
        text = self.symbols["_text"]
        writer = Writer(self.capture.units, kernel=True)
        writer.map(KERNEL, text, 0x1000000, text, "[kernel.kallsyms]_text")
        writer.map(KERNEL, self.base, 0x4000, 0, name if name[0] == "[" else f"/{name}",
                   bytes.fromhex(build_id(self.module)))
        writer.run(0, self.capture.trace)
        return writer.whole()

    def sections(self):
        """Returns name -> address of the sections, as in /sys/module/module/sections."""
        found = {f".text.{name}": self.symbols[name] for name in ("twice", "seldom", "module_work")}
        return {**found, ".init.text": self.symbols["begin"], ".plt": self.base}

    def with_sections(self, shift=0):
        """Makes a copy of the target's files with /sys/module. Returns its folder."""
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
        """Returns whether an address is in .plt, or in the code that the linker made in its place."""
        return self.base <= at < self.symbols["twice"] or any(
            addr <= at < addr + 12 for addr in self.veneers)

    def truth(self):
        return [f"{at:x}" for at in self.path if not self.is_jump(at)]

    def decoded(self, *options):
        path = instructions(self.command, self.machine.step, *options)
        return [f"{at:x}" for at in path if not self.is_jump(at)], len(path)


def check_path(tap, b, where):
    """Checks the path when the addresses of sections are not known: it is right until the first call of a
    function that only loading needs."""
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
    """Checks the results of commands."""
    named = ["--symfs", b.with_sections(), "--vmlinux", b.kernel]
    runs = collections.Counter(b.path)
    module = range(b.base, b.base + 2 * INIT)
    folder = b.root.parent / "each"
    said = run([b.command, "profile", "-q", "-f", "bolt", "--each", folder, *named, b.data])[1]
    made = folder / "module.ko.bolt"
    text = made.read_text() if made.exists() else ""
    counted = collections.Counter()
    for first, last, count in (line.split()[1:] for line in text.splitlines() if line[0] in "Ff"):
        for at in range(int(first, 16), int(last, 16) + b.machine.step, b.machine.step):
            counted[at + b.base] += int(count)
    wanted = {at: count for at, count in runs.items() if at in module and not b.is_jump(at)}
    other = {f"{at:x}": count for at, count in wanted.items() if counted[at] != count
             and at - b.machine.step not in counted}  # only the begin of the last instruction is known
    tap.check(f"profile: {sum(wanted.values())} instructions of the module",
              None if counted and not other else (other, said))
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
    """Checks that samples with branch stacks name the module like perf: relative to the begin of its
    memory."""
    made = b.root.parent / "samples.data"
    said = run([b.command, "export", "-q", "--perf", made, "--branch-stacks", "--symfs", b.root,
                "--vmlinux", b.kernel, b.data])[1]
    data = made.read_bytes() if made.exists() else b""
    at = data.find(str(b.module).encode())
    head = [i for i in range(max(at - 80, 0), max(at - 20, 0)) if data[i:i + 8] == struct.pack("<Q", b.base)]
    offset = data[head[0] + 16:head[0] + 24] if head else said
    tap.check("export: the mapping of the module", None if offset == bytes(8) else offset)


def check_lists(tap, b):
    """Checks branch lists, whose addresses are relative to the begin of .text."""
    path, data = b.root.parent / "branches.data", b.root.parent / "one.data"
    data.write_bytes(subprocess.run([b.command, "profile", "-q", "-f", "branch-list", "--symfs", b.root,
                                     "--vmlinux", b.kernel, b.data],
                                    stdout=subprocess.PIPE, check=False).stdout)
    direct = profile(b.command, [b.data], "--elf", b.module, "--symfs", b.root, "--vmlinux", b.kernel)
    got = profile(b.command, [data], "--elf", b.module)
    tap.check("a branch list that is written is read", difference(direct, got))
    lists = Lists("/vendor/lib/modules/module.ko", build_id(b.module), kind=2)
    text = b.symbols["module_work"] - b.base - b.machine.plt_size(b.module)  # .text is empty, after .plt
    lists.add(text, "1")
    path.write_bytes(file_of([lists.text()]))
    got = profile(b.command, [path], "--symfs", b.root)
    tap.check("addresses of branch lists count from .text", None if got[3] == 1 or got[0] else got[2:])


def check_others(tap, b):
    """Checks a module that is missing, and one of another version."""
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
        "none of the program files that" in said and "/module.ko" in said) else (code, said))
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
    no_lzma = missing_parts(b.command).get("lzma")
    for tool, ending in (("xz", "xz"), ("zstd", "zst"), ("gzip", "gz")):
        why = no_lzma if tool == "xz" else None
        if why or not shutil.which(tool):
            tap.skip(f"a module packed by {tool}", why or f"{tool} is not installed")
            continue
        packed = b.copy("packed")
        subprocess.run([tool, "-q", packed / "module.ko"], check=True)
        data.write_bytes(b.recording(f"module.ko.{ending}"))
        path, _ = b.decoded(data, "--symfs", packed, "--vmlinux", b.kernel)
        tap.check(f"a module packed by {tool}", first_difference(
            b.decoded(b.data, "--symfs", b.root, "--vmlinux", b.kernel)[0], path, ("plain", "packed")))


def check_damaged(tap, b):
    """Checks a module whose sections lie on the file's header, which relocations would change."""
    whole = bytearray(b.module.read_bytes())
    wide = whole[4] == 2
    at, = struct.unpack_from("<Q" if wide else "<I", whole, 40 if wide else 32)
    entry, count = struct.unpack_from("<HH", whole, 58 if wide else 46)
    other = b.copy("damaged")
    wrong = []
    for i in range(1, count):
        damaged = bytearray(whole)
        struct.pack_into("<Q" if wide else "<I", damaged, at + i * entry + (24 if wide else 16), 0)
        (other / "module.ko").write_bytes(damaged)
        _, said, code = run([b.command, "stats", "-q", "--symfs", other, "--vmlinux", b.kernel, b.data])
        if code not in (0, 1, 2) or (code == 2 and "module.ko" not in said):
            wrong.append((i, code, said))
    tap.check(f"{count} modules with a section on the header", wrong or None)


def main():
    recorder = need_recorder(sys.argv[1:3])
    tap = Tap()
    with tempfile.TemporaryDirectory() as temporary:
        for machine in (A64, A32, T32):
            folder = pathlib.Path(temporary) / machine.name
            if not shutil.which(machine.compiler):
                tap.skip(f"{machine.name}", f"{machine.compiler} is not installed")
                continue
            near = Build(recorder, folder / "near", NEAR, machine)
            far = Build(recorder, folder / "far", FAR, machine)
            check_path(tap, near, f"{machine.name}, near the kernel")
            check_path(tap, far, f"{machine.name}, far from the kernel")
            check_results(tap, near)
            check_export(tap, near)
            if shutil.which("protoc"):
                check_lists(tap, near)
            else:
                tap.skip("branch lists of a module", "protoc is not installed (Debian: protobuf-compiler)")
            check_others(tap, near)
            check_damaged(tap, near)
    tap.end()


if __name__ == "__main__":
    main()
