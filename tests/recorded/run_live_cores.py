#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks coretap live for two cores that take turns: one run of the specifications, which agrees with coretap
monitor on the same bytes, however they arrive; the page and its JSON name cores and what is in doubt.
Prints TAP.

usage: run_live_cores.py COMMAND PLUGIN EXAMPLES"""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from live import Live  # noqa: E402  pylint: disable=wrong-import-position
from parts import missing_parts  # noqa: E402  pylint: disable=wrong-import-position
from perf_writer import frames, unframed  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, skip  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, PLUGIN, EXAMPLES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN}
SPEC = EXAMPLES / "turns-stream.tessla"
BINDS = ["--bind", "produced=entry:produce", "--bind", "consumed=entry:consume"]


SLEEPER = """
#include <pthread.h>
#include <sched.h>
static volatile int done[2];
__attribute__((noinline)) void produce(volatile long *n) { ++*n; }
__attribute__((noinline)) void consume(volatile long *n) { --*n; }
static void *work(void *other)
{
    volatile long n = 0;
    for (int i = 0; i < 40000; i++) {
        produce(&n);
        consume(&n);
        for (volatile int k = 0; k < 100; k++)
            continue;
        *(volatile int *)(other == done ? &done[1] : &done[0]) = i;
        while (*(volatile int *)other + 2000 < i) /* nobody is far ahead */
            sched_yield();
    }
    return other;
}
int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)&done[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"""


LATER = """
#include <pthread.h>
static volatile long n;
__attribute__((noinline)) void produce(void) { for (volatile int i = 0; i < 400; i++) n++; }
__attribute__((noinline)) void consume(void) { for (volatile int i = 0; i < 400; i++) n--; }
static void *work(void *unused)
{
    for (int i = 0; i < 200; i++)
        consume();
    return unused;
}
int main(void)
{
    pthread_t thread;
    for (int i = 0; i < 1000; i++)
        produce();
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < 600; i++) /* 250 kB of trace behind what the thread did */
        produce();
    return 0;
}
"""


class Turns:
    """The stream of turns.c or another program, and its description with a file of it."""

    def __init__(self, folder, name, *defines, source=EXAMPLES / "turns.c",
                 options=("--cycle-count=4", "--timestamps=1")):
        self.folder, self.program = folder / name, folder / f"{name}-program"
        subprocess.run(["aarch64-linux-gnu-gcc", "-g", "-O1", "-fno-optimize-sibling-calls", "-static",
                        *defines, "-o", self.program, source, "-lpthread"], check=True)
        raw = folder / f"{name}.bin"
        subprocess.run([COMMAND, "record", "-q", *options, "--stream", raw, "-o", self.folder, "--",
                        self.program], check=True, env=ENV, timeout=300, stdout=subprocess.DEVNULL)
        self.config = self.folder / "live.ini"
        self.bytes = raw.read_bytes()
        self.raw = raw
        self.described = self.folder / "own.ini"
        self.described.write_text(self.config.read_text().replace("file = -", f"file = {raw}"))

    def monitor(self, *options, spec=SPEC, binds=BINDS):
        """Returns (exit code, standard output) of the offline command."""
        done = subprocess.run([COMMAND, "monitor", "-q", "-a", "--elf", self.program, "--spec", spec, *binds,
                               *options, self.described], capture_output=True, text=True, timeout=300,
                              check=False)
        return done.returncode, done.stdout

    def described_more(self):
        """Writes a description with one more core, from which no trace comes. Returns its path."""
        text = self.config.read_text()
        section = re.search(r"(?ms)^\[source [^\]]*\]\n.*?(?=^\[|\Z)", text)[0]
        more = re.sub(r"(?m)^id *=.*$", "id = 0x6e", re.sub(r"^\[source [^\]]*\]", "[source idle]", section))
        more = re.sub(r"(?m)^TRCTRACEIDR.*\n", "", more)
        path = self.folder / "more.ini"
        path.write_text(f"{text}\n{more}")
        return path

    def live(self, *options, source=None, data=None, spec=SPEC, binds=BINDS, config=None):
        done = subprocess.run([COMMAND, "live", "-q", "-a", "--config", config or self.config,
                               "--elf", self.program, "--spec", spec, *binds, *options,
                               source or ("-" if data else self.raw)],
                              capture_output=True, input=data, timeout=300, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()


def piped(case, spec=SPEC):
    return subprocess.Popen([COMMAND, "live", "-q", "-a", "--config", case.config, "--elf", case.program,
                             "--spec", spec, *BINDS, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)


def slowly(case, seed, data=None, spec=SPEC):
    """Runs over a pipe that receives pieces of any size, some of them after a while."""
    rng = random.Random(seed)
    child = piped(case, spec)
    data = data or case.bytes
    at = 0
    while at < len(data):
        size = rng.choice((1, 16, 500, 4096, 30000))
        child.stdin.write(data[at:at + size])
        child.stdin.flush()
        at += size
        if rng.random() < 0.1:
            time.sleep(0.02)
    child.stdin.close()
    out = child.stdout.read().decode()
    return child.wait(300), out


def check_verdicts(folder):
    for name, defines in (("right", []), ("bug", ["-DBUG"])):
        case = Turns(folder, name, *defines)
        code, wanted = case.monitor()
        got = case.live()
        check(f"{name}: live says what monitor says", got == (code, wanted, ""), (got, wanted))
        bad = [line for line in wanted.splitlines() if ", violation" in line]
        check("… which needs both cores", len(bad) == (name == "bug") and code == len(bad) and
              all(" in produce " in line and "uncertain" not in line for line in bad) and
              " on cpu0\n" in wanted and " on cpu1\n" in wanted, wanted)
        seeds = range(3)
        check("… however the bytes come", all(slowly(case, seed) == (code, wanted) for seed in seeds))
        check("… with any number of threads", all(case.live("--threads", str(threads)) == (code, wanted, "")
                                                  for threads in (1, 2, 7)))
        check("… as JSON", case.live("--outputs", "-", "--format", "jsonl")[1] ==
              case.monitor("-f", "jsonl")[1])
        each = ["--bind", "produced=entry:produce@each", "--bind", "consumed=entry:consume@cpu1"]
        own = case.monitor("-f", "jsonl", binds=each)[1].splitlines()
        for title, config in (("… for each core", None), ("… that has trace", case.described_more())):
            got = case.live("--outputs", "-", "--format", "jsonl", binds=each,
                            config=config)[1].splitlines()
            check(title, sorted(own) == sorted(got) and len(own) > 8, (own[:3], got[:3]))
        code, out, err = case.live("--per-core")
        check("a run for each core, as it says", code == 1 and "# id 10\n" in out and " on cpu" not in out,
              (code, out, err))
        ids = case.live("--id", "10", binds=["--bind", "produced=entry:produce@cpu0", "--bind",
                                             "consumed=entry:consume"])
        check("one core alone may be named", ids[0] in (0, 1) and not ids[2] and ids[1] ==
              case.live("--id", "10")[1], ids)
    code, out, err = case.live("--clock", "cycles")
    check("cycles are no common clock", code == 2 and not out and "--clock cycles cannot order" in err,
          err)
    own = case.folder / "reports"
    case.live("-o", own)
    check("reports: one file of violations", (own / "monitor.txt").read_text() == case.monitor()[1] and
          not list(own.glob("monitor-*")))


def check_doubt(folder):
    """Checks timestamps that are far apart: results that depend on an unknown order are uncertain, and name
    both events."""
    for attempt in range(6):
        case = Turns(folder, f"sparse{attempt}", "-DLOOKS=1000000", options=("--timestamps=100000",))
        code, wanted = case.monitor()
        got = case.live("-o", case.folder / "reports")
        told = (case.folder / "reports" / "monitor.txt").read_text()
        if told != wanted or got[0] != code:
            break
        if ", uncertain" in wanted:
            break
    check("sparse timestamps: live says what monitor says", told == wanted and got[0] == code,
          (told, wanted, got))
    status = json.loads((case.folder / "reports" / "live.json").read_text())
    doubts = [v["doubt"] for v in status["verdicts"] if v.get("doubt")]
    check("… and names the events in doubt with their cores", ", uncertain" not in wanted or (doubts and all(
        {e["core"] for e in d} == {"cpu0", "cpu1"} and
        {e["function"] for e in d} == {"produce", "consume"} for d in doubts)), doubts[:2])
    check("… and the core of each event", all(
        v["event"]["core"] in ("cpu0", "cpu1") for v in status["verdicts"] if "event" in v))


def check_sleeper(folder):
    """Checks a core that sleeps while the others have more events than can wait: without an option all of
    their results are uncertain, and with --assume-idle they equal those of coretap monitor, which sees
    everything."""
    source, spec = folder / "sleeper.c", folder / "sleeper.tessla"
    source.write_text(SLEEPER)
    spec.write_text("in produced: Events[Unit]\nin consumed: Events[Unit]\n"
                    "def p = count(produced)\nout filter(p, p % 10000 == 0) as thousands\n"
                    "def c = count(consumed)\nout filter(c, c % 4 == 0) as fourth\n")
    for attempt in range(6):  # until only the core that sleeps is far behind, however threads ran
        case = Turns(folder, f"sleeper{attempt}", source=source, options=("--cycle-count=4", "--timestamps"))
        got = case.live(spec=spec)
        if got[2].count("sends no timestamp") == 1 and "ID 10 (cpu0): sends no timestamp" in got[2]:
            break
    else:
        skip("a core that sleeps", "the threads beside it ran so unevenly that they waited for each other")
        return
    code, wanted = case.monitor(spec=spec)
    doubtful = wanted.count("uncertain")
    check("a core that sleeps: of the whole trace next to nothing is uncertain",
          code == 0 and len(wanted.splitlines()) > 9000 and doubtful < 1000, (code, wanted[:300], doubtful))
    check("… live says that it is not waited for, and what is uncertain",
          got[2].count("sends no timestamp") == 1 and got[1].count("uncertain") > 1000 + doubtful, got[2])
    got = case.live("--assume-idle", spec=spec)
    check("… and with --assume-idle what monitor says", got == (0, wanted, ""), got[2])
    got = case.live("--assume-idle", "--per-core", spec=spec)
    check("… which is about one run of several cores",
          got[0] == 2 and "--assume-idle needs several cores" in got[2], got)


def check_later(folder):
    """Checks that cores which are described but have not begun delay nobody: results come before the trace
    ends. A core that begins later has the results of coretap monitor, unless its trace comes too late."""
    source, spec = folder / "later.c", folder / "later.tessla"
    source.write_text(LATER)
    spec.write_text("in produced: Events[Unit]\nin consumed: Events[Unit]\n"
                    "def p = count(produced)\nout filter(p, p % 50 == 0) as p50\n"
                    "def c = count(consumed)\nout filter(c, c % 20 == 0) as c20\n")
    case = Turns(folder, "later", source=source, options=("--cycle-count=4", "--timestamps"))
    code, wanted = case.monitor(spec=spec)
    check("a core that begins later: live says what monitor says",
          case.live(spec=spec) == (code, wanted, "") and wanted.count(" on cpu1\n") == 10, wanted)
    child = piped(case, spec)
    child.stdin.write(case.bytes[:len(case.bytes) // 2])
    child.stdin.flush()
    hangs = threading.Timer(60, child.kill)
    hangs.start()
    first = [child.stdout.readline().decode() for _ in range(4)]  # before the rest is written
    hangs.cancel()
    if child.poll() is None:
        child.stdin.write(case.bytes[len(case.bytes) // 2:])
        child.stdin.close()
    rest = child.stdout.read().decode()
    check("… as it comes", child.wait(300) == code and "".join(first) + rest == wanted, first)
    one, two = sorted(unframed(case.bytes).items())
    late = b"".join(frames(part, trace_id) for trace_id, part in (one, two))
    got = case.live(spec=spec, data=late)
    given = [line for line in got[1].splitlines() if "uncertain" not in line]
    check("… and when all of it comes too late, what was given by then stays, and it is told",
          len(given) > 20 and set(given) < set(wanted.splitlines()) and
          re.search(r"ID 11 \(cpu1\): its trace began with [0-9]+ events and losses", got[2]) and
          "c20 = 20 " not in got[1], got)
    check("… the same however the bytes come", all(slowly(case, seed, late, spec) == got[:2]
                                                   for seed in range(3)))
    check("… with any number of threads", all(case.live("--threads", str(n), spec=spec, data=late) == got
                                              for n in (1, 2, 7)))


def check_untimed(folder):
    """Checks a capture without timestamps, where the order of cores is unknown: a message says so before
    results are missing."""
    case = Turns(folder, "untimed", options=("--cycle-count=4",))
    said = f"{case.config}: none of the 16 cores has timestamps"
    check("without timestamps it is said that results come at the end", said in case.live()[2], case.live())
    check("… but not of a run for each", said not in case.live("--per-core")[2])


def check_exchange(folder):
    """Adds, replaces and removes specifications while trace arrives."""
    case = Turns(folder, "exchanged", "-DBUG")
    count = folder / "count.tessla"
    count.write_text("in produced: Events[Unit]\nin consumed: Events[Unit]\nout count(produced) as p\n"
                     "out count(consumed) as c\n")
    live = Live(COMMAND, case, "-a", "--elf", case.program, "--spec", str(SPEC), *BINDS, "--http", "0",
                one_run=True)
    half = len(case.bytes) // 2 & ~15
    live.child.stdin.write(case.bytes[:half])
    live.child.stdin.flush()
    places = ["produced=entry:produce", "consumed=entry:consume"]
    for words in (("monitor", "add", str(count), "produced=entry:produce@cpu0", places[1]),
                  ("monitor", "replace", str(count), *places), ("monitor", "remove", str(SPEC))):
        code, said, _ = live.ctl(*words)
        check(f"ctl {words[1]} is done", code == 0, said)
    code, said, _ = live.ctl("monitor", "add", str(SPEC), "produced=entry:produce@cpu99", places[1])
    check("… a core that is not there is refused", code and "the run has no core cpu99" in said,
          said)
    live.child.stdin.write(case.bytes[half:])
    live.child.stdin.close()
    live.end()
    counts = [line.rsplit(" = ", 1) for line in live.printed if ": p = " in line or ": c = " in line or
              line.partition(": ")[2][:4] in ("p = ", "c = ")]
    check("… and the new one counts from then on", len(counts) > 4 and not any(
        "error" in line for line in live.printed[-3:]), live.printed)


def check_filter(folder):
    """Checks that what a filter leaves out is not followed, except where times need it; results are the
    same."""
    case = Turns(folder, "filtered")
    counts = []
    for body in ({}, {"ids": ["10"]}, {"ids": ["11"]}, {"levels": [0]}, {"levels": [3]}):
        results = []
        for options in ((), ("--timing",)):
            live = Live(COMMAND, case, "--elf", case.program, "--spec", str(SPEC), *BINDS, "-a", "--outputs",
                        "-", "--format", "jsonl", "--http", "0", *options, one_run=True)
            answer = live.ask("/api/filter", body)[1]["done"]
            live.child.stdin.write(case.bytes)
            live.child.stdin.close()
            code = live.end()
            results.append((code, [line for line in live.printed if line.startswith("{")]))
            check(f"filter {json.dumps(body)} {' '.join(options)}: says what is followed",
                  ("all trace is still decoded" in answer) == bool(options), answer)
        counts.append(len(results[0][1]))
        check("… with the same results", results[0] == results[1], results)
    check("… which differ from filter to filter", counts[0] == counts[3] > counts[1] > counts[4], counts)


def main():
    missing = [t for t in ("aarch64-linux-gnu-gcc", "qemu-aarch64") if not shutil.which(t)]
    without = missing_parts(COMMAND).get("live")
    if missing:
        skip("live with two cores", f"needs {missing[0]}")
        return finish()
    with tempfile.TemporaryDirectory() as folder:
        check_verdicts(pathlib.Path(folder))
        check_doubt(pathlib.Path(folder))
        check_sleeper(pathlib.Path(folder))
        check_later(pathlib.Path(folder))
        check_untimed(pathlib.Path(folder))
        if not without:
            check_exchange(pathlib.Path(folder))
            check_filter(pathlib.Path(folder))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
