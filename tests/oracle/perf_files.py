#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks where the files of a recording are found: below --symfs, in perf's cache of build IDs, on a
debuginfod server; and what is reported when they are missing. With the files the path is the executed one,
and profiles belong to the program.

usage: perf_files.py COMMAND PLUGIN EXAMPLES"""
import http.server
import json
import os
import pathlib
import shutil
import sys
import tempfile
import threading

from perf_recordings import Recording, decoded, need_recorder
from perf_tool import Tap, first_difference, run
from perf_writer import Writer

TARGET = "/opt/target"  # folder of the files on the target, which does not exist here


class Server:
    """A debuginfod server on the loopback interface: /buildid/ID/executable."""

    def __init__(self, files):
        asked = self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802, the library prescribes the name
                asked.append(self.path)
                parts = self.path.split("/")
                path = files.get(parts[2]) if parts[1] == "buildid" and parts[-1] == "executable" else None
                self.send_response(200 if path else 404)
                self.end_headers()
                if path:
                    self.wfile.write(pathlib.Path(path).read_bytes())

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def stop(self):
        self.http.shutdown()
        self.http.server_close()


class Test:
    """A recording of a program with an interpreter and a library, whose files have other paths on the
    target."""

    def __init__(self, tap, folder, recorder, examples):
        self.tap, self.folder = tap, folder
        self.recording = Recording(recorder, folder, "main", examples / "primes.c",
                                   ["-O2", "-pie", "-Wl,--build-id"], ["300"], ["--framed"])
        self.capture = self.recording.capture
        self.data = folder / "target.data"
        writer = Writer(self.capture.units)
        writer.comm(100, "main")
        for addr, size, offset, path in self.capture.maps():
            writer.map(100, addr, size, offset, f"{TARGET}{path}", self.capture.build_ids[path])
        writer.run(100, self.capture.trace)
        self.data.write_bytes(writer.whole())
        self.command = recorder.command

    def cache_of(self, name):
        """Returns a folder for files by build ID, which is empty unless the caller fills it."""
        (self.folder / name).mkdir(exist_ok=True)
        return self.folder / name

    def check_path(self, name, *options, **env):
        got = decoded(self.command, self.data, *options, "--buildid-dir", self.cache_of("cache"), env=env)
        self.tap.check(f"{name}: {len(self.recording.path)} instructions, as executed", first_difference(
            [f"{at:x}" for at in self.recording.path], [f"{at:x}" for at in got], ("truth", "coretap")))

    def missing(self, *options, **env):
        """Returns the lines in which 'info' reports missing files."""
        text = run([self.command, "info", "-q", "--buildid-dir", self.cache_of("none"), *options, self.data],
                   env={**os.environ, **env})[0]
        return [line for line in text.splitlines() if line.startswith("missing: ")]

    def put(self, root, paths):
        for path in paths:
            there = pathlib.Path(f"{root}{TARGET}{path}")
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, there)

    def symfs(self):
        files = [path for path, _ in self.capture.programs]
        root = self.folder / "root"
        self.put(root, files)
        self.check_path("--symfs", "--symfs", root)
        for form in ("autofdo", "llvm", "bolt"):
            want = run([self.command, "profile", "-q", "--format", form, self.recording.folder])[0]
            got = run([self.command, "profile", "-q", "--format", form, "--symfs", root, self.data])[0]
            self.tap.check(f"profile --format {form} is of the program that was started",
                           first_difference(want.splitlines(), got.splitlines(), ("recorded", "perf.data")))
        want = run([self.command, "profile", "-q", "--format", "autofdo", "--elf", "libc.so.6",
                    self.recording.folder])[0]
        got = run([self.command, "profile", "-q", "--format", "autofdo", "--elf", "libc.so.6", "--symfs",
                   root, self.data])[0]
        self.tap.check("profile --elf is of a library", first_difference(want.splitlines(), got.splitlines()))

    def names(self):
        """Checks that each missing file is named with its build ID and a remedy."""
        said = self.missing()
        why = None
        for path, identity in self.capture.build_ids.items():
            lines = [line for line in said if line.startswith(f"missing: {TARGET}{path},")]
            if len(lines) != 1 or identity.hex() not in lines[0] or "--symfs DIR" not in lines[0]:
                why = f"{path}: {said}"
        self.tap.check("missing files are named", why)
        nobody = {**os.environ, "HOME": str(self.folder / "none")}  # no cache of build IDs
        listed = json.loads(run([self.command, "manifest", "-q", self.data], env=nobody)[0])["build_ids"]
        self.tap.check("a manifest has their build ids", None if set(listed) ==
                       {identity.hex() for identity in self.capture.build_ids.values()} else str(listed))
        root = self.folder / "other"
        program = self.capture.programs[0][0]
        self.put(root, [program])
        copy = pathlib.Path(f"{root}{TARGET}{program}")
        copy.write_bytes(copy.read_bytes().replace(self.capture.build_ids[program], bytes(20)))
        said = [line for line in self.missing("--symfs", root) if f"{TARGET}{program}," in line]
        self.tap.check("a file with another build id is not taken",
                       None if len(said) == 1 and "another build id" in said[0] else said)

    def cache(self):
        for path, identity in self.capture.build_ids.items():
            place = self.folder / "cache" / ".build-id" / identity.hex()[:2] / identity.hex()[2:]
            place.mkdir(parents=True)
            shutil.copy(path, place / "elf")
        self.check_path("--buildid-dir")
        shutil.rmtree(self.folder / "cache")

    def symdir(self):
        """Checks --symdir: it finds files by build ID in any folder, under any name, beside files that have
        only debug information."""
        root = self.folder / "symbols"
        (root / "deep").mkdir(parents=True)
        for number, path in enumerate(self.capture.build_ids):
            shutil.copy(path, root / "deep" / f"file{number}")
            run(["aarch64-linux-gnu-objcopy", "--only-keep-debug", path, root / f"a{number}.debug"])
        want = run([self.command, "profile", "-q", "--format", "bolt", self.recording.folder])[0]
        got = run([self.command, "profile", "-q", "--format", "bolt", "--symdir", root, self.data])[0]
        self.tap.check("--symdir finds the programs",
                       first_difference(want.splitlines(), got.splitlines()) if len(want) > 500 else want)
        rows = [[line.split("\t")[2] for line in run([self.command, "decode", "-q", *options])[0].splitlines()
                 if line.startswith("Br")]
                for options in ([self.recording.folder], ["--symdir", root, self.data])]
        self.tap.check("decode --symdir has all branches",
                       first_difference(*rows) if len(rows[0]) > 500 else rows[0])
        self.same_with(root)
        named = run([self.command, "decode", "-q", "--symdir", root, self.data])[0]
        self.tap.check("and names them", None if "\tmain" in named else named[:1000])

    def same_with(self, root):
        """Checks that listings of code, and of missing code, are the same as with --symfs."""
        for words in (["list", "--elements"], ["stats", "--level", "flow"], ["info"]):
            texts = [[line for line in run([self.command, words[0], "-q", *words[1:], *options,
                                            self.data])[0].splitlines()
                      if not line.startswith(("seconds", "mb_per_s"))]
                     for options in (["--symfs", self.folder / "root"], ["--symdir", root], [])]
            there, found, gone = ([line for line in text if " at 0x" not in line] for text in texts)
            self.tap.check(f"{words[0]} --symdir is as --symfs",
                           first_difference(there, found) if there != gone else gone[:20])

    def debuginfod(self):
        ids = {identity.hex(): path for path, identity in self.capture.build_ids.items()}
        server = Server(ids)
        env = {"DEBUGINFOD_URLS": server.url, "DEBUGINFOD_CACHE_PATH": str(self.folder / "debuginfod")}
        self.check_path("debuginfod", **env)
        asked = {path.split("/")[2] for path in server.asked}
        self.tap.check("debuginfod was asked for each", None if asked == set(ids) else f"{asked} of {ids}")
        server.stop()
        # Files of a server with other contents are not used. A server without the files is no error.
        wrong = Server({identity: self.data for identity in ids})
        env = {"DEBUGINFOD_URLS": wrong.url, "DEBUGINFOD_CACHE_PATH": str(self.folder / "wrong")}
        self.tap.check("files of a wrong server are not taken",
                       None if len(self.missing(**env)) == len(ids) else self.missing(**env))
        wrong.stop()
        empty = Server({})
        env = {"DEBUGINFOD_URLS": empty.url, "DEBUGINFOD_CACHE_PATH": str(self.folder / "empty")}
        self.tap.check("a server without them",
                       None if len(self.missing(**env)) == len(ids) else self.missing(**env))
        empty.stop()


def has_debuginfod():
    return any(pathlib.Path("/usr/lib").glob("*/libdebuginfod.so.1"))


def main():
    recorder = need_recorder(sys.argv[1:3])
    tap = Tap()
    with tempfile.TemporaryDirectory() as temporary:
        test = Test(tap, pathlib.Path(temporary), recorder, pathlib.Path(sys.argv[3]).resolve())
        test.symfs()
        test.names()
        test.cache()
        test.symdir()
        if has_debuginfod():
            test.debuginfod()
        else:
            tap.skip("debuginfod", "its client library is not installed (Debian: libdebuginfod1)")
    tap.end()


if __name__ == "__main__":
    main()
