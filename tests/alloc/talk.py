# SPDX-License-Identifier: Apache-2.0
"""Sends requests to the page of a live run whose allocations fail, and classifies the answers: right, refused
(500, 503) or cut off."""
import fcntl
import http.client
import json
import os
import re
import select
import time

TOKEN = "sesame"
PATIENCE_S = 300
F_SETPIPE_SZ = 1031
# Bytes of trace that exceed what a live run reads before it decides about the framing.
ENOUGH = 66000
POSTS = {"watch": {"set": ["sum_to"]},
         "monitors": {"action": "add", "name": "one", "text": "in x: Events[Unit]\nout count(x) as n\n",
                      "bind": {"x": "work_round"}},
         "filter": {"ids": []}}
CHANGES = ("watch", "monitors")  # posts whose effect the reports show
REFUSED = (500, 503)
OVER = "the run is over"


class Gone(Exception):
    """The server closed the connection before the answer was complete."""


class Talk:
    """One conversation with a live run. `wrong` lists what was wrong. `done` are the posts that took effect;
    `doubtful` are those that were sent and not answered, so nobody knows. `bodies` are the answers of a run
    without failures; an empty dictionary is filled in."""

    def __init__(self, bodies, posts):
        self.bodies, self.posts = bodies, posts
        self.port, self.wrong, self.done, self.doubtful = 0, [], set(), set()
        self.lacked = False  # whether an answer said that there is no memory

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)

    def ask(self, method, path, body=None, accept="*/*"):
        """Sends a request. Returns status and body. Raises Gone."""
        connection = self.connect()
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None,
                               {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json",
                                "Accept": accept})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except TimeoutError:
            self.wrong.append(f"{method} {path}: no answer in {PATIENCE_S} s")
            raise Gone from None
        except (OSError, http.client.HTTPException):
            raise Gone from None
        finally:
            connection.close()

    def expect(self, name, method, path, body=None, accept="*/*"):
        """Sends a request. Returns the body of a good answer, or None. Raises Gone."""
        status, text = self.ask(method, path, body, accept)
        if status == 200:
            return text
        self.lacked |= status == 503
        if status not in REFUSED and not (status == 409 and OVER in text.decode(errors="replace")):
            self.wrong.append(f"{name}: status {status}: {text[:200]}")
        return None

    def same(self, name, body):
        """Compares an answer with that of a good run, if there was one."""
        if self.bodies.setdefault(name, body) != body:
            self.wrong.append(f"{name}: another answer: {body[:300]} in the place of "
                              f"{self.bodies[name][:300]}")

    # ---- requests ----

    def page(self):
        body = self.expect("page", "GET", "/")
        if body is not None:
            self.same("page", body)

    def post(self, what):
        if what not in self.posts:
            return
        self.doubtful.add(what)
        body = self.expect(what, "POST", f"/api/{what}", POSTS[what])
        self.doubtful.discard(what)
        if body is None:
            return
        self.done.add(what)
        self.same(what, re.sub(rb'"at": ?\d+', b'"at"', body))

    def look(self, name, body):
        """Checks the members of a status. Returns it as JSON."""
        try:
            status = json.loads(body)
        except ValueError:
            self.wrong.append(f"{name}: no JSON: {body[:300]}")
            return {}
        if "changed" in status:  # the first event has all members, too
            status["monitors"] = status.pop("changed")
        named = {"watch": [place["place"] for place in status["watchpoints"]],
                 "monitors": [one["name"] for one in status["monitors"]]}
        for what, expected in (("watch", POSTS["watch"]["set"]), ("monitors", [POSTS["monitors"]["name"]])):
            if what not in self.doubtful and named[what] != (expected if what in self.done else []):
                self.wrong.append(f"{name}: {what}: {named[what]}")
        self.same("members", sorted(status))
        return status

    def event(self):
        """Returns the first event of the stream."""
        connection = self.connect()
        try:
            connection.request("GET", f"/api/events?token={TOKEN}")
            answer = connection.getresponse()
            line = answer.readline() if answer.status == 200 else b""
            if answer.status not in (200, *REFUSED):
                self.wrong.append(f"events: status {answer.status}")
        except TimeoutError:
            self.wrong.append(f"events: none in {PATIENCE_S} s")
            line = b""
        except (OSError, http.client.HTTPException):
            raise Gone from None
        finally:
            connection.close()
        if line.startswith(b"data: ") and line.endswith(b"\n"):
            self.look("events", line[6:])

    def status(self, size):
        """Asks for the status until the whole trace is analysed or no status comes."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            body = self.expect("status", "GET", "/api/status")
            if body is None:
                return
            status = self.look("status", body)
            if not status or status["state"] == "ended":
                return
            if status["input"]["analysed"] == size:
                said = [status[name] for name in ("losses", "streams", "watchpoints", "monitors")]
                self.same(f"hits, {len(said[2])} places, {len(said[3])} monitors", said)
                return
            self.post("filter")  # publishes the changes before it
        self.wrong.append(f"status: not all is analysed after {PATIENCE_S} s")

    def read(self, path, body=None):
        """Asks for something that is one or more lines of JSON. Compares it with a good run, unless posts
        changed something."""
        answer = self.expect(path, "GET" if body is None else "POST", path, body)
        if answer is None or self.doubtful or "monitors" not in self.done:
            return
        try:
            lines = [json.loads(line) for line in answer.splitlines()]
        except ValueError:
            self.wrong.append(f"{path}: no JSON: {answer[:300]}")
            return
        self.same(path, [sorted(line) for line in lines])

    def details(self):
        status, answer = self.ask("GET", "/api/monitor?name=one")
        late = status == 409 and OVER in answer.decode(errors="replace")
        if late or (status == 404 and "monitors" not in self.done):
            return
        if status not in (200, *REFUSED):
            self.wrong.append(f"details: status {status}: {answer[:200]}")
        elif status == 200 and json.loads(answer)["text"] not in (POSTS["monitors"]["text"], None):
            self.wrong.append(f"details: {answer[:300]}")

    def words(self):
        body = self.expect("status in words", "GET", "/api/status", accept="text/plain")
        if body is not None and not body.endswith(b"\n"):
            self.wrong.append(f"status in words: not whole: {body[-200:]}")


def find_port(said, ended):
    """Returns the port that the run writes to the file `said`, or 0 when the run ended or had no memory to
    write it."""
    end = time.monotonic() + PATIENCE_S
    lacking = False
    while time.monotonic() < end:
        text = said.read_bytes()
        found = re.search(rb"page at http://[\d.]+:(\d+)/", text)
        if found:
            return int(found[1])
        if b"out of memory" in text and not lacking:
            lacking, end = True, time.monotonic() + 2
        if select.select([ended], [], [], 0.005)[0]:
            return 0
    return 0


def hold(fifo, trace, said, ended, bodies, posts=tuple(POSTS)):
    """Has a whole conversation with a live run and returns it. The run reads its trace from `fifo`. `said` is
    the file with its messages, and `ended` a descriptor that becomes readable when it is over."""
    talk = Talk(bodies, posts)
    data = trace * (ENOUGH // len(trace) + 1)
    fd = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
    try:
        fcntl.fcntl(fd, F_SETPIPE_SZ, 1 << 18)
        talk.port = find_port(said, ended)
        # When memory was missing to publish the effect of a request, the next request publishes it.
        steps = (talk.page, lambda: talk.post("watch"), lambda: talk.post("monitors"),
                 lambda: talk.post("filter"), talk.event,
                 lambda: os.write(fd, data), lambda: talk.status(len(data)), talk.words, talk.details,
                 lambda: talk.read("/api/places?text=work"), lambda: talk.read("/api/outputs?after=1"),
                 lambda: talk.read("/api/check", {"text": POSTS["monitors"]["text"]}))
        for step in steps if talk.port else ():
            try:
                step()
            except Gone:
                pass
    finally:
        os.close(fd)
    return talk
