#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs coretap live on an endless recorded stream: its reports equal those of the offline commands on the
same bytes, its memory is constant, an exchange takes effect within a second and loses nothing, its page
works. Prints TAP.

usage: test_live.py CORETAP

With CT_LONG=1 the run takes ten minutes."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import browser  # noqa: E402  pylint: disable=wrong-import-position
import command  # noqa: E402  pylint: disable=wrong-import-position
from live import Feeder, Live, Stream, missing, offline  # noqa: E402  pylint: disable=wrong-import-position
from parts import missing_parts  # noqa: E402  pylint: disable=wrong-import-position
from tap import WHOLE, check, finish, is_sanitized, skip  # noqa: E402  pylint: disable=wrong-import-position

LONG = os.environ.get("CT_LONG") == "1"
SECONDS = 600 if LONG else 15 if WHOLE else 6
RATE = 1e6 if WHOLE and not LONG else 5e5  # bytes per second; other commands read all of it afterwards
# Growth of resident memory allowed in a quarter of the run. A leak per event grows in every quarter; a buffer
# that a busy machine needs for the first time comes once.
GROWTH = 256 * 1024
KEPT = """define calls := function_call "sort"
define n := eventCount(calls)
define error := filter(calls, n % 1000 == 0)
out error
out n
"""
FIRST = 'define a := function_call "fib"\ndefine n := eventCount(a)\nout n\n'
SECOND = 'define b := function_return "sort"\ndefine n := eventCount(b)\nout n\n'


def events(coretap, stream, data, place):
    """Returns the cycles of a watchpoint's events."""
    lines = offline(coretap, "watch", stream, data, "--at", place).decode().splitlines()
    kind = place.split(":")[0]
    return [int(line.split("\t")[0]) for line in lines if not line.startswith("#")
            and line.split("\t")[6] == kind]


# ---- the page ----


def drive_page(live):
    page = browser.Browser()
    try:
        page.open(f"http://127.0.0.1:{live.port()}/")
        check("the page shows the run", page.wait(
            'document.querySelector("#state").textContent === "running" && document.querySelectorAll("#edges '
            'tr").length > 5'))
        cards = page.value('document.querySelector("#cards").innerText')
        check("… with coverage of lines and branches, losses and rate",
              all(word in cards for word in ("Lines", "Branches", "Dropped", "B/s", "Violations")), cards)
        check("… plots of coverage and rate",
              page.value('document.querySelectorAll("#cover-chart polyline").length') == 3 and
              page.value('document.querySelectorAll("#rate-chart polyline").length') == 1)
        check("… histograms of times",
              page.value('document.querySelectorAll("#plots rect.plot").length') > 10)
        unnamed = page.value("[...document.querySelectorAll('svg')].filter(e => "
                             "!e.getAttribute('aria-label')).map(e => e.outerHTML.slice(0, 80))")
        check("… and each picture has a name for screen readers", unnamed == [], unnamed)
        hottest = page.value('document.querySelector("#edges").innerText')
        check("… the hottest edges with function and line", "sort" in hottest and "work.c:" in hottest,
              hottest)
        check("… verdicts",
              page.wait('/violation[^]*sort/.test(document.querySelector("#verdicts").textContent)'))
        before = page.value('document.querySelector("#cards .value").textContent')
        check("… and goes on by itself", page.wait(
            f'document.querySelector("#cards .value").textContent !== {json.dumps(before)}'))
        page.value('document.querySelector("#watch-place").value = "entry:main";'
                   'document.querySelector("#watch-form button").click()')
        check("a watchpoint set on the page has hits", page.wait(
            '[...document.querySelectorAll("#places tr")].some(r => r.innerText.startsWith("entry:main") && '
            '!r.innerText.includes("not yet"))'))
        page.value('document.querySelector("#watch-place").value = "nowhere";'
                   'document.querySelector("#watch-form button").click()')
        check("… a wrong one is refused in words", page.wait(
            'document.querySelector("#watch-said").textContent.includes("nowhere")'))
        page.value('[...document.querySelectorAll("#places tr")].find(r => '
                   'r.innerText.startsWith("entry:main"))'
                   '.querySelector("button").click()')
        check("… and one is removed there", page.wait(
            '![...document.querySelectorAll("#places tr")].some(r => r.innerText.startsWith("entry:main"))'))
        wide = page.value("document.documentElement.scrollWidth <= innerWidth")
        check("the page is not wider than its window", wide)
        check("… and loads nothing from elsewhere", page.value(
            'performance.getEntriesByType("resource").every(r => r.name.startsWith(location.origin))'))
    finally:
        page.close()


# ---- changes while it runs ----


def exchange(live):
    """Adds watchpoints and a specification while trace arrives."""
    for args in (("watch", "add", "return:sort"), ("monitor", "replace", str(live.first), str(live.second))):
        code, said, seconds = live.ctl(*args)
        check(f"ctl {' '.join(args[:2])} is done", code == 0, said)
        print(f"# in {seconds:.2f} s")


def compare_exchange(coretap, stream, data, status):
    points = {w["place"]: w for w in status["watchpoints"]}
    entries = events(coretap, stream, data, "entry:sort")
    check("a watchpoint that stayed lost no event", points["entry:sort"]["hits"] == len(entries),
          f'{points["entry:sort"]["hits"]} of {len(entries)}')
    came = points["return:sort"]
    returns = events(coretap, stream, data, "return:sort")
    before = events(coretap, stream, data[:came["since"]], "return:sort")
    # Steps that the end of the shorter trace completes may still be to come where it is not the end.
    check("one that came had each event from then on",
          came["hits"] == sum(cycle >= came["first_cycle"] for cycle in returns) and
          0 <= came["hits"] - (len(returns) - len(before)) <= 64 and came["hits"] > 0,
          f"{came}, {len(returns)} events, {len(before)} before")
    monitors = {m["name"]: m for m in status["monitors"]}
    kept = offline(coretap, "monitor", stream, data, "--id", "10", "--spec", stream.folder / "kept.tessla",
                   "--all")
    check("a specification that stayed had all results",
          monitors[str(stream.folder / "kept.tessla")]["results"] == len(kept.splitlines()))
    came = monitors[str(stream.folder / "first.tessla")]
    before = events(coretap, stream, data[:came["since"]], "return:sort")
    check("one that came had an event for each place",
          0 <= came["results"] - (len(returns) - len(before)) <= 64,
          f"{came}, {len(returns)} returns, {len(before)} before")


# ---- the endless stream ----


def without_captures(saved):
    """Returns a saved result without the names of captures, which a live run does not have. The checksum in
    the last line is adjusted."""
    return [line for line in saved.splitlines() if not line.startswith((b"capture ", b"end "))]


def compare_reports(coretap, stream, data, out):
    for command, name, args in (
            ("cover", "cover.txt", []), ("cover", "cover.data", ["--format", "data"]),
            ("cover", "cover.json", ["--format", "json"]), ("cover", "cover.info", ["--format", "lcov"]),
            ("timing", "timing.txt", ["--pair", "entry:fib return:fib"]),
            ("timing", "timing.json", ["--pair", "entry:fib return:fib", "--format", "json"])):
        wanted = offline(coretap, command, stream, data, *args)
        got = (out / name).read_bytes()
        same = without_captures(got) == without_captures(wanted) if name == "cover.data" else got == wanted
        check(f"{name} is what coretap {command} says of the same bytes", wanted and same)
    wanted = offline(coretap, "monitor", stream, data, "--id", "10", "--spec", stream.folder / "kept.tessla",
                     "--spec", stream.folder / "first.tessla")
    got = (out / "monitor-10.txt").read_bytes()
    check("the violations are those of coretap monitor", wanted and got == wanted,
          f"{len(got)} and {len(wanted)} bytes; last {got[-200:]} and {wanted[-200:]}")


def all_analysed(live, size):
    """Waits until a run has analysed so many bytes."""
    end = time.monotonic() + 300
    while live.ask("/api/status")[1]["input"]["analysed"] < size:
        assert time.monotonic() < end, live.ask("/api/status")[1]["input"]
        time.sleep(0.05)


def endless(coretap, stream):
    folder = stream.folder
    for name, text in (("kept", KEPT), ("first", FIRST), ("second", SECOND)):
        (folder / f"{name}.tessla").write_text(text)
    out = folder / "out"
    live = Live(coretap, stream, "--http", "0", "--ring", "1", "--cover", "--timing", "--pair",
                "entry:fib return:fib", "--at", "entry:sort", "--spec", folder / "kept.tessla", "--spec",
                folder / "first.tessla", "-o", out)
    live.first, live.second = folder / "first.tessla", folder / "second.tessla"
    feeder = Feeder(stream, live.child.stdin, RATE)
    begin = time.monotonic()
    feeder.start()
    code, said, _ = live.ctl("monitor", "add", "another", str(folder / "first.tessla"))
    check("ctl monitor add", code == 0, said)
    code, said, _ = live.ctl("monitor", "remove", "another")
    check("ctl monitor remove", code == 0 and "0 violations in" in said, said)
    if browser.PROGRAM:
        drive_page(live)
    else:
        skip("the page in a browser", "chromium is not there")
    exchange(live)
    looks = []
    while len(looks) < 8 or time.monotonic() - begin < SECONDS:
        time.sleep(SECONDS / 20)
        looks.append(live.resident())
    code, said, _ = live.ctl("status")
    check("ctl status says what is known", code == 0 and "entry:sort" in said and "lines" in said, said)
    pipe = os.dup(live.child.stdin.fileno())  # stays open without the feeder
    feeder.over.set()
    feeder.join()
    # A busy machine may not analyse a full buffer in the second that the run takes to end.
    all_analysed(live, feeder.sent)
    code = live.stop()
    os.close(pipe)
    check("after SIGINT the exit code says that a specification was violated", code == 1, live.said)
    if is_sanitized(coretap):
        skip("resident memory stays", "the sanitizer keeps what is freed")
    else:
        middle, late = looks[len(looks) // 2], looks[len(looks) * 3 // 4]
        grown = min(late - middle, looks[-1] - late)
        check("resident memory stays", grown <= GROWTH and max(looks) < 200 << 20, looks)
    print(f"# resident memory {min(looks) / 1e6:.1f} to {max(looks) / 1e6:.1f} MB in {len(looks)} looks")
    status = json.loads((out / "live.json").read_text())
    check("all that was read was analysed",
          status["input"]["read"] == status["input"]["analysed"] > 20 * len(stream.once), status["input"])
    check("… without a loss", status["input"]["lost"] == 0 and all(s["gaps"] == 0 for s in status["streams"]))
    data = stream.bytes(status["input"]["analysed"])
    compare_reports(coretap, stream, data, out)
    compare_exchange(coretap, stream, data, status)


# ---- other inputs ----


def from_tcp(coretap, stream):
    size = 16 * len(stream.once)
    wanted = offline(coretap, "cover", stream, stream.bytes(size))
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            connection = server.accept()[0]
            connection.sendall(stream.bytes(size))
            connection.close()
        threading.Thread(target=serve, daemon=True).start()
        live = Live(coretap, stream, "--cover", source=f"tcp:127.0.0.1:{server.getsockname()[1]}")
        code = live.end()
    check("trace over a TCP connection", code == 0 and "".join(live.printed).encode() == wanted, live.said)
    live = Live(coretap, stream, "--cover", source="listen:0")
    with socket.create_connection(("127.0.0.1", int(live.hear(r"trace on port (\d+)")))) as connection:
        connection.sendall(stream.bytes(size))
    code = live.end()
    check("trace over a connection that is waited for",
          code == 0 and "".join(live.printed).encode() == wanted, live.said)


def statement_lines(program, file):
    """Returns the lines of a file at which statements of the program begin, in order."""
    rows = map(str.split, command.output("aarch64-linux-gnu-readelf", "-wL", program).splitlines())
    return sorted({int(row[1]) for row in rows
                   if len(row) > 3 and row[0] == file and row[1].isdigit() and row[-1] == "x"})


def from_fifo(coretap, stream):
    fifo = stream.folder / "fifo"
    os.mkfifo(fifo)
    live = Live(coretap, stream, "--timing", "--at", "fib", "--http", "0", source=str(fifo))
    status = live.ask("/api/status")[1]
    check("the page is there before anybody writes to a FIFO", status["input"]["read"] == 0, status["input"])
    lines = statement_lines(stream.program, "live_work.c")
    offered = {text: live.ask(f"/api/places?text={text}")[1]["lines"]
               for text in ("live_work.c:1", "LIVE_WORK", "live_work.c:0", "no_such.c")}
    check("lines of the program are offered as places, as readelf lists them", list(offered.values()) == [
        [f"live_work.c:{line}" for line in lines if str(line)[0] == "1"][:50],
        [f"live_work.c:{line}" for line in lines][:50], [], []], offered)
    with open(fifo, "wb") as out:
        out.write(16 * stream.once)
    code = live.end()
    wanted = offline(coretap, "timing", stream, 16 * stream.once)
    wanted += offline(coretap, "watch", stream, 16 * stream.once, "--at", "fib", "--format", "sums")
    check("trace from a FIFO, up to its end", code == 0 and "".join(live.printed).encode() == wanted,
          live.said)


def from_device(coretap, stream):
    """Reads /dev/zero, a device whose frames of zeros hold no trace."""
    live = Live(coretap, stream, "--timing", "--http", "0", "--ring", "1", source="/dev/zero")
    end = time.monotonic() + 300
    status = live.ask("/api/status")[1]["input"]
    while not status["lost"] and time.monotonic() < end:
        time.sleep(0.1)
        status = live.ask("/api/status")[1]["input"]
    check("a device cannot be held back: what is too fast is dropped", status["drops"] and status["lost"] > 0,
          status)
    check("… and it is read until it is stopped", live.stop() == 1, live.said)


def monitor_live(coretap, stream):
    """Checks that coretap monitor --live prints what coretap monitor prints."""
    data = 64 * stream.once
    spec = stream.folder / "kept.tessla"
    for format_ in ("text", "jsonl"):
        wanted = offline(coretap, "monitor", stream, data, "--id", "10", "--spec", spec, "--format", format_)
        done = subprocess.run([coretap, "monitor", "--live", "0", "--config", stream.config, "--spec", spec,
                               "--id", "10",
                               "--format", format_, "-"], input=data, capture_output=True, timeout=300,
                              check=False)
        got = [line for line in done.stdout.splitlines() if not line.startswith(b"# ")]
        check(f"coretap monitor --live, {format_}",
              done.returncode == 1 and wanted and got == wanted.splitlines(), done.stderr.decode())


def held_back(coretap, stream):
    live = Live(coretap, stream, "--cover", "--timing", "--ring", "1", "-o", stream.folder / "held")
    size = 24 * (1 << 20) // len(stream.once) * len(stream.once)
    feeder = Feeder(stream, live.child.stdin, 0, size)
    feeder.start()
    code = live.end()
    status = json.loads((stream.folder / "held" / "live.json").read_text())["input"]
    check("who writes too fast to a pipe waits", code == 0 and status["analysed"] == feeder.sent == size,
          (code, live.said, status))


def dropped(coretap, stream):
    size = (100 if WHOLE else 50) << 20
    live = Live(coretap, stream, "--timing", "--drop", "--ring", "1", "-o", stream.folder / "dropped")
    feeder = Feeder(stream, live.child.stdin, 0, size, 25 << 20)
    feeder.start()
    code = live.end()
    status = json.loads((stream.folder / "dropped" / "live.json").read_text())
    lost = status["input"]["lost"]
    check("with --drop nobody waits, and what is lost is counted",
          code == 1 and status["input"]["read"] == size and 0 < lost < size, (code, status["input"]))
    check("… and said", any(f"{lost} of {size} bytes were dropped" in line for line in live.said), live.said)
    stats = status["streams"][0]
    check("… and is a gap in the trace, behind which it goes on",
          stats["gaps"] > 0 and stats["instructions"] > 1000000 and stats["no_access"] == 0, stats)
    print(f"# {lost / size:.0%} of {size >> 20} MiB dropped at {status['input']['losses']} places, "
          f"{stats['gaps']} gaps, "
          f"{stats['bad_packets']} bad packets")


# ---- access ----


def tokens(coretap, stream):
    done = subprocess.run([coretap, "live", "--config", stream.config, "--http", "0.0.0.0:0", "-"], input=b"",
                          capture_output=True, timeout=300, check=False)
    check("an address that others reach needs a token", done.returncode == 2 and b"--token" in done.stderr,
          done.stderr)
    live = Live(coretap, stream, "--http", "0.0.0.0:0", env={"CORETAP_TOKEN": "secret"})
    for path in ("/", "/api/status", "/api/events"):
        status, answer = live.ask(path)
        check(f"{path} without it is refused", status == 401 and "token" in answer["error"], answer)
    check("… and with a wrong one", live.ask("/api/status?token=secreT")[0] == 401)
    check("… a POST too", live.ask("/api/stop", {}, Authorization="Bearer x")[0] == 401)
    check("with the token in the address", live.ask("/api/status?token=secret")[0] == 200)
    check("… or in a header", live.ask("/api/status", Authorization="Bearer secret")[0] == 200)
    check("ctl says what it needs", live.ctl("status", env={"CORETAP_TOKEN": ""})[0] == 2)
    check("… and has it from the environment", live.ctl("stop", env={"CORETAP_TOKEN": "secret"})[0] == 0)
    check("… which stops the run, in which no trace came",
          live.end() == 1 and "no trace bytes" in str(live.said), live.said)


WRONG = [
    ("/api/nothing", None, 404, "/api/status"),
    ("/api/watch", b"{", 400, "line 1, column 1"),
    ("/api/watch", b"[]", 400, "object"),
    ("/api/watch", {}, 400, "required"),
    ("/api/watch", {"set": "main"}, 400, "array"),
    ("/api/watch", {"set": [1]}, 400, "array"),
    ("/api/watch", {"sets": []}, 400, "sets"),
    ("/api/watch", {"set": [], "add": []}, 400, "cannot be used"),
    ("/api/watch", {"add": ["nowhere"]}, 409, "nowhere"),
    ("/api/watch", {"remove": ["main"]}, 409, "not a watchpoint"),
    ("/api/monitors", {"action": "go"}, 400, "action"),
    ("/api/monitors", {"action": "add", "name": ""}, 400, "name"),
    ("/api/monitors", {"action": "add", "name": "x"}, 400, "text"),
    ("/api/monitors", {"action": "add", "name": "x", "text": "out y"}, 400, "x:1:5"),
    ("/api/monitors", {"action": "add", "name": "x", "text": FIRST, "bind": {"z": "main"}}, 409,
     "has no input z"),
    ("/api/monitors", {"action": "add", "name": "x", "text": FIRST, "bind": []}, 400, "bind"),
    ("/api/monitors", {"action": "replace", "name": "x", "text": FIRST}, 409, "no specification"),
    ("/api/monitors", {"action": "remove", "name": "x"}, 409, "no specification"),
    ("/api/filter", {"ids": ["100"]}, 400, "7f"),
    ("/api/filter", {"levels": [4]}, 400, "levels"),
    ("/api/filter", {"contexts": [str(i) for i in range(17)]}, 400, "16"),
    ("/api/stop", {"now": True}, 400, "now"),
]


def wrong_requests(coretap, stream):
    live = Live(coretap, stream, "--http", "0", "--cover")
    for path, body, status, words in WRONG:
        got, answer = live.ask(path, body)
        check(f"{path} {json.dumps(body) if not isinstance(body, bytes) else body}",
              got == status and words in answer["error"], (got, answer))
    got, answer = live.ask("/api/stop", {}, Content_Type="text/plain")
    check("another type of content", got == 415 and "application/json" in answer["error"], answer)
    got, answer = live.ask("/api/watch", b" " * (2 << 20))
    check("a request that is too long", got == 413 and "1 MiB" in answer["error"], answer)
    got, answer = live.ask("/", Host="elsewhere.example")
    check("a name of another machine", got == 403, answer)
    check("a second SIGTERM is not needed", live.stop(signal.SIGTERM) == 1, live.said)


def filters(coretap, stream):
    live = Live(coretap, stream, "--http", "0", "--at", "main", "-o", stream.folder / "filtered")
    answers = [live.ask("/api/filter", {"ids": ["11"]})[0]]
    live.child.stdin.write(16 * stream.once)
    live.child.stdin.close()
    live.end()
    status = json.loads((stream.folder / "filtered" / "live.json").read_text())
    check("what does not pass the filter does not count",
          answers == [200] and status["watchpoints"][0]["hits"] == 0 and status["filter"]["ids"] == ["11"],
          status)


def filtered(coretap, stream, data, body):
    """Returns the instructions that were followed with a filter, the hits of a watchpoint, and what was said
    of the filter."""
    folder = stream.folder / "narrow"
    live = Live(coretap, stream, "--http", "0", "--at", "entry:sort", "-o", folder)
    answer = live.ask("/api/filter", body)[1]["done"]
    live.child.stdin.write(data)
    live.child.stdin.close()
    live.end()
    status = json.loads((folder / "live.json").read_text())
    return sum(s["instructions"] for s in status["streams"]), status["watchpoints"][0]["hits"], answer


def filters_narrow(coretap, stream):
    """Checks that what a filter leaves out is not followed."""
    data = stream.bytes(1 << 20)
    whole = filtered(coretap, stream, data, {})
    for what, body in (("a source", {"ids": ["11"]}), ("a context", {"contexts": ["dead"]}),
                       ("a level", {"levels": [3]})):
        followed, hits, said = filtered(coretap, stream, data, body)
        check(f"{what} that no filter wants is not followed",
              followed == hits == 0 < min(whole[:2]) and "not decoded" in said,
              (followed, hits, said, whole))
    got = filtered(coretap, stream, data, {"levels": [0]})
    check("… and what one wants is, as without it", got[:2] == whole[:2], (got, whole))
    live = Live(coretap, stream, "--timing", "--http", "0", "-o", stream.folder / "timed")
    answer = live.ask("/api/filter", {"ids": ["11"]})[1]["done"]
    live.stop()
    check("times are of all, whatever the filter", "all trace is still decoded" in answer, answer)


def filters_widen(coretap, stream):
    """Checks that nothing is missing once the trace has given the place of execution."""
    # whole repetitions: a packet that the end cuts would be a loss
    half, data = 4 << 20, stream.once * ((8 << 20) // len(stream.once) + 1)
    for narrow in ({"ids": ["11"]}, {"contexts": ["dead"]}):
        folder = stream.folder / "widened"
        live = Live(coretap, stream, "--http", "0", "--at", "entry:sort", "-o", folder)
        live.ask("/api/filter", narrow)
        live.child.stdin.write(data[:half])
        live.child.stdin.flush()
        all_analysed(live, half)
        answer = live.ask("/api/filter", {})[1]
        live.child.stdin.write(data[half:])
        live.child.stdin.close()
        code = live.end()
        status = json.loads((folder / "live.json").read_text())
        at = int(live.hear(r"ID 10: passes the filter again and is decoded from byte (\d+) of the input"))
        hits = status["watchpoints"][0]["hits"]
        # Events that the end of the shorter trace completes may still be to come where it is not the end.
        more = hits - (len(events(coretap, stream, data, "entry:sort")) -
                       len(events(coretap, stream, data[:at], "entry:sort")))
        check(f"{next(iter(narrow))} widened: each event from then on is there",
              code == 0 and answer["at"] == half and half - 16 <= at < half + len(stream.once) and
              0 <= more <= 64 and hits > 1000, (code, answer, at, more, hits))


def main():
    coretap = sys.argv[1]
    if missing():
        print(f"1..0 # SKIP {' and '.join(missing())} not there")
        return 0
    without = missing_parts(coretap).get("live")
    if without:
        print(f"1..0 # SKIP {without}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        stream = Stream(coretap, folder)
        endless(coretap, stream)
        from_tcp(coretap, stream)
        from_fifo(coretap, stream)
        from_device(coretap, stream)
        monitor_live(coretap, stream)
        held_back(coretap, stream)
        dropped(coretap, stream)
        tokens(coretap, stream)
        wrong_requests(coretap, stream)
        filters(coretap, stream)
        filters_narrow(coretap, stream)
        filters_widen(coretap, stream)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
