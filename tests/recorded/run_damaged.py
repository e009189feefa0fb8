#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks damaged trace of recorded programs: what is counted ran, or no decoder could have known better
(damaged.c has the exact rules).

usage: run_damaged.py COMMAND PLUGIN DAMAGED EXAMPLES

Runs a few hundred damaged traces of recordings with several sets of options; with CT_LONG=1 ten thousand. For
the last one of each recording, and the undamaged one, commands are also compared with each other: stats at
all levels, with all engines and with threads, info, list, decode, cover, and timing where cycles were
counted. All report the same losses, and exit with 1 when trace was lost or contradicts the program."""
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, PLUGIN, DAMAGED, EXAMPLES = (pathlib.Path(arg).resolve() for arg in sys.argv[1:5])
run = functools.partial(command.run, COMMAND, codes=None)
LONG = os.environ.get("CT_LONG") == "1"
# The initial stack is the same each time, so that a seed identifies a trace.
ENV = {key: value for key, value in os.environ.items() if key in ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS")}
ENV |= {"CORETAP_TRACE_PLUGIN": PLUGIN, "QEMU_RAND_SEED": "1"}
COMPILERS = {"a64": ["aarch64-linux-gnu-gcc"], "a32": ["arm-linux-gnueabihf-gcc", "-marm"],
             "t32": ["arm-linux-gnueabihf-gcc", "-mthumb"]}

# Program, instruction set, options of the recording.
RECORDINGS = [
    ("primes", "a64", "--protocol etm4 --return-stack"),
    ("primes", "a64", "--protocol etm4 --branch-broadcast --cycle-count=4"),
    ("primes", "a64", "--protocol ete --return-stack --cycle-count=4"),
    ("signals", "a64", "--protocol ete --return-stack --overflow 5000 --context-id"),
    ("primes", "t32", "--protocol etm4 --branch-broadcast --timestamps"),
    ("primes", "t32", "--protocol ptm --return-stack"),
    ("signals", "t32", "--protocol ptm --branch-broadcast --timestamps=500"),
    ("primes", "a32", "--protocol etm4 --return-stack"),
    ("primes", "a32", "--protocol ptm --cycle-count"),
    ("signals", "a32", "--protocol etm4 --return-stack --timestamps=500 --cycle-count"),
]
EACH = 1000 if LONG else 15
# In this many of a hundred traces coretap may invent more than libopencsd where both follow, for one of these
# reasons:
# - Damage says A32 where T32 code or data is, and a word has 15 in the place of a destination register but is
#   no branch: LDRD and STRD (0xa1e0f8df, 0x0002f6f6), MOVW (0x0300f04f), MUL (0x0002f796), a shift by a
#   register (0x0002f658). All are UNPREDICTABLE with the PC there. libopencsd 1.3.3 ends the range, coretap
#   continues to the next branch.
# - Damage says ThumbEE, which libopencsd does not know; coretap continues where the code returns to T32.
# - A damaged PTM branch leads to an address between two words: libopencsd takes it for A32, coretap for T32,
#   which has more instructions in the same bytes.
# - A damaged PTM branch has exception information with number 0, which is no exception (IHI 0035B 4.5.4):
#   coretap has the range up to the branch, libopencsd takes it for an exception and has none.
# - An atom finds the return stack empty: coretap has the range that the return before it ended, libopencsd
#   drops everything that it made of that packet. The range is right when only the stack was lost.
MORE = 1

# Numbers of stats about missing trace.
LOSSES = ("gaps", "overflows", "contradictions", "bad_packets", "lost_bytes", "no_access")

# Numbers of stats about instructions.
WAYS = [["--level", "flow"], ["--level", "flow", "--engine", "plain"], ["--level", "coverage"],
        ["--level", "coverage", "--engine", "plain"], ["--level", "timing"],
        ["--level", "coverage", "--threads", "3"], ["--level", "flow", "--threads", "2"]]


def program(folder, source, isa):
    path = folder / f"{source}_{isa}"
    if not path.exists():
        subprocess.run([*COMPILERS[isa], "-O2", "-static", "-o", path, EXAMPLES / f"{source}.c", "-lpthread"],
                       check=True)
    return path

def told(got):
    """Returns the losses that a command reports on standard error."""
    found = [line.split(": losses: ", 1)[1] for line in got.stderr.splitlines() if ": losses: " in line]
    return found[0] if found else ""


def commands_agree(capture, elf, options):
    """Returns '' or what is wrong: all commands must report the same losses, and exit with 1 when anything is
    lost."""
    answers = set()
    for way in WAYS:
        got = run("stats", *way, capture)
        values = dict(line.split("=") for line in got.stdout.splitlines())
        answers.add((got.returncode, told(got), values["instructions"],
                     *(int(values[key]) for key in LOSSES)))
    if len(answers) != 1:
        return f"stats: {answers}"
    code, losses, _, gaps, overflows, contradictions, bad_packets, lost_bytes, no_access = next(iter(answers))
    if code != (gaps > overflows or bad_packets > 0 or lost_bytes > 0) or contradictions > gaps:
        return f"stats: exit code {code}: {answers}"
    if bool(losses) != (gaps + bad_packets + lost_bytes + no_access > 0):
        return f"stats: the losses are not told: {answers}"
    commands = [["info"], ["list", "--elements"], ["decode"], ["cover", "--elf", elf, "--all-functions"]]
    if "--cycle-count" in options:
        commands += [["timing"], ["timing", "--edges"]]
    for command in commands:
        got = run(*command, capture)
        if got.returncode != code or told(got) != losses:
            return (f"{command}: exit code {got.returncode}, {told(got)!r}; stats: {code}, {losses!r}; "
                    f"{got.stderr}")
    return ""


def check(folder, number):
    """Returns what is wrong, or '', and the line of sums."""
    source, isa, options = RECORDINGS[number]
    capture, truth = folder / "capture", folder / "truth"
    elf = program(folder, source, isa)
    shutil.rmtree(capture, ignore_errors=True)
    subprocess.run([COMMAND, "record", "-q", "-o", capture, "--truth", truth, "--sync-period", "9",
                    "--max-instructions",
                    "60000", *options.split(), "--", f"./{elf.name}", "60"], check=True, env=ENV, cwd=folder,
                   stdout=subprocess.DEVNULL)
    why = commands_agree(capture, elf, options)
    if why:
        return "undamaged: " + why, ""
    kept = folder / "kept"
    got = subprocess.run([DAMAGED, capture, truth, str(EACH), str(1 + number * EACH), kept],
                         capture_output=True, text=True, check=False)
    if got.returncode:
        return got.stdout + got.stderr, ""
    shutil.copy(kept, capture / "trace_0.bin")
    return commands_agree(capture, elf, options), got.stdout


def main():
    missing = tap.lacks("qemu-aarch64", *[command[0] for command in COMPILERS.values()])
    if missing:
        return tap.skip_all(f"{missing} (tools/install-deps arm)")
    total = {"traces": 0, "invented": 0, "opencsd": 0, "more": 0}
    with tempfile.TemporaryDirectory() as name:
        for number, (source, isa, options) in tap.some(enumerate(RECORDINGS), 2, 3, 5, 9):
            why, sums = check(pathlib.Path(name), number)
            values = dict(field.split("=") for field in sums.splitlines()[-1].split()) if sums else {}
            if sums and not why and int(values["followed"]) > int(values["opencsd"]):
                why = "more is invented than by libopencsd, where that follows: " + sums
            tap.told(f"{source} {isa} {options}", why, sums.strip().replace("\n", "\n# "))
            if sums:
                total = {key: total[key] + int(values[key]) for key in total}
    # libopencsd continues after contradictions, so that coretap invents a third of its ranges. One trace of
    # 300 can have a fifth of all, so a few traces show less, and still fewer nothing. Without libopencsd both
    # numbers are 0.
    if not tap.WHOLE:
        return tap.finish()
    times = 2 if LONG else 1
    fine = times * total["invented"] <= total["opencsd"] and total["more"] * 100 <= total["traces"] * MORE
    tap.check(f"libopencsd invents {times} times as much at least: {total}", fine)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
