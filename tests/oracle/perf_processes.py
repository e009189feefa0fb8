#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks processes with different code at the same addresses: recordings of several programs become one
perf.data file, as perf would have written it, and each process decodes to the path that it took.

usage: perf_processes.py COMMAND PLUGIN EXAMPLES"""
import pathlib
import sys
import tempfile

from perf_recordings import Recording, decoded, need_recorder, two_contexts
from perf_tool import Tap, first_difference, run
from perf_writer import Writer


def counted(command, data, *options):
    """Returns program -> counted instructions, over all functions."""
    counts, name = {}, None
    for line in run([command, "cover", "-q", "--format", "data", *options, data])[0].splitlines():
        fields = line.split()
        if fields[0] == "program":
            name = pathlib.Path(fields[4]).name
        elif fields[0] == "run":
            counts[name] = counts.get(name,
                                      0) + (int(fields[2], 16) - int(fields[1], 16)) // 4 * int(fields[3])
    return counts


def engines_agree(command, data):
    stats = [run([command, "stats", "-q", "--level", "coverage", "--engine", engine, data])[0]
             for engine in ("plain", "fast")]
    facts = [[line for line in text.splitlines() if not line.startswith(("seconds", "mb_per_s"))]
             for text in stats]
    return None if facts[0] == facts[1] and len(facts[0]) > 5 else f"{facts[0]}\n{facts[1]}"


def named(command, path):
    """Returns the addresses of branches with their names in `decode`, in order."""
    rows = [line.split("\t") for line in run([command, "decode", "-q", path])[0].splitlines()]
    return [f"{row[2]} {row[3]}" for row in rows if row[0] == "Br"]


def check(tap, name, folder, writer, wanted, expect):
    """Checks a recording of processes. `wanted`: the recordings in the order in which they ran; `expect`:
    program -> instructions. Returns the file."""
    command = wanted[0].command
    data = folder / f"{name.replace(' ', '-')}.data"
    data.write_bytes(writer.whole())
    path = [at for recording in wanted for at in recording.path]
    tap.check(f"{name}: {len(path)} instructions, as executed", first_difference(
        [f"{at:x}" for at in path], [f"{at:x}" for at in decoded(command, data)], ("truth", "coretap")))
    got = counted(command, data)
    tap.check(f"{name}: counts are of the program that ran",
              None if got == expect else f"{got}\nwanted {expect}")
    tap.check(f"{name}: both engines", engines_agree(command, data))
    tap.check(f"{name}: branches are named by the program that ran", first_difference(
        [row for recording in wanted for row in named(command, recording.folder)], named(command, data),
        ("alone", "together")))
    return data


def sums(*runs):
    """Returns program -> instructions of its recordings."""
    total = {}
    for recording in runs:
        name = recording.program.name
        total[name] = total.get(name, 0) + recording.in_program()
    return total


def two_processes(tap, folder, one, two):
    """Checks two processes that map their programs at the same addresses. The record of each piece of trace
    states the process."""
    writer = Writer(one.capture.units)
    for pid, recording in ((100, one), (200, two)):
        writer.start(pid, recording.capture)
    order = [(100, one), (200, two), (100, one), (200, two), (200, two)]
    for pid, recording in order:
        writer.run(pid, recording.capture.trace)
    ran = [recording for _, recording in order]
    return check(tap, "two processes", folder, writer, ran, sums(*ran))


def a_process_becomes_another(tap, folder, one, two):
    """Checks exec: the same process ID with another program. Its child continues with the first program's
    code."""
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


def contexts_tell(tap, folder, recorder, source):
    """Checks that context IDs in the trace tell to which program the code belongs."""
    writer, ran = two_contexts(recorder, folder, source)
    data = check(tap, "context IDs", folder, writer, ran, sums(*ran))
    text = run([recorder.command, "cover", "-q", "--format", "data", data])[0]
    heads = {line.split()[2] for line in text.splitlines() if line.startswith("context ")}
    tap.check("context IDs: counts by context", None if heads == {"64", "c8"} else f"{heads} {text[:500]}")


def main():
    recorder = need_recorder(sys.argv[1:3])
    tap = Tap()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        primes = pathlib.Path(sys.argv[3]) / "primes.c"
        one = Recording(recorder, folder, "one", primes, ["-O2", "-static"], ["300"], ["--framed"])
        two = Recording(recorder, folder, "two", primes, ["-O0", "-static"], ["500"], ["--framed"])
        two_processes(tap, folder, one, two)
        a_process_becomes_another(tap, folder, one, two)
        contexts_tell(tap, folder, recorder, primes)
    tap.end()


if __name__ == "__main__":
    main()
