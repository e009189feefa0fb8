#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every command reports the same losses.

usage: test_losses.py COMMAND RECORD_EXAMPLES

Runs every decoding command on captures (examples, the corpus, programs recorded with overflows, a PTM made
here) and on damaged copies of them, at each level, with each engine and number of threads, and compares the
losses and the exit codes. The corpus is in $CT_SHARED, or in ../shared beside the sources; programs are
recorded when QEMU and cross compilers are installed. Prints TAP."""
import functools
import html
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap
from parts import missing_parts

COMMAND = str(pathlib.Path(sys.argv[1]).resolve())
EXAMPLES = pathlib.Path(sys.argv[2]).resolve()
LONG = os.environ.get("CT_LONG", "0") not in ("", "0")
KEYS = ("gaps", "overflows", "contradictions", "bad_packets", "lost_bytes", "no_access")
OF_TRACE = ("overflows", "bad_packets", "lost_bytes")  # and the gaps that are not contradictions
WORDS = {"gaps": r"gaps?\b", "overflows": r"trace unit overflows?",
         "contradictions": r"contradictions? with the program",
         "bad_packets": r"invalid or truncated packets?",
         "lost_bytes": r"bytes? that could not be used",
         "no_access": r"times? code ran that is in no memory image"}


run = functools.partial(command.run, COMMAND, codes=(0, 1), errors="replace")


def of_words(text):
    """Returns the numbers of a line such as '3 gaps (2 trace unit overflows), 5 bytes that could not be
    used'."""
    found = {}
    for key, words in WORDS.items():
        match = re.search(r"(\d+) " + words, text)
        found[key] = int(match[1]) if match else 0
    return found


def of_stderr(done):
    lines = [line for line in done.stderr.splitlines() if ": losses: " in line]
    if len(lines) > 1:
        raise AssertionError(f"told {len(lines)} times: {lines}")
    return of_words(lines[0].split(": losses: ", 1)[1]) if lines else dict.fromkeys(KEYS, 0)


def of_keys(text):
    """Returns the sums of all key=value pairs in a text, over all streams."""
    found = dict.fromkeys(KEYS, 0)
    for key, value in re.findall(r"\b(\w+)=(\d+)", text):
        if key in found:
            found[key] += int(value)
    return found


def stats_of(numbers):
    """Returns the values of stats without those that differ from run to run."""
    return {key: None if key in ("seconds", "mb_per_s") else int(value)
            for key, value in numbers.items()}


def sum_of(rows):
    return {key: sum(row[key] for row in rows) for key in KEYS}


def trace_part(losses):
    """Returns the losses that are known without following the program."""
    return {"gaps": losses["gaps"] - losses["contradictions"], **{key: losses[key] for key in OF_TRACE}}


COUNTED = {"wcet": 0, "live": 0, "files": 0}


class Capture:
    def __init__(self, name, path, elf=None, live=None):
        self.name, self.path, self.elf, self.live = name, path, elf, live


def frame_bytes(info):
    frames = [b["frames"] for b in info["buffers"] if "frames" in b]
    return sum(f["lost_bytes"] + f["no_id_bytes"] for f in frames)


def stats_ways(engines):
    """Yields level, engine and number of threads. With CT_LONG=1 or one engine these are all combinations.
    Otherwise each level runs once with each engine: one of them with one thread, the other with three."""
    ways = list(itertools.product(("flow", "coverage", "timing"), engines))
    for number, (level, engine) in enumerate(ways):
        for threads in (1, 3):
            if LONG or len(engines) == 1 or threads == (1, 3, 3, 1)[number % 4]:
                yield level, engine, threads


def hold(capture, engines):
    """Checks that every command reports the losses of `info`. Returns the losses and the exit code."""
    first = run("info", "--format", "json", capture.path)
    info = json.loads(first.stdout)
    losses, code = {key: info["losses"][key] for key in KEYS}, first.returncode
    wrong = []

    def same(what, numbers, exit_code=code):
        if numbers != losses or exit_code != code:
            wrong.append(f"{what}: {numbers} exit {exit_code}, info: {losses} exit {code}")

    def told(what, done):
        empty = re.search("empty although|empty, because", done.stderr)  # has exit code 1 by itself
        same(what, of_stderr(done), code if empty and done.returncode == 1 else done.returncode)

    told("info on stderr", first)
    sources = [s for b in info["buffers"] for s in b["sources"] if s["decoded"]]
    streams = sum_of(sources)
    streams["lost_bytes"] += frame_bytes(info)
    same("the sources of info", streams)
    text = run("info", capture.path).stdout.rstrip().splitlines()[-1]
    same("info in words", of_words(text))
    for level, engine, threads in stats_ways(engines):
        what = f"stats --level {level} --engine {engine} --threads {threads}"
        done = run("stats", *what.split()[1:], capture.path)
        same(what, of_keys(done.stdout), done.returncode)
        told(what, done)
    for level in ("packet", "element"):
        for threads in (1, 3):
            done = run("stats", "--level", level, "--threads", threads, capture.path)
            if trace_part(of_keys(done.stdout)) != trace_part(losses):
                wrong.append(f"stats --level {level} -t {threads}: {of_keys(done.stdout)}, info: {losses}")
    for words in (["--level", "frame"], ["--level", "element"], ["--level", "timing"], [capture.path]):
        said = stats_of(dict(line.split("=") for line in
                         run("stats", *words, capture.path).stdout.split()))
        found = json.loads(run("stats", "--format", "json", *words, capture.path).stdout)
        found = stats_of(found | found.pop("losses"))
        if said != found:
            wrong.append(f"stats {words}: {said}, as JSON: {found}")
    packets = of_stderr(run("list", "--packets", capture.path))
    if trace_part(packets) != trace_part(losses):
        wrong.append(f"list --packets: {packets}, info: {losses}")
    followed = ["list --elements", "list --elements --threads 3", "decode --along binary",
                "decode --merge --along binary",
                "watch --at 0x1000 --format jsonl", f"monitor --all --per-core --spec {SPEC}",
                "timing --edges"]
    for what in followed:
        words = what.split()
        told(what, run(words[0], *words[1:], capture.path))
    timing = run("timing", "--format", "json", capture.path)
    told("timing --format json", timing)
    for table in json.loads(timing.stdout):
        buffer = next(b for b in info["buffers"] if b["name"] == table["buffer"])
        source = next(s for s in buffer["sources"] if s["id"] == table["id"] or buffer["framing"] == "none")
        if any(table["totals"][key] != source[key] for key in KEYS):
            wrong.append(f"timing of {table['buffer']} {table['id']}: {table['totals']}, info: {source}")
    hold_live(capture, info, same)
    if capture.elf:
        hold_program(capture, losses, same, told)
        hold_files(capture, losses, code, wrong)
    hold_timing_edges(capture, wrong)
    if wrong:
        raise AssertionError("\n".join(wrong))
    return losses, code


def hold_program(capture, losses, same, told):
    """Checks the commands that need a program."""
    cover = run("cover", "--elf", capture.elf, "--all-functions", "--format", "json", "--threads", 3,
                capture.path)
    same("cover --format json", json.loads(cover.stdout)["losses"], cover.returncode)
    told("cover", cover)
    told("profile", run("profile", "--elf", capture.elf, "--format", "folded", capture.path))
    report = run("report", "--elf", capture.elf, capture.path)
    told("report", report)
    card = re.search(r"Gaps in the trace.*?</dl>", report.stdout, re.S)[0]
    words = html.unescape(re.sub(r"<[^>]*>", " ", card))
    if any(losses.values()):
        same("the card of report", of_words(words))
    elif "nothing was lost" not in words:
        same("the card of report", {"said": words})
    wcet = run("wcet", "--elf", capture.elf, "--entry", "malloc", "--unobserved", "exclude", "--format",
               "json", capture.path, codes=(0, 1, 2))
    if not wcet.stdout.startswith("{"):  # there is no path without cycle counts, or when much is missing
        assert wcet.returncode and wcet.stderr, f"wcet says nothing: {wcet.returncode}"
    else:
        COUNTED["wcet"] += 1
        assert wcet.returncode == cover.returncode, f"wcet ends with {wcet.returncode}: {wcet.stderr}"
        same("wcet --format json", json.loads(wcet.stdout)["losses"], wcet.returncode)
        told("wcet", wcet)


def hold_live(capture, info, same):
    """Checks `live` with the same bytes through a pipe, in one run for each buffer."""
    sums, codes = [], []
    if info["kind"] == "perf.data":
        return  # trace of a perf.data file is in pieces
    for buffer in info["buffers"]:
        done = subprocess.run([COMMAND, "live", "--config", str(capture.path), "--buffer", buffer["name"],
                               "--at", "0x1000", "-"],
                              input=pathlib.Path(buffer["path"]).read_bytes(), capture_output=True,
                              timeout=300, check=False)
        done.stderr = done.stderr.decode(errors="replace")
        sums.append(of_stderr(done))
        codes.append(done.returncode)
    COUNTED["live"] += 1
    same("live", sum_of(sums), max(codes))


def hold_files(capture, losses, code, wrong):
    """Checks that a coverage file, and the sum of two, state the losses of their captures."""
    with tempfile.TemporaryDirectory() as name:
        one, two, three = (os.path.join(name, word) for word in ("one", "two", "three"))
        made = run("cover", "-q", "--elf", capture.elf, "--all-functions", "--format", "data", "-o", one,
                   capture.path)
        if made.returncode and "empty although" in made.stderr:
            return
        run("merge", "-o", two, one, one)
        run("merge", "-o", three, one, two)
        for times, path in enumerate((one, two, three), 1):
            done = run("cover", "--elf", capture.elf, "--all-functions", "--format", "json", path)
            numbers = {key: times * value for key, value in losses.items()}
            found = json.loads(done.stdout)["losses"]
            if not numbers == found == of_stderr(done) or done.returncode != code:
                wrong.append(f"{times} times the coverage file: {found}, {done}, wanted {numbers} exit "
                             f"{code}")
        strict = run("cover", "-q", "--elf", capture.elf, "--all-functions", "--strict", three).returncode
        if strict != any(losses.values()) and not code:
            wrong.append(f"the coverage file with --strict: exit code {strict}, losses {losses}")
        COUNTED["files"] += 1


def hold_timing_edges(capture, wrong):
    """Checks that every counted step is in the table of edges."""
    text = run("timing", "-q", "--edges", "--top", 1000000, capture.path).stdout
    for table in text.split("# buffer ")[1:]:
        steps = int(re.search(r"\bsteps=(\d+)", table)[1])
        rows = table.split("# edge\t", 1)[1].splitlines()[1:]
        listed = sum(int(row.split("\t")[4]) for row in rows if row.count("\t") > 8)
        if listed != steps:
            wrong.append(f"timing --edges lists {listed} of {steps} steps")


# ---- captures ----

def trace_files(path):
    """Returns the files of a snapshot that contain trace."""
    if path.is_file():
        return [path]
    names = re.findall(r"^\s*file\s*=\s*(\S+)", (path / "trace.ini").read_text(), re.M)
    return [path / name for name in names if (path / name).exists()]


def damage(data, rng, how):
    data = bytearray(data)
    if not data:
        return data
    if how == "bits":
        for _ in range(1 + len(data) // 4000):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif how == "cut":
        del data[rng.randrange(len(data)):]
    elif how == "dropped":
        at = rng.randrange(len(data))
        del data[at:at + 1 + rng.randrange(64)]
    elif how == "zeros":
        at = rng.randrange(len(data))
        data[at:at + 24] = bytes(len(data[at:at + 24]))
    else:
        at = rng.randrange(len(data))
        data[at:at] = data[at:at + 1 + rng.randrange(64)]
    return data


def damaged_copy(capture, folder, rng, how):
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(capture.path, folder)
    for file in trace_files(folder):
        file.chmod(0o644)
        file.write_bytes(damage(file.read_bytes(), rng, how))
    return Capture(f"{capture.name}, {how}", folder, capture.elf)


PTM = """[capture]
file=p.bin
framing=none
[source ptm]
protocol=ptm
id=0x10
core=Cortex-A15
ETMCR=0x10001000
ETMIDR=0x411cf312
ETMCCER=0x34c01ac2
[image code]
file=code.bin
address=0x8000
"""


def make_ptm(folder, overflows):
    """Makes a loop of two instructions, `b .` and the one after it. Each overflow is followed by a new
    synchronisation."""
    folder.mkdir()
    async_, atoms = bytes(5) + b"\x80", b"\x84\x84\x84"
    isync = lambda reason: b"\x08" + (0x8000).to_bytes(4, "little") + bytes([0x01 | reason << 5]) + b"\x04"
    body = b"".join(isync(2) + atoms for _ in range(overflows))
    (folder / "p.bin").write_bytes(async_ + isync(1) + atoms + body)
    (folder / "code.bin").write_bytes(bytes.fromhex("feffffea") * 16)
    (folder / "p.ini").write_text(PTM)
    return Capture("a PTM made here", folder / "p.ini")


STM = """[capture]
file=stm.bin
framing=none
[source stm]
protocol=stm
id=0x20
"""

ETM3 = """[capture]
file=etm3.bin
framing=none
[source etm3]
protocol=etm3
id=0x10
core=Cortex-A5
ETMCR=0x0000000c
ETMIDR=0x411cf250
ETMCCER=0x34000000
[image code]
file=code.bin
address=0x8000
"""


def make_stm(folder):
    """Makes two writes, and between them an error of the master and one of any master: each means that
    something is missing."""
    folder.mkdir()
    nibbles = "f" * 21 + "0" + "f003" + "141" + "c5" + "45a" + "201" + "f202" + "141" + "45a" + "0"
    nibbles += "0" * (len(nibbles) % 2)
    (folder / "stm.bin").write_bytes(bytes(int(nibbles[i + 1] + nibbles[i], 16)
                                           for i in range(0, len(nibbles), 2)))
    (folder / "stm.ini").write_text(STM)
    return Capture("an STM made here", folder / "stm.ini")


def make_etm3(folder):
    """Makes a loop of one instruction whose data was suppressed three times."""
    folder.mkdir()
    isync = b"\x08\x01" + (0x8000).to_bytes(4, "little")
    (folder / "etm3.bin").write_bytes(bytes(5) + b"\x80" + isync + b"\x84" + b"\x62\x84" * 3)
    (folder / "code.bin").write_bytes(bytes.fromhex("feffffea") * 16)
    (folder / "etm3.ini").write_text(ETM3)
    return Capture("an ETMv3 made here", folder / "etm3.ini")


def frames_of(data, trace_id):
    """Returns trace of one ID in frames of 16 bytes, each with 14 bytes of the trace."""
    framed = bytearray()
    for at in range(0, len(data), 14):
        part = data[at:at + 14]
        if len(part) == 14:
            frame = bytearray([trace_id << 1 | 1, *part, 0])
        elif len(part) % 2:  # the rest of the frame is of ID 0
            frame = bytearray([trace_id << 1 | 1, *part, 1, *bytes(14 - len(part))])
        else:  # the same, but the ID takes effect one byte later
            frame = bytearray([trace_id << 1 | 1, *part[:-1], 1, part[-1], *bytes(14 - len(part))])
            frame[15] |= 1 << len(part) // 2
        for i in range(2, 15 if len(part) == 14 else len(part), 2):
            frame[15] |= (frame[i] & 1) << i // 2
            frame[i] &= 0xfe
        framed += frame
    return bytes(framed)


def etm4_bytes():
    """Returns the trace of the ETMv4 in the example."""
    frames = (ROOT / "examples/quickstart/trace.bin").read_bytes()
    data, current = bytearray(), None
    for at in range(0, len(frames), 16):
        frame = frames[at:at + 16]
        later = None
        for i in range(15):
            byte = frame[i]
            bit = frame[15] >> i // 2 & 1
            if i % 2 == 0 and byte & 1:
                current, later = (current, byte >> 1) if bit else (byte >> 1, None)
                continue
            if current == 0x10:
                data.append(byte | bit if i % 2 == 0 else byte)
            if later is not None:
                current, later = later, None
    return bytes(data)


def make_data_trace(folder, size, config):
    """Makes a capture of the example's ETMv4 with `size` bytes of data trace, whose packets coretap does not
    know. They come before the ETMv4's trace, in its middle and after it. `config` is added to TRCCONFIGR;
    TRCIDR0 states that both kinds of data trace are there."""
    shutil.copytree(ROOT / "examples/quickstart", folder)
    trace, third = etm4_bytes(), size // 3
    data = bytes(random.Random(size).randrange(256) for _ in range(size))
    half = len(trace) // 2 - len(trace) // 2 % 14
    (folder / "trace.bin").write_bytes(
        frames_of(data[:third], 0x11) + frames_of(trace[:half], 0x10) + frames_of(data[third:2 * third], 0x11)
        + frames_of(trace[half:], 0x10) + frames_of(data[2 * third:], 0x11))
    device = folder / "device_0.ini"
    device.write_text(device.read_text().replace("=0x00001851", f"={0x1851 | config:#010x}")
                      .replace("=0x28000EA1", "=0x28000EBF"))
    for name, line in (("snapshot.ini", "device3"), ("trace.ini", "ETE_1"), ("trace.ini", "cpu_1")):
        text = (folder / name).read_text()
        (folder / name).write_text("".join(l for l in text.splitlines(True) if not l.startswith(line)))
    return Capture(f"an ETMv4 with {size} bytes of data trace", folder)


DATA_ATOMS = """[capture]
file=plain.bin
framing=none
[source ETM_0]
protocol=etmv4i
id=0x10
core=Cortex-A53
TRCCONFIGR=0x1857
TRCIDR0=0x28000EBF
TRCIDR1=0x4100F400
TRCIDR2=0x488
[image code]
file=firmware.bin
address=0x80000
"""


def record(folder, compiler, qemu, *options):
    """Records primes.c. Returns the capture, or None without the tools."""
    if not shutil.which(compiler) or not shutil.which(qemu):
        return None
    folder.mkdir()
    program = folder / "primes"
    subprocess.run([compiler, "-O1", "-g", "-static", EXAMPLES / "primes.c", "-o", program], check=True)
    done = subprocess.run([COMMAND, "record", "-q", "-o", folder / "capture", *options, "--", program, "200"],
                          capture_output=True, text=True, timeout=300)
    return Capture("a recorded program: " + " ".join(options), folder / "capture",
                   program) if not done.returncode else None


def corpus():
    shared = pathlib.Path(os.environ.get("CT_SHARED", ROOT.parent / "shared")) / "corpus"
    found = [Capture(path.name, path) for path in sorted(shared.glob("snapshots/*"))
             if (path / "snapshot.ini").exists()]
    return found + [Capture(path.name, path) for path in sorted(shared.glob("perfdata/*.data"))]


# ---- checks ----

def hold_ptm(folder):
    capture = make_ptm(folder, 83)
    losses, code = hold(capture, ("plain", "fast"))
    wanted = {"gaps": 83, "overflows": 83, "contradictions": 0, "bad_packets": 0, "lost_bytes": 0,
              "no_access": 0}
    assert losses == wanted and code == 0, f"{losses}, exit code {code}"
    lines = run("decode", capture.path).stdout.count("trace unit overflow")
    assert lines == 83, f"decode has {lines} lines of overflows"
    watched = run("watch", "--at", "0x1000", capture.path).stdout.count("\toverflow\t")
    assert watched == 83, f"watch has {watched} lines of overflows"
    for command in ("info", "stats", "timing", "decode", "list --elements"):
        strict = run(*command.split(), "--strict", capture.path).returncode
        assert strict == 1, f"{command} --strict: exit code {strict}"
    return "83 overflows in every command; exit code 0, and 1 with --strict"


def hold_overflows(capture, count, engines):
    """Checks that `count` overflows are the only losses. Packets that state an omission of the trace unit
    count as overflows."""
    losses, code = hold(capture, engines)
    wanted = {**dict.fromkeys(KEYS, 0), "gaps": count, "overflows": count}
    assert losses == wanted and code == 0, f"{capture.name}: {losses}, exit code {code}"
    lines = run("decode", capture.path).stdout.count("trace unit overflow")
    assert lines == count, f"{capture.name}: decode has {lines} lines of overflows"
    assert run("info", "--strict", capture.path).returncode == 1, f"{capture.name}: info --strict"


def hold_suppressed(folder):
    hold_overflows(make_stm(folder / "stm"), 2, ("plain", "fast"))
    hold_overflows(make_etm3(folder / "etm3"), 3, ("plain", "fast"))


def hold_data_trace(folder):
    """Checks that the data trace of an ETMv4 is not decoded: its bytes are lost, and messages name it."""
    plain = make_data_trace(folder / "plain", 0, 0)
    nothing, code = hold(plain, ("plain", "fast"))
    assert not any(nothing.values()) and code == 0, f"{nothing}, exit code {code}"
    traced = make_data_trace(folder / "traced", 3000, 3 << 16)
    losses, code = hold(traced, ("plain", "fast"))
    assert losses == {**nothing, "lost_bytes": 3000} and code == 1, f"{losses}, exit code {code}"
    for command in ("info", "stats", "stats --threads 3", "decode", "decode --merge --along binary",
                    "list --packets", "timing"):
        done = run(*command.split(), traced.path)
        told = re.findall(r"source ETM_0 \(ID 10\): its data trace \(ID 11\) has 3000 bytes", done.stderr)
        assert len(told) == 1, f"{command}: told {len(told)} times: {done.stderr}"
    named = run("stats", "--id", "11", traced.path, codes=(2,)).stderr
    assert "ID 11 is the data trace of ETM_0, which coretap does not decode; use ID 10, its" in named
    assert "lost_bytes=0\n" in run("stats", "--level", "frame", traced.path, codes=(0,)).stdout
    text = run("info", traced.path).stdout
    assert "ID 11: data trace of ETM_0, which is not decoded; 3000 bytes of trace\n" in text, text
    assert "data trace               on: a stream of its own, ID 11, which is not decoded\n" in text, text
    with_data, without = (run("list", "--elements", c.path).stdout for c in (traced, plain))
    offsets = re.compile(r"^\d+ ", re.M)
    assert offsets.sub("", with_data) == offsets.sub("", without) != "", "other elements"
    return "3000 bytes lost in every command; the same instructions"


def hold_data_atoms(folder):
    """Checks that a trace with atoms of loads and stores is not followed along the program, where it would be
    followed wrongly."""
    capture = make_data_trace(folder, 0, 3 << 1)
    size = len(etm4_bytes())
    losses, code = hold_followed(capture)
    wanted = {**dict.fromkeys(KEYS, 0), "lost_bytes": size}
    assert losses == wanted and code == 1, f"{losses}, exit code {code}"
    done = run("stats", "--level", "element", capture.path)
    assert of_keys(done.stdout)["lost_bytes"] == 0 and done.returncode == 0, done
    (folder / "plain.bin").write_bytes(etm4_bytes() * 200)  # large enough for several threads
    (folder / "plain.ini").write_text(DATA_ATOMS)
    plain, code = hold_followed(Capture("without frames", folder / "plain.ini"))
    assert plain == {**losses, "lost_bytes": 200 * size} and code == 1, f"{plain}, exit code {code}"
    return f"{size} bytes lost from level flow on, none in packets and elements"


def hold_followed(capture):
    """Checks that all commands that follow the program report the same. Returns the losses and the exit
    code."""
    found = set()
    for command in ("info", "stats", "stats --threads 3", "stats --level coverage", "stats --level timing",
                    "decode", "decode --along binary", "decode --merge --along binary", "list --elements",
                    "timing", "watch --at 0x80000"):
        done = run(*command.split(), capture.path)
        told = done.stderr.count(f"source ETM_0 (ID {'00' if capture.path.is_file() else '10'}): loads or "
                                 "stores have their own atoms (TRCCONFIGR.INSTP0 = 3)")
        assert told == 1, f"{command}: told {told} times: {done.stderr}"
        found.add((tuple(of_stderr(done).items()), done.returncode))
    assert len(found) == 1, found
    losses, code = found.pop()
    return dict(losses), code


def hold_no_memory(folder):
    shutil.copytree(ROOT / "examples/quickstart", folder)
    image = folder / "firmware.bin"
    image.write_bytes(image.read_bytes()[:0x540])
    losses, code = hold(Capture("half of the memory", folder), ("plain", "fast"))
    assert losses["no_access"] and code == 0, f"{losses}, exit code {code}"
    assert run("stats", "--strict", folder).returncode == 1
    image.unlink()
    nothing, code = hold(Capture("no memory", folder), ("plain", "fast"))
    assert nothing["no_access"] and code == 1, f"{nothing}, exit code {code}"
    told = re.search(r"no memory image of code that ran in 0x80[0-9a-f]*\.\.0x80[0-9a-f]* \((\d+) times\)",
                     run("stats", folder).stderr)
    assert told and int(told[1]) == nothing["no_access"], run("stats", folder).stderr
    return f"{losses['no_access']} and {nothing['no_access']} times without memory"


def hold_pieces():
    """Checks that consecutive recordings in one perf.data file are no gap in any command."""
    path = next(c.path for c in corpus() if c.path.suffix == ".data")
    losses, _ = hold(Capture("perf.data", path), ("plain", "fast"))
    lines = run("decode", path).stdout.count("\nGap\t")
    assert lines == losses["gaps"] == 0, f"decode has {lines} gaps, the others {losses['gaps']}"
    told = run("stats", path).stderr
    assert "ran in /data/local/tmp/etm_test_loop (3 times)" in told, told
    return "no gaps"


# Captures whose trace contradicts their memory: juno_r1_1 everywhere, and ete_ip has atoms without an address
# after two indirect branches. No other undamaged trace has a contradiction.
CONTRADICTING = ("juno_r1_1", "ete_ip")


def hold_all(captures, engines=("plain", "fast")):
    seen = dict.fromkeys(KEYS, 0)
    codes = set()
    for capture in captures:
        try:
            losses, code = hold(capture, engines)
        except AssertionError as error:
            raise AssertionError(f"{capture.name}:\n{error}") from None
        codes.add(code)
        assert bool(losses["contradictions"]) == (capture.name in CONTRADICTING), f"{capture.name}: {losses}"
        for key in KEYS:
            seen[key] += losses[key]
    assert not any(c.elf for c in captures) or COUNTED["files"], "no coverage file was made"
    assert COUNTED["live"] or captures[0].path.suffix == ".data", "nothing was fed to live"
    return (f"{len(captures)} captures, exit codes {sorted(codes)}: "
            + ", ".join(f"{k} {v}" for k, v in seen.items()))


def hold_wcet():
    assert COUNTED["wcet"], "no longest path was found"
    return f"{COUNTED['wcet']} times"


def hold_damaged(originals, folder):
    rng = random.Random(int(os.environ.get("CT_SEED", "1")))
    rounds = 10 if LONG else 1
    notes = dict.fromkeys(KEYS, 0)
    count = unsound = 0
    for capture in originals:
        for _ in range(rounds):
            hows = ("bits", "cut", "dropped", "zeros", "doubled")
            for how in hows if tap.WHOLE or capture is originals[0] else hows[::2]:
                copy = damaged_copy(capture, folder, rng, how)
                try:
                    losses, code = hold(copy, ("auto",))
                except AssertionError as error:
                    kept = tempfile.mkdtemp(prefix="losses-")
                    shutil.copytree(copy.path, kept, dirs_exist_ok=True)
                    raise AssertionError(f"{copy.name}, kept in {kept}:\n{error}") from None
                count += 1
                unsound += code
                known = losses["gaps"] > losses["overflows"] or losses["bad_packets"] or losses["lost_bytes"]
                assert code == 1 or not known, f"{copy.name}: {losses}, exit code {code}"
                for key in KEYS:
                    notes[key] += losses[key]
    wanted = ("gaps", "contradictions", "bad_packets", "lost_bytes")
    assert all(notes[key] for key in wanted), f"not every kind of loss came: {notes}"
    return (f"{count} damaged copies, {unsound} with exit code 1: "
            + ", ".join(f"{k} {v}" for k, v in notes.items()))


def main():
    global SPEC
    work = pathlib.Path(tempfile.mkdtemp())
    SPEC = work / "none.tessla"
    SPEC.write_text("in gap: Events[Int]\nout gap\n")
    quickstart = Capture("quickstart", ROOT / "examples/quickstart")
    recorded = [c for c in (
        record(work / "ptm", "arm-linux-gnueabihf-gcc", "qemu-arm", "--protocol", "ptm", "--overflow", "700"),
        record(work / "etm4", "aarch64-linux-gnu-gcc", "qemu-aarch64", "--cycle-count", "--overflow", "700"),
        # where overflows are depends on the environment, and where they are many there may be no path
        record(work / "few", "aarch64-linux-gnu-gcc", "qemu-aarch64", "--cycle-count", "--overflow", "9000"),
        record(work / "ete", "aarch64-linux-gnu-gcc", "qemu-aarch64", "--protocol", "ete", "--framed",
               "--return-stack"),
    ) if c]
    no_corpus = None if corpus() else "there is no corpus"
    tap.case("overflows of a PTM are told by every command", None, lambda: hold_ptm(work / "made"))
    (work / "suppressed").mkdir()
    tap.case("so are errors of an STM, and data that an ETMv3 suppressed", None,
             lambda: hold_suppressed(work / "suppressed"))
    (work / "data").mkdir()
    tap.case("data trace of an ETMv4 is told by every command", None, lambda: hold_data_trace(work / "data"))
    tap.case("so is a trace with atoms of loads and stores", None, lambda: hold_data_atoms(work / "atoms"))
    tap.case("code without memory is told by every command", None, lambda: hold_no_memory(work / "half"))
    tap.case("perf.data: a new recording is no gap", no_corpus, hold_pieces)
    tap.case("the examples", None,
             lambda: hold_all([quickstart, Capture("raw", ROOT / "examples/raw/board.ini")]))
    tap.case("recorded programs with overflows", None if recorded else "nothing can be recorded here",
             lambda: hold_all(recorded))
    tap.case("wcet found a longest path in them",
             missing_parts(COMMAND).get("cbc") if recorded else "nothing can be recorded here", hold_wcet)
    # With CHECK=whole the plain build runs the whole corpus; else a part is enough.
    part = 1 if LONG or (tap.WHOLE and not tap.is_sanitized(COMMAND)) else 4
    tap.case("the corpus", no_corpus, lambda: hold_all(corpus()[::part]))
    some = [quickstart, *(recorded if tap.WHOLE else recorded[:1])]
    tap.case("damaged copies", None, lambda: hold_damaged(some, work / "copy"))
    shutil.rmtree(work)
    return tap.finish()


sys.exit(main())
