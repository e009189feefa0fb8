#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares profiles of recorded programs with the executed path, and with the tools that read them. Prints
TAP.

usage: test_profile.py CORETAP [PROGRAM…]      without a program: all of them with CT_LONG=1, else a few"""
import collections
import glob
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command import output as run  # noqa: E402  pylint: disable=wrong-import-position
import protobuf  # noqa: E402  pylint: disable=wrong-import-position
from tap import WHOLE, check, finish, skip, some  # noqa: E402  pylint: disable=wrong-import-position
import truth  # noqa: E402  pylint: disable=wrong-import-position

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
FEW = [("text", "-O2"), ("signals", "-O0"), ("recursion", "-O1")]


def check_folded(name, text, want):
    got = collections.Counter()
    for line in text.splitlines():
        stack, weight = line.rsplit(" ", 1)
        got[stack] += int(weight)
    check(f"{name}: {len(want)} stacks are those of the path", got == want, truth.difference(got, want))


class Runs:
    """How often each instruction ran, and how often execution continued after a branch that was not taken;
    where ranges begin and end."""

    def __init__(self, ranges, decides):
        self.insns, self.fell = collections.Counter(), collections.Counter()
        self.begins, self.ends = ({place[i] for place in ranges} for i in range(2))
        for (start, end), n in ranges.items():
            for at in range(start, end + 4, 4):
                self.insns[at] += n
                self.fell[at] += n if at in decides and at < end else 0
        self.fell = +self.fell

    def end_at(self, ranges, taken, decides):
        """Ends the ranges of a path at every branch: subtracts the taken branches, so that `fell` counts
        those that were not taken."""
        for (_, end), n in ranges.items():
            self.fell[end] += n if decides.get(end, "ret") not in truth.ALWAYS else 0
        for (source, _), n in taken.items():
            self.fell[source] -= n
        self.fell = +self.fell
        return self

    def entries(self, ranges, taken):
        """Returns how often execution came from elsewhere to the begin of a range."""
        found = collections.Counter()
        for (start, _), n in ranges.items():
            found[start] += n
        for (_, end), n in taken.items():
            found[end] -= n
        found.subtract({at + 4: n for at, n in self.fell.items()})
        return {(0, at): n for at, n in (+found).items()}

    def difference(self, want):
        if self.begins <= want.begins and self.ends <= want.ends and self.insns:
            return truth.difference(self.insns, want.insns) or truth.difference(self.fell, want.fell)
        return f"begins {self.begins - want.begins}, ends {self.ends - want.ends}"


def check_autofdo(name, text, program, want, taken):
    """Checks a profile in AutoFDO's text format, whose addresses are relative to the first loaded segment."""
    base = int(re.search(r"LOAD\s+\S+\s+(\S+)", run("readelf", "-lW", str(program)))[1], 16)
    lines = iter(text.splitlines())
    ranges = {}
    for _ in range(int(next(lines))):
        place, n = next(lines).split(":")
        start, end = place.split("-")
        ranges[int(start, 16) + base, int(end, 16) + base] = int(n)
    addresses = int(next(lines))
    got_taken = {}
    for _ in range(int(next(lines))):
        place, n = next(lines).split(":")
        start, end = (int(at, 16) for at in place.split("->"))
        got_taken[start + base, end + base if end else 0] = int(n)
    wrong = Runs(ranges, truth.branches(program)).difference(want)
    check(f"{name}: AutoFDO: ranges of {len(want.insns)} instructions", not wrong and addresses == 0, wrong)
    check(f"{name}: AutoFDO: {len(taken)} branches", got_taken == taken, truth.difference(got_taken, taken))


def check_bolt(name, text, program, want, taken, entries):
    rows = {"F": collections.Counter(), "B": {}}
    for kind, start, end, n, *_ in (line.split() for line in text.splitlines()):
        kind, place = kind.upper(), (int(start, 16), int(end, 16))
        rows[kind][place] = rows[kind].get(place, 0) + int(n)
    wrong = Runs(rows["F"], truth.branches(program)).difference(want)
    check(f"{name}: BOLT: ranges, {len(want.fell)} branches that fall through", not wrong and want.fell,
          wrong)
    wanted = taken | entries
    check(f"{name}: BOLT: branches, {len(entries)} from elsewhere", rows["B"] == wanted and entries,
          truth.difference(rows["B"], wanted))


def by_source(program, ranges, lcov):
    """Returns (function, line relative to its declaration, discriminator) -> most executions of an
    instruction, by addr2line. Leaves out inlined code."""
    times = collections.Counter()
    for (start, end), n in ranges.items():
        for at in range(start, end + 4, 4):
            times[at] += n
    declared = {name: int(line) for line, name in re.findall(r"^FN:(\d+),(.*)$", lcov, re.MULTILINE)}
    text = subprocess.run(["aarch64-linux-gnu-addr2line", "-f", "-e", str(program)], capture_output=True,
                          text=True,
                          check=True, input="".join(f"{at:x}\n" for at in times),
                          timeout=300).stdout.splitlines()
    found = collections.Counter()
    for n, function, place in zip(times.values(), text[::2], text[1::2]):
        match = re.match(r".*:(\d+)(?: \(discriminator (\d+)\))?$", place)
        if function not in declared or not match:
            continue
        key = function, int(match.group(1)) - declared[function], int(match.group(2) or 0)
        found[key] = max(found[key], n)
    return dict(found)


def check_llvm(coretap, folder, name, program, capture, ranges):
    text = run(coretap, "profile", "--format", "llvm", "--elf", str(program), str(capture))
    profile = folder / "sample.prof"
    profile.write_text(text)
    if name.endswith("-O0"):
        lcov = run(coretap, "cover", "--format", "lcov", "--elf", str(program), str(capture))
        want = by_source(program, ranges, lcov)
        got = {}
        for line in text.splitlines():
            if not line.startswith(" "):
                function = line.split(":")[0]
                continue
            match = re.match(r" (\d+)(?:\.(\d+))?: (\d+)( |$)", line)  # not inlined
            if match:
                got[function, int(match.group(1)), int(match.group(2) or 0)] = int(match.group(3))
        check(f"{name}: LLVM: {len(want)} places have the counts of the path", got == want,
              truth.difference(got, want))
    if not shutil.which("llvm-profdata"):
        skip(f"{name}: llvm-profdata reads it", "llvm-profdata is missing (Debian: llvm)")
        return
    shown = run("llvm-profdata", "show", "--sample", str(profile))
    functions = [line for line in text.splitlines() if not line.startswith(" ")]
    check(f"{name}: llvm-profdata reads {len(functions)} functions",
          len(re.findall("^Function: ", shown, re.MULTILINE)) == len(functions), shown)


def check_callgrind(folder, name, text, total):
    file = folder / "callgrind.out"
    file.write_text(text)
    cost = 0
    call = False
    for line in text.splitlines():
        if re.match(r"\d+ \d+$", line) and not call:
            cost += int(line.split()[1])
        call = line.startswith("calls=")
    check(f"{name}: callgrind: {total} instructions", cost == total, cost)
    tool = shutil.which("callgrind_annotate")
    if not tool:
        skip(f"{name}: callgrind_annotate reads it", "callgrind_annotate is missing (Debian: valgrind)")
        return
    shown = run(tool, "--auto=no", "--inclusive=yes", str(file))
    check(f"{name}: callgrind_annotate reads it", f"{total:,} (100.0%)  PROGRAM TOTALS" in shown and
          "main" in shown, shown)


def pprof_stacks(profile):
    """Returns the stacks of a profile as folded lines, by the published meaning of its fields."""
    text = profile.string_table
    functions = {function.id: text[function.name] for function in profile.function}
    names = {place.id: functions[place.line[0].function_id] for place in profile.location}
    found = collections.Counter()
    for sample in profile.sample:
        found[";".join(names[place] for place in reversed(sample.location_id))] += sample.value[0]
    return found


def check_pprof(folder, name, coretap, program, capture, want):
    """Checks the stacks with Google's own message reader, and with pprof, which adds them up itself."""
    file = folder / "profile.pb.gz"
    with file.open("wb") as out:
        subprocess.run([coretap, "profile", "--format", "pprof", "--elf", str(program), str(capture)],
                       stdout=out, check=True, timeout=300)
    if protobuf.MISSING:
        skip(f"{name}: pprof: the stacks are those of the path", protobuf.MISSING)
    else:
        profile = protobuf.messages("pprof", protobuf.PPROF)["Profile"].FromString(
            gzip.decompress(file.read_bytes()))
        got = pprof_stacks(profile)
        check(f"{name}: pprof: {len(want)} stacks are those of the path", got == want,
              truth.difference(got, want))
        text, mapping = profile.string_table, profile.mapping[0]
        build_id = re.search(r"Build ID: (\S+)", run("readelf", "-nW", str(program)))[1]
        main = next(f for f in profile.function if text[f.name] == "main")
        line = run("aarch64-linux-gnu-addr2line", "-e", str(program), hex(next(
            place.address for place in profile.location if place.line[0].function_id == main.id))).split(":")
        check(f"{name}: pprof: the program, its build id, and where main begins",
              not protobuf.unknown(profile) and text[mapping.build_id] == build_id and
              text[mapping.filename] == str(program) and mapping.has_functions and text[0] == "" and
              [text[main.filename], str(main.start_line)] == line[:1] + line[1].split()[:1],
              f"{text[main.filename]}:{main.start_line}, addr2line {line}\n{mapping}")
    if not WHOLE:
        return
    if not shutil.which("go"):
        skip(f"{name}: go tool pprof reads it", "go is missing (Debian: golang-go)")
        return
    shown = run("go", "tool", "pprof", "-top", "-nodecount=5", "-symbolize=none", str(file))
    check(f"{name}: go tool pprof reads it", f"of {sum(want.values())} total" in shown and
          "Type: instructions" in shown, shown)


def check_chrome(coretap, name, program, capture, total):
    def slices(*options):
        text = run(coretap, "profile", "--format", "chrome", *options, "--elf", str(program), str(capture))
        return [event for event in json.loads(text)["traceEvents"] if event["ph"] == "X"]

    every = slices()
    outer = max(every, key=lambda s: s["dur"])
    check(f"{name}: slices: the outermost one is the whole run", (outer["ts"], outer["dur"]) == (0, total),
          outer)
    spans = sorted((s["ts"], -s["dur"]) for s in every)
    open_ends = []
    crossed = []
    for start, negative in spans:
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        if open_ends and start - negative > open_ends[-1]:
            crossed.append((start, -negative))
        open_ends.append(start - negative)
    check(f"{name}: slices: {len(every)} lie in one another", len(every) > 50 and not crossed, crossed[:5])
    middle = total // 2
    part = slices("--from", str(middle), "--to", str(middle + 100))
    check(f"{name}: slices: a window",
          part and all(middle <= s["ts"] and s["ts"] + s["dur"] <= middle + 100 for s in part), part[:3])


def inside(taken, low, high):
    """Returns the branches of the program's code. Targets outside of it become 0, as simpleperf writes
    them."""
    found = collections.Counter()
    for (start, end), n in taken.items():
        if low <= start < high:
            found[start, end if low <= end < high else 0] += n
    return dict(found)


def check_program(coretap, source, level):
    name = f"{source} {level}"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = folder / source
        run(TOOLS[0], level, "-g", "-static", "-w", "-o", str(program), str(PROGRAMS / f"{source}.c"))
        path = folder / "path"
        capture = folder / "capture"
        run(coretap, "record", "--quiet", "-o", str(capture), "--truth", str(path), "--", str(program))
        ranges, taken = truth.counts(path, program)
        low, high = truth.code(program)
        ranges = {place: n for place, n in ranges.items() if low <= place[0] < high}
        taken = inside(taken, low, high)
        total = sum(n for _, _, n in truth.runs(path))

        def profile(form):
            return run(coretap, "profile", "--format", form, "--elf", str(program), str(capture))

        stacks = truth.stacks(path, truth.branches(program), truth.Functions(program, capture))
        check_folded(name, profile("folded"), stacks)
        check_pprof(folder, name, coretap, program, capture, stacks)
        decides = truth.branches(program)
        runs = Runs(ranges, {}).end_at(ranges, taken, decides)
        check_autofdo(name, profile("autofdo"), program, runs, taken)
        check_bolt(name, profile("bolt"), program, runs, taken, runs.entries(ranges, taken))
        check_llvm(coretap, folder, name, program, capture, ranges)
        check_callgrind(folder, name, profile("callgrind"), total)
        check_chrome(coretap, name, program, capture, total)


def counts_of(text):
    """Returns {function: (executions of its first instruction, {line: most executions})} of a sample profile
    as text."""
    found = {}
    for line in text.splitlines():
        head = re.match(r"(\S+):\d+:(\d+)$", line)
        place = re.match(r" (\d+)(?:\.\d+)?: (\d+)( |$)", line)
        if head:
            lines = {}
            found[head[1]] = int(head[2]), lines
        elif place and int(place[2]):
            lines[int(place[1])] = max(lines.get(int(place[1]), 0), int(place[2]))
    return found


def check_create_llvm_prof(coretap, folder):
    """Checks that AutoFDO's own tool makes the same counts of lines from the ranges. It reads DWARF up to
    version 4."""
    name = "create_llvm_prof makes the same counts of lines"
    if not shutil.which("create_llvm_prof"):
        skip(name, "create_llvm_prof is missing (Debian: autofdo)")
        return
    program, capture, ranges, made = (folder / n for n in ("program", "capture", "ranges", "made"))
    run(TOOLS[0], "-O0", "-gdwarf-4", "-static", "-w", "-o", str(program), str(PROGRAMS / "text.c"))
    run(coretap, "record", "--quiet", "-o", str(capture), "--", str(program))
    ranges.write_text(run(coretap, "profile", "--format", "autofdo", "--elf", str(program), str(capture)))
    run("create_llvm_prof", f"--binary={program}", f"--profile={ranges}", "--profiler=text", f"--out={made}",
        "--format=text")
    got = counts_of(made.read_text())
    want = counts_of(run(coretap, "profile", "--format", "llvm", "--elf", str(program), str(capture)))
    names = [n for n in ("main", "primary", "term", "expression", "evaluate") if n in want]
    check(f"{name} in {len(names)} functions", len(names) == 5 and all(got.get(n) == want[n] for n in names),
          "\n".join(f"{n}: {got.get(n)}, coretap {want.get(n)}" for n in names))


def check_perf2bolt(coretap, folder):
    """Checks that BOLT uses every line, except those of the procedure linkage table, which it does not
    disassemble."""
    name = "perf2bolt takes the profile"
    tool = next(iter(sorted(glob.glob("/usr/lib/llvm-*/bin/perf2bolt"))), None)
    sysroot = "/usr/aarch64-linux-gnu"
    missing = None
    if not tool:
        missing = "perf2bolt is missing (Debian: bolt-15)"
    elif not os.path.exists(f"{sysroot}/lib/libc.so.6"):
        missing = "a C library is missing (Debian: libc6-dev-arm64-cross)"
    if missing:
        skip(name, missing)
        return
    program, capture, counts = (folder / n for n in ("program", "capture", "counts"))
    run(TOOLS[0], "-O2", "-g", "-no-pie", "-Wl,--emit-relocs", "-w", "-o", str(program),
        str(PROGRAMS / "text.c"))
    subprocess.run([coretap, "record", "--quiet", "-o", str(capture), "--", str(program)], check=True,
                   capture_output=True, env={**os.environ, "QEMU_LD_PREFIX": sysroot}, timeout=300)
    text = run(coretap, "profile", "--format", "bolt", "--elf", str(program), str(capture))
    counts.write_text(text)
    says = subprocess.run([tool, "--pa", "-p", str(counts), "-o", str(folder / "fdata"), str(program)],
                          capture_output=True, text=True, check=True, timeout=300)
    says = says.stdout + says.stderr
    table = re.search(r" \.plt +PROGBITS +(\S+) +\S+ +(\S+)", run("readelf", "-SW", str(program)))
    low, size = int(table[1], 16), int(table[2], 16)
    rows = [line.split() for line in text.splitlines()]
    linkage = sum(int(row[3]) for row in rows if row[0] in "Ff" and low <= int(row[1], 16) < low + size)
    check(f"{name}: {len(rows)} lines", f"read {len(rows)} aggregated LBR entries" in says and
          f"mismatching disassembled function contents: {linkage} (" in says
          and "unknown regions: 0 " in says, says)


def check_generated(coretap, folder):
    """Checks that calls of code that changes stay below their caller: a change does not end the trace."""
    source = pathlib.Path(__file__).resolve().parents[2] / "examples/record/generated.c"
    program = folder / "generated"
    run("aarch64-linux-gnu-gcc", "-O1", "-static", "-o", program, source)
    for protocol in ("etm4", "ete"):
        capture = folder / protocol
        run(coretap, "record", "-q", "--protocol", protocol, "--start", "main", "-o", capture, program)
        stacks = [line.rsplit(" ", 1)[0] for line in run(coretap, "profile", "-q", capture).splitlines()]
        check(f"{protocol}: generated code is below its caller", "main;[unknown]" in stacks and
              not any(stack.startswith("[unknown]") for stack in stacks), stacks)


def main():
    coretap = os.path.abspath(sys.argv[1])
    for tool in TOOLS:
        if not shutil.which(tool):
            print(f"1..0 # SKIP {tool} is missing (Debian: gcc-aarch64-linux-gnu qemu-user)")
            return 0
    every = [(p.stem, level) for p in sorted(PROGRAMS.glob("*.c")) for level in ("-O0", "-O2")]
    for source, level in ([(n, level) for n, level in every if n in sys.argv[2:]] or
                          (every if os.environ.get("CT_LONG") == "1" else some(FEW, 0, 1))):
        check_program(coretap, source, level)
    for test in (check_create_llvm_prof, check_perf2bolt, check_generated):
        with tempfile.TemporaryDirectory() as folder:
            test(coretap, pathlib.Path(folder))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
