#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the progress meter: on a terminal it appears and disappears, elsewhere and with --quiet there is
none. Prints TAP.

usage: test_progress.py COMMAND"""
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import small_elf  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "examples" / "quickstart"
FRAME = 16
RAW = ROOT / "examples" / "raw"
# The command waits for 4096 bytes to detect the framing. What follows the trace is padding.
FIRST = (EXAMPLE / "trace.bin").read_bytes().ljust(4096, b"\0")
BASE = 0x80000
FUNCTIONS = 200000
CODE = struct.pack("<5I", 0xB4000060, 0xF1000400, 0x54FFFFC1, 0xD65F03C0, 0xD503201F)  # a loop


def run(coretap, terminal, *options, columns=80):
    """Runs a decode that takes longer than the meter waits. Returns its standard error and the exit code."""
    reader, writer = pty.openpty() if terminal else os.pipe()
    if terminal:
        fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    line = [coretap, "stats", *options, "--config", str(EXAMPLE), "-"]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=writer) as process:
        os.close(writer)
        text = b""
        process.stdin.write(FIRST)
        # Writes slowly, until the meter was seen or the time is over.
        end = time.monotonic() + (300 if terminal and not options else 1.5)
        while time.monotonic() < end and b"MB, " not in text:
            process.stdin.write(bytes(FRAME))
            process.stdin.flush()
            if select.select([reader], [], [], 0.05)[0]:
                text += os.read(reader, 4096)
        process.stdin.close()
        while select.select([reader], [], [], 300)[0]:
            try:
                piece = os.read(reader, 4096)
            except OSError:
                break
            if not piece:
                break
            text += piece
        code = process.wait()
    os.close(reader)
    return text, code


def program(folder):
    """Makes a capture of a program of many functions. They come after the code that ran."""
    code = (RAW / "loop-code.bin").read_bytes()
    first = BASE + len(code)
    data = small_elf.make(code + CODE * FUNCTIONS, BASE, [
        (b"f%06d" % i, first + len(CODE) * i, len(CODE)) for i in range(FUNCTIONS)])
    (folder / "big.elf").write_bytes(data)
    text = (RAW / "board.ini").read_text(encoding="utf-8").replace("file = loop-code.bin", "elf = big.elf")
    (folder / "board.ini").write_text(text.replace("address = 0x80000\n", ""), encoding="utf-8")
    (folder / "board.bin").write_bytes((RAW / "board.bin").read_bytes())
    return folder / "board.ini"


def run_slowly(coretap, until, *arguments):
    """Returns what a command prints on a terminal until it says `until`. The command is stopped for a hundred
    times as long as it runs, also where a busy machine lets it run for longer than a moment."""
    reader, writer = pty.openpty()
    text = b""
    begin = time.monotonic()
    with subprocess.Popen([coretap, *arguments], stdout=subprocess.DEVNULL, stderr=writer) as process:
        os.close(writer)
        while process.poll() is None and until not in text:
            process.send_signal(signal.SIGSTOP)
            time.sleep(100 * (time.monotonic() - begin))
            begin = time.monotonic()
            process.send_signal(signal.SIGCONT)
            if select.select([reader], [], [], 0.001)[0]:
                try:
                    text += os.read(reader, 4096)
                except OSError:  # the process ended
                    break
        process.kill()
    os.close(reader)
    return text


def shown_programs(coretap):
    """Yields whether the meter shows the work with programs, for a report and for coverage."""
    with tempfile.TemporaryDirectory() as name:
        capture = program(pathlib.Path(name))
        for until, line in ((b"reading the programs, 0:01", ("report", "-o", f"{name}/page.html", capture)),
                            (b"working out the coverage, 0:01", ("cover", capture))):
            yield f"{line[0]}: {until.decode()}", run_slowly(coretap, until, *line), until


def main():
    coretap = os.path.abspath(sys.argv[1])
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError as error:
        return tap.skip_all(f"no terminal can be made here: {error}")
    shown, code = run(coretap, True)
    narrow, _ = run(coretap, True, columns=12)
    quiet, _ = run(coretap, True, "--quiet")
    piped, _ = run(coretap, False)
    results = [
        ("shown on a terminal", b"MB/s" in shown),
        ("taken away at the end", shown.rstrip().endswith(b"\r\x1b[K")),
        ("the exit code is that of the decode", code == 0),
        ("cut to a narrow terminal", re.fullmatch(rb"(\r[^\r\x1b]{0,11}\x1b\[K)+", narrow) is not None),
        ("not with --quiet", quiet == b""),
        ("not in a pipe", piped == b""),
    ]
    programs = list(shown_programs(coretap))
    results += [(name, until in text) for name, text, until in programs]
    for name, good in results:
        tap.check(name, good, f"{shown!r} {narrow!r} {code} {quiet!r} {piped!r} {programs!r}")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
