#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks coretap live with specifications: slow ones are stopped while the others go on, a signal ends the
run whatever they do, and compiling is bounded and one at a time. Prints TAP.

usage: test_live_hostile.py CORETAP"""
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import sys
import tempfile
import threading
import time
import types
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from live import Live  # noqa: E402  pylint: disable=wrong-import-position
from parts import missing_parts  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, is_sanitized, skip  # noqa: E402  pylint: disable=wrong-import-position

CAPTURE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "quickstart"
CONFIG = f"""[capture]
file = {CAPTURE}/trace.bin
framing = frames
[source cpu0]
protocol = etmv4i
id = 0x10
TRCCONFIGR = 0x1851
TRCIDR0 = 0x28000EA1
TRCIDR1 = 0x4100F400
TRCIDR2 = 0x488
[source cpu1]
protocol = ete
id = 0x11
TRCCONFIGR = 0x841
TRCIDR0 = 0x28000EA1
TRCIDR1 = 0x4100FFF0
TRCIDR2 = 0x488
TRCDEVARCH = 0x47705A13
[image]
file = {CAPTURE}/firmware.bin
address = 0x80000
"""
HITS = 12  # how often the place is hit in the trace of ID 10
PLACE = "0x8057c"
GOOD = "in x: Events[Unit]\nout count(x) as n\n"
SLOW = ("in x: Events[Unit]\ndef f(n: Int): Int = if n == 0 then n else f(n - 1)\n"
        "out slift1(count(x), (k: Int) => f(if k > 5 then 1000000000000 else 10)) as y\n")
# Each event stays within the budget.
EAGER = SLOW.replace("1000000000000", "100000").replace("k > 5", "k > 0")
# A small text that needs much work: each input reaches a chain of streams, and has no effect there.
WORK = "in r: Events[Int]\n" + "".join(
    f"in i{k}: Events[Int]\ndef d{k} = last(i{k}, r)\ndef m{k} = merge(d{k}, {f'm{k - 1}' if k else 'd0'})\n"
    for k in range(4500)) + "out m4499 as m\n"
# Macros that double what they are given: a small text that needs all memory that it gets.
BOMB = "in x: Events[Int]\n" + "".join(
    f"def m{k}(s: Events[Int]): Events[Int] = {'s' if k == 0 else f'm{k - 1}(s) + m{k - 1}(s + {k})'}\n"
    for k in range(15)) + "out m14(x) as y\n"


class Board:
    def __init__(self, coretap, folder):
        self.coretap, self.folder = coretap, pathlib.Path(folder)
        self.config = self.write("q.ini", CONFIG)
        self.good = self.write("good.tessla", GOOD)
        self.once = (CAPTURE / "trace.bin").read_bytes()

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return self.folder / name

    def live(self, *args):
        return Live(self.coretap, types.SimpleNamespace(config=self.config), "--spec", self.good, "--bind",
                    f"x={PLACE}", "--all", *args, env={"ASAN_OPTIONS": "detect_leaks=0"})


def feed(live, data, end=False):
    """Writes data to a run in a thread, because a full pipe would block the test."""

    def write():
        try:
            live.child.stdin.write(data)
            live.child.stdin.flush()
            if end:
                live.child.stdin.close()
        except OSError:
            pass

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def last_counts(live):
    """Returns, by trace ID, how many events the well-behaved specification counted."""
    counts, now = {}, None
    for line in live.printed:
        now = line.split()[2] if line.startswith("# id ") else now
        found = re.match(r"\d+: good\.tessla: n = (\d+)|\d+: n = (\d+)", line)
        if found:
            counts[now] = int(found.group(1) or found.group(2))
    return counts


def check_beside(board):
    """Checks that stopping one specification does not affect the other one."""
    alone = board.live()
    feed(alone, board.once * 40, end=True)
    alone.end()
    slow = board.write("slow.tessla", SLOW)
    live = board.live("--spec", slow, "--http", "0")
    feed(live, board.once * 40)
    end, longest, failures = time.monotonic() + 300, 0, {}
    while time.monotonic() < end and not failures.get(str(slow)):
        begin = time.monotonic()
        status, page = live.ask("/api/status")
        longest = max(longest, time.monotonic() - begin)
        failures = {m["name"]: m["failure"] for m in page["monitors"]}
        time.sleep(0.05)
    print(f"# the page was silent for {longest:.2f} s at most", flush=True)
    check("what is slow is stopped, and the page says why", status == 200 and
          "more work than the limit of 2000000 units" in (failures[str(slow)] or "")
          and not failures[str(board.good)], failures)
    live.child.stdin.close()
    code = live.end()
    check("… standard output says it, too, and the exit code",
          code == 2 and any(line.startswith("stopped: ") for line in live.printed))
    check("… the other one has all its results",
          last_counts(live) == last_counts(alone) and last_counts(alone)["10"] >= HITS,
          f"{last_counts(live)}, alone {last_counts(alone)}")


def check_signal(board, name, text, *args):
    """Sends SIGTERM while events never end and trace waits."""
    live = board.live("--spec", board.write("hostile.tessla", text), "--http", "0", "-o",
                      board.folder / "reports", *args)
    live.port()
    feed(live, board.once * 4000)
    time.sleep(1)
    live.child.send_signal(signal.SIGTERM)
    try:
        code = live.end(patience=300)
    except Exception:  # pylint: disable=broad-except
        live.child.kill()
        code = None
    check(f"{name}: a signal ends it", code == 2, f"exit code {code}, {live.said[-5:]}")
    check(f"{name}: … with its reports", (board.folder / "reports" / "live.json").exists())
    (board.folder / "reports" / "live.json").unlink(missing_ok=True)
    check(f"{name}: … and says what was stopped",
          any("was stopped before the end" in line or "budget" in line for line in live.said), live.said)


def post(live, text, name):
    body = {"action": "add", "name": name, "text": text}
    try:
        request = urllib.request.Request(f"http://127.0.0.1:{live.port()}/api/monitors",
                                         data=json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=500) as answer:
            return answer.status, None, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers.get("Retry-After"), error.read().decode()


def check_compiling(board):
    live = board.live("--http", "0")
    live.port()
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda k: post(live, WORK, f"w{k}"), range(6)))
    away = [answer for answer in answers if answer[0] == 503]
    refused = [answer for answer in answers if answer[0] == 400]
    check("of six that compile at once those that find no place are told to ask again",
          len(away) >= 1 and len(away) + len(refused) == 6 and all(answer[1] == "1" for answer in away),
          answers)
    check("… and compiling ends when it takes too much work",
          refused and all("too much work" in answer[2] for answer in refused), answers)
    fine = GOOD.replace("in x: Events[Unit]", f"define x := onExecuting {PLACE}")
    code, _, said = post(live, fine.replace("out count(x) as n", "out x"), "fine")
    check("… and the next one is compiled", code == 200, said)
    live.stop()


def check_bombs(board):
    live = board.live("--http", "0")
    live.port()
    before = live.resident()
    worst = 0
    for k in range(8):
        begin = time.monotonic()
        code, _, said = post(live, BOMB, f"b{k}")
        worst = max(worst, time.monotonic() - begin)
        check(f"bomb {k} of {len(BOMB)} bytes does not compile", code == 400 and "--monitor-memory" in said,
              f"{code} {said}")
    status = pathlib.Path(f"/proc/{live.child.pid}/status").read_text(encoding="utf-8")
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) * 1024
    print(f"# {worst:.2f} s at most, {before / 1e6:.0f} MB before, {peak / 1e6:.0f} MB at most, "
          f"{live.resident() / 1e6:.0f} MB behind", flush=True)
    if not is_sanitized(board.coretap):
        check("eight of them take less than 200 MB", peak - before < 200e6, peak)
    check("the run goes on", live.ask("/api/status")[0] == 200)
    live.stop()


def main():
    coretap = sys.argv[1]
    missing = missing_parts(coretap).get("live")
    if missing:
        skip("specifications that attack a live run", missing)
        return finish()
    with tempfile.TemporaryDirectory() as folder:
        board = Board(coretap, folder)
        check_beside(board)
        check_signal(board, "an event without an end", SLOW, "--event-budget", "1000000000000000")
        check_signal(board, "the same in machine code", SLOW, "--event-budget", "1000000000000000",
                     "--engine", "native")
        check_signal(board, "many slow events", EAGER)
        check_compiling(board)
        check_bombs(board)
    return finish()


if __name__ == "__main__":
    os.environ.pop("CORETAP_TOKEN", None)
    sys.exit(main())
