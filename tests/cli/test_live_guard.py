#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the page of a live run reveals, and whom it lets in: hosts, tokens, include, silent
connections. Prints TAP.

usage: test_live_guard.py CORETAP"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from parts import missing_parts  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, skip  # noqa: E402  pylint: disable=wrong-import-position

CONFIG = pathlib.Path(__file__).resolve().parents[2] / "examples" / "raw" / "board.ini"
SECRET = "not for pages"
PATIENCE = 300  # seconds; the machine may be slow
PROGRAM = []


class Page:
    """A live run whose input stays open."""

    def __init__(self, coretap, *options):
        self.child = subprocess.Popen([coretap, "live", "--config", str(CONFIG), "--elf", PROGRAM[0],
                                       "--http", *options, "-"],
                                      stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, text=True)
        self.said = []
        for line in self.child.stderr:
            self.said.append(line)
            found = re.search(r"page at http://.*?:(\d+)/", line)
            if found:
                self.port = int(found.group(1))
                break
        threading.Thread(target=lambda: [None for _ in self.child.stderr], daemon=True).start()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    @staticmethod
    def tell(connection, host, path="/api/status", token=None, body=None):
        head = f"{'POST' if body else 'GET'} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"
        head += f"Authorization: Bearer {token}\r\n" if token else ""
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        connection.sendall((head + "\r\n" + (body or "")).encode())
        answer = b""
        while True:
            got = connection.recv(65536)
            if not got:
                break
            answer += got
        return int(answer.split()[1]), answer.decode()

    def ask(self, *args, **more):
        with self.connect() as connection:
            return self.tell(connection, *args, **more)

    def stop(self):
        self.child.terminate()
        self.child.wait(timeout=PATIENCE)


def check_hosts(coretap):
    page = Page(coretap, "0")
    for host, status in (("localhost", 200), ("127.0.0.1:99", 200), ("[::1]", 200), ("evil.example", 403),
                         ("127.0.0.1.evil.example", 403)):
        check(f"without a token: host {host}: {status}", page.ask(host)[0] == status)
    page.stop()
    page = Page(coretap, "0.0.0.0:0", "--token", "word")
    for host, token, status in (("localhost", "word", 200), ("10.1.2.3:80", "word", 200),
                                (socket.gethostname(), "word", 200),
                                ("evil.example", "word", 403), ("localhost", "wor", 401),
                                ("localhost", None, 401), ("evil.example", None, 403)):
        check(f"all addresses, token {token}: host {host}: {status}",
              page.ask(host, token=token)[0] == status)
    page.stop()
    page = Page(coretap, "0", "--token", "word")
    check("a token does not make a foreign host known", page.ask("evil.example", token="word")[0] == 403)
    page.stop()


def check_empty(coretap):
    for options, env in ((["--token", ""], {}), ([], {"CORETAP_TOKEN": ""})):
        for command in (["live", "--config", str(CONFIG), "--elf", PROGRAM[0], "--http", "0.0.0.0:0",
                         *options, "-"], ["ctl", "--http", "1", *options, "status"]):
            done = subprocess.run([coretap, *command], stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=PATIENCE, env={**os.environ, **env}, check=False)
            check(f"{command[0]}: an empty token {'in the environment' if env else ''} is refused",
                  done.returncode == 2 and re.search("(token|value) is empty", done.stderr), done.stderr)


def check_include(coretap, folder):
    secret = folder / "secret.tessla"
    secret.write_text(f'def {SECRET.replace(" ", "_")} := 1\nsyntax error here {SECRET}\n')
    page = Page(coretap, "0")
    for named in (secret, "/etc/passwd", os.path.relpath(secret)):
        body = json.dumps({"action": "add", "name": "x",
                           "text": f'include "{named}"\nin a: Events[Int]\nout a\n'})
        status, text = page.ask("localhost", "/api/monitors", body=body)
        check(f"include of {pathlib.Path(named).name} over HTTP is refused, and shows nothing",
              status == 400 and "files cannot be included" in text and SECRET not in text
              and "root:" not in text, text)
    page.stop()
    inside = folder / "specs"
    (inside / "sub").mkdir(parents=True)
    (inside / "sub" / "own.tessla").write_text("def own := 1\n")
    (inside / "link.tessla").symlink_to(secret)
    for named, fine in (("sub/own.tessla", True), ("sub/own", True), ("../secret.tessla", False),
                        (str(secret), False), ("link", False)):
        (inside / "main.tessla").write_text(f'include "{named}"\nin a: Events[Int]\nout a\n')
        for where, name in ((folder, inside / "main.tessla"), (inside, "main.tessla")):
            done = subprocess.run([coretap, "tessla", "--check", "--spec", str(name)], cwd=where,
                                  capture_output=True, text=True, timeout=PATIENCE,
                                  stdin=subprocess.DEVNULL, check=False)
            said = done.stdout + done.stderr
            check(f"include {pathlib.Path(named).name} {'below' if fine else 'outside of'} the folder",
                  ("Could not find a TeSSLa file" in said) != fine and SECRET not in said, said)


class Crowd:
    """Connections that say nothing. One address may have MOST connections; after that each new one closes the
    oldest."""
    MOST = 16

    def __init__(self, page):
        self.page = page
        self.there = []

    def press(self, guests=0):
        """Opens another connection. Waits until the oldest is closed when these and `guests` others are too
        many."""
        self.there.append(self.page.connect())
        self.there[-1].sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
        if len(self.there) + guests > self.MOST:
            with self.there.pop(0) as oldest, contextlib.suppress(ConnectionError):
                if oldest.recv(1):
                    raise AssertionError("one that said nothing was answered")


def check_crowd(coretap):
    """Checks that a client with a token is answered beside connections that send nothing, or a byte a
    second."""
    page = Page(coretap, "0", "--token", "word")
    crowd = Crowd(page)
    for _ in range(80):
        crowd.press()
    fine = 0
    for _ in range(10):
        with page.connect() as asks:
            for _ in range(crowd.MOST - 1):
                crowd.press(1)
            fine += page.tell(asks, "localhost", token="word")[0] == 200
    check("among connections that say nothing who has the token is answered", fine == 10, fine)
    begin = time.monotonic()
    slow = page.connect()
    ended = None
    while ended is None and time.monotonic() - begin < PATIENCE:  # the machine may be slow
        try:
            slow.sendall(b"G")
            slow.settimeout(0.5)
            ended = slow.recv(10) == b"" or None
        except socket.timeout:
            pass
        except OSError:
            ended = True
    took = time.monotonic() - begin
    check(f"one that drips is closed after 5 s and not before ({took:.1f} s)", bool(ended) and took > 4)
    page.stop()


class Unanswered:
    """A 'coretap ctl' whose connection is accepted and never answered. It starts first because it waits
    long."""

    def __init__(self, coretap):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.ctl = subprocess.Popen([coretap, "ctl", "--http", str(self.server.getsockname()[1]), "status"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def check(self):
        said = self.ctl.communicate(timeout=PATIENCE)[1]
        check("ctl gives up after 30 s and says so", self.ctl.returncode == 2 and "within 30 s" in said, said)
        self.server.close()


def check_broken_off(coretap):
    with socket.create_server(("127.0.0.1", 0)) as server, subprocess.Popen(
            [coretap, "ctl", "--http", str(server.getsockname()[1]), "status"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True) as ctl:
        with server.accept()[0] as connection:
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nhalf of it")
        out, said = ctl.communicate(timeout=PATIENCE)
    check("an answer that breaks off is an error", (ctl.returncode, out) == (2, "") and
          "before the answer was complete" in said,
          f"exit code {ctl.returncode}: {out}{said}")


def main():
    coretap = str(pathlib.Path(sys.argv[1]).resolve())
    if "live" in missing_parts(coretap):
        skip("the page is guarded", "this build has no page")
        return finish()
    if not shutil.which("aarch64-linux-gnu-gcc"):
        skip("the page is guarded", "aarch64-linux-gnu-gcc is missing")
        return finish()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        PROGRAM.append(str(folder / "work"))
        subprocess.run(["aarch64-linux-gnu-gcc", "-g", "-O1", "-static", "-o", PROGRAM[0],
                        str(pathlib.Path(__file__).resolve().parents[1] / "support/live_work.c")],
                       check=True, timeout=300)
        unanswered = Unanswered(coretap)
        check_empty(coretap)
        check_hosts(coretap)
        check_include(coretap, folder)
        check_crowd(coretap)
        check_broken_off(coretap)
        unanswered.check()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
