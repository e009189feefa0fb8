#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what coretap live does at violations: it runs a command, sends a request to a URL, and writes
results as lines to files; even when the command fails or hangs, nobody answers, or the disk is full.
Prints TAP.

usage: test_live_hooks.py CORETAP"""
import collections
import csv
import http.server
import io
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from live import Live, Raw, offline  # noqa: E402  pylint: disable=wrong-import-position
from parts import missing_parts  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, is_emulated, skip  # noqa: E402  pylint: disable=wrong-import-position

# A violation at every seventh event, with a value that CSV and JSON have to quote.
SPEC = """in x: Events[Unit]
def n = count(x)
def error = n % 7 == 0
out n
out if n % 2 == 0 then "even, \\"2\\"" else "odd" as parity
out error
"""
UNITS = 20
PATIENCE = 300  # seconds; the machine may be slow
VIOLATIONS = UNITS * Raw.EVENTS // 7
# Writes a file with its input, its arguments and the facts in its environment. The first one waits for
# another one to begin.
NOTE = """import json, os, sys, time
begin = time.monotonic()
line = sys.stdin.read()
begun = sys.argv[1] + "-begun"
open(f"{begun}/{os.getpid()}", "w").close()
while len(os.listdir(begun)) < 2 and time.monotonic() < begin + 8:
    time.sleep(0.01)
facts = {k[8:]: v for k, v in os.environ.items() if k.startswith("CORETAP_")}
with open(f"{sys.argv[1]}/{facts['TIME']}", "w") as out:
    json.dump({"line": line, "args": sys.argv[2:], "facts": facts, "begin": begin,
               "end": time.monotonic()}, out)
"""


class Case:
    """A folder with the specification, for one run at a time."""

    def __init__(self, coretap, folder):
        self.coretap, self.stream = coretap, Raw()
        self.folder = pathlib.Path(folder)
        self.spec = self.folder / "seven.tessla"
        self.spec.write_text(SPEC)
        self.number = 0

    def start(self, *args, env=None):
        self.number += 1
        self.out = self.folder / f"out{self.number}"
        return Live(self.coretap, self.stream, "--id", "10", "--spec", self.spec, "--bind",
                    f"x={Raw.PLACE}", *args, env=env)

    def run(self, *args, units=UNITS, env=None):
        """Runs `live` over `units` units until it ends. Returns its exit code, and the run."""
        live = self.start(*args, env=env)
        try:
            live.child.stdin.write(self.stream.once * units)
            live.child.stdin.close()
        except BrokenPipeError:  # refused at the start
            pass
        return live.end(), live

    def begin(self, units, *args, env=None):
        """Starts `live` over `units` units and more that may come, with violations as lines of JSON on
        standard output. Returns the run."""
        live = self.start("--violations", "-", *args, env=env)
        live.child.stdin.write(self.stream.once * units)
        live.child.stdin.flush()
        return live

    def told(self, *args, **more):
        """Runs `live` like `run`, and ends its input when the hook has been told of all violations: after
        the end the run waits 10 s, which is too short for many commands on a busy machine."""
        if "live" in missing_parts(self.coretap):
            return self.run(*args, **more)
        live = self.begin(UNITS, "--http", "0", *args, **more)
        until(lambda: any(h["done"] + h["failed"] + h["dropped"] == VIOLATIONS
                          for h in live.ask("/api/status?token=secret")[1].get("hooks", [])))
        live.child.stdin.close()
        return live.end(), live

    def offline(self, *args, units=UNITS):
        return offline(self.coretap, "monitor", self.stream, self.stream.once * units, "--per-core", "--id",
                       "10", "--spec", self.spec, "--bind", f"x={Raw.PLACE}", *args).decode()

    def status(self):
        return json.loads((self.out / "live.json").read_text())


# ---- results as lines ----


def lines(case):
    wanted = [line for line in case.offline("--format", "jsonl").splitlines()]
    path = case.folder / "violations.jsonl"
    code, live = case.run("--violations", path)
    check("--violations has a line of JSON for each violation, as coretap monitor has it",
          code == 1 and path.read_text().splitlines() == wanted and len(wanted) == VIOLATIONS,
          (code, live.said))
    code, live = case.run("--violations", "-", "-q")
    check("… on standard output nothing else", code == 1 and
          [line.rstrip("\n") for line in live.printed] == wanted, live.printed[:5])
    every = [json.loads(line) for line in case.offline("--format", "jsonl", "--all").splitlines()]
    path = case.folder / "outputs"
    code, live = case.run("--outputs", path, "--format", "jsonl")
    check("--outputs has all results", code == 1 and
          [json.loads(line) for line in path.read_text().splitlines()] == every, live.said)
    check("… and text has the violations alone", len([line for line in live.printed if "error" in line]) ==
          len([line for line in live.printed if line[0].isdigit()]) == VIOLATIONS, live.printed)
    code, live = case.run("--outputs", path)
    rows = list(csv.reader(io.StringIO(path.read_text())))
    check("… as CSV", rows[0] == "time id core spec output value violation uncertain "
          "instance".split() and
          rows[1:] == [[str(r["time"]), r["id"], r["core"], r["spec"], r["output"], r["value"],
                        str(int("violation" in r)), str(int("uncertain" in r)), ""] for r in every],
          rows[:4])
    code, live = case.run("--violations", case.folder / "nowhere" / "x")
    check("a file that cannot be there is said before anything is read", code == 2 and
          any("nowhere/x" in line for line in live.said), live.said)


def full_disk(case):
    for option in ("--violations", "--outputs"):
        live = case.start(option, "/dev/full", "-o", case.folder / f"out{case.number + 1}")
        live.child.stdin.write(case.stream.once * 400)
        live.child.stdin.close()
        code = live.end()
        status = case.status()
        check(f"{option} on a full disk is given up, and the run goes on", code == 2 and
              status["input"]["analysed"] == len(case.stream.once) * 400 and
              status["violations"] == 400 * Raw.EVENTS // 7 and
              sum("/dev/full: writing failed after about" in line for line in live.said) == 1,
              (code, live.said, status["violations"]))


# ---- a command ----


def notes_of(folder):
    return {path.name: json.loads(path.read_text()) for path in sorted(folder.iterdir())}


def overlap(notes):
    """Returns how many commands ran at the same time, at most."""
    edges = sorted([(n["begin"], 1) for n in notes.values()] + [(n["end"], -1) for n in notes.values()])
    most = now = 0
    for _, step in edges:
        now += step
        most = max(most, now)
    return most


def command(case):
    script, notes = case.folder / "note.py", case.folder / "notes"
    script.write_text(NOTE)
    for folder in (notes, case.folder / "notes-begun"):
        folder.mkdir()
    words = f"'{sys.executable}' {script} \"{notes}\" 'a  b'\\ c \"d'e\" $HOME"
    code, live = case.told("--on-violation", words, "--hook-jobs", "2", "-o",
                           case.folder / f"out{case.number + 1}",
                           env={"CORETAP_TOKEN": "secret"})
    got = notes_of(notes)
    wanted = {str(json.loads(line)["time"]): line for line in case.offline("--format", "jsonl").splitlines()}
    check("--on-violation runs for each violation, which is its input", code == 1 and
          {time_: note["line"].rstrip("\n") for time_, note in got.items()} == wanted, (live.said, len(got)))
    one = next(iter(got.values()))
    check("… with words as they are quoted, and no shell between",
          one["args"] == ["a  b c", "d'e", "$HOME"], one["args"])
    record = json.loads(one["line"])
    facts = {"SPEC": str(case.spec), "OUTPUT": "error", "VALUE": "true", "TIME": str(record["time"]),
             "ID": "10", "UNCERTAIN": "0", "CORE": "cpu0", "ADDR": record["addr"]}
    check("… facts in its environment, and not the token", one["facts"].items() >= facts.items() and
          "TOKEN" not in one["facts"], one["facts"])
    check("… at most as many at a time as are allowed", overlap(got) == 2, overlap(got))
    hook = case.status()["hooks"][0]
    check("… and live.json says how it went", (hook["done"], hook["failed"], hook["dropped"]) ==
          (VIOLATIONS, 0, 0), hook)


def failing(case):
    # QEMU cannot report that the program of a new process does not exist: the process ends instead.
    missing = "ended with exit code 127" if is_emulated(case.coretap) else "cannot be run: No such file"
    for what, words in (("false", "ended with exit code 1"), ("sh -c 'kill -9 $$'", "ended by signal 9"),
                        ("/nonexistent/command", missing)):
        code, live = case.told("--on-violation", what, "-o", case.folder / f"out{case.number + 1}")
        hook = case.status()["hooks"][0]
        check(f"a command that fails is told once, and counted: {what}", code == 1 and
              sum(words in line for line in live.said) == 1 and hook["failed"] == VIOLATIONS and
              any(f"{VIOLATIONS} reports failed" in line for line in live.said), (code, live.said, hook))
    code, live = case.told("--on-violation", "sh -c 'exec 0<&-'")
    check("one that does not read is fine", code == 1 and not any("failed" in line for line in live.said),
          live.said)
    for what, words in (("echo 'x", "quotation mark is not closed"), (" ", "the command is empty")):
        code, live = case.run("--on-violation", what)
        check(f"'{what}' is no command", code == 2 and any(words in line for line in live.said), live.said)


def until(condition):
    """Waits until a condition holds, which guards against hanging. Returns whether it does."""
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def all_told(live, violations):
    """Waits until a run has printed its violations: a signal leaves trace that was not read, and soon stops
    a specification that is still at work."""
    return until(lambda: sum('"violation":true' in line for line in list(live.printed)) == violations)


def running(mark):
    found = subprocess.run(["pgrep", "-f", mark], capture_output=True, text=True, check=False)
    return found.stdout.split()


def hanging(case):
    """Runs a command that does not end: some violations wait, and the rest is dropped. At a signal the run
    ends without the time that a violation may take, in which more than the first four commands would
    start."""
    units = 600
    violations = units * Raw.EVENTS // 7
    mark = f"97{time.time_ns() % 1000000}"  # a number of seconds that no other process sleeps
    live = case.begin(units, "--on-violation", f"sh -c 'sleep {mark}; true'", "-o",
                      case.folder / f"out{case.number + 1}")
    live.hear(r"(256) violations wait")
    check("what is too much for a command is dropped, which is told with the first one", True)
    check("… while the run goes on", all_told(live, violations), live.printed[-3:])
    code = live.stop(signal.SIGINT)
    hook = case.status()["hooks"][0]
    check("a signal ends the run nevertheless", code == 1, code)
    check("… and each violation is counted once",
          hook["done"] + hook["failed"] + hook["dropped"] == violations and
          hook["dropped"] == violations - 4 and
          any(f"{hook['dropped']} violations were dropped" in line for line in live.said), (hook, live.said))
    # A process that was killed takes a moment to disappear.
    check("… with what it started gone", until(lambda: not running(mark)), running(mark))


# ---- a URL ----


class Server(http.server.ThreadingHTTPServer):
    """A server that keeps what is posted, and answers with `status`, or never when it is None. `identity`:
    the files of certificate and key, for a server that speaks TLS."""

    def __init__(self, status, identity=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.got, self.over = status, [], threading.Event()
        self.scheme = "https" if identity else "http"
        if identity:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*identity)
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self):
        return f"{self.scheme}://localhost:{self.server_address[1]}/told?by=coretap"

    def stop(self):
        self.over.set()
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.got.append((self.path, self.headers["Content-Type"], self.headers["Host"], body))
        if self.server.status is None:
            self.server.over.wait(60)
            return
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except OSError:  # the client refused the certificate
            pass


def posting(case):
    server = Server(204)
    code, live = case.told("--post-violations", server.url())
    wanted = case.offline("--format", "jsonl").splitlines()
    check("--post-violations tells a URL of each violation", code == 1 and
          [body.rstrip("\n") for *_, body in server.got] == wanted, (live.said, len(server.got)))
    check("… with path, type and host", server.got and server.got[0][:3] ==
          ("/told?by=coretap", "application/json", f"localhost:{server.server_address[1]}"), server.got[:1])
    server.status = 500
    code, live = case.told("--post-violations", server.url(), "-o", case.folder / f"out{case.number + 1}")
    hook = case.status()["hooks"][0]
    check("an answer that is none is told once, and counted", code == 1 and hook["failed"] == VIOLATIONS and
          sum("answers with status 500" in line for line in live.said) == 1, (live.said, hook))
    server.status, told = None, len(server.got)
    live = case.begin(UNITS, "--post-violations", server.url(), "-o", case.folder / f"out{case.number + 1}")
    until(lambda: len(server.got) > told)
    all_told(live, VIOLATIONS)
    live.stop(signal.SIGINT)
    check("a server that never answers does not hold back the end", len(server.got) == told + 1 and
          case.status()["violations"] == VIOLATIONS, (len(server.got) - told, live.said))
    server.stop()


def unreachable(case):
    with socket.socket() as closed:  # nobody else gets the port, and nobody listens
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        code, live = case.told("--post-violations", f"http://127.0.0.1:{port}", "-o",
                               case.folder / f"out{case.number + 1}")
    check("a URL where nobody listens is told once, and counted", code == 1 and
          sum("does not answer: Connection refused" in line for line in live.said) == 1 and
          case.status()["hooks"][0]["failed"] == VIOLATIONS, live.said)
    for url, words in (("ftp://localhost/", "is not a URL"),
                       ("http:///x", "is not a URL"), ("http://a b/", "is not a URL"),
                       ("http://nowhere.invalid/", "cannot be resolved")):
        code, live = case.run("--post-violations", url)
        check(f"{url} is refused at the start", code == 2 and any(words in line for line in live.said),
              live.said)


# ---- TLS ----


def identity(folder, name):
    """Makes a self-signed certificate for a name. Returns the files of the certificate and its key."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                    "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}",
                    "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


def encrypted(case):
    if not shutil.which("openssl"):
        skip("https:", "no openssl that makes a certificate (Debian: openssl)")
        return
    here, elsewhere = identity(case.folder, "localhost"), identity(case.folder, "elsewhere")
    server, stranger = Server(204, here), Server(204, elsewhere)
    code, live = case.told("--post-violations", server.url(), "--post-ca", here[0])
    wanted = case.offline("--format", "jsonl").splitlines()
    check("--post-violations tells an https: URL that --post-ca trusts", code == 1 and
          [body.rstrip("\n") for *_, body in server.got] == wanted, (live.said, len(server.got)))
    server.got.clear()
    for title, url, options in (("that nobody trusts", server.url(), []),
                                ("that another authority is trusted for", server.url(),
                                 ["--post-ca", elsewhere[0]]),
                                ("of another name", stranger.url(), ["--post-ca", elsewhere[0]])):
        code, live = case.told("--post-violations", url, *options, "-o",
                               case.folder / f"out{case.number + 1}")
        check(f"a certificate {title} is told once, and nothing is sent", code == 1 and not server.got and
              not stranger.got and case.status()["hooks"][0]["failed"] == VIOLATIONS and
              sum("certificate is not trusted" in line for line in live.said) == 1, live.said)
    for arguments, words in ((("http://localhost/", here[0]), "certificates need an https: URL"),
                             (("https://localhost/", case.folder / "none"), "cannot be read")):
        code, live = case.run("--post-violations", arguments[0], "--post-ca", arguments[1])
        check(f"--post-ca: {words}", code == 2 and any(words in line for line in live.said), live.said)
    server.stop()
    stranger.stop()


def silent(case):
    """Checks a server that accepts the connection and never answers in TLS."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        live = case.begin(UNITS, "--post-violations", f"https://localhost:{server.getsockname()[1]}/", "-o",
                          case.folder / f"out{case.number + 1}")
        server.settimeout(PATIENCE)
        with server.accept()[0]:
            all_told(live, VIOLATIONS)
            live.stop(signal.SIGINT)
            hook = case.status()["hooks"][0]
            check("a server that does not begin with TLS does not hold back the end",
                  (hook["failed"], hook["dropped"]) == (1, VIOLATIONS - 1), hook)


def without_library(case):
    code, live = case.run("--post-violations", "http://localhost/",
                          env={**os.environ, "CORETAP_CURL": "/none/libcurl.so"})
    check("a URL is refused where libcurl is not there", code == 2 and
          any("libcurl cannot be loaded" in line for line in live.said), live.said)


def both(case):
    """Checks that the command and the URL do not wait for each other."""
    server = Server(200)
    live = case.begin(UNITS, "--post-violations", server.url(), "--on-violation", "sleep 600")
    check("a command that hangs does not keep a URL from being told",
          until(lambda: len(server.got) >= VIOLATIONS - 1), len(server.got))
    live.stop(signal.SIGINT)
    counts = collections.Counter(body for *_, body in server.got)
    check("… of each violation once", counts and max(counts.values()) == 1)
    server.stop()


def main():
    with tempfile.TemporaryDirectory() as folder:
        case = Case(sys.argv[1], folder)
        for part in (lines, full_disk, command, failing, hanging):
            part(case)
        without = missing_parts(sys.argv[1]).get("curl")
        if without:
            skip("--post-violations", without)
        for part in () if without else (posting, unreachable, encrypted, silent, without_library, both):
            part(case)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
