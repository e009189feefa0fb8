#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the tools that decide whether a check failed. Prints TAP.

usage: test_tools.py TOOLS_FOLDER"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position


def load(name):
    path = str(pathlib.Path(sys.argv[1]) / name)
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def entry(out, result="OK", code=0):
    return {"name": "t", "stdout": out, "stderr": "", "result": result, "returncode": code}


def totals(*entries):
    total = load("run-tests").Total()
    for one in entries:
        total.add("b", one)
    return total.passed, total.failed, total.skipped


def reasons(out):
    total = load("run-tests").Total()
    total.add("b", entry(out))
    return total.skip_reasons


def test_totals():
    yield "subtests are counted", totals(entry("1..2\nok 1 - a\nok 2 - b\n")) == (2, 0, 0)
    yield "not ok is a failure", totals(entry("1..2\nok 1 - a\nnot ok 2 - b\n", "FAIL", 1)) == (1, 1, 0)
    yield "skips are counted", totals(entry("1..2\nok 1 - a # SKIP why\nok 2\n")) == (1, 0, 1)
    yield "a skipped plan is one skip", totals(entry("1..0 # skip no corpus\n", "SKIP")) == (0, 0, 1)
    yield "a program without TAP counts once", totals(entry("hello\n"), entry("", "FAIL", 1)) == (1, 1, 0)
    yield "a crash after good subtests is a failure", totals(entry("ok 1 - a\n", "ERROR", -11)) == (1, 1, 0)
    yield "a timeout is a failure", totals(entry("ok 1 - a\n", "TIMEOUT", -15)) == (1, 1, 0)
    yield "exit code 77 is a skip", totals(entry("no tool\n", "SKIP", 77)) == (0, 0, 1)
    yield "a plan of no tests is one skip", totals(entry("1..0 # SKIP why\n", "SKIP", 0)) == (0, 0, 1)
    yield ("not ok and skipped is a skip",
           totals(entry("1..2\nnot ok 1 # SKIP a\nok 2\n", "FAIL", 0)) == (1, 0, 1))
    yield ("not ok and skipped, then a crash",
           totals(entry("1..2\nnot ok 1 # SKIP a\n", "ERROR", -11)) == (0, 1, 1))
    yield ("not ok and skipped, with an exit code",
           totals(entry("1..1\nnot ok 1 # SKIP a\n", "FAIL", 1)) == (0, 1, 1))
    yield "not ok and skipped beside a failure", totals(
        entry("1..2\nnot ok 1 # SKIP a\nnot ok 2 - b\n", "FAIL", 1)) == (0, 1, 1)
    yield "a skip keeps its reason", reasons("ok 1 - a # SKIP b is missing\n") == ["b: t: a: b is missing"]


SUITES = """project('suites')
one = find_program('one')
foreach name : ['first', 'second']
  test(name, one, args: [name], suite: 'a')
endforeach
test('first', one, args: ['third'], suite: 'b')
test('minutes', one, args: ['minutes'], suite: ['long', 'c'])
add_test_setup('default', is_default: true, exclude_suites: ['long'])
"""
# Notes that it ran, and does well when a file is there, or at once.
ONE = """#!/bin/sh
cd "$(dirname "$0")" && echo "$1" >>ran && { [ "$1" != second ] || [ -f mended ]; }
"""


def test_parts():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "meson.build").write_text(SUITES)
        (folder / "one").write_text(ONE)
        (folder / "one").chmod(0o755)
        subprocess.run(["meson", "setup", "build"], cwd=folder, capture_output=True, check=True)

        def run(*words):
            (folder / "ran").unlink(missing_ok=True)
            tool = pathlib.Path(sys.argv[1]).resolve() / "run-tests"
            builds = [word for word in words if word.startswith("build")] or ["build"]
            said = subprocess.run([tool, "--parts", *[word for word in words if word not in builds], *builds],
                                  cwd=folder, text=True, capture_output=True, check=False)
            rows = said.stdout.partition("== parts\n")[2].splitlines()
            ran = (folder / "ran").read_text().split() if (folder / "ran").exists() else []
            return said.returncode, [row.split()[:2] for row in rows[:-2]], rows[-1], sorted(ran)

        yield "parts are suites, and say how they ended", run() == (
            1, [["FAILED", "build:a"], ["passed", "build:b"]], "2 passed, 1 failed, 0 skipped",
            ["first", "second", "third"])
        (folder / "mended").touch()
        good = [["passed", "build:a"], ["passed", "build:b"]]
        yield "only what failed runs again", run("--resume") == (
            0, good, "3 passed, 0 failed, 0 skipped", ["second"])
        yield "then nothing", run("--resume")[:3] == (0, good, "3 passed, 0 failed, 0 skipped")
        yield "another environment runs all", run("--resume", "CT_LONG=1")[3] == ["first", "second", "third"]
        yield "the same one nothing", run("--resume", "CT_LONG=1")[3] == []
        (folder / "one").write_text(ONE + "# anew\n")
        yield "a program that changed runs again", run("--resume", "CT_LONG=1")[3] == [
            "first", "second", "third"]
        yield "all run without it", run()[3] == ["first", "second", "third"]
        yield "a suite besides that of what takes long", run("build:c,d")[:2] == (
            0, [["passed", "build:c"], ["no", "tests"]])


CHOICE = """project('choice')
touch = find_program('touch')
note = find_program('note')
foreach name : ['few', 'other']
  made = custom_target(name, output: name, command: [touch, '@OUTPUT@'], build_by_default: true)
  test(name, note, args: [name, made], suite: name)
endforeach
test('more', note, args: ['more'], suite: ['few', 'whole'])
test('minutes', note, args: ['minutes'], suite: 'long')
add_test_setup('default', is_default: true, exclude_suites: ['long', 'whole'])
"""


def test_choice():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "meson.build").write_text(CHOICE)
        (folder / "note").write_text('#!/bin/sh\ncd "$(dirname "$0")" && echo "$1 ${CT_WHOLE:-0}" >>ran\n')
        (folder / "note").chmod(0o755)
        env = {name: value for name, value in os.environ.items() if name not in ("CT_WHOLE", "CT_LONG")}
        subprocess.run(["meson", "setup", "build"], cwd=folder, capture_output=True, check=True)

        def run(*words):
            for file in ("ran", "build/few", "build/other"):
                (folder / file).unlink(missing_ok=True)
            tool = pathlib.Path(sys.argv[1]).resolve() / "run-tests"
            done = subprocess.run([tool, "--build", *words], cwd=folder, capture_output=True, check=False,
                                  env=env)
            assert done.returncode == 0, done
            return (sorted((folder / "ran").read_text().splitlines()),
                    [name for name in ("few", "other") if (folder / "build" / name).exists()])

        both = ["few", "other"]
        yield "a part of the tests", run("build") == (["few 0", "other 0"], both)
        yield "the whole of them", run("--whole", "build") == (["few 1", "more 1", "other 1"], both)
        yield "a suite, and what it runs is built", run("build:few") == (["few 0"], ["few"])
        yield "the whole of a suite", run("--whole", "build:few") == (["few 1", "more 1"], ["few"])


def test_patience():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "meson").write_text('#!/bin/sh\necho "$@" >said\n')
        (folder / "meson").chmod(0o755)
        (folder / "build" / "meson-logs").mkdir(parents=True)
        env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
        for words, times in (((), "4"), (("--timeout-multiplier", "0"), "0")):
            subprocess.run([pathlib.Path(sys.argv[1]).resolve() / "run-tests", *words, "build"], cwd=folder,
                           capture_output=True, check=False, env=env)
            said = (folder / "said").read_text().split()
            yield f"tests have {times} times their time", f"--timeout-multiplier {times}" in " ".join(said)


def test_layers():
    fault = load("check-layers").fault
    yield "base for all", fault("frame", "base/bytes.h") is None
    yield "the record before", fault("elem", "coretap/packet.h") is None
    yield "not the record after", fault("elem", "coretap/flow.h") is not None
    yield "not into another folder", fault("elem", "proto/etm4_config.h") is not None
    yield "flow looks into program", fault("flow", "program/insn.h") is None
    yield "nobody includes cli", fault("format", "cli/cli.h") is not None
    yield "an unknown folder has no rule", fault("novel", "base/bytes.h") is not None


def test_exports():
    module = load("check-exports")
    misnamed = module.misnamed
    text = "# c\nA_0.1 {\nglobal:\n  ct_a;\nlocal:\n  *;\n};\nA_0.2 {\n  ct_b;\n} A_0.1;\n"
    yield "names with their versions", list(module.listed(text)) == [("ct_a", "A_0.1"), ("ct_b", "A_0.2")]
    yield "names of a library", misnamed("a/libcoretap.a", {"ct_a", "b", "cli_c"}) == [
        "libcoretap.a: does not begin with ct_: b", "libcoretap.a: does not begin with ct_: cli_c"]
    yield "names of the command", misnamed("a/libcoretap_cli.a", {"ct_a", "cli_c"}) == [
        "libcoretap_cli.a: does not begin with cli_: ct_a"]
    header = ("struct ct_a;\nunion ct_b { int b; };\n/* struct ct_e */\n"
              "CT_API enum ct_c *ct_c(struct ct_a *a);\nCT_API int ct_b(void);\nCT_API int ct_e(void);\n")
    yield "functions with the name of a type", module.hiding(*module.names_in(
        {"a.h": header, "b.h": "CT_API struct ct_d\nct_a(int ct_d);"})) == [
            f"{name}: the function ct_{letter} hides the type of that name in C++"
            for name, letter in (("b.h", "a"), ("a.h", "b"), ("a.h", "c"))]


def test_tags():
    module = load("check-tags")

    def faults(**files):
        return list(module.faults_of({name.replace("__", "/") + ".h": text for name, text in files.items()}))

    yield "one of each", not faults(src__a__a="struct ct_a {\n};\nenum { A = 1 << 2, B };",
                                    src__cli__b="struct cli_b {};")
    yield "a tag in two headers", faults(src__a="struct ct_a {", src__b="enum ct_a {") == [
        "the tag ct_a is defined in src/a.h, src/b.h"]
    yield ("not where it is only named",
           not faults(src__a="struct ct_a {", src__b="struct ct_a; /* struct ct_a { */"))
    yield ("a tag without its beginning",
           len(faults(src__a="struct a {")) == len(faults(src__cli__a="struct ct_a {")) == 1)
    yield "tags of C files", list(module.faults_of({"a.c": "struct a {", "b.c": "struct a {"})) == []
    yield ("a tag of a header in a C file",
           len(list(module.faults_of({"a.h": "struct ct_a {", "b.c": "union ct_a {"}))) == 1)
    yield "names in two headers", [len(faults(a=text, b=text)) for text in (
        "#define A 1", "enum { A = 1, };", "typedef int ct_fn(int a);", "typedef int (*ct_fn)(int a);",
        "static inline int ct_f(void)\n{")] == [1, 1, 1, 1, 1]


def test_abi():
    module = load("check-abi")
    sized = ["16 bytes", "   0    8 size: size_t", "   8    4 ids: uint32_t", "  12    1 pad: uint8_t"]
    plain = ["8 bytes", "   0    4 a: int", "   4    4 pad: uint8_t[4]"]

    def breaks(old, new, what="struct ct_a"):
        return module.breaks(what, old, new) is not None

    yield "what is new", not breaks(None, plain) and breaks(plain, None)
    yield "options may grow", not breaks(sized, ["24 bytes", *sized[1:], "  16    8 more: uint64_t"])
    yield "options may not use their padding", breaks(sized, [*sized[:3], "  12    1 more: uint8_t"])
    yield "results may use their room", not breaks(plain, [*plain[:2], "   4    4 more: int"])
    yield "results may not grow", breaks(plain, ["16 bytes", *plain[1:], "   8    8 more: uint64_t"])
    yield "members stay", [breaks(plain, [plain[0], row, plain[2]]) for row in (
        "   0    4 a: unsigned int", "   0    8 a: int", "   4    4 a: int",
        "   0    4 b: int")] == [True] * 4
    yield ("constants stay, but for counts",
           breaks(["1"], ["2"], "constant CT_A") and breaks(["2"], ["1"], "constant CT_COUNT"))
    yield "counts grow", not breaks(["1"], ["2"], "constant CT_A_COUNT")
    yield "functions stay", breaks(["int (int)"], ["int (void)"], "function ct_a")
    found = {"struct ct_a": sized, "constant CT_B": ["1"]}
    yield "what was written is read", module.read_kept(module.write_kept(found)) == found
    yield ("differences are counted", module.compare(found, {"struct ct_a": sized, "constant CT_B": ["2"],
                                                             "constant CT_C": ["1"]})[1] == 1)


LICENCE = b"# SPDX-" b"License-Identifier: Apache-2.0\n"


def test_hygiene():
    module = load("check-hygiene")

    def faults(name, data, licence=LICENCE):
        return len(list(module.faults_of(name, licence + data)))

    yield "clean", faults("a.c", b"int a; /* see docs/man */\n") == 0
    yield "no licence", faults("a.c", b"int a;\n", b"") == 1 and faults("tools/a", b"a\n", b"") == 1
    yield "no licence in text", not faults("a.md", b"a\n", b"")
    yield ("a licence behind what is recorded",
           faults("examples/record/a.c", b"a\n", b"") == 1
           and faults("examples/record/a.c", b"1\n2\n3\n" + LICENCE, b"") == 0)
    yield ("110 columns",
           faults("a.c", b"a" * 110 + b"\n") == 0 and faults("a.c", "ä".encode() * 110 + b"\n") == 0)
    wide = b"a " * 55 + b"aa\n"
    for name in ("a.c", "a.py", "a.js", "a.css", "a.html", "a.tessla", "meson.build", "Makefile", "a.md"):
        yield f"111 columns in {name}", faults(name, wide) == 1
    yield ("111 columns in scripts",
           faults("a", LICENCE + wide, b"#!/bin/sh\n") ==
           faults("b", LICENCE + wide, b"#!/usr/bin/env python3\n") == 1)
    yield "wide where it has to be", not any(faults("a.md", text) for text in (
        b"| " + wide, b"    " + wide, b"<img " + wide, b"[here](" + wide, b"```\n" + wide + b"```\n"))
    yield "not behind an example", faults("a.md", b"```\n```\n" + wide) == 1
    yield "wide in data", not faults("a.t", wide) + faults("examples/record/a.c", wide)
    yield "links", not faults("docs/a.md", b"# A `b`, c\n\n[a](#a-b-c) [b](perf.md#itm) [c](../README.md)\n"
                             b"[d](https://a.b/c#d)\n")
    yield "links that lead nowhere", faults(
        "docs/a.md", b"# A\n\n[a](#b) [b](perf.md#nothing) [c](none.md)\n") == 3
    table = (b"| a | b |\n|---|---|\n| `x \\|\\| y` | c |\n| a |\n\n| a | b | c |\n\n"
             b"```\n| a |\n| a | b |\n```\n")
    yield "tables", not faults("a.md", table)
    yield "a row with too many cells", faults("a.md", table.replace(b"\\|\\|", b"||")) == 1
    yield "machine path", faults("a.md", b"in /ho" b"me/me/x\n") == 1
    yield "unfinished", faults("a.c", b"/* TO" b"DO */\n") == 1
    yield "a conflict", faults("a.md", b"<<<<<<" b"< one\nb\n>>>>>>" b"> two\n") == 2
    yield "CR", faults("a.ini", b"a=1\r\n") == 1
    yield "tab in C", faults("a.c", b"\tint a;\n") == 1
    yield "tab elsewhere", faults("Makefile", b"\tgcc\n") == 0
    yield "no last line end", faults("a.c", b"int a;") == 1
    yield "a skip without a reason", faults("tests/unit/a.c", b"        skip();\n") == 1
    yield ("a test twice in check-long",
           faults("tests/meson.build", b"test('a', exe, env: ['CT_LONG=1'])\n") == 1)


HEADER = """/* SPDX-License-Identifier: Apache-2.0 */
/* coretap base: words for tests. */
#ifndef CORETAP_BASE_H
#define CORETAP_BASE_H

enum ct_error {
    CT_OK = 0,
    CT_ERR_ARG = -1,   /* the call is wrong */
    CT_ERR_NOMEM = -2, /* no memory */
};

struct ct_word_options {
    int most; /* letters; 0: 100 */
};

struct ct_word;

/* Makes a word of `text` (NULL: none).
 *     ct_word_new("a", NULL, &word); \\n
 * It is copied. CT_ERR_ARG for an empty one, CT_ERR_NOMEM. Result: 0. */
CT_API int ct_word_new(const char *text, const struct ct_word_options *options, struct ct_word **out);
CT_API void ct_word_free(struct ct_word *word);

/* The same from two words (see ct_word_length). CT_ERR_ARG for one that is none; CT_ERR_NOMEM, those of
 * others. */
CT_API int ct_word_join(const struct ct_word *a, const struct ct_word *b);

/* Counts letters. */
CT_API int ct_word_length(const struct ct_word *word);

#endif
"""


def test_api_pages():
    """The pages of a small header: what they say, and which headers are refused."""
    tool = pathlib.Path(sys.argv[1]) / "api-pages"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        front, header = folder / "coretap.3", folder / "base.h"
        front.write_text('.TH CORETAP 3\n.SH HEADERS\n.\\" headers\n')

        def faults(text):
            header.write_text(text)
            done = subprocess.run([tool, "--check", folder / "man3", front, header], capture_output=True,
                                  text=True, check=False)
            return done.returncode, done.stdout

        def page(name):
            return (folder / f"man3/{name}.3").read_text()

        yield "a header without faults", faults(HEADER) == (0, "6 pages, 0 faults\n")
        new = page("ct_word_new")
        yield ("names and what they do",
               "\nct_word_new, ct_word_free, ct_word_join \\- makes a word of text (NULL: none)\n" in new)
        yield ("the other names lead to the page",
               page("ct_word_join") == page("ct_word_free") == ".so man3/ct_word_new.3\n")
        yield "examples stay as they are", '.EX\nct_word_new("a", NULL, &word); \\en\n.EE\n' in new
        yield ("an error with a text of its own",
               ".B CT_ERR_ARG\nFor an empty one; \\fBct_word_join\\fR(3): for one that is none.\n" in new)
        yield "an error with that of base.h", ".B CT_ERR_NOMEM\nNo memory.\n" in new
        yield "errors without a code", "\\fBct_word_join\\fR(3): Also those of others.\n" in new
        yield "types that it takes", "int most; /* letters; 0: 100 */" in new
        yield "functions that it mentions", "\\fBct_word_length\\fR(3)" in new.split("SEE ALSO")[1]
        yield "the page of the header", "\\fBct_word_length\\fR(3)\ncounts letters\n" in page("coretap-base")
        yield "the page of the library", "\\fBcoretap-base\\fR(3)\nwords for tests\n" in page("coretap")
        for what, comment, fault in (("no comment", "", "its comment does not say what it does"),
                                     ("errors alone", "/* CT_ERR_NOMEM. */\n",
                                      "its comment does not say what it does"),
                                     ("no verb", "/* The letters. */\n",
                                      "its comment does not begin with a verb"),
                                     ("a long beginning", f"/* Counts {'many ' * 20}letters. */\n",
                                      "the first sentence")):
            code, said = faults(HEADER.replace("/* Counts letters. */\n", comment))
            yield what, code == 1 and f"base.h: ct_word_length: {fault}" in said
        code, said = faults(HEADER.replace("Counts letters.", "Counts letters. CT_ERR_WORD."))
        yield ("an error that is none",
               code == 1 and "base.h: ct_word_length: there is no CT_ERR_WORD\n" in said)


PROJECT = """project('t', 'c')
found = configuration_data()
found.set10('LIBRARY', dependency('ct-library', required: false).found())
found.set10('HEADER', meson.get_compiler('c').has_header('ct-header.h'))
configure_file(output: 'found.h', configuration: found)
executable('one', 'one.c')
"""


def test_configure():
    """A library (its pkg-config file) and a header come and go: each time the build folder notices."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "tools").mkdir()
        shutil.copy(pathlib.Path(sys.argv[1]) / "configure", folder / "tools")
        (folder / "meson.build").write_text(PROJECT)
        (folder / "one.c").touch()
        # Meson puts ccache before a compiler that it finds by itself.
        (folder / "ccache").write_text('#!/bin/sh\n[ "$1" = --version ] || exec "$@"\n')
        (folder / "ccache").chmod(0o755)
        library, header = folder / "ct-library.pc", folder / "ct-header.h"
        env = {**os.environ, "PKG_CONFIG_PATH": name, "CPATH": name, "PATH": f"{name}:{os.environ['PATH']}"}
        env.pop("CC", None)

        def found(*options):
            said = subprocess.run([folder / "tools/configure", "build", *options], cwd=folder, env=env,
                                  text=True, capture_output=True, check=True).stdout
            rows = (folder / "build/found.h").read_text().splitlines()
            return said, sorted(row.split()[1] for row in rows if row.startswith("#define")
                                and row.endswith("1"))

        def compiled():
            return json.loads((folder / "build/compile_commands.json").read_text())[0]["command"]

        yield "nothing is there", found("-Dwarning_level=3")[1] == []
        before = compiled()
        (folder / "build/report.html").touch()
        library.write_text("Name: t\nDescription: t\nVersion: 1\n")
        header.touch()
        said, now = found()
        yield "a library and a header came", now == ["HEADER", "LIBRARY"]
        yield "what changed is named", "is:  dependency ct-library 1" in said
        yield "objects stay as they were", compiled() == before and before.startswith("ccache ")
        yield "nothing changed", found() == ("", ["HEADER", "LIBRARY"])
        library.unlink()
        if tap.WHOLE:
            yield "the library went", found()[1] == ["HEADER"]
        header.unlink()
        yield "both went", found("-Dbuildtype=release")[1] == []
        header.touch()
        (folder / "meson.build").write_text(PROJECT + "error('something else is missing')\n")
        tried = subprocess.run([folder / "tools/configure", "build"], cwd=folder, env=env,
                               capture_output=True, check=False)
        (folder / "meson.build").write_text(PROJECT)
        header.unlink()
        yield "what failed is done again", tried.returncode != 0 and found()[1] == []
        options = json.loads(subprocess.run(["meson", "introspect", "--buildoptions", "build"], cwd=folder,
                                            text=True, capture_output=True, check=True).stdout)
        values = {option["name"]: option["value"] for option in options}
        yield "options stay and change", (values["warning_level"], values["buildtype"]) == ("3", "release")
        yield "results in the folder stay", (folder / "build/report.html").exists()


def test_targets():
    """Checks that `make check` builds nothing a second time: one folder, and the options of `make demo`."""
    def commands(target, check):
        env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        root = pathlib.Path(sys.argv[1]).parent
        said = subprocess.run(["make", "-n", target], cwd=root, env=env | {"CHECK": check}, text=True,
                              capture_output=True, check=True).stdout.splitlines()
        return [line for line in said if "tools/configure" in line]

    if shutil.which("make"):
        for check in ("", "whole"):
            demo, plain = (commands(target, check)[0] for target in ("demo", "check"))
            yield f"options of demo and check '{check}'", ("werror" in demo) == ("werror" in plain)
        yield "check has one build", len(commands("check", "")) == 1
        yield "the whole check has two", len(commands("check", "whole")) == 2
        yield "check-sanitized has its own", all("--sanitize" in line
                                                 for line in commands("check-sanitized", ""))


def main():
    # Those of the parts, which `make check-long` has, take a third of the time.
    parts = test_parts() if tap.WHOLE else ()
    results = [*test_totals(), *parts, *test_choice(), *test_patience(), *test_layers(), *test_exports(),
               *test_tags(), *test_abi(), *test_hygiene(), *test_api_pages(), *test_configure(),
               *test_targets()]
    for number, (name, good) in enumerate(results, 1):
        print(f"{'' if good else 'not '}ok {number} - {name}")
    print(f"1..{len(results)}")
    return 0 if all(good for _, good in results) else 1


if __name__ == "__main__":
    sys.exit(main())
