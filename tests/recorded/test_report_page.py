#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report in Chromium, as a reader uses it, on a desktop and a telephone. Prints TAP.

usage: test_report_page.py CORETAP EXAMPLES     the folder of the recorded examples"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import browser  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish  # noqa: E402  pylint: disable=wrong-import-position

CORETAP, EXAMPLES = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False,
                            timeout=120)
    assert result.returncode == 0, (command, result.returncode, result.stderr)
    return result.stdout


def record(folder, source, *options):
    """A capture of an example."""
    folder.mkdir()
    shutil.copy(EXAMPLES / source, folder)
    program = folder / "program"
    run("aarch64-linux-gnu-gcc", "-g", "-O1", "-fno-inline", "-static", "-pthread", "-o", program,
        folder / source)
    run(CORETAP, "record", "-q", "-o", folder / "capture", *options, "--", program)
    return folder / "capture"


class Page:
    """A report in a browser, with what it complains about."""

    def __init__(self, path, width=1280):
        self.browser = browser.Browser(width, 900)
        self.browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                         mobile=width < 500)
        self.browser.ask("Page.addScriptToEvaluateOnNewDocument", source="""
            window.wrong = []; addEventListener("error", event => wrong.push(event.message));""")
        self.browser.open(f"file://{path}")

    def value(self, script):
        return self.browser.value(f"(() => {{ {script} }})()")

    def close(self):
        check("scripts do not fail", self.value("return wrong.length") == 0, self.value("return wrong"))
        self.browser.close()


def check_narrow(path):
    """On a telephone the name of each row stands above its numbers, and nothing sticks out."""
    page = Page(path, 390)
    wrong = page.value("""
        return [...document.querySelectorAll(".byname tbody tr")].filter(row => row.offsetParent)
          .filter(row => {
            const name = row.querySelector(".first").getBoundingClientRect();
            return [...row.querySelectorAll(".num")].some(cell =>
              cell.getBoundingClientRect().top < name.bottom - 1 ||
              cell.getBoundingClientRect().right > innerWidth);
          }).map(row => row.textContent)""")
    rows = page.value('return document.querySelectorAll("#functions tbody tr").length')
    check("narrow: names stand first", not wrong and rows > 20, (wrong[:3], rows))
    check("narrow: the page does not scroll sideways",
          page.value("return document.documentElement.scrollWidth <= innerWidth"))
    page.close()


def main():
    missing = [tool for tool in TOOLS if not shutil.which(tool)] + ([] if browser.PROGRAM else ["chromium"])
    if missing:
        print(f"1..0 # SKIP {', '.join(missing)} missing")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        capture = record(folder / "control", "control.c", "--start", "main", "--cycle-count=1")
        path = folder / "control.html"
        run(CORETAP, "report", "-q", "-o", path, capture)
        check_narrow(path)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
