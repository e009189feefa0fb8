# SPDX-License-Identifier: Apache-2.0
"""Recorded programs, sound and damaged, for comparisons of coretap's library with OpenCSD's."""
import itertools
import os
import pathlib
import random
import shutil
import subprocess

from perf_recordings import COMPILER
from tap import WHOLE

ARM_COMPILER = "arm-linux-gnueabihf-gcc"

LONG = os.environ.get("CT_LONG", "0") not in ("", "0")

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

# In the long tier each protocol is recorded with each of these options; programs take turns.
OPTIONS = {
    "broadcast": ["--branch-broadcast"],
    "cycles": ["--cycle-count=1"],
    "timestamps": ["--timestamps=300"],
    "context": ["--context-id"],
    "vmid": ["--vmid", "--context-id", "--threads", "contexts"],
    "returns": ["--return-stack"],
    "events": ["--events", "40"],
    "synchronised": ["--sync-period", "8"],
    "lossy": ["--overflow", "1500", "--seed", "3"],
    "started": ["--start", "main", "--cycle-count"],
    "padded": ["--framed", "--padding", "64", "--ids", "21"],
    "everything": ["--framed", "--branch-broadcast", "--cycle-count=1", "--timestamps=200",
                   "--context-id", "--vmid", "--events", "30", "--sync-period", "9", "--overflow", "3000",
                   "--padding", "100"],
}
PROGRAMS = [["primes.c", "-static"], ["signals.c", "-static"], ["primes.c", "-pie"],
            ["pingpong.c", "-static"], ["threads.c", "-static"]]


def add_protocols():
    programs = itertools.cycle(PROGRAMS)
    for protocol, sets in (("etm4", [[]]), ("ete", [[]]), ("ptm", [["-marm"], ["-mthumb"]])):
        flags = itertools.cycle(sets)
        for name, options in OPTIONS.items():
            ALL[f"{protocol}-{name}"] = ([*next(programs), *next(flags)], ["--protocol", protocol, *options])


if LONG:
    add_protocols()


def compiler_of(name):
    return ARM_COMPILER if name.startswith("ptm") else COMPILER


CHOSEN = [name for name in ALL if WHOLE or name in ("framed", "ete", "overflows", "ptm-framed")]
RECORDINGS = {name: ALL[name] for name in CHOSEN if shutil.which(compiler_of(name))}
if len(RECORDINGS) < len(CHOSEN):
    print(f"# {ARM_COMPILER} is not installed: no programs of 32 bits")

INSTRUCTIONS = "100000"
HEAD = 64  # bytes that are never damaged


def record(recorder, examples, folder, name):
    """Records the program of this name. Returns the capture."""
    (source, *flags), options = RECORDINGS[name]
    program, capture = folder / f"{name}.program", folder / name
    subprocess.run([compiler_of(name), "-O2", "-o", program, pathlib.Path(examples) / source, *flags,
                    "-lpthread"], check=True)
    subprocess.run([recorder.command, "record", "-q", "-o", capture, *options, "--max-instructions",
                    INSTRUCTIONS, "--", program], env=recorder.env, check=True, capture_output=True,
                   stdin=subprocess.DEVNULL, timeout=300)
    return capture


def damage(capture, copy, seed):
    """Copies a capture and flips bits of its trace after the first packets. Returns the copy."""
    shutil.copytree(capture, copy)
    chance = random.Random(seed)
    for path in copy.glob("trace*.bin"):
        trace = bytearray(path.read_bytes())
        for _ in range(2 + len(trace) // 3000 if len(trace) > HEAD else 0):
            trace[chance.randrange(HEAD, len(trace))] ^= 1 << chance.randrange(8)
        path.write_bytes(trace)
    return copy
