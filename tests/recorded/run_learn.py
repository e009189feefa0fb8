#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks coretap graph --learn: targets of computed calls and branches from a trace, compared with those of
computed.c.

usage: run_learn.py COMMAND PLUGIN COMPUTED.C"""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, PLUGIN, SOURCE = sys.argv[1:4]
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN}
COMPILE = ["-O1", "-g", "-nostdlib", "-ffreestanding", "-fno-builtin"]
PROGRAMS = {
    "A64": ["aarch64-linux-gnu-gcc", "-static"],
    "A64 loaded elsewhere": ["aarch64-linux-gnu-gcc", "-static-pie"],
    "A32": ["arm-linux-gnueabihf-gcc", "-static", "-marm"],
    "T32": ["arm-linux-gnueabihf-gcc", "-static", "-mthumb"],
}


run = functools.partial(command.output, COMMAND, env=ENV)


def learnt_edges(graph):
    """Returns {(function, kind): [targets of the learnt edges of its blocks]}."""
    entries = {f["entry"]: f["name"] for f in graph["functions"]}
    found = {}
    for function in graph["functions"]:
        for block in function["blocks"]:
            for edge in block["edges"]:
                if edge["origin"] == "learnt":
                    found.setdefault((function["name"], edge["kind"]),
                                     []).append(entries.get(edge["target"], edge["target"]))
    return found


def check(folder, program):
    capture, targets = folder / "capture", folder / "targets"
    run("record", "-q", "-o", capture, "--", program)
    before = json.loads(run("graph", "--elf", program, "-f", "json"))
    assert not learnt_edges(before)
    text = run("graph", "-q", "--elf", program, "-f", "json", "--learn", capture)
    graph = json.loads(text)
    found = learnt_edges(graph)
    assert sorted(found["dispatch", "call"]) == ["handle_first", "handle_third"], found
    # From the labels of the first program byte to those of the others: add, then end; mul never ran.
    branches = found["interpret", "branch"]
    assert len(set(branches)) == len(branches) == 2, found
    assert set(found) == {("dispatch", "call"), ("interpret", "branch")}, found
    # Edges known before keep their numbers.
    old = {e["id"]: (e["kind"], e.get("target")) for f in before["functions"] for b in f["blocks"]
           for e in b["edges"]}
    new = {e["id"]: (e["kind"], e.get("target")) for f in graph["functions"] for b in f["blocks"]
           for e in b["edges"]}
    assert old.items() <= new.items()
    targets.write_text(run("graph", "-q", "--elf", program, "--learn", capture, "-f", "learnt"))
    nothing = subprocess.run([COMMAND, "graph", "-q", "--elf", program, "--learn", capture, "-f", "learnt",
                              "--function", "handle_second"],
                             capture_output=True, text=True, check=False)
    assert nothing.returncode == 1 and not nothing.stdout and "nothing was learnt" in nothing.stderr, nothing
    assert run("graph", "-q", "--elf", program, "-f", "json", "--targets", targets) == text
    assert run("graph", "-q", "--elf", program, "-f", "json", "--learn", capture, "--learn", capture) == text
    return f"{len(new) - len(old)} edges more"


def learnt(compiler):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "computed"
        subprocess.run([*compiler, *COMPILE, "-o", program, SOURCE], check=True)
        return check(pathlib.Path(folder), program)


def main():
    for name, compiler in PROGRAMS.items():
        qemu = "qemu-aarch64" if "aarch64" in compiler[0] else "qemu-arm"
        missing = next((f"needs {t}" for t in (compiler[0], qemu) if not shutil.which(t)), None)
        tap.case(name, missing, lambda c=compiler: learnt(c))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
