#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets other tools read the coverage of a C++ program with shared libraries: their totals of lines, functions
and branches are those of coretap, and what they merge has the sums. Its own lines and branches have gcov's
counts. Prints TAP.

usage: test_cover_readers.py CORETAP PROGRAM.cc"""
import collections
import functools
import json
import os
import pathlib
import re
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command import output as run  # noqa: E402  pylint: disable=wrong-import-position
from tap import case, finish, lacks, skip_all  # noqa: E402  pylint: disable=wrong-import-position
import traced  # noqa: E402  pylint: disable=wrong-import-position

TOOLS = ("aarch64-linux-gnu-g++", "qemu-aarch64")
# Lines that gcov does not count, or counts otherwise (docs/analysis.md): closing braces, classes whose
# functions the compiler made, and the line of a call on which a lambda begins.
OTHERWISE = re.compile(r"\s*}|struct|.*, \[\]\(.*{$")
CONDITIONS = re.compile(r"\((\d+)/(\d+)\)")


def lcov(*arguments):
    """Runs lcov. Version 2 derives where a function ends, which is not true of a lambda; docs/analysis.md
    names the option that ends this check."""
    second = " 1." not in run("lcov", "--version")
    options = ["--branch-coverage", "--rc", "check_data_consistency=0"] if second else [
        "--rc", "lcov_branch_coverage=1"]
    return run(arguments[0], *options, *map(str, arguments[1:]))


def totals(summary):
    """Returns name -> (seen, all) of the totals that lcov prints."""
    found = re.findall(r"\((\d+) of (\d+) (lines|functions|branches)\)", summary)
    return {name: (int(seen), int(of_all)) for seen, of_all, name in found}


def check_lcov(file, sums):
    want = {name: (sums[name]["seen"], sums[name]["all"]) for name in ("lines", "functions", "branches")}
    got = totals(lcov("lcov", "--summary", file))
    assert got == want, (got, want)
    return f"{got}"


def check_genhtml(folder, file):
    pages = folder / "pages"
    lcov("genhtml", "--quiet", "-o", pages, file)
    text = next(pages.rglob("readers.cc.gcov.html")).read_text()
    assert "too much" in text
    return True


def hits(text):
    """Returns (file, line) -> count, and the same for the branches."""
    lines, branches, file = {}, {}, ""
    for line in text.splitlines():
        key, _, rest = line.partition(":")
        cells = rest.split(",")
        if key == "SF":
            file = rest
        elif key == "DA":
            lines[file, cells[0]] = int(cells[1])
        elif key == "BRDA":
            branches[file, *cells[:3]] = cells[3]
    return lines, branches


def check_merged(folder, file):
    both = folder / "both.info"
    lcov("lcov", "-a", file, "-a", file, "-o", both)
    one, two = (hits(path.read_text()) for path in (file, both))
    assert {key: 2 * n for key, n in one[0].items()} == two[0]
    assert {key: n if n == "-" else str(2 * int(n)) for key, n in one[1].items()} == two[1]
    return f"{len(one[0])} lines, {len(one[1])} branches"


def by_gcov(folder, source):
    """Returns line -> count, and line -> pairs of counts of branches, of a run with gcov's counters."""
    run(TOOLS[0], "-O0", "-g", "--coverage", "-o", "counted", source, cwd=folder)
    run("qemu-aarch64", folder / "counted", cwd=folder)
    report = json.loads(run("aarch64-linux-gnu-gcov", "-b", "-c", "-j", "-t", next(folder.glob("*.gcda")),
                            cwd=folder))
    lines, branches = collections.Counter(), collections.defaultdict(list)
    for line in next(file["lines"] for file in report["files"] if file["file"].endswith(source.name)):
        lines[line["line_number"]] += line["count"]
        ways = line["branches"]
        branches[line["line_number"]] += [tuple(sorted((one["count"], other["count"])))
                                          for one, other in zip(ways[::2], ways[1::2])
                                          if not one["throw"] and not other["throw"]]
    return lines, branches


def check_gcov(folder, source, report):
    lines, branches = by_gcov(folder, source)
    text = source.read_text().splitlines()
    own = next(file["lines"] for file in report["files"] if file["path"].endswith(source.name))
    traced_lines = {line["line"]: line for line in own}
    wrong, equal = [], 0
    for number in sorted(set(lines) | set(traced_lines)):
        line = traced_lines.get(number, {})
        pairs = [tuple(sorted((b["taken"], b["not_taken"]))) for b in line.get("branches", [])]
        same = lines.get(number) == line.get("count") or OTHERWISE.match(text[number - 1])
        equal += lines.get(number) == line.get("count")
        if not same or sorted(pairs) != sorted(branches[number]):
            wrong.append((text[number - 1], lines.get(number), branches[number], line))
    assert equal > 30 and not wrong, wrong
    return f"{equal} lines"


def listed(element):
    """Returns the sums of the lines below an element of a Cobertura file: lines and branches that ran, and
    all of them."""
    lines = element.findall("lines/line" if element.tag == "class" else ".//class/lines/line")
    branches = [tuple(map(int, CONDITIONS.search(line.get("condition-coverage")).groups()))
                for line in lines if line.get("branch") == "true"]
    return (sum(line.get("hits") != "0" for line in lines), len(lines),
            sum(seen for seen, _ in branches), sum(of_all for _, of_all in branches))


def check_cobertura(text):
    root = xml.etree.ElementTree.fromstring(text)
    told = tuple(int(root.get(name)) for name in ("lines-covered", "lines-valid", "branches-covered",
                                                  "branches-valid"))
    assert told == listed(root), (told, listed(root))
    packages = root.findall("packages/package")
    assert [package.get("name") for package in packages] == ["program"], [p.attrib for p in packages]
    for element in [root, *packages, *root.iter("class")]:
        seen, lines, taken, branches = listed(element)
        rates = (f"{seen / lines:.4f}", f"{taken / branches if branches else 1:.4f}")
        assert (element.get("line-rate"), element.get("branch-rate")) == rates, (element.attrib, rates)
    return f"{told}"


def main():
    missing = lacks(*TOOLS)
    if missing:
        return skip_all(missing)
    coretap, source = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    os.environ["QEMU_LD_PREFIX"] = "/usr/aarch64-linux-gnu"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = folder / "program"
        run(TOOLS[0], "-O0", "-g", "-fPIE", "-pie", "-o", str(program), str(source))
        capture = traced.capture(coretap, folder, program)
        cover = functools.partial(run, coretap, "cover", "--quiet", str(capture), "--format")
        report = json.loads(cover("json"))["programs"]
        assert len(report) > 2 and sum(bool(one["files"]) for one in report) == 1, "libraries have no lines"
        own = next(one for one in report if one["files"])
        sums = own["sums"]
        file = folder / "cover.info"
        file.write_text(cover("lcov"))
        case("lcov has the same totals", lacks("lcov"), lambda: check_lcov(file, sums))
        case("genhtml makes pages of it", lacks("lcov", "genhtml"), lambda: check_genhtml(folder, file))
        case("lcov adds up two files", lacks("lcov"), lambda: check_merged(folder, file))
        case("Cobertura: sums are those of its lines", None, lambda: check_cobertura(cover("cobertura")))
        case("lines and branches have gcov's counts", lacks("aarch64-linux-gnu-gcov"),
             lambda: check_gcov(folder, source, own))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
