#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the figures of the FRACTAL paper in small, and checks the pictures, their data, and the page that
compares.

usage: test_fractal_figures.py COMMAND PLUGIN EXAMPLES"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import browser

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, PLUGIN, EXAMPLES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
SIZE = "64x48"
ENVIRONMENT = {**os.environ, "CORETAP_ACCESS_PLUGIN": PLUGIN, "PYTHONDONTWRITEBYTECODE": "1"}
PICTURES = ["fig2", "fig3", "heat-pages", "heat-sets", "heat-lines"]


def table(path):
    head, *rows = (line.split("\t") for line in path.read_text().splitlines())
    return [dict(zip(head, row)) for row in rows]


def pictures_are_svg(out):
    roots = [xml.etree.ElementTree.parse(out / f"{name}.svg").getroot().tag for name in PICTURES]
    return all(root == "{http://www.w3.org/2000/svg}svg" for root in roots)


def overheads_grow(out):
    """Checks that each cluster takes longer than the one before, and only the log in memory costs more than
    tracing."""
    rows = table(out / "fig2.tsv")
    cycles = [[int(cell) for cell in list(row.values())[2:6]] for row in rows]
    return [row["workload"] for row in rows] == ["disparity", "mser", "sift", "tracking"] and \
        all(none < coherent < tracing < logged for none, coherent, tracing, logged in cycles)


def bars_are_the_data(out):
    """Compares bars with the table, up to half of the last digit of both: the picture has three decimals, the
    table four."""
    said = re.findall(r"<title>(\w+) \S+, ([^:]+): \+([\d.]+) %</title>", (out / "fig2.svg").read_text())
    shares = [float(row[key]) for row in table(out / "fig2.tsv")
              for key in ("PL coherent, %", "tracing, %", "tracing to DRAM, %")]
    return len(said) == len(shares) and \
        all(abs(float(share) - other) < 0.00056 for (_, _, share), other in zip(said, shares))


def timelines_have_canny(out):
    functions = {row["function"] for row in table(out / "fig3.tsv")}
    return {"main", "canny", "gradient", "thin"} <= functions and "gradient" in (out / "fig3.svg").read_text()


def heat_is_all_misses(out):
    """Checks that each last-level miss is in a page and in a set, and that the page gives their number."""
    rows = table(out / "heat.tsv")
    said = re.search(r"(\d+) of (\d+) last-level", (out / "index.html").read_text())
    return said and said[1] == said[2] == str(sum(int(row["misses"]) for row in rows)) and \
        all(0 <= int(row["cache set"]) < 1024 for row in rows) and \
        len({row["cache set"] for row in rows}) > 50


def comparison_names_its_sources(out):
    rows = table(out / "numbers.tsv")
    return len(rows) > 8 and all(all(row.values()) for row in rows) and \
        all(re.search(r"Fig\.|Table|Sec\.", row["paper"]) for row in rows)


def page_needs_no_other_file(out):
    text = (out / "index.html").read_text()
    return text.count("<svg") == len(PICTURES) and not re.search(r'(src|href)="', text)


def page_fits(out):
    """Checks that nothing is wider than the window, on a desktop and on a phone, and that each theme has its
    colours."""
    seen = {}
    for width in (1280, 390):
        for dark in (False, True):
            b = browser.Browser(width, 900, dark)
            try:
                b.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                      mobile=width < 500)
                b.open((out / "index.html").as_uri())
                seen[width, dark] = b.value("[document.scrollingElement.scrollWidth,"
                                            "getComputedStyle(document.body).backgroundColor]")
            finally:
                b.close()
    return all(scroll <= width for (width, _), (scroll, _) in seen.items()) and \
        seen[390, False][1] == seen[1280, False][1] != seen[390, True][1] or print(f"# {seen}")


def sizes_are_what_they_are_called(out):
    def cycles(size):
        said = subprocess.run([COMMAND, "fractal", "overhead", "--csv", "--", out / "programs" / "mser", "-s",
                               size], capture_output=True, text=True, check=True, env=ENVIRONMENT).stdout
        return int(said.splitlines()[-1].split(",")[0])
    small = cycles("sqcif")
    return abs(cycles("128x96") / small - 1) < 0.01 and cycles("qcif") > 1.5 * small


def no_size_is_refused(out):
    done = subprocess.run([EXAMPLES / "figures" / "figures.py", COMMAND, "--size", "qcfi",
                           "--out", out / "no"], capture_output=True, text=True, check=False, env=ENVIRONMENT)
    return done.returncode == 1 and "'qcfi' is no size" in done.stderr


TESTS = [pictures_are_svg, overheads_grow, bars_are_the_data, timelines_have_canny, heat_is_all_misses,
         comparison_names_its_sources, page_needs_no_other_file, page_fits, sizes_are_what_they_are_called,
         no_size_is_refused]


def main():
    missing = tap.lacks("aarch64-linux-gnu-gcc", "qemu-aarch64")
    if missing:
        return tap.skip_all(missing)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "figures"
        subprocess.run([EXAMPLES / "figures" / "figures.py", COMMAND, "--size", SIZE, "--out", out],
                       stdout=subprocess.DEVNULL, check=True,
                       env=ENVIRONMENT)
        for test in TESTS:
            lacking = None if test is not page_fits or browser.PROGRAM else "chromium is not there"
            tap.case(test.__name__.replace("_", " "), lacking, lambda test=test: bool(test(out)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
