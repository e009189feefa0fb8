#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what every command says of a trace in which nothing is or nothing ran. Prints TAP.

usage: test_empty_traces.py COMMAND

A trace without bytes, one of padding, and one without a point of synchronisation give exit code 1 and a
message, also with --quiet. So does software trace, for commands that need executed instructions."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import small_elf  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

RAW = ROOT / "examples" / "raw"

# Command lines: @ stands for the capture, % for its program, + for a folder, & for the trace itself. Those of
# ANY have something to say of software trace, those of CODE have not.
ANY = ["info @", "list --packets @", "list --elements @", "decode @", "decode --merge @", "stats @",
       "stats -f json @", "stats --level packet @", "merge --kind statistics @", "merge --kind events @",
       "profile --elf % -f perfetto @", "report --elf % @", "live --config @ --timing &"]
CODE = ["cover --elf % @", "cover --elf % -f lcov @", "cover --elf % -f data @",
        "merge --elf % --kind coverage @", "merge --kind timing @", "timing @", "timing --edges @",
        "timing -f data @", "profile --elf % @", "profile --elf % -f llvm @", "profile --elf % -f chrome @",
        "profile --elf % -f data @", "watch --at 0x80000 @", "watch --at 0x80000 -f sums @",
        "watch --at 0x80000 -f data @", "watch --all-edges @", "graph --elf % --learn @",
        "export --branch-stacks --perf +/out @", "spec --timing --pair 0x80000|0x80004 @",
        "volume --capture @"]
# Needs an instruction trace, and refuses a capture that has none (exit code 2).
MONITOR = "monitor --spec +/count.tessla --bind a=0x80000 @"
# Without times there is no bound (exit code 2).
BOUND = "wcet --elf % --entry start @"
# Do not decode: frames with a trace ID, or bytes, are enough.
FRAMES = "stats --level frame @"
COPY = "export --perf +/out @"
# Commands that read no trace themselves.
NO_TRACE = {"export-results", "perf-env", "record", "manifest", "map", "ctl", "tessla", "fractal"}

SPEC = "in a: Events[Unit]\ndef n := count(a)\ndef error := n < 0\nout error\n"


def description(folder, framing, source, trace):
    """Makes the .ini file of a raw trace, whose program is at 0x80000. Returns its path."""
    folder.mkdir()
    (folder / "trace.bin").write_bytes(trace)
    shutil.copy(RAW / "loop-code.bin", folder)
    (folder / "capture.ini").write_text(
        f"[capture]\nfile = trace.bin\nframing = {framing}\n[source s]\n{source}\n"
        "[image loop]\nfile = loop-code.bin\naddress = 0x80000\n", encoding="utf-8")
    return folder / "capture.ini"


def run(coretap, line, names, quiet):
    words = [re.sub("[@%+&]", lambda m: str(names[m[0]]), word).replace("|", " ") for word in line.split()]
    if quiet:
        words.insert(1, "-q")
    return subprocess.run([coretap, *words], stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="latin-1", timeout=300, check=False)


def check_all(coretap, what, lines, names, code, says):
    """Checks the exit code and what is said, a regular expression, without and with --quiet."""
    for line in lines:
        for quiet in (False, True):
            done = run(coretap, line, names, quiet)
            tap.check(f"{what}: {line}{' -q' if quiet else ''}",
                      done.returncode == code and re.search(says, done.stderr),
                      f"exit code {done.returncode}\n{done.stdout[:500]}\n{done.stderr}")


def check_commands(coretap):
    """Checks that the table has all commands."""
    text = subprocess.run([coretap, "--help"], capture_output=True, text=True, check=True).stdout
    listed = set(re.findall(r"^  ([a-z-]+) ", text.split("Commands:\n")[1].split("\n\n")[0], re.M))
    known = {line.split()[0] for line in [*ANY, *CODE, MONITOR, BOUND, FRAMES, COPY]} | NO_TRACE
    tap.check("every command is in the table", listed == known, str(listed ^ known))


def main():
    coretap = os.path.abspath(sys.argv[1])
    etm = ("protocol = etmv4i\nid = 0x10\ncore = Cortex-A53\nTRCCONFIGR = 1\nTRCIDR0 = 0x28000ea1\n"
           "TRCIDR2 = 0x488")
    itm = "protocol = itm\nITMTCR = 0x00200001"
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        code = (RAW / "loop-code.bin").read_bytes()
        (folder / "program").write_bytes(small_elf.make(code, 0x80000, [(b"start", 0x80000, len(code))]))
        (folder / "count.tessla").write_text(SPEC, encoding="utf-8")
        names = {"%": folder / "program", "+": folder}

        def check_trace(name, framing, source, trace, lines, code, says):
            names["@"] = description(folder / name.split()[-1], framing, source, trace)
            names["&"] = names["@"].with_name("trace.bin")
            check_all(coretap, name, lines, names, code, says)

        for name, framing, trace, says in (
                ("no bytes", "frames", b"", "contains no trace bytes; nothing was decoded"),
                ("padding", "frames", bytes(4096), "none of its 4096 bytes belong to a trace source"),
                ("not synchronised", "none", bytes(4096), "losses: 4096 bytes that could not be used")):
            check_trace(name, framing, etm, trace, ANY + CODE + [MONITOR], 1, says)
            check_all(coretap, name, [FRAMES], names, *((0, "") if framing == "none" else (1, says)))
            check_all(coretap, name, [COPY], names, *((0, "") if trace else (1, says)))
            check_all(coretap, name, [BOUND], names, 2, says)
        software = (RAW / "itm.bin").read_bytes()
        check_trace("software", "none", itm, software, CODE, 1, "no executed|trace has no instructions")
        check_all(coretap, "software", [BOUND], names, 2, "no cycles of the program were measured")
        check_all(coretap, "software", [MONITOR], names, 2, "belongs to a core")
        check_all(coretap, "software", [COPY], names, 2, "no trace source that perf supports")
        check_all(coretap, "software", ANY + [FRAMES], names, 0, "")
    check_commands(coretap)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
