#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks recordings as Android's simpleperf writes them: with its own records and features, file names as on
a phone, and missing trace. They are made of programs that were recorded here.

usage: perf_phone.py COMMAND PLUGIN EXAMPLES"""
import pathlib
import random
import re
import shutil
import struct
import sys
import tempfile
import zipfile

from perf_recordings import Recording, need_recorder
from perf_tool import Tap, first_difference, run
from perf_writer import Writer, with_features

# Record types of simpleperf's record.h: symbols of the kernel, a file, a symbol, a record in parts, the end
# of these, numbers of events, stacks, unwinding, what traced.
OWN = range(32768, 32777)

# Features of its record_file_format.h: files with symbols, facts about the recording, unwinding, build IDs of
# files, …
FEATURES = range(128, 133)
INIT_MAP = 134  # records of earlier mappings


def own_records(writer):
    for number in OWN:
        body = struct.pack("<I", number) * (2 + number % 5)
        writer.record(number, body + bytes(-len(body) % 8))


def profile(coretap, *operands):
    out, said, code = run([coretap, "profile", "-f", "bolt", *operands])
    return out.splitlines(), said, code


def phone(folder, *recordings, lost=False, before=False):
    """Writes a recording of a phone, whose files are in `folder`/root here. `lost`: the last piece of trace
    is missing. `before`: the files were mapped earlier, as in recordings of a whole phone. Returns the
    recording, and the folder of the files."""
    root = folder / "root"
    system = root / "data/local/tmp"
    system.mkdir(parents=True, exist_ok=True)
    writer = Writer(recordings[0].capture.units)
    own_records(writer)
    begin, sections = len(writer.data), {number: bytes([number]) * 40 for number in FEATURES}
    for pid, recording in enumerate(recordings, 1000):
        copy = system / recording.program.name
        shutil.copy(recording.program, copy)
        writer.comm(pid, recording.program.name)
        for addr, size, offset, _ in recording.capture.maps():
            writer.map(pid, addr, size, offset, "/" + str(copy.relative_to(root)))
        own_records(writer)
    if before:
        sections[INIT_MAP] = bytes(writer.data[begin:])
        del writer.data[begin:]
    for pid, recording in enumerate(recordings, 1000):
        end = len(writer.trace)
        writer.run(pid, recording.capture.trace)
    if lost:
        del writer.trace[end:]
    path = folder / "perf.data"
    path.write_bytes(with_features(writer.whole(), sections))
    return path, root


ENTRY = "lib/arm64-v8a/libone.so"


def package(path, program, method=zipfile.ZIP_STORED, hole=0):
    """Writes an archive with a program, aligned as Android's tools do it, between other files. `hole`: bytes
    to skip before the program. Returns where the program begins."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("AndroidManifest.xml", "<manifest/>", zipfile.ZIP_DEFLATED)
        entry = zipfile.ZipInfo(ENTRY)
        entry.compress_type = method
        archive.start_dir += hole
        begin = archive.start_dir + 30 + len(ENTRY) + 4
        pad = -begin % 4096
        entry.extra = struct.pack("<HH", 0xd935, pad) + bytes(pad)
        archive.writestr(entry, program.read_bytes())
        archive.writestr("classes.dex", b"dex" * 100)
    return begin + pad


def mapped(folder, recording, name, offset):
    """Writes a recording in which the program was mapped from this file, from this offset on. Returns it."""
    writer = Writer(recording.capture.units)
    writer.comm(1000, "org.example.app")
    for addr, size, at, _ in recording.capture.maps():
        writer.map(1000, addr, size, at + offset, name)
    writer.run(1000, recording.capture.trace)
    path = folder / f"{pathlib.Path(name).stem}.data"
    path.write_bytes(writer.whole())
    return path


def check_packages(tap, coretap, folder, recording, want):
    root = folder / "packages"
    apk = root / "data/app/base.apk"
    apk.parent.mkdir(parents=True)
    begin = package(apk, recording.program)
    for what, name, offset in (("the archive", "/data/app/base.apk", begin),
                               ("simpleperf's name for it", f"/data/app/base.apk!/{ENTRY}", 0)):
        data = mapped(folder, recording, name, offset)
        got, said, code = profile(coretap, "--symfs", root, data)
        tap.check(f"a program in an archive, mapped by {what}",
                  first_difference(want, got, ("alone", "phone")) or (said if code else None))
    large = mapped(folder, recording, "/data/app/large.apk",
                   package(apk.with_name("large.apk"), recording.program, hole=5 << 30))
    got, said, code = profile(coretap, "--symfs", root, large)
    tap.check("a program in an archive of more than 4 GiB",
              first_difference(want, got, ("alone", "phone")) or (said if code else None))
    made = folder / "each"
    run([coretap, "profile", "-f", "bolt", "--each", made, "--symfs", root, data])
    there = (made / "libone.so.bolt").exists()
    tap.check("it is called by its own name", None if there else list(made.iterdir()))
    check_lists(tap, coretap, folder, root, data)
    whole = apk.read_bytes()
    package(apk, recording.program, zipfile.ZIP_DEFLATED)
    _, said, code = run([coretap, "stats", "--level", "flow", "--symfs", root, data])
    tap.check("a program that is compressed there is missing",
              None if "compressed in the archive" in said else said)
    codes = set()
    rng = random.Random(7)  # the same damage in each run
    for i in range(60):
        bad = bytearray(whole[:rng.randrange(len(whole))] if i % 3 == 0 else whole)
        for _ in range(8 if i % 3 else 0):
            bad[-rng.randrange(1, 400)] = rng.randrange(256)
        apk.write_bytes(bad)
        codes.add(run([coretap, "profile", "-f", "bolt", "--symfs", root, data])[2])
    tap.check("damaged archives", None if codes <= {0, 1, 2} and len(codes) > 1 else codes)


def check_lists(tap, coretap, folder, root, data):
    """Checks that a branch list names the program as simpleperf does, and finds it in the archive."""
    lists = folder / "app.lists"
    run([coretap, "profile", "-q", "-f", "branch-list", "--symfs", root, "-o", lists, data])
    named = re.findall(rb"/[!-~]*" + ENTRY.encode(), lists.read_bytes())
    tap.check("a branch list names programs by their paths on the phone",
              None if named == [f"/data/app/base.apk!/{ENTRY}".encode()] else named)
    got, said, code = profile(coretap, "--symfs", root, lists)
    tap.check("a branch list of a program in an archive",
              None if len(got) > 100 and not code else (code, said))


def main():
    recorder = need_recorder(sys.argv[1:3])
    coretap, tap = recorder.command, Tap()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        primes = pathlib.Path(sys.argv[3]) / "primes.c"
        one = Recording(recorder, folder, "one", primes, ["-O2", "-static"], ["300"], ["--framed"])
        two = Recording(recorder, folder, "two", primes, ["-O0", "-static"], ["500"], ["--framed"])
        want = profile(coretap, one.folder)[0]
        data, root = phone(folder, one)
        got, said, code = profile(coretap, "--symfs", root, data)
        tap.check("its own records and features are passed over",
                  first_difference(want, got, ("alone", "phone")) or (said if code else None))
        data, root = phone(folder, one, before=True)
        got, said, code = profile(coretap, "--symfs", root, data)
        tap.check("files that were mapped before the recording",
                  first_difference(want, got, ("alone", "phone")) or (said if code else None))
        check_packages(tap, coretap, folder, one, want)
        data, root = phone(folder, one, two, lost=True)
        got, said, code = profile(coretap, "--symfs", root, "--elf", root / "data/local/tmp/one", data)
        size = len(two.capture.trace) + -len(two.capture.trace) % 16
        tap.check("trace that is not there is told",
                  None if code == 1 and f"{size} bytes of trace that 1 AUX record" in said else (code, said))
        tap.check("the trace before it is read", first_difference(want, got, ("alone", "phone")))
    tap.end()


if __name__ == "__main__":
    main()
