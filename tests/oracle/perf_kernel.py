#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records a booting Linux kernel as a perf.data file of the whole system. With the kernel's memory (kcore),
or with a vmlinux linked for other addresses than it ran at, the path is the executed one.

usage: perf_kernel.py COMMAND PLUGIN

The kernel is Debian's (tools/fetch-arm-programs)."""
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from elf_writer import CORE, EXECUTABLE, elf
from perf_recordings import Recorder, decoded, path_of
from perf_stacks import Counts, of_samples
from perf_tool import Tap, first_difference, run, skip
from perf_writer import KERNEL, Capture, Writer

KERNEL_HALF = 1 << 63
MAP = "[kernel.kallsyms]_text"
MOVED = 0x7c0000  # distance between the addresses at which it was linked and ran


def kernels(arch, qemu):
    """Returns Debian's kernels of an architecture, or none when they cannot run here."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    programs = pathlib.Path(os.environ.get("CT_ARM_PROGRAMS") or f"{cache}/coretap/arm-programs")
    return sorted((programs / arch / "boot").glob("vmlinuz-*")) if shutil.which(qemu) else []


def find_kernel():
    found = kernels("arm64", "qemu-system-aarch64")
    if not found:
        skip("no kernel or no qemu-system-aarch64 (tools/fetch-arm-programs)")
    return found[-1]


class Boot:
    """The first instructions of a kernel at its own (high) addresses, and the code that contains them."""

    def __init__(self, recorder, folder, kernel):
        truth, self.folder = folder / "truth", folder / "boot"
        machine = ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a53", "-m", "512", "-nic", "none",
                   "-nographic",
                   "-no-reboot", "-kernel", kernel, "-append", "console=ttyAMA0 nokaslr panic=-1"]
        subprocess.run([recorder.command, "record", "-q", "--system", "-o", self.folder, "--framed",
                        "--truth", truth, "--range",
                        "ffff000000000000..fffffffffffff000", "--max-instructions", "2000000", "--",
                        *machine],
                       env=recorder.env, check=True, capture_output=True, stdin=subprocess.DEVNULL,
                       timeout=300)
        self.capture = Capture(self.folder)
        self.path = path_of(truth)
        self.memory = []
        core = self.capture.read("cpu_0.ini")
        for section in core.sections():
            address = int(core[section].get("address", "0"), 16)
            if address & KERNEL_HALF:
                data = (self.folder / core[section]["file"]).read_bytes()
                self.memory.append((address, data[:len(data) & ~0xfff]))
        self.start = min(address for address, _ in self.memory)
        self.size = max(address + len(data) for address, data in self.memory) - self.start

    def recording(self):
        """Returns a recording as perf writes it: the kernel's map is named by its first symbol, whose address
        is in place of the offset."""
        writer = Writer(self.capture.units, kernel=True)
        writer.map(KERNEL, self.start, self.size, self.start, MAP)
        writer.run(0, self.capture.trace)
        return writer.whole()


def check_profiles(tap, command, folder, data, vmlinux, boot):
    """Checks that the kernel has its own profile, and samples with branch stacks."""
    made = folder / "each"
    _, said, _ = run([command, "profile", "-f", "bolt", "--each", made, "--vmlinux", vmlinux, data])
    text = (made / "vmlinux.bolt").read_text() if (made / "vmlinux.bolt").exists() else ""
    runs = [line.split() for line in text.splitlines() if line[0] in "Ff"]
    total = sum(((int(last, 16) - int(first, 16)) // 4 + 1) * int(count) for _, first, last, count in runs)
    tap.check(f"a profile of the kernel: {total} instructions", None if total == len(boot.path) else said)
    if not shutil.which("perf"):
        tap.skip("branch stacks of the kernel", "perf is not installed (Debian: linux-perf)")
        return
    samples = folder / "samples.data"
    _, said, code = run([command, "export", "--perf", samples, "--branch-stacks", "--vmlinux", vmlinux, data])
    stacks = Counts()
    for counts in of_samples(shutil.which("perf"), samples)[0].values():
        stacks.insns.update(counts.insns)
    wanted = collections.Counter(boot.path)
    tap.check("branch stacks of the kernel", None if stacks.insns == wanted else
              f"exit code {code}: {said} {len(stacks.insns)} of {len(wanted)} addresses")


def main():
    kernel = find_kernel()
    recorder = Recorder(*(str(pathlib.Path(argument).resolve()) for argument in sys.argv[1:3]))
    command = recorder.command
    tap = Tap()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        boot = Boot(recorder, folder, kernel)
        data, kcore, vmlinux, stripped = (folder / name
                                          for name in ("perf.data", "kcore", "vmlinux", "stripped"))
        data.write_bytes(boot.recording())
        kcore.write_bytes(elf(CORE, boot.memory))
        linked = [(address - MOVED, code) for address, code in boot.memory]
        vmlinux.write_bytes(elf(EXECUTABLE, linked, [("_text", boot.start - MOVED)]))
        stripped.write_bytes(elf(EXECUTABLE, linked))
        # The folder that perf record --kcore makes.
        (folder / "saved/kcore_dir").mkdir(parents=True)
        shutil.copy(data, folder / "saved/data")
        shutil.copy(kcore, folder / "saved/kcore_dir/kcore")
        wanted = [f"{at:x}" for at in boot.path]
        for name, line in (("--kcore", [data, "--kcore", kcore]),
                           ("a folder with kcore_dir", [folder / "saved"]),
                           ("--vmlinux", [data, "--vmlinux", vmlinux])):
            got = [f"{at:x}" for at in decoded(command, line[0], *line[1:])]
            tap.check(f"{name}: {len(wanted)} instructions, as executed",
                      first_difference(wanted, got, ("truth", "coretap")))
        cover = run([command, "cover", "-q", "--functions", "--vmlinux", vmlinux, data])[0]
        tap.check("functions of vmlinux are known", None if " _text" in cover else cover)
        check_profiles(tap, command, folder, data, vmlinux, boot)
        for name, line, want in (("without it", [], "--kcore with the kcore"),
                                 ("stripped", ["--vmlinux", stripped], "has no symbol _text")):
            said = [text for text in run([command, "info", "-q", *line, data])[0].splitlines()
                    if text.startswith("missing")]
            tap.check(f"{name}: the kernel is missing, with what to do",
                      None if len(said) == 1 and "[kernel.kallsyms]" in said[0] and want in said[0] else said)
    tap.end()


if __name__ == "__main__":
    main()
