#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a capture with a buffer for each of many cores, as on machines with 64 and more: profiles and the
report have the streams of all. Each buffer is that of examples/quickstart. Prints TAP.

usage: test_many_buffers.py CORETAP"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import small_elf  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish  # noqa: E402  pylint: disable=wrong-import-position

CAPTURE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "quickstart"
BUFFERS = 70


def multiply(folder):
    """Makes a snapshot of many buffers, each with its own core."""
    capture = folder / "many"
    shutil.copytree(CAPTURE, capture, ignore=shutil.ignore_patterns("generator"))
    core, device = ((CAPTURE / name).read_text() for name in ("cpu_0.ini", "device_0.ini"))
    snapshot = (CAPTURE / "snapshot.ini").read_text()
    head, devices, tail = re.split(r"(?ms)^\[device_list\]\n(.*?)^(?=\[)", snapshot + "\n[end]\n")
    assert "cpu_0.ini" in devices
    numbers = range(BUFFERS)
    listed = [f"device{2 * i}=core_{i}.ini\ndevice{2 * i + 1}=etm_{i}.ini" for i in numbers]
    (capture / "snapshot.ini").write_text(head + "[device_list]\n" + "\n".join(listed) + "\n\n" +
                                          tail.replace("[end]\n", ""))
    for i in numbers:
        (capture / f"core_{i}.ini").write_text(core.replace("name=cpu_0", f"name=cpu_{i}"))
        (capture / f"etm_{i}.ini").write_text(device.replace("name=ETM_0", f"name=ETM_{i}"))
    (capture / "trace.ini").write_text("\n".join([
        "[trace_buffers]", "buffers=" + ",".join(f"buffer{i}" for i in numbers),
        *(f"[buffer{i}]\nname=ETB_{i}\nfile=trace.bin\nformat=coresight" for i in numbers),
        "[source_buffers]", *(f"ETM_{i}=ETB_{i}" for i in numbers),
        "[core_trace_sources]", *(f"cpu_{i}=ETM_{i}" for i in numbers), ""]))
    return capture


def main():
    coretap = pathlib.Path(sys.argv[1]).resolve()

    def run(*args):
        return subprocess.run([coretap, *args], capture_output=True, check=False, timeout=300,
                              encoding="utf-8", errors="replace")

    with tempfile.TemporaryDirectory() as name:
        capture = multiply(pathlib.Path(name))
        program = pathlib.Path(name) / "firmware.elf"
        program.write_bytes(small_elf.make((CAPTURE / "firmware.bin").read_bytes(), 0x80000,
                                           [(b"main", 0x80500, 0x3c), (b"gcd", 0x8053c, 0x20)]))
        one, many = (run("profile", "-q", "-f", "folded", "--elf", program, "--id", "10", path).stdout
                     for path in (CAPTURE, capture))
        weights = [sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines()) for text in (one, many)]
        check(f"folded stacks are {BUFFERS} times those of one", weights[0] > 900 and
              weights[1] == BUFFERS * weights[0], weights)
        for form in ("callgrind", "chrome", "perfetto"):
            made = run("profile", "-q", "-f", form, "--elf", program, "--id", "10", capture)
            check(f"profile -f {form} is of all of them", made.returncode == 0 and len(made.stdout) > 1000,
                  made.stderr[:400])
        page = run("report", "-q", "--elf", program, capture)
        sources = re.findall(r">ETB_\d+ 10<", page.stdout)
        lanes = set(re.findall(r'"title": ?"([^"]*cpu_\d+)', page.stdout))
        left_out = re.search(r"(\d+) more contexts are left out", page.stdout)
        check("the report has a row for each, and a lane or says so", len(sources) == BUFFERS and
              len(lanes) + int(left_out[1] if left_out else 0) == BUFFERS,
              (page.stderr[:400], len(sources), len(lanes), left_out))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
