#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares packets of ETMv3, ITM and TPIU frames with sigrok's decoders of them: the bytes of each source,
the addresses of branches and synchronisation, and what software and the DWT wrote. Needs libsigrokdecode's
decoders and the corpus. Prints TAP.

usage: test_sigrok.py CORETAP"""
import importlib
import pathlib
import re
import sys
import types

sys.dont_write_bytecode = True  # not beside sigrok's files
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command import output  # noqa: E402  pylint: disable=wrong-import-position
from perf_tool import corpus  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, skip_all  # noqa: E402  pylint: disable=wrong-import-position

DECODERS = pathlib.Path("/usr/share/libsigrokdecode/decoders")


class Decoder:
    """What a decoder of sigrok inherits: `put` keeps what it prints."""
    def put(self, start, _end, kind, data):
        self.rows.append((start, kind, data))

    def register(self, kind, **_):
        return kind


def sigrok(name, data, **options):
    """Returns (offset, kind, data) of what the decoder prints about bytes that come over a serial line."""
    decoder = importlib.import_module(f"{name}.pd").Decoder()
    decoder.rows = []
    decoder.options = {option["id"]: option.get("default") for option in decoder.options} | options
    decoder.start()
    for at, byte in enumerate(data):
        try:
            decoder.decode(at, at + 1, ("DATA", 0, (byte, [])))
        except IndexError:  # of a PC sample without an address, whose buffer then stays
            decoder.buf = []
    return decoder.rows


def packets(coretap, *options):
    """Returns [offset, bytes, type, fields] of each packet after synchronisation."""
    lines = output(coretap, "list", "-q", "--packets", *map(str, options), codes=(0, 1)).splitlines()
    words = [line.split() for line in lines if not line.startswith("#")]
    return [[int(word[0]), bytes.fromhex(word[2]), word[3], dict(part.split("=") for part in word[4:])]
            for word in words if word[2] != "-"]


def frames_and_etm3(coretap, capture):
    for trace_id in (0x10, 0x11, 0x12):
        ours = packets(coretap, "--id", f"{trace_id:x}", capture)
        frames = sigrok("arm_tpiu", (capture / "cstrace.bin").read_bytes(), stream=trace_id)
        theirs = bytes(data[2][0] for _, kind, data in frames if kind == "python")
        check(f"ID {trace_id:x}: the bytes of the source", theirs.endswith(b"".join(p[1] for p in ours)))
        # sigrok knows no timestamps, and takes their bytes for branches.
        data, want = b"", []
        for _, raw, kind, fields in ours:
            if kind == "timestamp":
                continue
            if kind.startswith(("branch_address", "i_sync")):
                want.append((len(data), int(fields["addr"], 16)))
            data += raw
        texts = [(at, re.match(r"Branch to (\w+)|I-Sync.*? PC (\w+)", row[1][0]))
                 for at, _, row in sigrok("arm_etmv3", data, branch_enc="original")]
        # In A32 state sigrok leaves a marker of the state in bit 32.
        got = [(at, int(text[1] or text[2], 16) & 0xffffffff) for at, text in texts if text]
        check(f"ID {trace_id:x}: {len(want)} addresses", got == want, sorted(set(got) ^ set(want))[:8])


def itm(coretap, capture):
    data = (capture / "itm_testdata.bin").read_bytes()
    # Then global timestamps follow, which sigrok does not know.
    ours = [p for p in packets(coretap, capture) if p[0] < 149]
    patterns = {"itm_swit": r"(\d+): 0x(\w+)", "itm_dwt": r"Watchpoint (\d): (?:Read|Write) data 0x(\w+)"}
    theirs = {at: row[1][0] for at, _, row in sigrok("arm_itm", data)}
    for kind, pattern in patterns.items():
        want, got = [], []
        for at, _, name, fields in ours:
            number = int(fields.get("src") or fields.get("desc", "0"), 16)
            if name == "itm_dwt":
                number = (number - 16) // 2  # comparator; below are counters, exceptions, PCs and addresses
            if name != kind or number < 0:
                continue
            want.append((at, number, int(fields["data"], 16)))
            found = re.match(pattern, theirs.get(at, ""))
            got.append((at, int(found[1]), int(found[2], 16)) if found else (at, theirs.get(at), None))
        check(f"{kind}: {len(want)} writes", len(want) > 5 and got == want, [str(got), str(want)])


def main():
    snapshots = corpus() / "snapshots"
    if not (DECODERS / "arm_etmv3").is_dir() or not snapshots.is_dir():
        return skip_all("needs Debian's libsigrokdecode4 and the corpus of captures")
    sys.modules["sigrokdecode"] = types.SimpleNamespace(Decoder=Decoder, OUTPUT_ANN="text",
                                                        OUTPUT_PYTHON="python")
    sys.path.insert(0, str(DECODERS))
    frames_and_etm3(sys.argv[1], snapshots / "TC2")
    itm(sys.argv[1], snapshots / "itm_only_raw")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
