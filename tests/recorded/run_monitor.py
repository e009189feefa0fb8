#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs coretap monitor on recorded programs: the four listings of paper 2 in both dialects, without the bug
and with it.

Also runs it on two cores that take turns, where the right verdict follows from how the program is built.

usage: run_monitor.py COMMAND PLUGIN EXAMPLES

The right verdicts and their times are computed here from the watchpoints alone ('coretap watch')."""
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, PLUGIN, EXAMPLES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN}
run = functools.partial(command.output, COMMAND, env=ENV)


def watch(case, *places):
    """Returns (time, place) of each event, with times as in the monitor: an event that is not later is one
    later."""
    at = [x for place in places for x in ("--at", place)]
    rows = run("watch", "-q", "-f", "jsonl", "--elf", case.program, *at, case.capture).splitlines()
    events, last = [], -1
    for row in map(json.loads, rows):
        last = max(row["cycle"], last + 1)
        events.append((last, row["watch"]))
    return events


def structure(case):
    taken, out = False, []
    for time, place in watch(case, "structure.c:10", "structure.c:15"):
        if place.endswith(":10") and taken:
            return [(time, "balanced", "false")]
        taken = place.endswith(":10")
    return out


def timing(case):
    first, out = None, []
    for time, place in watch(case, "entry:first", "entry:trigger"):
        if place == "entry:first":
            first = time
        elif first is None or time - first >= 2000:
            out.append((time, "error", "true"))
    return out


def validation(case):
    start, out = 0, []
    for time, place in watch(case, "entry:block_start", "entry:block_end"):
        if place == "entry:block_start":
            start = time
        elif time - start < 16000:
            out.append((time, "timing_min_violation", "()"))
        elif time - start >= 23000:
            out.append((time, "timing_max_violation", "()"))
    return out


def statistics(case):
    calls, most, out = 0, 0, []
    for time, place in watch(case, "statistics.c:13", "entry:rec"):
        calls = calls + 1 if place == "entry:rec" else 0
        if calls > max(most, 10) and not out:
            out.append((time, "few_calls", "false"))
        most = max(most, calls)
    return out


BINDS = {
    structure: ["taken=structure.c:10", "given_back=structure.c:15"],
    timing: ["firstCalls=entry:first", "triggerCalls=entry:trigger"],
    validation: ["block_start=entry:block_start", "block_end=entry:block_end"],
    statistics: ["algoStart=statistics.c:13", "recCalls=entry:rec"],
}


class Case:
    """An example as a capture."""

    def __init__(self, folder, listing, bug):
        self.listing, self.bug, self.folder = listing, bug, folder
        self.program, self.capture = folder / "program", folder / "capture"
        source = EXAMPLES / f"{listing.__name__}.c"
        subprocess.run(["aarch64-linux-gnu-gcc", "-g", "-O1", "-fno-optimize-sibling-calls", "-static",
                        *(["-DBUG"] if bug else []), "-o", self.program, source], check=True)
        shutil.rmtree(self.capture, ignore_errors=True)
        run("record", "-q", "--cycle-count=4", "-o", self.capture, "--", self.program)

    def address(self, symbol):
        for line in subprocess.run(["aarch64-linux-gnu-nm", self.program], capture_output=True, text=True,
                                   check=True).stdout.splitlines():
            if line.split()[-1] == symbol:
                return "0x" + line.split()[0]
        raise KeyError(symbol)

    def spec(self, dialect):
        """Returns the specification, with the addresses of this program in it."""
        text = (EXAMPLES / f"{self.listing.__name__}{dialect}.tessla").read_text()
        for name in ("block_start", "block_end"):
            if f"@{name.upper()}@" in text:
                text = text.replace(f"@{name.upper()}@", self.address(name))
        path = self.folder / f"spec{dialect}.tessla"
        path.write_text(text)
        return path

    def monitor(self, *options, codes=(0, 1)):
        rows = run("monitor", "-q", "-f", "jsonl", "--frequency", 10**9, "--elf", self.program, *options,
                   self.capture, codes=codes).splitlines()
        return list(map(json.loads, rows))


class Turns:
    """The two threads of turns.c as a capture."""

    binds = ["--bind", "produced=entry:produce", "--bind", "consumed=entry:consume"]

    def __init__(self, folder, *defines):
        self.folder, self.program = folder, folder / "turns"
        subprocess.run(["aarch64-linux-gnu-gcc", "-g", "-O1", "-fno-optimize-sibling-calls", "-static",
                        *defines, "-o", self.program, EXAMPLES / "turns.c", "-lpthread"], check=True)
        self.capture = self.record("capture", "--cycle-count=4", "--timestamps=1")

    def record(self, name, *options):
        run("record", "-q", *options, "-o", self.folder / name, "--", self.program)
        return self.folder / name

    def command(self, *options):
        done = subprocess.run([COMMAND, "monitor", "--elf", self.program, *map(str, options)],
                              capture_output=True, text=True, env=ENV, timeout=300, check=False)
        return done.returncode, done.stdout, done.stderr

    def stream(self, *options):
        return self.command("--spec", EXAMPLES / "turns-stream.tessla", *self.binds, *options)

    def rows(self, *options, codes):
        code, out, err = self.stream("-q", "-f", "jsonl", *options)
        assert code in codes and (not err or "-q" not in options), (code, err)
        return list(map(json.loads, out.splitlines()))


def calls(bug):
    """Returns the functions in the order in which the threads call them."""
    return ["produce", "consume"] * 3 + ["produce"] * (2 if bug else 1) + ["consume"] + (
        ["consume"] if bug else ["produce", "consume"]) + ["produce", "consume"] * 3


def check_turns(folder, bug):
    """Checks a property that needs both cores: neither alone knows whether the other one took its turn."""
    case = Turns(folder, *(["-DBUG"] if bug else []))
    for options in (["--spec", EXAMPLES / "turns.tessla"],
                    ["--spec", EXAMPLES / "turns-stream.tessla", *case.binds]):
        code, out, err = case.command("-q", "-f", "jsonl", "-n", 3, *options, case.capture)
        rows = [row for row in map(json.loads, out.splitlines()) if row.get("violation")]
        assert code == (1 if bug else 0), (code, out, err)
        assert [row["function"] for row in rows] == (["produce"] if bug else []), rows
        assert not any(row.get("uncertain") for row in rows), rows
        for row in rows:
            assert [x["function"] for x in row["before"]] == ["produce", "consume", "produce"], row
            assert [x["core"] == row["core"] for x in row["before"]] == [True, False, True], row
    # All results, the first one and one for each call.
    for options in (), ("--framed",):
        capture = case.capture
        if options:
            capture = case.record("other", "--cycle-count=4", "--timestamps=1", *options)
        rows = case.rows("-a", capture, codes=(0, 1))
        assert "core" not in rows[0] and [row["function"] for row in rows[1:]] == calls(bug), rows
        assert not any(row.get("uncertain") for row in rows), rows
        cores = {name: {row["core"] for row in rows[1:] if row["function"] == name} for name in calls(bug)}
        assert {"cpu_0", "cpu_1"} == cores["produce"] | cores["consume"] and len(cores["produce"]) == 1, cores
        assert len({row["id"] for row in rows[1:]}) == (2 if options else 1), rows
        text = case.stream("-a", "-n", 2, capture)
        assert text[0] == (1 if bug else 0) and " on cpu_0\n" in text[1] and " on cpu_1\n" in text[1], text
        for threads in (2, 5):
            assert case.stream("-a", "-n", 2, "--threads", threads, capture) == text
    # One run per core says so: false in either program.
    code, out, err = case.stream("--per-core", case.capture)
    assert code == 1 and "on cpu_" not in out and out.count("# buffer") == 2, (code, out, err)


def check_doubt(folder):
    """Checks timestamps that are far apart: the order of events is unknown, their numbers are not. Doubt is
    reported, with the two events; a certain result is right. Calls that are equally far apart are not in
    doubt, as may be when the threads shared a processor."""
    case = Turns(folder, "-DLOOKS=1000000")
    spec = folder / "numbers.tessla"
    spec.write_text((EXAMPLES / "turns-stream.tessla").read_text() + "out count(produced) as p\n"
                    "out count(consumed) as c\n")
    doubts = 0
    for attempt in range(6):
        capture = case.record(f"sparse{attempt}", "--timestamps=100000")
        code, out, err = case.command("-q", "-a", "-f", "jsonl", "--spec", spec, *case.binds, capture)
        rows = list(map(json.loads, out.splitlines()))
        errors = [row for row in rows if row["output"] == "error"]
        doubts += any(row.get("violation") for row in errors)
        assert code == any(row.get("violation") for row in errors), (code, err)
        for row in errors:
            assert row["value"] == "false" or row.get("uncertain"), row
            if row.get("uncertain"):
                assert {x["core"] for x in row["doubt"]} == {"cpu_0", "cpu_1"}, row
                assert {x["function"] for x in row["doubt"]} == {"produce", "consume"}, row
        for name in ("p", "c"):
            own = [row for row in rows if row["output"] == name]
            assert own[-1]["value"] == "8" and not any(row.get("uncertain") for row in own), own
        code, out, err = case.command("-a", "--spec", spec, *case.binds, capture)
        assert ("    which came first is not known: entry:" in out) == (code == 1), (out, err)
        if doubts and not tap.WHOLE:
            break
    assert doubts


def check_cores(folder):
    """Checks inputs of one core, and of none; captures of one system; sources without a clock."""
    case = Turns(folder, "-DBUG")
    core = next(row["core"] for row in case.rows("-a", case.capture, codes=(1,)) if "core" in row)
    other = "cpu_1" if core == "cpu_0" else "cpu_0"

    def bound(produced, consumed):
        binds = ["--bind", f"produced=entry:produce{produced}", "--bind", f"consumed=entry:consume{consumed}"]
        return case.command("-q", "-a", "--spec", EXAMPLES / "turns-stream.tessla", *binds, case.capture)

    assert bound(f"@{core}", f"@{other}") == bound("", "") == case.stream("-q", "-a", case.capture)
    assert bound(f"@{other}", f"@{core}") == (0, "0: error = false\n", "")
    code, _, err = bound("@cpu_7", "")
    assert code == 2 and "the run has no core cpu_7" in err, err
    # In a specification that names its places.
    spec = folder / "core.tessla"
    spec.write_text(f'in f: Events[Unit]\nout count(f) as n\n')
    code, out, err = case.command("-q", "-a", "--spec", spec, "--bind", f"f=produce@{core}", case.capture)
    assert out.count("\n") == 1 + 2 * 8 and f" on {other}" not in out, (out, err)
    code, out, err = case.stream("-q", "--clock", "cycles", case.capture)
    assert code == 2 and not out, (code, out)
    assert "--clock cycles cannot order the events of 2 sources" in err and "--per-core" in err, err
    untimed = case.record("untimed", "--cycle-count=4")
    code, out, err = case.stream("-q", untimed)
    assert code == 2 and not out and "has no timestamps" in err and "--per-core" in err, err
    # One of two sources with trace: what it said before.
    one = ["-q", "-a", "-b", "ETB_0", untimed]
    assert case.stream(*one) == case.stream("--per-core", *one) and case.stream(*one)[1]


def halves_of(case):
    """Returns the two buffers of a capture as two captures, each with its part of the same run."""
    halves = []
    for number in (0, 1):
        halves.append(case.folder / f"half{number}")
        shutil.copytree(case.capture, halves[-1])
        text = (halves[-1] / "trace.ini").read_text()
        kept = re.sub(r"(?m)^(buffers\s*=).*$", rf"\1buffer{number}", text)
        assert kept != text, text
        (halves[-1] / "trace.ini").write_text(kept)
    return halves


def check_captures(folder):
    """Checks that captures of one system are one run, while others are separate runs; an option decides."""
    case = Turns(folder, "-DBUG")
    halves = halves_of(case)
    whole = case.stream("-q", "-a", case.capture)
    assert case.stream("-q", "-a", *halves)[:2] == whole[:2] and whole[0] == 1
    assert case.stream("-q", "-a", "--captures", "together", *halves) == case.stream("-q", "-a", *halves)
    each = case.rows("-a", *halves, codes=(1,))
    assert {(row["capture"], row["core"]) for row in each if "core" in row} == {
        (str(halves[0]), "cpu_0"), (str(halves[1]), "cpu_1")}, each[:3]
    # Apart: what each of them says alone, under a heading.
    alone = [case.stream("-q", "-a", half) for half in halves]
    got = case.stream("-q", "-a", "--captures", "apart", *halves)
    assert got[1] == "".join(f"# capture {half}\n{text}" for half, (_, text, _) in zip(halves, alone)), got
    assert case.stream("-q", "-a", "--per-core", *halves) == got and got[0] == max(x[0] for x in alone)
    rows = case.rows("-a", "--captures", "apart", *halves, codes=(0, 1))
    for half in halves:
        own = [{k: v for k, v in row.items() if k != "capture"} for row in rows
               if row["capture"] == str(half)]
        assert own == case.rows("-a", half, codes=(0, 1)) and own, own[:3]
    # Sums: of one run, and of two.
    sums = lambda *options: case.stream("-q", "--format", "sums", *options)[1]
    assert "    1 streams: 1 violated" in sums("--captures", "together", *halves)
    together = sums("--captures", "together", *halves)
    assert together.replace(str(halves[0]), "X").replace(str(halves[1]), "X") == \
        sums(case.capture).replace(str(case.capture), "X"), together
    assert "    2 streams: " in sums(*halves) and sums(*halves) == sums("--captures", "apart", *halves)
    # Both cores are in both captures: two runs of a program are no one run.
    other = case.record("again", "--cycle-count=4", "--timestamps=1")
    for options in ([], ["--format", "sums", "--captures", "together"]):
        code, out, err = case.stream(*options, case.capture, other)
        assert code == 2 and not out and "both have trace of cpu_0" in err and "--captures apart" in err, err
    code, out, err = case.stream("-q", "-a", "--captures", "apart", case.capture, other)
    assert out == "".join(f"# capture {x}\n{case.stream('-q', '-a', x)[1]}" for x in (case.capture, other))
    # A recording of all processors is one run, too, with the same verdicts at the same places.
    run("export", "-q", "--perf", folder / "perf.data", case.capture)
    row = lambda r: (r["time"], r["output"], r["value"], r.get("function"), r.get("uncertain"))
    assert [row(r) for r in case.rows("-a", folder / "perf.data", codes=(1,))] == \
        [row(r) for r in case.rows("-a", case.capture, codes=(1,))]
    for options, text in ((["--per-core"], "makes each source a run of its own"),
                          (["--live", "0"], "--live")):
        code, _, err = case.stream("--captures", "together", *options, *halves[:1])
        assert code == 2 and "--captures together: " in err and text in err, err


def check_each(folder):
    """Checks inputs of each core: each core has an instance with its own verdict, whose events are its own
    and those of fixed cores; the result equals that with the core in place of each."""
    case = Turns(folder, "-DBUG")
    spec = folder / "own.tessla"
    spec.write_text("in mine: Events[Unit]\nin produced: Events[Unit]\nout count(mine) as n\n"
                    "def error = count(mine) > count(produced)\nout error\n")

    def own(mine, produced, *options):
        binds = ["--bind", f"mine=entry:{mine}", "--bind", f"produced=entry:{produced}"]
        code, out, err = case.command("-q", "-a", "-f", "jsonl", "--spec", spec, *binds, *options,
                                      case.capture)
        return code, [json.loads(row) for row in out.splitlines()], err

    def of(rows, core):
        return [{k: v for k, v in row.items() if k != "instance"} for row in rows
                if row.get("instance") == core]

    for mine, produced in (("consume", "produce"), ("consume", "produce@cpu_0"),
                           ("produce", "produce@cpu_1")):
        code, rows, err = own(f"{mine}@each", produced)
        assert code in (0, 1) and not err and {row["instance"] for row in rows} == {"cpu_0", "cpu_1"}, err
        found = 0
        for core in ("cpu_0", "cpu_1"):
            alone = own(f"{mine}@{core}", produced)
            assert of(rows, core) == alone[1], (mine, produced, core)
            found += max(int(row["value"]) for row in alone[1] if row["output"] == "n")
        assert found == 8, found
        for threads in (2, 5):
            assert own(f"{mine}@each", produced, "--threads", threads) == (code, rows, err)
    # In the specification itself; a run for each core has one instance, too.
    spec.write_text("define p := function_call produce@each\ndefine c := codeLine turns.c:32@each\n"
                    "define q := function_call(\"produce\")@cpu_0\n"
                    "define turns := monitor(always (p implies next c))\nout turns\nout q\n")
    code, out, err = case.command("-q", "-a", "--spec", spec, case.capture)
    assert code in (0, 1) and "turns@cpu_0 = " in out and "turns@cpu_1 = " in out, (code, out, err)
    code, out, err = case.command("--spec", spec, "--format", "sums", case.capture)
    assert "own.tessla@cpu_0: turns: " in out and "own.tessla@cpu_1: turns: " in out, (code, out, err)
    code, _, err = case.command("-q", "--spec", spec, "--per-core", case.capture)
    assert code == 2 and "place 'entry:produce@cpu_0': the run has no core cpu_0" in err, (code, err)
    # What no core gives, and what fails for one of them.
    spec.write_text("in f: Events[Unit]\nin v: Events[Int]\nout count(f) as n\nout v\n")
    code, _, err = case.command("-q", "--spec", spec, "--bind", "f=produce@each", "--bind", "v=itm:1@each",
                                case.capture)
    assert code == 2 and "belongs to an ITM, but the capture has none" in err, err
    spec.write_text("in f: Events[Unit]\ndef n = count(f)\nout 10 / (3 - n) as bad\n")
    code, out, err = case.command("-a", "--spec", spec, "--bind", "f=produce@each", case.capture)
    failed = re.findall(r"own\.tessla@(cpu_\d): Division by zero.*; the specification takes no more", err)
    assert code == 2 and len(failed) == 1 and f"stopped: {spec}@{failed[0]}: " in out, (code, out, err)


def check_one_core(folder):
    """Checks a place of a core when only one source has trace: as without it. Another core is an error."""
    case = Turns(folder)
    for options in (["-b", "ETB_0"], ["-b", "ETB_0", "--per-core"]):
        for core in ("@cpu_0", "@each", ""):
            binds = [x for name in ("produce", "consume") for x in ("--bind", f"{name}d=entry:{name}{core}")]
            got = case.command("-q", "-a", "--spec", EXAMPLES / "turns-stream.tessla", *binds, *options,
                               case.capture)
            assert not got[2] and got[1].replace("@cpu_0 = ", " = ") == case.stream("-q", "-a", *options,
                                                                                 case.capture)[1], got
    code, _, err = case.command("-q", "--spec", EXAMPLES / "turns-stream.tessla", "--bind",
                                "produced=entry:produce@cpu_1", "--bind", "consumed=entry:consume", "-b",
                                "ETB_0", case.capture)
    assert code == 2 and "the run has no core cpu_1" in err and "choose one of cpu_0 " in err, (code, err)


def check_many(folder):
    """Checks several specifications on one axis: each has the results that it has alone, in an order that
    does not depend on how the sources are decoded."""
    case = Turns(folder, "-DBUG")
    specs = []
    for number in range(20):
        specs.append(folder / f"many{number}.tessla")
        specs[-1].write_text("in produced: Events[Unit]\nin consumed: Events[Unit]\n"
                             f"def ahead = count(produced) - count(consumed) + {number}\nout ahead\n"
                             f"def error = ahead > {number + 1}\nout error\n")
    given = [x for spec in specs for x in ("--spec", spec)]
    together = case.command("-q", "-a", *given, *case.binds, case.capture)
    for threads in (2, 5):
        assert case.command("-q", "-a", *given, *case.binds, "--threads", threads, case.capture) == together
    for spec in specs:
        alone = case.command("-q", "-a", "--spec", spec, *case.binds, case.capture)[1].splitlines()
        mine = [row.replace(f"{spec.name}: ", "") for row in together[1].splitlines()
                if f": {spec.name}: " in row]
        assert mine == alone and mine, (spec, mine[:3], alone[:3])


def check_lossy(folder):
    """Checks trace that a core lost: results after it are uncertain as with one core, wherever the others
    are."""
    case = Turns(folder)
    lossy = case.record("lossy", "--cycle-count=4", "--timestamps=1", "--overflow=6000", "--seed=3")
    rows = case.rows("-a", lossy, codes=(0, 1))
    assert any(row.get("uncertain") for row in rows), rows
    for row in rows: # what is certain is right
        assert row["value"] == "false" or row.get("uncertain"), row


class Control:
    """The controller of control.c, which writes its values over an ITM; a DWT watches its integral."""

    binds = [x for n, name in enumerate(("target", "measured", "output"), 1)
             for x in ("--bind", f"{name}=itm:{n}.signed")]
    watched = ["--bind", "integral=dwt:0.write.signed"]

    def __init__(self, folder, *defines):
        self.folder, self.program, self.capture = folder, folder / "control", folder / "capture"
        subprocess.run(["aarch64-linux-gnu-gcc", "-g", "-O1", "-static", *defines, "-o", self.program,
                        EXAMPLES / "control.c"], check=True)
        run("record", "-q", "--timestamps=100", "--cycle-count=4", "--itm", "itm_ports", "--watch-data",
            "integral", "-o", self.capture, "--", self.program)

    def monitor(self, spec, *options):
        done = subprocess.run([COMMAND, "monitor", "-f", "jsonl", "--elf", self.program, "--spec", spec,
                               *map(str, options), self.capture],
                              capture_output=True, text=True, env=ENV, timeout=300, check=False)
        return done.returncode, list(map(json.loads, done.stdout.splitlines())), done.stderr

    def spec(self, text):
        path = self.folder / "own.tessla"
        path.write_text(text)
        return path


def loop(bug):
    """Returns (set point, measured, output, integral) of each round, as control.c computes it."""
    speed = integral = 0
    half = lambda x: int(x / 2)
    for number in range(120):
        target = 300 if number < 40 else 5000 if number < 80 else -200
        error = target - speed
        wanted = half(error) + int(integral / 4)
        output = max(-1000, min(1000, wanted))
        integral += error if bug or output == wanted else 0
        yield target, speed, output, integral
        speed += half(output - speed)


def check_control(folder, bug):
    """Compares values that a program writes, in both dialects, with the same loop in Python."""
    case = Control(folder, *(["-DBUG"] if bug else []))
    rounds = list(loop(bug))
    errors = [("control-stream", case.binds, "settling_error", 20 if bug else 0),
              ("control", [], "obeys", 1 if bug else 0),
              ("windup-stream", case.watched, "error", sum(not -10000 <= x[3] <= 10000 for x in rounds)),
              ("windup", case.watched, "wound_up", 1 if bug else 0)]
    for name, binds, output, count in errors:
        code, rows, err = case.monitor(EXAMPLES / f"{name}.tessla", *binds)
        assert code == (1 if count else 0) and len(rows) == count, (name, code, len(rows), count, err)
        assert all(row["output"] == output and row["core"] == "ITM" for row in rows), rows
        assert not any(row.get("uncertain") for row in rows), rows
    # Every value, from the ITM and the DWT, and between the calls of the core that wrote them.
    spec = case.spec("in target: Events[Int]\nin measured: Events[Int]\nin output: Events[Int]\n"
                     "in integral: Events[Int]\nin call: Events[Unit]\nout target\nout measured\nout output\n"
                     "out integral\nout call\n")
    given = [*case.binds, *case.watched, "--bind", "call=entry:control"]
    code, rows, err = case.monitor(spec, "-a", *given)
    values = [(row["output"], row["value"]) for row in rows]
    assert code == 0 and not any(row.get("uncertain") for row in rows), (code, err)
    for i, name in enumerate(("target", "measured", "output")):
        assert [int(v) for n, v in values if n == name] == [x[i] for x in rounds], name
    changes = lambda numbers: [x for i, x in enumerate(numbers) if x != (numbers[i - 1] if i else 0)]
    stored = [int(v) for n, v in values if n == "integral"]
    assert changes(stored) == changes([x[3] for x in rounds]), stored
    order = [n for n, _ in values if n not in ("integral", "call")]
    assert order == ["target", "measured", "output"] * 120, order[:12]
    for threads in (2, 5):
        assert case.monitor(spec, "-a", "--threads", threads, *given) == (code, rows, err)
    # The timestamp after a write is its time, as in decode.
    decoded = map(json.loads, run("decode", "--merge", "-f", "jsonl", case.capture).splitlines())
    written = [row for row in decoded if row["type"] == "Sw" and row["note"] == "port 1"]
    code, rows, err = case.monitor(case.spec("in target: Events[Int]\nout target\n"), "-a", "--bind",
                                   "target=itm:1")
    assert [row["time"] for row in rows] == [int(row["time"]) for row in written], rows[:3]
    assert len(rows) == 120
    # Between calls and writes, what is certain is right; how much is certain depends on where cycles were
    # counted.
    spec = case.spec("in target: Events[Int]\nin call: Events[Unit]\nout count(call) - count(target) as n\n")
    code, rows, err = case.monitor(spec, "-a", "--bind", "target=itm:1", "--bind", "call=entry:control")
    assert code == 0 and all(row["value"] in ("0", "1") or row.get("uncertain") for row in rows), rows[:5]


def check_control_errors(folder):
    """Checks inputs that nothing gives, that cannot be given, and writes of another width than a Float's."""
    case = Control(folder)
    spec = case.spec("in v: Events[Int]\nout v\n")
    for place, text in (("stm:3", "belongs to an STM, but the capture has none"),
                        ("itm:1@cpu_0", "belongs to an ITM, but cpu_0 is etmv4i"),
                        ("itm:1@cpu_9", "the run has no core cpu_9"),
                        ("itm:300", "a stimulus port, 0 to 255")):
        code, rows, err = case.monitor(spec, "--bind", f"v={place}")
        assert code == 2 and not rows and text in err, (place, code, err)
    assert case.monitor(spec, "-a", "--bind", "v=itm:1@ITM") == case.monitor(spec, "-a", "--bind", "v=itm:1")
    code, rows, err = case.monitor(spec, "-a", "-q", "--bind", "v=itm:9")
    assert code == 0 and not rows and "the trace has no event for 'itm:9'" in err, (code, rows, err)
    for kind, place, text in (("Float", "entry:control", "gives a Unit or an Int"),
                              ("Float", "itm:1.signed", "gives a Unit, an Int or a Bool"),
                              ("String", "dwt:1", "events have no text")):
        own = case.spec(f"in v: Events[{kind}]\nout v\n")
        code, rows, err = case.monitor(own, "--bind", f"v={place}")
        assert code == 2 and not rows and text in err, (place, code, err)
    own = case.spec("in v: Events[Float]\nin b: Events[Bool]\nin u: Events[Unit]\n"
                    "out v\nout b\nout u\n")
    code, rows, err = case.monitor(own, "-a", "--bind", "v=itm:1", "--bind", "b=itm:2", "--bind", "u=itm:3")
    bools = [row["value"] for row in rows if row["output"] == "b"]
    assert code == 1 and bools[:2] == ["false", "true"], (code, err)
    assert len([r for r in rows if r["output"] == "u"]) == 120, len(rows)
    own = case.spec("in f: Events[Unit]\nin v: Events[Int]\nout f\nout v\n")
    code, rows, err = case.monitor(own, "--bind", "f=entry:main@ITM", "--bind", "v=itm:1")
    assert code == 2 and "belongs to a core, but ITM is itm" in err, err


def check_listing(case):
    wanted = case.listing(case)
    assert bool(wanted) == case.bug, wanted
    if case.listing is timing and case.bug:
        assert len(wanted) == 2, wanted # a trigger without a call of first, and one that came too late
    binds = [x for bind in BINDS[case.listing] for x in ("--bind", bind)]
    for dialect, options in (("", []), ("-stream", binds)):
        rows = case.monitor("--spec", case.spec(dialect), *options, codes=(1 if case.bug else 0,))
        got = [(row["time"], row["output"], row["value"]) for row in rows if row.get("violation")]
        # For a property that stays violated the first result counts.
        got = got[:1] if case.listing in (structure,) else got
        assert got == wanted, (dialect, got, wanted)
        assert not any(row.get("uncertain") for row in rows)
        for row in rows:
            assert row["file"].endswith(f"{case.listing.__name__}.c") and row["line"] > 0, row


def check_together(folder):
    """Checks that several specifications in one run have the results that each of them has alone."""
    case = Case(folder, timing, True)
    single = folder / "count.tessla"
    single.write_text("in trigger: Events[Unit]\ndef calls = count(trigger)\nout calls\n")
    bind = ["--bind", "trigger=entry:trigger"]
    alone = [case.monitor("-a", "--spec", case.spec("")), case.monitor("-a", "--spec", single, *bind)]
    both = case.monitor("-a", "--spec", case.spec(""), "--spec", single, *bind)
    for rows in alone:
        assert rows and [r for r in both if r["spec"] == rows[0]["spec"]] == rows


def check_gaps(folder):
    """Checks lost trace: it is an event of its own, and later results that it could have changed are
    uncertain."""
    case = Case(folder, structure, False)
    spec = folder / "gaps.tessla"
    spec.write_text("in gap: Events[Int]\nin overflow: Events[Int]\nin taken: Events[Unit]\n"
                    "def n = count(taken)\ndef kinds = merge(gap, overflow)\nout n\nout kinds\n"
                    "out time(taken) as last\ndef at = time(taken)\nout at - prev(at) as apart\n")
    run("record", "-q", "--cycle-count=4", "--overflow=6000", "--seed", 3, "-o", case.folder / "lossy", "--",
        case.program)
    case.capture = case.folder / "lossy"
    rows = case.monitor("-a", "--spec", spec, "--bind", "taken=structure.c:10", "--bind", "overflow=overflow")
    gaps = [row["time"] for row in rows if row["output"] == "kinds"]
    assert gaps, rows[:5]
    for row in rows:
        assert bool(row.get("uncertain")) == (row["time"] > gaps[0] and row["output"] == "n"), row
    # A pair after a gap is certain. Where gaps are depends on what the C library does at the start.
    assert [row for row in rows if row["output"] == "apart" and row["time"] > gaps[0]], (gaps, rows[-5:])
    forgets = case.monitor("-a", "--forget", 1, "--spec", spec, "--bind", "taken=structure.c:10")
    assert not any(row.get("uncertain") for row in forgets if row["time"] > gaps[-1] + 1)


def check_generated(folder):
    """Checks that a specification written by 'coretap spec' is not violated by its own capture, and flags a
    slower and a faster program."""
    (folder / "slow").mkdir()
    usual, odd = Case(folder, validation, False), Case(folder / "slow", validation, True)
    spec = folder / "generated.tessla"
    for margin in (0, 5):
        spec.write_text(run("spec", "-q", "--timing", "--margin", margin, "--pair",
                            "entry:block_start entry:block_end",
                            "--function", "main", "--elf", usual.program, usual.capture))
        rows = usual.monitor("-a", "--spec", spec, codes=(0,))
        assert not any(row["output"].endswith("violation") for row in rows), rows
    got = {row["output"] for row in odd.monitor("--spec", spec, codes=(1,))}
    assert {"way1_min_violation", "way1_max_violation"} <= got, got
    nothing = run("spec", "-q", "--timing", "--pair", "entry:block_end 0x0", "--elf", usual.program,
                  usual.capture, codes=(1,))
    assert not nothing, nothing


def ways_of(text):
    """Returns {way: (times seen, least, most)} of a generated specification."""
    rows = re.findall(r"-- (\w+): seen (\d+) times?, (\d+) to (\d+) cycles", text)
    return {name: tuple(map(int, numbers)) for name, *numbers in rows}


def check_all_functions(folder):
    """Checks 'coretap spec' without a way: all functions that ran, in all captures together; no capture
    violates it."""
    case = Case(folder, validation, False)
    captures = [folder / f"seed{seed}" for seed in (1, 2)]
    for seed, capture in enumerate(captures, 1):
        run("record", "-q", "--cycle-count=4", "--seed", seed, "-o", capture, "--", case.program)
    usual = ["spec", "-q", "--timing", "--margin", 0, "--elf", case.program]
    spec = [*usual, "--most", 256] # more than the program has
    text = run(*spec, *captures)
    both = ways_of(text)
    # Two events of one input in the same cycle are placed a cycle apart, so times are only equal when the
    # same places are watched.
    functions = re.findall(r'_start := function_call\("([^"]*)"\)', text)
    same = [word for name in functions for word in ("--function", name)]
    first, second = (ways_of(run(*usual, *same, capture)) for capture in captures)
    assert both.keys() == first.keys() | second.keys() and len(both) > 1, (both, first, second)
    for name, (count, least, most) in both.items():
        ones = [w[name] for w in (first, second) if name in w]
        # For a capture alone, a function is left out when its only run contains a system call, whose cycles
        # are unknown. Whether it does depends on where the kernel put its memory.
        if len(ones) < len(captures):
            assert count >= sum(n for n, _, _ in ones), (name, both[name], ones)
            continue
        assert count == sum(n for n, _, _ in ones), (name, both[name], ones)
        assert least == min(low for _, low, _ in ones), (name, ones)
        assert most == max(high for _, _, high in ones), (name, ones)
    generated = folder / "generated.tessla"
    generated.write_text(text)
    for case.capture in captures:
        assert not any(row["output"].endswith("violation")
                       for row in case.monitor("-a", "--spec", generated, codes=(0,)))
    # The first capture alone does not cover the second one, which has other cycles.
    generated.write_text(run(*spec, captures[0]))
    assert case.monitor("--spec", generated, codes=(1,))
    # Options between and behind the captures, and what restricts them.
    name = next(iter(both))
    assert ways_of(run(*usual, captures[0], "--match", name, captures[1])).keys() == {name}
    assert list(ways_of(run(*usual, *captures, "--most", 1))) == [name]
    assert list(ways_of(run(*usual, *captures))) == list(both)[:64]
    # A part of a capture; --function selects what is measured, and leaves nothing out.
    part = ways_of(run(*usual, "--to", "2000insn", captures[0], codes=(0, 1)))
    assert part.keys() < both.keys(), part
    assert not run(*usual, "--from", "999999999insn", captures[0], codes=(1,))
    assert not run(*usual, "--function", name, "--from", "999999999insn", captures[0], codes=(1,))


def in_folder(check):
    """Calls a check with an empty folder. It fails by an assertion."""
    with tempfile.TemporaryDirectory() as folder:
        check(pathlib.Path(folder))
    return True


def main():
    missing = next((t for t in ("aarch64-linux-gnu-gcc", "qemu-aarch64") if not shutil.which(t)), None)
    checks = [(f"{listing.__name__}, {'bug' if bug else 'no bug'}",
               lambda folder, listing=listing, bug=bug: check_listing(Case(folder, listing, bug)))
              for listing in BINDS for bug in (False, True)]
    checks += [("several specifications", check_together), ("lost trace", check_gaps),
               ("specification from measured times", check_generated),
               ("specification of all functions", check_all_functions)]
    checks += [(f"two cores in turn, {'bug' if bug else 'no bug'}",
                lambda folder, bug=bug: check_turns(folder, bug)) for bug in (False, True)]
    checks += [("two cores whose order is in doubt", check_doubt), ("inputs of one core", check_cores),
               ("captures of one system, and of several", check_captures),
               ("inputs of each core", check_each), ("one core alone", check_one_core),
               ("many specifications of two cores", check_many),
               ("two cores, lost trace", check_lossy)]
    checks += [(f"values of a control loop, {'bug' if bug else 'no bug'}",
                lambda folder, bug=bug: check_control(folder, bug)) for bug in (False, True)]
    checks += [("values that cannot be", check_control_errors)]
    for name, check in checks:
        tap.case(name, missing and f"needs {missing}", lambda check=check: in_folder(check))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
