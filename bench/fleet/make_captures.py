#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the captures of a fleet: several runs of two builds of each of many generated programs.

One capture in twenty is damaged: its trace is cut, its trace has changed bytes, or its description is
incomplete. The same arguments give the same captures. Existing captures are not made again.

usage: make_captures.py CORETAP FOLDER [--programs N] [--runs N] [--mb LEAST MOST] [--seed N]

FOLDER gets captures/, programs/ and week.jsonl, the manifest of all captures."""
import argparse
import concurrent.futures
import os
import pathlib
import random
import subprocess

COMPILER = "aarch64-linux-gnu-gcc"
BUILDS = ("-O1", "-O2")
FUNCTIONS = 24
DAMAGED = 20  # one in this many captures is damaged
BRANCHES = 400000  # branches in a MB of trace, roughly


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("coretap")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--runs", type=int, default=10, help="of each of the two builds")
    parser.add_argument("--mb", type=float, nargs=2, default=(0.05, 1), metavar=("LEAST", "MOST"),
                        help="of trace of a run, about")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def function(number, rng):
    """Returns the source of a function that calculates with a number and calls some of the functions before
    it."""
    lines = [f"ALONE static unsigned f{number}(unsigned x)", "{"]
    for _ in range(rng.randint(2, 6)):
        constant = rng.randrange(3, 1 << 16)
        kind = rng.randrange(4 if number else 3)
        if kind == 0:
            lines.append(f"    for (unsigned i = 0; i < (x & {rng.choice((3, 7, 15))}); i++)\n"
                         f"        x += i * {constant};")
        elif kind == 1:
            lines.append(f"    x = x % {constant} > {constant // 2} ? x ^ {constant} : x + {constant};")
        elif kind == 2:
            lines.append(f"    switch (x % 5) {{ case 0: x += {constant}; break; case 1: x -= 3; break;\n"
                         f"    case 3: x ^= x >> 3; break; default: x *= 5; }}")
        else:
            lines.append(f"    if (x & {rng.choice((1, 2, 4))})\n        x += f{rng.randrange(number)}(x);")
    return "\n".join([*lines, "    return x;", "}"])


def source(rng):
    """Returns the source of a program that takes a seed and a number of rounds, and calls its functions in
    each round."""
    calls = "".join(f"    case {i}: x = f{i}(x); break;\n" for i in range(FUNCTIONS))
    body = "\n\n".join(function(i, rng) for i in range(FUNCTIONS))
    return (f"#include <stdlib.h>\n#define ALONE __attribute__((noinline))\n\n{body}\n\n"
            "int main(int argc, char **argv)\n{\n    unsigned x = argc > 1 ? atoi(argv[1]) : 1;\n"
            "    for (int i = argc > 2 ? atoi(argv[2]) : 100; i > 0; i--) {\n"
            "    x = x * 1664525 + 1013904223;\n"
            f"    switch ((x >> 16) % {FUNCTIONS}) {{\n{calls}    }}\n    }}\n    return x == 1;\n}}\n")


def make_program(how, number):
    """Builds a program in both ways. Returns its folder."""
    folder = how.folder / "programs" / f"{number:03}"
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / "program.c"
    if not made.exists():
        made.write_text(source(random.Random(f"{how.seed} {number}")), encoding="ascii")
    for build in BUILDS:
        program = folder / f"program{build}"
        if not program.exists():
            subprocess.run([COMPILER, build, "-g", "-static", "-Wl,--build-id", "-o", program, made],
                           check=True)
    return folder


def damage(capture, number, rng):
    """Damages a capture in one of three ways, which `number` selects."""
    if number % 3 == 0:
        ini = capture / "snapshot.ini"
        ini.write_bytes(ini.read_bytes()[:100])
        return
    trace = next(capture.glob("*.bin"))
    data = bytearray(trace.read_bytes())
    if number % 3 == 1:
        del data[len(data) * 2 // 3:]
    else:
        for _ in range(20):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    trace.write_bytes(data)


def make_capture(how, program, number):
    """Records one run of a program. `number` counts all runs."""
    capture = how.folder / "captures" / f"{number:05}"
    done = capture / "done"
    if done.exists():
        return
    rng = random.Random(f"{how.seed} capture {number}")
    least, most = how.mb
    rounds = int(BRANCHES * least * (most / least) ** rng.random()) // 10
    subprocess.run(["rm", "-rf", capture], check=True)
    subprocess.run([how.coretap, "record", "-q", "--cycle-count", "-o", capture, "--", program,
                    str(rng.randrange(1 << 30)), str(rounds)], check=True)
    if number % DAMAGED == DAMAGED - 1:
        damage(capture, number // DAMAGED, rng)
    done.touch()


def main():
    how = arguments()
    how.folder = how.folder.resolve()
    (how.folder / "captures").mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folders = list(pool.map(lambda number: make_program(how, number), range(how.programs)))
        # Each build of each program runs once before any of them runs again, so every part of the captures
        # has all builds.
        runs = [folder / f"program{build}" for _ in range(how.runs) for build in BUILDS for folder in folders]
        list(pool.map(lambda pair: make_capture(how, pair[1], pair[0]), enumerate(runs)))
    with (how.folder / "week.jsonl").open("wb") as manifest:
        subprocess.run([how.coretap, "manifest", "-q", how.folder / "captures"], check=True, stdout=manifest)
    print(f"{len(runs)} captures in {how.folder}/week.jsonl")


if __name__ == "__main__":
    main()
