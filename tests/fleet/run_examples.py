#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the examples of questions to a fleet (examples/fleet) find what is in the week that they
record. Prints TAP.

usage: run_examples.py COMMAND PLUGIN"""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, PLUGIN = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:3])
EXAMPLES = ROOT / "examples/fleet"
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64", "readelf")
MOST = 2 ** 64 - 1
MACHINES = 4


def example(name, *words, code=0):
    """Runs an example as its README does. The command is found through PATH."""
    folder, command = os.path.split(COMMAND)
    done = subprocess.run([sys.executable, EXAMPLES / f"{name}.py", command, *map(str, words)], check=False,
                          capture_output=True, text=True, timeout=300,
                          env={**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN,
                               "PATH": f"{folder}:{os.environ['PATH']}"})
    assert done.returncode == code, (name, done.stdout, done.stderr)
    return done


def ask(*words):
    """Returns what the command prints. Exit code 1, for a damaged capture, is allowed."""
    done = subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode < 2, (words, done.stderr)
    return done.stdout


class Week:
    def __init__(self, folder):
        self.folder = folder
        self.manifest = folder / "week/week.jsonl"
        example("record_week", folder / "week", MACHINES)
        lines = self.manifest.read_text(encoding="utf-8").splitlines()
        self.captures = [json.loads(line) for line in lines]

    def page(self, name, *words):
        """Returns the rows of a page, as texts of their fields, and its whole text. Checks that the page
        needs no other file."""
        path = self.folder / f"{name}.html"
        example(name, self.manifest, *words, path)
        page = path.read_text(encoding="utf-8")
        assert not re.search(r"src=|href=|url\(|<script", page), "the page needs another file"
        rows = [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall("<td.*?</td>", row)]
                for row in re.findall("<tr>.*?</tr>", page)]
        text = html.unescape(re.sub("<[^>]*>", "", page))
        if name != "fleet_profile":
            assert "config-build-2/snapshot.ini" in text, "nothing is said of the capture that cannot be read"
        return {row[0]: row for row in rows if row}, text

    def of(self, machine):
        return [capture for capture in self.captures if capture["machine"] == f"phone {machine}"]


def covers(week):
    rows, text = week.page("which_test_covers_what")
    assert f"in {len(week.captures) - 1} captures of 3 tests" in text, text
    assert rows["checksum"][1:] == ["–", "–", "100%", "100%", "only sync"], rows["checksum"]
    assert rows["parse"][1:] == ["–", "100%", "–", "100%", "only render"], rows["parse"]
    assert rows["main"][1:] == ["100%"] * 4 + [""], rows["main"]
    assert rows["repair"][1:] == ["–"] * 4 + ["no test"], rows["repair"]
    return f"{len(rows)} functions"


def profile(week, weights):
    """Makes the AutoFDO profiles of the week. Returns the calls of main by build ID, and the rows of the
    page."""
    named = week.folder / "weights.json"
    named.write_text(json.dumps(weights), encoding="utf-8")
    rows, _ = week.page("fleet_profile", named, week.folder / "profiles")
    counts = {}
    for path in (week.folder / "profiles").glob("*.afdo"):
        build_id = path.stem
        program, = (program for program in week.folder.glob("week/builds/*/service")
                    if build_id in subprocess.check_output(["readelf", "-n", program], text=True))
        symbols = subprocess.check_output(["readelf", "-sW", program], text=True)
        main = int(re.search(r"([0-9a-f]{16}) .* FUNC .* main$", symbols, re.M)[1], 16)
        load = int(re.search(r"LOAD +0x0+ 0x([0-9a-f]+)", subprocess.check_output(
            ["readelf", "-lW", program], text=True))[1], 16)
        counts[program.parent.name] = int(re.search(
            rf"^{main - load:x}-\w+:(\d+)$", path.read_text(encoding="utf-8"), re.M)[1])
    return counts, rows


def weighs(week):
    """Checks the weights: each capture ran main once. One capture of build 2 cannot be read."""
    weights = {"phone 1": 1000, "phone 2": 70}
    counts, rows = profile(week, weights)
    whole = 3 * (1000 + 70 + 1)
    assert counts == {"1": whole, "2": whole - 1000, "3": whole}, counts
    assert rows[f"phone {MACHINES}"][-1] == "left out" and not any(
        rows[f"phone {machine}"][-1] for machine in range(1, MACHINES)), rows
    return f"main ran {counts} times"


def tells_names_apart(week):
    """Checks that machines whose names differ in one character only, or are long, stay separate."""
    names = {"phone 1": "phone-1", "phone 2": "phone 1", "phone 3": "phone/1" + 300 * "x"}
    renamed = week.folder / "week/renamed.jsonl"
    lines = [json.dumps({**capture, "machine": names.get(capture["machine"], capture["machine"])}) + "\n"
             for capture in week.captures]
    renamed.write_text("".join(lines), encoding="utf-8")
    weights = week.folder / "renamed.json"
    weights.write_text(json.dumps({"phone-1": 1000, "phone 1": 70}), encoding="utf-8")
    example("fleet_profile", renamed, weights, week.folder / "renamed", week.folder / "renamed.html")
    weighed, _ = profile(week, {"phone 1": 1000, "phone 2": 70})
    assert weighed
    for path in (week.folder / "profiles").glob("*.afdo"):
        assert (week.folder / "renamed" / path.name).read_bytes() == path.read_bytes(), path.name


def saturates(week):
    counts, rows = profile(week, {"phone 2": MOST})
    assert counts == {"1": MOST, "2": MOST, "3": MOST}, counts
    assert rows["main"][-1] == "2⁶⁴ − 1 or more", rows["main"]


def slows(week):
    rows, text = week.page("slower_build")
    assert set(rows) == {"checksum", "parse"} and "2 functions slower and 0 faster" in text, rows
    assert re.fullmatch(r"\+\d\d\d+%", rows["checksum"][-1]), rows
    builds = re.search(r"Builds (\w+) → (\w+) → (\w+):", text).groups()
    assert [rows[name][1] for name in ("checksum", "parse")] == list(builds[1:]), (builds, rows)


def finds_longest(week):
    _, text = week.page("longest_task", "handle_request")
    longest = {}
    for capture in week.captures:
        if capture["build_ids"]:
            told = json.loads(ask("timing", "-q", "--format", "json", capture["path"]))[0]
            runs = [f["inclusive"]["max"] for f in told["functions"] if f["name"] == "handle_request"]
            longest[capture["path"]] = max(runs)
    most = max(longest.values())
    path, = (path for path in longest if f"{most:,} cycles, in {path}, " in text)
    assert longest[path] == most and f"/phone-{MACHINES}/sync-build-" in path, longest
    commands = re.findall(rf"coretap (decode --along binary --from \d+cyc --to \d+cyc) {path}", text)
    assert len(commands) == 1 and "handle_request" in ask(*commands[0].split(), "-q", path), commands
    example("longest_task", week.manifest, "nothing", week.folder / "none.html", code=1)
    return f"{most} cycles"


def main():
    lacking = [tool for tool in TOOLS if not shutil.which(tool)]
    why = f"there is no {' and no '.join(lacking)}" if lacking else None
    with tempfile.TemporaryDirectory() as folder:
        week = None if why else Week(pathlib.Path(folder))
        for case in (covers, weighs, tells_names_apart, saturates, slows, finds_longest):
            tap.case(case.__name__.replace("_", " "), why, lambda case=case: case(week))
    return tap.finish()


sys.exit(main())
