#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks coverage of a recorded program in every format: the formats agree with each other, with the path
that QEMU logged, and with the tools that read them. Prints TAP.

usage: test_cover_formats.py CORETAP"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command import output as run  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, skip  # noqa: E402  pylint: disable=wrong-import-position
import traced  # noqa: E402  pylint: disable=wrong-import-position

PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "recorded/programs"
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
CHILDREN = {  # the part of coverage-04.dtd that is used
    "coverage": {"sources", "packages"},
    "sources": {"source"},
    "packages": {"package"},
    "package": {"classes"},
    "classes": {"class"},
    "class": {"methods", "lines"},
    "methods": {"method"},
    "method": {"lines"},
    "lines": {"line"},
    "line": {"conditions"},
    "conditions": {"condition"},
}
NEEDED = {
    "coverage": "line-rate branch-rate lines-covered lines-valid branches-covered branches-valid complexity "
                "version timestamp",
    "package": "name line-rate branch-rate complexity",
    "class": "name filename line-rate branch-rate complexity",
    "method": "name signature line-rate branch-rate complexity",
    "line": "number hits",
    "condition": "number type coverage",
}


def check_lcov(folder, text, sums):
    hits = [line[3:].split(",") for line in text.splitlines() if line.startswith("DA:")]
    check("lcov: as many lines as the JSON says", len(hits) == sums["lines"]["all"] > 30, len(hits))
    check("lcov: as many of them ran", sum(n != "0" for _, n in hits) == sums["lines"]["seen"])
    if not shutil.which("lcov"):
        skip("lcov reads it", "lcov is missing")
        return
    file = folder / "cover.info"
    file.write_text(text)
    summary = run("lcov", "--summary", str(file), "--rc", "lcov_branch_coverage=1")
    branches = f"({sums['branches']['seen']} of {sums['branches']['all']} branches)"
    check("lcov reads it",
          f"({sums['lines']['seen']} of {sums['lines']['all']} lines)" in summary and branches in summary,
          summary)
    page = run("genhtml", "--branch-coverage", "-o", str(folder / "html"), str(file))
    check("genhtml makes pages of it", "loops.c" in page or (folder / "html" / "index.html").exists(), page)


def check_cobertura(text, sums):
    root = xml.etree.ElementTree.fromstring(text)
    wrong = []
    for element in root.iter():
        wrong += [f"{child.tag} in {element.tag}" for child in element
                  if child.tag not in CHILDREN.get(element.tag, ())]
        missing = set(NEEDED.get(element.tag, "").split()) - set(element.attrib)
        wrong += [f"{element.tag} without {name}" for name in missing]
    check("Cobertura: elements and attributes of its DTD", root.tag == "coverage" and not wrong,
          "\n".join(wrong))
    check("Cobertura: sums",
          [int(root.get(name)) for name in ("lines-covered", "lines-valid", "branches-covered",
                                           "branches-valid")] ==
          [sums["lines"]["seen"], sums["lines"]["all"], sums["branches"]["seen"], sums["branches"]["all"]],
          root.attrib)


def check_sonarqube(text, sums):
    """Checks the elements and attributes of sonar-generic-coverage.xsd, and the totals."""
    root = xml.etree.ElementTree.fromstring(text)
    lines = root.findall("file/lineToCover")
    allowed = {"lineNumber", "covered", "branchesToCover", "coveredBranches"}
    check("SonarQube: elements and attributes of its schema",
          (root.tag, root.attrib) == ("coverage", {"version": "1"}) and
          all(set(file.attrib) == {"path"} and file.get("path").startswith("/") for file in root) and
          all({"lineNumber", "covered"} <= set(line.attrib) <= allowed for line in lines), text[:300])
    got = (sum(line.get("covered") == "true" for line in lines), len(lines),
           sum(int(line.get("coveredBranches", 0)) for line in lines),
           sum(int(line.get("branchesToCover", 0)) for line in lines))
    check("SonarQube: sums", got == (sums["lines"]["seen"], sums["lines"]["all"], sums["branches"]["seen"],
                                     sums["branches"]["all"]), got)


def check_time(coretap, capture):
    """Checks that the time in a Cobertura file is that of SOURCE_DATE_EPOCH, or that the command fails."""
    def cover(epoch):
        return subprocess.run([coretap, "cover", "-f", "cobertura", capture], capture_output=True, text=True,
                              check=False, timeout=300, env={**os.environ, "SOURCE_DATE_EPOCH": epoch})
    check("Cobertura: the time of SOURCE_DATE_EPOCH",
          'timestamp="1700000000000"' in cover("1700000000").stdout)
    for epoch in ("0", "-5", "1e9", "253402300800", "99999999999999999999"):
        result = cover(epoch)
        check(f"Cobertura: the time {epoch} is refused",
              result.returncode == 2 and not result.stdout and "SOURCE_DATE_EPOCH" in result.stderr, result)


def check_html(folder, text):
    for name, truth in (("no network",
                         "http:" not in text and "https:" not in text and "<script" not in text),
                        ("a row for the loop", ">    for (int i = 1; i &lt;= n; i++)" in text),
                        ("lines of each kind",
                         all(f'class="{kind}"' in text for kind in ("hit", "part", "miss"))),
                        ("instructions", "passed by" in text)):
        check(f"HTML: {name}", truth)
    browser = shutil.which("chromium")
    if not browser:
        skip("HTML in a browser", "chromium is missing")
        return
    page = folder / "cover.html"
    page.write_text(text)
    dom = run(browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
              "--dump-dom", f"file://{page}")
    check("HTML: a browser sees the same rows", dom.count("<tr ") == text.count("<tr "), dom[:400])


def check_parts(coretap, folder):
    """Checks that the source of a file of 2500 lines is in tables of 1000 lines, so that it opens at once."""
    source, program = folder / "many.c", folder / "many"
    source.write_text("int n;\n" * 2490 + "int main(void)\n{\n    return n;\n}\n")
    run(TOOLS[0], "-O0", "-g", "-static", "-o", str(program), str(source))
    capture = folder / "of-many"
    run(coretap, "record", "-q", "-o", str(capture), "--", str(program))
    text = run(coretap, "cover", "--format", "html", "--source-root", str(folder), str(capture))
    parts = [part.count("<tr ") for part in text.split('<div class="lines">')[1:]]
    check("HTML: a long file is in parts", parts == [999, 1000, 495], parts)


def check_without_lines(coretap, folder, program, capture, with_lines):
    """Checks that a page without known source lines has no table of files."""
    bare = folder / "bare"
    run("aarch64-linux-gnu-strip", "--strip-debug", "-o", str(bare), str(program))
    text = run(coretap, "cover", "--format", "html", "--elf", str(bare), str(capture))
    found = [[heading in page for heading in (">Files<", ">Functions<")] for page in (with_lines, text)]
    check("HTML: a table of files where lines are known", found == [[True, True], [False, True]], found)


def totals(coretap, *operands):
    report = json.loads(run(coretap, "cover", "--format", "json", *map(str, operands)))
    return report["programs"][0]


def check_merge(coretap, folder, program, capture):
    one = folder / "one"
    one.write_text(run(coretap, "cover", "--format", "data", "--elf", str(program), str(capture)))
    two = folder / "two"
    two.write_text(run(coretap, "merge", str(one), str(one)))
    again = folder / "again"
    again.write_text(run(coretap, "merge", str(two)))
    check("merge: of one file is that file", again.read_text() == two.read_text())
    single = totals(coretap, one)
    double = totals(coretap, two)
    check("merge: counts add up", all(2 * a["count"] == b["count"] for a, b in zip(
        single["files"][0]["lines"], double["files"][0]["lines"])) and single["sums"] == double["sums"])
    check("a coverage file says what the capture said", single == totals(coretap, "--elf", program, capture))
    by_path = traced.counts_file(folder, program)
    check("the trace says what QEMU's log of the path says", single == totals(coretap, by_path))


def main():
    coretap = str(pathlib.Path(sys.argv[1]).resolve())
    for tool in TOOLS:
        if not shutil.which(tool):
            print(f"1..0 # SKIP {tool} is missing (Debian: gcc-aarch64-linux-gnu qemu-user)")
            return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "program"
        run(TOOLS[0], "-O0", "-g", "-static", "-o", str(program), str(PROGRAMS / "loops.c"))
        capture = traced.capture(coretap, folder, program)
        made = {form: run(coretap, "cover", "--source-root", str(PROGRAMS.parent), "--format", form, "--elf",
                          str(program), str(capture))
                for form in ("text", "lcov", "cobertura", "json", "html", "sonarqube")}
        sums = json.loads(made["json"])["programs"][0]["sums"]
        check("text: lines",
              f"lines         {sums['lines']['seen']:8} of {sums['lines']['all']:8}" in made["text"],
              made["text"])
        check_lcov(folder, made["lcov"], sums)
        check_cobertura(made["cobertura"], sums)
        check_sonarqube(made["sonarqube"], sums)
        check_time(coretap, capture)
        check_html(folder, made["html"])
        check_without_lines(coretap, folder, program, capture, made["html"])
        check_merge(coretap, folder, program, capture)
        check_parts(coretap, folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
