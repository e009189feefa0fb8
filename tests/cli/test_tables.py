#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the tables of 'coretap export-results' agree with the results.

usage: test_tables.py COMMAND RECORD_EXAMPLES

Files are read by the tests' own readers of Parquet and Arrow, by DuckDB and by the library of the Arrow
project, and compared with the text of the results and the output of other commands. DuckDB and that library
are looked for in $CORETAP_NODE, a folder with node_modules; npm fetches them into a folder of the user's
cache unless CORETAP_NO_INSTALL is 1. Prints TAP."""
import collections
import json
import os
import pathlib
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "fleet")]
import arrow
import captures
import parquet
import tap

COMMAND = str(pathlib.Path(sys.argv[1]).resolve())
EXAMPLES = pathlib.Path(sys.argv[2]).resolve()
TABLES = ("results", "functions", "lines", "edges", "times")
PACKAGES = {"@duckdb/node-api": "1.5.6-r.1", "apache-arrow": "21.2.0"}
WORK = pathlib.Path(tempfile.mkdtemp())


def run(*args, code=0, **more):
    done = subprocess.run([COMMAND, *map(str, args)], capture_output=True, text=True, timeout=300, cwd=WORK,
                          check=False, **more)
    assert done.returncode == code, f"{' '.join(map(str, args))}: exit {done.returncode}: {done.stderr}"
    return done


def export(folder, *results, code=0, **more):
    return run("export-results", "--parquet", folder, *results, code=code, **more)


def rows_of(folder, table):
    try:
        names, rows = parquet.read(WORK / folder / f"{table}.parquet")
    except (struct.error, IndexError, KeyError, UnicodeDecodeError, StopIteration) as error:
        raise AssertionError(f"{folder}/{table}.parquet cannot be read: {error!r}") from error
    return [dict(zip(names, row)) for row in rows]


# ---- results ----

def program_line(name, build_id="-"):
    return f"program 0 100000000 {build_id} {name}\n"


def coverage(name, *lines, version=2):
    """Writes a coverage file of version 2, which has no checksum at its end."""
    (WORK / name).write_text(f"coretap-coverage {version}\n" + "".join(lines))
    return name


def recorded():
    """Returns the results of a recorded program, or None without the tools."""
    compiler = "aarch64-linux-gnu-gcc"
    if not shutil.which(compiler) or not shutil.which("qemu-aarch64"):
        return None
    subprocess.run([compiler, "-O1", "-g", "-static", EXAMPLES / "primes.c", "-o", WORK / "primes"],
                   check=True)
    made = subprocess.run([COMMAND, "record", "-q", "--cycle-count", "-o", WORK / "capture", "--",
                           WORK / "primes", "200"], capture_output=True, timeout=300, check=False)
    if made.returncode:
        return None
    run("cover", "-q", "--format", "data", "-o", "cover.data", "capture")
    run("timing", "-q", "--format", "data", "-o", "times.data", "capture")
    return ("cover.data", "times.data")


# ---- checks ----

def hold_coverage():
    """Checks that functions, lines and edges are those of the coverage file."""
    told = json.loads(run("cover", "--format", "json", "cover.data").stdout)["programs"][0]
    export("covered", "--test", "smoke", "--machine", "board 7", "cover.data")
    functions = rows_of("covered", "functions")
    assert {(f["function"], f["count"]) for f in functions} == \
        {(f["name"], f["count"]) for f in told["functions"]}, functions
    main = next(f for f in functions if f["function"] == "main")
    assert main["file"].endswith("primes.c") and main["line"] and 0 < main["instructions_run"] <= \
        main["instructions"], main
    lines = {(l["file"], l["line"]): l["count"] for l in rows_of("covered", "lines")}
    files = {(f["path"], l["line"]): l["count"] for f in told["files"] for l in f["lines"]}
    assert lines == files and lines, "other lines"
    text = (WORK / "cover.data").read_text()
    wanted = collections.Counter()
    for kind, first, rest in re.findall(r"^(run|taken|not) (\w+) (.*)$", text, re.M):
        words = rest.split()
        to, count = (0, words[0]) if kind == "not" else (int(words[0], 16), words[1])
        wanted[(kind.replace("not", "not-taken"), int(first, 16), to or None)] += int(count)
    edges = rows_of("covered", "edges")
    assert {(e["kind"], e["from_address"], e["to_address"]): e["count"] for e in edges} == wanted and wanted
    build_id = re.search(r"^program \w+ \w+ (\w+)", text, re.M)[1]
    for table in ("functions", "lines", "edges"):
        for row in rows_of("covered", table):
            who = [row[name] for name in ("result", "capture", "test", "machine", "build_id", "program")]
            assert who == ["cover.data", "capture", "smoke", "board 7", build_id, str(WORK / "primes")], row
    assert not rows_of("covered", "times")
    return f"{len(functions)} functions, {len(lines)} lines, {len(edges)} edges"


def hold_times():
    """Checks that edges and distributions are those that 'coretap timing' prints."""
    told = json.loads(run("timing", "--format", "json", "times.data").stdout)[0]
    export("timed", "times.data")
    times = rows_of("timed", "times")
    found = {(t["function"], t["address"], t["measure"]): t for t in times}
    assert len(found) == len(times), "a function has a measure twice"
    for f in told["functions"]:
        who = (f["name"], int(f["addr"], 16))
        steps = found.pop((*who, "steps"))
        assert steps["cycles"] == f["cycles"] and steps["mean_cycles"] is None, (steps, f)
        for measure in ("inclusive", "self"):
            row, dist = found.pop((*who, measure), None), f[measure]
            assert bool(row) == bool(dist["count"] or f["cut"]), (row, f)
            if row and dist["count"]:
                assert (row["count"], row["cycles"], row["least_cycles"], row["most_cycles"]) == \
                    (dist["count"], dist["sum"], dist["min"], dist["max"]), (row, dist)
                assert abs(row["mean_cycles"] - dist["sum"] / dist["count"]) < 1e-6 * dist["sum"]
                parts = [row[f"p{part}_cycles"] for part in (50, 90, 99)]
                assert sorted(parts) == parts and dist["min"] <= parts[0] and parts[2] <= dist["max"], row
    edges = rows_of("timed", "edges")
    assert sum(e["cycles"] for e in edges) == told["totals"]["edges"], told["totals"]
    assert sum(e["count"] for e in edges) == told["totals"]["steps"], told["totals"]
    assert {e["kind"] for e in edges} > {"taken", "not-taken", "call", "return"}, {e["kind"] for e in edges}
    assert {e["analysis"] for e in edges} == {"timing"} and not rows_of("timed", "lines")
    return f"{len(times)} distributions, {len(edges)} edges"


def many():
    """Writes a coverage file with more counts than a row group holds, and numbers of all sizes."""
    if not (WORK / "many.data").exists():
        lines = [f"run {16 * i:x} {16 * i + 4 + 4 * (i % 3):x} {(i * 15838) ** 3 % (1 << 64) + 1}\n"
                 for i in range(70000)]
        lines += [f"not {16 * i + 8:x} {i + 1}\n" for i in range(0, 15000, 3)]
        coverage("many.data", "captures 3\ndamaged 1\nlost gaps 5\nlost lost_bytes 77\n",
                 program_line("/nowhere/größe\\xff\\xe2\\x82 end", "00ff"), *lines)
        export("many", "many.data", code=1)
    return "many"


def hold_many():
    """Checks several row groups, empty columns, and names that are not valid UTF-8."""
    edges = rows_of(many(), "edges")
    assert len(edges) == 75000
    runs = [e for e in edges if e["kind"] == "run"]
    assert [(e["from_address"], e["count"]) for e in runs] == \
        [(16 * i, (i * 15838) ** 3 % (1 << 64) + 1) for i in range(70000)], "other numbers"
    assert {e["to_address"] for e in edges if e["kind"] == "not-taken"} == {None}
    assert {(e["program"], e["build_id"], e["machine"]) for e in edges} == \
        {("/nowhere/größe\ufffd\ufffd\ufffd end", "00ff", None)}, edges[0]
    only, = rows_of("many", "results")
    assert (only["kind"], only["captures"], only["damaged"], only["gaps"], only["lost_bytes"],
            only["capture"]) == ("coverage", 3, 1, 5, 77, None), only
    export("again", "many.data", code=1)
    for table in TABLES:
        assert (WORK / "many" / f"{table}.parquet").read_bytes() == \
            (WORK / "again" / f"{table}.parquet").read_bytes(), f"{table} differs"
    size = (WORK / "many/edges.parquet").stat().st_size
    assert size < (WORK / "many.data").stat().st_size, size
    return f"75000 rows in {size} bytes, the same when written again"


def hold_bad_input():
    """Checks that each error names what is wrong, and leaves the folder as it was."""
    good = coverage("good.data", "captures 1\n", program_line("/nowhere"), "run 10 20 3\n")
    coverage("new.data", version=9)
    (WORK / "other.data").write_text("coretap-watch 1\ncaptures 1\n")
    (WORK / "empty.data").write_text("")
    (WORK / "cut.data").write_text((WORK / "good.data").read_text()[:-4] + "x\n")
    (WORK / "file").write_text("")
    export("kept", good, code=1)
    before = {path.name: path.read_bytes() for path in (WORK / "kept").iterdir()}
    capture = ROOT / "examples/quickstart"
    for results, said in ((["absent.data"], "absent.data: cannot be read: No such file or directory"),
                          (["new.data"], "new.data:1: the coverage file does not have a version from 1 to "),
                          (["other.data"], "other.data: the file has no coverage and no times"),
                          (["empty.data"], "empty.data: the file has no coverage and no times"),
                          (["cut.data"], "cut.data:4: "),
                          ([capture], "quickstart: the folder has no results with coverage or times"),
                          ([good, good], "good.data: the file is named twice"),
                          ([], "FILE is missing")):
        done = export("kept", good if results and results[0] != good else "-q", *results, code=2)
        assert said in done.stderr, f"{results}: {done.stderr}"
        assert {path.name: path.read_bytes() for path in (WORK / "kept").iterdir()} == before, results
    assert "--parquet and --arrow are missing" in run("export-results", good, code=2).stderr
    assert "file: this is not a folder" in export("file", good, code=2).stderr
    assert "create its folder first" in export("no/folder", good, code=2).stderr
    missing = export("left-out", good, code=1).stderr
    assert "good.data: the program /nowhere was not found, or is another build" in missing, missing
    assert len(rows_of("left-out", "edges")) == 1 and not rows_of("left-out", "functions")


def hold_full_disk():
    """Checks that all files stay as they were when one cannot be written completely."""
    many()
    export("full", "many.data", code=1)
    before = {path.name: (path.stat().st_ino, path.read_bytes()) for path in (WORK / "full").iterdir()}
    small = (before["edges.parquet"][1].__len__()) // 2
    done = export("full", "many.data", code=2,
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (small, small)))
    assert "edges.parquet: cannot be written: File too large" in done.stderr, done.stderr
    after = {path.name: (path.stat().st_ino, path.read_bytes()) for path in (WORK / "full").iterdir()}
    assert after == before, sorted(after)
    return "all five as before"


# ---- a week of captures ----

def week():
    """Makes a manifest, and a folder of pieces with the times of its captures. Two of the captures cannot be
    read. Returns the manifest's entries."""
    folder = captures.make(WORK / "week", 8, 2)
    lines = []
    for first, machine in ((0, "phone 1"), (5, "phone 2")):
        paths = [folder / f"{i:04}" for i in range(first, first + 5)]
        lines += run("manifest", "-q", "--machine", machine, "--test", f"test {first}", *paths).stdout
    (WORK / "week.jsonl").write_text("".join(lines))
    run("map", "timing", "--manifest", "week.jsonl", "--state", "pieces", "-o", "week.times", code=1)
    return [json.loads(line) for line in (WORK / "week.jsonl").read_text().splitlines()]


def hold_week():
    """Checks that each function of each capture has a row, with the members of the manifest."""
    entries = week()
    done = export("by-capture", "--manifest", "week.jsonl", "pieces", code=1)
    assert "2 of 10 captures have no result" in done.stderr and "week/0008" in done.stderr, done.stderr
    rows = rows_of("by-capture", "times")
    for entry in entries[:8]:
        mine = [row for row in rows if row["capture"] == entry["path"]]
        assert {(row["test"], row["machine"], row["time"]) for row in mine} == \
            {(entry["test"], entry["machine"], entry["time"])}, mine
        done = subprocess.run([COMMAND, "timing", "-q", "--format", "json", entry["path"]], check=False,
                              capture_output=True, text=True)
        told = {f["name"]: f["cycles"] for f in json.loads(done.stdout)[0]["functions"]}
        assert {row["function"]: row["cycles"] for row in mine if row["measure"] == "steps"} == told, mine
    assert len({row["capture"] for row in rows_of("by-capture", "results")}) == 8
    hold_bad_weeks(entries)
    return f"{len(rows)} distributions of 8 captures"


def hold_bad_weeks(entries):
    """Checks that duplicate results, and results of captures that the manifest does not name, are not counted
    and are reported."""
    first = sorted((WORK / "pieces").glob("*.piece"))[0]
    shutil.copy(first, WORK / "copy.data")
    said = export("twice", "--manifest", "week.jsonl", "pieces", "copy.data", code=2).stderr
    assert "another result already has the timing of" in said, said
    said = export("sum", "--manifest", "week.jsonl", "week.times", code=2).stderr
    assert "week.times: the result does not come from exactly one" in said, said
    (WORK / "few.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries[:3]))
    said = export("few", "--manifest", "few.jsonl", "pieces").stderr
    assert "5 results of captures that the manifest does not list are left out" in said, said
    assert len(rows_of("few", "results")) == 3
    (WORK / "no-pieces").mkdir()
    assert "no-pieces: the folder has no results" in export("none", "no-pieces", code=2).stderr
    shutil.copytree(WORK / "pieces", WORK / "mixed")
    (WORK / "mixed" / "0.piece").write_text("coretap-watch 1\ncaptures 1\n")
    assert "1 result has no coverage and no times" in export("mixed-out", "mixed").stderr


# ---- Arrow ----

def stream(name, table, *words, code=0):
    """Exports a table as an Arrow stream into a file."""
    done = subprocess.run([COMMAND, "export-results", "--arrow", table, *words], capture_output=True,
                          check=False, cwd=WORK)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    (WORK / f"{name}.{table}.arrow").write_bytes(done.stdout)
    return done.stdout


def read_stream(data):
    try:
        return arrow.read(data)
    except (struct.error, IndexError, UnicodeDecodeError, StopIteration, TypeError) as error:
        raise AssertionError(f"the stream cannot be read: {error!r}") from error


def hold_arrow(sources):
    """Checks that the streams have the rows of the files."""
    count = 0
    for folder, (words, code) in sources.items():
        for table in TABLES:
            names, rows = read_stream(stream(folder, table, *words, code=code))
            wanted, others = parquet.read(WORK / folder / f"{table}.parquet")
            assert names == list(wanted) and rows == others, f"{folder}/{table} differs"
            count += len(rows)
    both = run("export-results", "--parquet", "both", "--arrow", "edges", "many.data", code=2).stderr
    assert "--parquet and --arrow cannot be used together" in both and not (WORK / "both").exists(), both
    early = stream("early", "edges", "many.data", "absent.data", code=2)
    assert not early.endswith(b"\xff\xff\xff\xff\0\0\0\0"), "a stream that ends early has an end mark"
    return f"{count} rows"


def hold_arrow_library(node, sources):
    """Checks that the Arrow project's own library reads the same rows."""
    paths = [WORK / f"{folder}.{table}.arrow" for folder in sources for table in TABLES]
    done = subprocess.run(["node", ROOT / "tests/support/arrow.mjs", node, *paths], capture_output=True,
                          text=True, timeout=300, check=False)
    assert not done.returncode, done.stderr
    for path, found in zip(paths, json.loads(done.stdout)):
        names, rows = read_stream(path.read_bytes())
        rows = [[str(value) if isinstance(value, int) else value for value in row] for row in rows]
        assert (names, rows) == (found["names"], found["rows"]), f"{path.name} differs"
    return f"{len(paths)} streams"


# ---- the guide ----

def hold_guide():
    """Checks that docs/tables.md has the columns that are written, in their order."""
    guide = (ROOT / "docs/tables.md").read_text(encoding="utf-8").split("\n## Columns\n")[1].split("\n## ")[0]
    shared, *tables = guide.split("\n### ")
    of_all, of_most = shared.split("\nAll tables except ")

    def columns(text):
        rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
        return [name for row in rows for name in re.findall(r"`(\w+)`", row)]

    assert [text.split("\n")[0] for text in tables] == list(TABLES), "other tables"
    for table, text in zip(TABLES, tables):
        wanted = columns(of_all) + (columns(of_most) if table != "results" else []) + columns(text)
        found = list(parquet.read(WORK / f"many/{table}.parquet")[0])
        assert found == wanted, f"{table}: {found}, the guide has {wanted}"


# ---- DuckDB ----

def find_package(name):
    """Finds or installs a package of node. Returns its folder and None, or None and the reason."""
    named = os.environ.get("CORETAP_NODE")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "coretap-tests"
    for folder in filter(None, (named and pathlib.Path(named), cache)):
        if (folder / "node_modules" / name).is_dir():
            return folder, None
    if not shutil.which("node") or not shutil.which("npm"):
        return None, "node and npm are missing (Debian: nodejs, npm)"
    if os.environ.get("CORETAP_NO_INSTALL") == "1":
        return None, f"{name} is not there, and CORETAP_NO_INSTALL is 1"
    cache.mkdir(parents=True, exist_ok=True)
    wanted = f"{name}@{PACKAGES[name]}"
    try:
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", cache, wanted],
                              capture_output=True, timeout=240, check=False)
    except subprocess.TimeoutExpired:
        return None, f"npm does not get {wanted} in time"
    return (None, f"npm cannot get {wanted}") if done.returncode else (cache, None)


def ask(folder, statements):
    done = subprocess.run(["node", ROOT / "tests/support/duckdb.mjs", folder], input=json.dumps(statements),
                          capture_output=True, text=True, timeout=300, check=False)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def fold(rows, name):
    """Returns a summary of a column: how many values, how many different ones, and the sum of the numbers or
    of the lengths."""
    values = [row[name] for row in rows if row[name] is not None]
    sizes = [len(v.encode()) if isinstance(v, str) else v for v in values]
    return [len(values), len(set(values)), sum(sizes)]


def is_real(name):
    return "mean" in name or "deviation" in name


def hold_types(duckdb, folder):
    """Checks that DuckDB sees the right types: text, unsigned integer, or real number."""
    paths = [WORK / folder / f"{table}.parquet" for table in TABLES]
    for path, columns in zip(paths, ask(duckdb, [f"describe select * from '{path}'" for path in paths])):
        wanted = [(name, "VARCHAR" if text else "DOUBLE" if is_real(name) else "UBIGINT")
                  for name, text in parquet.read(path)[0].items()]
        assert [tuple(column[:2]) for column in columns] == wanted, f"{path.name}: {columns}"


def hold_duckdb(duckdb, folders):
    """Checks that DuckDB reads the same values, column by column, as the tests' own reader."""
    hold_types(duckdb, folders[0])
    statements, wanted = [], []
    for folder in folders:
        for table in TABLES:
            path = WORK / folder / f"{table}.parquet"
            rows = rows_of(folder, table)
            for name, text in parquet.read(path)[0].items():
                size = f"strlen({name})" if text else name
                kind = "double" if is_real(name) else "hugeint"
                total = f"coalesce(sum({size}), 0)::{kind}"
                statements.append(f"select count({name}), count(distinct {name}), {total} from '{path}'"
                                  if rows else f"select count({name}), 0, 0 from '{path}'")
                wanted.append((folder, table, name, fold(rows, name)))
    for (folder, table, name, numbers), found in zip(wanted, ask(duckdb, statements)):
        found = [float(number) for number in found[0]]
        same = all(abs(a - b) <= 1e-9 * abs(a) for a, b in zip(numbers, found))
        assert same, f"{folder}/{table} {name}: {found}, wanted {numbers}"
    joined = ask(duckdb, [f"select count(*) from '{WORK}/{folders[0]}/edges.parquet' join "
                          f"'{WORK}/{folders[0]}/results.parquet' using (result)",
                          f"select count(*) from '{WORK}/many/edges.parquet' where count > 9e18::ubigint"])
    assert int(joined[0][0][0]) == len(rows_of(folders[0], "edges")), joined
    assert int(joined[1][0][0]) == sum(e["count"] > 9 * 10 ** 18 for e in rows_of("many", "edges")), joined
    return f"{len(statements)} columns"


def main():
    made = recorded()
    nothing = None if made else "nothing can be recorded here"
    tap.case("coverage as tables", nothing, hold_coverage)
    tap.case("times as tables", nothing, hold_times)
    tap.case("many rows", None, hold_many)
    tap.case("the guide", None, hold_guide)
    tap.case("bad input", None, hold_bad_input)
    tap.case("a full disk", None, hold_full_disk)
    tap.case("a week of captures", None, hold_week)
    sources = {"many": (["many.data"], 1), "by-capture": (["--manifest", "week.jsonl", "pieces"], 1)}
    if made:
        sources |= {"timed": (["times.data"], 0),
                    "covered": (["--test", "smoke", "--machine", "board 7", "cover.data"], 0)}
    tap.case("Arrow", None, lambda: hold_arrow(sources))
    node, why = find_package("apache-arrow")
    tap.case("the library of Arrow reads the same", why, lambda: hold_arrow_library(node, sources))
    duckdb, why = find_package("@duckdb/node-api")
    folders = [folder for folder in ("many", "by-capture", "covered", "timed") if (WORK / folder).exists()]
    tap.case("DuckDB reads the same", why, lambda: hold_duckdb(duckdb, folders))
    shutil.rmtree(WORK)
    return tap.finish()


sys.exit(main())
