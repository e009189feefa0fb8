# SPDX-License-Identifier: Apache-2.0
"""Collects all TeSSLa specifications in folders and runs random_tessla with them.

usage: random_tessla.py PROGRAM FINDINGS FOLDER...

Specifications are files *.tessla, those in cases (*.t), the fuzzer's corpus, and strings in C and Python
sources that look like one."""
import ast
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MARK = b"---8<---\n"
LOOKS = re.compile(r"Events\[|codeLine\(|onExecuting|monitor\(|\bdefine \w+ :=|^\s*(def|out) \w+",
                   re.MULTILINE)
C_STRINGS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')


def case_specs(text):
    """What stands between the title of a case and its trace or output."""
    for case in re.split(r"^### .*$", text, flags=re.MULTILINE)[1:]:
        yield re.split(r"^(?:<<<|>>>)$", case, flags=re.MULTILINE)[0]


def c_strings(text):
    for run in C_STRINGS.findall(text):
        pieces = re.findall(r'"((?:[^"\\\n]|\\.)*)"', run)
        yield "".join(pieces).encode("latin-1", "replace").decode("unicode_escape")


def python_strings(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


READERS = {".tessla": lambda text: [text], ".t": case_specs, ".c": c_strings, ".h": c_strings,
           ".py": python_strings}


def specifications(path):
    if path.parent.name == "tessla" and path.parent.parent.name == "corpus":
        return [path.read_bytes()[1:].split(MARK)[0]]
    reader = READERS.get(path.suffix)
    if not reader or path.parent.name == "fuzz":
        return []
    text = path.read_bytes().decode("utf-8", "replace")
    if path.suffix != ".tessla" and not LOOKS.search(text):
        return []
    return [s.encode("utf-8", "replace") for s in reader(text) if path.suffix == ".tessla" or LOOKS.search(s)]


def main():
    program, findings, *folders = sys.argv[1:]
    found = []
    for folder in folders:
        for path in sorted(p for p in pathlib.Path(folder).rglob("*") if p.is_file()):
            found += [s for s in specifications(path) if len(s) < 8000 and b"\0" not in s]
    with tempfile.NamedTemporaryFile(suffix=".specs") as corpus:
        corpus.write(b"".join(s.rstrip(b"\n") + b"\n" + MARK for s in found))
        corpus.flush()
        return subprocess.call([program, corpus.name, os.path.abspath(findings)])


if __name__ == "__main__":
    sys.exit(main())
