#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks profiles of all programs of a recording in one run: each file equals that of the program alone.

usage: profile_each.py COMMAND PLUGIN EXAMPLES"""
import pathlib
import shutil
import sys
import tempfile

from perf_recordings import Recording, need_recorder
from perf_tool import Tap, first_difference, run
from perf_writer import Writer


def each(coretap, form, folder, *operands):
    """Runs `profile --each`. Returns name -> lines of the files, standard output, messages and exit code."""
    shutil.rmtree(folder, ignore_errors=True)
    out, said, code = run([coretap, "profile", "-f", form, "--each", folder, *operands])
    files = {path.name: path.read_text().splitlines() for path in folder.iterdir()} if folder.is_dir() else {}
    return files, out, said, code


def alone(coretap, form, recording, *more):
    return run([coretap, "profile", "-q", "-f", form, "--elf", recording.program, recording.folder,
                *more])[0].splitlines()


def recorded_together(folder, *runs):
    """Writes a recording of several processes, as perf would have written it. Returns it."""
    writer = Writer(runs[0].capture.units)
    for pid, recording in enumerate(dict.fromkeys(runs), 100):
        writer.start(pid, recording.capture)
    order = list(dict.fromkeys(runs))
    for recording in runs:
        writer.run(100 + order.index(recording), recording.capture.trace)
    path = folder / "together.data"
    path.write_bytes(writer.whole())
    return path


def check_together(tap, coretap, folder, one, two):
    data = recorded_together(folder, one, two, two)
    for form in ("autofdo", "bolt", "llvm"):
        files, out, said, code = each(coretap, form, folder / "each", data)
        want = {f"one.{form}": alone(coretap, form, one),
                f"two.{form}": alone(coretap, form, two, two.folder)}
        tap.check(f"{form}: a file for each program",
                  None if files.keys() == want.keys() and not out and code == 0 else (files.keys(), said))
        for name in want:
            tap.check(f"{form}: {name} is that of the program by itself",
                      first_difference(want[name], files.get(name, []), ("alone", "each")))


def check_names(tap, coretap, folder, one, two):
    """Checks that two programs with the same name are told apart by their build IDs."""
    other = folder / "other"
    other.mkdir()
    twin = Recording.__new__(Recording)
    twin.__dict__.update(two.__dict__)
    twin.program = other / one.program.name
    shutil.copy(two.program, twin.program)
    twin.capture.programs = [(twin.program if path == two.program else path, bias)
                             for path, bias in twin.capture.programs]
    files, _, said, _ = each(coretap, "bolt", folder / "each", recorded_together(folder, one, twin))
    names = sorted(files)
    good = len(names) == 2 and all(name.startswith("one-") and name.endswith(".bolt") for name in names)
    tap.check("programs of one name", None if good and names[0] != names[1] else (names, said))


def check_refused(tap, coretap, folder, one):
    blocked = folder / "blocked"
    blocked.write_text("")
    _, said, code = run([coretap, "profile", "-f", "bolt", "--each", blocked, one.folder])
    tap.check("a file in the place of the folder", None if code == 2 and "is not a folder" in said else said)
    for words, text in ((["-f", "folded"], "autofdo, llvm and bolt"),
                        (["-f", "bolt", "-o", "x"], "--output")):
        _, said, code = run([coretap, "profile", *words, "--each", folder / "each", one.folder])
        tap.check(f"{' '.join(words)} with --each is refused", None if code == 2 and text in said else said)
    files, _, said, code = each(coretap, "bolt", folder / "each", "--el", "3", one.folder)
    tap.check("a profile of nothing is an error", None if code == 1 and said and not files else (code, said))
    many = run([coretap, "profile", "-f", "bolt", recorded_together(folder, one, one)])
    tap.check("one program needs no --each", None if many[2] == 0 else many[1])


def main():
    recorder = need_recorder(sys.argv[1:3])
    coretap, tap = recorder.command, Tap()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        primes = pathlib.Path(sys.argv[3]) / "primes.c"
        build = ["-static", "-g", "-Wl,--build-id"]
        one = Recording(recorder, folder, "one", primes, ["-O2", *build], ["300"], ["--framed"])
        two = Recording(recorder, folder, "two", primes, ["-O0", *build], ["500"], ["--framed"])
        check_together(tap, coretap, folder, one, two)
        check_refused(tap, coretap, folder, one)
        check_names(tap, coretap, folder, one, two)
    tap.end()


if __name__ == "__main__":
    main()
