#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a row for each function that the public headers declare, which calls it with null pointers and
zeros.

usage: make_null_calls.py HEADERS_FOLDER OUT"""
import pathlib
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
DECLARATION = re.compile(r"\bCT_API\b([^;{]*?)\b(\w+)\s*\(([^;]*?)\)\s*(?:__attribute__[^;]*)?;")


def functions(text):
    """What each function gives, its name and how many arguments it takes."""
    text = re.sub(r"(?m)^\s*#.*$", "", COMMENT.sub("", text))
    for gives, name, takes in DECLARATION.findall(text):
        words = [word.strip() for word in re.split(r",(?![^()]*\))", takes)]
        yield " ".join(gives.split()), name, words, sum(word not in ("void", "...") for word in words)


def row(gives, name, words, count):
    call = f"{name}({', '.join(['0'] * count)})"
    pointers = any("*" in word for word in words)
    if gives == "int":
        kind, call = ("CAN_FAIL" if pointers else "VALUE"), f"return {call};"
    elif gives == "void":
        kind, call = "NOTHING", f"{call}; return 0;"
    elif gives.startswith("struct") and not gives.endswith("*"):
        kind, call = "NOTHING", f"(void){call}; return 0;"
    else:
        kind, call = "VALUE", f"return {call} != 0;"
    return f"static int call_{name}(void) {{ {call} }}\n", f'    {{"{name}", {kind}, call_{name}}},\n'


def main():
    headers = sorted(pathlib.Path(sys.argv[1]).glob("*.h"))
    rows = [row(*function) for header in headers for function in functions(header.read_text())]
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write("".join(f'#include "coretap/{header.name}"\n' for header in headers))
        out.write("".join(code for code, _ in rows))
        out.write("static const struct call calls[] = {\n" + "".join(entry for _, entry in rows) + "};\n")


if __name__ == "__main__":
    main()
