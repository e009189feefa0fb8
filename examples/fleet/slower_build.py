#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds the build that made a function slower, by the cycles per run of each function.

usage: slower_build.py CORETAP MANIFEST PAGE"""
import sys

import fleet

# Least number of runs for a mean, least change that counts, and least part of all cycles for a function to be
# of interest.
ENOUGH, CHANGE, PART = 5, 0.10, 0.001


def means(week, captures, name):
    """Returns the mean cycles of a run of each function itself, without the functions that it called."""
    told = week.json("timing", "-q", "--together", "--format", "json", week.sum("timing", captures, name))[0]
    least = PART * told["totals"]["edges"]
    return {f["name"]: f["self"]["mean"] for f in told["functions"]
            if f["self"]["count"] >= ENOUGH and f["cycles"] >= least}


def changes(builds, told):
    """Returns how the mean of each function changed from build to build, as (change, function, build, before,
    after). Each build is compared with the last earlier one that has the function."""
    last, found = {}, []
    for build in builds:
        for name, after in told[build].items():
            before = last.get(name)
            if before:
                found.append((after / before - 1, name, build, before, after))
            last[name] = after
    return sorted(found, reverse=True)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    week = fleet.Fleet(*sys.argv[1:3])
    groups, builds = week.by("build_id"), week.in_order()
    if len(builds) < 2:
        raise SystemExit(f"{week.manifest}: has captures of {fleet.several(len(builds), 'build')}; two are "
                         "needed")
    if "unknown" in groups:
        week.sum("timing", groups["unknown"], "unknown")  # which prints why
    found = changes(builds, {build: means(week, groups[build], build) for build in builds})
    shown = [change for change in found if abs(change[0]) >= CHANGE]
    most = max((max(change[3:]) for change in shown), default=1)
    rows = []
    for change, name, build, before, after in shown:
        bars = fleet.bar(before / most, "faint") + fleet.bar(after / most, "bad" if change > 0 else "")
        rows.append(fleet.row(("", fleet.code(name)), ("", f"<code>{build[:8]}</code>"), ("wide", bars),
                              ("number", f"{before:,.0f} → {after:,.0f}"),
                              ("number bad" if change > 0 else "number good", f"{change:+.0%}")))
    slower = {name for change, name, *_ in shown if change > 0}
    faster = {name for change, name, *_ in shown if change < 0}
    same = {name for _, name, *_ in found} - slower - faster
    order = " → ".join(f"<code>{build[:8]}</code>" for build in builds)
    fleet.write_page(sys.argv[3], "Which build made a function slower",
                     f"Builds {order}: {fleet.several(len(slower), 'function')} slower and {len(faster)} "
                     f"faster by {CHANGE:.0%} or more, {len(same)} as before. Mean cycles of a run, without "
                     "what it called; the upper bar is the build before.",
                     fleet.table(["function", "build", "cycles", "#", "#change"], rows), week=week)


if __name__ == "__main__":
    main()
