#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks recordings of firmware on Cortex-M machines against QEMU's own log of the same run, block by block
and exception by exception.

usage: run_firmware.py COMMAND PLUGIN COMPARE EXAMPLES [OCSD]

COMPARE is compare.c, EXAMPLES the folder with firmware/. With OCSD (ocsd_compare.c) OpenCSD must give equal
elements."""
import functools
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import command  # noqa: E402  pylint: disable=wrong-import-position
import machine  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, PLUGIN, COMPARE, EXAMPLES = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
OCSD = sys.argv[5] if len(sys.argv) > 5 else None
HERE = pathlib.Path(__file__).resolve().parent
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN}
run = functools.partial(command.run, codes=None, env=ENV)
GCC = "arm-none-eabi-gcc"
SECURE = ["-Wl,--defsym,flash=0x10000000", "-Wl,--defsym,ram=0x38000000"]
FLASH = ["-Wl,--defsym,flash=0x08000000"]
# Machine, processor, flags of the compiler, options of the recording, options of QEMU. OpenCSD 1.3.3 does not
# know the loop instructions of Armv8.1-M.
RUNS = [
    ("mps2-an385", "cortex-m3", [], ["--return-stack"], []),
    ("mps2-an385", "cortex-m3", [], ["--framed", "--branch-broadcast"], ["-singlestep"]),
    ("mps2-an386", "cortex-m4", ["-mfloat-abi=hard"], ["--cycle-count", "--timestamps=500"], []),
    ("mps2-an386", "cortex-m4", ["-mfloat-abi=hard"], [], ["-icount", "shift=4", "-singlestep"]),
    ("mps2-an500", "cortex-m7", ["-mfloat-abi=hard"], ["--sync-period", "8", "--return-stack"], []),
    ("mps2-an505", "cortex-m33", SECURE, [], []),
    ("mps3-an547", "cortex-m55", ["-O3", "-mfloat-abi=hard"], ["--cycle-count"], []),
    ("lm3s6965evb", "cortex-m3", [], ["--each"], []),
    ("microbit", "cortex-m0", [], ["--return-stack"], []),
    ("netduinoplus2", "cortex-m4", [*FLASH, "-mfloat-abi=hard"], [], []),
    ("stm32vldiscovery", "cortex-m3", FLASH, [], []),
]
RESET, SVC, DEBUG_HALT = 1, 11, 0x18
# SVC, PendSV, SysTick, IRQ0, IRQ1, IRQ30
ALL = {0xb, 0xe, 0xf, 0x10, 0x11, 0x21e}

def build(source, path, cpu, flags, script=EXAMPLES / "firmware/firmware.ld"):
    got = run(GCC, f"-mcpu={cpu}", "-mthumb", "-O2", "-g", "-ffreestanding", "-nostdlib",
              "-masm-syntax-unified", *flags, "-T", script, "-o", path, source, "-lgcc")
    assert got.returncode == 0, got.stderr
    return path


def traced_number(number):
    return number if number < 24 else number - 16 + 0x200


def record(folder, elf, board, options=(), qemu=(), other=None):
    """Records a run and compares it with QEMU's log. `other` is a second program. Returns the number of
    instructions, those of the exceptions, and the number of blocks that were left early."""
    capture, truth, log = folder / "capture", folder / "truth", folder / "log"
    got = run(COMMAND, "record", "-q", "--system", "-o", capture, "--truth", truth, *options, "--",
              "qemu-system-arm", "-M", board, "-nographic", "-semihosting", "-kernel", elf, "-d",
              "exec,nochain,int,in_asm", "-D", log, *qemu,
              *(["-device", f"loader,file={other}"] if other else []), stdin=subprocess.DEVNULL)
    assert got.returncode == 0 and "coretap" not in got.stderr, got
    code = machine.Code(elf, other) if other else machine.Code(elf)
    insns = machine.executed(truth, code)
    blocks, taken = machine.log_of(log, r"taking pending \w+ exception (\d+)", code)
    early = machine.compare_path(insns, blocks)
    gates = re.findall(r"really an SG instruction at 0x(\w+)", log.read_text("ascii", "replace"))
    known = set(gates)
    passed = [insn for insn in insns if f"{insn:08x}" in known]
    assert len(passed) == len(gates), f"{len(passed)} SG instructions, but QEMU executed {len(gates)}"
    elements = run(COMMAND, "list", "-q", "--elements", capture).stdout
    same = run(COMPARE, truth, input=elements)
    assert same.returncode == 0, same.stdout
    assert elements.count("trace_on") == 1, "trace began anew"
    numbers = [int(n, 16) for n in re.findall(r" exception exc=([0-9a-f]+)", elements)]
    assert numbers.pop() == DEBUG_HALT, "QEMU did not end in a semihosting call"
    logged = [number for number in numbers if number != RESET]
    for i, (number, expected) in enumerate(itertools.zip_longest(logged, map(traced_number, taken))):
        assert number == expected, f"exception {i}: {number}, but QEMU took {expected}"
    stats = run(COMMAND, "stats", "-q", "--level", "flow", capture).stdout
    assert "\ngaps=0\n" in stats and "\ncontradictions=0\n" in stats, stats
    compared = run(OCSD, capture) if OCSD and board != "mps3-an547" else None
    assert not compared or compared.returncode == 0, compared.stdout
    return len(insns), numbers, early


def check_run(folder, board, cpu, flags, options, qemu):
    elf = build(EXAMPLES / "firmware/firmware.c", folder / "firmware.elf", cpu, flags)
    count, numbers, early = record(folder, elf, board, options, qemu)
    assert ALL <= set(numbers) and (cpu == "cortex-m0" or early), set(numbers)
    return f"{count} instructions, {len(numbers)} exceptions, {early} blocks left by a fault"


def check_resets(folder):
    """Checks resets in Thread mode and in a handler."""
    elf = build(HERE / "firmware_reset.c", folder / "firmware.elf", "cortex-m3", [])
    _, numbers, _ = record(folder, elf, "mps2-an385")
    return numbers == [RESET, SVC, RESET]


def check_secure(folder):
    """Checks calls between Secure and Non-secure code."""
    elf = build(HERE / "firmware_secure.c", folder / "firmware.elf", "cortex-m33", [],
                HERE / "firmware_secure.ld")
    count, numbers, _ = record(folder, elf, "mps2-an505")
    listing = run(COMMAND, "list", "-q", "--elements", folder / "capture").stdout
    assert listing.count("sec=s ") >= 16 and listing.count("sec=ns ") >= 16, "states"
    return f"{count} instructions, {len(numbers)} exceptions"


def check_trustzone(folder):
    """Checks a Secure and a Non-secure program, whose exceptions interrupt each other, also directly before
    and behind SG instructions."""
    said = []
    for i, (lazy, options, qemu) in enumerate(tap.some((
            ("0", [], ["-icount", "shift=4", "-singlestep"]),
            ("(1u<<26)", ["--cycle-count", "--return-stack"], ["-icount", "shift=5", "-singlestep"]),
            ("0", ["--framed", "--branch-broadcast", "--each"], [])), 1, 2)):
        gates, place = folder / f"gates{i}.o", folder / f"run{i}"
        flags = ["-mfloat-abi=hard", f"-DSECURE_FLOAT={lazy}"]
        secure = build(HERE / "firmware_cmse.c", folder / f"secure{i}.elf", "cortex-m33", [
            *flags, "-DSECURE_SIDE", "-mcmse", f"-Wl,--cmse-implib,--out-implib={gates}"],
            HERE / "firmware_cmse.ld")
        other = build(HERE / "firmware_cmse.c", folder / f"other{i}.elf", "cortex-m33", [*flags, gates],
                      HERE / "firmware_cmse_ns.ld")
        place.mkdir()
        count, numbers, _ = record(place, secure, "mps2-an505", options, qemu, other)
        assert {7, SVC, 0xe, 0xf, 0x13, 0x15} <= set(numbers), set(numbers)
        listing = run(COMMAND, "list", "-q", "--elements", place / "capture").stdout
        states = [listing.count("sec=s "), listing.count("sec=ns ")]
        assert min(states) > 1000 and abs(states[0] - states[1]) < 100, states
        counts = run(COMMAND, "cover", "-q", "--functions", place / "capture").stdout
        assert re.search(r"^\s*\d+\b.*gate_float", counts, re.M) and "second_task" in counts, counts
        said.append(f"{count} instructions, {len(numbers)} exceptions")
    return "; ".join(said)


def function(elf, name):
    """Returns the address of a function."""
    symbols = run("arm-none-eabi-nm", elf).stdout
    return int(re.search(rf"^(\w+) [Tt] {name}$", symbols, re.M)[1], 16) & ~1


def check_start_stop(folder):
    """Checks that trace is on from each run with the start address up to the next one with the stop
    address, and off otherwise, wherever exceptions are."""
    elf = build(EXAMPLES / "firmware/firmware.c", folder / "firmware.elf", "cortex-m4", ["-mfloat-abi=hard"])
    start, stop = function(elf, "low_handler"), function(elf, "high_handler")
    counts = []
    for number, places in enumerate((("low_handler", "high_handler"), (f"{start:x}", f"0x{stop:x}"))):
        capture, truth = folder / f"capture{number}", folder / "truth"
        got = run(COMMAND, "record", "-q", "--system", "-o", capture, "--truth", truth, "--start", places[0],
                  "--stop", places[1], "--timestamps=100", "--return-stack", "--", "qemu-system-arm", "-M",
                  "mps2-an386", "-nographic", "-semihosting", "-kernel", elf, stdin=subprocess.DEVNULL)
        assert got.returncode == 0 and not got.stderr, got
        on, signs = False, []
        for line in truth.read_text(encoding="ascii").splitlines():
            low, high = (int(word, 16) for word in line.split()[4:6])
            on = on or low <= start < high
            signs.append(line[0])
            assert line[0] == "-+"[on], f"run {len(signs)}: {line}"
            on = on and not low <= stop < high
        counts.append(signs.count("+"))
        elements = run(COMMAND, "list", "-q", "--elements", capture).stdout
        same = run(COMPARE, truth, input=elements)
        assert same.returncode == 0 and elements.count("trace_on") == 41, same.stdout
        kinds = [line.split()[2] for line in elements.splitlines()
                 if line[0] != "#" and " timestamp " not in line]
        behind = {before for before, kind in zip(kinds, kinds[1:]) if kind in ("trace_on", "eo_trace")}
        assert "exception" not in behind, "an exception is traced behind the stop"
        compared = run(OCSD, capture) if OCSD else None
        assert not compared or compared.returncode == 0, compared.stdout
    wrong = run(COMMAND, "record", "--system", "-o", folder / "none", "--start", "nowhere", "--",
                "qemu-system-arm", "-M", "mps2-an386", "-kernel", elf)
    assert wrong.returncode == 2 and "nor a function of" in wrong.stderr, wrong
    wrong = run(COMMAND, "record", "--system", "-o", folder / "none", "--stop", "nowhere", "--",
                "qemu-system-arm", "-M", "microbit", "-device", "loader,file=firmware.hex")
    assert wrong.returncode == 2 and "no -kernel or -device loader names an ELF file" in wrong.stderr, wrong
    return f"{counts} traced runs"


ITM_WORDS = ["port 0 68", "port 0 69", "port 0 00", "port 0 21", "port 3 1234", "port 1 deadbeef",
             "port 40 0000004d"]
DWT_WORDS = ["write 0 0 00000005", "write 1 4 0007", "read 0 0 00000005", "read 1 4 0007",
             "write 1 4 000c", "write 2 c 00000063"]


def software(capture):
    """Returns the accesses in the trace of an ITM, and the addresses of the instructions of the DWT's."""
    accesses, pcs, times = [], [], []
    desc, data = re.compile(r"desc=(\w+) data=(\w+)"), re.compile(r"src=(\w+) data=(\w+)")
    for line in run(COMMAND, "list", "-q", "--elements", capture).stdout.splitlines():
        if port := " type=swit " in line and data.search(line):
            accesses.append(f"port {int(port[1], 16)} {port[2]}")
        elif part := " type=dwt " in line and desc.search(line):
            number, value = int(part[1], 16), part[2]
            if number >= 16:
                accesses.append(f"{'write' if number & 1 else 'read'} {(number - 16) // 2} {where:x} {value}")
            elif number & 1:
                where = int(value, 16)
            else:
                pcs.append(int(value, 16))
        elif time := re.search(r" type=ts_global ts=(\w+)", line):
            times.append(int(time[1], 16))
    assert times == sorted(times) and len(times) == len(accesses), times
    return accesses, pcs


def check_itm(folder):
    """Checks the trace of stimulus ports and of watched variables, which the firmware turns off in part."""
    watch = ["--watch-data", "level", "--watch-data", "speed", "--watch-data", "motor.limit"]
    said = []
    for i, (board, cpu, flags) in enumerate((
            ("mps2-an385", "cortex-m3", []), ("mps2-an386", "cortex-m4", []),
            ("mps2-an500", "cortex-m7", []), ("mps2-an505", "cortex-m33", SECURE),
            ("mps3-an547", "cortex-m55", []), ("netduinoplus2", "cortex-m4", FLASH))):
        elf = build(HERE / "firmware_itm.c", folder / f"firmware{i}.elf", cpu, flags)
        low = function(elf, "work")
        for name, options in (("both", ["--itm", "e0000000", *watch]), ("framed", ["--framed", "--itm",
                              "0xE0000000", *watch, "--sync-period", "8"]), ("variable", ["--itm", "ports"])):
            capture = folder / f"{name}{i}"
            got = run(COMMAND, "record", "-q", "--system", "-o", capture, *options, "--", "qemu-system-arm",
                      "-M", board, "-nographic", "-semihosting", "-kernel", elf, stdin=subprocess.DEVNULL)
            accesses, pcs = software(capture)
            if name == "variable":
                assert accesses == ["port 2 0000abcd"] and not got.stderr, (accesses, got)
                continue
            expected = [*ITM_WORDS, *DWT_WORDS, "port 1 00000002", "port 1 00000003"]
            assert accesses == expected, (board, accesses)
            assert "3 accesses are not in the trace of the ITM, because the firmware" in got.stderr, got
            assert all(low <= pc < low + 0x200 for pc in pcs), pcs
        said.append(len(accesses))
    for board, ports, text in (("microbit", "e0000000", "Cortex-M0, has no ITM"),
                                 ("mps2-an385", "nowhere", "'nowhere': this is not a variable of"),
                                 ("mps2-an385", "e0000100", "'e0000100': this is not a variable of")):
        elf = build(HERE / "firmware_itm.c", folder / "small.elf", "cortex-m0", [])
        got = run(COMMAND, "record", "--system", "-o", folder / "none", "--itm", ports, "--",
                  "qemu-system-arm", "-M", board, "-nographic", "-kernel", elf, stdin=subprocess.DEVNULL)
        assert got.returncode == 2 and text in got.stderr and not (folder / "none").exists(), got
    return f"{len(said)} machines"


def check_stream(folder):
    """Checks that a stream has the same elements as the snapshot with its bytes, and that it arrives while
    the firmware runs, also while that sleeps most of the time."""
    elf = build(HERE / "firmware_itm.c", folder / "itm.elf", "cortex-m3", [])
    capture, stream, pipe = folder / "capture", folder / "stream", folder / "pipe"
    got = run(COMMAND, "record", "-q", "--system", "-o", capture, "--stream", stream, "--itm", "e0000000",
              "--", "qemu-system-arm", "-M", "mps2-an385", "-nographic", "-semihosting", "-kernel", elf,
              stdin=subprocess.DEVNULL)
    assert got.returncode == 0, got
    ini = (capture / "live.ini").read_text("utf-8")
    (folder / "stream.ini").write_text(ini.replace("file = -", f"file = {stream}"), "utf-8")
    (capture / "trace.bin").write_bytes(stream.read_bytes())
    ranges = [re.findall(r"instr_range.*|type=swit.*", run(COMMAND, "list", "-q", "--elements", path).stdout)
              for path in (capture, folder / "stream.ini")]
    assert ranges[0] == ranges[1] and len(ranges[0]) > 20 and "core = Cortex-M3" in ini, ranges

    elf = build(HERE / "firmware_idle.c", folder / "idle.elf", "cortex-m3", [])
    os.mkfifo(pipe)
    with subprocess.Popen([COMMAND, "record", "-q", "--system", "-o", folder / "idle", "--stream", pipe, "--",
                           "qemu-system-arm", "-M", "mps2-an385", "-nographic", "-monitor", "none", "-serial",
                           "none", "-kernel", elf], stdin=subprocess.DEVNULL, env=ENV) as recorder, \
            open(pipe, "rb", buffering=0) as reader:
        size, before = 0, time.monotonic()
        while size < 200:
            size += len(reader.read(4096))
        took = time.monotonic() - before
        recorder.terminate()
        while reader.read(4096):
            pass
    assert took < 8, f"{size} bytes after {took} seconds"
    hexfile = folder / "firmware.hex"
    run("arm-none-eabi-objcopy", "-O", "ihex", folder / "itm.elf", hexfile)
    got = run(COMMAND, "record", "-q", "--system", "-o", folder / "hex", "--stream", stream, "--",
              "qemu-system-arm", "-M", "mps2-an385", "-nographic", "-semihosting", "-device",
              f"loader,file={hexfile},cpu-num=0", stdin=subprocess.DEVNULL)
    assert "live.ini: describes no code, because no -kernel or -device loader names an ELF" in got.stderr, got
    return f"{len(ranges[0])} elements; {size} bytes in {took:.2f} s"


def check_nothing(folder):
    """Checks that a machine whose firmware is missing is told."""
    got = run(COMMAND, "record", "--system", "-o", folder / "capture", "--", "qemu-system-arm", "-M",
              "microbit", "-nographic", "-kernel", folder / "nowhere.elf", stdin=subprocess.DEVNULL)
    return got.returncode == 1 and "the trace is empty, because the machine ran no code" in got.stderr


def output(command, capture, *options):
    got = run(COMMAND, command, "-q", *options, capture)
    assert got.returncode == 0, got.stderr
    return got.stdout


def check_names(folder):
    """Checks that the capture names its program, so that every command knows functions and lines, and that
    each stack begins in a task."""
    capture = folder / "capture"
    elf = build(EXAMPLES / "firmware/firmware.c", folder / "firmware.elf", "cortex-m4",
                ["-mfloat-abi=hard", "-Wl,--build-id"])
    got = run(COMMAND, "record", "-q", "--system", "-o", capture, "--cycle-count", "--", "qemu-system-arm",
              "-M", "mps2-an386", "-nographic", "-semihosting", "-kernel", elf, stdin=subprocess.DEVNULL)
    assert got.returncode == 0, got
    info = output("info", capture)
    assert "Cortex-M4" in info and str(elf) in (capture / "snapshot.ini").read_text("utf-8"), info
    runs = dict(reversed(line.split()[::len(line.split()) - 1]) for line in
                output("cover", capture, "--functions").splitlines() if line.strip()[:1].isdigit())
    counts = {name: runs[name] for name in ("low_handler", "high_handler", "svc_handler", "task_a")}
    assert counts == {"low_handler": "41", "high_handler": "41", "svc_handler": "41", "task_a": "1"}, counts
    stacks = output("profile", capture)
    roots = {line.split(";")[0].split()[0] for line in stacks.splitlines()}
    assert roots == {"reset_handler", "task_a", "task_b"}, roots
    assert "task_a;yield;low_handler;high_handler " in stacks, stacks
    decoded = output("decode", capture)
    for name in ("SVCall", "PendSV", "SysTick", "UsageFault", "BusFault", "IRQ0", "IRQ1", "IRQ30"):
        assert f"\t{name}" in decoded, name
    assert re.search(r"^high_handler\t\d+\t41\t", output("timing", capture), re.M), "timing"
    bound = run(COMMAND, "wcet", "-q", "--entry", "work", capture)
    assert bound.returncode == 0 or "Cbc" in bound.stderr, bound
    assert "systick_handler" in output("report", capture), "report"
    assert "high_handler" in output("watch", capture, "--at", "high_handler"), "watch"
    return f"{len(stacks.splitlines())} stacks"


def main():
    missing = tap.lacks(GCC, "qemu-system-arm")
    if missing:
        return tap.skip_all(missing)
    for run_of in tap.some(RUNS, 0, 2, 6, 8):
        with tempfile.TemporaryDirectory() as name:
            tap.case(" ".join([run_of[0], *run_of[3], *run_of[4]]), None,
                     lambda: check_run(pathlib.Path(name), *run_of))
    for what, check in (("resets", check_resets), ("Secure and Non-secure code", check_secure),
                        ("Secure and Non-secure programs", check_trustzone),
                        ("names and stacks", check_names), ("start and stop", check_start_stop),
                        ("ITM and DWT", check_itm), ("stream", check_stream),
                        ("no firmware", check_nothing)):
        with tempfile.TemporaryDirectory() as name:
            tap.case(what, None, lambda: check(pathlib.Path(name)))
    return tap.finish()


sys.exit(main())
