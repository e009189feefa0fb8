#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks files that never end or that change: pipes and devices named by a capture are refused, and a file
that is shortened while in use is an error, not a signal. Prints TAP.

usage: test_files.py CORETAP"""
import array
import fcntl
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish  # noqa: E402  pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, limit=300):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=limit,
                          check=False, stdin=subprocess.DEVNULL)


def refused(name, done, *words):
    check(f"{name}: refused with a message",
          done.returncode == 2 and all(word in done.stderr for word in words),
          f"exit code {done.returncode}: {done.stderr}")


def snapshot(folder, name):
    place = folder / name
    shutil.copytree(ROOT / "examples" / "quickstart", place)
    return place


def check_snapshots(coretap, folder):
    """Replaces each file that a snapshot names by a pipe without a writer, and by a device without an end."""
    for what in ("pipe", "zero"):
        for named in ("trace.bin", "trace.ini", "cpu_0.ini", "device_0.ini", "firmware.bin"):
            place = snapshot(folder, f"{what}-{named}")
            (place / named).unlink()
            if what == "pipe":
                os.mkfifo(place / named)
            else:
                (place / named).symlink_to("/dev/zero")
            for command in (("info",), ("decode",), ("stats",), ("cover",)):
                try:
                    done = run(coretap, *command, place)
                except subprocess.TimeoutExpired:
                    check(f"{command[0]}: {named} is a {what}: ends", False, "it does not end")
                    continue
                if named == "firmware.bin":  # missing memory is not damage
                    check(f"{command[0]}: {named} is a {what}: not read, and said",
                          done.returncode in (0, 1, 2) and
                          "not a regular file" in done.stdout + done.stderr,
                          f"{done.returncode} {done.stderr}")
                else:
                    refused(f"{command[0]}: {named} is a {what}", done, "not a regular file", named)


def check_raw(coretap, folder):
    folder.mkdir()
    text = (ROOT / "examples" / "raw" / "board.ini").read_text()
    os.mkfifo(folder / "pipe")
    for file in ("/dev/zero", "pipe", "."):
        ini = folder / "capture.ini"
        ini.write_text(re.sub(r"(?m)^file *=.*$", f"file={file}", text, count=1))
        refused(f"raw: file={file}", run(coretap, "info", ini), "not a regular file")
        refused(f"raw, listed: file={file}", run(coretap, "list", "-p", ini), "not a regular file")


def wait_until_taken(child):
    """Waits until a command has read everything that its standard input held, or has ended."""
    end = time.monotonic() + 300
    left = array.array("i", [1])
    while left[0] and child.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
        fcntl.ioctl(child.stdin, termios.FIONREAD, left)


def check_shrinking(coretap, folder):
    """Truncates the memory image after the command opened it, and before the trace that executes code in it
    arrives: a command opens its images before it reads the first frame."""
    trace = (ROOT / "examples" / "raw" / "board.bin").read_bytes()
    for command in (["stats", "--level", "flow"], ["stats", "--level", "coverage"]):
        place = folder / "-".join(command)
        shutil.copytree(ROOT / "examples" / "raw", place)
        with subprocess.Popen([str(coretap), *command, "--quiet", "--config", str(place / "board.ini"), "-"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              bufsize=0) as live:
            live.stdin.write(trace[:16])
            wait_until_taken(live)
            os.truncate(place / "loop-code.bin", 0)
            _, said = live.communicate(trace[16:], timeout=300)
        whole = run(coretap, *command, "--quiet", ROOT / "examples" / "raw" / "board.ini")
        check(f"{' '.join(command)}: an image is cut while it is used: no signal",
              live.returncode == whole.returncode, f"{live.returncode}, not {whole.returncode}: {said}")


def check_manifest(coretap):
    """Checks that a manifest without an end is refused before it fills the memory."""
    if tap.is_sanitized(coretap) or tap.is_emulated(coretap):
        tap.skip("a manifest without an end", "this coretap needs more address space than the limit")
        return
    room = 3 << 30
    done = subprocess.run([coretap, "map", "cover", "--manifest", "/dev/zero"], capture_output=True,
                          text=True, timeout=300, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (room, room)))
    refused("a manifest without an end", done, "/dev/zero", "longer than 1024 MiB")


def main():
    coretap = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_snapshots(coretap, folder)
        check_raw(coretap, folder / "raw")
        check_shrinking(coretap, folder / "shrinks")
        check_manifest(coretap)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
