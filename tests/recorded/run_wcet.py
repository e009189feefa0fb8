#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks coretap wcet on recorded programs: the bound is never below the observed time, and the written model
has the same optimum in CBC and GLPK.

usage: run_wcet.py COMMAND PLUGIN WORKER.C NESTED.C COMPUTED.C LIBRARY.C"""
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, PLUGIN, WORKER, NESTED, COMPUTED, LIBRARY = sys.argv[1:7]
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN}
COMPILE = ["-g", "-nostdlib", "-static", "-ffreestanding", "-fno-builtin", "-I",
           str(pathlib.Path(WORKER).resolve().parent)]
LIMIT = "20000"
PROGRAMS = {
    "worker -O0": ("aarch64-linux-gnu-gcc", ["-O0"], WORKER),
    "worker -O1": ("aarch64-linux-gnu-gcc", ["-O1"], WORKER),
    "worker -O2": ("aarch64-linux-gnu-gcc", ["-O2"], WORKER),
    "worker T32": ("arm-linux-gnueabihf-gcc", ["-O1", "-mthumb"], WORKER),
}


run = functools.partial(command.output, env=ENV)


def optimum_of(model, folder):
    """Returns the optimum of CBC and of GLPK, as far as they are installed."""
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
    """Checks that the cycles of all lines add up to the bound, and that a line runs as often as one of its
    blocks."""
    text = run(*wcet, "--source")
    rows = [row.split("\t", 4)
            for row in text.split("# line\texecutions\tcycles\tpart\tsource\n")[1].splitlines()]
    assert sum(int(row[2]) for row in rows if row[2]) == result["wcet_cycles"], text
    counts = {int(row[1]) for row in rows if row[1]}
    assert counts <= {step["count"] for step in result["path"]}, text
    source = pathlib.Path(WORKER).read_text().splitlines()
    for name, _, _, _, line in rows:
        if name not in ("...", "-"):
            assert source[int(name.partition(":")[2]) - 1] == line, name
    page = run(*wcet, "--format", "html")
    assert f'{result["wcet_cycles"]:,} cycles' in page and "http:" not in page and "https:" not in page
    tables = set(re.findall(r'<table class="(list[^"]*)"', page))
    assert tables == {"list byname"}, f"{tables}: some table has no name that a phone shows above its numbers"


def check(folder, program, options):
    capture = folder / "capture"
    shutil.rmtree(capture, ignore_errors=True)
    run(COMMAND, "record", "-q", "-o", capture, "--max-instructions", LIMIT, *options, "--", program)
    timing = json.loads(run(COMMAND, "timing", "-q", "--format", "json", "--elf", program, capture))
    entries = [f["name"] for s in timing for f in s["functions"] if f["inclusive"]["count"]]
    assert entries
    for name in entries:
        model = folder / "model.lp"
        wcet = [COMMAND, "wcet", "-q", "--entry", name, "--elf", program, "--unobserved", "exclude",
                "--source-root", pathlib.Path(WORKER).parent, capture]
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
    """Checks a bound in a comment, in a file, and none."""
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
    refused = subprocess.run([*wcet, "--bounds", bounds], capture_output=True, text=True, check=False,
                             env=ENV)
    assert refused.returncode == 2 and "bounds:1: never leaf: this code ran" in refused.stderr, refused
    bounds.write_text("leaf == 0\n")
    none = json.loads(run(*wcet, "--bounds", bounds))
    assert all(s["function"] != "leaf" for s in none["path"])
    return ", ".join(str(one["wcet_cycles"]) for one in (observed, told, few, none)) + " cycles"


UNUSED = """#include "leave.h"
volatile int input = 7, result;
__attribute__((noinline)) int spin(int n) {
    int s = 0; while (n > 1) { s += n; n = n & 1 ? 3 * n + 1 : n / 2; } return s; }
__attribute__((noinline)) int dig(int n) { return n > result ? dig(n - 1) + dig(n - 3) : n; }
__attribute__((noinline)) int work(int n) { return n > 90 ? spin(n) : n > 80 ? dig(n) : n * 3; }
void _start(void) { result = work(input); leave(); }
"""


def check_left_out(folder):
    """Checks a loop and a recursion that never ran, with no bound given: they are left out, and reported."""
    source, program = folder / "unused.c", folder / "unused"
    source.write_text(UNUSED)
    run("aarch64-linux-gnu-gcc", "-O1", *COMPILE, "-o", program, source)
    capture = folder / "capture"
    shutil.rmtree(capture, ignore_errors=True)
    run(COMMAND, "record", "-q", "-o", capture, "--cycle-count=1", "--", program)
    wcet = [COMMAND, "wcet", "-q", "--entry", "work", "--elf", program, capture]
    result = json.loads(run(*wcet, "--format", "json"))
    kinds = {(a["function"], a["kind"]) for a in result["assumed"]}
    assert {("spin", "left out"), ("dig", "uncalled")} <= kinds, kinds
    assert (result["is_bound"] is False and not {s["start"] for s in result["path"]}
            & {l["start"] for l in result["loops"]})
    assert all(s["function"] != "dig" for s in result["path"]), result
    text = run(*wcet)
    assert "is_bound=false" in text and "was never observed and has no bound" in text, text
    bounds = folder / "bounds"
    bounds.write_text("loop spin 50\nrecursion dig 9\n")
    told = json.loads(run(*wcet, "--format", "json", "--bounds", bounds))
    assert told["is_bound"] is True and told["wcet_cycles"] > result["wcet_cycles"], told
    assert {s["function"] for s in told["path"]} & {"spin", "dig"}, told
    return f"{result['wcet_cycles']} cycles, with bounds {told['wcet_cycles']}"


def check_source(folder):
    """Writes the same loop with a comment that bounds it."""
    source, program = folder / "commented.c", folder / "commented"
    text = pathlib.Path(WORKER).read_text()
    source.write_text(text.replace("    for (int i = 0; i < n; i++)",
                                   "    /* loop bound: 40 */\n    for (int i = 0; i < n; i++)"))
    run("aarch64-linux-gnu-gcc", "-O1", *COMPILE, "-o", program, source)
    capture = folder / "capture"
    shutil.rmtree(capture, ignore_errors=True)
    run(COMMAND, "record", "-q", "-o", capture, "--cycle-count=1", "--", program)
    result = json.loads(run(COMMAND, "wcet", "-q", "--entry", "work", "--elf", program, "--format", "json",
                            capture))
    loop, = result["loops"]
    assert loop["origin"] == "comment" and loop["bound"] in (40, 41), loop
    return f"bound {loop['bound']}"


def record(folder, source, level):
    """Makes a program and its capture with exact cycle counts."""
    program, capture = folder / "recorded", folder / "capture"
    shutil.rmtree(capture, ignore_errors=True)
    run("aarch64-linux-gnu-gcc", level, *COMPILE, "-o", program, source)
    run(COMMAND, "record", "-q", "-o", capture, "--cycle-count=1", "--", program)
    return program, capture


def executions(result, function):
    """Returns how often the head of each loop of the function runs on the longest path, by number of the
    loop."""
    counts = {step["block"]: step["count"] for step in result["path"]}
    return {loop["id"]: counts[loop["block"]] for loop in result["loops"] if loop["function"] == function}


def check_nested(folder, level):
    """Checks rounds of loops in loops, and of a function that a loop calls: they equal the observed total;
    the product of their bounds is far larger. At -O0 the head of a loop runs once more than its body."""
    program, capture = record(folder, NESTED, level)
    more = level == "-O0"
    says = []
    for name in ("triangle", "many", "count", "twice", "deep", "main"):
        wcet = [COMMAND, "wcet", "-q", "--entry", name, "--elf", program, "--format", "json", "--unobserved",
                "exclude"]
        model = folder / "model.lp"
        observed = json.loads(run(*wcet, "--lp", model, capture))
        product = json.loads(run(*wcet, "--nested", "product", capture))
        assert observed["observed_runs"] > 0
        assert observed["observed_max_cycles"] <= observed["wcet_cycles"] <= product["wcet_cycles"], (
            name, observed)
        for solver, optimum in optimum_of(model, folder).items():
            assert optimum == observed["wcet_cycles"], (name, solver, optimum)
        assert all(a["kind"] != "total" for a in product["assumed"])
        says.append(f"{name} {observed['observed_max_cycles']} <= {observed['wcet_cycles']} <= "
                    f"{product['wcet_cycles']}")
        outer, inner = (13, 78) if more else (12, 66)
        # The distribution of inner rounds over the outer loop depends on the cycles of each: one round in 32
        # waits, and the longest path has as many of the longest rounds as it can.
        fewest = -(-inner // (outer - 1)) + more
        if name == "triangle":
            rounds = sorted(executions(observed, name).values())
            assert fewest <= rounds[0] <= outer and rounds[1:] == [inner], rounds
            assert sorted(executions(product, name).values()) == [outer, (outer - 1) ** 2], product
        if name == "many":
            assert list(executions(observed, "count").values()) == [inner]
            assert list(executions(product, "count").values()) == [12 * (outer - 1)]
        recursions = {a["value"] for a in observed["assumed"] if a["kind"] == "recursion"}
        if name == "twice": # fib(8) runs 67 times and fib(7) 41 times
            assert recursions == {67 + 41}, recursions
        if name == "deep": # its 12 calls of shallow, which runs 13 times at most, make it run 90 times
            assert recursions == {sum(range(2, 14))}, recursions
    # With a larger bound of the outer loop, the observed total of the inner one says nothing.
    bounds = folder / "bounds"
    bounds.write_text("loop triangle#1 20\n")
    told = json.loads(run(COMMAND, "wcet", "-q", "--entry", "triangle", "--elf", program, "--format", "json",
                          "--bounds", bounds, capture))
    assert max(executions(told, "triangle").values()) == 19 * (outer - 1), told
    return "; ".join(says)


def check_exceptions(folder):
    """Checks a signal in the middle of a loop, whose handler is in another loop of the program. Its time and
    its rounds do not count for the interrupted function."""
    program, capture = record(folder, NESTED, "-O1")
    timing, = json.loads(run(COMMAND, "timing", "-q", "--format", "json", "--elf", program, capture))
    functions = {f["name"]: f for f in timing["functions"]}
    assert (functions["interrupted"]["preempted"]["count"] == 3
            and functions["main"]["preempted"]["count"] == 1)
    handlers = functions["interrupted"]["preempted"]["sum"]
    assert handlers == functions["main"]["preempted"]["sum"] > 0
    for name in ("main", "interrupted"):
        result = json.loads(run(COMMAND, "wcet", "-q", "--entry", name, "--elf", program, "--unobserved",
                                "exclude", "--format", "json", capture))
        assert result["observed_max_cycles"] == functions[name]["inclusive"]["max"] > 0
        assert result["wcet_cycles"] >= result["observed_max_cycles"]
        assert all(step["function"] != "on_signal" for step in result["path"])
        bounds = {loop["function"]: loop["bound"] for loop in result["loops"]}
        assert bounds["interrupted"] == 20, bounds
        # Exceptions cut each run of the pieces with system calls: there is a path because their parts are
        # summed up.
        assert "interrupted" in {step["function"] for step in result["path"]}
    return f"{handlers} cycles of handlers"


def check_quantile(folder):
    """Checks that larger parts never give a smaller bound, and that the whole gives the largest time."""
    program, capture = record(folder, WORKER, "-O1")
    wcet = [COMMAND, "wcet", "-q", "--entry", "work", "--elf", program, "--format", "json", "--unobserved",
            "exclude"]
    most = json.loads(run(*wcet, capture))["wcet_cycles"]
    parts = [json.loads(run(*wcet, "--quantile", q, capture))["wcet_cycles"]
             for q in ("0.01", "0.5", "0.9", "0.99", "1")]
    assert parts == sorted(parts) and parts[0] < most and parts[-1] == most, (parts, most)
    # For a very small part the mean counts, rounded up for each piece.
    result = json.loads(run(*wcet, "--quantile", "0.01", capture))
    assert result["wcet_cycles"] >= result["observed_max_cycles"] * 0.5, result
    return f"{parts}, largest {most}"


def check_targets(folder):
    """Checks targets that were never seen: a given one is a possible way, an invalid one is refused."""
    program, capture = record(folder, COMPUTED, "-O1")
    targets, bounds = folder / "targets", folder / "bounds"
    graph = json.loads(run(COMMAND, "graph", "--elf", program, "-f", "json"))
    call, = (b["last"] for f in graph["functions"] if f["name"] == "dispatch" for b in f["blocks"]
             if any(e["kind"] == "unknown" for e in b["edges"]))
    targets.write_text(f"{call}: handle_second\n")
    bounds.write_text("handle_second >= 1\n")
    wcet = [COMMAND, "wcet", "-q", "--entry", "dispatch", "--elf", program, "--format", "json", capture]
    seen = json.loads(run(*wcet))
    assert {s["function"] for s in seen["path"]} & {"handle_first", "handle_third"}
    assert all(s["function"] != "handle_second" for s in seen["path"])
    told = json.loads(run(*wcet, "--targets", targets, "--bounds", bounds))
    assert any(s["function"] == "handle_second" and s["assumed"] for s in told["path"]), told
    assert any(a["function"] == "handle_second" and a["kind"] == "cycles" for a in told["assumed"])
    failed = subprocess.run([*wcet, "--bounds", bounds], capture_output=True, text=True, check=False)
    assert (failed.returncode == 2 and not failed.stdout
            and "no path satisfies all constraints" in failed.stderr), failed
    # For some problems without a solution the solver prints text, whatever its options.
    failed = subprocess.run([COMMAND, "wcet", "-q", "--entry", "handle_second", "--unobserved", "exclude",
                             "--elf", program, capture],
                            capture_output=True, text=True, check=False)
    assert failed.returncode == 2 and not failed.stdout and "no path satisfies" in failed.stderr, failed
    page = run(*wcet[:-3], "--format", "html", capture)
    assert seen["is_bound"] == (">no bound<" not in page), (seen["assumed"], page[:2000])
    return f"{seen['wcet_cycles']} cycles, with the told target {told['wcet_cycles']}"


def check_several(folder):
    """Checks that several captures give the largest time of each; a saved file in place of one has its times,
    and needs bounds for the loops that it does not contain."""
    program, first = record(folder, WORKER, "-O1")
    second = folder / "second"
    run(COMMAND, "record", "-q", "-o", second, "--cycle-count=1", "--seed", 7, "--max-instructions", LIMIT,
        "--", program)
    wcet = [COMMAND, "wcet", "-q", "--entry", "work", "--elf", program, "--format", "json", "--unobserved",
            "exclude"]
    one, two, both, swapped = (json.loads(run(*wcet, *captures)) for captures in (
        [first], [second], [first, second], [second, first]))
    assert both == swapped and both["observed_runs"] == one["observed_runs"] + two["observed_runs"]
    assert both["observed_max_cycles"] == max(one["observed_max_cycles"], two["observed_max_cycles"])
    assert both["wcet_cycles"] >= max(one["wcet_cycles"], two["wcet_cycles"])
    saved = folder / "second.data"
    saved.write_text(run(COMMAND, "timing", "-q", "--format", "data", "--elf", program, second))
    bounds = folder / "all-bounds"
    seen = {}
    lines = []
    for loop in both["loops"]: # by its number in its function
        number = seen[loop["function"]] = seen.get(loop["function"], 0) + 1
        if loop["bound"]:
            lines.append(f"loop {loop['function']}#{number} {loop['bound']}\n")
    bounds.write_text("".join(lines))
    told = [*wcet, "--bounds", bounds]
    assert json.loads(run(*told, first, saved)) == json.loads(run(*told, first, second))
    loose = subprocess.run([*wcet, first, saved], capture_output=True, text=True, check=False)
    counts = all(loop["origin"] in ("counted", "comment") for loop in both["loops"] if loop["observed"])
    assert counts or (loose.returncode == 2 and "a saved file of times does not" in loose.stderr), loose
    window = json.loads(run(*wcet, "--from", "work", first))
    assert window["observed_runs"] <= one["observed_runs"]
    nothing = subprocess.run([*wcet, "--from", "999999999999cyc", first], capture_output=True, text=True,
                             check=False)
    assert nothing.returncode == 1 and not nothing.stdout and "none of them belongs to the" in nothing.stderr
    return f"{one['wcet_cycles']} and {two['wcet_cycles']} cycles, together {both['wcet_cycles']}"


ARM_ROOT = "/usr/aarch64-linux-gnu"


def record_library(folder):
    """Makes a dynamically linked program and its capture, from main on."""
    program, capture = folder / "library", folder / "capture"
    shutil.rmtree(capture, ignore_errors=True)
    run("aarch64-linux-gnu-gcc", "-O1", "-g", "-o", program, LIBRARY)
    run(COMMAND, "record", "-q", "-o", capture, "--cycle-count=1", "--start", "main", "--", program)
    return capture


def check_library(folder):
    """Checks that a call of a shared library counts with its longest measured run, and is reported; so is a
    call of a function that the user declares as measured."""
    capture = record_library(folder)
    wcet = [COMMAND, "wcet", "-q", "--entry", "sorted"]
    result = json.loads(run(*wcet, "--format", "json", capture))
    timing = json.loads(run(COMMAND, "timing", "-q", "--format", "json", capture))
    longest = {f["name"]: f["inclusive"]["max"] for s in timing for f in s["functions"]}
    calls = [a for a in result["assumed"] if a["kind"] == "measured"]
    assert result["is_bound"] is False and {a["function"] for a in calls} == {"qsort@plt", "format"}, calls
    assert sorted(a["runs"] for a in calls if a["function"] == "format") == [60, 60], calls
    assert (sorted(a["value"] for a in calls if a["function"] == "format")
            == sorted(longest[name] for name in ("snprintf@plt", "strlen@plt"))), (calls, longest)
    assert result["measured_calls_cycles"] == sum(s["measured_calls_cycles"] for s in result["path"]) > 0
    assert sum(s["cycles"] for s in result["path"]) == result["wcet_cycles"]
    text = run(*wcet, capture)
    assert f"measured_calls_cycles={result['measured_calls_cycles']}\n" in text, text
    assert "this call is measured, not modelled" in text and "(60 measured)" in text, text
    page = run(*wcet, "--format", "html", capture)
    assert f"{result['measured_calls_cycles']:,} cycles of it are of calls that are measured" in page
    bounds = folder / "bounds"
    bounds.write_text("measured format\n")
    told = json.loads(run(*wcet, "--format", "json", "--bounds", bounds, capture))
    assert all(s["function"] != "format" for s in told["path"]), told
    assert longest["format"] in {a["value"] for a in told["assumed"] if a["kind"] == "measured"}, told
    # Both are equal when one run of format has the largest cycles of each of its blocks and calls.
    assert result["observed_max_cycles"] <= told["wcet_cycles"] <= result["wcet_cycles"], (told, result)
    bounds.write_text("measured deregister_tm_clones_of_nobody\n")
    failed = subprocess.run([*wcet, "--bounds", bounds, capture], capture_output=True, text=True, check=False)
    assert failed.returncode == 2 and "bounds:1: there is no such function" in failed.stderr, failed
    return f"{result['observed_max_cycles']} <= {told['wcet_cycles']} <= {result['wcet_cycles']} cycles"


def check_all(folder):
    """Checks that no bound is below the longest observed run, for functions of a recording, in the program
    and its libraries."""
    capture = record_library(folder)
    timing = json.loads(run(COMMAND, "timing", "-q", "--format", "json", capture))
    names = sorted({f["name"] for s in timing for f in s["functions"] if f["inclusive"]["count"]})
    names = names if tap.WHOLE else names[::4]
    refused = {}
    for name in names:
        done = subprocess.run([COMMAND, "wcet", "-q", "--entry", name, "--format", "json", capture],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            refused[name] = done.stderr
            continue
        result = json.loads(done.stdout)
        assert result["wcet_cycles"] >= result["observed_max_cycles"] > 0, result
    assert all("no function begins at" in why and "--targets" in why for why in refused.values()), refused
    assert len(refused) * 10 < len(names), refused
    return f"{len(names)} functions, {len(refused)} refused"


def check_interpreter(folder):
    """Checks that instructions which jump to each other by computed branches are not nested loops."""
    kinds = 90
    labels = "".join(f"l{i}: r += r * {i + 3} + {i}; goto *t[*p++];\n" for i in range(kinds))
    source, program = folder / "interpreter.c", folder / "interpreter"
    source.write_text(f"""#include "leave.h"
static unsigned char code[400]; volatile unsigned result;
__attribute__((noinline)) unsigned work(const unsigned char *p) {{
    static const void *const t[] = {{{", ".join(f"&&l{i}" for i in range(kinds))}, &&end}};
    unsigned r = 1; goto *t[*p++];
{labels}end: return r; }}
void _start(void) {{
    for (int i = 0; i < 399; i++) code[i] = (i * 2654435761u >> 9) % {kinds};
    code[399] = {kinds}; result = work(code); result += work(code + 200); leave(); }}
""")
    run("aarch64-linux-gnu-gcc", "-O2", *COMPILE, "-o", program, source)
    capture = folder / "capture"
    shutil.rmtree(capture, ignore_errors=True)
    run(COMMAND, "record", "-q", "-o", capture, "--cycle-count=1", "--", program)
    result = json.loads(run(COMMAND, "wcet", "-q", "--entry", "work", "--elf", program, "--format", "json",
                            capture))
    assert result["wcet_cycles"] >= result["observed_max_cycles"] > 0, result
    assert len(result["loops"]) < kinds / 4, result["loops"]
    return f"{result['observed_max_cycles']} <= {result['wcet_cycles']} cycles, {len(result['loops'])} loops"


def check_no_solver(folder):
    """Checks that the solver is loaded when a model is solved; without it the model is written, and nobody
    is told to write it."""
    program, capture = record(folder, NESTED, "-O1")
    model = folder / "unsolved.lp"
    words = [COMMAND, "wcet", "-q", "--entry", "count", "--elf", str(program), "--lp", str(model),
             str(capture)]
    without = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300,
                             env={**ENV, "CORETAP_CBC": "/nowhere/libCbcSolver.so"})
    assert without.returncode == 2 and "coinor-libcbc3" in without.stderr, without
    assert "solve the file that --lp writes with another" in without.stderr, without
    unsolved = model.read_bytes()
    run(*words)
    assert model.read_bytes() == unsolved


def absent(*tools):
    return next((f"needs {t}" for t in tools if not shutil.which(t)), None)


def main():
    tests = [(f"{name} {' '.join(options)}", source, compiler, flags, options)
             for name, (compiler, flags, source) in
             PROGRAMS.items() for options in (["--cycle-count=1"], ["--cycle-count=20"])]
    more = {
        "bounds and constraints": lambda folder: check_comment(folder, folder / "program3"),
        "bounds in comments": check_source,
        "what never ran and has no bound": check_left_out,
        "loops in loops -O0": lambda folder: check_nested(folder, "-O0"),
        "loops in loops -O1": lambda folder: check_nested(folder, "-O1"),
        "exceptions": check_exceptions,
        "several captures and saved times": check_several,
        "quantile": check_quantile,
        "targets": check_targets,
        "an interpreter": check_interpreter,
        "no solver": check_no_solver,
    }
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number, (name, source, compiler, flags, options) in tap.some(enumerate(tests, 1), 1, 2, 7):
            program = folder / f"program{number}"
            qemu = "qemu-aarch64" if "aarch64" in compiler else "qemu-arm"
            if shutil.which(compiler):
                subprocess.run([compiler, *flags, *COMPILE, "-o", program, source], check=True)
            tap.case(name, absent(compiler, qemu), lambda p=program, o=options: check(folder, p, o))
        for name, body in more.items():
            tap.case(name, absent("aarch64-linux-gnu-gcc", "qemu-aarch64"), lambda b=body: b(folder))
        needs_root = None if os.path.isdir(ARM_ROOT) else f"needs {ARM_ROOT} (Debian: libc6-arm64-cross)"
        ENV["QEMU_LD_PREFIX"] = ARM_ROOT
        for name, body in {"a shared library": check_library, "every function": check_all}.items():
            tap.case(name, absent("aarch64-linux-gnu-gcc", "qemu-aarch64") or needs_root,
                     lambda b=body: b(folder))
    for solver, package in (("cbc", "coinor-cbc"), ("glpsol", "glpk-utils")):
        if not shutil.which(solver):
            tap.skip(f"the optimum of {solver}", f"{solver} is missing (Debian: {package})")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
