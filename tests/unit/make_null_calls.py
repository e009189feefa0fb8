#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a row for each function that the public headers declare, which calls it with null pointers and
zeros; and for each that returns an object through a pointer two more rows, which pass that pointer, and null
pointers or texts that name nothing.

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


TEXT = re.compile(r"const char \*\w+")
MADE = re.compile(r"struct (\w+) \*\*\w+")


def made_rows(name, words):
    """Two calls that fail, with every object that they would return set to something that is not NULL."""
    for text, suffix in (("0", "null"), ('"/nothing"', "nothing")):
        args, kinds = [], {}
        for word in words:
            if MADE.search(word):
                args.append(f"&made_{len(kinds)}")
                kinds[args[-1][1:]] = word.rsplit("*", 1)[0]
            else:
                args.append(text if TEXT.fullmatch(word) else "0")
        set_up = " ".join(f"{kind}{one} = (void *)&unset;" for one, kind in kinds.items())
        yield (f"static int {suffix}_{name}(void)\n{{\n    {set_up}\n"
               f"    return {name}({', '.join(args)}) && ({' || '.join(kinds)});\n}}\n",
               f'    {{"{name}", CAN_FAIL, {suffix}_{name}}},\n')


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
    found = [function for header in headers for function in functions(header.read_text())]
    rows = [row(*function) for function in found]
    made = [made for gives, name, words, _ in found
            if gives == "int" and any(MADE.search(word) for word in words)
            for made in made_rows(name, words)]
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write("".join(f'#include "coretap/{header.name}"\n' for header in headers))
        out.write("".join(code for code, _ in rows))
        out.write("static char unset;\n" + "".join(code for code, _ in made))
        for table, of in (("calls", rows), ("makers", made)):
            entries = "".join(entry for _, entry in of)
            out.write(f"static const struct call {table}[] = {{\n{entries}}};\n")


if __name__ == "__main__":
    main()
