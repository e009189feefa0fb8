#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks samples with branch stacks: perf, create_llvm_prof, llvm-profgen and perf2bolt read them, and their
counts equal those of the profiles that coretap writes as text.

usage: perf_stacks.py COMMAND PLUGIN EXAMPLES"""
import collections
import glob
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from perf_recordings import COMPILER, Recording, need_recorder, two_contexts
from perf_tool import ROOT, Tap, first_difference, need_perf, run
from perf_writer import Writer

CXX = "aarch64-linux-gnu-g++"
LLVM = ["--target=aarch64-linux-gnu", "-fuse-ld=lld", "-O3", "-fdebug-info-for-profiling",
        "-Wl,--build-id,-z,separate-code"]
NOWHERE = 0xfffffffff000  # source of an entry that no branch made


def tool(name):
    """Returns the newest version of the tool in Debian's folders, or None."""
    found = sorted(glob.glob(f"/usr/lib/llvm-*/bin/{name}"), key=lambda p: int(p.split("-")[1].split("/")[0]))
    return shutil.which(name) or (found[-1] if found else None)


class Counts:
    """How often each instruction ran and each branch was taken."""

    def __init__(self):
        self.insns, self.branches = collections.Counter(), collections.Counter()

    def run(self, first, last, count=1):
        for at in range(first, last + 4, 4):
            self.insns[at] += count

    def branch(self, start, end, count=1):
        if NOWHERE not in (start, end) and start and end:
            self.branches[start, end] += count

    def difference(self, other):
        for name in ("insns", "branches"):
            mine, theirs = getattr(self, name), getattr(other, name)
            odd = [(at, mine[at], theirs[at]) for at in sorted(mine.keys() | theirs.keys())
                   if mine[at] != theirs[at]]
            if odd or not mine:
                return f"{name}: {len(odd)} of {len(mine)} differ, first {odd[:3]}"
        return None


def of_samples(perf, data, pipe=False):
    """Returns process -> counts, from the branch stacks that perf prints, and the length of the longest
    stack."""
    line = [perf, "script", "-i", data, "-F", "pid,brstack"]
    if pipe:
        line = ["sh", "-c", 'cat "$2" | "$1" script -i - -F pid,brstack', "sh", perf, data]
    lines = run(line)[0]
    counts, longest = collections.defaultdict(Counts), 0
    for line in lines.splitlines():
        pid, *entries = line.split()
        stack = [tuple(int(at, 16) for at in entry.split("/")[:2]) for entry in entries
                 if entry.startswith("0x")]  # in pipe mode perf prints the address and its function first
        longest = max(longest, len(stack))
        for entry in stack:
            counts[int(pid)].branch(*entry)
        for newer, older in zip(stack, stack[1:]):
            if older[1] != NOWHERE:
                counts[int(pid)].run(older[1], newer[0])
    return counts, longest


def of_text(coretap, capture, *options):
    """Returns the counts of a profile for BOLT, without branches into and out of the program."""
    counts = Counts()
    for line in run([coretap, "profile", "-q", "-f", "bolt", *options, capture])[0].splitlines():
        kind, start, end, count = line.split()[:4]
        (counts.run if kind in "Ff" else counts.branch)(int(start, 16), int(end, 16), int(count))
    return counts


def export(coretap, folder, capture, option="--branch-stacks"):
    data = folder / "samples.data"
    _, said, code = run([coretap, "export", "--perf", data, option, capture])
    return data, f"exit code {code}: {said}" if code else None


def check_counts(tap, perf, coretap, folder, recording):
    want = of_text(coretap, recording.folder)
    for option, most in (("--branch-stacks", 64), ("--branch-stacks=2", 2), ("--branch-stacks=1024", 1024)):
        data, why = export(coretap, folder, recording.folder, option)
        counts, longest = of_samples(perf, data)
        why = why or (f"{longest} entries" if longest != most else None)
        tap.check(f"{option}: counts as in the text",
                  why or want.difference(sum_of(counts)))
    piped = folder / "piped.data"
    with piped.open("wb") as out:
        subprocess.run([coretap, "export", "-q", "--perf", "-", "--branch-stacks", recording.folder],
                       stdout=out, check=True)
    tap.check("pipe mode: counts as in the text", want.difference(sum_of(of_samples(perf, piped, True)[0])))
    report = run([perf, "report", "-i", data, "--stdio", "--no-branch-stack"])[0]
    tap.check("perf report names functions", None if re.search(r"%.*\bby_sieve\b", report) else report)


def sum_of(counts):
    total = Counts()
    for one in counts.values():
        total.insns.update(one.insns)
        total.branches.update(one.branches)
    return total


def lines_of(path):
    """Returns the counts of lines and functions, also inlined ones, in a sample profile as text. They are
    sorted, because tools order functions by their time. Names are left out, because create_llvm_prof prints
    freed memory as names of inlined functions."""
    text = path.read_bytes()
    return sorted(re.findall(rb"(?m)^ +\d+(?:\.\d+)?: \d+(?= |$)|:\d+:\d+$|:\d+$", text))


def check_create_llvm_prof(tap, coretap, folder, recording):
    if not shutil.which("create_llvm_prof"):
        return tap.skip("create_llvm_prof", "create_llvm_prof is missing (Debian: autofdo)")
    data, why = export(coretap, folder, recording.folder)
    text = folder / "ranges"
    text.write_text(run([coretap, "profile", "-q", "-f", "autofdo", recording.folder])[0])
    for profile, kind in ((data, "perf"), (text, "text")):
        _, said, _ = run(["create_llvm_prof", f"--binary={recording.program}", f"--profile={profile}",
                          f"--profiler={kind}", "--format=text", f"--out={folder / kind}"])
        why = why or (said if "Mapped" in said else None)
    return tap.check(f"create_llvm_prof of {recording.program.name}: the same counts as from the text",
                     why or first_difference(lines_of(folder / "text"), lines_of(folder / "perf"),
                                             ("text", "samples")))


def functions_of(text):
    """Returns (function, line) -> most executions, from a sample profile as text. Discriminators are merged,
    because llvm-profgen does not state them."""
    found, name = {}, None
    for line in text.splitlines():
        head = re.match(r"([^ :]+):\d+:\d+$", line)
        place = re.match(r" (\d+)(?:\.\d+)?: (\d+)(?: |$)", line)
        name = head[1] if head else name
        if place:
            found[name, place[1]] = max(found.get((name, place[1]), 0), int(place[2]))
    return found


def profgen_of(coretap, folder, recording):
    """Returns llvm-profgen's profile of the samples as text, and what went wrong; None without the tool."""
    profgen = tool("llvm-profgen")
    if not profgen:
        return None
    data, why = export(coretap, folder, recording.folder)
    _, said, code = run([profgen, f"--perfdata={data}", f"--binary={recording.program}", "--format=text",
                         f"--output={folder / 'made'}"])
    return (folder / "made").read_text() if not code else "", why or (said if code else None)


def check_profgen(tap, coretap, folder, recording):
    made = profgen_of(coretap, folder, recording)
    if not made:
        return tap.skip("llvm-profgen", "llvm-profgen is missing (Debian: llvm)")
    want = functions_of(run([coretap, "profile", "-q", "-f", "llvm", recording.folder])[0])
    got = functions_of(made[0])
    places = [place for place in want if place[0] in ("by_sieve", "by_division")]
    odd = [(place, want[place], got.get(place)) for place in places if want[place] != got.get(place)]
    return tap.check(f"llvm-profgen: {len(places)} lines as coretap has them",
                     made[1] or (odd if odd or len(places) < 10 else None))


def blocks_of(text):
    """Returns (function, position of each inlined call, line and discriminator) -> executions, from a sample
    profile as text. Leaves out code that did not run, and lines above that of the function, because
    llvm-profgen counts the invalid line 0."""
    found, path = {}, []
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip())
        place = re.match(r" *(?:([0-9.]+): )?(\D[^:]*):\d+(?::\d+)?$", line)
        count = re.match(r" *(([0-9]+)[0-9.]*): ([0-9]+)(?: |$)", line)
        path = path[:depth]
        if place:
            path.append(place.groups())
        elif count and int(count[2]) < 0x8000 and int(count[3]):
            found[(*path, count[1])] = int(count[3])
    return found


def check_blocks(tap, coretap, folder, recording):
    """Checks blocks by line and discriminator, as LLVM finds them. clang makes a discriminator for each
    block, and for each copy of a loop."""
    made = profgen_of(coretap, folder, recording)
    if not made:
        return tap.skip("llvm-profgen: blocks", "llvm-profgen is missing (Debian: llvm)")
    text = run([coretap, "profile", "-q", "-f", "llvm", "--elf", recording.program, recording.folder])[0]
    want, got = blocks_of(made[0]), blocks_of(text)
    named = sum("." in key[-1] for key in want)
    odd = [(key, want.get(key), got.get(key)) for key in want.keys() | got.keys()
           if want.get(key) != got.get(key)]
    return tap.check(f"llvm-profgen: {len(want)} blocks, {named} with discriminators, as coretap has them",
                     made[1] or (odd if odd or named < 10 else None))


def check_calls(tap, coretap, recording):
    """Checks two calls of one function in the same line, of which LLVM would keep only the last."""
    text = run([coretap, "profile", "-q", "-f", "llvm", recording.folder])[0]
    entered = int(re.search(r"(?m)^called:\d+:(\d+)$", text)[1])
    lines = [line.split()[2:] for line in text.splitlines() if " called:" in line]
    calls = sum(int(call.split(":")[1]) for line in lines for call in line if call.startswith("called:"))
    tap.check("each place names a function that it calls once, with all of its calls",
              None if entered == calls == 1800 and all(len(set(line)) == len(line) == 1 for line in lines)
              else (entered, lines))


def check_perf2bolt(tap, coretap, folder, recording):
    bolt = tool("perf2bolt")
    if not bolt:
        return tap.skip("perf2bolt", "perf2bolt is missing (Debian: bolt-15)")
    data, why = export(coretap, folder, recording.folder)
    aggregated = folder / "aggregated"
    aggregated.write_text(run([coretap, "profile", "-q", "-f", "bolt", recording.folder])[0])
    made = []
    for name, options in (("perf", ["-p", data]), ("text", ["--pa", "-p", aggregated])):
        out, said, code = run([bolt, *options, "-o", folder / f"{name}.fdata", recording.program])
        why = why or (out + said if code else None)
        text = "" if code else (folder / f"{name}.fdata").read_text()
        made.append(collections.Counter({tuple(row[:6]): int(row[7])
                                         for row in map(str.split, text.splitlines())}))
    samples, text = made
    odd = []
    rows = [row for row in samples.keys() | text.keys() if "[unknown]" not in row]
    for row in rows:
        nowhere = ("0", "[unknown]", "0", *row[3:])
        begun = samples[nowhere] - text[nowhere]  # samples that perf2bolt may take to begin with a return
        if not 0 <= samples[row] - text[row] <= begun:
            odd.append((row, text[row], samples[row], begun))
    return tap.check(f"perf2bolt of {recording.program.name}: {len(rows)} branches as from the text",
                     why or (odd if odd or len(rows) < 5 else None))


def check_processes(tap, perf, coretap, folder, writer, runs, name):
    """Checks that the counts of each process equal those of its own recordings. `runs`: process ->
    recordings."""
    capture = folder / f"{name}.data"
    capture.write_bytes(writer.whole())
    data, why = export(coretap, folder, capture)
    got, _ = of_samples(perf, data)
    for pid, recordings in runs.items():
        want = sum_of({i: of_text(coretap, one.folder) for i, one in enumerate(recordings)})
        tap.check(f"{name}: counts of process {pid}", why or want.difference(got[pid]))
    names = {line.split()[0] for line in run([perf, "script", "-i", data, "-F", "comm,pid"])[0].splitlines()}
    want = {one.program.name for recordings in runs.values() for one in recordings}
    tap.check(f"{name}: names of processes", None if names == want else f"{names}, wanted {want}")


def check_refused(tap, coretap, folder, recording):
    for option in ("--branch-stacks=1", "--branch-stacks=1025", "--branch-stacks=x"):
        data = folder / "refused.data"
        _, said, code = run([coretap, "export", "--perf", data, option, recording.folder])
        tap.check(f"{option} is refused", None if code == 2 and "from 2 to 1024" in said and not data.exists()
                  else f"exit code {code}: {said}")


def main():
    recorder = need_recorder(sys.argv[1:3])
    coretap, perf, tap = recorder.command, need_perf(), Tap()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        primes = pathlib.Path(sys.argv[3]) / "primes.c"
        static = Recording(recorder, folder, "static", primes, ["-O0", "-gdwarf-4", "-static"], ["300"], [])
        check_counts(tap, perf, coretap, folder, static)
        check_create_llvm_prof(tap, coretap, folder, static)
        check_profgen(tap, coretap, folder, static)
        recorder.env.setdefault("QEMU_LD_PREFIX", "/usr/aarch64-linux-gnu")
        linked = [Recording(recorder, folder, f"{source.stem}{level}", source,
                            [level, "-gdwarf-4", "-no-pie", "-Wl,--emit-relocs"], arguments, [])
                  for source, level, arguments in
                  ((primes, "-O1", ["300"]), (ROOT / "examples/pgo/script.c", "-O3", ["100"]),
                   (ROOT / "tests/recorded/programs/inlines.c", "-O2", []))]  # no sample lies in the last one
        for recording in linked:
            check_create_llvm_prof(tap, coretap, folder, recording)
            check_perf2bolt(tap, coretap, folder, recording)
        if not shutil.which(CXX):
            tap.skip("perf2bolt of C++", f"{CXX} is not installed")
        else:  # calls that may throw are followed by blocks to which other functions return
            check_perf2bolt(tap, coretap, folder,
                            Recording(recorder, folder, "thrown", pathlib.Path(sys.argv[3]) / "exceptions.cc",
                                      ["-O2", "-no-pie", "-Wl,--emit-relocs"], [], [], CXX))
        one = Recording(recorder, folder, "one", primes, ["-O2", "-static"], ["300"], ["--framed"])
        two = Recording(recorder, folder, "two", primes, ["-O0", "-static"], ["500"], ["--framed"])
        writer = Writer(one.capture.units)
        for pid, recording in ((100, one), (200, two)):
            writer.start(pid, recording.capture)
        for pid, recording in ((100, one), (200, two), (200, two)):
            writer.run(pid, recording.capture.trace)
        check_processes(tap, perf, coretap, folder, writer, {100: [one], 200: [two, two]}, "two processes")
        writer, ran = two_contexts(recorder, folder, primes)
        check_processes(tap, perf, coretap, folder, writer, {100: [ran[1]], 200: [ran[0], ran[2]]},
                        "contexts")
        check_refused(tap, coretap, folder, static)
        copies = ROOT / "tests/recorded/programs/copies.c"
        check_calls(tap, coretap,
                    Recording(recorder, folder, "calls", copies, ["-O1", "-static"], [], []))
        if not shutil.which("clang") or not shutil.which("ld.lld"):
            tap.skip("llvm-profgen: blocks", "clang or lld is not installed")
        else:
            check_blocks(tap, coretap, folder, Recording(recorder, folder, "blocks", copies, LLVM, [], [],
                                                         "clang"))
    tap.end()


if __name__ == "__main__":
    main()
