#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs coretap live on a FRACTAL log while it is written: milestones, watchpoints and specifications agree
with 'coretap monitor' on the whole log; also checks progress before the end, the page in a browser, and
what is refused.

usage: run_fractal_live.py COMMAND PLUGIN EXAMPLES"""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import browser  # noqa: E402  pylint: disable=wrong-import-position
from parts import missing_parts  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, lacks, skip, skip_all  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, PLUGIN, EXAMPLES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
ENV = {**os.environ, "CORETAP_ACCESS_PLUGIN": PLUGIN}
MILESTONES = ["entry:main=1ms", "entry:gradient", "entry:thin=1us", "0x1234=1us"]
SPEC = "define t := function_call \"thin\"\ndefine n := eventCount(t)\nout n\n"


def coretap(*args, code=0):
    done = subprocess.run([COMMAND, *map(str, args)], capture_output=True, text=True, env=ENV, check=False)
    if done.returncode != code:
        raise RuntimeError(f"coretap {args}: {done.returncode}: {done.stderr}")
    return done


def milestones():
    return [word for place in MILESTONES for word in ("--milestone", place)]


def first_ms(program, log, place):
    """Returns when a function first occurs in a log, in milliseconds of its clock."""
    spec = log.with_suffix(".tessla")
    spec.write_text(f'define e := function_call "{place}"\nout e\n')
    lines = coretap("monitor", "--spec", spec, "--elf", program, "--all", log).stdout.splitlines()
    return int(lines[0].split(":")[0]) / 1.3e6


def whole_log(folder, program, log):
    """Checks that for a complete log the report of live agrees with monitor."""
    said = coretap("live", "-q", "--fractal", "--elf", program, *milestones(), log, code=1)
    start, gradient, thin = (first_ms(program, log, name) for name in ("main", "gradient", "thin"))
    check("milestones of a log that is there", said.stdout.splitlines() == [
        f"milestone entry:main: reached at {start:.4f} ms, deadline 1.0000 ms",
        f"milestone entry:gradient: reached at {gradient:.4f} ms",
        f"milestone entry:thin: late at {thin:.4f} ms, deadline 0.0010 ms",
        "milestone 0x1234: missed, deadline 0.0010 ms"], said.stdout)
    spec = folder / "thin.tessla"
    spec.write_text(SPEC)
    results = folder / "results.csv"
    coretap("live", "-q", "--fractal", "--elf", program, "--spec", spec, "--outputs", results, log)
    counts = coretap("monitor", "--spec", spec, "--elf", program, "--all", log).stdout
    check("specifications get the events that monitor gets",
          len(results.read_text().splitlines()) - 1 == counts.count("n = "), results.read_text())
    cut = folder / "cut.log"
    cut.write_bytes(log.read_bytes()[:-40])
    said = coretap("live", "-q", "--fractal", "--elf", program, "--milestone", "entry:thin", cut, code=1)
    check("a log that was cut is told of", "bytes are damaged" in said.stderr, said.stderr)


def refusals(program, log):
    for what, message, *args in [
            ("a place that no log has", "no events of the kind exception", "--at", "exception", log),
            ("a time that is none", "'soon' is not a time", "--milestone", "main=soon", log),
            ("what is no log", "does not begin with CTFRACT1", program),
            ("options of traces", "cannot be used with --config", "--cover", log)]:
        said = coretap("live", "--fractal", "--elf", program, *args, code=2).stderr
        check(f"refused: {what}", message in said, said)


class Run:
    """A run of coretap live that reads a FIFO, and its page."""

    def __init__(self, folder, program):
        self.fifo = folder / "fifo"
        os.mkfifo(self.fifo)
        self.child = subprocess.Popen(
            [COMMAND, "live", "--fractal", "--http", "0", "--elf", program,
             *milestones(), self.fifo],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV)
        self.port = None
        while not self.port:
            line = self.child.stderr.readline()
            found = re.search(r":(\d+)/", line)
            if not line:
                raise RuntimeError("live ended")
            self.port = int(found[1]) if found else None

    def url(self, path=""):
        return f"http://127.0.0.1:{self.port}/{path}"

    def status(self):
        with urllib.request.urlopen(self.url("api/status"), timeout=300) as answer:
            return json.load(answer)

    def wait(self, what):
        """Waits until `what(status)` is true. Returns the status, or None after 300 seconds."""
        end = time.monotonic() + 300
        while time.monotonic() < end:
            status = self.status()
            if what(status):
                return status
            time.sleep(0.1)
        return None


def looks(run, width, dark):
    page = browser.Browser(width, 900, dark)
    try:
        page.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                 mobile=width < 500)
        page.open(run.url())
        page.wait('document.querySelectorAll("#milestones tr").length === 4')
        return page.value('[...document.querySelectorAll("#milestones td:nth-child(2)")]'
                          '.map(n => n.textContent).join() + " " + '
                          'document.querySelector("#progress-bar").value + " " + '
                          '(document.scrollingElement.scrollWidth <= innerWidth)')
    finally:
        page.close()


def first_block_end(log):
    header, record = struct.unpack_from("<II", log, 8)
    magic, count = struct.unpack_from("<4sI", log, header)
    return header + 32 + count * record if magic == b"FBLK" else None


def growing(folder, program, log):
    """Checks that the first block of a log shows as progress before there is more."""
    run = Run(folder, program)
    bytes_of = log.read_bytes()
    with open(run.fifo, "wb", buffering=0) as fifo:
        half = first_block_end(bytes_of)
        fifo.write(bytes_of[:half])
        early = run.wait(lambda s: s["progress"]["milestones"][0]["state"] == "reached")
        check("progress is there before the end", early and early["progress"]["reached"] == 1 and
              early["progress"]["now_ms"] > 0 and early["state"] == "running", early)
        coretap("ctl", "--http", run.port, "watch", "entry:thin")
        fifo.write(bytes_of[half:])
        late = run.wait(lambda s: s["progress"]["reached"] == 3)
        check("it goes on as the log does", late and [m["state"] for m in late["progress"]["milestones"]] ==
              ["reached", "reached", "late", "missed"], late)
        watched = run.status()["watchpoints"]
        check("a watchpoint that came meanwhile is watched",
              [w["place"] for w in watched] == ["entry:thin"] and watched[0]["hits"], watched)
        if browser.PROGRAM:
            for width in (1280, 390):
                for dark in (False, True):
                    seen = looks(run, width, dark)
                    check(f"the page, {width} wide, {'dark' if dark else 'light'}",
                          seen == "reached,reached,late,missed 3 true", seen)
        else:
            skip("the page in a browser", "chromium is not there")
    out, _ = run.child.communicate(timeout=300)
    check("the end of the FIFO is that of the run", run.child.returncode == 1 and
          out.count("milestone") == 4, out)


def program_and_page(folder, program):
    """Checks a program, its log in a FIFO, and live at the other end."""
    fifo, log = folder / "straight", folder / "straight.log"
    os.mkfifo(fifo)
    reader = subprocess.Popen([COMMAND, "live", "-q", "--fractal", "--elf", program, "--milestone",
                               "entry:thin", fifo], stdout=subprocess.PIPE, text=True, env=ENV)
    coretap("fractal", "run", "-q", "--section", ".text", "--mode", "points", "-o", fifo, "--", program,
            "-s", "96x80")
    out = reader.communicate(timeout=300)[0]
    coretap("fractal", "run", "-q", "--section", ".text", "--mode", "points", "-o", log, "--", program,
            "-s", "96x80")
    check("a program's log goes straight to live",
          out == f"milestone entry:thin: reached at {first_ms(program, log, 'thin'):.4f} ms\n", out)


STARTS = """
#include <sys/wait.h>
#include <unistd.h>
volatile long table[64] __attribute__((aligned(64)));
int main(int argc, char **argv)
{
    for (int i = 0; i < 32; i++)
        table[i] = i;
    if (!fork())
        return execv(argv[1], argv + 1);
    wait(0);
    return argc < 2;
}
"""
WORKS = """
volatile long other[512], table[64] __attribute__((aligned(64)));
__attribute__((noinline)) void work(long to)
{
    for (long i = 0; i < to; i++)
        table[i & 63] = i;
}
int main(void)
{
    work(100);
    return 0;
}
"""
PLACES = ["access:table.write", "access:2:table.write", "entry:work", "context:worker", "context:starter"]


def stated_places(folder, program, log):
    """Checks that the place of the program in the log counts, and without one that of --elf."""
    silent = folder / "silent.log"
    silent.write_bytes(log.read_bytes().replace(b"\nbias=", b"\nbxas=", 1))
    bias = re.search(rb"\nbias=0x([0-9a-f]+)", log.read_bytes())[1].decode()
    (folder / "main.tessla").write_text("in a: Events[Unit]\nout a\n")
    seen = {(of.name, at): bool(coretap("monitor", "-q", "-a", "--spec", folder / "main.tessla", "--bind",
                                        "a=entry:main", "--elf", f"{program}{at}", of).stdout)
            for of in (log, silent) for at in ("", f"@{bias}", "@44000")}
    check("where a program lay that was moved",
          seen == {(of.name, at): of == log or at == f"@{bias}" for of, at in
                   ((of, at) for of in (log, silent) for at in ("", f"@{bias}", "@44000"))}, seen)


def several_programs(folder):
    """Checks that each process has the names of its own program at its place, both of which the log gives
    while it grows. Counts of live equal those of monitor for the whole log, which finds the programs
    itself."""
    for number, (compiler, kind) in enumerate((("aarch64-linux-gnu-gcc", "-static"),
                                               ("aarch64-linux-gnu-gcc", "-static-pie"),
                                               ("arm-linux-gnueabihf-gcc", "-static"))):
        if not shutil.which(compiler) or not shutil.which("qemu-arm"):
            skip(f"programs of {compiler}", "it is not there")
            continue
        starter, worker, log = folder / "starter", folder / "worker", folder / f"{number}.log"
        for program, text, with_it in ((starter, STARTS, "aarch64-linux-gnu-gcc"), (worker, WORKS, compiler)):
            program.with_suffix(".c").write_text(text)
            subprocess.run([with_it, "-O1", kind, "-o", program, program.with_suffix(".c")], check=True)
        coretap("fractal", "run", "-q", "--follow-forks", "--mode", "points", "--point", "table",
                "--point", "worker:work", "-o", log, "--", starter, worker)
        elf = ("--elf", starter, "--elf", worker)
        at = [word for place in PLACES for word in ("--at", place)]
        said = coretap("live", "-q", "--fractal", *elf, *at, "--output", folder / "out", log)
        hits = {w["place"]: w["hits"] for w in
                json.loads((folder / "out" / "live.json").read_text())["watchpoints"]}
        (folder / "count.tessla").write_text("in a: Events[Unit]\nout a\n")
        # monitor searches the whole log
        known = {place: len(coretap("monitor", "-q", "-a", "--spec", folder / "count.tessla", "--bind",
                                    f"a={place}", *(elf if place.startswith("entry") else ()),
                                    log).stdout.splitlines()) for place in PLACES}
        if kind == "-static-pie":
            stated_places(folder, starter, log)
        named = [json.loads(line) for line in coretap(
            "monitor", "-q", "-a", "-f", "jsonl", "--spec", folder / "count.tessla", "--bind", "a=entry:work",
            *elf, log).stdout.splitlines()]
        check(f"an entry has the name that its program gives it, {compiler} {kind}",
              {row["function"] for row in named} == {"work"}, named)
        check(f"places of each program, {compiler} {kind}",
              hits == known and hits["access:table.write"] == 32 and hits["access:2:table.write"] == 100 and
              hits["entry:work"] >= 1 and hits["context:worker"] >= 1 and not said.stderr,
              (hits, known, said.stderr))
    said = coretap("live", "-q", "--fractal", "--elf", starter, "--at", "access:2:table.write", "--at",
                   "context:nobody", log)
    check("a program that is not named, and a name that nobody has",
          "process 2 runs worker, which was not named" in said.stderr and
          "'context:nobody': no process of the log has this name; its program is starter" in said.stderr,
          said.stderr)


def main():
    missing = lacks("aarch64-linux-gnu-gcc", "qemu-aarch64")
    if missing:
        return skip_all(missing)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program, log = folder / "canny", folder / "canny.log"
        subprocess.run(["aarch64-linux-gnu-gcc", "-O2", "-static", "-o", program, EXAMPLES / "canny.c",
                        "-lm"], check=True)
        coretap("fractal", "run", "-q", "--section", ".text", "--mode", "points", "-o", log, "--", program,
                "-s", "96x80")
        whole_log(folder, program, log)
        refusals(program, log)
        no_page = missing_parts(COMMAND).get("live")
        if no_page:
            skip("progress on the page", no_page)
        else:
            growing(folder, program, log)
        program_and_page(folder, program)
        several_programs(folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
