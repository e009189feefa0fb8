#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks traces for Perfetto, read by Google's message reader with the published schema: functions against
the slices of the JSON form, times of events against 'decode --merge', threads, what programs write to an
ITM, limits and windows. Prints TAP.

usage: test_profile_perfetto.py CORETAP"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import protobuf  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish  # noqa: E402  pylint: disable=wrong-import-position
if not protobuf.MISSING:
    import perfetto  # noqa: E402  pylint: disable=wrong-import-position

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
CORETAP = os.path.abspath(sys.argv[1])


def coretap(*args):
    return subprocess.run([CORETAP, *args], capture_output=True, check=False, timeout=300)


def record(folder, name, source, *options):
    program, capture = folder / f"{name}.elf", folder / name
    subprocess.run([TOOLS[0], "-O1", "-g", "-static", "-w", f"-I{ROOT}/include/target", "-o", program, source,
                    "-lpthread"], check=True)
    made = coretap("record", "-q", "-o", capture, *options, "--", program)
    assert made.returncode == 0, made
    return capture


def trace_of(*args, code=0):
    made = coretap("profile", "-f", "perfetto", *args)
    assert made.returncode == code, made.stderr
    return perfetto.Trace(made.stdout), made


def json_slices(capture, *options):
    """Returns (name, begin, end) -> number of the slices in the JSON format."""
    made = coretap("profile", "-q", "-f", "chrome", *options, capture)
    return collections.Counter((event["name"], event["ts"], event["ts"] + event["dur"])
                               for event in json.loads(made.stdout)["traceEvents"] if event["ph"] == "X")


def all_slices(trace, word):
    """Returns the slices of the tracks whose own name begins with `word`. Leaves out slices without a length,
    which the JSON format does not have."""
    return collections.Counter((one.name, one.begin, one.end) for name, track in trace.by_name().items()
                               if name[-1].startswith(word) for one in track.slices if one.end > one.begin)


def is_whole(trace):
    return not any(track.open for track in trace.tracks.values())


def check_slices(folder):
    """Checks that without timestamps the time is in instructions or cycles, as in the JSON format."""
    capture = record(folder, "plain", HERE / "programs" / "recursion.c")
    trace, made = trace_of(capture)
    got, want = all_slices(trace, "functions"), json_slices(capture)
    check(f"{sum(want.values())} slices are those of the JSON form", len(want) > 100 and got == want,
          [f"{key}: {got[key]}, JSON {want[key]}" for key in (got - want) + (want - got)])
    check("all that began ends, and nothing is said but the axis", is_whole(trace) and
          b"1 of 1 streams have no timestamps" in made.stderr and made.stderr.count(b"\n") == 1, made.stderr)
    rate = next(track.values for name, track in trace.by_name().items() if name[-1].startswith("branches"))
    parts = [(after - time, value) for (time, value), (after, _) in zip(rate, rate[1:])]
    source = json.loads(coretap("info", "-f", "json", capture).stdout)["buffers"][0]["sources"][0]
    mean = 1000 * source["atoms"] / source["instructions"]
    got = sum(size * value for size, value in parts) / sum(size for size, _ in parts)
    check("a counter of branches, of 1000 instructions or more each, and none of cycles", len(parts) > 10 and
          min(parts)[0] >= 1000 and abs(got - mean) < mean / 10 and len(trace.by_name()) == 3,
          (parts, got, mean, list(trace.by_name())))
    capture = record(folder, "cycles", HERE / "programs" / "recursion.c", "--cycle-count")
    trace, _ = trace_of(capture)
    counters = {name[-1]: track.values for name, track in trace.by_name().items() if track.values}
    cycles = sum(one.end - one.begin for track in trace.tracks.values() for one in track.slices
                 if one.depth == 0)
    want = max(end for _, _, end in json_slices(capture, "-w", "cycles"))
    check("with cycle counts time is cycles", cycles == want, (cycles, want))
    part, _ = trace_of("-q", "--from", "main", "--to", "exit", capture)
    inside = {one[:3] for one in all_of(part, "write") + all_of(part, "factorial")}
    check("in a window, too, cycles since the stream began", len(inside) > 3 and
          inside <= {one[:3] for one in all_of(trace, "write") + all_of(trace, "factorial")}, inside)
    check("cycles per instruction", len(counters["cycles per instruction"]) > 10 and
          all(0.2 < value < 5 for _, value in counters["cycles per instruction"]), counters)


def exceptions(capture):
    """Returns (core, time) of exceptions from 'decode --merge', and the last timestamp of each core."""
    made = coretap("decode", "-q", "--merge", "--format", "jsonl", capture)
    rows = [json.loads(line) for line in made.stdout.splitlines()]
    last = {row["buffer"]: int(row["time"]) for row in rows if row.get("type") == "Ts"}
    return sorted((row["buffer"], int(row["time"])) for row in rows if row.get("type") == "Exc"), last


def check_times(folder):
    """Checks threads on their cores, with timestamps: events are at the times of 'decode --merge'."""
    capture = record(folder, "threads", ROOT / "examples" / "record" / "threads.c", "--timestamps=500",
                     "--cycle-count", "--context-id")
    trace, made = trace_of(capture)
    got = sorted((re.search(r"\((\S+) ", name[0])[1], time) for name, track in trace.by_name().items()
                 for time, text in track.instants if text.startswith("exception"))
    want, last = exceptions(capture)
    # steps share a count by their instructions, also where a timestamp lies between them, so a time may be
    # off by a count: up to 16 cycles, and a wait of up to 32 cycles at its end
    far = [pair for pair in zip(got, want) if pair[0][0] != pair[1][0] or
           (pair[1][1] < last[pair[1][0]] and abs(pair[0][1] - pair[1][1]) > 16 + 32)]
    check(f"{len(want)} exceptions have the times of decode --merge, as near as cycles are counted",
          len(got) == len(want) > 50 and not far, [*map(str, far)][:20])
    check("one tick is a nanosecond, which is said", b"--frequency HZ" in made.stderr, made.stderr)
    slower, said = trace_of("--frequency", "250000000", capture)
    pairs = [(one, other) for name, track in trace.by_name().items()
             for one, other in zip(track.slices, slower.by_name()[name].slices)]
    check(f"with a frequency {len(pairs)} slices have other times, and nothing is said", len(pairs) > 500 and
          all((4 * one.begin, 4 * one.end) == (other.begin, other.end) for one, other in pairs) and
          not said.stderr, said.stderr)
    cores = {name[0] for name in trace.by_name()}
    contexts = [name for name in trace.by_name() if name[-1].startswith("context")]
    ran = [one for name, track in trace.by_name().items() if len(name) == 1 for one in track.slices]
    check("each core has a track with the contexts that run, and their functions in tracks below",
          len(cores) == 5 and len(contexts) == len(ran) == 13, (cores, contexts, ran))
    return capture


DEPTH = """in call: Events[Unit]
in ret: Events[Unit]
def depth := count(call) - count(ret)
def error := depth > 5
out error
"""
SWITCHES = """in switch: Events[Int]
def error := count(switch) > 10
out error
"""


def notes(trace, category):
    return [(name, *note[1:]) for name, track in trace.by_name().items() for note in track.notes
            if note[0] == category]


def check_notes(folder, threads):
    """Checks events of watchpoints and violations: they are at the times of 'watch' and 'monitor', inside
    their functions or on their cores."""
    spec = folder / "depth.tessla"
    spec.write_text(DEPTH)
    wish = ("--spec", spec, "--bind", "call=entry:factorial", "--bind", "ret=return:factorial")
    places = ("--at", "entry:factorial", "--at", "return:factorial", "--at", "exception")
    found = {}
    for name in ("plain", "cycles"):
        trace, made = trace_of("-q", *places, *wish, folder / name)
        found[name] = notes(trace, "watchpoint"), notes(trace, "specification")
        rows = coretap("watch", "-q", *places, "-f", "jsonl", folder / name).stdout.splitlines()
        want = collections.Counter(row["watch"] + (" = " + row["value"] if "value" in row else "")
                                   for row in map(json.loads, rows) if row["watch"] != "gap")
        check(f"{name}: {sum(want.values())} events of watchpoints", len(want) > 2 and
              collections.Counter(note[2] for note in found[name][0]) == want, (found[name], want))
        check(f"{name}: those in code are inside of their function, others beside",
              all(note[3] == ("factorial" if "factorial" in note[2] else None) for note in found[name][0]) and
              {note[0][-1] for note in found[name][0] if note[2].startswith("exception")} ==
              {"cpu_0 (ETB_0 00)"}, found[name])
        said = coretap("monitor", "-q", *wish, folder / name).stdout.decode().splitlines()
        said = [line.split(": ", 1) for line in said if " = " in line]
        want = [("error = true, violation", "factorial")] * 9
        check(f"{name}: {len(said)} violations of monitor", len(said) == len(want) and not made.stderr and
              [note[2:] for note in found[name][1]] == want,
              (said, found[name]))
        if name == "cycles":
            times = [int(row["cycle"]) for row in map(json.loads, rows) if row["watch"] != "gap"]
            check("with the cycles of watch and monitor", sorted(note[1] for note in found[name][0]) ==
                  sorted(times) and [note[1] for note in found[name][1]] == [int(line[0]) for line in said],
                  (times, said, found[name]))
    trace, _ = trace_of("-q", folder / "plain")
    begins = sorted(one.begin for one in all_of(trace, "factorial"))
    check("without cycles an entry is where its function begins", len(begins) == 10 and begins == sorted(
        note[1] for note in found["plain"][0] if note[2] == "entry:factorial"), begins)
    spec.write_text(SWITCHES)
    trace, _ = trace_of("-q", "--spec", spec, "--bind", "switch=context", threads)
    said = coretap("monitor", "-q", "--spec", spec, "--bind", "switch=context", threads).stdout.decode()
    want = sorted(line.split(": ", 1)[1].rsplit(" on ", 1)[::-1] for line in said.splitlines()
                  if " = " in line)
    begun = {name: {(one.name, one.begin) for one in track.slices}
             for name, track in trace.by_name().items()}
    got = notes(trace, "specification")
    check(f"{len(want)} violations of several cores in one run are on their cores", len(want) > 2 and
          sorted([note[0][0].split(" ")[0], note[2]] for note in got) == want and
          all((note[3], note[1]) in begun[note[0]] for note in got), (got, said))
    made = coretap("profile", "-f", "chrome", "--at", "main", folder / "plain")
    check("--at is refused elsewhere", made.returncode == 2 and b"work only with --format" in made.stderr,
          made.stderr)
    _, made = trace_of("-q", "--at", "odd", "--at", "exception:7", "--to", "main", folder / "plain", code=1)
    check("that nothing came by is said", made.stderr.count(b"\n") == 1 and
          b"reached none of the watchpoints" in made.stderr, made.stderr)
    _, made = trace_of("--spec", spec, "--bind", "switch=context", folder / "plain")
    check("how many violations there are is said", b"no violation in 1 result\n" in made.stderr, made.stderr)
    made = coretap("profile", "-f", "perfetto", "--at", "nothing_at_all", folder / "plain")
    check("a place that is not there is an error", made.returncode == 2 and
          b"no program has a function with this name" in made.stderr, made.stderr)


def check_threads(folder, capture):
    """Checks the names of processes and threads in a perf.data file."""
    file = folder / "perf.data"
    coretap("export", "--perf", file, capture)
    trace, _ = trace_of("-q", file)
    threads = {(track.descriptor.thread.pid, track.descriptor.thread.tid): trace.name(track)
               for track in trace.tracks.values() if track.descriptor.HasField("thread")}
    processes = [track.descriptor.process for track in trace.tracks.values()
                 if track.descriptor.HasField("process")]
    check("threads are below their process", len(threads) == 13 and len(processes) == 1 and
          all(pid == processes[0].pid and name == (processes[0].process_name, "threads")
              for (pid, _), name in threads.items()), (threads, processes))
    named = collections.Counter()
    for event in json.loads(coretap("profile", "-q", "-f", "chrome", file).stdout)["traceEvents"]:
        if event["ph"] == "M":
            named[event["name"], event["args"]["name"].split(" ")[0]] += 1
    check("the JSON form names cores and threads, each once", named == {
        ("thread_name", "threads"): 13, **{("process_name", f"cpu{i}"): 1 for i in range(5)}}, named)
    below = [track for track in trace.tracks.values() if re.fullmatch(r"cpu\d", track.descriptor.name) and
             len(trace.name(track)) == 3]
    check("functions of a thread are below it, by core", len(below) == 13 and
          all(len(track.slices) > 10 for track in below), [*map(trace.name, trace.tracks.values())])
    several, _ = trace_of("-q", "--captures", "apart", capture, file)
    roots = {name[0] for name in several.by_name()}
    check("several captures are groups of tracks", roots == {str(capture), str(file)}, roots)


def part_of(capture, path, numbers):
    """Copies a capture with only some of its buffers, like the capture of a second ETB. Returns the copy."""
    shutil.copytree(capture, path)
    text = (path / "trace.ini").read_text()
    text = re.sub("^buffers=.*", "buffers=" + ",".join(f"buffer{i}" for i in numbers), text, flags=re.M)
    for kind in ("ETM", "cpu"):
        text = re.sub(rf"^{kind}_(\d)=.*\n", lambda row: row[0] if int(row[1]) in numbers else "", text,
                      flags=re.M)
    (path / "trace.ini").write_text(text)
    return path


def check_together(folder, capture):
    """Checks that two captures of one system are shown like one capture of all its cores."""
    parts = [part_of(capture, folder / "etb_a", (0, 1, 2)), part_of(capture, folder / "etb_b", (3, 4))]
    whole, _ = trace_of("-q", "--at", "context", capture)
    both, made = trace_of("--at", "context", *parts)
    found, want = ({name: (track.slices, track.notes, track.values)
                    for name, track in trace.by_name().items()} for trace in (both, whole))
    check(f"the {len(want)} tracks of both are those of one capture", found == want and len(want) > 20,
          [*set(found) ^ set(want)])
    check("nothing is said but how long a tick is", made.stderr.count(b"\n") == 1 and
          b"one tick is shown as one nanosecond" in made.stderr, made.stderr)
    apart, _ = trace_of("-q", "--captures", "apart", *parts)
    check("apart each is a group", {name[0] for name in apart.by_name()} == {*map(str, parts)})
    slices = collections.defaultdict(list)
    made = coretap("profile", "-f", "chrome", "-w", "cycles", *parts)
    for event in json.loads(made.stdout)["traceEvents"]:
        if event.get("name") == "take_turns":
            slices[event["tid"]].append((1000 * event["ts"], 1000 * (event["ts"] + event["dur"])))
    want = collections.defaultdict(list)
    for name, track in whole.by_name().items():
        for one in track.slices:
            if one.name == "take_turns":
                want[int(name[-1].split("0x")[1], 16)].append((one.begin, one.end))
    far = [(mine, truth) for tid in want for mine, truth in zip(sorted(slices[tid]), sorted(want[tid]))
           if abs(mine[0] - truth[0]) > 100 or abs(mine[1] - truth[1]) > 100]
    counts = [{tid: len(times) for tid, times in all_times.items()} for all_times in (slices, want)]
    check(f"the JSON form has {len(want)} threads on the same axis", len(want) > 5 and not far and
          counts[0] == counts[1], (far, dict(slices), dict(want)))
    check("… in microseconds", json.loads(made.stdout)["otherData"] == {"unit": "microseconds"})
    one = coretap("profile", "-q", "-f", "chrome", "-w", "cycles", "--captures", "together", capture)
    times = [sorted((event["name"], event["ts"], event["dur"]) for event in json.loads(text)["traceEvents"]
                    if event["ph"] == "X") for text in (one.stdout, made.stdout)]
    check("so have the cores of one capture, where that is wished", times[0] == times[1])
    alone = coretap("profile", "-f", "chrome", "--captures", "together", folder / "cycles")
    check("one stream has its own clock", not alone.stderr and
          json.loads(alone.stdout)["otherData"] == {"unit": "instructions"}, alone.stderr)


def check_named(folder):
    """Checks what the program wrote by name: texts, values and spans, at the times of 'decode --merge'."""
    capture = record(folder, "named", HERE / "named.c", "--itm", "ports", "--timestamps=100")
    trace, _ = trace_of("-q", capture)
    made = coretap("decode", "-q", "--merge", "--format", "jsonl", capture)
    want, got = collections.Counter(), collections.Counter()
    for row in map(json.loads, made.stdout.splitlines()):
        if row["type"] == "Val":
            want["value", int(row["time"]), row["event"]] += 1
        elif row["type"] in ("Txt", "Begin", "Finish"):
            want[row["type"], int(row["time"]), row["note"]] += 1
    for name, track in trace.by_name().items():
        if not name[0].startswith("ITM"):
            continue
        for time, _ in track.values:
            got["value", time, name[-1]] += 1
        for time, text in track.instants:
            got["Txt", time, text.rstrip("\n")] += 1
        for one in track.slices:
            got["Begin", one.begin, one.name] += 1
            got["Finish", one.end, one.name] += 1
    check(f"{sum(want.values())} named events have their names and times", len(want) > 20 and got == want,
          [*map(str, (got - want) + (want - got))])
    values = dict(trace.by_name()["ITM (ETB_1 00)", "nested"].values)
    check("values of a name are a counter", sorted(values.values()) == [0, 1, 1, 2, 2], values)


def check_ports(folder):
    """Checks an ITM without names: characters are lines of text, other data is a counter. Its local
    timestamps are cycles, and do not make a time axis."""
    def write(port, data):
        return bytes([port << 3 | (3 if len(data) == 4 else 1)]) + data

    local = b"\xc0\x05"
    (folder / "itm.bin").write_bytes(bytes(5) + b"\x80" + b"".join(
        write(0, bytes([c])) + local for c in b"hi\n") + b"".join(
            write(1, number.to_bytes(4, "little")) + local for number in (7, 70000, 0x41, 0)) +
        b"\x05\x11")  # DWT: counters wrapped
    (folder / "itm.ini").write_text("[capture]\nfile=itm.bin\nframing=none\n\n[source itm]\n"
                                   "protocol=itm\nITMTCR=0x00200001\n")
    trace, made = trace_of(folder / "itm.ini")
    tracks = {name[-1]: track for name, track in trace.by_name().items()}
    check("text and numbers by port", [text for _, text in tracks["port 0"].instants] == ["hi"] and
          [value for name, track in trace.by_name().items() if name[-1] == "port 1"
           for _, value in track.values] == [7, 70000, 0x41, 0], list(tracks))
    check("what the DWT traces", len(tracks["itm (trace 00)"].instants) == 1, tracks)
    watched, _ = trace_of("-q", "--at", "itm:1", folder / "itm.ini")
    values = next(track.values for name, track in trace.by_name().items() if name[-1] == "port 1" and
                  track.values)
    check("a watched port has its writes at the times of their values",
          [(note[1], note[2]) for note in notes(watched, "watchpoint")] ==
          [(time, f"itm:1 = {int(value):#x}") for time, value in values], (watched.by_name(), values))
    check("local timestamps are no axis", b"1 of 1 streams have no timestamps" in made.stderr, made.stderr)


def core_trace(runs):
    """Returns the trace of an ETMv4 with some execution for each (context, timestamp), up to that time."""
    out = bytes(11) + b"\x80" + b"\x01\x01\x00" + b"\x04"
    for context, time in runs:
        out += b"\x81\xb0" + context.to_bytes(4, "little")
        out += b"\x9d\x10\x00" + (0x40).to_bytes(6, "little") + b"\xf7"
        out += b"\x02" + bytes([time & 0x7f | 0x80, time >> 7])
    return out


def check_moves(folder):
    """Checks that an arrow follows a context that continues on another core, and that a context that runs
    everywhere gets none."""
    capture = folder / "moves"
    capture.mkdir()
    cores = [[(0x10, 100), (0x11, 200), (0, 300)], [(0, 150), (0x10, 250), (0x11, 350)]]
    names = "".join(f"c{i}=cpu_{i}.ini\ne{i}=etm_{i}.ini\n" for i in (0, 1))
    (capture / "snapshot.ini").write_text(
        f"[snapshot]\nversion=1.0\n[device_list]\n{names}[trace]\nmetadata=trace.ini\n")
    (capture / "trace.ini").write_text(
        "[trace_buffers]\nbuffers=b0,b1\n" +
        "".join(f"[b{i}]\nname=ETB_{i}\nfile=trace_{i}.bin\nformat=source_data\n" for i in (0, 1)) +
        "[source_buffers]\nETM_0=ETB_0\nETM_1=ETB_1\n[core_trace_sources]\ncpu_0=ETM_0\ncpu_1=ETM_1\n")
    for i, runs in enumerate(cores):
        (capture / f"trace_{i}.bin").write_bytes(core_trace(runs))
        (capture / f"cpu_{i}.ini").write_text(
            f"[device]\nname=cpu_{i}\nclass=core\ntype=ARMv8.0-A\n")
        (capture / f"etm_{i}.ini").write_text(
            f"[device]\nname=ETM_{i}\nclass=trace_source\ntype=ETM4\n[regs]\nTRCCONFIGR=0x840\n"
            "TRCTRACEIDR=0x10\nTRCIDR0=0x28000ea1\nTRCIDR1=0x4100f403\nTRCIDR2=0x00000488\n")
    made = coretap("profile", "-f", "perfetto", capture)
    trace = perfetto.Trace(made.stdout)
    want = [[(200, "cpu_0 (ETB_0 00)", "goes to cpu_1"), (250, "cpu_1 (ETB_1 00)", "comes from cpu_0")],
            [(300, "cpu_0 (ETB_0 00)", "goes to cpu_1"), (350, "cpu_1 (ETB_1 00)", "comes from cpu_0")]]
    check("arrows follow contexts from core to core", sorted(map(sorted, trace.flows.values())) == want,
          (dict(trace.flows), made.stderr))
    twice, _ = trace_of("-q", "--captures", "apart", capture, capture, code=made.returncode)
    check("arrows of each of two captures are its own", len(twice.flows) == 2 * len(want) and
          all(len(ends) == 2 for ends in twice.flows.values()), dict(twice.flows))
    ran = [one[:3] for one in trace.by_name()["cpu_0 (ETB_0 00)",].slices]
    check("each core has what ran on it", ran == [("context 0x10", 100, 200), ("context 0x11", 200, 300),
                                                  ("context 0x0", 300, 300)], ran)


def check_limits(folder):
    capture = record(folder, "long", HERE / "programs" / "text.c", "--timestamps=1000", "--cycle-count")
    whole, _ = trace_of("-q", capture)
    windowed, _ = trace_of("-q", "--from", "main", "--to", "exit", capture)
    main = all_of(whole, "main")[0]
    inside = [one for track in windowed.tracks.values() for one in track.slices]
    check("a window has what ran in it, from the timestamp before it on", inside and
          all(main.begin - 1100 < one.begin and one.end < main.end + 1100 for one in inside) and
          not all_of(windowed, "_start"), (main, inside[:5]))
    early, late = main.begin + 2200, main.end - 1100
    parts = [{one[:3] for track in trace.tracks.values() for one in track.slices
              if one.begin > early and one.end < late} for trace in (whole, windowed)]
    check(f"behind its second timestamp {len(parts[0])} times are those of the whole", len(parts[0]) > 20 and
          parts[0] == parts[1], sorted(parts[0] ^ parts[1])[:20])
    sparse = record(folder, "sparse", HERE / "programs" / "text.c", "--timestamps=30000", "--cycle-count")
    short, said = trace_of("--from", "expression#3", "--to", "expression#5", sparse)
    lengths = sorted(one.end - one.begin for track in short.tracks.values() for one in track.slices)
    check("in a window with one timestamp things have a length, and it is said in what", len(lengths) > 2 and
          20 < lengths[-1] < 2200 and b"1 streams have only one timestamp" in said.stderr,
          (lengths, said.stderr))
    big = folder / "big.c"
    big.write_text("#include <stdlib.h>\nstatic int __attribute__((noinline)) f(int n)\n"
                   "{ return n < 2 ? n : f(n - 1) + f(n - 2); }\nint main(void) { return f(19) < 0; }\n")
    capture = record(folder, "big", big)
    whole, made = trace_of("-q", capture)
    cut, said = trace_of("-q", "--max-size", "65536", capture, code=1)
    slices = [sum(len(track.slices) + len(track.open) for track in trace.tracks.values())
              for trace in (whole, cut)]
    left_out = re.search(rb"(\d+) of (\d+) slices are left out", said.stderr)
    check(f"--max-size ends a trace of {len(made.stdout)} bytes, and says how much is missing",
          32768 < len(said.stdout) <= 65536 < len(made.stdout) and left_out and
          int(left_out[2]) == slices[0] and int(left_out[1]) == slices[0] - slices[1] > 0,
          (said.stderr, slices, len(said.stdout)))
    check("what is there is as in the whole", cut.size < whole.size and
          all(track.slices == whole.tracks[number].slices[:len(track.slices)]
              for number, track in cut.tracks.items()))


def all_of(trace, function):
    return [one for track in trace.tracks.values() for one in track.slices if one.name == function]


def check_refused(folder):
    saved = folder / "saved"
    saved.write_bytes(coretap("profile", "-f", "data", folder / "plain").stdout)
    for what, said, *args in (("a file of sums", b"do not record when functions ran", saved),
                              ("--weight", b"--weight cannot be applied", "-w", "cycles", folder / "plain")):
        made = coretap("profile", "-f", "perfetto", *args)
        check(f"{what} is refused", made.returncode == 2 and not made.stdout and said in made.stderr, made)
    made = coretap("profile", "-f", "chrome", "--max-size", "100000", folder / "plain")
    check("--max-size is refused elsewhere", made.returncode == 2 and b"works only with" in made.stderr, made)
    trace, made = trace_of(ROOT / "examples" / "quickstart", code=1)
    check("a capture without programs says so", b"names no program" in made.stderr and
          all_of(trace, "firmware.bin+0x0"), made.stderr)
    made = coretap("profile", "-f", "chrome", folder / "plain", folder / "nothing")
    check("the JSON form is whole though its second capture is not there", made.returncode == 2 and
          len(json.loads(made.stdout)["traceEvents"]) > 100, made.stderr)


def main():
    missing = next((tool for tool in TOOLS if not shutil.which(tool)), None) or protobuf.MISSING
    if missing:
        print(f"1..0 # SKIP {missing}: Debian: gcc-aarch64-linux-gnu qemu-user python3-protobuf")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        check_slices(folder)
        capture = check_times(folder)
        check_notes(folder, capture)
        check_threads(folder, capture)
        check_together(folder, capture)
        check_named(folder)
        check_ports(folder)
        check_moves(folder)
        check_limits(folder)
        check_refused(folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
