#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Ints of any size with Python's: every operation, in both engines, with values as literals and in
the trace; also checks values that are too large.

usage: test_tessla_big.py COMMAND"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND = sys.argv[1]
# libgccjit never frees some of its memory, so leaks are not reported.
NO_LEAKS = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
LONG = bool(os.environ.get("CT_LONG"))
BITS = 65536


def run(spec, trace, engine="bytecode", codes=(0,)):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s.tessla")
        with open(path, "w", encoding="utf-8") as file:
            file.write(spec)
        done = subprocess.run([COMMAND, "tessla", "--engine", engine, "--spec", path], input=trace, text=True,
                              capture_output=True, timeout=300, env=NO_LEAKS if engine == "native" else None)
    assert done.returncode in codes, (done.returncode, done.stderr[:500])
    return done.stdout.splitlines(), done.stderr


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def shifted(a, by):
    return a << by if by >= 0 else a >> -by


def grouped(a):
    return f"{a:,}"


def truth(value):
    return "true" if value else "false"


# Text of each operation in a specification, and the same in Python.
OPERATIONS = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "if y == 0 then 0 else x / y": lambda x, y: quotient(x, y) if y else 0,
    "if y == 0 then 0 else x % y": lambda x, y: x - quotient(x, y) * y if y else 0,
    "x & y": lambda x, y: x & y,
    "x | y": lambda x, y: x | y,
    "x ^ y": lambda x, y: x ^ y,
    "~x": lambda x, y: ~x,
    "-x": lambda x, y: -x,
    "x << (y % 200)": lambda x, y: shifted(x, y - quotient(y, 200) * 200),
    "x >> (y % 200)": lambda x, y: shifted(x, -(y - quotient(y, 200) * 200)),
    "x < y": lambda x, y: truth(x < y),
    "x > y": lambda x, y: truth(x > y),
    "x <= y": lambda x, y: truth(x <= y),
    "x >= y": lambda x, y: truth(x >= y),
    "x == y": lambda x, y: truth(x == y),
    "x != y": lambda x, y: truth(x != y),
    "max(x, y)": max,
    "(x * y) / (if y == 0 then 1 else y)": lambda x, y: x if y else 0,
    "intToFloat(x) == intToFloat(y)": lambda x, y: truth(real(x) == real(y)),
    "floatToInt(intToFloat(x % (1 << 900)))": lambda x, y: int(float(x - quotient(x, 1 << 900) * (1 << 900))),
    "String.length": None,
    "Map.get(Map.add(Map.add(Map.empty[Int, Int], x, y), y, x), x)": lambda x, y: x if x == y else y,
    "Set.contains(Set.add(Set.add(Set.empty[Int], x + 1), y), x + 1 + y - y)": lambda x, y: "true",
    "f\"$x%d\"": lambda x, y: f'"{x}"',
    "f\"${x}%,d\"": lambda x, y: f'"{grouped(x)}"',
    "f\"${x}%x ${y}%X ${x}%o\"": lambda x, y: f'"{x:x} {y:X} {x:o}"',
    "toString(x)": lambda x, y: f'"{x}"',
    "Some(x)": lambda x, y: f"Some({x})",
    "(x, y)": lambda x, y: f"({x}, {y})",
    "List.fold(List.append(List.append(List.empty[Int], x), y), 1, Operators.mul)": lambda x, y: x * y,
}
del OPERATIONS["String.length"]


def real(x):
    try:
        return float(x)
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def numbers(count, seed):
    draw = random.Random(seed)
    edges = [0, 1, -1, 2, 7, -7, 10**18, 10**63 - 1, -(10**62) - 3]
    for bits in (31, 32, 52, 53, 54, 59, 60, 61, 62, 63, 64, 65, 119, 120, 121, 127, 128, 180, 240, 1023,
                 1024, 2000):
        edges += [sign * ((1 << bits) + d) for d in (-1, 0, 1) for sign in (1, -1)]
    for _ in range(count):
        yield tuple(draw.choice(edges) if draw.random() < 0.5
                    else draw.choice((1, -1)) * draw.getrandbits(draw.choice(
            (3, 30, 62, 63, 64, 65, 100, 128, 250, 600))) for _ in range(2))


def written(number, draw):
    sign = "-" if number < 0 else ""
    return f"{sign}0x{abs(number):x}" if draw.random() < 0.3 else str(number)


def operations(engine):
    """Checks operations on events: both operands at the same time, results in the order of the outputs."""
    spec = "in x: Events[Int]\nin y: Events[Int]\n"
    spec += "".join(f"out slift(x, y, (x: Int, y: Int) => {text}) as o{i}\n"
                    for i, text in enumerate(OPERATIONS))
    pairs = list(numbers(20000 if LONG else 1500 if tap.WHOLE else 500, 1))
    draw = random.Random(2)
    trace = "".join(f"{t}: x = {written(x, draw)}\n{t}: y = {written(y, draw)}\n"
                    for t, (x, y) in enumerate(pairs, 1))
    got, _ = run(spec, trace, engine)
    want = [f"{t}: o{i} = {compute(x, y)}" for t, (x, y) in enumerate(pairs, 1)
            for i, compute in enumerate(OPERATIONS.values())]
    for a, b in zip(got, want):
        assert a == b, (a, b, list(OPERATIONS)[int(a.split()[1][1:])])
    assert len(got) == len(want), (len(got), len(want))


def streams(engine):
    """Checks operators on streams. The values cross the limit of 64 bits in both directions, and last, pure
    and fold keep such values."""
    spec = ("in x: Events[Int]\nout x + 1 as more\nout pure(x) as pure\nout x - prev(x) as step\nout sum(x) "
            "as sum\n"
            "out reduce(x, (a: Int, b: Int) => if a > b then a else b) as most\nout filter(x, x > 0) as "
            "positive\n")
    draw = random.Random(3)
    values = [draw.choice((1, -1)) * ((1 << 63) + draw.randrange(-2, 3)) * draw.choice((1, 1, 1, 1 << 200))
              for _ in range(3000)]
    got, _ = run(spec, "".join(f"{t}: x = {x}\n" for t, x in enumerate(values, 1)), engine)
    want, total, before, most = ["0: sum = 0"], 0, None, None
    for t, x in enumerate(values, 1):
        total += x
        most = x if most is None else max(most, x)
        want.append(f"{t}: more = {x + 1}")
        want += [f"{t}: pure = {x}"] if x != before else []
        want += [f"{t}: step = {x - before}"] if before is not None else []
        want += [f"{t}: sum = {total}", f"{t}: most = {most}"]
        want += [f"{t}: positive = {x}"] if x > 0 else []
        before = x
    assert got == want, next((a, b) for a, b in zip(got, want) if a != b)


def literals(engine):
    """Checks that constant folding of literals in the specification gives the same results."""
    for x, y in numbers(60 if LONG else 12, 4):
        values = {"x": f"({x})", "y": f"({y})"}
        spec = f"in t: Events[Unit]\ndef x = {x}\ndef y = {y}\n"
        spec += "".join(f"out const({text}, t) as o{i}\n" for i, text in enumerate(OPERATIONS))
        got, _ = run(spec, "5: t\n", engine)
        want = [f"5: o{i} = {compute(x, y)}" for i, compute in enumerate(OPERATIONS.values())]
        assert got == want, (values, [(a, b) for a, b in zip(got, want) if a != b][:1])


def floats(engine):
    """Checks the conversion to Float, which rounds once, to even, and is infinite beyond the range; and from
    Float, which takes the integer part."""
    draw = random.Random(5)
    values = [(1 << bits) + d for bits in (53, 54, 63, 64, 65, 100, 1023) for d in range(-3, 4)]
    values += [(m << 11) + d for m in ((1 << 53) - 1, (1 << 53) + 1, (1 << 53) + 3)
               for d in (1023, 1024, 1025)]
    values += ([(((1 << 53) + 1) << 300) + d for d in (-1, 0, 1)]
               + [(((1 << 54) + 2) << 300) + d for d in (-1, 0, 1)])
    values += [draw.getrandbits(draw.randrange(64, 1020)) for _ in range(500)]
    values += [-x for x in values]
    got, _ = run("in x: Events[Int]\nout floatToInt(intToFloat(x)) as back\n",
                 "".join(f"{t}: x = {x}\n" for t, x in enumerate(values)), engine)
    want = [f"{t}: back = {int(float(x))}" for t, x in enumerate(values)]
    assert got == want, next((a, b) for a, b in zip(got, want) if a != b)
    got, _ = run("in x: Events[Int]\nout intToFloat(x) as f\n",
                 f"1: x = {1 << 1024}\n2: x = {-(1 << 2000)}\n", engine)
    assert got == ["1: f = Infinity", "2: f = -Infinity"], got


def limits(engine):
    """Checks that the largest Int can be read, negated and printed, and that a larger one is an error that
    says so."""
    spec = "in x: Events[Int]\nout x\nout -x as neg\n"
    most = (1 << BITS) - 1
    got, _ = run(spec, f"1: x = {most}\n2: x = 0x{most:x}\n3: x = {-most}\n", engine)
    assert got == [line for t, x in ((1, most), (2, most), (3, -most))
                   for line in (f"{t}: x = {x}", f"{t}: neg = {-x}")]
    for text in (str(most + 1), f"{-most - 1}", f"0x{most + 1:x}", "9" * 1000000):
        got, said = run(spec, f"1: x = 5\n2: x = {text}\n", engine, (2,))
        assert got == ["1: x = 5", "1: neg = -5"] and "Integer overflow: more than 65536 bits" in said, said
    for operation, fits in (("x + 1", most - 1), ("-x - 1", most - 1), ("x * x", (1 << BITS // 2) - 1),
                            ("x << 65535", 1), ("x - (0 - 1)", most - 1)):
        got, said = run(f"in x: Events[Int]\nout {operation} as o\nout const((), {operation}) as there\n",
                        f"1: x = {fits}\n2: x = {fits + 1}\n", engine, (2,))
        assert len(got) == 2, (operation, len(got), said)
        assert "Integer overflow: more than 65536 bits (t = 2)" in said, (operation, said)
    got, said = run("in x: Events[Int]\nout x << x as o", "1: x = 10\n2: x = 100000000000000000000\n", engine,
                    (2,))
    assert got == ["1: o = 10240"] and "Integer overflow" in said, said
    got, said = run("in x: Events[Int]\nout (x - x) << x as zero\nout -1 >> x as minus\nout 7 >> x as none\n",
                    "2: x = 100000000000000000000\n", engine)
    assert got == ["2: zero = 0", "2: minus = -1", "2: none = 0"], got
    _, said = run(f"out {most + 1}\n", "1: x\n", engine, (1, 2))
    assert "Integer of more than 65536 bits" in said, said


def growing(engine):
    """Checks that a value that grows without limit ends the run with a message, also when it is an element of
    a list."""
    _, said = run("in x: Events[Unit]\ndef p: Events[Int] = default(on(x, last(p, x) * last(p, x)), 3)\nout "
                  "p\n",
                  "".join(f"{t}: x\n" for t in range(1, 100)), engine, (2,))
    assert "Integer overflow: more than 65536 bits (t = " in said, said
    spec = ("in x: Events[Int]\ndef all = fold(x, List.empty[Int], (l: List[Int], x: Int) => List.append(l, "
            "x << 65000))\n"
            "out List.size(all) as n\n")
    got, said = run(spec, "".join(f"{t}: x = {t}\n" for t in range(1, 80001)), engine, (2,))
    assert (2000 < len(got) < 80000
            and "The values of the monitor need more memory than the limit of 64" in said), (len(got), said)


def elsewhere(engine):
    """Checks an Int that is a duration or an index."""
    huge = 10**30
    got, said = run("in x: Events[Int]\nin u: Events[Unit]\nout delay(x, u) as d\nout time(u) as t\n",
                    f"1: x = {huge}\n1: u\n5: x = 2\n5: u\n9: u\n", engine)
    assert got == ["1: t = 1", "5: t = 5", "7: d = ()", "9: t = 9"], (got, said)
    _, said = run("in x: Events[Int]\nin u: Events[Unit]\nout delay(x, u) as d\n",
                  f"1: x = {-huge}\n1: u\n2: u\n", engine, (2,))
    assert "Non-positive delay" in said, said
    for get in ("List.get(l, x)", "List.size(List.set(l, x, 1))"):
        _, said = run("in x: Events[Int]\ndef l = List.append(List.append(List.empty[Int], 1), 2)\n"
                      f"out slift1(x, (x: Int) => {get}) as o\n", f"1: x = {1 << 64}\n", engine, (2,))
        assert "Index out of range" in said, said
    got, said = run("in x: Events[Unit]\ndefine a := x\ndefine p := inPast(a, 100000000000000000000000)\nout "
                    "p\n"
                    "define m := monitor(always (a implies next a))\nout m\n", "1: x\n9: x\n", engine)
    assert got == ["0: p = false", "1: p = true", "1: m = unknown", "9: m = unknown"], (got, said)
    trace = f"time,x\n1,{huge}\n2,{huge} * {huge}\n"
    got, _ = run("in x: Events[Int]\nout x\n", trace, engine)
    assert got == [f"1: x = {huge}", f"2: x = {huge * huge}"], got
    got, said = run("in x: Events[(Int, List[Int], Option[Int], Map[Int, Int])]\nout x\n",
                    f"1: x = ({huge}, List({-huge}, 1), Some({huge}), Map({huge} -> 2))\n", engine)
    assert got == [f"1: x = ({huge}, List({-huge}, 1), Some({huge}), Map({huge} -> 2))"], (got, said)
    _, said = run("in u: Events[Unit]\nout delay(99999999999999999999s, u)\n", "1: u\n", engine, (1, 2))
    assert "Time literal does not fit 63 bits" in said, said


def main():
    getattr(sys, "set_int_max_str_digits", lambda most: None)(0)
    checks = [(f"{check.__name__}, {engine}", check, engine)
              for check in (operations, streams, literals, floats, limits, growing, elsewhere)
              for engine in ("bytecode", "native")]
    for name, check, engine in checks:
        tap.case(name, None, lambda check=check, engine=engine: check(engine))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
