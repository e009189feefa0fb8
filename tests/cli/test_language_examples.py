#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of docs/tessla-language.md: each line of a block "example stream", "watch", "formula" or
"timed" has an expression, its input, and its output. Prints TAP.

usage: test_language_examples.py COMMAND [--write]     --write replaces the output in the document"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCUMENT = ROOT / "docs" / "tessla-language.md"
BLOCK = re.compile(r"^```example (stream|watch|formula|timed)\n((?:.*\n)*?)```$", re.MULTILINE)
INPUTS = {
    "stream": ["x: Events[Int]", "y: Events[Int]", "b: Events[Bool]", "e: Events[Unit]", "f: Events[Unit]",
               "l: Events[String]"],
    "watch": ["e: Events[Unit]", "f: Events[Unit]", "x: Events[Int]", "s: Signal[Int]", "c: Signal[Bool]"],
    "formula": ["a: Events[Unit]", "b: Events[Unit]", "c: Events[Unit]", "step: Events[Unit]"],
}
INPUTS["timed"] = INPUTS["formula"]
VERDICTS = {"unknown": "?", "true": "T", "false": "F"}


def specification(kind, text):
    """Returns the specification of an example. Its expression follows the last ';'."""
    *statements, expression = [part.strip() for part in re.split(r";(?![^/]*/)", text)]
    head = "".join(f"in {line}\n" for line in INPUTS[kind]) + "".join(f"{line}\n" for line in statements)
    if kind == "stream":
        return head + f"out {expression} as result\n"
    if kind in ("formula", "timed"):
        expression = f"monitor({expression}, clock := step)"
    return head + f"define result := {expression}\nout result\n"


def events(kind, text):
    """Returns the lines of events. In the events of a formula each word is a step: the letters that hold, and
    the time after "@"; "-" means that no letter holds."""
    if kind not in ("formula", "timed"):
        return [re.sub(r"[:=]", lambda m: " = " if m[0] == "=" else ": ", word) for word in text.split()]
    lines = []
    for number, word in enumerate(text.split(), 1):
        letters, _, time = word.partition("@")
        lines += [f"{time or number}: {name}" for name in ["step", *letters.strip("-")]]
    return lines


def result(coretap, kind, text, trace):
    with tempfile.NamedTemporaryFile("w", suffix=".tessla") as spec:
        spec.write(specification(kind, text))
        spec.flush()
        run = subprocess.run([coretap, "tessla", "--spec", spec.name], capture_output=True, text=True,
                             input="\n".join(events(kind, trace)) + "\n")
    out = [line.split(": result = ", 1) for line in run.stdout.splitlines()]
    if kind in ("formula", "timed"):
        got = " ".join(VERDICTS[value] for _, value in out)
    else:
        got = ", ".join(f"{time}: {value}" for time, value in out)
    error = re.search(r"error: (.*)", run.stderr)
    return f"error: {error[1]}" if error else got or "nothing"


def cases(document):
    for block in BLOCK.finditer(document):
        for line in block.group(2).splitlines():
            yield block.group(1), line, [part.strip() for part in line.rsplit(" | ", 2)]


def rewrite(coretap, document):
    def block(match):
        kind = match.group(1)
        lines = match.group(2).splitlines()
        rows = [[part.strip() for part in f"{line} ".rsplit(" | ", 2)] for line in lines]
        wide = [max(len(row[i]) for row in rows) for i in range(2)]
        lines = [f"{text:{wide[0]}} | {trace:{wide[1]}} | {result(coretap, kind, text, trace)}"
                 for text, trace, _ in rows]
        return "\n".join([f"```example {kind}", *lines, "```"])
    return BLOCK.sub(block, document)


def main():
    coretap = os.path.abspath(sys.argv[1])
    document = DOCUMENT.read_text()
    if "--write" in sys.argv:
        DOCUMENT.write_text(rewrite(coretap, document))
        return 0
    for kind, line, (text, trace, wanted) in cases(document):
        got = result(coretap, kind, text, trace)
        tap.check(text.replace("#", ""), got == wanted, f"document: {line}\nprinted: {got}")
    tap.check("the document has examples", tap.count)
    return tap.finish()


sys.exit(main())
