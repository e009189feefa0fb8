# SPDX-License-Identifier: Apache-2.0
"""Makes captures for tests of fleets: the example of the README with its trace cut at many places, some of
them damaged."""
import pathlib
import shutil
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FRAME = 16

sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position


def cannot_start_itself(command):
    """Returns why `map` cannot start the command for each capture, or None. `map` starts its own file,
    without the emulator that runs it."""
    return "map starts its own file, which is for another processor" if tap.is_emulated(command) else None


def make(folder, count, damaged=0):
    """Makes `count` captures that can be read, and `damaged` more that cannot."""
    folder = pathlib.Path(folder)
    whole = (ROOT / "examples/quickstart/trace.bin").read_bytes()
    for number in range(count + damaged):
        capture = folder / f"{number:04}"
        capture.mkdir(parents=True)
        for file in (ROOT / "examples/quickstart").iterdir():
            if file.is_file() and file.name != "demo":
                shutil.copy(file, capture)
        cut = len(whole) - FRAME * (number % (len(whole) // FRAME - 8))
        # A different note in each capture keeps captures with equal cuts apart.
        (capture / "note").write_text(f"{number}\n", encoding="utf-8")
        (capture / "trace.bin").write_bytes(whole[:cut])
        if number >= count:
            break_one(capture, number)
    return folder


def samples_alone():
    """Returns a perf.data file without trace: it has the name of a process."""
    event = struct.pack("<IIQQQQQ80xQQ", 1, 128, 0, 1, 7, 4, 1 << 9, 0, 0)
    name = struct.pack("<IHHII8s", 3, 0, 24, 1, 1, b"shell")
    return struct.pack("<8sQQQQQQQQQ24x", b"PERFILE2", 104, 144, 104, len(event), 104 + len(event), len(name),
                       0, 0, 0) + event + name


def break_one(capture, number):
    """Breaks a capture in one of several ways."""
    ini = capture / "snapshot.ini"
    if number % 3 == 0:
        ini.write_text(ini.read_text(encoding="utf-8")[:100], encoding="utf-8")
    elif number % 3 == 1:
        (capture / "cpu_0.ini").unlink()
    else:
        (capture / "trace.bin").unlink()
