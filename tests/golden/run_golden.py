#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares listings with those of the corpus, byte for byte.

usage: run_golden.py COMMAND PROTOCOL[,PROTOCOL...]

The corpus is a folder 'corpus' in $CT_SHARED, or in ../shared beside the sources; its LISTING.md is the
contract. Each file of each row of golden/MANIFEST.tsv whose protocol is named is one subtest. Without a
corpus everything is skipped."""
import concurrent.futures
import csv
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VARIANT = "src_addr_n"


def corpus():
    shared = os.environ.get("CT_SHARED")
    return (pathlib.Path(shared) if shared else ROOT.parent / "shared") / "corpus"


def rows_of(folder, protocols):
    """Returns the rows of the manifest with these protocols, or none without a corpus."""
    manifest = folder / "golden" / "MANIFEST.tsv"
    if not manifest.is_file():
        return []
    with manifest.open(newline="") as file:
        return [row for row in csv.DictReader(file, delimiter="\t") if row["protocol"] in protocols]


def command_line(coretap, folder, row, kind):
    name, *rest = row["listing"].split("/")
    line = [*coretap, "list", f"--{kind}", "--id", row["id"]]
    for part in rest:
        line += ["--split-source-ranges"] if part == VARIANT else ["--buffer", part]
    return [*line, str(folder / "snapshots" / name)]


def compare(wanted, got, prefix):
    """Returns None, or a description of the first line that differs."""
    wanted_lines, got_lines = wanted.splitlines(keepends=True), got.splitlines(keepends=True)
    if prefix:
        got_lines = got_lines[:len(wanted_lines)]
    if wanted_lines == got_lines:
        return None
    for number, (w, g) in enumerate(zip(wanted_lines, got_lines), 1):
        if w != g:
            wanted, got = w.decode().rstrip(), g.decode(errors="replace").rstrip()
            return f"line {number}\n  wanted: {wanted}\n  got:    {got}"
    return f"{len(got_lines)} lines in place of {len(wanted_lines)}"


def check(coretap, folder, row, kind, env=None):
    """Returns None, or what is wrong with a listing. `coretap`: the words that run it."""
    wanted = (folder / "golden" / row["listing"] / f"{kind}.{row['id']}.txt").read_bytes()
    line = command_line(coretap, folder, row, kind)
    result = subprocess.run(line, capture_output=True, stdin=subprocess.DEVNULL, env=os.environ | (env or {}))
    why = compare(wanted, result.stdout, row["extent"] == "prefix")
    # Some captures of the corpus are damaged, which gives exit code 1.
    if result.returncode not in (0, 1):
        why = f"exit code {result.returncode}: {result.stderr.decode(errors='replace').strip()[-400:]}"
    return why and f"{why}\n  command: {' '.join(line[1:])}".replace(str(folder), "corpus")


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    coretap, protocols = [os.path.abspath(sys.argv[1])], sys.argv[2].split(",")
    folder = corpus()
    if not (folder / "golden" / "MANIFEST.tsv").is_file():
        print("1..0 # skip there is no corpus (CT_SHARED names the folder that holds it)")
        return 0
    jobs = [(row, kind) for row in rows_of(folder, protocols) for kind in ("packets", "elements")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: check(coretap, folder, *job), jobs))
    print(f"1..{len(jobs)}")
    for number, ((row, kind), why) in enumerate(zip(jobs, results), 1):
        print(f"{'not ' if why else ''}ok {number} - {row['listing']}/{kind}.{row['id']}.txt "
              f"({row['protocol']})")
        if why:
            print("\n".join(f"# {line}" for line in why.splitlines()))
    failed = sum(why is not None for why in results)
    print(f"# {len(jobs) - failed} of {len(jobs)} files match")
    return 1 if failed or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
