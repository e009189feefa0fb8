#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which build made a function slower: cycles of each run of each function, by build id.

usage: slower_build.py CORETAP MANIFEST PAGE"""
import sys

import fleet

# Runs of which the mean is taken, a change that is one, and the part of all cycles that a function has to
# have to be of interest.
ENOUGH, CHANGE, PART = 5, 0.10, 0.001


def means(week, captures, name):
    """Mean cycles of a run of each function by itself, without what it called."""
    told = week.json("timing", "-q", "--together", "--format", "json", week.sum("timing", captures, name))[0]
    least = PART * told["totals"]["edges"]
    return {f["name"]: f["self"]["mean"] for f in told["functions"]
            if f["self"]["count"] >= ENOUGH and f["cycles"] >= least}


def main():
    week = fleet.Fleet(*sys.argv[1:3])
    groups, order = week.by("build_id"), list(week.builds())
    builds = [build_id for build_id in order if build_id in groups]
    for captures in (groups[name] for name in groups if name == "unknown"):
        week.sum("timing", captures, "unknown")  # which says why
    old, new = (means(week, groups[build_id], build_id) for build_id in (builds[0], builds[-1]))
    changes = sorted(((new[name] / old[name] - 1, name) for name in old if old[name] and name in new),
                     reverse=True)
    shown = [pair for pair in changes if abs(pair[0]) >= CHANGE]
    most = max(max(old[name], new[name]) for _, name in shown) if shown else 1
    rows = []
    for change, name in shown:
        bars = fleet.bar(old[name] / most, "faint") + fleet.bar(new[name] / most, "bad" if change > 0 else "")
        rows.append(fleet.row(("", fleet.code(name)), ("", bars),
                              ("number", f"{old[name]:,.0f} → {new[name]:,.0f}"),
                              ("number bad" if change > 0 else "number good", f"{change:+.0%}")))
    slower = sum(change > 0 for change, _ in shown)
    fleet.write_page(sys.argv[3], "Which build made a function slower",
                     f"Build <code>{builds[-1][:8]}</code> after <code>{builds[0][:8]}</code>: "
                     f"{fleet.several(slower, 'function')} slower and {len(shown) - slower} faster by "
                     f"{CHANGE:.0%} or more, {len(changes) - len(shown)} as before. Mean cycles of a run, "
                     "without what it called; the upper bar is the older build.",
                     fleet.table(["function", "cycles", "#", "#change"], rows), failures=week.failures)


if __name__ == "__main__":
    main()
