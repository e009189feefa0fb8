#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the README: the text shown under "$ coretap …" is what the command prints, and the program in it is
examples/count.c. A line "[...]" stands for any number of lines. Also checks that the example of a file of
bounds in docs/analysis.md has one statement per line. Prints TAP.

usage: test_readme.py COMMAND [--write]     --write replaces the first lines of each output"""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"^```\n\$ coretap (.*)\n((?:.*\n)*?)```$", re.MULTILINE)
PROGRAM = re.compile(r"^```c\n((?:.*\n)*?)```$", re.MULTILINE)
LEFT_OUT = "[...]"
BOUNDS = re.compile(r"^### The file of bounds\n.*?^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STATEMENT = re.compile(r"(loop \S+ \d+|recursion \S+ \d+|(measured|never) \S+|[^#]+ [<>=]= \S+)( +#.*)?")


def run(coretap, line):
    return subprocess.run([coretap, *line.split()], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True).stdout.splitlines()


def difference(wanted, got):
    """Returns the first line of the README that is not in the output, with what the output has there, or
    None."""
    at = 0
    anywhere = False
    for line in wanted:
        if line.strip() == LEFT_OUT:
            anywhere = True
            continue
        while anywhere and at < len(got) and got[at].rstrip() != line.rstrip():
            at += 1
        if at >= len(got) or got[at].rstrip() != line.rstrip():
            return f"README: {line}\n# output: {got[at] if at < len(got) else '(its end)'}"
        at += 1
        anywhere = False
    if not anywhere and at < len(got):
        return f"README: (the end)\n# output: {got[at]}"
    return None


def rewrite(coretap, text):
    """Returns the text with new output in each block, in which the number of lines stays the same."""
    def block(match):
        keep = len(match.group(2).splitlines()) - 1
        got = [line.rstrip() for line in run(coretap, match.group(1))]
        body = [*got[:keep], LEFT_OUT] if len(got) > keep else got
        return "\n".join(["```", f"$ coretap {match.group(1)}", *body, "```"])

    text = BLOCK.sub(block, text)
    program = (ROOT / "examples" / "count.c").read_text()
    return PROGRAM.sub(lambda _: f"```c\n{program}```", text)


def main():
    coretap = os.path.abspath(sys.argv[1])
    text = README.read_text()
    if "--write" in sys.argv:
        README.write_text(rewrite(coretap, text))
        return 0
    results = [(f"coretap {line}", difference(shown.splitlines(), run(coretap, line)))
               for line, shown in BLOCK.findall(text)]
    programs = PROGRAM.findall(text)
    same = programs == [(ROOT / "examples" / "count.c").read_text()]
    results.append(("the program is examples/count.c", None if same else "it is not"))
    lines = BOUNDS.search((ROOT / "docs" / "analysis.md").read_text()).group(1).splitlines()
    results.append(("statements of bounds", next((x for x in lines if not STATEMENT.fullmatch(x)), None)))
    for name, why in results:
        tap.told(name, why)
    tap.check("the guides have examples", len(results) > 2)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
