#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks sources of coretap live that break off and return, the file that keeps the trace, and consumers that
stop. Prints TAP.

usage: test_live_sources.py CORETAP

The trace is that of examples/raw, in units of 512 bytes that each begin with a synchronisation point. Losses
are multiples of 512 bytes, so whole units are lost, and each unit that is left has a known number of
instructions."""
import contextlib
import json
import os
import pathlib
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from live import free_port  # noqa: E402  pylint: disable=wrong-import-position
from parts import missing_parts  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, is_sanitized, skip  # noqa: E402  pylint: disable=wrong-import-position

RAW = pathlib.Path(__file__).resolve().parents[2] / "examples" / "raw"
CONFIG = RAW / "board.ini"
NO_TRACE = b"\1" + bytes(15)  # a frame of ID 0
UNIT = (RAW / "board.bin").read_bytes() * 6 + NO_TRACE * 2
INSTRUCTIONS, EVENTS = 48, 6  # in one unit of trace; EVENTS is the number of hits of PLACE
PLACE = "0x80000"
SPEC = """in x: Events[Int]
define n := eventCount(x)
define error := n % 7 == 0
out n
out error
"""
PATIENCE = 300
RESIDENT = 64 << 20  # bytes, far more than a run with a ring of 1 MiB needs


class Run:
    """A 'coretap live' whose standard output goes to a file, or to `stdout`."""

    def __init__(self, coretap, folder, *options, source="-", stdout=None, limit=None):
        self.coretap, self.folder = coretap, folder
        self.printed = folder / "printed"
        self.out = folder / "out"
        out = stdout if stdout is not None else self.printed.open("wb")
        # pylint: disable-next=consider-using-with,subprocess-popen-preexec-fn
        self.child = subprocess.Popen([coretap, "live", "--config", str(CONFIG), "--ring", "1",
                                       *map(str, options), source],
                                      stdin=subprocess.PIPE, stdout=out, stderr=subprocess.PIPE, bufsize=0,
                                      preexec_fn=limit)
        self.said = []
        self.listener = threading.Thread(target=self.listen, daemon=True)
        self.listener.start()

    def listen(self):
        for line in self.child.stderr:
            self.said.append(line.decode())

    def hear(self, pattern, times=1):
        def heard():
            found = [m for m in (re.search(pattern, line) for line in list(self.said)) if m]
            return found[times - 1] if len(found) >= times else None
        return until(heard)

    def resident(self):
        return int(re.search(r"VmHWM:\s+(\d+) kB",
                             pathlib.Path(f"/proc/{self.child.pid}/status").read_text())[1]) * 1024

    def end(self, number=None):
        """Waits for the end of the run, after sending signal `number` when there is one. Returns the exit
        code, or None when the run had to be killed."""
        if number:
            self.child.send_signal(number)
        try:
            code = self.child.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.child.kill()
            code = None
        self.listener.join(PATIENCE)  # the last messages may not have been read yet
        return code

    def status(self):
        return json.loads((self.out / "live.json").read_text())


def until(condition):
    """Polls a condition until it returns something true, for PATIENCE seconds at most. Returns that, or
    None."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    return None


def settled(number):
    """Waits until a number has not changed for a second. Returns it."""
    before, since = number(), time.monotonic()
    while time.monotonic() - since < 1:
        time.sleep(0.05)
        now = number()
        if now != before:
            before, since = now, time.monotonic()
    return before


def size_of(path):
    return path.stat().st_size if path.exists() else 0


def offline(coretap, *args):
    return subprocess.run([coretap, *map(str, args)], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=300, check=False)


def numbers(coretap, capture, *options):
    done = offline(coretap, "stats", "-q", *options, capture)
    return {key: int(value)
            for key, value in re.findall(r"^(\w+)=(\d+)$", done.stdout, re.M)}, done.returncode


def same_as_kept(coretap, name, run, kept, code, *options):
    """Checks that the results of a run equal those of the trace that it kept."""
    found, kept_code = numbers(coretap, kept, *options)
    status = run.status()
    losses = {key: found[key] for key in status["losses"]}
    check(f"{name}: the trace that was kept has the losses and instructions of the run",
          status["losses"] == losses
          and sum(s["instructions"] for s in status["streams"]) == found["instructions"] and
          code == kept_code, f"{status['losses']} {found} {code} {kept_code}")
    return found


# ---- connections ----


def serve(port, *parts, reset=False, taken=None):
    """Accepts one connection, sends the parts, and closes it when the file `taken` contains all of them."""
    with socket.create_server(("127.0.0.1", port)) as server:
        server.settimeout(PATIENCE)
        connection = server.accept()[0]
    with connection:
        wanted = size_of(taken) + sum(map(len, parts))
        for part in parts:
            connection.sendall(part)
        until(lambda: size_of(taken) >= wanted)
        if reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def check_reconnect(coretap, folder):
    port, kept, spec = free_port(), folder / "kept.bin", folder / "spec.tessla"
    spec.write_text(SPEC)
    page = [] if "live" in missing_parts(coretap) else ["--http", "0"]
    watch = ["--spec", spec, "--bind", f"x={PLACE}", "--all", "--id", "10"]
    run = Run(coretap, folder, "--reconnect", "--tee", kept, "--output", folder / "out", "--at", PLACE,
              *watch, *page, source=f"tcp:127.0.0.1:{port}")
    check("a server that is not there yet is waited for",
          run.hear("no connection: Connection refused; coretap tries again"), run.said)
    serve(port, UNIT * 5, UNIT[:200], reset=True, taken=kept)
    check("a connection that breaks is told",
          run.hear(r"the connection broke: Connection reset by peer after 2760 bytes"), run.said)
    if page:
        url = run.hear(r"page at http://.*?:(\d+)/")[1]
        def waits():
            with urllib.request.urlopen(f"http://127.0.0.1:{url}/api/status", timeout=PATIENCE) as answer:
                status = json.loads(answer.read())["input"]
            return status["waits"] and status["tries"] and status
        said = until(waits)
        words = offline(coretap, "ctl", "--http", url, "status").stdout
        check("… and on the page",
              said and said["connections"] == 1 and said["kept"] == 2760 and "connection: none, for" in words
              and f"kept: 2760 bytes in {kept}" in words, f"{said} {words}")
    serve(port, UNIT * 3, taken=kept)
    check("one that ends, too", run.hear("the connection ended after 1536 bytes")
          and run.hear("trace arrives again, after"), run.said)
    serve(port, UNIT[:100], UNIT[100:], taken=kept)
    run.hear("the connection ended after 512 bytes")
    code = run.end(signal.SIGTERM)
    check("SIGTERM while it waits ends the run at once, with its reports",
          code == 1 and (folder / "out" / "live.json").exists(), f"{code} {run.said}")
    parts = [UNIT * 5 + UNIT[:200], UNIT * 3, UNIT]
    check("all that came is kept", kept.read_bytes() == b"".join(parts), size_of(kept))
    gaps = re.findall(r"\[gap\]\nat = (\d+)\n", (folder / "kept.bin.ini").read_text())
    check("… with the places where it was cut", gaps == ["2760", "4296"], gaps)
    found = same_as_kept(coretap, "a source that breaks", run, kept.with_suffix(".bin.ini"), code, "--id",
                         "10")
    status = run.status()["input"]
    check("… which are gaps of the trace",
          found["gaps"] >= 2 and status["breaks"] == 2 and status["connections"] == 3 and
          9 * INSTRUCTIONS <= found["instructions"] < 10 * INSTRUCTIONS, f"{found} {status}")
    wanted = offline(coretap, "monitor", "-q", *watch, kept.with_suffix(".bin.ini")).stdout
    got = (folder / "out" / "monitor-10.txt").read_text()
    check("… and make what a monitor says behind them uncertain", got == wanted and "uncertain" in got,
          f"{got[:500]} {wanted[:500]}")
    left = sorted(path.name for path in (folder / "out").iterdir() if path.suffix == ".part")
    check("… whose file has its name at the end", not left, left)


def check_listening(coretap, folder):
    kept = folder / "kept"
    run = Run(coretap, folder, "--reconnect", "--tee", kept, "--output", folder / "out", "--at", PLACE,
              source="listen:0")
    port = int(run.hear(r"trace on port (\d+)")[1])
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", port)):
            pass  # a client that only tests whether the port is open: it sends no trace, so there is no gap
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(UNIT * 4)
    until(lambda: size_of(kept) == 12 * len(UNIT))
    code = run.end(signal.SIGINT)
    found = same_as_kept(coretap, "connections one after another", run, folder / "kept.ini", code)
    check("… each but the first begins with a gap",
          found["instructions"] == 12 * INSTRUCTIONS and found["gaps"] == 4 and
          run.status()["input"]["breaks"] == 2, f"{found} {run.said}")
    done = offline(coretap, "live", "--config", CONFIG, "--reconnect", "--at", PLACE, RAW / "board.bin")
    check("--reconnect with a file is refused", done.returncode == 2 and "only with tcp:" in done.stderr,
          done)


def check_socket_file(coretap, folder):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "probe"))
        server.listen()
        server.settimeout(PATIENCE)
        run = Run(coretap, folder, "--output", folder / "out", "--at", PLACE, source=str(folder / "probe"))
        with server.accept()[0] as connection:
            connection.sendall(UNIT * 4)
    code = run.end()
    check("a UNIX socket is an input, up to its end",
          code == 0 and run.status()["streams"][0]["instructions"] == 4 * INSTRUCTIONS, run.said)


# ---- the file that keeps the trace ----


def check_killed(coretap, folder):
    kept = folder / "kept"
    run = Run(coretap, folder, "--tee", kept, "--at", PLACE)
    run.child.stdin.write(UNIT * 20)
    until(lambda: size_of(kept) == 20 * len(UNIT))
    while_it_runs, _ = numbers(coretap, folder / "kept.ini")
    run.child.kill()
    run.child.wait()
    found, code = numbers(coretap, folder / "kept.ini")
    check("after kill -9 the trace can be read up to there",
          code == 0 and found["instructions"] == 20 * INSTRUCTIONS ==
          while_it_runs["instructions"], found)


def check_full_disk(coretap, folder):
    kept, most = folder / "kept", 10 * len(UNIT) + 70
    run = Run(coretap, folder, "--tee", kept, "--at", PLACE, "--output", folder / "out",
              limit=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
    run.child.stdin.write(UNIT * 12)
    told = run.hear("kept: cannot be written: File too large; it holds the first 5190 bytes")
    run.child.stdin.write(UNIT * 3)
    run.child.stdin.close()
    code = run.end()
    check("a disk without room is told with its cause", told and code == 2, f"{code} {run.said}")
    found, _ = numbers(coretap, folder / "kept.ini")
    check("… and keeps what there was room for", kept.read_bytes() == (UNIT * 12)[:most] and
          found["instructions"] >= 10 * INSTRUCTIONS, found)
    done = subprocess.run([coretap, "live", "--config", CONFIG, "--tee", "/dev/full", "--at", PLACE, "-"],
                          input=UNIT * 3, check=False, capture_output=True, timeout=300)
    check("… and the run goes on",
          done.returncode == 2 and b"No space left on device; it holds the first 0 bytes" in done.stderr and
          b"0 violations" in done.stderr, done)


def check_refused(coretap, folder):
    trace, full, fifo = folder / "trace", folder / "full", folder / "fifo"
    trace.write_bytes(UNIT)
    full.write_text("something\n")
    os.mkfifo(fifo)
    for kept, why in ((trace, "is the input itself"), (full, "is not empty"),
                      (fifo, "is not a regular file"),
                      ("-", "an .ini file cannot name this file"),
                      (folder / "a;b", "an .ini file cannot name this file"),
                      (folder / "none" / "kept", "No such file or directory")):
        before = sorted(path.name for path in folder.iterdir())
        done = offline(coretap, "live", "--config", CONFIG, "--at", PLACE, "--tee", kept, trace)
        check(f"--tee {pathlib.Path(kept).name}: {why}", done.returncode == 2 and why in done.stderr and
              before == sorted(path.name for path in folder.iterdir()) and trace.read_bytes() == UNIT and
              full.read_text() == "something\n", done)
    own = folder / "own.ini"
    config = CONFIG.read_text()
    for name in ("loop-code.bin", "board.bin"):
        config = config.replace(name, str(RAW / name))
    own.write_text(config)
    done = offline(coretap, "live", "--config", own, "--at", PLACE, "--tee", folder / "own", trace)
    check("--tee: the description is not written onto --config",
          done.returncode == 2 and "own.ini: the file is not empty" in done.stderr and
          not (folder / "own").exists(), done)
    done = offline(coretap, "live", "--config", RAW.parent / "quickstart", "--at", PLACE, "--tee",
                   folder / "x", trace)
    check("--tee needs the .ini of a raw trace",
          done.returncode == 2 and "is not the .ini file of a raw trace" in done.stderr and
          not (folder / "x").exists() and not (folder / "x.ini").exists(), done)


# ---- consumers that stop ----


class Writer(threading.Thread):
    """A thread that writes `units` units to a run, and records in `sent` how many bytes it wrote."""

    def __init__(self, run, units, last=True):
        super().__init__(daemon=True)
        self.run_, self.units, self.last, self.sent = run, units, last, 0

    def run(self):
        data = memoryview(UNIT * 64)
        left = self.units * len(UNIT)
        with contextlib.suppress(BrokenPipeError):
            while left:
                n = os.write(self.run_.child.stdin.fileno(), data[:min(left, len(data))])
                self.sent += n
                left -= n
            if self.last:
                self.run_.child.stdin.close()


def check_stopped(coretap, folder, drop):
    """Stops the reader of standard output with SIGSTOP, and lets it continue later."""
    name = "with --drop" if drop else "without --drop"
    kept, spec, units = folder / "kept", folder / "spec.tessla", 24 << 10  # 12 MiB
    spec.write_text(SPEC)
    watch = ["--spec", spec, "--bind", f"x={PLACE}", "--all", "--id", "10"]
    with (folder / "printed").open("wb") as printed:
        # pylint: disable-next=consider-using-with
        reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=printed)
    reader.send_signal(signal.SIGSTOP)
    run = Run(coretap, folder, "--tee", kept, *watch, *(["--drop"] if drop else []), stdout=reader.stdin)
    reader.stdin.close()
    writer = Writer(run, units, last=not drop)
    writer.start()
    size = units * len(UNIT)
    if drop:
        sent = until(lambda: writer.sent == size) and size
        check(f"{name} a consumer that stops holds nobody back", sent == size, sent)
    else:
        until(lambda: writer.sent >= 1 << 20)
        sent = settled(lambda: writer.sent)
        # Not more than the pipe to the run, its ring, the piece being analysed, waiting output, and some
        # slack.
        check(f"{name} it holds the writer back", 1 << 20 <= sent <= 3 << 20, sent)
    if is_sanitized(coretap):
        skip(f"{name}: memory", "sanitizers take more")
    else:
        check(f"{name} memory is bounded", run.resident() < RESIDENT, run.resident())
    reader.send_signal(signal.SIGCONT)
    if drop:  # after all waiting output is printed, nothing is dropped
        settled(lambda: size_of(folder / "printed"))
        Writer(run, 1024).run()
        size += 1024 * len(UNIT)
    code = run.end()
    reader.wait(timeout=PATIENCE)
    check(f"{name} all is kept", size_of(kept) == size, f"{size_of(kept)} {size}")
    text = (folder / "printed").read_text()
    counted = sum(1 for line in text.splitlines() if ": n = " in line)
    lost = re.search(r"(\d+) of (\d+) bytes were dropped, at (\d+) places", "".join(run.said))
    if not drop:
        wanted = offline(coretap, "monitor", "-q", *watch, folder / "kept.ini").stdout
        printed = "".join(line for line in text.splitlines(True) if not line.startswith("# "))
        check("… and analysed: not one result is missing",
              not lost and code == 1 and counted == EVENTS * units and printed == wanted,
              f"{code} {counted} of {EVENTS * units} {run.said}")
        return
    check("… and what is missing is what was said to be dropped",
          code == 1 and lost and int(lost[2]) == size and
          int(lost[1]) % len(UNIT) == 0 and counted == EVENTS * (size - int(lost[1])) // len(UNIT)
          and "uncertain" in text, f"{code} {counted} {run.said}")
    print(f"# {lost and int(lost[1]) / size:.0%} of {size >> 20} MiB dropped")


def check_closed_terminal(coretap, folder):
    """Checks SIGHUP, which a shell and the kernel send when a terminal is closed, one after the other."""
    run = Run(coretap, folder, "--tee", folder / "kept", "--at", PLACE, "--output", folder / "out",
              limit=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))  # also if the tests are under nohup
    run.child.stdin.write(UNIT * 20)
    until(lambda: size_of(folder / "kept") == 20 * len(UNIT))
    run.child.send_signal(signal.SIGHUP)
    code = run.end(signal.SIGHUP)
    check("a closed terminal ends a run with its reports",
          code == 0 and sum(s["instructions"] for s in run.status()["streams"]) == 20 * INSTRUCTIONS,
          f"{code} {run.said}")
    ignoring = Run(coretap, folder, "--tee", folder / "other", "--at", PLACE, "--output", folder / "out",
                   limit=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    ignoring.child.stdin.write(UNIT * 20)
    until(lambda: size_of(folder / "other") == 20 * len(UNIT))
    ignoring.child.send_signal(signal.SIGHUP)
    ignoring.child.stdin.write(UNIT * 5)
    ignoring.child.stdin.close()
    code = ignoring.end()
    check("… but not under nohup",
          code == 0 and sum(s["instructions"] for s in ignoring.status()["streams"]) == 25 * INSTRUCTIONS,
          f"{code} {ignoring.said}")


def check_second_signal(coretap, folder):
    """Checks that a second signal ends a run whose output nobody reads. The run cannot print its reports."""
    spec = folder / "spec.tessla"
    spec.write_text(SPEC)
    read, write = os.pipe()
    run = Run(coretap, folder, "--spec", spec, "--bind", f"x={PLACE}", "--all", "--id", "10", stdout=write)
    os.close(write)
    writer = Writer(run, 4096)
    writer.start()
    settled(lambda: writer.sent)
    run.child.send_signal(signal.SIGTERM)
    time.sleep(1)
    waits = run.child.poll() is None
    code = run.end(signal.SIGTERM)
    check("a second signal ends a run whose output nobody reads",
          waits and code == -signal.SIGTERM, f"{waits} {code}")
    os.close(read)
    read, write = os.pipe()
    os.close(read)
    run = Run(coretap, folder, "--spec", spec, "--bind", f"x={PLACE}", "--all", "--id", "10", stdout=write)
    os.close(write)
    writer = Writer(run, 4096)
    writer.start()
    code = run.end()
    check("one whose output nobody can read ends and says why",
          code == 2 and run.hear("standard output: writing failed; the run ends"), f"{code} {run.said}")


def check_clients(coretap, folder):
    """Checks clients that ask for the events and never read them."""
    if "live" in missing_parts(coretap):
        skip("clients that do not read", "built without the page")
        return
    units = 24 << 10
    run = Run(coretap, folder, "--at", PLACE, "--timing", "--http", "0", "--output", folder / "out")
    port = int(run.hear(r"page at http://.*?:(\d+)/")[1])
    clients = []
    for path in ("/api/events", "/", "/api/status") * 8:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", port))
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        clients.append(client)
    writer = Writer(run, units, last=False)
    writer.start()
    sent = until(lambda: writer.sent == units * len(UNIT))
    status = until(lambda: (lambda text: text if f"{units * len(UNIT)} bytes analysed" in text else None)(
        offline(coretap, "ctl", "--http", port, "status").stdout))
    check("page clients that never read hold nobody back", sent and status, f"{writer.sent} {status}")
    resident = run.resident()
    code = run.end(signal.SIGTERM)
    if not is_sanitized(coretap):
        check("… and take no memory that grows", resident < RESIDENT, resident)
    found = run.status()
    check("… nor do they keep the run from its end", code == 0 and
          found["streams"][0]["instructions"] == units * INSTRUCTIONS and found["input"]["lost"] == 0,
          f"{code} {found['input']}")
    for client in clients:
        client.close()


def main():
    coretap = os.path.abspath(sys.argv[1])
    for body in (check_reconnect, check_listening, check_socket_file, check_killed, check_full_disk,
                 check_refused, lambda *a: check_stopped(*a, drop=False),
                 lambda *a: check_stopped(*a, drop=True), check_closed_terminal, check_second_signal,
                 check_clients):
        with tempfile.TemporaryDirectory() as folder:
            body(coretap, pathlib.Path(folder))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
