#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks recordings of machines of the A profile in A32 and T32, also below a kernel in A64, against QEMU's
own log of the same run, block by block and exception by exception, and a recording of Debian's U-Boot.

usage: run_machine.py COMMAND PLUGIN COMPARE [OCSD]

COMPARE is compare.c. With OCSD (ocsd_compare.c) OpenCSD must give equal elements."""
import functools
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import command  # noqa: E402  pylint: disable=wrong-import-position
import machine  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, PLUGIN, COMPARE = sys.argv[1:4]
OCSD = sys.argv[4] if len(sys.argv) > 4 else None
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN}
run = functools.partial(command.run, codes=None, env=ENV, timeout=200)
GCC, QEMU = "arm-none-eabi-gcc", "qemu-system-arm"
U_BOOT = "/usr/lib/u-boot/qemu_arm/u-boot.bin"
# Processor, options of the recording, options of QEMU.
RUNS = [
    ("cortex-a15", [], []),
    ("cortex-a15", ["--return-stack", "--cycle-count", "--timestamps=300"], ["-singlestep"]),
    ("cortex-a7", ["--protocol", "ete", "--framed", "--each"], ["-icount", "shift=4", "-singlestep"]),
    ("cortex-a15", ["--branch-broadcast", "--sync-period", "8"], ["-machine", "secure=on"]),
]
# Options of the recording and of QEMU, for the kernel in A64.
KERNEL_RUNS = [
    ([], ["-icount", "shift=4", "-singlestep"]),
    (["--return-stack", "--cycle-count", "--timestamps=300", "--framed"], []),
    (["--protocol", "ete", "--each", "--branch-broadcast", "--sync-period", "8"], ["-singlestep"]),
]
# Exceptions of QEMU: undefined, SVC, prefetch abort, data abort, IRQ, breakpoint, a debugger's function.
TRACED = {1: 3, 2: 2, 3: 0xb, 4: 0xc, 5: 0xe, 7: 0xb, 16: 1}

def build(folder, source="machine_arm.c"):
    elf = folder / "machine.elf"
    got = run(GCC, "-mcpu=cortex-a7", "-O2", "-g", "-ffreestanding", "-nostdlib", "-Wl,-Ttext=0x40010000",
              "-Wl,-e,reset", "-o", elf, HERE / source)
    assert got.returncode == 0, got.stderr
    return elf


def record(folder, elf, *options, cpu="cortex-a15", qemu=(), command=QEMU):
    got = run(COMMAND, "record", "-q", "--system", "-o", folder / "capture", *options, "--", command, "-M",
              "virt", "-cpu", cpu, "-nic", "none", "-nographic", "-semihosting", "-kernel", elf, *qemu,
              stdin=subprocess.DEVNULL)
    assert got.returncode == 0 and "coretap" not in got.stderr, got
    return run(COMMAND, "list", "-q", "--elements", folder / "capture").stdout


def compare(folder, elf, options, t32, **more):
    """Records a run and compares it with QEMU's log. `t32` is the program with T32. Returns the elements, the
    numbers of exceptions, and a text."""
    truth, log = folder / "truth", folder / "log"
    more["qemu"] = ["-d", "exec,nochain,int,in_asm", "-D", log, *more["qemu"]]
    elements = record(folder, elf, "--truth", truth, *options, **more)
    insns = machine.executed(truth, machine.Code(t32))
    blocks, taken = machine.log_of(log, r"^Taking exception (\d+) ")
    early = machine.compare_path(insns, blocks)
    same = run(COMPARE, truth, input=elements)
    assert same.returncode == 0 and elements.count("trace_on") == 1, same.stdout
    numbers = [int(n, 16) for n in re.findall(r" exception exc=([0-9a-f]+)", elements)]
    for i, (number, expected) in enumerate(itertools.zip_longest(numbers, [TRACED[n] for n in taken])):
        assert number == expected, f"exception {i}: {number}, but QEMU took {expected}"
    stats = run(COMMAND, "stats", "-q", "--level", "flow", folder / "capture").stdout
    assert "\ngaps=0\n" in stats and "\ncontradictions=0\n" in stats, stats
    compared = run(OCSD, folder / "capture") if OCSD else None
    assert not compared or compared.returncode == 0, compared.stdout
    said = f"{len(insns)} instructions, {len(numbers)} exceptions, {early} blocks left by a fault"
    return elements, set(numbers), said


def check_run(folder, cpu, options, qemu):
    elf = build(folder)
    elements, numbers, said = compare(folder, elf, options, elf, cpu=cpu, qemu=qemu)
    assert {2, 3, 0xb, 0xc, 0xe, 1} == numbers, numbers
    assert {"el=0", "el=1"} == set(re.findall(r"pe_context .*(el=\d)", elements)), "levels"
    return said


def build_kernel(folder, *flags):
    """Returns the kernel in A64 and its program in A32 and T32."""
    made = []
    for gcc, place, more in (("aarch64-linux-gnu-gcc", 0x40080000, ["-static", *flags]),
                             (GCC, 0x40100000, ["-mcpu=cortex-a7"])):
        made.append(folder / f"{place:x}.elf")
        got = run(gcc, "-nostdlib", *more, f"-Wl,-Ttext={place:#x}", "-Wl,-e,reset", "-o", made[-1],
                  HERE / "machine_el0.S")
        assert got.returncode == 0, got.stderr
    return made


def check_kernel(folder, options, qemu):
    """Checks a program in A32 and T32 below a kernel in A64, and that the capture names both."""
    kernel, program = build_kernel(folder)
    elements, numbers, said = compare(folder, kernel, options, program, cpu="cortex-a53",
                                      command="qemu-system-aarch64",
                                      qemu=["-device", f"loader,file={program}", *qemu])
    assert {2, 3, 0xc, 0xe, 1} == numbers, numbers
    states = set(re.findall(r"pe_context isa=(\w+ el=\d) sec=ns (bits=\d+)", elements))
    assert states == {("a64 el=0", "bits=64"), ("a64 el=1", "bits=64"), ("a32 el=0", "bits=32"),
                      ("t32 el=0", "bits=32")}, states
    counts = run(COMMAND, "cover", "-q", "--functions", folder / "capture").stdout
    assert "from_program" in counts and "leaf" in counts, counts
    return said


def check_data(folder):
    """Checks that the capture names its program, start and stop, and the trace of a watched variable."""
    elements = record(folder, build(folder), "--watch-data", "undefined", "--itm", "level", "--start",
                      "undefined_body", "--stop", "undefined_body")
    data = [int(value, 16) for value in re.findall(r"type=dwt desc=11 data=(\w+)", elements)]
    assert data == list(range(1, 81)) and elements.count("type=swit src=0") == 121, data
    assert elements.count("trace_on") == 80, "start and stop"
    counts = run(COMMAND, "cover", "-q", "--functions", folder / "capture").stdout
    assert re.search(r"^\s*80\b.*undefined_body", counts, re.M), counts
    return f"{len(data)} stores"


def check_misaligned(folder):
    """Checks a jump to an address that is not aligned, which trace cannot have: it begins anew behind it."""
    got = run(COMMAND, "record", "--system", "-o", folder / "capture", "--", QEMU, "-M", "virt", "-cpu",
              "cortex-a15", "-nic", "none", "-nographic", "-semihosting", "-kernel",
              build(folder, "machine_misaligned.c"), stdin=subprocess.DEVNULL)
    assert got.returncode == 0 and "2 blocks of instructions are not in the trace" in got.stderr, got
    elements = run(COMMAND, "list", "-q", "--elements", folder / "capture").stdout
    assert elements.count("trace_on") == 2 and "exception exc=1 " in elements, elements
    compared = run(OCSD, folder / "capture") if OCSD else None
    assert not compared or compared.returncode == 0, compared.stdout


def check_u_boot(folder):
    """Checks that U-Boot's data abort, from a command that reads where nothing is, is in the trace, and that
    its reset, which is no exception, is told."""
    got = run(COMMAND, "record", "--system", "-o", folder / "capture", "--", QEMU, "-M", "virt", "-cpu",
              "cortex-a15", "-bios", U_BOOT, "-display", "none", "-serial", "stdio", "-monitor", "none",
              "-nic", "none", "-icount", "shift=10", input="\n\nmd.l 0fff0000 1\n\n\npoweroff\n")
    assert got.returncode == 0 and got.stdout.count("Hit any key") == 2 and "data abort" in got.stdout, got
    pc = int(re.search(r"^pc : \[<(\w+)>\]", got.stdout, re.M)[1], 16)
    assert "1 blocks of instructions are not in the trace" in got.stderr, got.stderr
    seen = []
    with subprocess.Popen([COMMAND, "list", "-q", "--elements", folder / "capture"], stdout=subprocess.PIPE,
                          text=True) as listing:
        for line in listing.stdout:
            if " exception " in line or " trace_on" in line:
                seen.append(line.split(maxsplit=2)[2].strip())
    begin = "trace_on reason=begin_or_filter"
    assert seen == [begin, f"exception exc=c ret={pc:x}", begin], (seen, hex(pc))
    stats = run(COMMAND, "stats", "-q", "--level", "flow", folder / "capture").stdout
    assert "\ngaps=0\n" in stats and "\nno_access=0\n" in stats, stats
    return re.search(r"instructions=\d+", stats)[0]


def main():
    missing = tap.lacks(GCC, QEMU)
    if missing:
        return tap.skip_all(missing)
    for row in RUNS:
        with tempfile.TemporaryDirectory() as name:
            tap.case(" ".join([row[0], *row[1], *row[2]]), None, lambda: check_run(pathlib.Path(name), *row))
    missing = tap.lacks("aarch64-linux-gnu-gcc", "qemu-system-aarch64")
    for row in KERNEL_RUNS:
        with tempfile.TemporaryDirectory() as name:
            tap.case(" ".join(["kernel in A64", *row[0], *row[1]]), missing,
                     lambda: check_kernel(pathlib.Path(name), *row))
    for what, check in (("data, start and stop", check_data), ("no aligned address", check_misaligned)):
        with tempfile.TemporaryDirectory() as name:
            tap.case(what, None, lambda: check(pathlib.Path(name)))
    missing = None if os.path.exists(U_BOOT) else "needs u-boot-qemu"
    with tempfile.TemporaryDirectory() as name:
        tap.case("U-Boot", missing, lambda: check_u_boot(pathlib.Path(name)))
    return tap.finish()


sys.exit(main())
