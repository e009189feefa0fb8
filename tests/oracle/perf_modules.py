#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks kernel modules of a booting Linux: a recording that names their .ko files decodes like the memory of
the machine, in which the kernel has placed and relocated them.

usage: perf_modules.py COMMAND PLUGIN

The kernel and its modules are Debian's (tools/fetch-arm-programs)."""
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from elf_writer import CORE, EXECUTABLE, elf
from perf_kernel import find_kernel, kernels
from perf_recordings import COMPILER, decoded, need_recorder
from perf_tool import ROOT, Tap, first_difference, run, skip
from perf_writer import KERNEL, Capture, Writer

MODULES = ("crc16", "mbcache", "jbd2", "ext4", "loop")
BEGIN = "__arm64_sys_sethostname"
CALLED = (BEGIN, "bd_prepare_to_claim", "bd_abort_claiming", "set_capacity_and_notify", "vfs_iter_read",
          "blk_mq_start_request", "blk_mq_end_request", "blk_queue_write_cache", "disk_force_media_change",
          "iov_iter_bvec", "kobject_uevent", "blk_mq_complete_request", "fget", "alloc_workqueue")
TEXT = 0xffff800008000000  # of the kernel, without address randomisation


def entry(name, data, mode, number, device=(0, 0)):
    """Returns a file of an initial RAM disk, in cpio's format newc."""
    raw = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(raw), 0)
    head = b"070701" + "".join(f"{field:08x}" for field in fields).encode() + raw
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)


def ram_disk(files):
    parts = [entry(name, b"", 0o40755, i) for i, name in enumerate(("proc", "sys", "dev"))]
    parts.append(entry("dev/console", b"", 0o20600, 3, (5, 1)))
    parts += [entry(name, data, 0o100755, 4 + i) for i, (name, data) in enumerate(files.items())]
    return b"".join(parts) + entry("TRAILER!!!", b"", 0, 0)


class Machine:
    """Debian's kernel with a few of its modules."""

    def __init__(self, folder, kernel, qemu, compiler):
        release = kernel.name.removeprefix("vmlinuz-")
        tree = kernel.parent.parent / "lib/modules" / release
        self.folder = folder
        self.files = {name: next(tree.rglob(f"{name}.ko"), None) for name in MODULES}
        if not all(self.files.values()):
            skip("the kernel's modules are not there, or compressed")
        wanted = set(CALLED)
        for file in self.files.values():
            symbols = run([compiler.removesuffix("gcc") + "nm", "-u", file])[0].split()
            wanted.update(symbols[1::2])
        subprocess.run([compiler, "-O1", "-static", "-o", folder / "init",
                        ROOT / "tests/oracle/modules_init.c"], check=True)
        disk = folder / "disk"
        disk.write_bytes(ram_disk({
            "init": (folder / "init").read_bytes(), "modules": "\n".join(MODULES).encode(),
            "wanted": "\n".join(wanted).encode(),
            **{f"{name}.ko": file.read_bytes() for name, file in self.files.items()}}))
        self.line = [*qemu, "-M", "virt", "-m", "512", "-nic", "none",
                     "-nographic", "-no-reboot", "-kernel", kernel, "-initrd", disk, "-append",
                     "console=ttyAMA0 nokaslr panic=-1 quiet"]
        self.take(run(self.line)[0])

    def take(self, said):
        """Reads symbols and modules from the output of the machine's first process."""
        assert re.search(r"WORKED 0 512", said), said[-2000:]
        self.symbols = {(name, module): int(addr, 16) for addr, name, module in
                        re.findall(r"SYMBOL (\w+) \w (\S+)(?:\s+\[(\w+)\])?", said)}
        self.modules = {name: (int(base, 16), int(size)) for name, size, base in
                        re.findall(r"MODULE (\S+) (\d+) .*Live (0x\w+)", said)}
        self.sections = collections.defaultdict(dict)
        for module, section, addr in re.findall(r"SECTION (\S+) (\S+) (0x\w+)", said):
            self.sections[module][section] = int(addr, 16)

    def record(self, recorder):
        """Records all modules, and the first instructions of those kernel functions that loop.ko calls."""
        ranges = [(TEXT - (128 << 20), TEXT)]
        ranges += [(self.symbols[name, ""], self.symbols[name, ""] + 16) for name in CALLED]
        line = [recorder.command, "record", "-q", "--system", "-o", self.folder / "capture", "--framed"]
        line += [part for low, high in ranges for part in ("--range", f"{low:x}..{high:x}")]
        line += ["--", *self.line]
        said, problem, _ = run(line, env=recorder.env)
        assert not problem, problem
        self.take(said)
        self.capture = Capture(self.folder / "capture")

    def memory(self, low=0):
        """Returns the memory from address `low` on, as (address, bytes)."""
        core = self.capture.read("cpu_0.ini")
        parts = [(int(core[section].get("address", "0"), 16), core[section].get("file"))
                 for section in core.sections()]
        return [(address, (self.capture.folder / file).read_bytes()) for address, file in parts
                if file and address >= low]

    def kcore(self, folder):
        """Writes what 'perf record --kcore' copies: the memory, and kallsyms beside it. Returns the file with
        the memory."""
        folder.mkdir()
        (folder / "kallsyms").write_text("".join(
            f"{addr:016x} t {name}" + (f"\t[{module}]\n" if module else "\n")
            for (name, module), addr in self.symbols.items()))
        (folder / "kcore").write_bytes(elf(CORE, self.memory()))
        return folder / "kcore"

    def vmlinux(self):
        """Returns an ELF file of the kernel's code that ran, with the symbols that modules need."""
        segments = self.memory(TEXT)
        names = [("_text", TEXT)]
        names += [(name, addr) for (name, module), addr in self.symbols.items() if not module]
        return elf(EXECUTABLE, segments, names)

    def recording(self):
        writer = Writer(self.capture.units, kernel=True)
        writer.map(KERNEL, TEXT, 0x2000000, TEXT, "[kernel.kallsyms]_text")
        for name, (base, size) in self.modules.items():
            writer.map(KERNEL, base, size, 0, f"/{name}.ko")
        writer.run(0, self.capture.trace)
        return writer.whole()


def behind(begin, path):
    """Returns the part of a path that ran after all modules were loaded. Code that only loading needs is
    later overwritten by other modules."""
    return path[path.index(begin):]


def check_places(tap, command, machine, isa="A64"):
    """Checks that functions are where the kernel put them, found by the kernel's rules alone."""
    for name, file in machine.files.items():
        base = machine.modules[name][0]
        lies = {function: base + int(addr, 16) for function, addr in
                re.findall(rf"(?m)^(\S+) 0x([0-9a-f]+) {isa} ", run([command, "graph", "--elf", file])[0])}
        wrong = [function for function, addr in lies.items()
                 if machine.symbols.get((function, name), addr) != addr]
        tap.check(f"{isa}, {name}: {len(lies)} functions lie where the kernel put them",
                  wrong[:3] or (None if lies else "no functions"))


def instructions(folder):
    """Returns how many instructions the profile of each program counts."""
    sums = {}
    for file in folder.iterdir():
        runs = [line.split() for line in file.read_text().splitlines() if line[0] in "Ff"]
        sums[file.name.removesuffix(".bolt")] = sum(
            ((int(last, 16) - int(first, 16)) // 4 + 1) * int(count) for _, first, last, count in runs)
    return sums


def check_profiles(tap, command, machine, folder, data):
    """Checks that, with the machine's memory, the kernel and each module have their own profiles, which count
    what ran in them."""
    path = decoded(command, data, "--kcore", folder / "kcore/kcore")
    sums = []
    files = ["--symfs", folder / "root", "--vmlinux", folder / "vmlinux"]
    for name, options in (("alone", []), ("each", files)):
        said = run([command, "profile", "-q", "-f", "bolt", "--each", folder / name, "--kcore",
                    folder / "kcore/kcore", *options, data])[1]
        sums.append(instructions(folder / name))
    want = {f"{name}.ko": sum(base <= at < base + size for at in path)
            for name, (base, size) in machine.modules.items()}
    got = {name: sums[1].get(name, 0) for name in want}
    tap.check(f"--kcore: {sum(want.values())} instructions in modules, {sums[1].get('vmlinux')} in vmlinux",
              None if got == want and sums[1].get("vmlinux") and sum(sums[1].values()) == sums[0]["kcore"]
              else f"{want} {sums} {said}")


def check_32_bit(tap, command, folder):
    compiler, qemu = "arm-linux-gnueabihf-gcc", ["qemu-system-arm", "-cpu", "cortex-a15"]
    found = kernels("armhf", qemu[0])
    if not found or not shutil.which(compiler):
        tap.skip("modules of a 32-bit kernel",
                 f"no kernel (tools/fetch-arm-programs), {qemu[0]} or {compiler}")
        return
    folder.mkdir()
    check_places(tap, command, Machine(folder, found[-1], qemu, compiler), "A32")


def main():
    recorder = need_recorder(sys.argv[1:3])
    command = recorder.command
    tap = Tap()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        machine = Machine(folder, find_kernel(), ["qemu-system-aarch64", "-cpu", "cortex-a72"], COMPILER)
        machine.record(recorder)
        data, vmlinux, root = folder / "perf.data", folder / "vmlinux", folder / "root"
        data.write_bytes(machine.recording())
        vmlinux.write_bytes(machine.vmlinux())
        root.mkdir()
        for name, file in machine.files.items():
            shutil.copy(file, root / f"{name}.ko")
        begin = machine.symbols[BEGIN, ""]
        wanted = behind(begin, decoded(command, machine.capture.folder))
        places = machine.modules.values()
        inside = [at for at in wanted if any(base <= at < base + size for base, size in places)]
        got = behind(begin, decoded(command, data, "--symfs", root, "--vmlinux", vmlinux))
        tap.check(f"{len(wanted)} instructions, {len(inside)} of them in modules: as in the machine's memory",
                  first_difference([f"{at:x}" for at in wanted], [f"{at:x}" for at in got],
                                   ("memory", "modules")))
        check_places(tap, command, machine)
        machine.kcore(folder / "kcore")
        check_profiles(tap, command, machine, folder, data)
        check_32_bit(tap, command, folder / "armhf")
    tap.end()


if __name__ == "__main__":
    main()
