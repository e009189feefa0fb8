#!/usr/bin/env python3
"""coretap wcet on recorded programs: never below what was observed, and the written model has the same optimum for
CBC and GLPK.

usage: run_wcet.py COMMAND PLUGIN WORKER.C"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COMMAND, PLUGIN, WORKER = sys.argv[1:4]
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN}
COMPILE = ["-g", "-nostdlib", "-static", "-ffreestanding", "-fno-builtin"]
LIMIT = "20000"
PROGRAMS = {
    "worker -O0": ("aarch64-linux-gnu-gcc", ["-O0"], WORKER),
    "worker -O1": ("aarch64-linux-gnu-gcc", ["-O1"], WORKER),
    "worker -O2": ("aarch64-linux-gnu-gcc", ["-O2"], WORKER),
    "worker T32": ("arm-linux-gnueabihf-gcc", ["-O1", "-mthumb"], WORKER),
}


def run(*command, codes=(0,)):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, env=ENV, timeout=30)
    assert result.returncode in codes, (command, result.stderr)
    return result.stdout


def optimum_of(model, folder):
    """What CBC and GLPK say, as far as they are there."""
    found = {}
    if shutil.which("cbc"):
        text = run("cbc", model, "solve", "quit")
        found["cbc"] = round(abs(float(re.search(r"Objective value:\s+(\S+)", text)[1])))
    if shutil.which("glpsol"):
        solution = folder / "solution"
        run("glpsol", "--lp", model, "-o", solution)
        found["glpsol"] = round(float(re.search(r"Objective:\s+\S+ = (\S+)", solution.read_text())[1]))
    return found


def check_by_line(wcet, result):
    """The cycles of all lines are the bound, and a line runs as often as one of its blocks."""
    text = run(*wcet, "--source")
    rows = [row.split("\t", 4) for row in text.split("# line\texecutions\tcycles\tpart\tsource\n")[1].splitlines()]
    assert sum(int(row[2]) for row in rows if row[2]) == result["wcet_cycles"], text
    counts = {int(row[1]) for row in rows if row[1]}
    assert counts <= {step["count"] for step in result["path"]}, text
    source = pathlib.Path(WORKER).read_text().splitlines()
    for name, _, _, _, line in rows:
        if name not in ("...", "-"):
            assert source[int(name.partition(":")[2]) - 1] == line, name
    page = run(*wcet, "--format", "html")
    assert f'{result["wcet_cycles"]:,} cycles' in page and "http" not in page


def check(folder, program, options):
    capture = folder / "capture"
    shutil.rmtree(capture, ignore_errors=True)
    run(COMMAND, "record", "-q", "-o", capture, "--max-instructions", LIMIT, *options, "--", program)
    timing = json.loads(run(COMMAND, "timing", "-q", "--format", "json", "--elf", program, capture))
    entries = [f["name"] for s in timing for f in s["functions"] if f["inclusive"]["count"]]
    assert entries
    for name in entries:
        model = folder / "model.lp"
        wcet = [COMMAND, "wcet", "-q", "--entry", name, "--elf", program, "--unobserved", "exclude", capture]
        result = json.loads(run(*wcet, "--format", "json", "--lp", model))
        seen = max(f["inclusive"]["max"] for s in timing for f in s["functions"] if f["name"] == name)
        assert result["observed_max_cycles"] == seen and result["observed_runs"] > 0, result
        assert result["wcet_cycles"] >= seen, (name, result["wcet_cycles"], seen)
        assert sum(step["cycles"] for step in result["path"]) == result["wcet_cycles"], name
        for solver, optimum in optimum_of(model, folder).items():
            assert optimum == result["wcet_cycles"], (name, solver, optimum, result["wcet_cycles"])
        assert "digraph" in run(*wcet, "--format", "dot")
        check_by_line(wcet, result)
    return f"{len(entries)} functions"


def check_comment(folder, program):
    """A bound in a comment, in a file, and none."""
    capture = folder / "capture"
    shutil.rmtree(capture, ignore_errors=True)
    run(COMMAND, "record", "-q", "-o", capture, "--cycle-count=1", "--", program)
    wcet = [COMMAND, "wcet", "-q", "--entry", "work", "--elf", program, "--format", "json", capture]
    observed = json.loads(run(*wcet))
    assert [loop["origin"] for loop in observed["loops"]] == ["observed"]
    assert [a["kind"] for a in observed["assumed"]].count("loop") == 1
    bounds = folder / "bounds"
    bounds.write_text(f"loop work {observed['loops'][0]['bound'] * 2}\n")
    told = json.loads(run(*wcet, "--bounds", bounds))
    assert told["loops"][0]["origin"] == "told" and told["wcet_cycles"] > observed["wcet_cycles"]
    bounds.write_text("loop work 16\nleaf <= 3\n")
    few = json.loads(run(*wcet, "--bounds", bounds))
    assert few["wcet_cycles"] < observed["wcet_cycles"]
    assert sum(s["count"] for s in few["path"] if s["function"] == "leaf") == 3
    bounds.write_text("never leaf\n")
    none = json.loads(run(*wcet, "--bounds", bounds))
    assert all(s["function"] != "leaf" for s in none["path"])
    return f"{observed['wcet_cycles']}, {told['wcet_cycles']}, {few['wcet_cycles']}, {none['wcet_cycles']} cycles"


def check_source(folder):
    """The same loop with a comment that bounds it."""
    source, program = folder / "commented.c", folder / "commented"
    text = pathlib.Path(WORKER).read_text()
    source.write_text(text.replace("    for (int i = 0; i < n; i++)", "    /* loop bound: 40 */\n    for (int i = 0; i < n; i++)"))
    run("aarch64-linux-gnu-gcc", "-O1", *COMPILE, "-o", program, source)
    capture = folder / "capture"
    shutil.rmtree(capture, ignore_errors=True)
    run(COMMAND, "record", "-q", "-o", capture, "--cycle-count=1", "--", program)
    result = json.loads(run(COMMAND, "wcet", "-q", "--entry", "work", "--elf", program, "--format", "json", capture))
    loop, = result["loops"]
    assert loop["origin"] == "comment" and loop["bound"] in (40, 41), loop
    return f"bound {loop['bound']}"


def main():
    tests = [(f"{name} {' '.join(options)}", source, compiler, flags, options) for name, (compiler, flags, source) in
             PROGRAMS.items() for options in (["--cycle-count=1"], ["--cycle-count=20"])]
    print(f"1..{len(tests) + 2}")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        def one(number, name, needs, body):
            missing = next((t for t in needs if not shutil.which(t)), None)
            if missing:
                print(f"ok {number} - {name} # SKIP needs {missing}")
                return 0
            try:
                print(f"ok {number} - {name}\n# {body()}")
                return 0
            except AssertionError as error:
                print(f"not ok {number} - {name}\n# {str(error)[:2000]}")
                return 1
        for number, (name, source, compiler, flags, options) in enumerate(tests, 1):
            program = folder / f"program{number}"
            qemu = "qemu-aarch64" if "aarch64" in compiler else "qemu-arm"
            if shutil.which(compiler):
                subprocess.run([compiler, *flags, *COMPILE, "-o", program, source], check=True)
            failed += one(number, name, (compiler, qemu), lambda p=program, o=options: check(folder, p, o))
        needs = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
        failed += one(len(tests) + 1, "bounds and constraints", needs, lambda: check_comment(folder, folder / "program3"))
        failed += one(len(tests) + 2, "bounds in comments", needs, lambda: check_source(folder))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
