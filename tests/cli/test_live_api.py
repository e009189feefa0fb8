#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the API of a live run's page for specifications: details with plots, last results as lines, messages
of the compiler, events that report changes, and who may ask. Prints TAP.

usage: test_live_api.py CORETAP"""
import csv
import io
import json
import pathlib
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import small_elf  # noqa: E402  pylint: disable=wrong-import-position
from live import Live, Raw  # noqa: E402  pylint: disable=wrong-import-position
from parts import missing_parts  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish  # noqa: E402  pylint: disable=wrong-import-position

COUNT = """in x: Events[Unit]
def @unit(u: String)
def n = count(x)
@unit("calls") out n
out filter(n, n < 12) as low -- no unit
out n % 7 == 6 as error
out if n % 2 == 0 then "even, \\"2\\"" else "odd" as parity
"""
BOOM = "in x: Events[Unit]\ndef n = count(x)\nout 100 / (n - 30) as left\n"
VARIABLES = b"speed", b"speed_limit", b"limits"
EVEN = '"even, "2""'
DAMAGE = b"\x21" + b"\xe8" * 15  # a frame of ID 10 with headers that no packet has
UNITS = 40
EVENTS = UNITS * Raw.EVENTS - 1  # an instant ends only when the next one comes


def start(coretap, stream, *args, env=None):
    return Live(coretap, stream, "--id", "10", "--http", "0", "--at", Raw.PLACE, *args, env=env)


def feed(live, data):
    live.child.stdin.write(data)
    live.child.stdin.flush()


def wait(live, condition):
    """Polls the status until the condition holds, for 300 s at most. Returns the last status."""
    end = time.monotonic() + 300
    while True:
        status = live.ask("/api/status")[1]
        if condition(status) or time.monotonic() > end:
            return status
        time.sleep(0.1)


def read_text(live, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{live.port()}{path}", timeout=300) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


class Events:
    """The events of /api/events."""

    def __init__(self, live):
        self.file = urllib.request.urlopen(  # pylint: disable=consider-using-with
            f"http://127.0.0.1:{live.port()}/api/events", timeout=300)

    def next(self):
        """Returns the next event, or None at the end."""
        for line in self.file:
            if line.startswith(b"data: "):
                return json.loads(line[6:])
        return None


# ---- details ----


def details(live):
    status, one = live.ask("/api/monitor?name=count")
    outputs = {o["name"]: o for o in one["outputs"]}
    n = outputs["n"]
    check("details have the text and what feeds it", status == 200 and one["text"] == COUNT and
          one["bind"] == {"x": Raw.PLACE}, one)
    check("… each output with its last value, type and unit",
          (n["value"], n["type"], n["unit"]) == (str(EVENTS), "Int", "calls") and
          "unit" not in outputs["low"] and outputs["low"]["value"] == "11" and
          outputs["error"]["violations"] == one["violations"] == (EVENTS + 1) // 7 and
          outputs["parity"]["value"] == '"odd"', outputs)
    plot = n["plot"]
    check("… a plot of each number, with all of its values",
          plot["count"] == n["count"] == sum(p[4] for p in plot["points"]) ==
          sum(b[2] for b in plot["histogram"]) and
          (plot["low"], plot["high"], plot["mean"]) == (1, EVENTS, (EVENTS + 1) / 2) and
          n["count"] == EVENTS and "plot" not in outputs["parity"], plot)
    check("… over time in order, each column with low, mean and high",
          all(a[0] + plot["width"] <= b[0] for a, b in zip(plot["points"], plot["points"][1:])) and
          all(p[1] <= p[2] <= p[3] for p in plot["points"]) and len(plot["points"]) > 30, plot)
    bars = plot["histogram"]
    check("… with logarithmic bars where values are far apart", plot["logarithmic"] and
          bars[-1][1] - bars[-1][0] > 10 * (bars[1][1] - bars[1][0]), bars)
    low = outputs["low"]["plot"]
    check("… else with bars of one width", not low["logarithmic"] and
          len({round(b[1] - b[0], 6) for b in low["histogram"]}) == 1, low["histogram"])
    bad = one["last_violations"]
    check("… the last violations with their places", len(bad) == 16 and
          bad[0]["number"] > bad[1]["number"] and all(b["violation"] and b["event"]["addr"] == "80000"
                                                      for b in bad), bad[:2])
    check("… and the last results", len(one["last_results"]) == 64 and
          all(a["number"] > b["number"] for a, b in zip(one["last_results"], one["last_results"][1:])),
          one["last_results"][:2])
    check("a name that nobody has", live.ask("/api/monitor?name=no")[0] == 404)
    check("… or none", live.ask("/api/monitor")[0] == 400)


def states(live):
    monitors = {m["name"]: m for m in live.ask("/api/status")[1]["monitors"]}
    check("a specification that failed says why",
          "Division by zero" in (monitors["boom"]["failure"] or "") and
          monitors["count"]["failure"] is None, monitors)
    check("what is certain has no doubt", "doubt" not in monitors["count"], monitors["count"])


def doubt(live, stream):
    before = live.ask("/api/status")[1]["results"]
    feed(live, DAMAGE * 8 + stream.once * 4)
    status = wait(live, lambda s: any("doubt" in m for m in s["monitors"]) and s["results"] > before)
    one = next(m for m in status["monitors"] if m["name"] == "count")
    n = next(o for o in live.ask("/api/monitor?name=count")[1]["outputs"] if o["name"] == "n")
    check("behind a loss a count is uncertain, and since when is said",
          0 < one.get("doubt", 0) <= n["doubt"] <= n["time"] and one["uncertain"] > 0, (one, n))
    check("… also in words", "uncertain since" in live.ctl("status")[1], live.ctl("status")[1])


# ---- last results as lines ----


def lines(live):
    kind, text = read_text(live, "/api/outputs?format=csv&name=count")
    rows = list(csv.DictReader(io.StringIO(text)))
    check("the last results as CSV", kind.startswith("text/csv") and len(rows) == 64 and
          rows[-1]["output"] in ("parity", "error") and rows[-1]["spec"] == "count" and
          {r["value"] for r in rows if r["output"] == "parity"} == {EVEN, '"odd"'}, rows[-8:])
    kind, text = read_text(live, "/api/outputs?name=count")
    objects = [json.loads(line) for line in text.splitlines()]
    check("… and as lines of JSON", "ndjson" in kind and
          [(str(o["number"]), str(o["time"]), o["id"], o["spec"], o["output"], o["value"],
            str(int(o.get("violation", False)))) for o in objects] ==
          [(r["number"], r["time"], r["id"], r["spec"], r["output"], r["value"], r["violation"])
           for r in rows], objects[-2:])
    numbers = [o["number"] for o in objects]
    check("… in order", numbers == sorted(set(numbers)))
    after = read_text(live, f"/api/outputs?after={numbers[-3]}&name=count")[1].splitlines()
    check("… from a number on", [json.loads(line)["number"] for line in after] == numbers[-2:], after)
    everybody = {json.loads(line)["spec"] for line in read_text(live, "/api/outputs")[1].splitlines()}
    check("… of all specifications", everybody == {"count", "boom"}, everybody)
    for query, status in (("format=xml", 400), ("after=-1", 400), ("after=x", 400), ("name=no", 404)):
        got, answer = live.ask("/api/outputs?" + query)
        check(f"/api/outputs?{query}", got == status and "error" in answer, answer)
    code, said, _ = live.ctl("outputs", "csv", "count")
    check("ctl outputs has the same", code == 0 and list(csv.DictReader(io.StringIO(said))) == rows, said)


# ---- messages of the compiler ----


def checking(live):
    wrong = {"text": "in x: Events[Int]\nout x + 1.5 as y\nout z"}
    faults = [(2, 9, 2, 12), (3, 5, 3, 6)]
    for path, body in (("/api/check", wrong), ("/api/monitors", {"action": "add", "name": "w", **wrong})):
        status, answer = live.ask(path, body)
        check(f"{path}: errors come with line and column", status == 400 and "error" in answer and
              [(d["line"], d["column"], d["end_line"], d["end_column"])
               for d in answer["diagnostics"]] == faults and
          all(d["text"] and not d["warning"] for d in answer["diagnostics"]), answer)
    text = 'define a := function_call "f"\ndefine n := eventCount(a)\nout n\n'
    status, answer = live.ask("/api/check", {"text": text})
    check("/api/check says which inputs there are, and what feeds them", status == 200 and
          [(i["type"], i["place"], i["fixed"]) for i in answer["inputs"]] == [("Unit", "entry:f", True)] and
          answer["outputs"] == [{"name": "n", "type": "Int"}], answer)
    text = "in a: Events[Unit]\nin gap: Events[Int]\nout gap\nout a"
    status, answer = live.ask("/api/check", {"text": text})
    check("… or that nothing does", status == 200 and
          [(i["name"], i["place"], i["fixed"]) for i in answer["inputs"]] ==
          [("a", None, False), ("gap", "gap", False)], answer)
    check("… nothing of that runs", len(live.ask("/api/status")[1]["monitors"]) == 2)
    for body, words in (({}, "text"), ({"text": 1}, "text"), ({"text": "out 1", "x": 1}, "unknown"),
                        ({"text": 'include "/etc/passwd"\nout 1 as x'}, "nclude")):
        status, answer = live.ask("/api/check", body)
        check(f"/api/check {json.dumps(body)}", status == 400 and words in answer["error"], answer)
    for path, body, want, words in (
            ("/api/watch", {}, 400, 'one of the keys "set", "add" and "remove" is required'),
            ("/api/watch", {"add": 1}, 400, '"add" must be an array of strings'),
            ("/api/watch", {"add": [1]}, 400, '"add" must be an array of strings'),
            ("/api/monitors", {"action": "drop", "name": "w"}, 400, '"action" must be "add", "replace" or'),
            ("/api/monitors", {"action": "add", "name": "w", "text": "out 1 as x", "bind": 1}, 400,
             '"bind" must be an object whose keys are inputs'),
            ("/api/monitors", {"action": "add", "name": "w", "text": "out 1 as x", "bind": {"a": 1}}, 400,
             "the place of a must be a string"),
            ("/api/filter", {"contexts": ["1"] * 5000}, 400, '"contexts" must have at most'),
            ("/api/watch", b"{", 400, "the request is not valid JSON: line"),
            ("/api/watch", b"[]", 400, "the request must be a JSON object"),
            ("/api/watch", b" " * (1 << 21), 413, "the request is longer than 1 MiB; nothing is changed"),
            ("/api/nothing", {}, 404, "the path does not exist; GET accepts"),
            ("/api/status", {}, 405, "the path does not have this method"),
            ("/api/monitors", None, 405, "the path does not have this method"),
            ("/api/nothing", None, 404, "the path does not exist; GET accepts"),
            ("/api/outputs?format=xml", None, 400, '"format" must be csv or jsonl'),
            ("/api/outputs?after=x", None, 400, '"after" must be the number of a result')):
        status, answer = live.ask(path, body)
        check(f"{path}: {words}", status == want and words in answer["error"], (status, answer))
    status, answer = live.ask("/api/watch", b"{}", Content_Type="text/plain")
    check("the kind of a request", status == 415 and "must be application/json" in answer["error"], answer)
    status, answer = live.ask("/api/status", Host="elsewhere.example")
    check("another host", status == 403 and "does not name this machine" in answer["error"], answer)
    status, answer = live.ask("/api/places?text=x")
    check("places that are in no program", status == 200 and "exception" in answer["others"], answer)
    values = [live.ask(f"/api/places?text={text}")[1]["values"] for text in ("itm:3", "dwt:3", "stm", "")]
    check("… ports and comparators of the sources that are described", values[:3] ==
          [["itm:3", "itm:30", "itm:31"],
           [f"dwt:3{part}" for part in ("", ".read", ".write", ".address", ".pc")], []] and
          len(values[3]) == 50, values)
    variables = [live.ask(f"/api/places?text={text}")[1]["variables"] for text in ("LIMIT", "speed", "no")]
    check("… variables of the program, for a DWT", variables ==
          [["limits", "speed_limit"], ["speed", "speed_limit"], []], variables)


# ---- events ----


def changes(coretap, stream, folder):
    names = [f"m{i:03}" for i in range(256)]
    live = start(coretap, stream, "--violations", folder / "changes.jsonl")
    events = Events(live)
    first = events.next()
    check("the first event has all",
          {"state", "input", "streams", "filter", "numbers", "changed"} <= first.keys() and
          first["changed"] == [], list(first))
    bind = {"x": Raw.PLACE}
    for name in names:
        status, answer = live.ask("/api/monitors", {"action": "add", "name": name, "text": COUNT,
                                                    "bind": bind})
        if status != 200:
            check("256 specifications are added", False, answer)
            break
    later = Events(live)
    whole = later.next()
    check("who comes later gets all 256 at once", [m["name"] for m in whole["changed"]] == names)
    nothing = later.next()
    check("… and then only what changed: nothing of them", nothing["changed"] == [] and
          not {"numbers", "streams", "edges", "filter"} & nothing.keys() and
          len(json.dumps(nothing)) < 2000, nothing)
    feed(live, stream.once * 2)
    changed = {}
    while not changed.get("m255", {}).get("results"):
        changed.update({m["name"]: m for m in later.next()["changed"]})
    check("trace changes each of them", len(changed) == 256 and
          all(m["outputs"][0]["name"] == "n" for m in changed.values()))
    live.ask("/api/monitors", {"action": "remove", "name": "m007"})
    news = later.next()
    while "numbers" not in news:
        news = later.next()
    check("one that goes is not among the numbers any more", len(news["numbers"]) == 255 and
          changed["m007"]["number"] not in news["numbers"] and len(news["changed"]) == 0, news["numbers"][:9])
    live.ask("/api/monitor?name=m010")
    live.child.stdin.close()
    last = None
    for news in iter(later.next, None):
        last = {**(last or {}), **news}
    check("the last events say that the run has ended, with the files that it wrote",
          last["state"] == "ended" and last["files"] == [str(folder / "changes.jsonl")],
          {k: last[k] for k in ("state", "files")})
    check("… and the details of what was looked at", [d["name"] for d in last["details"]] == ["m010"] and
          last["details"][0]["text"] == COUNT, [d["name"] for d in last["details"]])
    live.end()


# ---- access ----


def status_of(live, path, method="GET", body=None, **headers):
    request = urllib.request.Request(f"http://127.0.0.1:{live.port()}{path}", data=body, method=method,
                                     headers={key.replace("_", "-"): value for key, value in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status, dict(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers)


def who_may(coretap, stream):
    live = start(coretap, stream, env={"CORETAP_TOKEN": "secret"})
    for path in ("/api/monitor?name=x", "/api/outputs", "/api/places"):
        check(f"{path} without the token is refused", status_of(live, path)[0] == 401)
    add = json.dumps({"action": "add", "name": "x", "text": "out 1 as x"}).encode()
    for path in ("/api/check", "/api/monitors"):
        check(f"{path} without the token is refused",
              status_of(live, path, "POST", add, Content_Type="application/json")[0] == 401)
    live.ctl("stop", env={"CORETAP_TOKEN": "secret"})
    live.end()
    live = start(coretap, stream)
    for path in ("/api/check", "/api/monitors"):
        check(f"{path}: what a page of somewhere else can send without asking is refused",
              status_of(live, path, "POST", add, Content_Type="text/plain",
                        Origin="http://elsewhere.example")[0] == 415)
        code, headers = status_of(live, path, "OPTIONS", None, Origin="http://elsewhere.example",
                                  Access_Control_Request_Method="POST",
                                  Access_Control_Request_Headers="content-type")
        check("… and when it asks it is not allowed",
              code == 405 and not any(key.lower().startswith("access-control") for key in headers), headers)
        check("… nor under another name of this machine",
              status_of(live, path, "POST", add, Content_Type="application/json", Host="elsewhere.example")[0]
              == 403)
    check("nothing runs of all that", live.ask("/api/status")[1]["monitors"] == [])
    live.stop()


def long_values(coretap, stream):
    live = start(coretap, stream, "--all")
    text = f'in x: Events[Unit]\nout if count(x) > 0 then "{"a" * 61}\u00e4\u00e4" else "" as long\n'
    status, answer = live.ask("/api/monitors", {"action": "add", "name": "long", "text": text,
                                                "bind": {"x": Raw.PLACE}})
    feed(live, stream.once * 2)
    verdicts = wait(live, lambda s: s["verdicts"])["verdicts"]
    check("a long value is cut at a whole character", status == 200 and verdicts and
          verdicts[0]["value"] == '"' + "a" * 61, (answer, verdicts[:1]))
    live.stop()


def main():
    coretap = sys.argv[1]
    without = missing_parts(coretap).get("live")
    if without:
        print(f"1..0 # SKIP {without}")
        return 0
    stream = Raw()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        program = folder / "program.elf"
        program.write_bytes(small_elf.make(bytes(8), 0x400000, [(b"work", 0x400000, 8)],
                                           [(name, 0x400000, 4) for name in VARIABLES]))
        live = start(coretap, stream, "--elf", program)
        for spec, text in (("count", COUNT), ("boom", BOOM)):
            status, answer = live.ask("/api/monitors", {"action": "add", "name": spec, "text": text,
                                                        "bind": {"x": Raw.PLACE}})
            check(f"{spec} is added", status == 200, answer)
        feed(live, stream.once * UNITS)
        wait(live, lambda s: s["input"]["analysed"] == UNITS * len(stream.once))
        details(live)
        states(live)
        lines(live)
        checking(live)
        doubt(live, stream)
        live.stop()
        changes(coretap, stream, folder)
        long_values(coretap, stream)
        who_may(coretap, stream)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
