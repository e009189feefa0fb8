# SPDX-License-Identifier: Apache-2.0
"""What a program did under QEMU, for tests: the addresses of all executed instructions, and coverage counts
computed from them without any trace."""
import collections
import pathlib
import re

from command import output as run

BRANCH = re.compile(r"\s+([0-9a-f]+):\s+[0-9a-f]{8}\s+(b|bl|blr|br|ret|cbz|cbnz|tbz|tbnz|b\.\w+)(\s|$)")
SEGMENT = re.compile(r"LOAD\s+0x[0-9a-f]+ 0x([0-9a-f]+) 0x[0-9a-f]+ 0x[0-9a-f]+ 0x([0-9a-f]+) R.E")
ALWAYS = ("b", "bl", "blr", "br", "ret")


def path(folder, program):
    """Returns the addresses of the executed instructions, in order."""
    log = pathlib.Path(folder) / "path.log"
    run("qemu-aarch64", "-singlestep", "-d", "exec,nochain", "-D", str(log), str(program))
    return [int(at, 16) for at in re.findall(r"\[[0-9a-f]+/([0-9a-f]+)/", log.read_text())]


def branches(program):
    """Returns address -> mnemonic of each branch."""
    matches = map(BRANCH.match, run("aarch64-linux-gnu-objdump", "-d", str(program)).splitlines())
    return {int(branch.group(1), 16): branch.group(2) for branch in matches if branch}


def code_range(program):
    """Returns the range of addresses of the segments with code."""
    segments = SEGMENT.findall(run("readelf", "-lW", str(program)))
    return (min(int(addr, 16) for addr, _ in segments),
            max(int(addr, 16) + int(size, 16) for addr, size in segments))


def build_id(program):
    found = re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", str(program)))
    return found.group(1) if found else "-"


def counts(program, executed):
    """Returns the counts of a path: (kind, from, to) -> how often."""
    decides = branches(program)
    items = collections.Counter()
    start = executed[0]
    for at, behind in zip(executed, executed[1:]):
        op = decides.get(at)
        if op or behind != at + 4:
            items["run", start, at + 4] += 1
            start = behind
        if op and behind == at + 4 and op not in ALWAYS:
            items["not", at, 0] += 1
        elif op:
            items["taken", at, behind] += 1
    return items


def capture(coretap, folder, program):
    """Records a run of the program and returns the capture."""
    place = pathlib.Path(folder) / "capture"
    run(coretap, "record", "--quiet", "-o", str(place), "--", str(program))
    return place


def counts_file(folder, program):
    """Writes a coverage file made from the path alone, and returns its path."""
    items = counts(program, path(folder, program))
    low, high = code_range(program)
    lines = ["coretap-coverage 1", f"program {low:x} {high:x} {build_id(program)} {program}",
             "context 0 0 0 0 0"]
    for (kind, at, to), n in sorted(items.items()):
        lines.append(f"not {at:x} {n}" if kind == "not" else f"{kind} {at:x} {to:x} {n}")
    file = pathlib.Path(folder) / "counts"
    file.write_text("\n".join(lines) + "\n")
    return file
