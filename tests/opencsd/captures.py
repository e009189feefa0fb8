#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Decodes captures of the corpus, and recorded ones, through coretap's library and through OpenCSD's: a
client gets the same from both, with frames and without, in small pieces, with pauses, flushes and resets,
as packets and as elements. For damaged captures the text of a few packets is known to differ
(docs/perf.md): each is printed, and at most one recording in three may have one.

usage: captures.py PLAYER OPENCSD CORETAP_LIBRARY COMMAND PLUGIN EXAMPLES"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "oracle"))
from recordings import RECORDINGS, damage, record
from perf_recordings import need_recorder
from perf_tool import Tap, corpus, first_difference

WAYS = [
    [],
    ["chunk=64", "wait=3", "severity=3"],
    ["chunk=48", "wait=1"],
    ["chunk=512", "reset=2"],
    ["chunk=16", "flush=3", "wait=7"],
    ["as_packets=1", "severity=3"],
    ["as_packets=1", "frames=24", "chunk=160"],
]


# Captures of the corpus that the library does not decode (docs/perf.md), with the reason.
NOT_TAKEN = {
    "armv8_1m_branches": "branches of Armv8.1-M, which OpenCSD 1.3.3 does not know",
    "itm_only_csformat": "ITM",
    "itm_only_raw": "ITM",
}
# Options of captures whose frames have synchronisation words.
WORDS = {"a55-test-tpiu": ["tree_flags=3"]}
CORPUS_WAYS = [[], ["chunk=48", "wait=3"], ["as_packets=1"]]

# In Juno's ETMv4 trace the first pause comes in another call.
NOT_COMPARED = {("juno_r1_1", "chunk=48 wait=3")}

# OpenCSD stops at an ID in a frame that is followed by no byte.
GIVES_UP = re.compile(rb"Zero length data block|^R op=0 .* resp=8 ")


def play(player, library, capture, way):
    return subprocess.run([player, library, capture, *way], capture_output=True, check=True,
                          timeout=300).stdout.splitlines()


def without_cut(lines):
    """Removes what OpenCSD 1.3.3 reports at the end of a trace about a packet that the last reset cut, whose
    bytes it keeps (docs/perf.md). Keeps it for PTM, where coretap's library does the same."""
    reset = max((i for i, line in enumerate(lines) if line.startswith(b"R op=3 ")), default=None)
    if reset is None:
        return lines
    data = [re.match(rb"R op=0 at=(\d+) .* done=(\d+)", line) for line in lines]
    begin = next((int(call[1]) for call in data[reset:] if call), None)
    if begin is None:
        begin = max((int(call[1]) + int(call[2]) for call in data if call), default=0)
    lost = [re.fullmatch(rb"E (\d+) \d+ 1 reason=2", line) for line in lines]
    return [line for i, line in enumerate(lines) if i < reset or not lost[i] or int(lost[i][1]) >= begin]


def check_corpus(tap, player, libraries):
    snapshots = corpus() / "snapshots"
    if not snapshots.is_dir():
        print(f"# no corpus at {snapshots}: recorded captures alone")
    for capture in sorted(snapshots.glob("*")):
        if capture.name in NOT_TAKEN:
            print(f"# {capture.name}: {NOT_TAKEN[capture.name]}")
            continue
        for way in CORPUS_WAYS:
            if (capture.name, " ".join(way)) not in NOT_COMPARED:
                theirs, ours = (play(player, library, capture, [*way, *WORDS.get(capture.name, [])])
                                for library in libraries)
                end = next((i for i, line in enumerate(theirs) if GIVES_UP.search(line)), None)
                why = first_difference(theirs[:end], ours[:end], ("OpenCSD", "coretap"))
                tap.check(f"{capture.name} {' '.join(way)}", why)


def main():
    player, theirs, ours, command, plugin, examples = sys.argv[1:]
    recorder = need_recorder([command, plugin])
    tap = Tap()
    check_corpus(tap, player, (theirs, ours))
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        differ = []
        for name in RECORDINGS:
            capture = record(recorder, examples, folder, name)
            for way in WAYS:
                if "frames=24" in way and "--framed" not in RECORDINGS[name][1]:
                    continue
                wanted, got = (play(player, library, capture, way) for library in (theirs, ours))
                why = first_difference(wanted if name.startswith("ptm") else without_cut(wanted), got,
                                       ("OpenCSD", "coretap"))
                tap.check(f"{name} {' '.join(way)}", why)
            bad = damage(capture, folder / f"{name}-damaged", 1)
            way = ["as_packets=1"]
            why = first_difference(play(player, theirs, bad, way), play(player, ours, bad, way),
                                   ("OpenCSD", "coretap"))
            if why:
                print(f"# {name}, damaged: {why}".replace("\n", "\n# "))
                differ.append(name)
        tap.check(f"damaged recordings, {len(RECORDINGS)}: packets of at most one in three differ",
                  f"of {', '.join(differ)}" if 3 * len(differ) > len(RECORDINGS) else None)
    tap.end()


if __name__ == "__main__":
    main()
