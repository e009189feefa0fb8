#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the figures of the FRACTAL paper, and a page that compares them with the paper.

usage: figures.py COMMAND [--size SIZE]... [--out FOLDER]

Sizes are sqcif, qcif, cif, vga, fullhd (the last three by default), or WIDTHxHEIGHT. Output: fig2 and fig3 as
SVG and as TSV, heatmaps by page, by cache set and by line as SVG with heat.tsv, numbers.tsv, and index.html,
which contains all of it. `make fractal-figures` calls this with all sizes, which takes long; SIZE=cif makes
it short."""
import argparse
import collections
import csv
import pathlib
import re
import subprocess
import sys

import compare
import page
from bars import bars

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent
WORKLOADS = ["disparity", "mser", "sift", "tracking"]
SIZES = ["cif", "vga", "fullhd"]
CLOCK_HZ = 1.3e9  # of the model's cores, as in the paper
RUNS = 5          # runs of canny in Fig. 3
BINS = 200        # time intervals in fig3.tsv and heat.tsv
SETS = 1024       # of the last-level cache: 1 MiB, 16 ways, lines of 64 bytes


class Tool:
    """coretap fractal, and programs to run with it."""

    def __init__(self, command, folder):
        self.command, self.folder, self.built = command, folder, {}

    def program(self, name):
        if name not in self.built:
            self.built[name] = self.folder / "programs" / name
            self.built[name].parent.mkdir(exist_ok=True)
            subprocess.run(["aarch64-linux-gnu-gcc", "-O2", "-static", "-o", self.built[name],
                            EXAMPLES / f"{name}.c", "-lm"], check=True)
        return self.built[name]

    def call(self, *args):
        done = subprocess.run([self.command, "fractal", *map(str, args)], text=True, capture_output=True,
                              check=False)
        if done.returncode:
            sys.exit(f"coretap fractal {args[0]}: {done.stderr.strip()}")
        return done

    def trace(self, log, *options, size, times):
        """Traces canny. Returns what the run reports: misses of the program in the range, events,
        commands."""
        done = self.call("run", "-o", log, *options, "--", self.program("canny"), "-s", size, "-t", times)
        said = re.search(r"(\d+) of them the target's in the range; (\d+) events logged, (\d+) dropped; "
                         r"(\d+) commands", done.stderr)
        return dict(zip(("misses", "events", "dropped", "commands"), map(int, said.groups())))

    def report(self, log, *options):
        return self.call("report", log, "--elf", self.program("canny"), *options).stdout


def write_table(path, header, rows):
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in [header, *rows]))


def overheads(tool, sizes):
    """Measures Fig. 2. Returns the cycles of the four clusters for each workload and size."""
    rows = []
    for name in WORKLOADS:
        for size in sizes:
            line = tool.call("overhead", "--csv", "--", tool.program(name), "-s", size).stdout.split()[-1]
            rows.append((name, size, *map(int, line.split(","))))
            print(f"Fig. 2: {name} {size}", flush=True)
    return rows


def figure_2(tool, out, sizes):
    rows = overheads(tool, sizes)
    write_table(out / "fig2.tsv",
                ["workload", "size", "no PL, cycles", "PL coherent", "tracing, log in BRAM",
                 "tracing, log in DRAM", "PL coherent, %", "tracing, %", "tracing to DRAM, %"],
                [(*row, *(f"{100 * (cycles / row[2] - 1):.4f}" for cycles in row[3:])) for row in rows])
    (out / "fig2.svg").write_text(bars(rows))
    return rows


def events_of(report):
    """Returns the events of a log: milliseconds since the first event, address, frame address, name."""
    first = None
    for row in csv.DictReader(report.splitlines()):
        time = int(row["time"])
        first = time if first is None else first
        yield 1e3 * (time - first) / CLOCK_HZ, int(row["va"], 16), int(row["pa"], 16), row["symbol"]


def binned(events, key):
    """Counts events by `key(event)` and by time interval. Returns rows for a table."""
    events = list(events)
    width = max((e[0] for e in events), default=0) / BINS or 1
    counts = collections.Counter((key(e), min(int(e[0] / width), BINS - 1)) for e in events)
    return [(f"{part * width:.4f}", *what, n)
            for (what, part), n in sorted(counts.items(), key=lambda c: (c[0][1], c[0][0]))]


def figure_3(tool, out, size):
    log = out / "fig3.log"
    counts = tool.trace(log, "--mode", "points", "--section", ".text", size=size, times=RUNS)
    write_table(out / "fig3.tsv", ["ms", "function", "misses"],
                binned(events_of(tool.report(log, "--csv")), lambda e: (e[3],)))
    (out / "fig3.svg").write_text(tool.report(log, "--svg", "timeline"))
    found = re.search(r"^runs +(\d+),", tool.report(log), re.MULTILINE)
    counts["runs"] = int(found.group(1)) if found else 1
    return counts


def heatmaps(tool, out, size):
    """Writes heatmaps of all memory of one run, by page, cache set and line."""
    log = out / "heat.log"
    counts = tool.trace(log, "--mode", "active", size=size, times=1)
    for kind in ("pages", "sets", "lines"):
        (out / f"heat-{kind}.svg").write_text(tool.report(log, "--svg", kind))
    write_table(out / "heat.tsv", ["ms", "page", "cache set", "misses"],
                binned(events_of(tool.report(log, "--csv")),
                       lambda e: (f"0x{e[1] >> 12 << 12:x}", e[2] // 64 % SETS)))
    return counts


def claims(tool, out, size):
    """Traces canny in passive mode, in passive mode with table walks visible, and in points mode, as the
    paper measured."""
    walks = out / "walks.ini"
    walks.write_text("walks = 1\n")
    log = out / "claims.log"
    return {"passive": tool.trace(log, "--mode", "passive", size=size, times=2),
            "passive, walks seen": tool.trace(log, "--mode", "passive", "--config", walks, size=size,
                                              times=2),
            "points": tool.trace(log, "--mode", "points", size=size, times=2)}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("command")
    options.add_argument("--size", action="append")
    options.add_argument("--out", type=pathlib.Path, default=pathlib.Path("fractal-figures"))
    args = options.parse_args()
    sizes, out = args.size or SIZES, args.out
    out.mkdir(parents=True, exist_ok=True)
    tool = Tool(args.command, out)
    figure = figure_3(tool, out, sizes[-1])
    heat = heatmaps(tool, out, sizes[0])
    logged = claims(tool, out, sizes[0])
    rows = figure_2(tool, out, sizes)
    numbers = compare.numbers(rows, figure, logged, sizes)
    write_table(out / "numbers.tsv", ["paper", "says", "here", "why"], numbers)
    (out / "index.html").write_text(page.page(out, numbers, rows, heat, sizes))
    for log in out.glob("*.log"):
        log.unlink()
    print(f"Next: open {out / 'index.html'}")


if __name__ == "__main__":
    main()
