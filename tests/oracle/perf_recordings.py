# SPDX-License-Identifier: Apache-2.0
"""Programs run by 'coretap record', and coretap's output for perf.data files made of them."""
import os
import pathlib
import shutil
import struct
import subprocess

from perf_tool import run, skip
from perf_writer import Capture, Writer, frames

COMPILER = "aarch64-linux-gnu-gcc"


class Recorder:
    def __init__(self, command, plugin):
        self.command = command
        self.env = {**os.environ, "CORETAP_TRACE_PLUGIN": plugin}


def need_recorder(arguments):
    """Returns the recorder. Skips the test without the tools."""
    for tool in (COMPILER, "qemu-aarch64"):
        if not shutil.which(tool):
            skip(f"{tool} is not installed")
    return Recorder(*(str(pathlib.Path(argument).resolve()) for argument in arguments))


class Recording:
    """A program that ran, its capture, and the instructions that it executed."""

    def __init__(self, recorder, folder, name, source, flags, arguments, options, compiler=COMPILER, step=4):
        self.command, self.folder, self.program = recorder.command, folder / f"{name}.capture", folder / name
        subprocess.run([compiler, "-g", "-o", self.program, source, *flags], check=True)
        truth = folder / f"{name}.truth"
        subprocess.run([recorder.command, "record", "-q", "-o", self.folder, "--truth", truth, *options, "--",
                        self.program,
                        *arguments], env=recorder.env, check=True, capture_output=True, timeout=300)
        self.capture = Capture(self.folder)
        self.path = path_of(truth, step)

    def trace_of(self, context):
        """Returns the trace of a recording without frames, in frames, with this context ID in place of 1."""
        trace = bytearray((self.folder / "trace_0.bin").read_bytes())
        lines = [line.split()
                 for line in run([self.command, "list", "-q", "--packets", self.folder])[0].splitlines()
                 if not line.startswith("#")]
        starts = [int(line[0]) for line in lines] + [len(trace)]
        for line, end in zip(lines, starts[1:]):
            if any(field.startswith("ctxt=") for field in line):  # the last four bytes of its packet
                assert trace[end - 4:end] == b"\1\0\0\0", line
                trace[end - 4:end] = struct.pack("<I", context)
        return frames(bytes(trace), self.capture.units[0][1])

    def in_program(self):
        """Returns how many instructions of the path are in the program itself."""
        spans = [(addr, addr + size) for addr, size, _, path in self.capture.maps() if path == self.program]
        return sum(any(low <= at < high for low, high in spans) for at in self.path)


def two_contexts(recorder, folder, source):
    """Records two programs with different code at the same addresses, as in a perf.data of a whole system:
    each piece of trace belongs to the program that ran last, and context IDs in the trace tell whose code it
    is. Returns the writer of the file, and the recordings in the order in which they ran."""
    one = Recording(recorder, folder, "first", source, ["-O2", "-static"], ["300"], ["--context-id"])
    two = Recording(recorder, folder, "second", source, ["-O0", "-static"], ["500"], ["--context-id"])
    writer = Writer(one.capture.units, contexts=True)
    writer.start(100, one.capture)
    writer.start(200, two.capture)
    order = [(200, two), (100, one), (200, two)]
    for pid, recording in order:
        writer.run(7, recording.trace_of(pid))
    return writer, [recording for _, recording in order]


def path_of(truth, step=4):
    """Returns the addresses of all traced instructions, in order, `step` bytes apart."""
    path = []
    for line in pathlib.Path(truth).read_text().splitlines():
        traced, _, _, _, first, end, _ = line.split()
        if traced == "+":
            path.extend(range(int(first, 16), int(end, 16), step))
    return path


def decoded(command, data, *options, env=None):
    """Returns the addresses of all instructions, in order."""
    addresses = []
    text = run([command, "list", "-q", "--elements", *options, data], env={**os.environ, **(env or {})})[0]
    for line in text.splitlines():
        if " instr_range " in line:
            fields = dict(field.split("=") for field in line.split()[3:] if "=" in field)
            start = int(fields["start"], 16)
            addresses.extend(range(start, start + 4 * int(fields["n"]), 4))
    return addresses
