#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks specifications that take more work or memory than allowed: each is stopped with a message, in both
engines, while another one in the same run has the results that it has alone. Prints TAP.

usage: test_hostile_specs.py CORETAP"""
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cpu_time  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, is_sanitized  # noqa: E402  pylint: disable=wrong-import-position

CAPTURE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "quickstart"
# Times are in nanoseconds. The events of x are some hundred million ns apart.
OPTIONS = ("--id", "10", "--bind", "x=0x8057c", "--frequency", "1000", "--all")
ENGINES = ("bytecode", "native")
GOOD = "in x: Events[Unit]\nout count(x) as n\nout count(x) < 9 as fine\n"
HEAD = ("in x: Events[Unit]\ndef n = count(x)\nout n\n"
        "def much = slift1(n, (k: Int) => if k > 5 then 1000000000 else 1)\n")
OLD = "what was there before\n"
BUSY_S = 1.0  # seconds of processor time after which a command is in its endless event
BUDGET = "One event takes more work than the limit of 2000000 units"
MEMORY = "The values of the monitor need more memory than the limit of 1.0 MiB"


def loop(state, first, step, result):
    """Returns a specification that iterates over a state as often as `much` says."""
    return (f"{HEAD}def f(k: Int, s: {state}): {state} = if k == 0 then s else f(k - 1, {step})\n"
            f"out slift1(much, (k: Int) => {result.format(f'f(k, {first})')}) as y\n")


def doubled(count, text):
    return f"d({count}, {text})"


STRINGS = "def d(k: Int, s: String): String = if k == 0 then s else d(k - 1, String.concat(s, s))\n"
BIG = "((1 << 60000) + 12345)"
ATTACKS = {
    "calls": loop("Int", "0", "s + k", "{}"),
    "a recursion that is not in last place":
        HEAD
    + "def f(n: Int): Int = if n < 2 then n else f(n - 1) + f(n - 2)\nout slift1(n, (k: Int) => f(if k > 5 "
      "then 60 else 1)) as y\n",
    "maps": loop("Map[Int, Int]", "Map.empty[Int, Int]", "Map.add(s, k * 7919 % 1000, k)", "Map.size({})"),
    "sets": loop("Set[Int]", "Set.empty[Int]", "Set.add(s, k * 7919 % 1000)", "Set.size({})"),
    "lists": loop("List[Int]", "List.append(List.empty[Int], 1)", "List.tail(List.append(s, k))",
                  "List.size({})"),
    "comparisons": loop("Int", "0", 'if (k, "a", s) == (k, "a", 0) then 0 else 1', "{}"),
    "products of large numbers": loop("Int", "(1 << 30000) + 12345", "if s * s == 0 then 0 else s", "{} > 0"),
    "quotients of large numbers": loop("Int", BIG, "if s / 7 == 0 then 0 else s", "{} > 0"),
    "large numbers as text": loop("Int", BIG, 'if toString(s) == "" then 0 else s', "{} > 0"),
    "strings": STRINGS
    + loop("String", doubled(10, '"abc"'), 'if String.concat(s, s) == "" then "" else s', '{} == ""'),
    "formats": loop("Float", "1.5e300", 'if String.formatFloat("%1000.300f", s) == "" then 0.0 else s',
                    "{} >. 0.0"),
    "functions of Floats": loop("Float", "1.5e300", "if sin(s) >. 2.0 then 0.0 else s", "{} >. 0.0"),
    "timers": HEAD + "out filter(period(1), n > 100) as y\n",
    "delays": HEAD
    + "def d: Events[Unit] = delay(merge(on(x, 1), default(on(d, 1), 1)), x)\nout filter(d, n > 100) as y\n",
}
HOARD = (HEAD + STRINGS + "def all = fold(n, List.empty[String], (l: List[String], k: Int) => List.append(l, "
         'String.concat(d(15, "abc"), toString(k))))\nout List.size(all) as y\n')


class Runs:
    def __init__(self, coretap, folder):
        self.coretap, self.folder = coretap, pathlib.Path(folder)
        self.good = self.write("good", GOOD)

    def write(self, name, text):
        path = self.folder / f"{name}.tessla"
        path.write_text(text, encoding="utf-8")
        return path

    def monitor(self, *args):
        """Runs `monitor`. Returns exit code, lines, messages, and seconds of processor time."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.coretap, "monitor", *OPTIONS, *args, CAPTURE], capture_output=True,
                              text=True, timeout=300,
                              check=False, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return done.returncode, done.stdout.splitlines(), done.stderr, after.ru_utime - before.ru_utime

    def attack(self, name, text, message, engine, *args):
        alone = self.monitor("--spec", self.good)[1]
        bad = self.write("bad", text)
        code, lines, said, seconds = self.monitor("--spec", self.good, "--spec", bad, "--engine", engine,
                                                  *args)
        good = [line.replace("good.tessla: ", "") for line in lines if "good.tessla" in line]
        stopped = [line for line in lines if line.startswith("stopped: ")]
        begun = [line for line in lines if "bad.tessla: n = " in line]
        check(f"{name}, {engine}: is stopped with a message",
              code == 2 and len(stopped) == 1 and message in stopped[0] and
              message in said and "(t = " in said, [f"exit code {code}", *stopped, said])
        check(f"{name}, {engine}: results before that are there", 1 <= len(begun) <= 10, lines)
        check(f"{name}, {engine}: the other goes on",
              good == [line for line in alone if not line.startswith("#")], lines)
        print(f"# {seconds:.2f} s", flush=True)


def check_stated(runs):
    """Checks that the reason of a stop is in the JSON output, and that a larger budget lets the run
    continue."""
    bad = runs.write("bad", ATTACKS["calls"].replace("1000000000", "1000000"))
    code, lines, _, _ = runs.monitor("--spec", bad, "--format", "jsonl")
    check("the reason stands in JSON",
          code == 2 and '"stopped":"' in lines[-1] and "--event-budget" in lines[-1], lines)
    code, lines, said, _ = runs.monitor("--spec", bad, "--event-budget", "100000000")
    check("with a larger budget it goes on", code == 0 and any("y = 500000500000" in line for line in lines),
          [*lines, said])
    code, lines, said, _ = runs.monitor("--spec", runs.good, "--event-budget", "10")
    check("with a small one, nothing does", code == 2 and "limit of 10 units" in said, [*lines, said])
    hoard = runs.write("bad", HOARD)
    code, lines, said, _ = runs.monitor("--spec", hoard)
    check("values have the memory that they may have", code == 0, [*lines, said])


def check_refused(runs):
    for args in (("--event-budget", "0"), ("--event-budget", "-1"), ("--monitor-memory", "0"),
                 ("--monitor-memory", "x")):
        code, _, said, _ = runs.monitor("--spec", runs.good, *args)
        check(f"{' '.join(args)} is refused", code == 2 and args[0] in said, said)
    done = subprocess.run([runs.coretap, "tessla", "--check", "--event-budget", "5", "--spec", runs.good],
                          capture_output=True, text=True, check=False, timeout=300)
    check("--event-budget where nothing runs is refused", done.returncode == 2 and "--check" in done.stderr,
          done.stderr)


def check_mistakes(runs):
    """Checks that results before a mistake in the trace still count, within the same budget."""
    spec = runs.write("loop",
                      "in x: Events[Int]\ndef f(n: Int): Int = if n < 1 then 0 else f(n - 1)\nout slift1(x, "
                      "f) as y\n")
    for what, line in (("a value of another type", "2: x = ()"), ("no value", "2: x ="),
                       ("a time that goes back", "0: x = 1")):
        done = subprocess.run([runs.coretap, "tessla", "--spec", spec],
                              input=f"1: x = 9223372036854775807\n{line}\n",
                              capture_output=True, text=True, check=False, timeout=300)
        check(f"an event before {what} has its budget", done.returncode == 2 and BUDGET in done.stderr,
              done.stderr)


def check_many_names(runs):
    """Watchpoints and outputs are found by their names, however many there are."""
    kinds = {"watchpoints": (10000, "", 'define a{0} := function_call("f{0}")\n', "out a0\n"),
             "outputs": (20000, "in x: Events[Int]\n", "out x as a{0}\n", "")}

    def words(kind, times):
        count, head, line, end = kinds[kind]
        spec = runs.write(f"many{times}", head + "".join(line.format(i) for i in range(times * count)) + end)
        return runs.coretap, "tessla", "--check", "--monitor-memory", "8192", "--spec", spec

    for kind in kinds:
        growth = cpu_time.growth(words(kind, 1), words(kind, cpu_time.TIMES))
        check(f"{cpu_time.TIMES} times as many {kind} take about as many times as long",
              growth < cpu_time.MOST, growth)
        print(f"# {growth:.1f} times", flush=True)


def check_imports(runs):
    """A name is looked for once in each module, however many ways of imports lead there."""
    layers = "".join(f"module {m}{i} {{\n import A{i + 1}\n import B{i + 1}\n}}\n"
                     for i in range(50) for m in "AB")
    spec = runs.write("imports", layers + "module A50 { def z = 1 }\nmodule B50 {}\nimport A0\nout z\n")
    done = subprocess.run([runs.coretap, "tessla", "--spec", spec], capture_output=True, text=True,
                          timeout=300, check=False)
    check("2^50 ways to a name", done.stdout == "0: z = 1\n", done.stdout + done.stderr)


def seconds_of(process):
    """Returns the processor time of a running process, in seconds."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check_signal(runs, command, engine, number):
    """Checks that a signal during an endless event ends the command, and that its output file keeps its old
    content."""
    bad = runs.write("endless", loop("Int", "0", "s", "{}").replace("1000000000", "1000000000000000"))
    folder = pathlib.Path(tempfile.mkdtemp(dir=runs.folder))
    result = folder / "result"
    result.write_text(OLD, encoding="utf-8")
    line = [runs.coretap, command, "--spec", bad, "--engine", engine, "--event-budget", str(2**62), "-o",
            result]
    line += [] if command == "tessla" else [*OPTIONS, CAPTURE]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        if command == "tessla":
            process.stdin.write("".join(f"{at}: x = ()\n" for at in range(1, 10)).encode())
            process.stdin.flush()
        end = time.monotonic() + 300
        while process.poll() is None and time.monotonic() < end and seconds_of(process) < BUSY_S:
            time.sleep(0.02)
        busy = process.poll() is None
        process.send_signal(number)
        try:
            code = process.wait(timeout=300)
        except subprocess.TimeoutExpired:
            code = "does not end"
            process.kill()
    left = os.listdir(folder)
    check(f"{command}, {engine}: {number.name} in an endless event ends it, and leaves the old file",
          busy and code == -number and left == ["result"]
          and result.read_text(encoding="utf-8") == OLD,
          [f"busy {busy}, exit code {code}, {left}"])


def main():
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(sys.argv[1], folder)
        for engine in ENGINES:
            for name, text in ATTACKS.items():
                runs.attack(name, text, BUDGET, engine)
            runs.attack("memory", HOARD, MEMORY, engine, "--monitor-memory", "1")
            check_signal(runs, "monitor", engine, signal.SIGTERM)
            check_signal(runs, "tessla", engine, signal.SIGTERM)
        check_stated(runs)
        check_mistakes(runs)
        check_refused(runs)
        check_imports(runs)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        print(f"# {peak} MB at most", flush=True)
        if not is_sanitized(runs.coretap):
            check("no attack took more than 200 MB", peak < 200, peak)
        check_many_names(runs)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
