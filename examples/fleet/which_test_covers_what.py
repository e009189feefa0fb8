#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which test of a week covers what: functions by tests, as a page. What one test alone covers is lost with
that test; what none covers needs one.

usage: which_test_covers_what.py CORETAP MANIFEST PAGE"""
import sys

import fleet

WIDE = 6  # tests whose names stand side by side


def covered(week, result):
    """Part of the lines of each function that ran, over all builds: one that ran in either counts."""
    parts = {}
    for program in week.json("cover", "--format", "json", result)["programs"]:
        for function in program["functions"]:
            lines = function["lines"]
            part = lines["seen"] / lines["all"] if lines["all"] else float(function["count"] > 0)
            parts[function["name"]] = max(part, parts.get(function["name"], 0))
    return parts


def shown(part):
    """A part in percent: what is not all is not 100%."""
    return "99%" if .99 < part < 1 else "1%" if part < .01 else f"{part:.0%}"


def cell(part):
    """A field that is the fuller the more of the function is covered."""
    if not part:
        return "cell soft", "–"
    shade = f"color-mix(in srgb, var(--bar) {5 + 40 * part:.0f}%, var(--panel))"
    return "cell", f'<div style="background:{shade}">{shown(part)}</div>'


def main():
    week = fleet.Fleet(*sys.argv[1:3])
    tests = {test: covered(week, week.sum("cover", captures, test))
             for test, captures in week.by("test").items()}
    whole = covered(week, week.sum("cover", week.captures, "all"))
    read = len(week.captures) - week.failed
    rows, alone, nobody = [], 0, 0
    for name in sorted(whole):
        by = [test for test, parts in tests.items() if parts.get(name)]
        note = f"only {by[0]}" if len(by) == 1 else "" if by else "no test"
        alone, nobody = alone + (len(by) == 1), nobody + (not by)
        rows.append(fleet.row(("", fleet.code(name)),
                              *(cell(parts.get(name, 0)) for parts in tests.values()), cell(whole[name]),
                              ("note soft" if by else "note bad", fleet.text(note))))
    fleet.write_page(sys.argv[3], "Which test covers what",
                     f"Lines of each function that ran, in {fleet.several(read, 'capture')} of "
                     f"{fleet.several(len(tests), 'test')}. Covered by one test alone: "
                     f"{fleet.several(alone, 'function')}; by none: {nobody}.",
                     fleet.table(["function", *(f"={test}" for test in tests), "=all", ""], rows,
                                 "grid tall" if len(tests) > WIDE else "grid"), week=week)


if __name__ == "__main__":
    main()
