#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds the longest observed run of a task over all machines, with its capture, its place in the capture, and
what ran during it.

usage: longest_task.py CORETAP MANIFEST FUNCTION PAGE"""
import shlex
import sys

import fleet

SHOWN = 20  # machines


def functions(week, *words):
    return week.json("timing", "-q", "--together", "--format", "json", *words)[0]["functions"]


def longest_of(week, captures, name, task):
    """Returns the longest run of a task in any build, or None when it never ran completely."""
    runs = [f["longest"] for f in functions(week, week.sum("timing", captures, name))
            if f["name"] == task and "longest" in f]
    return max(runs, key=lambda run: run["cycles"], default=None)


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    week, task = fleet.Fleet(*sys.argv[1:3]), sys.argv[3]
    worst = longest_of(week, week.captures, "all", task)
    if not worst:
        raise SystemExit(f"{task}: no capture has a whole run of it with cycles")
    machines = {machine: longest_of(week, captures, machine, task)
                for machine, captures in week.by("machine").items()}
    cycles = sorted(((run["cycles"] if run else 0, machine) for machine, run in machines.items()),
                    key=lambda pair: (-pair[0], pair[1]))
    rows = [fleet.row(machine, ("wide", fleet.bar(took / worst["cycles"],
                                                  "bad" if machines[machine] == worst else "")),
                      ("number", f"{took:,}" if took else "–"))
            for took, machine in cycles]
    window = ("--from", f"{worst['from']}cyc", "--to", f"{worst['to']}cyc")
    inside = functions(week, *window, worst["capture"])
    parts = sorted(((f["cycles"], f["name"]) for f in inside if f["cycles"]), reverse=True)[:8]
    meanwhile = [fleet.row(("", fleet.code(name)),
                           ("wide", fleet.bar(took / worst["cycles"])), ("number", f"{took:,}"))
                 for took, name in parts]
    command = shlex.join(["coretap", "decode", "--along", "binary", *window, worst["capture"]])
    fleet.write_page(sys.argv[4], f"The longest {task}",
                     f"{worst['cycles']:,} cycles, in <code>{fleet.text(worst['capture'])}</code>, buffer "
                     f"{fleet.text(worst['buffer'])}, trace ID {worst['id']:02x}, from cycle "
                     f"{worst['from']:,} on. To look at it:</p><pre><code>{fleet.text(command)}</code></pre>"
                     "<p>",
                     "<h2>The longest on each machine</h2>", fleet.table(["machine", "cycles", "#"],
                                                                     fleet.first(rows, SHOWN, "none longer")),
                     "<h2>What ran meanwhile</h2>", fleet.table(["function", "cycles", "#"], meanwhile),
                     week=week)


if __name__ == "__main__":
    main()
