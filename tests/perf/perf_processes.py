#!/usr/bin/env python3
"""Processes with other code at the same addresses: recordings of several programs become one perf.data file, as perf
would have written it, and each of them decodes to the path that it took.

usage: perf_processes.py COMMAND PLUGIN EXAMPLES"""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

from perf_tool import Tap, first_difference, run, skip
from perf_writer import Capture, Writer, frames

COMPILER = "aarch64-linux-gnu-gcc"


class Recording:
    """A program that ran, its capture, and the instructions that it executed."""

    def __init__(self, folder, name, source, flags, arguments, options):
        self.folder, self.program = folder / f"{name}.capture", folder / name
        subprocess.run([COMPILER, "-g", "-o", self.program, source, *flags], check=True)
        truth = folder / f"{name}.truth"
        env = {**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN}
        subprocess.run([COMMAND, "record", "-q", "-o", self.folder, "--truth", truth, *options, "--", self.program,
                        *arguments], env=env, check=True, capture_output=True, timeout=120)
        self.capture = Capture(self.folder)
        self.path = []
        for line in truth.read_text().splitlines():
            traced, _, _, _, first, end, _ = line.split()
            if traced == "+":
                self.path.extend(range(int(first, 16), int(end, 16), 4))

    def trace_of(self, context):
        """Its trace, of a recording without frames, with another context ID in place of 1, in frames."""
        trace = bytearray((self.folder / "trace_0.bin").read_bytes())
        lines = [line.split() for line in run([COMMAND, "list", "-q", "--packets", self.folder])[0].splitlines()
                 if not line.startswith("#")]
        starts = [int(line[0]) for line in lines] + [len(trace)]
        for line, end in zip(lines, starts[1:]):
            if any(field.startswith("ctxt=") for field in line):  # the last four bytes of its packet
                assert trace[end - 4:end] == b"\1\0\0\0", line
                trace[end - 4:end] = struct.pack("<I", context)
        return frames(bytes(trace), self.capture.units[0][1])


def decoded(data, *options):
    """Addresses of all instructions, in order."""
    addresses = []
    for line in run([COMMAND, "list", "-q", "--elements", *options, data])[0].splitlines():
        if " instr_range " in line:
            fields = dict(field.split("=") for field in line.split()[3:] if "=" in field)
            start = int(fields["start"], 16)
            addresses.extend(range(start, start + 4 * int(fields["n"]), 4))
    return addresses


def counted(data, *options):
    """Program -> instructions that were counted in it; all functions."""
    counts, name = {}, None
    for line in run([COMMAND, "cover", "-q", "--format", "data", *options, data])[0].splitlines():
        fields = line.split()
        if fields[0] == "program":
            name = pathlib.Path(fields[4]).name
        elif fields[0] == "run":
            counts[name] = counts.get(name, 0) + (int(fields[2], 16) - int(fields[1], 16)) // 4 * int(fields[3])
    return counts


def in_program(recording):
    """Instructions of its path that are in the program itself."""
    spans = [(addr, addr + size) for addr, size, _, path in recording.capture.maps() if path == recording.program]
    return sum(any(low <= at < high for low, high in spans) for at in recording.path)


def engines_agree(data):
    stats = [run([COMMAND, "stats", "-q", "--level", "coverage", "--engine", engine, data])[0] for engine in ("plain", "fast")]
    facts = [[line for line in text.splitlines() if not line.startswith(("seconds", "mb_per_s"))] for text in stats]
    return None if facts[0] == facts[1] and len(facts[0]) > 5 else f"{facts[0]}\n{facts[1]}"


def check(tap, name, folder, writer, wanted, expect):
    """`wanted`: the recordings in the order in which they ran; `expect`: program -> instructions."""
    data = folder / f"{name.replace(' ', '-')}.data"
    data.write_bytes(writer.whole())
    path = [at for recording in wanted for at in recording.path]
    tap.check(f"{name}: {len(path)} instructions, as executed", first_difference(
        [f"{at:x}" for at in path], [f"{at:x}" for at in decoded(data)], ("truth", "coretap")))
    got = counted(data)
    tap.check(f"{name}: counts are of the program that ran", None if got == expect else f"{got}\nwanted {expect}")
    tap.check(f"{name}: both engines", engines_agree(data))
    return data


def sums(*runs):
    """Program -> instructions of its recordings."""
    total = {}
    for recording in runs:
        name = recording.program.name
        total[name] = total.get(name, 0) + in_program(recording)
    return total


def two_processes(tap, folder, one, two):
    """Each maps its program at the same addresses; the record of a piece of trace says whose it is."""
    writer = Writer(one.capture.units)
    for pid, recording in ((100, one), (200, two)):
        writer.start(pid, recording.capture)
    order = [(100, one), (200, two), (100, one), (200, two), (200, two)]
    for pid, recording in order:
        writer.run(pid, recording.capture.trace)
    ran = [recording for _, recording in order]
    return check(tap, "two processes", folder, writer, ran, sums(*ran))


def a_process_becomes_another(tap, folder, one, two):
    """exec: the same number, another program; its child goes on with the first one's code."""
    writer = Writer(one.capture.units)
    writer.start(100, one.capture)
    writer.run(100, one.capture.trace)
    writer.fork(300, 100)
    writer.start(100, two.capture)
    writer.run(100, two.capture.trace)
    writer.run(300, one.capture.trace)
    writer.fork(400, 100)
    writer.run(400, two.capture.trace)
    ran = [one, two, one, two]
    check(tap, "fork and exec", folder, writer, ran, sums(*ran))


def contexts_tell(tap, folder, one, two):
    """A whole system: pieces of trace are of whoever ran last, and context IDs in the trace say whose code it is."""
    writer = Writer(one.capture.units, contexts=True)
    writer.start(100, one.capture)
    writer.start(200, two.capture)
    order = [(200, two), (100, one), (200, two)]
    for pid, recording in order:
        writer.run(7, recording.trace_of(pid))
    ran = [recording for _, recording in order]
    data = check(tap, "context IDs", folder, writer, ran, sums(*ran))
    text = run([COMMAND, "cover", "-q", "--format", "data", data])[0]
    heads = {line.split()[2] for line in text.splitlines() if line.startswith("context ")}
    tap.check("context IDs: counts by context", None if heads == {"64", "c8"} else f"{heads} {text[:500]}")


def main():
    global COMMAND, PLUGIN
    COMMAND, PLUGIN, examples = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:4])
    for tool in (COMPILER, "qemu-aarch64"):
        if not shutil.which(tool):
            skip(f"{tool} is not installed")
    tap = Tap()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        primes = pathlib.Path(examples) / "primes.c"
        one = Recording(folder, "one", primes, ["-O2", "-static"], ["300"], ["--framed"])
        two = Recording(folder, "two", primes, ["-O0", "-static"], ["500"], ["--framed"])
        two_processes(tap, folder, one, two)
        a_process_becomes_another(tap, folder, one, two)
        one = Recording(folder, "first", primes, ["-O2", "-static"], ["300"], ["--context-id"])
        two = Recording(folder, "second", primes, ["-O0", "-static"], ["500"], ["--context-id"])
        contexts_tell(tap, folder, one, two)
    tap.end()


if __name__ == "__main__":
    main()
