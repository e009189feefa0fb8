# SPDX-License-Identifier: Apache-2.0
"""Recorded programs, sound and damaged, for comparing coretap's library with OpenCSD's."""
import pathlib
import random
import shutil
import subprocess

from perf_recordings import COMPILER

ARM_COMPILER = "arm-linux-gnueabihf-gcc"

# Name -> source and flags of the program, options of the recorder.
ALL = {
    "plain": (["primes.c", "-static"], []),
    "framed": (["primes.c", "-pie"],
               ["--framed", "--return-stack", "--timestamps=500", "--cycle-count"]),
    "ete": (["primes.c", "-pie"], ["--protocol", "ete", "--branch-broadcast", "--events", "50"]),
    "contexts": (["threads.c", "-static"], ["--threads", "contexts", "--return-stack"]),
    "identifiers": (["threads.c", "-static"], ["--framed", "--context-id", "--vmid", "--sync-period", "9"]),
    "overflows": (["threads.c", "-static"], ["--framed", "--overflow", "2000", "--timestamps"]),
    "ptm": (["primes.c", "-static", "-marm"], ["--protocol", "ptm", "--return-stack"]),
    "ptm-framed": (["threads.c", "-static", "-mthumb"],
                   ["--protocol", "ptm", "--framed", "--timestamps=500", "--cycle-count", "--context-id"]),
}


def compiler_of(name):
    return ARM_COMPILER if name.startswith("ptm") else COMPILER


RECORDINGS = {name: recording for name, recording in ALL.items() if shutil.which(compiler_of(name))}
if len(RECORDINGS) < len(ALL):
    print(f"# {ARM_COMPILER} is not installed: no programs of 32 bits")

INSTRUCTIONS = "100000"


def record(recorder, examples, folder, name):
    """Runs the program of a name and returns its capture."""
    (source, *flags), options = RECORDINGS[name]
    program, capture = folder / f"{name}.program", folder / name
    subprocess.run([compiler_of(name), "-O2", "-o", program, pathlib.Path(examples) / source, *flags,
                    "-lpthread"], check=True)
    subprocess.run([recorder.command, "record", "-q", "-o", capture, *options, "--max-instructions",
                    INSTRUCTIONS, "--", program], env=recorder.env, check=True, capture_output=True,
                   stdin=subprocess.DEVNULL, timeout=120)
    return capture


def damage(capture, copy, seed):
    """Copies a capture and flips bits of its trace behind the first packets."""
    shutil.copytree(capture, copy)
    chance = random.Random(seed)
    for path in copy.glob("trace*.bin"):
        trace = bytearray(path.read_bytes())
        for _ in range(2 + len(trace) // 3000):
            trace[chance.randrange(64, len(trace))] ^= 1 << chance.randrange(8)
        path.write_bytes(trace)
    return copy
