#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that 'coretap tessla --analyse' is right about memory: a specification with values of bounded size
runs on many events with little memory, and one that grows with each event runs out of it. One that may
grow may do either. Prints TAP.

usage: test_analyse.py COMMAND"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402

COMMAND = pathlib.Path(sys.argv[1]).resolve()
EVENTS = 100000
INPUTS = "in x: Events[Int]\nin s: Events[String]\n"
BOUNDED, GROWS, MAY_GROW = "bounded", "grows", "may grow"
ADD = "def add(l: List[Int], n: Int): List[Int] := if n <= 0 then l else add(List.append(l, n), n - 1)\n"
CASES = (
    ("a sum", BOUNDED, "out sum(x)"),
    ("products", BOUNDED, "def p: Events[Int] := default(last(p, x) * 3 % 1000003, 1)\nout p"),
    ("an extremum", BOUNDED, "out maximum(x)"),
    ("the last text", BOUNDED, "out last(s, x) as l"),
    ("a text made of the input", BOUNDED, "out slift1(s, (t: String) => String.concat(t, t)) as l"),
    ("a list of all", GROWS,
     "def l: Events[List[Int]] := default(List.append(last(l, x), x), List.empty[Int])\n"
     "out List.size(l) as n"),
    ("a list of the last ten", BOUNDED,
     "def l = fold(x, List.empty[Int], (l: List[Int], i: Int) =>\n"
     "  List.append(if List.size(l) >= 10 then List.tail(l) else l, i))\nout List.size(l) as n"),
    ("a list of the first ten", BOUNDED,
     "def l = fold(x, List.empty[Int], (l: List[Int], i: Int) =>\n"
     "  if List.size(l) < 10 then List.append(l, i) else l)\nout List.size(l) as n"),
    ("a list that the condition does not limit", GROWS,
     "def l = fold(x, List.empty[Int], (l: List[Int], i: Int) =>\n"
     "  if List.size(l) < i + 10 then List.append(l, i) else List.append(l, 0))\nout List.size(l) as n"),
    ("a list that is emptied", MAY_GROW,
     "def l = fold(x, List.empty[Int], (l: List[Int], i: Int) =>\n"
     "  if i % 100 == 0 then List.empty[Int] else List.append(l, i))\nout List.size(l) as n"),
    ("a set of all", GROWS,
     "def l = fold(x, Set.empty[Int], (l: Set[Int], i: Int) => Set.add(l, i))\nout Set.size(l) as n"),
    ("a map with one key", BOUNDED,
     'def l = fold(x, Map.empty[String, Int], (l: Map[String, Int], i: Int) => Map.add(l, "a", i))\n'
     "out Map.size(l) as n"),
    ("a map with a key for each event", GROWS,
     "def l = fold(x, Map.empty[Int, Int], (l: Map[Int, Int], i: Int) => Map.add(l, i, i))\n"
     "out Map.size(l) as n"),
    ("a text that is added to", GROWS,
     'def t: Events[String] := default(String.concat(last(t, s), s), "")\n'
     'out slift1(t, (a: String) => a == "") as n'),
    ("an option of a text that is added to", GROWS,
     "def t: Events[Option[String]] := default(slift(last(t, s), s, (a: Option[String], b: String) =>\n"
     '  Some(if isNone(a) then b else String.concat(getSome(a), b))), None[String])\n'
     "out slift1(t, (a: Option[String]) => isNone(a)) as n"),
    ("a list that a recursive function adds to", GROWS, ADD +
     "def l = fold(x, List.empty[Int], (l: List[Int], i: Int) => add(l, i % 3))\nout List.size(l) as n"),
    ("a list that functions add to in turn", GROWS,
     "def even(l: List[Int], n: Int): List[Int] := if n <= 0 then l else odd(l, n - 1)\n"
     "def odd(l: List[Int], n: Int): List[Int] := if n <= 0 then l else even(List.append(l, n), n - 1)\n"
     "def l = fold(x, List.empty[Int], (l: List[Int], i: Int) => even(l, i % 5))\nout List.size(l) as n"),
    ("a list that a function adds to only when it calls itself", GROWS,
     "def add(l: List[Int], n: Int, first: Bool): List[Int] :=\n"
     "  if n <= 0 then l else add(if first then l else List.append(l, n), n - 1, false)\n"
     "def l = fold(x, List.empty[Int], (l: List[Int], i: Int) => add(l, i % 5, true))\n"
     "out List.size(l) as n"),
    ("a list that a recursive function shortens", BOUNDED,
     "def cut(l: List[Int], n: Int): List[Int] :=\n"
     "  if List.size(l) == 0 || n <= 0 then l else cut(List.tail(l), n - 1)\n"
     "def l = fold(x, List.empty[Int], (l: List[Int], i: Int) => cut(l, i % 3))\nout List.size(l) as n"),
    ("a list that a recursive function makes of the input", BOUNDED, ADD +
     "def l = fold(x, List.empty[Int], (l: List[Int], i: Int) => add(List.empty[Int], i % 3))\n"
     "out List.size(l) as n"),
    ("what was never put out", BOUNDED,
     "def l: Events[List[Int]] := default(List.append(last(l, x), x), List.empty[Int])\nout count(x) as n"),
)


def analyse(path):
    result = subprocess.run([COMMAND, "tessla", "--analyse", "--format", "json", "--spec", path],
                            capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def check(folder, expected, text):
    spec, trace = folder / "spec.tessla", folder / "trace"
    spec.write_text(INPUTS + text + "\n")
    outputs = analyse(spec)
    grows = [output["may_grow"] for output in outputs]
    assert any(grows) == (expected != BOUNDED), outputs
    assert all(bool(output["growth"]) == output["may_grow"] for output in outputs), outputs
    limited = [COMMAND, "tessla", "-q", "--monitor-memory", "1", "--spec", spec, "--trace", trace]
    result = subprocess.run(limited, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            check=False)
    if expected == GROWS:
        assert result.returncode == 2 and "memory" in result.stderr, result
    elif expected == BOUNDED:
        assert result.returncode == 0, result
    return f"{len(outputs)} outputs"


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = (f'{i}: x = {i}\n{i}: s = "t{i}"\n' for i in range(EVENTS))
        (folder / "trace").write_text("".join(lines))
        for title, expected, text in CASES:
            tap.case(f"{title}: {expected}", None,
                     lambda expected=expected, text=text: check(folder, expected, text))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
