#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a week of a small fleet: three builds of a program, several machines, several tests, and the manifest
of all captures. One capture is cut off, one cannot be read, and the last machine does nothing but retry.

usage: record_week.py CORETAP FOLDER [MACHINES]"""
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent / "service.c"
COMPILER = "aarch64-linux-gnu-gcc"
TESTS = {"config": 300, "render": 200, "sync": 900}
FRAME = 16


def build(folder, version):
    program = folder / "builds" / str(version) / "service"
    program.parent.mkdir(parents=True)
    subprocess.run([COMPILER, "-O1", "-g", "-static", "-Wl,--build-id", f"-DVERSION={version}", SOURCE, "-o",
                    program], check=True)
    return program


def record(coretap, program, capture, test, size):
    capture.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([coretap, "record", "-q", "--cycle-count", "-o", capture, "--", program, test, str(size)],
                   check=True)


def what_runs(stuck, test, size, machine):
    """Returns test and size. A machine that is stuck only tries to reach a server."""
    return ("sync", 2000 + size) if stuck else (test, size + 37 * machine)


def damage(captures):
    """Cuts off the trace of the first capture, and removes the description of the second one."""
    trace = next(captures[0].glob("*.bin"))
    trace.write_bytes(trace.read_bytes()[:-100 * FRAME])
    (captures[1] / "snapshot.ini").write_text("[snapshot\n", encoding="utf-8")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    coretap, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    machines = int(sys.argv[3]) if len(sys.argv) > 3 else 6
    programs = [build(folder, version) for version in (1, 2, 3)]
    lines, made = [], []
    for machine in range(1, machines + 1):
        for test, size in TESTS.items():
            captures = []
            for version, program in enumerate(programs, 1):
                capture = folder / "captures" / f"phone-{machine}" / f"{test}-build-{version}"
                record(coretap, program, capture, *what_runs(machine == machines, test, size, machine))
                captures.append(capture)
            made += captures
            if machine == 1 and test == "config":
                damage(captures)
            named = what_runs(machine == machines, test, size, machine)[0]
            listed = subprocess.run([coretap, "manifest", "-q", "--machine", f"phone {machine}", "--test",
                                     named, *captures], check=True, capture_output=True, text=True)
            lines.append(listed.stdout)
    (folder / "week.jsonl").write_text("".join(lines), encoding="utf-8")
    print(f"{len(made)} captures in {folder}/week.jsonl")


if __name__ == "__main__":
    main()
