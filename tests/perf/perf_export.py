#!/usr/bin/env python3
"""Exported captures in perf: the addresses of all instructions are those of coretap, and what perf writes of them is what
coretap reads.

usage: perf_export.py COMMAND [CAPTURE...]

Without a capture the examples and, when it is there, snapshots of the corpus are taken."""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from perf_tool import ROOT, Tap, corpus, first_difference, need_perf, run

# Snapshots of the corpus with images, of ETMv4 and ETE. PTM is not compared: perf 6.1 follows it only up to the first
# branch whose target is on the return stack.
SNAPSHOTS = ["juno_r1_1", "a57_single_step", "armv8_1m_branches", "ss_ib_el1ns", "ete_ip", "src_addr", "maxspec0_commopt1",
             "tme_simple"]


class Memory:
    """The images of a capture, to tell the size of T32 instructions."""

    def __init__(self, images):
        self.images = []
        for image in images:
            if not image["elf"]:
                data = pathlib.Path(image["path"]).read_bytes()[image["offset"]:image["offset"] + image["size"]]
                self.images.append((image["address"], data))

    def half(self, address):
        for start, data in self.images:
            if start <= address and address + 2 <= start + len(data):
                return int.from_bytes(data[address - start:address - start + 2], "little")
        return 0


def of_coretap(coretap, path, memory):
    """Trace ID -> addresses of its instructions, in order; and how many there are behind its last timestamp."""
    addresses, behind, trace_id = collections.defaultdict(list), collections.Counter(), None
    for line in run([coretap, "list", "-q", "--elements", path])[0].splitlines():
        if line.startswith("# id"):
            trace_id = int(line.split()[2], 16)
        elif " timestamp " in line:
            behind[trace_id] = 0
        elif " instr_range " in line:
            fields = dict(field.split("=") for field in line.split()[3:] if "=" in field)
            at, isa = int(fields["start"], 16), fields["isa"]
            behind[trace_id] += int(fields["n"])
            for _ in range(int(fields["n"])):
                addresses[trace_id].append(at)
                at += 4 if isa != "t32" or memory.half(at) >> 11 >= 0x1d else 2
    return addresses, behind


def of_perf(perf, path):
    """CPU -> addresses."""
    addresses = collections.defaultdict(list)
    text, said, _ = run([perf, "script", "-i", path, "--itrace=i1i", "-F", "cpu,ip"])
    for line in text.splitlines():
        m = re.match(r"\s*\[(\d+)\]\s+([0-9a-f]+)\s*$", line)
        if m:
            addresses[int(m[1])].append(int(m[2], 16))
    return addresses, said


def info(coretap, path):
    return json.loads(run([coretap, "info", "-q", "--format", "json", path])[0])


def compare(coretap, perf, path, data):
    facts = info(coretap, path)
    memory = Memory([image for b in facts["buffers"] for image in b["images"]])
    wanted, said = of_perf(perf, data)
    got, behind = of_coretap(coretap, data, memory)
    sources = {s["id"]: s for b in info(coretap, data)["buffers"] for s in b["sources"]}.values()
    total = 0
    for source in sources:
        cpu, trace_id = int(source["name"][3:]), int(source["id"], 16)
        ours = got.get(trace_id, [])
        # perf 6.1 may stop at the last timestamp of a buffer: what is behind it is then not there at all.
        if len(wanted.get(cpu, [])) == len(ours) - behind[trace_id]:
            ours = ours[:len(ours) - behind[trace_id]]
        why = first_difference([f"{a:x}" for a in wanted.get(cpu, [])], [f"{a:x}" for a in ours])
        if why and (wanted.get(cpu) or got.get(trace_id)):
            return f"ID {trace_id:02x}: {why}\n{said}", 0
        total += len(got.get(trace_id, []))
    return None if total else f"no instruction\n{said}", total


def listing(coretap, path, kind):
    """Without the names and offsets of the container."""
    lines = run([coretap, "list", "-q", f"--{kind}", path])[0].splitlines()
    return [line if line.startswith("# id") else line.partition(" ")[2] for line in lines
            if not line.startswith("# buffer")]


def keeps_ids(coretap, path):
    """Whether an export changes neither trace IDs nor their order, and leaves no source out."""
    buffers = info(coretap, path)["buffers"]
    ids = [s["id"] for b in buffers for s in b["sources"]]
    return len(buffers) == 1 and len(ids) == len(set(ids)) and buffers[0]["framing"] != "none" and all(
        s["protocol"] not in ("stm", "itm") for s in buffers[0]["sources"])


def check_rewritten(coretap, perf, folder, data, tap, name):
    """What perf itself writes of it: file and pipe mode."""
    wanted = listing(coretap, data, "elements")
    pipe = folder / "pipe.data"
    with pipe.open("wb") as out:
        subprocess.run([perf, "inject", "-i", str(data), "-o", "-"], stdout=out, stderr=subprocess.DEVNULL,
                       stdin=subprocess.DEVNULL, check=False)
    if pipe.stat().st_size > 16:
        tap.check(f"{name}: perf inject to a pipe", first_difference(wanted, listing(coretap, pipe, "elements")))
    copy = folder / "inject.data"
    run([perf, "inject", "-b", "-i", data, "-o", copy])
    tap.check(f"{name}: perf inject to a file", first_difference(wanted, listing(coretap, copy, "elements")))
    own = folder / "own.data"
    own.write_bytes(subprocess.run([coretap, "export", "-q", "--perf", "-", name], stdout=subprocess.PIPE, cwd=ROOT,
                                   check=False).stdout)
    tap.check(f"{name}: pipe mode", first_difference(wanted, listing(coretap, own, "elements")))


def check(coretap, perf, path, name, tap):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        data = folder / "perf.data"
        _, said, code = run([coretap, "export", "-q", "--perf", data, path])
        if code == 2:
            tap.check(name, said)
            return
        why, total = compare(coretap, perf, path, data)
        tap.check(f"{name}: {total} instructions as perf script --itrace=i1i has them", why)
        if keeps_ids(coretap, path):
            tap.check(f"{name}: elements as before", first_difference(
                listing(coretap, path, "elements"), listing(coretap, data, "elements")))
        if name.startswith("examples"):
            check_rewritten(coretap, perf, folder, data, tap, name)


def main():
    coretap, named = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
    perf = need_perf()
    tap = Tap()
    captures = [(pathlib.Path(c), c) for c in named] or [(ROOT / "examples/quickstart", "examples/quickstart")]
    if not named:
        captures += [(corpus() / "snapshots" / s, s) for s in SNAPSHOTS if (corpus() / "snapshots" / s).exists()]
    for path, name in captures:
        check(coretap, perf, path, name, tap)
    tap.end()


if __name__ == "__main__":
    main()
