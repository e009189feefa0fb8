#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks branch lists of simpleperf. What simpleperf would write for a recording is put together here from
the packets, and encoded by protoc; coretap's output is decoded by protoc.

usage: branch_lists.py COMMAND PLUGIN EXAMPLES"""
import collections
import json
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from perf_recordings import COMPILER, Recording, need_recorder
from perf_tool import ROOT, Tap, first_difference, run, skip
from perf_writer import Writer, with_features

MAGIC = b"simpleperf:EtmBranchList"
BRANCH_LIST = 133  # the feature of a recording that has branch lists
SCHEMA = ROOT / "tests/support/branch_list.proto"
T32 = "arm-linux-gnueabihf-gcc"


def protoc(what, data):
    """Converts the text of a message to bytes ("encode"), or back ("decode")."""
    return subprocess.run(["protoc", f"--proto_path={SCHEMA.parent}", f"--{what}=BranchList", SCHEMA.name],
                          input=data, stdout=subprocess.PIPE, check=True).stdout


def build_id(program):
    notes = run(["readelf", "-n", program])[0]
    return re.search(r"Build ID: ([0-9a-f]+)", notes)[1]


class Lists:
    """The branch lists of one binary: (address, branches as 0 and 1) -> count."""

    def __init__(self, path, identity, kind=0, kernel=None):
        self.path, self.identity, self.kind, self.kernel = path, identity, kind, kernel
        self.counts = collections.Counter()

    def follow_packets(self, coretap, capture):
        """Adds the lists of a capture as simpleperf does: an address packet begins a list, atom packets
        extend it."""
        addr, bits = None, ""
        for line in run([coretap, "list", "-q", "--packets", capture])[0].splitlines():
            words = line.split()
            if line.startswith("#") or len(words) < 4:
                continue
            fields = dict(word.split("=", 1) for word in words[4:] if "=" in word)
            if words[3].startswith("i_addr"):
                self.add(addr, bits)
                addr, bits = int(fields["addr"], 16), ""
                addr |= "is1" in words[3]
            if "atoms" in fields:
                bits += fields["atoms"].replace("E", "1").replace("N", "0")
        self.add(addr, bits)
        return self

    def add(self, addr, bits):
        if bits:
            self.counts[addr, bits] += 1

    def text(self):
        lines = [f'path: "{self.path}"', f"type: {self.kind}"]
        lines += [f'build_id: "{self.identity}"'] if self.identity else []
        lines += [f"kernel_info {{ kernel_start_addr: {self.kernel} }}"] if self.kernel is not None else []
        for (addr, bits), count in self.counts.items():
            packed = "".join(f"\\{int(bits[i:i + 8][::-1], 2):03o}" for i in range(0, len(bits), 8))
            lines.append(f'addrs {{ addr: {addr} branches {{ branch: "{packed}" branch_size: {len(bits)} '
                         f"count: {count} }} }}")
        return "etm_data { " + "\n".join(lines) + " }\n"


def packed(data):
    return subprocess.run(["zstd", "-qc"], input=data, stdout=subprocess.PIPE, check=True).stdout


def file_of(messages, compressed=False):
    """Returns a file of version 1."""
    out = MAGIC + struct.pack("<IB", 1, compressed)
    for message in messages:
        body = protoc("encode", message.encode())
        body = packed(body) if compressed else body
        out += struct.pack("<I", len(body)) + body
    return out


def old_file(lists):
    return protoc("encode", (f'magic: "{MAGIC.decode()}"\n' + lists.text()).encode())


def profile(coretap, operands, *options):
    """Returns (runs, branches) of a profile for BOLT, without branches into the program; the messages; and
    the exit code."""
    out, said, code = run([coretap, "profile", "-f", "bolt", *options, *operands])
    runs, branches = collections.Counter(), collections.Counter()
    for line in out.splitlines():
        kind, first, last, count = line.split()[:4]
        if int(first, 16):  # otherwise it came from outside
            (runs if kind in "Ff" else branches)[int(first, 16), int(last, 16)] += int(count)
    return runs, branches, said, code


def insns(runs, times=1):
    """Returns how often each halfword ran."""
    found = collections.Counter()
    for (first, last), count in runs.items():
        for at in range(first, last + 1, 2):
            found[at] += count * times
    return found


def difference(direct, lists, times=1):
    """Returns what differs from a profile of the trace, or None. Lists lack runs that ended without a branch,
    and the targets of indirect branches."""
    sources = {source for source, _ in direct[1]}
    want, got = insns(direct[0], times), insns(lists[0])
    odd = [(at, want[at], got[at]) for at in want.keys() | got.keys()
           if got[at] > want[at] or (at in sources and got[at] != want[at])]
    if odd or not got:
        return f"runs differ: {odd[:3]}; {lists[2]}"
    left_out = (want - got).total() // times
    taken = [collections.Counter(), collections.Counter()]
    for sums, branches, factor in ((taken[0], direct[1], times), (taken[1], lists[1], 1)):
        for (source, _), count in branches.items():
            sums[source] += count * factor
    wrong = [place for place in lists[1] if place[1] and place not in direct[1]]
    if taken[0] != taken[1] or wrong:
        return f"branches differ: {(taken[0] - taken[1])} {(taken[1] - taken[0])} {wrong[:3]}"
    return f"{left_out} instructions are left out" if left_out > 200 else None


def check_read(tap, coretap, folder, recording, lists):
    direct = profile(coretap, [recording.folder])
    forms = {"version 1": file_of([lists.text()]), "the old format": old_file(lists)}
    if shutil.which("zstd"):
        forms["version 1, compressed"] = file_of([lists.text()], True)
        forms["the old format, compressed"] = packed(old_file(lists))
    for name, data in forms.items():
        path = folder / "branches.data"
        path.write_bytes(data)
        got = profile(coretap, [path])
        tap.check(f"{recording.program.name}: {name} is read",
                  difference(direct, got) or (got[2] if got[3] else None))
    return path


def check_recording(tap, coretap, folder, recording, lists):
    """Checks branch lists in a recording, in place of trace ('simpleperf record --decode-etm')."""
    direct = profile(coretap, [recording.folder])
    path = folder / "recording.data"
    empty = Writer(recording.capture.units).whole()
    for name, body in (("version 1", file_of([lists.text()])), ("the old format", old_file(lists))):
        path.write_bytes(with_features(empty, {2: b"", 128: bytes(40), BRANCH_LIST: body}))
        got = profile(coretap, [path])
        tap.check(f"{name} in a recording is read", difference(direct, got) or (got[2] if got[3] else None))
    _, said, code = run([coretap, "stats", path])
    tap.check("a recording without trace is refused",
              None if code == 2 and "is a branch list" in said else said)
    path.write_bytes(path.read_bytes()[:-1])
    _, said, code = run([coretap, "profile", "-f", "bolt", path])
    tap.check("a recording that is cut is told",
              None if code == 2 and "are truncated at the end of the file" in said else said)


def check_written(tap, coretap, folder, recording):
    path = folder / "written.data"
    path.write_bytes(subprocess.run([coretap, "profile", "-q", "-f", "branch-list", recording.folder],
                                    stdout=subprocess.PIPE, check=True).stdout)
    data = path.read_bytes()
    size, = struct.unpack_from("<I", data, 29)
    text = protoc("decode", data[33:]).decode()
    why = None if data[:29] == MAGIC + b"\1\0\0\0\0" and len(data) == 33 + size else "its head"
    if f'path: "{recording.program}"' not in text or build_id(recording.program) not in text:
        why = f"path and build id: {text[:200]}"
    tap.check(f"{recording.program.name}: protoc decodes what is written", why)
    direct = profile(coretap, [recording.folder])
    starts = collections.Counter()
    for addr, lists in re.findall(r"(?s)addrs \{\n    addr: (\d+)\n(.*?)\n  \}", text):
        starts[int(addr) & ~1] += sum(int(n) for n in re.findall(r"count: (\d+)", lists))
    sources = {source for source, _ in direct[1]}
    wanted = collections.Counter()
    for (first, last), count in direct[0].items():
        wanted[first] += count if last in sources else 0
    odd = [(hex(at), wanted[at], starts[at]) for at in wanted if starts[at] < wanted[at]]
    tap.check(f"{recording.program.name}: counts of lists are those of runs", odd[:3] or None)
    tap.check(f"{recording.program.name}: what is written is read",
              difference(direct, profile(coretap, [path])))
    return path


def merged(coretap, *operands):
    return subprocess.run([coretap, "merge", *operands], stdout=subprocess.PIPE, check=True).stdout


def check_later(tap, coretap, folder, recording, lists):
    """Checks fields and kinds of binaries that only a later simpleperf knows."""
    direct = profile(coretap, [recording.folder])
    number, text = protoc("encode", lists.text().encode()), Lists("/system/odd", None, 7)
    text.counts = lists.counts
    later = b"\x7a\x03new\x80\x01\x05\x8d\x01abcd\x91\x01abcdefgh"  # fields 15 to 18, of each type
    path = folder / "later.data"
    for name, body in (("fields that are not known", later + number + later),
                       ("a binary of a kind that is not known",
                        protoc("encode", text.text().encode()) + number)):
        path.write_bytes(MAGIC + struct.pack("<IBI", 1, 0, len(body)) + body)
        got = profile(coretap, [path])
        told = "/system/odd is of kind 7" in got[2] or "kind" not in name
        tap.check(f"{name} are passed over", difference(direct, got) or (None if told else got[2:]))


def check_merge(tap, coretap, folder, recording, first, second):
    direct = profile(coretap, [recording.folder])
    both, again = merged(coretap, first, second), merged(coretap, second, first)
    path = folder / "both.data"
    path.write_bytes(both)
    tap.check("merged in any order", None if both == again else "the bytes differ")
    tap.check("merged counts add up", difference(direct, profile(coretap, [path]), 2))
    tap.check("several files add up", difference(direct, profile(coretap, [first, second]), 2))
    mixed = profile(coretap, [first, recording.folder])
    alone = profile(coretap, [first])
    tap.check("a file and a capture add up", None if mixed[0] == direct[0] + alone[0] else mixed[2:])
    path.write_bytes(merged(coretap, "--weight", "3", first))
    tap.check("merge --weight", difference(direct, profile(coretap, [path]), 3))
    for operands in ([first, recording.folder], ["--kind", "timing", first]):
        code = run([coretap, "merge", *operands])[2]
        tap.check(f"merge {operands[0]} … is refused", None if code == 2 else f"exit code {code}")


def check_versions(tap, coretap, folder, recording, other, lists):
    """Checks lists of a program whose path now has another program."""
    text = lists.text()
    path, shadow = folder / "version.data", folder / "shadow"
    shadow.mkdir()
    shutil.copy(other.program, shadow / recording.program.name)
    named = ["--elf", shadow / recording.program.name]
    path.write_bytes(file_of([text]))
    got = profile(coretap, [path], *named)
    tap.check("a program with another build id is named, and not counted",
              None if got[3] == 1 and "another build" in got[2] and "build ids differ" in got[2]
              and not got[0] else got)
    path.write_bytes(file_of([re.sub(r'build_id: "\w+"', "", text)]))
    got = profile(coretap, [path], *named)
    tap.check("a program that the lists contradict is named, and not counted",
              None if got[3] == 1 and "contradict" in got[2] and not got[0] else got)
    path.write_bytes(file_of([text.replace(str(recording.program), "/data/local/tmp/nowhere")]))
    got = profile(coretap, [path])
    tap.check("a program that is not there is named",
              None if got[3] == 1 and "/data/local/tmp/nowhere" in got[2] and "--symdir" in got[2] else got)
    got = profile(coretap, [path], "--symdir", recording.program.parent)
    tap.check("it is found by build id", difference(profile(coretap, [recording.folder]), got))


def check_kernel(tap, coretap, folder, recording, lists):
    """Checks that addresses of a kernel are relative to its .text as loaded."""
    text = int(re.search(r" \.text +PROGBITS +(\w+)", run(["readelf", "-SW", recording.program])[0])[1], 16)
    moved = Lists("[kernel.kallsyms]", lists.identity, 1, 0xffffffc010000000)
    low, high = text, text + 0x100000
    for (addr, bits), count in lists.counts.items():
        if low <= addr < high:
            moved.counts[addr - text + moved.kernel, bits] += count
    path = folder / "kernel.data"
    path.write_bytes(file_of([moved.text()]))
    got = profile(coretap, [path], "--vmlinux", recording.program)
    direct = profile(coretap, [recording.folder])
    want = insns(direct[0])
    odd = [at for at, count in insns(got[0]).items() if want[at] < count]
    tap.check("addresses of a kernel that was moved", odd[:3] or (None if len(got[0]) > 50 else got[2:]))
    start, moved.kernel, number = moved.kernel, None, b"\x18"  # field 3 of etm_branch_list.proto
    while start:
        number, start = number + bytes([start & 0x7f | (0x80 if start > 0x7f else 0)]), start >> 7
    path.write_bytes(old_file(moved) + number)
    again = profile(coretap, [path], "--vmlinux", recording.program)
    tap.check("the same in the old format", None if again[:2] == got[:2] else again[2:])


def check_module(tap, coretap, folder, recording, lists, source):
    """Checks that an object file that is no kernel module is reported as having no addresses, and that the
    other programs count."""
    module = folder / "driver.ko"
    subprocess.run([COMPILER, "-c", "-o", module, source], check=True)
    other = Lists(module, None, 2)
    other.counts[0, "1"] = 5
    path = folder / "module.data"
    path.write_bytes(file_of([other.text() + lists.text()]))
    got = profile(coretap, [path])
    tap.check("an object file is told and left out", difference(profile(coretap, [recording.folder]), got)
              or (None if got[3] == 1 and "driver.ko" in got[2] else got[2:]))


def check_damaged(tap, coretap, folder, data):
    """Checks that cut or changed files are either refused or read."""
    rng = random.Random(1)  # the same changes in each run
    path = folder / "damaged.data"
    wrong = []
    for i in range(200):
        bad = bytearray(data[:rng.randrange(len(data))] if i % 2 else data)
        for _ in range(rng.randrange(1, 6) if bad and not i % 2 else 0):
            bad[rng.randrange(24, len(bad))] = rng.randrange(256)
        path.write_bytes(bad)
        _, said, code = run([coretap, "profile", "-f", "autofdo", path])
        if code not in (0, 1, 2) or (code and not said):
            wrong.append((i, code, said))
        if i % 2 and len(bad) > 33 and code != 2:
            wrong.append((i, "cut, but read", said))
    tap.check("damaged files", wrong[:2] or None)
    path.write_bytes(MAGIC + struct.pack("<IB", 2, 0))
    _, said, code = run([coretap, "profile", "-f", "autofdo", path])
    tap.check("version 2 is refused", None if code == 2 and "version 2" in said else said)
    path.write_bytes(file_of(["lbr_data { samples { binary_id: 1 } }"]))
    _, said, code = run([coretap, "merge", path])
    tap.check("samples of x86 are told", None if code == 0 and "x86" in said else said)


def check_t32(tap, recorder, folder, source):
    if not shutil.which(T32) or not shutil.which("qemu-arm"):
        return tap.skip("T32", f"{T32} or qemu-arm is not installed")
    program, capture = folder / "thumb", folder / "thumb.capture"
    subprocess.run([T32, "-O2", "-mthumb", "-static", "-g", "-o", program, source], check=True)
    result = subprocess.run([recorder.command, "record", "-q", "-o", capture, "--", program, "300"],
                            env=recorder.env, capture_output=True, text=True, check=False)
    if result.returncode:
        return tap.check("T32 is recorded", result.stderr)
    path = folder / "thumb.data"
    written = subprocess.run([recorder.command, "profile", "-q", "-f", "branch-list", capture],
                             stdout=subprocess.PIPE, check=True).stdout
    path.write_bytes(written)
    return tap.check("T32: what is written is read",
                     difference(profile(recorder.command, [capture]), profile(recorder.command, [path])))


def check_commands(tap, coretap, folder, recording, lists):
    """Checks that each command reads a branch list, or says what the file is and what it lacks."""
    path, fleet = folder / "commands.data", folder / "fleet"
    path.write_bytes(file_of([lists.text()]))
    out, _, code = run([coretap, "info", path])
    wanted = [f"{recording.program}, program, build id {build_id(recording.program)}",
              f"{sum(len(bits) * n for (_, bits), n in lists.counts.items())} branches"]
    tap.check("info: programs and branches",
              None if all(word in out for word in wanted) and not code else out)
    program, = json.loads(run([coretap, "info", "-f", "json", path])[0])["programs"]
    tap.check("info as JSON", None if program["build_id"] == build_id(recording.program)
              and program["lists"] == sum(lists.counts.values()) else program)
    page = folder / "page.html"
    said, code = run([coretap, "report", "-q", "-o", page, path])[1:]
    text = page.read_text() if page.exists() else said
    tap.check("report: coverage, and that there are no times",
              None if code == 0 and "counts without times" in text and "main" in text else (code, said))
    for command in (["stats"], ["decode"], ["timing"], ["export", "--perf", page]):
        said, code = run([coretap, *command, path])[1:]
        tap.check(f"{command[0]} says what it is",
                  None if code == 2 and "branch list" in said and "order" in said else said)
    fleet.mkdir()
    for number in (1, 2):
        (fleet / f"{number}.data").write_bytes(merged(coretap, "--weight", str(number), path))
    (fleet / "other.data").write_bytes(MAGIC + b"\1\0\0\0\0" + bytes(3))
    manifest, state = folder / "list.jsonl", folder / "state"
    manifest.write_text(run([coretap, "manifest", fleet])[0])
    rows = [json.loads(line) for line in manifest.read_text().splitlines()]
    ids = [build_id(recording.program)]
    tap.check("manifest: branch lists with their build ids, a damaged one without",
              None if [row["build_ids"] for row in rows] == [ids, ids, []] else rows)
    sums, bolt = folder / "sums.cov", [coretap, "profile", "-f", "bolt"]
    direct = run([*bolt, fleet / "1.data", fleet / "2.data"])[0].splitlines()
    said = run([coretap, "map", "cover", "--manifest", manifest, "--state", state, "-o", sums])[1]
    tap.check("map: counts add up",
              first_difference(direct, run([*bolt, sums])[0].splitlines(), ("lists", "map"))
              or ("2 captures" not in said and said) or None)
    tables = [coretap, "export-results", "--parquet", folder / "tables"]
    said, code = run([*tables, "--manifest", manifest, state])[1:]
    tap.check("export-results: a row for each of them, and the damaged one is told",
              None if code == 1 and "results.parquet: 2 rows" in said and
              "1 of 3 captures have no result" in said and "other.data" in said else said)
    check_tables(tap, coretap, recording, path, folder)


def check_tables(tap, coretap, recording, path, folder):
    """Checks that the tables of a branch list alone equal those of the coverage made from it."""
    saved = path.with_name(path.name[:-1] + "_")  # as long as the other name
    tables = [coretap, "export-results", "--arrow"]
    subprocess.run([coretap, "cover", "--format", "data", "-o", saved, path], check=True,
                   capture_output=True)
    for table in ("functions", "lines", "edges"):
        want = subprocess.run([*tables, table, saved], check=True, capture_output=True).stdout
        got = subprocess.run([*tables, table, path], check=False, capture_output=True)
        alike = got.stdout == want.replace(str(saved).encode(), str(path).encode())
        tap.check(f"export-results: the {table} of a branch list are those of its coverage",
                  None if got.returncode == 0 and len(want) > 1000 and alike else got.stderr)
    said, code = run([coretap, "export-results", "--parquet", folder / "row", path])[1:]
    tap.check("export-results: a row for a branch list",
              None if code == 0 and "results.parquet: 1 row" in said else said)
    hidden = recording.program.with_name("hidden")
    recording.program.rename(hidden)
    said, code = run([coretap, "export-results", "--parquet", folder / "no-rows", path])[1:]
    tap.check("export-results: a branch list whose program is not there",
              None if code == 1 and "name the program with --elf" in said else (code, said))
    said, code = run([coretap, "export-results", "--parquet", folder / "named", "--elf", hidden, path])[1:]
    tap.check("export-results: … and is named", None if code == 0 and ": 1 row" in said else (code, said))
    hidden.rename(recording.program)


def main():
    recorder = need_recorder(sys.argv[1:3])
    if not shutil.which("protoc"):
        skip("protoc is not installed (Debian: protobuf-compiler)")
    coretap, tap = recorder.command, Tap()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        primes = pathlib.Path(sys.argv[3]) / "primes.c"
        one = Recording(recorder, folder, "one", primes, ["-O2", "-static", "-Wl,--build-id"], ["300"], [])
        two = Recording(recorder, folder, "two", primes, ["-O0", "-static", "-Wl,--build-id"], ["500"], [])
        lists = Lists(one.program, build_id(one.program)).follow_packets(coretap, one.folder)
        read = check_read(tap, coretap, folder, one, lists)
        check_later(tap, coretap, folder, one, lists)
        check_recording(tap, coretap, folder, one, lists)
        written = check_written(tap, coretap, folder, one)
        check_merge(tap, coretap, folder, one, read, written)
        check_versions(tap, coretap, folder, one, two, lists)
        check_kernel(tap, coretap, folder, one, lists)
        check_module(tap, coretap, folder, one, lists, primes)
        check_commands(tap, coretap, folder, one, lists)
        check_damaged(tap, coretap, folder, written.read_bytes())
        check_t32(tap, recorder, folder, primes)
    tap.end()


if __name__ == "__main__":
    main()
