#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a page of functions by tests: what each test of a week covers. What only one test covers is lost with
that test; what none covers needs one.

usage: which_test_covers_what.py CORETAP MANIFEST PAGE"""
import sys

import fleet

WIDE = 6  # most tests whose names fit side by side


def covered(week, result):
    """Returns the covered part of the lines of each function, over all builds. A line counts when it ran in
    any build."""
    parts = {}
    for program in week.json("cover", "--format", "json", result)["programs"]:
        for function in program["functions"]:
            lines = function["lines"]
            part = lines["seen"] / lines["all"] if lines["all"] else float(function["count"] > 0)
            parts[function["name"]] = max(part, parts.get(function["name"], 0))
    return parts


def shown(part):
    """Returns a part in percent. Only the whole is shown as 100%."""
    return "99%" if .99 < part < 1 else "1%" if part < .01 else f"{part:.0%}"


def cell(part):
    """Returns a field that is filled in proportion to the coverage of the function."""
    if not part:
        return "cell soft", "–"
    shade = f"color-mix(in srgb, var(--bar) {5 + 40 * part:.0f}%, var(--panel))"
    return "cell", f'<div style="background:{shade}">{shown(part)}</div>'


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
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
