#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports recorded programs and checks that perf script gives the instructions that coretap lists.

usage: perf_recorded.py COMMAND PLUGIN EXAMPLES"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from perf_export import check
from perf_tool import Tap, first_difference, need_perf, run, skip
from tap import some

PREFIX = "aarch64-linux-gnu-"
SETS = {
    "plain": [],
    "framed": ["--framed", "--return-stack", "--timestamps=500", "--cycle-count"],
    "ete": ["--protocol", "ete", "--branch-broadcast", "--events", "50"],
    "contexts": ["--threads", "contexts", "--return-stack"],
    "identifiers": ["--framed", "--context-id", "--vmid", "--sync-period", "9"],
}


# Static programs, and programs with an interpreter and libraries; also C++, whose exceptions unwind through
# the libraries.
PROGRAMS = [
    ("primes.c", ["-static"], list(SETS)),
    ("threads.c", ["-static"], some(SETS, 3)),
    ("primes.c", ["-pie"], some(["plain", "framed"], 0)),
    ("threads.c", ["-pie"], some(["framed", "contexts"], 0)),
    ("exceptions.cc", ["-pie"], some(["ete", "identifiers"], 1)),
]


def record(coretap, plugin, options, program, folder):
    env = {**os.environ, "CORETAP_TRACE_PLUGIN": plugin}
    result = subprocess.run([coretap, "record", "-q", "-o", folder, *options, "--max-instructions", "200000",
                             "--", program],
                            env=env, capture_output=True, stdin=subprocess.DEVNULL, timeout=300, check=False)
    return result.stderr.decode(errors="replace")


def check_names(coretap, perf, folder, program, tap):
    """Checks that the exported file names the ELF files that ran, so that perf knows functions, and that its
    profiles equal those of the capture."""
    data = folder.with_suffix(".data")
    run([coretap, "export", "-q", "--perf", data, folder])
    seen = {tuple(line.split()[1:]) for line in
            run([perf, "script", "-i", data, "--itrace=i1i", "-F", "ip,sym,dso"])[0].splitlines()}
    tap.check(f"{program.name}: perf names its functions", None if ("main", f"({program})") in seen else seen)
    for form in ("autofdo", "llvm", "bolt"):
        want, got = (run([coretap, "profile", "-q", "--format", form, capture])[0].splitlines()
                     for capture in (folder, data))
        tap.check(f"{program.name}: profile --format {form} of the exported file",
                  first_difference(want, got, ("capture", "perf.data")))


def main():
    coretap, plugin, examples = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:4])
    perf = need_perf()
    for tool in (f"{PREFIX}gcc", f"{PREFIX}g++", "qemu-aarch64"):
        if not shutil.which(tool):
            skip(f"{tool} is not installed")
    tap = Tap()
    with tempfile.TemporaryDirectory() as temporary:
        for source, flags, names in PROGRAMS:
            program = pathlib.Path(temporary) / f"{pathlib.Path(source).stem}{''.join(flags)}"
            compiler = PREFIX + ("g++" if source.endswith(".cc") else "gcc")
            subprocess.run([compiler, "-g", "-O2", *flags, "-o", program, pathlib.Path(examples) / source,
                            "-lpthread"], check=True)
            for name in names:
                options = SETS[name]
                folder = pathlib.Path(temporary) / f"{program.name}-{name}"
                said = record(coretap, plugin, options, program, folder)
                if (folder / "snapshot.ini").exists():
                    check(coretap, perf, folder, f"{program.name} {name}", tap)
                    if name == "plain":
                        check_names(coretap, perf, folder, program, tap)
                else:
                    tap.check(f"{program.name} {name}", said or "nothing was recorded")
    tap.end()


if __name__ == "__main__":
    main()
