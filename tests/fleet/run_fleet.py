#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that captures divided among processes give the bytes of one process, whatever is killed, missing or
damaged. Prints TAP.

usage: run_fleet.py COMMAND [COMMAND_MPI MPIRUN]"""
import contextlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import captures

sys.path.insert(0, str(captures.ROOT / "tests" / "support"))
import small_elf  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND = str(pathlib.Path(sys.argv[1]).resolve())
MPI, MPIRUN = sys.argv[2:4] if len(sys.argv) > 3 and sys.argv[2] else (None, None)
# Watchpoints for captures that are decoded in parts: code of the example, and marks between its steps.
WATCHED = [word for place in ("start", "0x80560", "0x8053c", "exception", "context", "gap")
           for word in ("--at", place)]
LONG = os.environ.get("CT_LONG", "0") not in ("", "0")
SEED = int(os.environ.get("CT_SEED", "1"))
COUNT = int(os.environ.get("CT_COUNT", "20" if LONG else "9" if tap.WHOLE else "3"))
LEFT = 4 if tap.WHOLE else 2  # how often a killed job must have left parts, at least
GOOD, BAD = 18, 3
# Numbers of ranks, and bytes after which captures are cut.
CUTS = [(1, 9000), (2, 40000), (3, 40000), (2, 9000), (8, 9000)]
# Open MPI itself leaks memory, so leaks are not reported. After a rank has ended with an error, mpirun waits
# for a second before it kills the others, even if these have ended, too.
RANKS = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
         "OMPI_MCA_odls_base_sigkill_timeout": "0",
         "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
RAW = "[capture]\nfile = trace.bin\nframing = none\n\n[source itm]\nprotocol = itm\n"
SPEC = "in a: Events[Unit]\nout count(a) as n\n"


def run(*words, code=0, timeout=300, **more):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False,
                            timeout=timeout, **more)
    assert result.returncode == code, (words, result.returncode, result.stderr)
    return result


def ranks(count):
    return [MPIRUN, "--oversubscribe", "-n", count, MPI]


TRIES = 50  # at most, until a job is killed in time


def kill_all(process):
    """Kills all processes of a job that has a session of its own: also ranks, which mpirun puts into groups
    of their own."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(ProcessLookupError):
            if os.getsid(int(name)) == process.pid:
                os.kill(int(name), signal.SIGKILL)


def kill_one(process):
    """Kills the last rank of a job."""
    for name in sorted(filter(str.isdigit, os.listdir("/proc")), key=int, reverse=True):
        with contextlib.suppress(OSError):
            status = pathlib.Path(f"/proc/{name}/stat").read_text(encoding="utf-8")
            if int(status.rpartition(")")[2].split()[1]) == process.pid and \
                    os.readlink(f"/proc/{name}/exe") == str(pathlib.Path(MPI).resolve()):
                os.kill(int(name), signal.SIGKILL)
                return


def kill_in_time(words, state, kill, written="*.piece", more=1):
    """Starts a job, and kills it when it has written that many files more. If it ends before that, its
    files are removed and it is started again, so the job was killed when this returns."""
    for _ in range(TRIES):
        before = len(list(state.glob(written)))
        with subprocess.Popen([str(word) for word in words], stderr=subprocess.DEVNULL, env=RANKS,
                              start_new_session=True) as process:
            while process.poll() is None and len(list(state.glob(written))) < before + more:
                time.sleep(0.0005)
            kill(process)
            try:
                code = process.wait(30)
            except subprocess.TimeoutExpired:  # mpirun itself may wait forever for a rank that died early
                kill_all(process)
                code = process.wait()
        if code < 0 or code > 128:
            return
        assert code in (0, 1), (words, code)
        more = 1
        shutil.rmtree(state, ignore_errors=True)
    raise AssertionError(f"the job ended {TRIES} times before it could be killed: {words}")


def without_failures(path):
    """Returns the lines of a result without those about failures."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.split(" ")[0] not in ("failed", "failure", "end")]


class Fleet:
    """Captures, their manifest, and what 'coretap timing' finds in each of them."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.captures = captures.make(self.folder / "captures", GOOD, BAD)
        self.manifest = self.folder / "week.jsonl"
        run(COMMAND, "manifest", self.captures, "-o", self.manifest)
        entries = [json.loads(line) for line in self.manifest.read_text(encoding="utf-8").splitlines()]
        assert [entry["path"] for entry in entries] == \
            [str(self.captures / f"{i:04}") for i in range(GOOD + BAD)], entries
        # One capture is removed and one is changed after the manifest was made.
        shutil.rmtree(self.captures / "0003")
        (self.captures / "0005" / "note").write_text("x\n", encoding="utf-8")
        self.failed = BAD + 2
        self.fine = [entry["path"] for entry in entries if self.reads(entry["path"])]

    def reads(self, path):
        return int(path[-4:]) < GOOD and path[-4:] not in ("0003", "0005")

    def path(self, name):
        return self.folder / name

    def job(self, name, *more):
        return ["timing", "--manifest", self.manifest, "-o", self.path(name), *more]


def manifest_lists(fleet):
    entries = [json.loads(line) for line in fleet.manifest.read_text(encoding="utf-8").splitlines()]
    for entry in entries:
        assert set(entry) == {"path", "size", "sha256", "build_ids", "machine", "time", "test"}, entry
        assert len(entry["sha256"]) == 64 and entry["size"] > 0
    named = run(COMMAND, "manifest", "--machine", "phone", "--test", "t1", captures.ROOT / "examples/raw")
    assert {(entry["machine"], entry["test"]) for entry in map(json.loads, named.stdout.splitlines())} == \
        {("phone", "t1")}
    twice = run(COMMAND, "manifest", fleet.captures / "0000", fleet.captures / "0000")
    assert len(twice.stdout.splitlines()) == 1 and "same contents" in twice.stderr
    assert ": 1 capture of " in twice.stderr and ", 1 other file " in twice.stderr, twice.stderr
    odd = fleet.path("odd")
    shutil.copytree(os.fsencode(fleet.captures / "0000"), os.fsencode(odd) + b"/a\xff")
    shutil.copytree(fleet.captures / "0001", odd / "b")
    named = run(COMMAND, "manifest", odd, code=1)
    assert [json.loads(line)["path"] for line in named.stdout.splitlines()] == [str(odd / "b")], named
    assert f"{odd}/a\\xff: its name is not valid UTF-8" in named.stderr, named.stderr
    assert "1 of 2 captures are not listed" in named.stderr, named.stderr
    samples = fleet.path("samples")
    shutil.copytree(fleet.captures / "0001", samples / "a")
    (samples / "perf.data").write_bytes(captures.samples_alone())
    named = run(COMMAND, "manifest", samples)
    assert [json.loads(line)["path"] for line in named.stdout.splitlines()] == [str(samples / "a")], named
    why = "is not listed: the perf.data file has no hardware trace"
    assert f"{samples}/perf.data: {why}" in named.stderr, named
    empty = run(COMMAND, "manifest", captures.ROOT / "docs", code=1)
    assert "no capture was found" in empty.stderr
    (samples / "b.data").write_bytes(b"")
    (samples / "c.data.gz").write_bytes(b"\x1f\x8b\x08\x00")
    (samples / "d.data").write_bytes(b"2ELIFREP")
    named = run(COMMAND, "manifest", samples)
    assert [json.loads(line)["path"] for line in named.stdout.splitlines()] == \
        [str(samples / "a"), str(samples / "d.data")], named
    assert "2 of the other files are empty or packed" in named.stderr, named


def copies_count_once(fleet):
    """Checks that a copy of a trace with another name has the same contents."""
    folder, output = fleet.path("copies"), fleet.path("copies.data")
    for name in ("a", "b"):
        (folder / name).mkdir(parents=True)
        shutil.copy(fleet.captures / "0000/trace.bin", folder / name)
        (folder / name / f"{name}.ini").write_text(RAW, encoding="utf-8")
    first, second = folder / "a/a.ini", folder / "b/b.ini"
    said = run(COMMAND, "manifest", folder).stderr
    assert f"{second}: is not listed: has the same contents as {first}" in said, said
    said = run(COMMAND, "map", "stats", first, second, "-o", output, code=2).stderr
    assert "count twice" in said, said


def manifest_of_an_editor(fleet):
    """Checks that a manifest counts as it stands when an editor has added a byte order mark, other line ends
    or empty lines."""
    good, manifest, output = fleet.manifest.read_bytes().splitlines()[0], fleet.path("edited.jsonl"), "edited"
    run(COMMAND, "map", "stats", json.loads(good)["path"], "-o", fleet.path("named.data"))
    for text in (b"\xef\xbb\xbf" + good, good + b"\r\n", b"\r\n" + good + b"\n \t\n\n",
                 b"\xef\xbb\xbf\r\n" + good + b"\r\n\r\n"):
        manifest.write_bytes(text)
        run(COMMAND, "map", "stats", "--manifest", manifest, "-o", fleet.path(output))
        assert fleet.path(output).read_bytes() == fleet.path("named.data").read_bytes(), text
    manifest.write_bytes(b"\xef\xbb\xbf" + good + b"\n\xef\xbb\xbf\n")
    said = run(COMMAND, "map", "stats", "--manifest", manifest, "-o", fleet.path(output), code=2).stderr
    assert "edited.jsonl:2: the line is not a JSON object" in said, said


def manifest_goes_on(fleet):
    """Checks that what cannot be read is reported, that the rest is listed, and that a circle of links
    ends."""
    farm = fleet.path("farm")
    for number, name in enumerate(("cut", "linked", "unread")):
        shutil.copytree(fleet.captures / f"{number:04}", farm / name)
    for number in range(9):  # more paths than can be visited
        (farm / f"loop{number}").symlink_to(".")
        (farm / "linked" / f"loop{number}").symlink_to(".")
    (farm / "linked" / "nothing").symlink_to("/nowhere")
    (farm / "nothing").symlink_to("/nowhere")
    shutil.copytree(captures.ROOT / "examples/raw", farm / "raw")
    (farm / "raw/board.bin").unlink()  # the capture counts as one that cannot be read
    listed = ["cut", "linked", "raw/board.ini", "raw/itm.ini"]

    def paths(code):
        found = run(COMMAND, "manifest", farm, code=code, timeout=300)
        return [str(pathlib.Path(json.loads(line)["path"]).relative_to(farm))
                for line in found.stdout.splitlines()], found.stderr

    (farm / "unread" / "more").symlink_to("/proc/self/mem")  # even root cannot read it
    (farm / "perf.data").symlink_to("/proc/self/mem")
    deep = farm / "/".join(70 * "d")
    deep.mkdir(parents=True)
    found, said = paths(1)
    assert found == listed, found
    for name in ("unread", "perf.data", "/".join(64 * "d")):
        assert f"{farm / name}: is not listed: " in said, said
    assert "3 folders and files could not be read" in said, said
    for name in ("unread", "d"):
        shutil.rmtree(farm / name)
    (farm / "perf.data").unlink()
    assert paths(0)[0] == listed
    output = fleet.path("farm.data")
    said = run(COMMAND, "map", "stats", farm / "linked", farm / "raw/board.ini", "-o", output, code=1).stderr
    assert "1 capture could not be read" in said and "board.bin: cannot be read: No such file" in said, said


def map_adds_up(fleet):
    result = run(COMMAND, "map", *fleet.job("map.data"), code=1)
    assert f"{fleet.failed} captures could not be read" in result.stderr, result.stderr
    assert not fleet.path("map.data.state").exists()
    direct = run(COMMAND, "timing", "--format", "data", *fleet.fine, code=1).stdout
    fleet.path("direct.data").write_text(direct, encoding="utf-8")
    assert without_failures(fleet.path("map.data")) == without_failures(fleet.path("direct.data"))
    failures = [line for line in fleet.path("map.data").read_text(encoding="utf-8").splitlines()
                if line.startswith("failure ")]
    assert len(failures) == fleet.failed
    assert any("0003: " in line and "cannot be found" in line for line in failures), failures
    assert any("0005: " in line and "(sha256)" in line for line in failures), failures
    shown = run(COMMAND, "timing", fleet.path("map.data"), code=1)
    assert f"{fleet.failed} captures could not be read" in shown.stderr
    assert f"failed={fleet.failed}" in shown.stdout


def parts_add_up(fleet):
    pieces = []
    for part in range(1, 4):
        pieces.append(fleet.path(f"part{part}.data"))
        words = [COMMAND, "map", *map(str, fleet.job(pieces[-1].name)), "--part", f"{part}/3"]
        result = subprocess.run(words, capture_output=True, text=True, check=False)
        assert result.returncode in (0, 1), result.stderr
    run(COMMAND, "merge", *pieces, "-o", fleet.path("parts.data"))
    assert fleet.path("parts.data").read_bytes() == fleet.path("map.data").read_bytes()


def every_command(fleet):
    spec = fleet.path("count.tessla")
    spec.write_text(SPEC, encoding="utf-8")
    for words in (["stats"], ["events"], ["watch", "--at", "0x8000"], ["monitor", "--spec", spec, "--bind",
                                                                        "a=0x8000"]):
        whole = fleet.path(f"{words[0]}.data")
        result = run(COMMAND, "map", *words, "--manifest", fleet.manifest, "-o", whole, code=1)
        assert whole.read_bytes().startswith(b"coretap-"), result.stderr
        assert f"{fleet.failed} captures could not be read" in result.stderr
        single = [words[0], "--format=data", *words[1:]] if words[0] not in ("stats", "events") else \
            ["merge", "--kind", {"stats": "statistics", "events": "events"}[words[0]]]
        direct = subprocess.run([COMMAND, *map(str, single), *fleet.fine], capture_output=True, text=True,
                                check=False)
        fleet.path("one.data").write_text(direct.stdout, encoding="utf-8")
        assert without_failures(whole) == without_failures(fleet.path("one.data")), words


def map_is_killed(fleet):
    """Checks that a job that is killed at random moments and started again counts everything once."""
    rng = random.Random(SEED)
    state = fleet.path("state")
    job = [COMMAND, "map", *map(str, fleet.job("killed.data", "--state", state, "--resume"))]
    for _ in range(COUNT):
        how = rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        kill_in_time(job, state, lambda process, how=how: process.send_signal(how), more=rng.randrange(4))
    run(*job, code=1)
    assert fleet.path("killed.data").read_bytes() == fleet.path("map.data").read_bytes()


def pieces_stay(fleet):
    """Checks that pieces are used again for the same captures, command and options only."""
    state = fleet.path("state")
    again = run(COMMAND, "map", *fleet.job("again.data", "--state", state), code=2)
    assert "--resume" in again.stderr
    before = {file.name: file.stat().st_mtime_ns for file in state.iterdir()}
    assert len(before) == len(fleet.fine), f"something is left of what was killed: {sorted(before)}"
    run(COMMAND, "map", *fleet.job("again.data", "--state", state, "--resume", "--threads", 2), code=1)
    assert {file.name: file.stat().st_mtime_ns for file in state.iterdir()} == before
    assert fleet.path("again.data").read_bytes() == fleet.path("map.data").read_bytes()
    run(COMMAND, "map", *fleet.job("other.data", "--state", state, "--resume", "--core", "0"), code=1)
    assert len(list(state.iterdir())) > len(before), "another option makes other pieces"
    piece = state / sorted(before)[0]
    whole = piece.read_bytes()
    for left in (whole[:-8], b"", bytes(len(whole)), whole[:100] + bytes(len(whole) - 100)):
        piece.write_bytes(left)  # as a power failure may leave it
        cut = run(COMMAND, "map", *fleet.job("again.data", "--state", state, "--resume"), code=1)
        assert "is processed again" in cut.stderr, cut.stderr
        assert fleet.path("again.data").read_bytes() == fleet.path("map.data").read_bytes()
        assert piece.read_bytes() == whole
    piece.unlink()
    os.mkfifo(piece)  # a pipe without a writer
    other = run(COMMAND, "map", *fleet.job("again.data", "--state", state, "--resume"), code=2, timeout=300)
    assert "not a regular file" in other.stderr, other.stderr
    piece.unlink()
    piece.write_bytes(whole)


def bad_input(fleet):
    def refused(text, *words, name="bad.jsonl"):
        fleet.path(name).write_text(text, encoding="utf-8")
        output = fleet.path("bad.data")
        result = run(COMMAND, "map", "timing", "--manifest", fleet.path(name), "-o", output, *words, code=2)
        assert not output.exists()
        return result.stderr

    lines = fleet.manifest.read_text(encoding="utf-8").splitlines(keepends=True)
    assert "bad.jsonl:2: " in refused(lines[0] + "{") and "not a JSON" in refused("7\n")
    assert "would count twice" in refused(lines[0] + lines[1] + lines[0])
    assert '"sha256"' in refused('{"path": "x", "size": 1, "sha256": "12"}\n')
    assert '"size"' in refused('{"path": "x", "size": -1, "sha256": "' + 64 * "0" + '"}\n')
    assert '"path"' in refused('{"size": 1}\n') and "no capture" in refused("")
    assert "--max-failures" in refused("".join(lines), "--max-failures", 1, "--state", fleet.path("few"))
    assert "did you mean" in refused(lines[0], "--funtion", "main")
    assert "--format data only" in refused(lines[0], "--format", "json")
    assert "not by both" in refused(lines[0], fleet.captures / "0000")
    no_program = refused("".join(lines), "--elf", fleet.manifest, "--state", fleet.path("few"))
    assert "neither an ELF file" in no_program
    module = fleet.path("module.ko")  # only a capture tells where it was loaded
    module.write_bytes(b"no module")
    single = run(COMMAND, "map", "timing", fleet.captures / "0000", "--elf", module, "-o",
                 fleet.path("module.data"), code=1)
    assert "map: 1 capture could not be read" in single.stderr, single.stderr
    assert "K/N" in refused(lines[0], "--part", "4/3")
    for folder in (fleet.manifest, fleet.path("none") / "state"):
        said = refused(lines[0], "--state", folder)
        assert f"{folder}: the folder for pieces cannot be created: No" in said, said
        assert "; the job does not begin; name a folder that can be written with --state" in said, said
    for folder in (fleet.manifest, fleet.path("none") / "cache"):
        said = refused(lines[0], "--cache", folder)
        assert f"{folder}: the folder of the cache cannot be used: No" in said, said
    for words in (["timing", fleet.captures / "0000"], ["timing", "--manifest", fleet.manifest]):
        assert "there is no folder for the pieces" in run(COMMAND, "map", *words, code=2).stderr


def bad_captures(fleet):
    """Checks that an entry of a manifest that is no capture is reported with its reason, and that the rest
    counts."""
    manifest, output, pipe = fleet.path("odd.jsonl"), fleet.path("odd.data"), fleet.path("pipe")
    good, other = map(json.loads, fleet.manifest.read_text(encoding="utf-8").splitlines()[:2])
    os.mkfifo(pipe)
    long = fleet.path("/".join(5 * [180 * "x"]))
    shutil.copytree(other["path"], long)
    reasons = {"/dev/zero": "is a pipe or a device", str(pipe): "is a pipe or a device",
               "/nowhere/a\nb": "/nowhere/a\\x0ab: cannot be found", str(fleet.manifest): "it has ",
               str(fleet.folder): "it has ", str(long): "x: it has "}
    entries = [good] + [{**other, "path": path, "sha256": f"{number:064}", "size": 1 + (number == 2)}
                        for number, path in enumerate(reasons)]
    manifest.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    for options in ([], ["--trust"]):
        run(COMMAND, "map", "stats", "--manifest", manifest, "-o", output, *options, code=1, timeout=300)
        lines = output.read_text(encoding="utf-8").splitlines()
        failures = [line for line in lines if line.startswith("failure ")]
        assert "captures 1" in lines and len(failures) == len(reasons), lines
        for path, reason in reasons.items():
            name = path.split("\n", maxsplit=1)[0][:400]
            assert any(name in line and reason in line for line in failures), (name, failures)
    manifest.write_text("".join(json.dumps({**good, "sha256": f"{number:064}"}) + "\n" for number in (1, 2)),
                        encoding="utf-8")
    said = run(COMMAND, "map", "stats", "--trust", "--manifest", manifest, "-o", output, code=2).stderr
    assert f"{good['path']}: is in the manifest twice" in said, said
    spec = fleet.path("two-lines.tessla")
    spec.write_text(SPEC, encoding="utf-8")
    said = run(COMMAND, "map", "monitor", "--spec", spec, "--bind", "a=nothing", good["path"], "-o", output,
               code=1).stderr  # the message has three lines; the last one points at a letter
    assert "watchpoint 'nothing'" in said and "^" not in said, said


def other_versions(fleet):
    """Checks that pieces of another version or of other sources of coretap are not used, and stay as they
    are."""
    state, output = fleet.path("versions"), fleet.path("versions.data")
    job = ["stats", fleet.captures / "0000", "-o", output, "--state", state, "--resume"]
    run(COMMAND, "map", *job)
    piece, = state.iterdir()
    key, version, _ = piece.name.split("-")
    for name in (f"{key}-0.0.9.piece", f"{key}.piece", f"{key}-0.0.9.piece.shards", f"{key}-{version}.piece",
                 f"{key}-{version}-0123456789ab.piece"):
        piece = piece.rename(state / name)
        for program in [[COMMAND, "map"], *([ranks(2)] if MPI else [])]:
            said = run(*program, *job, code=2, env=RANKS).stderr
            assert f"{state}: the folder has pieces of another version of coretap ({name})" in said, said
        assert list(state.iterdir()) == [piece]


def named_captures_are_read_once(fleet):
    """Checks that captures that no manifest lists are read for their digest only when another one has the
    same size."""
    large, output = fleet.path("large"), fleet.path("large.data")
    shutil.copytree(fleet.captures / "0000", large)
    trace = large / "trace.bin"
    trace.write_bytes(trace.read_bytes() * 2000)
    words = [COMMAND, "map", "stats", "-q", str(large), str(fleet.captures / "0001"), "-o", str(output)]
    with subprocess.Popen(words) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        counts = dict(line.split(": ") for line in
                      pathlib.Path(f"/proc/{process.pid}/io").read_text(encoding="ascii").splitlines())
    assert process.returncode in (0, 1) and output.exists(), process.returncode
    assert int(counts["rchar"]) < trace.stat().st_size, (counts, trace.stat().st_size)
    shutil.copytree(large, fleet.path("copy"))
    said = run(*words, fleet.path("copy"), code=2).stderr
    assert "has the same contents as" in said and "count twice" in said, said


def trust_looks_at_sizes(fleet):
    """Checks that a capture whose size differs from the manifest is not counted, without reading it."""
    capture, manifest, output = fleet.path("shrinks"), fleet.path("shrinks.jsonl"), fleet.path("shrinks.data")
    shutil.copytree(fleet.captures / "0000", capture)
    trace = capture / "trace.bin"
    trace.write_bytes(trace.read_bytes() * 30)
    run(COMMAND, "manifest", capture, "-o", manifest)
    trace.write_bytes(trace.read_bytes()[:captures.FRAME * 100])
    job = ["stats", "--trust", "--manifest", manifest, "-o", output]
    jobs = [[COMMAND, "map", *job]] + ([[*ranks(2), *job, "--cut", 9000]] if MPI else [])
    for words in jobs:
        said = run(*words, code=1, env=RANKS).stderr
        assert f"{capture}: it has " in said and "but the manifest says " in said, said
    (capture / "snapshot.ini").unlink()
    assert "format is no longer recognised" in run(*jobs[0], code=1).stderr


def missing_files_are_named(fleet):
    """Checks that the failure of a capture names the file that it lost since the manifest was written. One of
    the captures is in a folder with the name of a snapshot's description."""
    folder, manifest, output = fleet.path("lost"), fleet.path("lost.jsonl"), fleet.path("lost.data")
    raw = folder / "raw"
    raw.mkdir(parents=True)
    shutil.copy(fleet.captures / "0000/trace.bin", raw / "trace.bin")
    (raw / "trace.ini").write_text(RAW, encoding="utf-8")
    for name in ("trace.bin", "cpu_0.ini", "snapshot.ini"):
        shutil.copytree(fleet.captures / "0000", folder / name)
        (folder / name / "note").write_text(name, encoding="utf-8")
    run(COMMAND, "manifest", folder, "-o", manifest)
    lost = [raw / "trace.bin", folder / "trace.bin/trace.bin", folder / "cpu_0.ini/cpu_0.ini",
            folder / "snapshot.ini/trace.bin"]
    for file in lost:
        file.unlink()
    for options in ([], ["--trust"]):
        said = run(COMMAND, "map", "stats", "--manifest", manifest, "-o", output, *options, code=1).stderr
        for file in lost:
            assert f"{file}: cannot be read: No such file" in said, (file, said)
        assert "but the manifest says" not in said, said


def one_file_counts_once(fleet):
    """Checks that one file with two names is refused where contents are not compared, and that captures that
    share a file are not."""
    folder, manifest, output = fleet.path("names"), fleet.path("names.jsonl"), fleet.path("names.data")
    first, second, linked = (folder / name for name in ("first", "second", "linked"))
    for number, raw in enumerate((first, second)):
        raw.mkdir(parents=True)
        (raw / "trace.bin").write_bytes(bytes([number]) * 4096)
    (first / "trace.ini").write_text(RAW, encoding="utf-8")
    os.link(first / "trace.ini", second / "trace.ini")
    linked.symlink_to(first)
    snapshot = fleet.captures / "0000"

    def trusted(code, *paths):
        size = 4096 + (first / "trace.ini").stat().st_size
        if snapshot in paths:
            size = sum(file.stat().st_size for file in snapshot.iterdir())
        entries = [{"path": str(path), "size": size, "sha256": f"{number:064}"}
                   for number, path in enumerate(paths)]
        manifest.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
        return run(COMMAND, "map", "stats", "--trust", "--manifest", manifest, "-o", output, code=code).stderr

    for one, other in ((first / "trace.ini", linked / "trace.ini"), (snapshot, snapshot / "snapshot.ini")):
        said = trusted(2, one, other)
        assert "is in the manifest twice, also as " in said and str(one) in said and str(other) in said, said
    assert "of 2 captures" in trusted(1, first / "trace.ini", second / "trace.ini")


def one_capture_is_looked_at(fleet):
    """Checks the piece of a single capture with --trust. Its name comes from the state of the capture's files
    instead of their bytes, which are not read. It is not used after the files were written again, even with
    an old modification time."""
    capture, manifest, state = fleet.path("looks"), fleet.path("looks.jsonl"), fleet.path("looks-state")
    shutil.copytree(fleet.captures / "0000", capture)
    run(COMMAND, "manifest", capture, "-o", manifest)
    jobs = [[*program, "stats", "--trust"] for program in ([[COMMAND, "map"]] + ([ranks(2)] if MPI else []))]
    for number, job in enumerate(jobs):
        kept = [*job, capture, "--resume", "--state", state, "-o"]
        run(*kept, fleet.path("looks.data"), env=RANKS)
        assert len(list(state.iterdir())) == 1 + 2 * number, list(state.iterdir())
        run(*job, "--manifest", manifest, "-o", fleet.path("listed.data"), env=RANKS)
        assert fleet.path("looks.data").read_bytes() == fleet.path("listed.data").read_bytes()
        trace = capture / "trace.bin"
        whole, times = trace.read_bytes(), trace.stat()
        trace.write_bytes(whole[:-captures.FRAME * 100] + bytes(captures.FRAME * 100))
        os.utime(trace, ns=(times.st_atime_ns, times.st_mtime_ns))
        run(*kept, fleet.path("looks.data"), code=1, env=RANKS)
        run(*job, "--manifest", manifest, "-o", fleet.path("listed.data"), code=1, env=RANKS)
        assert fleet.path("looks.data").read_bytes() == fleet.path("listed.data").read_bytes()
        trace.write_bytes(whole)
    run(*jobs[0], "--manifest", manifest, "--state", state, "--resume", "-o", fleet.path("looks.data"))
    assert len(list(state.iterdir())) == 1 + 2 * len(jobs), "a piece of a manifest is known by contents"


def with_a_child(fleet, number, *options):
    """Returns what `map` says when the process of its only capture gets a signal. Tries again when that
    process ended before the signal came."""
    capture = fleet.path(f"stuck-{number.name}")
    shutil.copytree(fleet.captures / "0000", capture)
    trace = capture / "trace.bin"
    trace.write_bytes(trace.read_bytes() * 8000)
    words = [COMMAND, "map", "timing", *options, "-o", str(fleet.path("stuck.data")), str(capture)]
    for _ in range(10):
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            child = ""
            while not child and process.poll() is None:
                child = children.read_text(encoding="utf-8")
            if child:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(child), number)
            said = process.communicate(timeout=300)[1]
        if process.returncode:
            break
    assert process.returncode == 1, said
    return said


def one_output_is_of_one_job(fleet):
    """Checks that a second job with the output of a running job is refused, and changes nothing of the first.
    The lock ends with its process, however that ends."""
    output, lock = fleet.path("busy.data"), fleet.path("busy.data.state") / "lock"
    capture, locks = fleet.path("busy"), pathlib.Path("/proc/locks")
    shutil.copytree(fleet.captures / "0000", capture)
    trace = capture / "trace.bin"
    trace.write_bytes(trace.read_bytes() * 8000)  # so that the job runs for a while
    words = [COMMAND, "map", "timing", str(capture), "-o", str(output), "--resume"]
    for ends in (signal.SIGKILL, signal.SIGCONT):
        with subprocess.Popen(words, stderr=subprocess.DEVNULL) as first:
            while f" {first.pid} " not in locks.read_text(encoding="utf-8") and first.poll() is None:
                pass
            first.send_signal(signal.SIGSTOP)
            try:
                for program in [[COMMAND, "map"], *([ranks(2)] if MPI else [])]:
                    said = run(*program, *words[2:], code=2, env=RANKS).stderr
                    assert f"{lock.parent}: another job is writing this output" in said, said
                    assert f"(process {first.pid})" in said, said
            finally:
                first.send_signal(ends)
        ended = ends == signal.SIGCONT
        assert first.returncode == (0 if ended else -signal.SIGKILL), first.returncode
        assert (output.exists(), lock.exists()) == (ended, not ended), list(fleet.folder.iterdir())
    output.unlink()
    run(*words)
    assert output.exists() and not lock.parent.exists()


def takes_too_long(fleet):
    """Stops a process, so that it never ends."""
    said = with_a_child(fleet, signal.SIGSTOP, "--timeout", "2")
    assert "took longer than 2 seconds" in said, said


def crashes(fleet):
    """Checks that a killed process is a failure of its capture only."""
    said = with_a_child(fleet, signal.SIGKILL)
    assert "was ended by signal 9" in said, said


def workers_are_killed(fleet):
    """Checks that when a process of many captures is killed only its current capture fails."""
    state, output = fleet.path("workers-state"), fleet.path("workers.data")
    job = [COMMAND, "map", *map(str, fleet.job(output.name, "--state", state, "--resume"))]
    rng = random.Random(SEED)
    killed = failed = 0
    for _ in range(COUNT):
        # LeakSanitizer would wait forever for its own child when that is killed.
        with subprocess.Popen(job, stderr=subprocess.DEVNULL, env=RANKS) as process:
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            while process.poll() is None:
                for child in children.read_text(encoding="utf-8").split():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(child), signal.SIGKILL)
                        killed += 1
                time.sleep(rng.uniform(0, 0.02))
        assert process.returncode == 1, process.returncode
        lines = output.read_text(encoding="utf-8").splitlines()
        said = {line.split(": ")[0]: line for line in lines if line.startswith("failure ")}
        ended = {name for name, line in said.items() if "was ended by signal 9" in line}
        lost = len(ended & {f"failure {path}" for path in fleet.fine})
        assert f"failed {len(said)}" in lines and len(said) == fleet.failed + lost, lines[:9]
        assert len(list(state.iterdir())) == len(fleet.fine) - lost, (lost, list(state.iterdir()))
        failed += len(ended)
        shutil.rmtree(state)
    run(*job, code=1)
    assert output.read_bytes() == fleet.path("map.data").read_bytes()
    assert failed, f"{killed} processes were killed, but none while it had a capture"
    return f"{killed} were killed, {failed} captures failed of it"


def disk_is_full(fleet):
    """Checks that a job whose folder of pieces cannot be written ends and names the folder."""
    def small():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    state = fleet.path("full")
    result = run(COMMAND, "map", *fleet.job("full.data", "--state", state), code=2, preexec_fn=small)
    assert "cannot be written" in result.stderr and str(state) in result.stderr, result.stderr
    assert not fleet.path("full.data").exists() and not list(state.iterdir())


# Runs a command with little space at $1, then again with more.
SMALL = """mount -t tmpfs -o size=$2 none "$1" || exit 9
folder=$1; shift 2
"$@"; echo "ended with $?" >&2
mount -o remount,size=64m "$folder"
exec "$@" --resume"""


def can_mount():
    words = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /mnt"]
    return shutil.which("unshare") and subprocess.run(words, capture_output=True, check=False).returncode == 0


def fill_disk(fleet, room, whole, *job):
    """Runs a job whose pieces have too little space, and again with more. Checks that the first run reports
    it, and that the second one finishes."""
    small, output = fleet.path("small-disk"), fleet.path("small.data")
    small.mkdir(exist_ok=True)
    result = subprocess.run(["unshare", "--mount", "sh", "-c", SMALL, "sh", small, room, *map(str, job), "-o",
                             output, "--state", small / "state"], capture_output=True, text=True, check=False,
                            timeout=300, env=RANKS)
    assert result.returncode in (0, 1) and "ended with 2" in result.stderr, result
    assert "No space left on device" in result.stderr and str(small / "state") in result.stderr, result.stderr
    assert "make room on its disk, and continue the job with --resume" in result.stderr, result.stderr
    assert output.read_bytes() == whole.read_bytes()
    output.unlink()


def disk_fills_up(fleet):
    """Fills a small file system with pieces: the job ends and names the folder, and later continues from its
    pieces."""
    job = ["timing", "--manifest", fleet.manifest]
    fill_disk(fleet, "16k", fleet.path("map.data"), COMMAND, "map", *job)
    if MPI:
        fill_disk(fleet, "16k", fleet.path("map.data"), *ranks(3), *job)


def disk_fills_up_with_parts(fleet):
    cut = ["--manifest", fleet.path("cut.jsonl"), "--cut", 5000]
    fill_disk(fleet, "24k", fleet.path("uncut-stats.data"), *ranks(2), "stats", *cut)


def ranks_agree(fleet):
    for count in tap.some((1, 2, 3, 8), 1, 3):
        result = run(*ranks(count), *fleet.job(f"ranks{count}.data"), code=1, env=RANKS)
        assert f"{fleet.failed} captures could not be read" in result.stderr, result.stderr
        assert fleet.path(f"ranks{count}.data").read_bytes() == fleet.path("map.data").read_bytes(), count
        assert not fleet.path(f"ranks{count}.data.state").exists()


def to_be_cut(folder):
    """Makes captures of 30 rounds of the example: whole ones, one with changed bytes, and one with missing
    frames."""
    rng = random.Random(SEED)
    for name in ("whole", "other", "changed", "lost"):
        capture = folder / name
        shutil.copytree(captures.ROOT / "examples/quickstart", capture, ignore=shutil.ignore_patterns("gen*"))
        (capture / "note").write_text(name, encoding="utf-8")
        trace = bytearray((capture / "trace.bin").read_bytes() * 30)
        if name == "changed":
            for _ in range(5):
                trace[rng.randrange(len(trace))] ^= 1 << rng.randrange(8)
        elif name == "lost":
            at = rng.randrange(len(trace))
            del trace[at:at + 100]
        (capture / "trace.bin").write_bytes(trace)
    return folder


def commands(fleet):
    """Returns all commands, with the options that they need."""
    spec, program = fleet.path("count.tessla"), fleet.path("program")
    code = (captures.ROOT / "examples/quickstart/firmware.bin").read_bytes()
    program.write_bytes(small_elf.make(code, 0x80000, [(b"start", 0x80000, len(code))]))
    elf = ["--elf", program]
    return [["cover", *elf], ["stats"], ["events"], ["timing"], ["profile", *elf],
            ["watch", *elf, *WATCHED], ["monitor", "--spec", spec, "--bind", "a=0x8000"]]


def cuts_agree(fleet):
    """Checks that captures decoded in parts give the same bytes as captures decoded at once."""
    manifest = fleet.path("cut.jsonl")
    run(COMMAND, "manifest", to_be_cut(fleet.path("to-be-cut")), "-o", manifest)
    said = ""
    # The plain build runs all of them, so a few are enough under sanitizers.
    few = tap.is_sanitized(COMMAND) and not LONG
    for number, words in enumerate(commands(fleet)):
        if few and words[0] in ("events", "timing", "monitor"):
            continue  # they are not cut, and other tests run them
        whole = fleet.path(f"uncut-{words[0]}.data")
        code = subprocess.run([COMMAND, "map", *map(str, words), "--manifest", manifest, "-o", whole],
                              stderr=subprocess.DEVNULL, check=False).returncode
        assert code in (0, 1), words
        is_cut = words[0] in ("cover", "stats", "watch")
        tries = (CUTS if LONG else CUTS[::2]) if is_cut else [(2, 9000)]
        if few or not tap.WHOLE:
            tries = [tries[number % len(tries)]]
        for count, cut in tries:
            output = fleet.path(f"cut-{words[0]}-{count}-{cut}.data")
            result = run(*ranks(count), *words, "--manifest", manifest, "-o", output, "--cut", cut, code=code,
                         env=RANKS)
            assert output.read_bytes() == whole.read_bytes(), (words, count, cut)
            assert not fleet.path(f"{output.name}.state").exists()
            assert ("of the captures were decoded in parts" in result.stderr) == is_cut, result.stderr
            said += result.stderr
    assert "the capture is decoded again as a whole" in said, said


def cuts_are_killed(fleet):
    """Checks that a killed job whose captures are cut continues from its parts, also with other numbers of
    ranks and other cuts."""
    rng = random.Random(SEED)
    state = fleet.path("cut-state")
    job = ["stats", "--manifest", fleet.path("cut.jsonl"), "-o", fleet.path("cut-killed.data"), "--state",
           state, "--resume"]
    left = tries = 0
    while left < max(LEFT, COUNT // 3):
        tries += 1
        assert tries <= TRIES, f"parts were left only {left} times"
        words = [*ranks(rng.choice([1, 2, 3])), *job, "--cut", rng.choice([5000, 20000])]
        shutil.rmtree(state, ignore_errors=True)
        kill_in_time(words, state, kill_all, "*.shards/*", rng.randrange(1, 4))
        left += any(state.glob("*.shards/*"))
    for part in state.glob("*.shards/*"):
        part.write_bytes(part.read_bytes()[:-8])  # a damaged part is not used
    result = run(*ranks(2), *job, "--cut", 5000, code=1, env=RANKS)
    assert fleet.path("cut-killed.data").read_bytes() == fleet.path("uncut-stats.data").read_bytes()
    assert not list(state.glob("*.shards")), result.stderr
    # As if the job was killed after writing the piece and before removing its parts.
    for piece in list(state.glob("*.piece")):
        (state / f"{piece.name}.shards").mkdir()
        (state / f"{piece.name}.shards" / "1-2").write_bytes(b"")
    run(*ranks(2), *job, "--cut", 5000, code=1, env=RANKS)
    assert not list(state.glob("*.shards"))


def one_capture_alone(fleet):
    """Checks a job of one capture, whose parts rank 0 joins into the result. Killed at any moment, the job
    continues from the parts."""
    rng = random.Random(SEED)
    manifest, output = fleet.path("alone.jsonl"), fleet.path("alone.data")
    run(COMMAND, "manifest", fleet.path("to-be-cut") / "whole", "-o", manifest)
    run(COMMAND, "map", "stats", "--manifest", manifest, "-o", output)
    whole = output.read_bytes()
    for count, cut in tap.some(CUTS, 2, 4):
        words = [*ranks(count), "stats", "--manifest", manifest, "-o", output, "--cut", cut]
        output.unlink()
        said = run(*words, env=RANKS).stderr
        assert output.read_bytes() == whole and "1 of the captures was decoded in parts" in said, said
        assert not fleet.path("alone.data.state").exists()
    again, state, left, tries = [*words, "--resume"], fleet.path("alone.data.state"), 0, 0
    while left < max(LEFT, COUNT // 2):
        tries += 1
        assert tries <= TRIES, f"parts were left only {left} times"
        kill_in_time(again, state, kill_all, "*.shards/*", rng.randrange(1, 3))
        left += any(state.glob("*.shards/*"))
    run(*again, env=RANKS)
    assert output.read_bytes() == whole and not fleet.path("alone.data.state").exists()


def parts_lose_their_folder(fleet):
    """Checks that the folder of parts is made again when it is removed, as a process of a killed job may
    do, also while a part is written."""
    state, output = fleet.path("lost-folder"), fleet.path("lost-folder.data")
    words = [*ranks(2), "stats", "--manifest", fleet.path("cut.jsonl"), "-o", output, "--state", state,
             "--cut", 5000]
    gone = 0
    for _ in range(TRIES):
        with subprocess.Popen([str(word) for word in words], stderr=subprocess.PIPE, text=True,
                              env=RANKS) as job:
            while gone < 4 and job.poll() is None:
                for folder in state.glob("*.shards"):
                    with contextlib.suppress(OSError):  # the folder already contains a part
                        folder.rmdir()
                        gone += 1
            said = job.communicate(timeout=300)[1]
        assert job.returncode == 1, said
        assert output.read_bytes() == fleet.path("uncut-stats.data").read_bytes(), said
        if gone:
            return f"removed {gone} times"
        shutil.rmtree(state)
    raise AssertionError("no folder was removed in time")


def ranks_are_killed(fleet):
    """Kills one rank, or all of them."""
    rng = random.Random(SEED)
    state = fleet.path("ranks-state")
    words = [*ranks(3), *fleet.job("ranks-killed.data", "--state", state, "--resume")]
    for number in range(max(2, COUNT // 3)):
        kill_in_time(words, state, kill_one if number % 2 else kill_all, more=rng.randrange(3))
    run(*words, code=1, env=RANKS)
    assert fleet.path("ranks-killed.data").read_bytes() == fleet.path("map.data").read_bytes()


def ranks_refuse(fleet):
    few = run(*ranks(2), *fleet.job("few.data", "--max-failures", 1, "--state", fleet.path("ranks-few")),
              code=2, env=RANKS)
    assert few.stderr.count("--max-failures") == 1, few.stderr
    assert few.stderr.count(f"coretap:   {fleet.captures}/") > 1, few.stderr  # the captures that failed
    wrong = run(*ranks(2), "timing", "--manifest", fleet.path("nothing.jsonl"), "-o", fleet.path("x"), code=2,
                env=RANKS)
    assert "nothing.jsonl" in wrong.stderr
    other = fleet.path("other.jsonl")
    other.write_text("".join(fleet.manifest.read_text(encoding="utf-8").splitlines(keepends=True)[:4]),
                     encoding="utf-8")
    apart = run(MPIRUN, "--oversubscribe", "-n", 1, MPI, *fleet.job("apart.data"), ":", "-n", 1, MPI,
                "timing", "--manifest", other, "-o", fleet.path("apart.data"), code=2, env=RANKS)
    assert "rank 1" in apart.stderr and "another manifest" in apart.stderr, apart.stderr
    apart = run(MPIRUN, "--oversubscribe", "-n", 1, MPI, *fleet.job("apart.data"), ":", "-n", 1, MPI,
                *fleet.job("apart.data", "--core", "0"), code=2, env=RANKS)
    assert "another command line" in apart.stderr, apart.stderr
    assert not fleet.path("apart.data.state").exists()
    alone = fleet.path("alone") / "coretap-mpi"  # without coretap beside it, because it does not need it
    alone.parent.mkdir()
    shutil.copy(MPI, alone)
    run(*ranks(1), *fleet.job("alone.data"), ":", "-n", 1, alone, *fleet.job("alone.data"), code=1, env=RANKS)
    assert fleet.path("alone.data").read_bytes() == fleet.path("map.data").read_bytes()
    shown = run(*ranks(2), "--help", env=RANKS)
    assert shown.stdout.count("Usage: coretap-mpi ") == 1, shown.stdout
    assert run(*ranks(2), "--version", env=RANKS).stdout.count("coretap-mpi ") == 1
    for option in ("--help", "--version"):  # without MPI, here one that cannot begin
        assert "coretap-mpi " in run(MPI, option, env={**RANKS, "OMPI_MCA_pml": "none"}).stdout
    assert "Try 'coretap-mpi --help'" in run(*ranks(1), "timing", fleet.captures / "0000", code=2,
                                              env=RANKS).stderr


def ranks_show_progress(fleet):
    """Checks that progress is shown when mpirun's standard error is a terminal, although the ranks write to a
    pipe."""
    for words, wanted in (([], True), (["--quiet"], False)):
        mine, theirs = os.openpty()
        job = fleet.job(f"shown-{wanted}.data", *words)
        done = subprocess.run([str(word) for word in [*ranks(2), *job]], stderr=theirs, check=False,
                              timeout=300, env=RANKS)
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # everything was read
            while chunk := os.read(mine, 65536):
                shown += chunk
        os.close(mine)
        assert done.returncode == 1, shown
        assert (f"\r0 of {GOOD + BAD} captures, 0.0 of ".encode() in shown) == wanted, shown
        assert (b"\x1b[K" in shown) == wanted, shown


def captures_are_read_once(fleet):
    """Checks that only rank 0 reads named captures for their digests. One rank has a copy with other bytes,
    which --trust does not compare; if that rank had read them it would have refused the job."""
    output, odd = fleet.path("once.data"), os.fsdecode(b"a\xff")  # a name that is not valid UTF-8
    for number, name in enumerate(("first", "second")):
        shutil.copytree(fleet.captures / "0000", fleet.path(name) / "capture")
        shutil.copytree(fleet.captures / "0001", fleet.path(name) / odd)
        (fleet.path(name) / "capture" / "note").write_text(f"{number}", encoding="utf-8")
    job = ["stats", "--trust", "capture", odd, "-o", str(output)]
    run(COMMAND, "map", *job, code=1, cwd=fleet.path("first"))
    whole = output.read_bytes()
    rank = [pathlib.Path(MPI).resolve(), *job]
    first, second = (["-n", 1, "-wdir", fleet.path(name), *rank] for name in ("first", "second"))
    run(MPIRUN, "--oversubscribe", *first, ":", *second, code=1, env=RANKS)
    assert output.read_bytes() == whole
    second.remove("capture")
    apart = run(MPIRUN, "--oversubscribe", *first, ":", *second, code=2, env=RANKS)
    assert "another command line" in apart.stderr, apart.stderr


def ranks_read_the_same(fleet):
    """Checks that ranks compare the files that options name. Each rank has its own folder here, like a rank
    that sees old files."""
    code = (captures.ROOT / "examples/quickstart/firmware.bin").read_bytes()
    here, there = fleet.path("here"), fleet.path("there")
    for folder in (here, there):
        (folder / "symbols/more").mkdir(parents=True)
        (folder / "count.tessla").write_text(SPEC, encoding="utf-8")
        program = small_elf.make(code, 0x80000, [(b"start", 0x80000, len(code))], build_id=b"1234")
        (folder / "symbols/more/program").write_bytes(program)
        (folder / "symbols/notes").write_text(folder.name, encoding="utf-8")

    def job(code, *words):
        output = fleet.path("same.data")
        rank = [pathlib.Path(MPI).resolve(), *words, "--manifest", fleet.manifest, "-o", output]
        both = ["-n", 1, "-wdir", here, *rank, ":", "-n", 1, "-wdir", there, *rank]
        said = run(MPIRUN, "--oversubscribe", *both, code=code, env=RANKS).stderr
        assert output.exists() == (code != 2)
        output.unlink(missing_ok=True)
        return said

    monitor = ["monitor", "--spec", "count.tessla", "--bind", "a=0x8000", "--symdir=symbols"]
    job(1, *monitor)
    (there / "count.tessla").write_text(SPEC + "\n", encoding="utf-8")
    said = job(2, *monitor)
    assert "rank 1 on " in said and "has another count.tessla than rank 0" in said, said
    (there / "count.tessla").write_text(SPEC, encoding="utf-8")
    (there / "symbols/more/program").write_bytes(small_elf.make(code, 0x80000, [], build_id=b"1235"))
    said = job(2, *monitor)
    assert "rank 1 on " in said and "has another symbols/more/program than rank 0" in said, said
    (there / "symbols/more/program").unlink()
    said = job(2, *monitor)
    assert "has no symbols/more/program, which exists on rank 0" in said, said
    for option in ("--symfs=symbols", "--buildid-dir=symbols"):
        said = job(2, "stats", option)
        assert "has no symbols/more/program, which exists on rank 0" in said, (option, said)
    shutil.copy(here / "symbols/more/program", there / "symbols/more/program")
    for name in ("proc/kallsyms", "sys/module/one/sections/.text", "program"):  # a file without a build ID
        for folder in (here, there):
            file = folder / "symbols" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(small_elf.make(code, 0x80000, []) + folder.name.encode())
        said = job(2, "stats", "--symfs=symbols")
        assert f"has another symbols/{name} than rank 0" in said, said
        shutil.copy(here / "symbols" / name, there / "symbols" / name)
    (there / "symbols/sys/module/one/refcnt").write_text("1", encoding="utf-8")
    job(1, "stats", "--symfs=symbols")


def cache_is_shared(fleet):
    """Checks that symbols are loaded once for all jobs with a cache, and that a cache that cannot be written
    is reported once and changes nothing."""
    code = (captures.ROOT / "examples/quickstart/firmware.bin").read_bytes()
    program, cache = fleet.path("cached"), fleet.path("cache")
    program.write_bytes(small_elf.make(code, 0x80000, [(b"start", 0x80000, len(code))], build_id=b"1234"))
    words = ["map", *fleet.job("uncached.data", "--elf", program)]
    run(COMMAND, *words, code=1)
    plain = fleet.path("uncached.data").read_bytes()
    jobs = [[COMMAND, "map"]] + ([[*ranks(2)]] if MPI else [])
    for begin in jobs:
        shutil.rmtree(cache, ignore_errors=True)
        job = [*begin, *fleet.job("cached.data", "--elf", program, "--cache", cache)]
        kept = []
        for _ in range(2):
            said = run(*job, code=1, env=RANKS).stderr
            assert "warning" not in said, said
            assert fleet.path("cached.data").read_bytes() == plain
            kept.append({file.name: file.stat().st_ino for file in cache.iterdir()})
        assert kept[0] == kept[1] and any("-symbols-" in name for name in kept[0]), kept
        for file in list(cache.iterdir()):
            file.unlink()
            pathlib.Path(f"{file}.new").mkdir()
        said = run(*job, code=1, env=RANKS).stderr
        told = said.count(f"warning: {cache}: loaded symbols and lines cannot be stored in this cache: Is a")
        assert told in ((1,) if begin[0] == COMMAND else (1, 2)), said
        assert fleet.path("cached.data").read_bytes() == plain


def keep_tidy(folder):
    """Puts the files of Open MPI into the folder of the test, because killed ranks do not remove them."""
    RANKS["OMPI_MCA_orte_tmpdir_base"] = RANKS["OMPI_MCA_btl_vader_backing_directory"] = folder


def main():
    checks = [manifest_lists, copies_count_once, manifest_of_an_editor, manifest_goes_on, map_adds_up,
              parts_add_up, every_command, map_is_killed, pieces_stay, bad_input, bad_captures,
              other_versions, named_captures_are_read_once, trust_looks_at_sizes,
              missing_files_are_named, one_file_counts_once, one_capture_is_looked_at, takes_too_long,
              crashes, workers_are_killed, cache_is_shared, one_output_is_of_one_job, disk_is_full,
              disk_fills_up]
    if MPI:
        checks += [ranks_agree, cuts_agree, cuts_are_killed, one_capture_alone, disk_fills_up_with_parts,
                   parts_lose_their_folder, ranks_are_killed, ranks_refuse, captures_are_read_once,
                   ranks_read_the_same, ranks_show_progress]
    with tempfile.TemporaryDirectory() as folder:
        keep_tidy(folder)
        fleet = Fleet(folder)
        for check in checks:
            missing = None
            if check in (disk_fills_up, disk_fills_up_with_parts) and not can_mount():
                missing = "no file system can be mounted here (unshare --mount)"
            if check is not manifest_lists:
                missing = captures.cannot_start_itself(COMMAND) or missing
            tap.case(check.__name__.replace("_", " "), missing, lambda check=check: check(fleet))
    if not MPI:
        tap.skip("ranks", "this coretap was built without Open MPI")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
