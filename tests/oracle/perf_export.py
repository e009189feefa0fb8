#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks exported captures in perf: the addresses of all instructions equal those of coretap, and coretap can
read what perf writes of them.

usage: perf_export.py COMMAND [CAPTURE...]

Without a capture, the examples are used and, when it is there, snapshots of the corpus."""
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from perf_tool import ROOT, Tap, corpus, first_difference, need_perf, run

# ETMv4 and ETE snapshots of the corpus with images. PTM is not compared: perf 6.1 follows it only up to the
# first branch whose target is on the return stack.
SNAPSHOTS = ["juno_r1_1", "a57_single_step", "armv8_1m_branches", "ss_ib_el1ns", "ete_ip", "src_addr",
             "maxspec0_commopt1", "tme_simple"]

# Facts of examples/quickstart.
CONTEXT_ID, INSTRUCTIONS = 42, 4610


class Memory:
    """The images of a capture, which tell the sizes of T32 instructions."""

    def __init__(self, images):
        self.images = []
        for image in images:
            if not image["elf"]:
                data = pathlib.Path(image["path"]).read_bytes()[image["offset"]:image["offset"]
                                                                + image["size"]]
                self.images.append((image["address"], data))

    def half(self, address):
        for start, data in self.images:
            if start <= address and address + 2 <= start + len(data):
                return int.from_bytes(data[address - start:address - start + 2], "little")
        return 0


class Path:
    """The instructions of one trace ID, and the numbers of them after which perf 6.1 may end.

    perf takes what its decoder says in queues of QUEUE elements. When a queue becomes full in the last frame,
    perf does not ask for the rest of that frame. Instructions after the last timestamp may be missing,
    too."""

    QUEUE = 1023
    FRAME = 16

    def __init__(self):
        self.addresses, self.queued, self.ends, self.last = [], 0, [], 0

    def said(self, kind, position):
        """Adds an element, whose instructions are already in `addresses`."""
        self.last = position
        if kind in ("instr_range", "exception", "trace_on", "no_sync"):
            self.queued += 1
        if kind == "timestamp":
            self.queued = 0
        if kind == "timestamp" or self.queued == self.QUEUE:
            self.ends.append((kind, position, len(self.addresses)))
            self.queued = 0

    def may_end_at(self, count):
        timestamps = [n for kind, _, n in self.ends if kind == "timestamp"]
        full = [n for kind, position, n in self.ends if kind != "timestamp"
                and position > self.last - self.FRAME]
        return count == len(self.addresses) or count in timestamps[-1:] + full


def of_coretap(coretap, path, memory):
    """Returns trace ID -> path."""
    paths, trace_id = collections.defaultdict(Path), None
    for line in run([coretap, "list", "-q", "--elements", path])[0].splitlines():
        if line.startswith("# id"):
            trace_id = int(line.split()[2], 16)
        if line.startswith("#"):
            continue
        words = line.split()
        to = paths[trace_id]
        if words[2] == "instr_range":
            fields = dict(field.split("=") for field in words[3:] if "=" in field)
            at, isa = int(fields["start"], 16), fields["isa"]
            for _ in range(int(fields["n"])):
                to.addresses.append(at)
                at += 4 if isa != "t32" or memory.half(at) >> 11 >= 0x1d else 2
        to.said(words[2], int(words[0]))
    return paths


def of_perf(perf, path):
    """Returns CPU -> addresses, and the messages."""
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
    got = of_coretap(coretap, data, memory)
    sources = {s["id"]: s for b in info(coretap, data)["buffers"] for s in b["sources"]}.values()
    total = 0
    for source in sources:
        cpu, trace_id = int(source["name"][3:]), int(source["id"], 16)
        theirs, ours = wanted.get(cpu, []), got[trace_id].addresses
        cut = ours[:len(theirs)] if got[trace_id].may_end_at(len(theirs)) else ours
        why = first_difference([f"{a:x}" for a in theirs], [f"{a:x}" for a in cut])
        if why and (theirs or ours):
            return f"ID {trace_id:02x}: {why}\n{said}", 0
        total += len(ours)
    return None if total else f"no instruction\n{said}", total


def listing(coretap, path, kind):
    """Returns a listing without names and offsets, which differ between containers."""
    lines = run([coretap, "list", "-q", f"--{kind}", path])[0].splitlines()
    return [line if line.startswith("# id") else line.partition(" ")[2] for line in lines
            if not line.startswith("# buffer")]


def keeps_ids(coretap, path):
    """Returns whether an export keeps the trace IDs, their order, and all sources."""
    buffers = info(coretap, path)["buffers"]
    ids = [s["id"] for b in buffers for s in b["sources"]]
    return len(buffers) == 1 and len(ids) == len(set(ids)) and buffers[0]["framing"] != "none" and all(
        s["protocol"] not in ("stm", "itm") for s in buffers[0]["sources"])


def check_rewritten(coretap, perf, folder, data, tap, name):
    """Checks what perf itself writes of the recording, as a file and to a pipe."""
    wanted = listing(coretap, data, "elements")
    pipe = folder / "pipe.data"
    with pipe.open("wb") as out:
        subprocess.run([perf, "inject", "-i", str(data), "-o", "-"], stdout=out, stderr=subprocess.DEVNULL,
                       stdin=subprocess.DEVNULL, check=False)
    if pipe.stat().st_size > 16:
        tap.check(f"{name}: perf inject to a pipe",
                  first_difference(wanted, listing(coretap, pipe, "elements")))
    copy = folder / "inject.data"
    run([perf, "inject", "-b", "-i", data, "-o", copy])
    tap.check(f"{name}: perf inject to a file", first_difference(wanted, listing(coretap, copy, "elements")))
    own = folder / "own.data"
    own.write_bytes(subprocess.run([coretap, "export", "-q", "--perf", "-", name], stdout=subprocess.PIPE,
                                   cwd=ROOT, check=False).stdout)
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


# Makes namespaces in which the process with the number $1 lives in another mount namespace, where the folder
# $2 is empty. Then runs the command that follows. Exit code 77 when that is not possible.
NEIGHBOUR = """
echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid || exit 77
unshare --mount sh -c 'mount -t tmpfs none "$1" && echo && exec sleep 60' sh "$2" >"$3" &
[ $! -eq "$1" ] || exit 77
for i in $(seq 100); do [ -s "$3" ] && break; sleep 0.1; done
[ -s "$3" ] || exit 77
shift 3
"$@"
"""


def check_neighbour(coretap, perf, tap):
    """Runs perf in a container where a context ID of the trace is the number of a living process."""
    name = "a process of another mount namespace has the number of a context ID"
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        data = folder / "perf.data"
        capture = folder / "code" / "quickstart"
        shutil.copytree(ROOT / "examples/quickstart", capture)
        run([coretap, "export", "-q", "--perf", data, capture])
        text, said, code = run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh",
                                "-c", NEIGHBOUR, "sh", CONTEXT_ID, capture, folder / "ready",
                                perf, "script", "-i", data, "--itrace=i1i", "-F", "cpu,ip"])
        if code in (1, 77) and not text:
            tap.skip(name, f"needs root and unshare: {said.strip()[-80:]}")
            return
        tap.check(name, None if len(text.splitlines()) == INSTRUCTIONS else
                  f"{len(text.splitlines())} instructions instead of {INSTRUCTIONS}\n{said}")


def main():
    coretap, named = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
    perf = need_perf()
    tap = Tap()
    captures = [(pathlib.Path(c), c)
                for c in named] or [(ROOT / "examples/quickstart", "examples/quickstart")]
    if not named:
        captures += [(corpus() / "snapshots" / s, s) for s in SNAPSHOTS
                     if (corpus() / "snapshots" / s).exists()]
    for path, name in captures:
        check(coretap, perf, path, name, tap)
    if not named:
        check_neighbour(coretap, perf, tap)
    tap.end()


if __name__ == "__main__":
    main()
