# SPDX-License-Identifier: Apache-2.0
"""Live runs for tests: a recorded program, its stream repeated endlessly, and coretap live that reads it."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")


def missing():
    return [tool for tool in TOOLS if not shutil.which(tool)]


class Stream:
    """The recorded stream of a program. Each repetition begins at the first synchronisation point."""

    def __init__(self, coretap, folder):
        self.folder = pathlib.Path(folder)
        self.program = self.folder / "work"
        subprocess.run(["aarch64-linux-gnu-gcc", "-g", "-O1", "-fno-inline", "-static", "-o", self.program,
                        HERE / "live_work.c"], check=True, timeout=300)
        capture = self.folder / "capture"
        raw = self.folder / "stream"
        subprocess.run([coretap, "record", "-q", "-o", capture, "--cycle-count", "--timestamps",
                        "--context-id",
                        "--stream", raw, "--", self.program], check=True, timeout=300,
                       stdout=subprocess.DEVNULL)
        self.config = capture / "live.ini"
        self.once = raw.read_bytes()

    def bytes(self, size):
        return (self.once * (size // len(self.once) + 1))[:size]


class Feeder(threading.Thread):
    """Writes the stream to a file object at a number of bytes per second (0: as fast as it is read), until it
    is stopped. With `burst` it pauses for half a second after that many bytes."""

    def __init__(self, stream, to, rate, size=None, burst=None):
        super().__init__(daemon=True)
        self.stream, self.to, self.rate, self.size, self.burst = stream, to, rate, size, burst
        self.sent = 0
        self.over = threading.Event()

    def run(self):
        begin = time.monotonic()
        data, at = memoryview(self.stream.once), 0
        try:
            while not self.over.is_set() and (self.size is None or self.sent < self.size):
                most = 16384 if self.size is None else min(16384, self.size - self.sent)
                n = os.write(self.to.fileno(), data[at:at + most])
                self.sent += n
                at = (at + n) % len(data)
                ahead = self.sent / self.rate - (time.monotonic() - begin) if self.rate else 0
                if ahead > 0:
                    time.sleep(ahead)
                if self.burst and self.sent % self.burst < n:
                    time.sleep(0.5)
        except OSError:
            pass  # the reader is gone
        self.to.close()


class Live:
    """coretap live on a pipe, or on `source`. Each trace ID is a run of its own unless `one_run`, because a
    repeated stream has timestamps that go back."""

    def __init__(self, coretap, stream, *args, source="-", env=None, one_run=False):
        self.coretap = coretap
        runs = [] if one_run else ["--per-core"]
        self.child = subprocess.Popen([coretap, "live", "--config", stream.config, *runs, *args, source],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      env={**os.environ, **(env or {})})
        self.said = []
        self.printed = []
        self.readers = [threading.Thread(target=self.keep, args=pair, daemon=True)
                        for pair in ((self.child.stderr, self.said), (self.child.stdout, self.printed))]
        for reader in self.readers:
            reader.start()

    @staticmethod
    def keep(file, lines):
        for line in file:
            lines.append(line.decode())

    def hear(self, pattern, patience=300):
        """Waits for a message with a pattern, and returns the group of the pattern in it."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            for line in list(self.said):
                found = re.search(pattern, line)
                if found:
                    return found.group(1)
            time.sleep(0.02)
        raise TimeoutError(f"no {pattern} in {self.said}")

    def port(self):
        return int(self.hear(r"page at http://.*:(\d+)/"))

    def resident(self):
        """Returns the resident bytes. The kernel's VmRSS is off by pages per processor; the sum of maps is
        exact."""
        process = pathlib.Path(f"/proc/{self.child.pid}")
        try:
            said = (process / "smaps_rollup").read_text()
        except OSError:
            said = (process / "status").read_text()
        return int(re.search(r"^(?:Vm)?R[sS][sS]:\s+(\d+) kB", said, re.M).group(1)) * 1024

    def stop(self, sign=signal.SIGINT):
        self.child.send_signal(sign)
        return self.end()

    def end(self, patience=300):
        code = self.child.wait(timeout=patience)
        for reader in self.readers:
            reader.join(timeout=300)
        return code

    def ctl(self, *args, env=None):
        """Returns exit code, output, messages and seconds of a control command."""
        begin = time.monotonic()
        done = subprocess.run([self.coretap, "ctl", "--http", str(self.port()), *args], capture_output=True,
                              text=True, timeout=300, check=False, env={**os.environ, **(env or {})})
        return done.returncode, done.stdout + done.stderr, time.monotonic() - begin

    def ask(self, path, body=None, **headers):
        """Returns status and JSON of an answer. Names of headers have _ instead of -."""
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port()}{path}", data=data,
                                         headers={key.replace("_", "-"): value
                                                  for key, value in headers.items()})
        if data is not None and "Content-type" not in request.headers:
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())


def offline(coretap, command, stream, data, *args):
    done = subprocess.run([coretap, command, "-q", "--config", stream.config, *args, "-"], input=data,
                          capture_output=True, timeout=600, check=False)
    if done.returncode == 2:
        raise RuntimeError(done.stderr.decode())
    return done.stdout


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def wait_for(path):
    end = time.monotonic() + 300
    while not path.exists():
        assert time.monotonic() < end, f"{path} does not come"
        time.sleep(0.02)


def wait_for_port(port):
    end = time.monotonic() + 300
    while True:
        with contextlib.suppress(ConnectionError), socket.create_connection(("127.0.0.1", int(port))):
            return
        assert time.monotonic() < end, "the page is not served"
        time.sleep(0.02)


class Raw:
    """The stream of examples/raw, for tests without a program: its trace six times, in a unit of 512 bytes
    that begins with a synchronisation point. The instruction at PLACE runs six times in it."""
    PLACE, EVENTS = "0x80000", 6

    def __init__(self):
        folder = HERE.parents[1] / "examples" / "raw"
        self.config = folder / "board.ini"
        self.once = (folder / "board.bin").read_bytes() * 6 + (b"\1" + bytes(15)) * 2
