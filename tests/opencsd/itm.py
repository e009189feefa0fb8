#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Decodes captures with an ITM through coretap's library: those of the corpus agree with their listings,
which were made with OpenCSD, and recorded ones with 'coretap list', however the client cuts them and
pauses.

usage: itm.py CLIENT LIBRARY COMMAND PLUGIN"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "oracle"))
from perf_recordings import COMPILER, need_recorder
from perf_tool import Tap, corpus, first_difference

WAYS = [[], ["16"], ["48", "3"], ["0", "1"]]  # bytes in a call, elements between pauses

PROGRAM = """
#include <stdint.h>
volatile uint32_t ports[40];
volatile int level;
int main(void)
{
    for (int i = 0; i < 300; i++) {
        ports[i % 40] = (uint32_t)i * 0x10001;
        *(volatile uint16_t *)&ports[3] = (uint16_t)i;
        *(volatile uint8_t *)&ports[0] = 'a' + i % 26;
        level = i;
    }
    return 0;
}
"""
RECORDINGS = {"plain": [], "framed": ["--framed", "--timestamps=50"]}


def comparable(line, framed):
    """Returns the parts of a line that both print equally. In frames the positions are those that a client
    gets, which are some bytes off. Without frames the listing has no trace ID, and the library does not
    report where unsynchronised bytes begin."""
    place, identifier, rest = line.split(b" ", 2)
    return identifier + b" " + rest if framed else rest if b" itm_notsync " in line else place + b" " + rest


def listed(line):
    done = subprocess.run([str(part) for part in line], capture_output=True, stdin=subprocess.DEVNULL,
                          timeout=300)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.splitlines()


def of_itm(lines):
    """Returns the lines of the first trace ID that belongs to an ITM."""
    sections = [[]]
    for line in lines:
        if line.startswith(b"#"):
            sections.append([])
        else:
            sections[-1].append(line)
    return next(section for section in sections if any(b" itm_" in line for line in section))


def check(tap, name, client, capture, kind, wanted, framed):
    for way in WAYS:
        got = listed([*client, capture, kind, *way])
        why = first_difference([comparable(line, framed) for line in wanted],
                               [comparable(line, framed) for line in got], ("listing", "library"))
        tap.check(f"{name}, {kind} {' '.join(way)}", why)


def check_corpus(tap, client):
    golden = sorted((corpus() / "golden").glob("itm_*"))
    if not golden:
        print(f"# no corpus at {corpus()}: recorded captures alone")
    for folder in golden:
        for kind in ("packets", "elements"):
            listing = next(folder.glob(f"{kind}.*.txt"))
            check(tap, folder.name, client, corpus() / "snapshots" / folder.name, kind,
                  of_itm(listing.read_bytes().splitlines()), "csformat" in folder.name)


def main():
    client, library, command, plugin = sys.argv[1:]
    recorder = need_recorder([command, plugin])
    tap = Tap()
    check_corpus(tap, [client, library])
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "ports.c").write_text(PROGRAM)
        program = folder / "ports"
        subprocess.run([COMPILER, "-O1", "-g", "-static", "-o", program, folder / "ports.c"], check=True)
        for name, options in RECORDINGS.items():
            capture = folder / name
            subprocess.run([recorder.command, "record", "-q", "-o", capture, *options, "--itm", "ports",
                            "--watch-data", "level", "--", program], env=recorder.env, check=True,
                           capture_output=True, stdin=subprocess.DEVNULL, timeout=300)
            for kind in ("packets", "elements"):
                wanted = of_itm(listed([command, "list", "-q", f"--{kind}", capture]))
                print(f"# {name}: {len(wanted)} {kind}")
                check(tap, name, [client, library], capture, kind, wanted, "--framed" in options)
    tap.end()


if __name__ == "__main__":
    main()
