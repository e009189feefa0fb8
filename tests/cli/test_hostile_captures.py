#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks captures, specifications and logs whose names would control a terminal or look like records. Prints
TAP.

usage: test_hostile_captures.py COMMAND SOURCES

Each input is made twice: with usual names of files, buffers, sources, cores, processes and programs, and with
names that contain line breaks, escape sequences, C1 controls, direction marks, markup and bytes that are not
UTF-8. Every command must print the same number of lines for both, and no control character."""
import collections
import html.parser
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

COMMAND, SOURCES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCES / "tests/support"))
import perf_writer  # noqa: E402  pylint: disable=wrong-import-position
import small_elf  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

# Characters that no output may contain, in any format: ASCII controls except line breaks and tabs, C1
# controls, line separators, and direction marks. Invalid UTF-8 fails to decode.
CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

NASTY = "\x1b]0;t\x07\x1b[2J\x7f\u009b1m\u202e\u2028\u2066\t<b>&'\"".encode() + b"\xff\x9b"
PATH = NASTY + b"\nend_of_record\nSF:evil,1\r\n1 ffff 9\ncoretap: fine"
WORD = NASTY.replace(b";", b"") + b"\r.x"  # for .ini files, whose names have no line breaks and no semicolons


class Names:
    """The names of the parts of an input: hostile ones or usual ones."""

    def __init__(self, hostile):
        self.hostile = hostile

    def path(self, usual):
        return usual.encode() + (PATH if self.hostile else b"")

    def word(self, usual):
        return usual.encode() + (WORD if self.hostile else b"")


class Tags(html.parser.HTMLParser):
    """Counts each tag of a page with the names of its attributes. Does not count tips of texts, which appear
    where a text is too long for its place."""

    def __init__(self, text):
        super().__init__()
        self.counts = collections.Counter()
        self.in_text = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        names = sorted(name for name, _ in attrs if (tag, name) != ("text", "data-tip"))
        if tag != "title" or not self.in_text:
            self.counts[(tag, *names)] += 1
        self.in_text = tag == "text" or self.in_text

    def handle_endtag(self, tag):
        self.in_text = tag != "text" and self.in_text


def raw_example():
    spec = importlib.util.spec_from_file_location("make", SOURCES / "examples/raw/make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(folder, name, data):
    (folder / os.fsdecode(name)).write_bytes(data)


# ---- inputs ----

def snapshot(folder, names):
    """Writes the example of two cores, with a program that has functions."""
    source = SOURCES / "examples/quickstart"
    code = (source / "firmware.bin").read_bytes()
    image, trace, program = names.word("firmware"), names.word("trace"), names.word("program")
    write(folder, image, code)
    write(folder, trace, (source / "trace.bin").read_bytes())
    write(folder, program, small_elf.make(code, 0x80000, [
        (b"start", 0x80000, 0x500), (names.path("work"), 0x80500, 0x7c), (b"check", 0x8057c, 0x84)]))
    for file in source.glob("*.ini"):
        text = file.read_bytes()
        for old, new in ((b"firmware.bin", image), (b"trace.bin", trace), (b"ETB_0", names.word("ETB_0")),
                         (b"ETM_0", names.word("ETM_0")), (b"ETE_1", names.word("ETE_1")),
                         (b"cpu_0\n", names.word("cpu_0") + b"\n"), (b"cpu_0=", names.word("cpu_0") + b"=")):
            text = text.replace(old, new)
        write(folder, file.name.encode(), text)
    with open(folder / "snapshot.ini", "ab") as file:
        file.write(b"\n[program 0]\nelf=" + program + b"\nbias=0\n[program 1]\nelf=" + names.word("gone")
                   + b"\nbias=0x7000000\n")
    return [folder]


def raw(folder, names):
    """Writes the example of a raw capture: an ETMv4 and an ITM."""
    source = SOURCES / "examples/raw"
    trace = names.word("trace")
    write(folder, trace, (source / "board.bin").read_bytes())
    program = names.word("program")
    write(folder, program, small_elf.make(raw_example().LOOP, 0x80000, [(b"check", 0x80000, 16)]))
    text = (source / "board.ini").read_bytes().replace(b"board.bin", trace)
    text = text.replace(b"[source cpu0]", b"[source " + names.word("cpu0") + b"]")
    text = text.partition(b"[image loop]")[0]
    for name, file in (("nothing", b"file=" + names.word("nothing") + b"\naddress=0x90000\n"),
                       ("program", b"elf=" + program + b"\n")):
        text += b"[image " + names.word(name) + b"]\n" + file
    write(folder, b"board.ini", text)
    return [folder / "board.ini"]


def perf_data(folder, names):
    """Writes a perf.data file: a process with a program that exists, one whose program is gone, and one whose
    name is a line of its own."""
    example = raw_example()
    writer = perf_writer.Writer([[1, 0x10, 0x28000ea1, 0x4100f400, 0x488, 0, 0xcc]])
    there, gone = names.path("program"), names.path("gone")
    write(folder, there.replace(b"/", b"_"), small_elf.make(example.LOOP, 0x80000, [(b"check", 0x80000, 16)]))
    file = os.path.join(os.fsencode(folder), there.replace(b"/", b"_"))
    for pid, path in ((100, file), (200, b"/" + gone.replace(b"/", b"_"))):
        writer.comm(pid, names.path("comm"))
        writer.map(pid, 0x80000, 0x1000, 0, path)
        writer.run(pid, perf_writer.frames(example.ETM, 0x10))
    write(folder, b"perf.data", writer.whole())
    return [folder / "perf.data"]


def software(folder, names):
    """Writes the capture of an ITM whose port 0 carries text: a line, and controls that a terminal would
    obey, without a line break."""
    text = NASTY if names.hostile else b"x" * len(NASTY)
    packets = bytes(5) + b"\x80" + b"".join(bytes([1, byte]) for byte in text + b"\nend\n")
    write(folder, b"itm.bin", packets)
    write(folder, b"itm.ini", b"[capture]\nfile=itm.bin\nframing=none\n[source " + names.word("itm")
          + b"]\nprotocol=itm\nITMTCR=0x00200001\n")
    return [folder / "itm.ini"]


# ---- checks ----

def run(words, where):
    return subprocess.run([COMMAND, *words], capture_output=True, timeout=300, check=False, cwd=where)


def control_in(data):
    """Returns the text around the first forbidden byte, or None."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return f"no UTF-8: {data[max(0, error.start - 60):error.start + 20]}"
    found = CONTROL.search(text)
    return repr(text[max(0, found.start() - 60):found.start() + 20]) if found else None


def parses(kind, text):
    """Returns what is wrong with a text of this kind, or None."""
    try:
        if kind == "json":
            json.loads(text)
        elif kind == "jsonl":
            for line in text.splitlines():
                json.loads(line)
        elif kind == "xml":
            xml.etree.ElementTree.fromstring(text)
    except (ValueError, xml.etree.ElementTree.ParseError) as error:
        return str(error)
    return None


def compare(title, kind, usual, got):
    """Checks that both runs print the same, apart from the names."""
    faults = []
    if usual.returncode != got.returncode:
        faults.append(f"exit codes {usual.returncode} and {got.returncode}")
    for what, old, new in (("stdout", usual.stdout, got.stdout), ("stderr", usual.stderr, got.stderr)):
        bad = control_in(new)
        if bad:
            faults.append(f"{what}: {bad}")
        if old.count(b"\n") != new.count(b"\n"):
            faults.append(f"{what}: {old.count(10)} lines and {new.count(10)}: {old[:1200]} {new[:1200]}")
        if kind == "tsv" and [line.count(b"\t") for line in old.split(b"\n")
                              ] != [line.count(b"\t") for line in new.split(b"\n")]:
            faults.append(f"{what}: other columns")
    bad = parses(kind, got.stdout) if usual.stdout else None
    if bad:
        faults.append(f"{kind}: {bad}")
    if kind == "html" and Tags(usual.stdout.decode()).counts != Tags(
            got.stdout.decode(errors="replace")).counts:
        faults.append(
            f"other tags: "
            f"{Tags(got.stdout.decode(errors='replace')).counts - Tags(usual.stdout.decode()).counts}")
    if os.environ.get("CT_VERBOSE"):
        print(f"# {title}: exit code {usual.returncode}, {len(usual.stdout)} bytes, {len(usual.stderr)} of "
              f"messages")
    tap.check(title, not faults, faults + [f"stderr: {got.stderr[:1500]}"])


READERS = [("text", "info"), ("json", "info -f json"), ("text", "list --packets"),
           ("text", "list --elements"), ("text", "stats"),
           ("text", "stats --level coverage"), ("tsv", "decode"), ("text", "decode -f csv"),
           ("jsonl", "decode -f jsonl"),
           ("text", "decode --merge -f csv"), ("text", "decode --text-ports"),
           ("jsonl", "decode --text-ports -f jsonl"),
           ("text", "decode --text-ports -f csv"), ("text", "export --perf exported")]
ALONG = [("text", "cover"), ("text", "cover -f lcov"), ("xml", "cover -f cobertura"),
         ("json", "cover -f json"),
         ("html", "cover -f html"), ("text", "cover -f data"), ("text", "profile"),
         ("text", "profile -f autofdo"),
         ("text", "profile -f llvm"), ("text", "profile -f bolt"), ("text", "profile -f callgrind"),
         ("json", "profile -f chrome"), ("text", "timing"), ("text", "timing --edges"),
         ("json", "timing -f json"),
         ("html", "timing -f svg"), ("tsv", "watch --at check"), ("text", "watch --at check -f csv"),
         ("jsonl", "watch --at check -f jsonl"), ("html", "report"), ("text", "wcet --entry check"),
         ("json", "wcet --entry check -f json"), ("html", "wcet --entry check -f html"),
         ("text", "wcet --entry check -f dot"), ("text", "cover --all-functions"), ("text", "spec --timing"),
         ("text", "watch --at nowhere"), ("text", "stats --buffer nowhere")]


def check_capture(kind, make, commands, root):
    """Runs the commands on both forms of a capture. The name of its folder is hostile, too."""
    made = []
    for hostile in (False, True):
        names = Names(hostile)
        folder = root / ("hostile" if hostile
                         else "usual") / kind / os.fsdecode(names.path("folder").replace(b"/", b"_"))
        folder.mkdir(parents=True)
        made.append((folder, make(folder, names)))
    for form, line in commands:
        done = [run([*line.split(), *paths], folder) for folder, paths in made]
        compare(f"{kind}: {line}", form, *done)


# Strings in every position: alone, joined, in a structure, in a raw output, as a constant of the graph, and
# in an error.
SPECIFICATION = """in s: Events[String]
in n: Events[Int]
out s
out "<$s>" as joined
out List.append(List.empty[String], s) as list
out default(s, "%s") as both
@raw out "raw $s"
"""


def tessla(root):
    """Checks strings of a trace and of a specification, and messages that quote them."""
    nasty = (NASTY[:-2] + b"\r").replace(b'"', b"").replace(b"\t", b"")
    made = []
    for text in (b"x" * len(nasty), nasty):
        folder = root / ("tessla-" + text[:1].hex())
        folder.mkdir()
        write(folder, b"spec" + (PATH if text == nasty else b""),
              SPECIFICATION.replace("%s", text.decode()).encode())
        write(folder, b"wrong", b"in s: Events[String]\nout nothing -- " + text + b"\n")
        write(folder, b"trace", b'1: s = "' + text + b'"\n2: s = "' + text + b'end"\n')
        write(folder, b"bad", b'1: s = ' + text + b"\n")
        made.append((folder, b"spec" + (PATH if text == nasty else b"")))
    for title, words in (("a trace", ["-t", "trace"]), ("a trace that is wrong", ["-t", "bad"]),
                         ("no trace", ["-t", b"no" + PATH]), ("graph", ["--dot"]), ("inputs", ["--list-in"])):
        compare(f"tessla: {title}", "text",
                *(run(["tessla", "--spec", spec, *words], folder) for folder, spec in made))
    compare("tessla: a specification that is wrong", "text",
            *(run(["tessla", "--spec", "wrong", "-t", "trace"], folder) for folder, _ in made))


def fractal(root):
    """Checks a log whose program has hostile names of functions, objects and sections."""
    messages = (SOURCES / "tests/cli/cases/fractal-log.messages").resolve()
    made = []
    for hostile in (False, True):
        names = Names(hostile)
        folder = root / "fractal" / os.fsdecode(names.path("folder").replace(b"/", b"_"))
        folder.mkdir(parents=True)
        write(folder, names.word("program"), small_elf.make(bytes(0x1000), 0x400000, [
            (names.path("first"), 0x400000, 0x40), (names.path("second"), 0x400040, 0x1000 - 0x40)]))
        log = names.path("log").replace(b"/", b"_")
        run(["fractal", "replay", "--messages", messages, "--pgd", "1000", "--va-bits", "39", "--mode",
             "passive", "-o", log], folder)
        made.append((folder, [log, "--elf", names.word("program")]))
    for kind, words in (("text", []), ("text", ["--csv"]), ("html", ["--html"]),
                        ("html", ["--svg", "timeline"]), ("html", ["--svg", "pages"]),
                        ("json", ["--perfetto"])):
        compare(f"fractal report {' '.join(words)}", kind,
                *(run(["fractal", "report", *words, *rest], folder) for folder, rest in made))


def files(root):
    """Checks commands that read files of their own: graphs of programs, sums of coverage, and missing
    files."""
    made = []
    for hostile in (False, True):
        names = Names(hostile)
        folder = root / ("files-" + "hostile" * hostile)
        folder.mkdir()
        program, capture = names.path("program").replace(b"/", b"_"), folder / "capture"
        capture.mkdir()
        snapshot(capture, names)
        write(folder, program,
              small_elf.make((SOURCES / "examples/quickstart/firmware.bin").read_bytes(), 0x80000, [
            (b"start", 0x80000, 0x500), (names.path("work"), 0x80500, 0x7c), (b"check", 0x8057c, 0x84)]))
        sums = names.path("sums").replace(b"/", b"_")
        run(["cover", "-f", "data", "-q", "-o", sums, capture], folder)
        spec, other = names.path("spec").replace(b"/", b"_"), names.path("other").replace(b"/", b"_")
        for name in (spec, other):
            write(folder, name, b"in x: Events[Unit]\ndef n = count(x)\nout n\n")
        made.append((folder, {"SPEC": spec, "OTHER": other, "ELF": program, "SUMS": sums,
                              "GONE": names.path("gone"), "CAPTURE": capture}))
    for kind, line in (("text", "graph --elf ELF"), ("json", "graph -f json --elf ELF"),
                       ("text", "graph -f dot --elf ELF"),
                       ("text", "graph --elf ELF --learn CAPTURE"), ("text", "merge SUMS SUMS"),
                       ("text", "merge SUMS GONE"), ("text", "cover SUMS"), ("json", "cover -f json SUMS"),
                       ("text", "info GONE"), ("text", "cover GONE"), ("text", "graph --elf GONE"),
                       ("text", "report -o GONE/x CAPTURE"),
                       ("text", "timing --elf GONE CAPTURE"), ("text", "watch --at GONE CAPTURE"),
                       ("text", "monitor --spec GONE CAPTURE"),
                       ("text", "stats --buffer GONE CAPTURE"), ("text", "GONE"),
                       ("text", "info --format GONE CAPTURE"),
                       ("text", "monitor --spec SPEC --spec OTHER --bind x=check -a CAPTURE"),
                       ("jsonl", "monitor --spec SPEC --spec OTHER --bind x=check -a -f jsonl CAPTURE"),
                       ("text", "wcet --entry GONE CAPTURE"),
                       ("text", "wcet --entry check --bounds GONE CAPTURE"),
                       ("text", "fractal report GONE"), ("text", "decode --vmlinux GONE CAPTURE"),
                       ("text", "live --config GONE GONE"),
                       ("text", "record -o out -- GONE"), ("text", "ctl --http GONE status")):
        compare(f"files: {line}", kind,
                *(run([given.get(word, word) for word in line.split()], folder) for folder, given in made))


def main():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        check_capture("snapshot", snapshot, READERS + ALONG, root)
        check_capture("raw", raw, READERS + ALONG, root)
        check_capture("perf.data", perf_data, READERS + ALONG, root)
        check_capture("software trace", software, READERS, root)
        tessla(root)
        fractal(root)
        files(root)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
