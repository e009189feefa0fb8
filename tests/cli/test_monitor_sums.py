#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the sums of 'coretap monitor' agree with its single results: each count is computed here from
--format jsonl --all. Saved parts merged in any order equal the whole. Prints TAP.

usage: test_monitor_sums.py COMMAND [CAPTURE PLACE PLACE]"""
import functools
import json
import pathlib
import struct
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND = pathlib.Path(sys.argv[1]).resolve()
CAPTURE, FIRST, SECOND = sys.argv[2:5] if len(sys.argv) > 2 else ("examples/quickstart", "0x80500", "0x8057c")
SPEC = """in f: Events[Unit]
in g: Events[Unit]
def n = count(g)
def apart = time(g) - time(f)
def below = 0 - apart
def large = (n << 61) * n
def part = slift1(n, (x: Int) => 1.0 /. intToFloat(x))
def odd_error = n % 7 == 3
def short = apart < 300
def text = toString(n)
out n
out below
out large
out part
out odd_error
out short
out text
out g as call_error
"""


run = functools.partial(command.output, COMMAND, codes=(0, 1), cwd=ROOT)


def monitor(folder, *args):
    spec = pathlib.Path(folder) / "sums.tessla"
    spec.write_text(SPEC)
    binds = ("--bind", f"f={FIRST}", "--bind", f"g={SECOND}")
    return run("monitor", "-q", "--all", "--per-core", "--spec", spec, *binds, *args)


def parse(text):
    """Returns the blocks of a saved file by output, each as first word of a line -> rest of the line."""
    blocks, block = {}, None
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "output":
            block = blocks.setdefault(rest, {})
        elif block is not None:
            block[word] = rest
    return blocks


def number(text):
    try:
        return int(text)
    except ValueError:
        return float(text)


def bits(value):
    return f"{struct.unpack('>Q', struct.pack('>d', value))[0]:016x}"


def check_numbers(block, values):
    small = [v for v in values if not isinstance(v, int) or -2**63 <= v < 2**63]
    assert int(block.get("others", 0)) == len(values) - len(small)
    if not small:
        assert "range" not in block
        return
    count, low, high = block["range"].split()
    assert int(count) == len(small)
    if block["type"] == "float":
        assert (low, high) == (bits(min(small)), bits(max(small))), (low, high, small)
        return
    assert (int(low), int(high)) == (min(small), max(small))
    words = [int(word, 16) for word in block["total"].split()]
    assert (words[0] << 64) + words[1] == sum(v for v in small if v > 0)
    assert (words[2] << 64) + words[3] == -sum(v for v in small if v < 0)


def check_first(block, violations, run_name):
    if not violations:
        assert "first" not in block
        return
    first = min(violations, key=lambda r: (r["time"], r["buffer"], r["id"]))
    time, trace_id, uncertain, addr, line = block["first"].split()
    assert (int(time), trace_id, int(uncertain)) == (first["time"], first["id"], first.get("uncertain", 0))
    assert block["run"] == run_name
    assert (block["buffer"], block["value"]) == (first["buffer"], first["value"])
    assert int(addr, 16) == int(first.get("addr", "0"), 16) and block.get("watch") == first.get("watch")
    assert (block.get("function"), int(line)) == (first.get("function"), first.get("line", 0))


def judge(results, lost):
    """Returns the verdict on one stream."""
    violations = [r for r in results if r.get("violation")]
    if any(not r.get("uncertain") for r in violations):
        return "violated"
    return "doubtful" if violations or lost else "satisfied"


def equals_what_is_printed():
    with tempfile.TemporaryDirectory() as folder:
        results = [json.loads(line) for line in monitor(folder, "--format", "jsonl", CAPTURE).splitlines()]
        saved = monitor(folder, "--format", "data", CAPTURE)
        lost = "lost " in saved
        assert results, "the capture has no results"
        blocks = parse(saved)
        assert set(blocks) == {"n", "below", "large", "part", "odd_error", "short", "text", "call_error"}
        for name, block in blocks.items():
            mine = [r for r in results if r["output"] == name]
            violations = [r for r in mine if r.get("violation")]
            assert block["events"].split() == [str(len(mine)), str(len(violations)),
                                               str(sum(bool(r.get("uncertain")) for r in violations))]
            if block["type"] in ("int", "float"):
                check_numbers(block, [number(r["value"]) for r in mine])
            if block["type"] == "bool":
                values = [r["value"] for r in mine]
                assert block["values"].split() == ["0", str(values.count("true")), str(values.count("false"))]
            check_first(block, violations, CAPTURE)
            streams = [int(word) for word in block["streams"].split()]
            if name in ("odd_error", "short", "call_error") and not lost:
                seen = {(r["buffer"], r["id"]) for r in results}
                kinds = [judge([r for r in mine if (r["buffer"], r["id"]) == s], lost) for s in seen]
                assert streams[2] == kinds.count("violated"), (name, streams, kinds)
                assert streams[3] == 0 and sum(streams[1:]) == streams[0]


def counts(saved):
    """Returns everything in a saved file except the first violations, because the parts of a capture are runs
    with different names."""
    keys = ("type", "events", "streams", "values", "range", "total", "others")
    return {name: {key: block.get(key) for key in keys} for name, block in parse(saved).items()}


def parts_are_the_whole():
    with tempfile.TemporaryDirectory() as folder:
        whole = counts(monitor(folder, "--format", "data", CAPTURE))
        ids = sorted({json.loads(line)["id"]
                      for line in monitor(folder, "--format", "jsonl", CAPTURE).splitlines()})
        assert len(ids) > 1 or len(sys.argv) > 2
        files = []
        for trace_id in ids:
            files.append(pathlib.Path(folder) / trace_id)
            files[-1].write_text(monitor(folder, "--format", "data", "--id", trace_id, CAPTURE))
        merged = run("merge", "-q", *files)
        assert merged == run("merge", "-q", *reversed(files))
        assert merged == run("monitor", "-q", "--format", "data", *files)
        assert counts(merged) == whole
        assert monitor(folder, "--format", "sums", *files).count("streams") == len(whole)


def other_texts_are_apart():
    with tempfile.TemporaryDirectory() as folder:
        saved = pathlib.Path(folder) / "saved"
        saved.write_text(monitor(folder, "--format", "data", CAPTURE))
        other = pathlib.Path(folder) / "other"
        other.write_text(monitor(folder, "--format", "data", "--violation", "text", CAPTURE))
        text = run("monitor", "-q", "--format", "sums", saved, other)
        assert text.count(": text: ") == 2 and text.count("sums.tessla ") == 16


def main():
    tap.case("sums equal what is printed", None, equals_what_is_printed)
    tap.case("parts are the whole", None, parts_are_the_whole)
    tap.case("other texts are apart", None, other_texts_are_apart)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
