#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that perf prints the same bytes with coretap's library in place of OpenCSD's: for perf.data of the
corpus, and for recorded programs, sound and damaged. Each output of damaged trace that differs is printed,
and at most one in a hundred may: some results of 1.3.3 depend on memory that it never wrote. perf runs half
of its commands on each recording, with CT_LONG=1 all.

usage: perf.py COMMAND PLUGIN EXAMPLES LIBRARY"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "oracle"))
from recordings import LONG, RECORDINGS, damage, record
from perf_recordings import need_recorder, two_contexts
from perf_tool import Tap, corpus, first_difference, need_perf

COMMANDS = [
    ["script", "--itrace=i1i"],
    ["script", "--itrace=b"],
    ["script", "--itrace=il"],
    ["script", "--itrace=i100il", "-F", "+brstack"],
    ["script", "--itrace=Zi10i"],
    ["report", "--itrace=i100i", "--stdio"],
    ["report", "--itrace=il", "--stdio"],
    ["report", "--stdio"],
    ["report", "-D"],
]
OF_DAMAGED = [["script", "--itrace=i1i"], ["report", "-D"]]
INJECTIONS = [["--itrace=i512il"], ["--itrace=i100il", "--strip"]]
SNAPSHOTS = ["TC2", "ete_ip", "trace_cov_a15"]  # snapshots of the corpus, in the short tier
MOST_BYTES = 16 << 20  # of perf's output; intact recordings give less
MOST_DAMAGED = 1 << 20  # of damaged recordings, at a few hundred KB a second
CUT = "cut"
CRASHES = (-signal.SIGABRT, -signal.SIGSEGV)
MOST_SHOWN = 2000  # letters of a difference, because a line of inject can be very long
TIP = b"# (Tip:"  # differs in each run


def perf(command, line, output=None, most=MOST_BYTES):
    """Runs perf as `command` says. Returns the lines of standard output, or of the file that it wrote; its
    messages; and its exit code. Leaves out LD_LIBRARY_PATH, in which the tests put the folder of coretap's
    library first. Cuts the output after `most` bytes, because perf may print for minutes about damaged
    trace."""
    env = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    with tempfile.TemporaryFile() as errors, subprocess.Popen(
            [*command, *line], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
            env=env) as run:
        text = run.stdout.read(most)
        if len(text) == most:
            run.kill()
            return text.splitlines()[:-1], [], CUT
        code = run.wait()
        errors.seek(0)
        messages = errors.read()
    said = output.read_bytes() if output and code == 0 else text
    return [line for line in said.splitlines() if not line.startswith(TIP)], messages.splitlines(), code


def difference(ways, line, cut=False, output=None):
    """Returns what differs between both libraries, or None."""
    most = MOST_DAMAGED if cut else MOST_BYTES
    theirs = perf(ways[0], line, output, most)
    if cut and theirs[2] in CRASHES:  # OpenCSD 1.3.3 crashes on some damage
        print(f"# perf {' '.join(map(str, line))}: OpenCSD crashes")
        return None
    ours = perf(ways[1], line, output, most)
    codes = {theirs[2], ours[2]}
    why = None if len(codes) == 1 or (cut and CUT in codes) else f"exit code {theirs[2]}, {ours[2]}"
    for i, (a, b) in enumerate(zip(theirs[:2], ours[:2])):
        if cut and CUT in codes:
            end = min(len(a), len(b))
            a, b = a[:end], b[:end]
            why = why or (None if end or i else "nothing to compare")
        if a != b:
            why = why or first_difference(a, b, ("OpenCSD", "coretap"))[:MOST_SHOWN]
    return why


def compare(tap, name, ways, line, output=None):
    tap.check(name, difference(ways, line, output=output))


def check_damaged(tap, name, ways, files):
    """Compares what perf prints about damaged recordings."""
    found = [(data, line, difference(ways, [*line, "-i", data], cut=True)) for data in files
             for line in OF_DAMAGED]
    differ = [(data, line, why) for data, line, why in found if why]
    for data, line, why in differ:
        print(f"# {data.name}: perf {' '.join(line)}: {why}".replace("\n", "\n# "))
    tap.check(f"{name}: at most one of a hundred outputs differs, of {len(found)}",
              f"{len(differ)} differ" if 100 * len(differ) > len(found) else None)


def check(tap, name, ways, data, folder, part=slice(None)):
    for line in COMMANDS[part]:
        compare(tap, f"{name}: perf {' '.join(line)}", ways, [*line, "-i", data])
    output = folder / "injected.data"
    for options in INJECTIONS[part]:
        compare(tap, f"{name}: perf inject {' '.join(options)}", ways,
                ["inject", *options, "-i", data, "-o", output], output=output)


def export(recorder, capture, data):
    """Writes a capture as perf.data. Returns whether it has a source that perf knows."""
    done = subprocess.run([recorder.command, "export", "-q", "--perf", data, capture], capture_output=True,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode and b"no trace source that perf supports" not in done.stderr:
        raise SystemExit(done.stderr.decode())
    return done.returncode == 0


def check_snapshots(tap, recorder, ways, folder):
    for capture in sorted(corpus().glob("snapshots/*")):
        data = folder / f"{capture.name}.data"
        if (LONG or capture.name in SNAPSHOTS) and export(recorder, capture, data):
            check(tap, capture.name, ways, data, folder)


def main():
    command, plugin, examples, library = sys.argv[1:]
    perf_path = need_perf()
    recorder = need_recorder([command, plugin])
    directory = os.path.dirname(os.path.realpath(library))
    ways = [[perf_path], [recorder.command, "perf-env", "--library-dir", directory, perf_path]]
    tap = Tap()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for data in sorted(corpus().glob("perfdata/*.data")):
            check(tap, data.name, ways, data, folder)
        data = folder / "contexts-tell.data"
        data.write_bytes(two_contexts(recorder, folder, pathlib.Path(examples) / "primes.c")[0].whole())
        check(tap, "two programs at the same addresses", ways, data, folder)
        check_snapshots(tap, recorder, ways, folder)
        damaged = []
        for number, name in enumerate(RECORDINGS):
            capture = record(recorder, examples, folder, name)
            data = folder / f"{name}.data"
            export(recorder, capture, data)
            check(tap, name, ways, data, folder, slice(None) if LONG else slice(number % 2, None, 2))
            for seed in (1, 2):
                bad = damage(capture, folder / f"{name}-{seed}", seed)
                data = folder / f"{name}-{seed}.data"
                export(recorder, bad, data)
                damaged.append(data)
        check_damaged(tap, "damaged recordings", ways, damaged)
    tap.end()


if __name__ == "__main__":
    main()
