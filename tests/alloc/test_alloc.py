#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets every allocation of every command fail in turn. The command must exit with 2 and a message about
memory, or give the whole answer; no crash, no leak, no other answer, and output files as they were before.
Prints TAP.

usage: test_alloc.py COMMAND FAILING PLUGIN [--case GLOB] [--step N] [--mode once|on]

FAILING is the command with an allocator that fails on request (failing.c). Each command runs on a small
capture: once for each n with only the n-th allocation failing, once with all failing from the n-th on. Leaks
are found when FAILING is built with AddressSanitizer. Every 400th allocation is tried, from a different start
for each command, and every 100th with CHECK=whole; with CT_LONG=1 all of them, under the sanitizers every
10th (CT_LONG=10). In commands where CBC and libgccjit make ten thousand allocations of their own, a twentieth
of that is tried. --step and --case override this."""
import argparse
import collections
import fnmatch
import gzip
import http.server
import itertools
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import talk  # noqa: E402
import tap  # noqa: E402
from parts import missing_parts  # noqa: E402

LONG = int(os.environ.get("CT_LONG", "0") or 0)
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
NO_MEMORY = re.compile(r"memory|Resource temporarily unavailable", re.IGNORECASE)
# Messages of a run that gave the same answer by a slower engine.
LESSER = re.compile(rb"no machine code could be made")
SANITIZER_EXIT = 99
BEFORE = b"what was there before\n"
PATIENCE_S = 300
DEPTH = 24


class Case:
    """A command line. `args` may contain {capture} and other names of inputs. `outputs` are the files that it
    writes; `masks` match what differs between two runs. `partial`: folders and streams that may be half
    written after a failure. `talks`: the command reads its trace from {fifo}, and talk.py uses its page."""

    def __init__(self, name, args, needs=(), stdin=None, outputs=(), masks=(), partial=(), talks=False):
        self.name, self.args, self.needs, self.stdin = name, args, needs, stdin
        self.outputs, self.masks, self.partial, self.talks = outputs, masks, partial, talks
        self.sparse = 20 if needs in (("cbc",), ("gccjit",)) else 1


RATES = (rb"\b(seconds|mb_per_s|[a-z_]*per_s[a-z]*)(=|\": )\S+",)
PAIR = "work_round work_round@return"
PARQUET = tuple(f"{table}.parquet" for table in ("results", "functions", "lines", "edges", "times"))


def cases():
    """Returns all cases. Those with {capture} or {elf} need a recorded program; the others run anywhere."""
    quick = "{quickstart}"
    found = [Case(f"{name} of an example", f"{command} {quick}", masks=RATES) for name, command in (
        ("info", "info"), ("info json", "info --format json"), ("list packets", "list --packets"),
        ("list elements", "list --elements"), ("decode", "decode"),
        ("list code", "list --elements --symbols --disasm"), ("decode code", "decode --symbols --disasm"),
        ("list json", "list --elements --symbols --disasm --format jsonl"),
        ("decode binary", "decode --along binary"),
        ("decode merged", "decode --merge --format csv"), ("stats", "stats"),
        ("stats json", "stats --format json"),
        ("stats coverage", "stats --level coverage --threads 3"), ("timing", "timing --edges"),
        ("timing threads", "timing --threads 2"),
        ("decode bytewise", "decode --bytewise=4"), ("watch", "watch --at exception"),
        ("spec", 'spec --timing --pair "0x80560 0x80568"'))]
    found += [Case("export perf", f"export --perf out.data {quick}", outputs=("out.data",)),
              Case("export branch stacks", f"export --perf out.data --branch-stacks=8 {quick}",
                   outputs=("out.data",)),
              Case("info of a perf.data", "info {perfdata}"),
              Case("list code of a perf.data", "list -e --symbols --disasm {perfdata}"),
              Case("monitor of an example", f"monitor --spec {{timing_spec}} -u us --bind firstCalls=0x80500 "
                   f"--bind triggerCalls=0x8057c --id 10 -a {quick}"),
              Case("monitors that run as one", f"monitor --spec {{timing_spec}} --spec {{timing_spec}} -u us "
                   f"--bind firstCalls=0x80500 --bind triggerCalls=0x8057c --id 10 -a {quick}"),
              Case("watch all edges", f"watch --all-edges --edge-numbers out.tsv {quick}",
                   outputs=("out.tsv",)),
              Case("watch all edges binary", f"watch --all-edges --format binary {quick}"),
              Case("volume of an example", f"volume --capture {quick}"),
              Case("itm", "decode --text-ports {itm}"),
              Case("board", "decode {board}")]
    found += [Case(f"tessla {name}", f"tessla --spec {{tessla}} {options}", stdin="tessla_trace", needs=needs)
              for name, options, needs in (
                  ("", "", ()), ("check", "--check", ()), ("list-in", "--list-in", ()),
                  ("list-out", "--list-out", ()),
                  ("dot", "--dot", ()), ("analyse", "--analyse --format json", ()),
                  ("native", "--engine native", ("gccjit",)))]
    found += [Case("merge", "merge --weight 5 -o out.data {counts_a} {counts_b}", outputs=("out.data",)),
              Case("manifest", "manifest {quickstart} {perfdata}"),
              Case("cover of counts", "cover --elf {elf} {counts}"),
              Case("merge times", "merge --threads 2 {times} {quickstart}"),
              Case("timing of times", "timing --edges --longest {times}"),
              Case("merge stacks", "merge {stacks} {stacks}"),
              Case("export results", "export-results --parquet . {times} {counts_a}", outputs=PARQUET),
              Case("export results of a program", "export-results --parquet . --elf {elf} {counts}",
                   outputs=PARQUET),
              Case("export results by capture",
                   "export-results --arrow times --manifest {manifest} {pieces}"),
              Case("profile of stacks", "profile {stacks}"),
              Case("watch sums", "watch --at exception --at 0x80560 --format sums {watch} {quickstart}"),
              Case("monitor sums", f"monitor --spec {{timing_spec}} -u us --bind firstCalls=0x80500 "
                   f"--bind triggerCalls=0x8057c --format sums {{monitors}} {quick}"),
              Case("merge monitors", "merge {monitors} {monitors}"),
              Case("merge events", "merge --kind events {quickstart}"),
              Case("shard", "merge --kind statistics --shard 2/3 {quickstart}"),
              Case("shard of steps", "watch --at exception --at 0x80560 -f data --shard 2/3 {quickstart}"),
              Case("stats sums", "stats {quickstart} {quickstart}")]
    found += [Case("fractal replay",
                   "fractal replay --messages {messages} --pgd 1000 --va-bits 39 --mode passive "
                   "--commands out.commands -o out.log", outputs=("out.log", "out.commands")),
              Case("fractal replay chi", "fractal replay --messages {messages} --pgd 1000 --va-bits 39 "
                   "--protocol chi --commands out.commands", outputs=("out.commands",)),
              Case("fractal regs", "fractal regs"),
              Case("fractal report", "fractal report {fractal_log}"),
              Case("fractal sums", "fractal report {fractal_sums} {fractal_log}"),
              Case("fractal data", "fractal report --data {fractal_log} {fractal_log}"),
              Case("merge fractal", "merge {fractal_sums} {fractal_sums}"),
              Case("fractal report csv", "fractal report --csv {fractal_log}"),
              Case("fractal report html", "fractal report --html -o out.html {fractal_log}",
                   outputs=("out.html",)),
              Case("fractal report svg", "fractal report --svg timeline {fractal_log}"),
              Case("fractal report pages", "fractal report --svg pages {fractal_log}"),
              Case("fractal report lines", "fractal report --svg lines {fractal_log}"),
              Case("fractal replay points",
                   "fractal replay --messages - --pgd 1000 --va-bits 39 --mode points --point 400000 "
                   "--commands -", stdin="messages"),
              Case("fractal report perfetto", "fractal report --perfetto {fractal_log}"),
              Case("monitor of a fractal log",
                   "monitor --spec {timing_spec} -u us --bind firstCalls=0x400000 "
                   "--bind triggerCalls=0x400084 -a {fractal_log}"),
              Case("monitor sums of a fractal log",
                   "monitor --spec {timing_spec} -u us --bind firstCalls=0x400000 "
                   "--bind triggerCalls=0x400084 --format sums {fractal_log}"),
              Case("monitor of a fractal log's accesses",
                   "monitor --spec {strings} --bind who=context "
                   "--bind i=access:0x400000..0x400100.fetch -a {fractal_log}"),
              Case("monitor of contexts by name",
                   "monitor --spec {strings} --bind who=context --bind i=context:idle -a {contexts}"),
              Case("monitor of lines", "monitor --spec {strings} --bind who=itm:0 --bind i=itm:0 -a {lines}"),
              Case("timing of a fractal log", 'timing --pair "0x400000 0x400084" {fractal_log}')]
    found += [Case(f"ctl {name}", f"ctl --http {{port}} {name}", needs=("live",)) for name in (
        "status", "outputs csv a", "watch set main", "monitor add one {tessla} x=main", "filter id=10",
        "stop")]
    found += [Case(f"cover {form}",
                   f"cover --format {form} --elf {{elf}} --source-root {{sources}} -o out {{capture}}",
                   outputs=("out",), masks=(rb'timestamp="\d+"',))
              for form in ("text", "lcov", "cobertura", "json", "html", "data", "sonarqube")]
    found += [Case("cover functions",
                   "cover --functions --contexts --threads 3 --all-functions --elf {elf} {capture}")]
    found += [Case("cover part",
                   "cover --from work_round#2 --to work_round#9 --core 0 --el 0 --function work_round "
                   "--module {elf} --elf {elf} {capture}"),
              Case("watch part", "watch --at work_round --from work_round --to 2000insn --module {elf} "
                   "--elf {elf} {capture}"),
              Case("cover nothing", "cover --el 3 --elf {elf} {capture}")]
    found += [Case(f"profile {form}", f"profile --format {form} --elf {{elf}} -o out {{capture}}",
                   outputs=("out",))
              for form in ("folded", "autofdo", "llvm", "bolt", "callgrind", "pprof", "chrome", "perfetto",
                           "data", "branch-list")]
    found += [Case("profile modules", "profile --modules --elf {elf} -o out {capture}", outputs=("out",)),
              Case("profile of branch lists", "profile -f autofdo --elf {elf} {branches} {branches}"),
              Case("profile of each", "profile -f autofdo --each . --elf {elf} {capture}"),
              Case("merge branch lists", "merge --weight 2 {branches} {branches}"),
              Case("info of branch lists", "info -f json {branches}"),
              Case("report of branch lists", "report --elf {elf} -o out.html {branches}",
                   outputs=("out.html",)),
              Case("manifest of branch lists", "manifest {branches}"),
              Case("kernel module", "graph --elf {module}"),
              Case("packed kernel module", "graph --elf {packed_module}"),
              Case("watch a line of a Go program", "watch --elf {go_table} --at main.go:10 {quickstart}")]
    found += [Case(f"profile {form} of several",
                   f"profile --format {form} --elf {{elf}} -o out {{capture}} {{capture}}", outputs=("out",))
              for form in ("callgrind", "chrome", "perfetto")]
    found += [Case("profile perfetto of an ITM", "profile --format perfetto -o out {soft}", outputs=("out",)),
              Case("profile perfetto with notes", "profile --format perfetto --at work_round --spec {tessla} "
                   "--bind x=work_round --violation n --elf {elf} -o out {capture}", outputs=("out",))]
    found += [Case(f"timing {form}",
                   f'timing --format {form} --edges --blocks --pair "work_round sum_to" --elf {{elf}} '
                   "-o out {capture}", outputs=("out",)) for form in ("text", "json", "data")]
    found += [Case("timing svg", "timing --format svg --function sum_to --elf {elf} {capture}"),
              Case("decode names", "decode --along binary {capture}"),
              Case("watch places",
                   "watch --at work_round --at program.c:26 --at context --format jsonl --elf {elf} "
                   "{capture}"),
              Case("monitor program",
                   "monitor --spec {tessla} --bind x=work_round --elf {elf} -a --format jsonl {capture}"),
              Case("monitor native",
                   "monitor --engine native --spec {tessla} --bind x=work_round --elf {elf} -a {capture}",
                   needs=("gccjit",)),
              Case("graph json", "graph --elf {elf} -f json"),
              Case("graph of firmware as text", "graph --elf {firmware} -f json"),
              Case("graph of a program in an archive", "graph --elf {package} -f json"),
              Case("graph dot", "graph --elf {elf} -f dot --learn {capture}"),
              Case("spec timing", "spec --timing --function work_round --elf {elf} {capture}"),
              Case("spec functions", "spec --timing --match * --elf {elf} {capture}"),
              Case("report", "report --elf {elf} --source-root {sources} -o out.html {capture}",
                   outputs=("out.html",)),
              Case("report several",
                   "report --elf {elf} --source-root {sources} -o out.html {capture} {capture}",
                   outputs=("out.html",)),
              Case("report saved", "report --elf {elf} --source-root {sources} -o out.html {times} {capture}",
                   outputs=("out.html",)),
              Case("report entry", "report --elf {elf} --entry work_round -o out.html {capture}",
                   outputs=("out.html",), needs=("cbc",))]
    found += [Case(f"wcet {form}",
                   f"wcet --entry work_round --elf {{elf}} --format {form} --source -o out {{capture}}"
                   .replace("--source " if form != "text" else "\0", ""), outputs=("out",), needs=("cbc",))
              for form in ("text", "json", "dot", "html")]
    live = "live --config {config} --elf {elf}"
    rates = (rb"\d+\.\d MB in \d+\.\d s",)
    found += [Case("live cover", f"{live} --cover {{stream}}", masks=rates),
              Case("live timing", f'{live} --timing --pair "work_round sum_to" {{stream}}', masks=rates),
              Case("live spec", f"{live} --spec {{tessla}} --bind x=work_round --at sum_to {{stream}}",
                   masks=rates),
              Case("live files",
                   f"{live} --cover --timing --spec {{tessla}} --bind x=work_round -o out {{stream}}",
                   masks=rates, partial=("out",)),
              Case("live lines",
                   f"{live} --spec {{tessla}} --bind x=work_round --violations bad --outputs all {{stream}}",
                   masks=rates, partial=("bad", "all", "bad.part", "all.part")),
              Case("live hooks",
                   f"{live} --spec {{tessla}} --bind x=work_round --violation n --on-violation true "
                   "{stream}", masks=rates),
              Case("live post",
                   f"{live} --spec {{tessla}} --bind x=work_round --violation n "
                   "--post-violations http://127.0.0.1:1/ {stream}", masks=rates, needs=("curl",)),
              Case("live page", f"{live} --cover --timing --http 0 {{stream}}",
                   masks=(*rates, rb"http://\S+"), needs=("live",)),
              Case("live talk", f"{live} --cover --timing --http 0 --token {talk.TOKEN} {{fifo}}",
                   masks=(*rates, rb"http://\S+"), needs=("live",), talks=True),
              Case("monitor live",
                   "monitor --live 0 --config {config} --spec {tessla} --bind x=work_round --elf {elf} "
                   "{stream}", masks=(*rates, rb"http://\S+"), needs=("live",))]
    found += [Case("record", "record -o out --cycle-count --timestamps --truth out.truth -- {elf}",
                   outputs=("out.truth",), partial=("out",)),
              Case("watch variables", "watch --at store:sink --at load:sink --elf {elf} {soft}"),
              Case("record part", "record -o out --watch-data program.c:sink -- {elf}", partial=("out",)),
              Case("record software", "record -o out --itm sink --stm sink --watch-data sink -- {elf}",
                   partial=("out",)),
              Case("named", "decode --merge {soft}"),
              Case("named json", "decode -f jsonl --elf {elf} {soft}"),
              Case("named report", "report -o out.html {soft}", outputs=("out.html",)),
              Case("volume", "volume --max-instructions 100 -- {elf}"),
              Case("volume svg", "volume -f svg --clock 1GHz --protocol ete -- {elf}"),
              Case("record ptm", "record -o out --protocol ete --framed --stream out.stream -- {elf}",
                   partial=("out", "out.stream")),
              Case("fractal run", "fractal run -o out.log --section .text --messages out.messages -- {elf}",
                   outputs=("out.log", "out.messages")),
              Case("fractal run beside",
                   "fractal run -o out.log --config {cluster} --point _start --with {elf} "
                   "--truth out.truth -- {elf}", outputs=("out.log", "out.truth")),
              Case("fractal run forks", "fractal run -o out.log --follow-forks --point _start -- {elf}",
                   outputs=("out.log",)),
              Case("live of a fractal log",
                   "live --fractal --elf {elf} --at access:work_round.fetch --at context:one "
                   "--milestone entry:work_round=1ms --milestone 0x1234=1ms {elf_log}",
                   masks=(rb"\d+\.\d MB in \d+\.\d s",), needs=("live",)),
              Case("monitor of a fractal log's program",
                   "monitor --spec {strings} --elf {elf} --bind who=context --bind i=entry:work_round -a "
                   "{elf_log}"),
              Case("fractal report elf", "fractal report --elf {elf} --top 3 {elf_log}"),
              Case("fractal report elf html", "fractal report --elf {elf} --html {elf_log}"),
              Case("fractal report elf csv", "fractal report --elf {elf} --csv {elf_log}"),
              Case("fractal sums elf", "fractal report --elf {elf} {elf_log} {elf_log}"),
              Case("fractal overhead", "fractal overhead --csv -- {elf}"),
              Case("fractal overhead table", "fractal overhead --config {cluster} -- {elf}")]
    return found


# ---- inputs ----

TESSLA = """in x: Events[Unit]
def n = count(x)
def since = time(n) - last(time(n), n)
def text = if n > 3 then "many" else "few"
def squares = Set.add(Set.empty[Int], n)
out n
out text
out since
"""


STRINGS = "in who: Events[String]\nin i: Events[Unit]\nout who\nout count(i) as n\n"


def make_raw(folder, name, trace, description):
    """Writes a raw trace with its description. Sources and contexts are in `description`."""
    (folder / f"{name}.bin").write_bytes(trace)
    (folder / name).write_text(f"[capture]\nfile={name}.bin\nframing=none\n{description}")


def make_named(folder, made):
    """Writes a trace of context switches with names, and one of lines that are written to an ITM."""
    to = lambda number: b"\x81\xb0" + number.to_bytes(4, "little") + b"\x9d\x10\x00@" + bytes(5) + b"\xf7"
    make_raw(folder, "contexts", bytes(11) + b"\x80\x01\x01\x00\x04" + to(16) + to(17) + to(16),
             "[source cpu]\nprotocol=etmv4i\nid=0x10\ncore=ARMv8.0-A\nTRCCONFIGR=0x40\nTRCIDR0=0x28000ea1\n"
             "TRCIDR1=0x4100f403\nTRCIDR2=0x00000488\n[context]\nidle=0x10\nother=0x11\n")
    make_raw(folder, "lines", bytes(5) + b"\x80" + b"".join(b"\x01" + bytes([c]) for c in b"one\ntwo\n"),
             "[source ITM]\nprotocol=itm\nid=0x20\n")
    made.update({name: folder / name for name in ("contexts", "lines", "strings")})
    made["strings"].write_text(STRINGS)


def plugins(trace):
    """Returns an environment with the paths of QEMU's plugins. The plugin of accesses is in the folder of the
    trace plugin."""
    return {**os.environ, "CORETAP_TRACE_PLUGIN": trace,
            "CORETAP_ACCESS_PLUGIN": str(pathlib.Path(trace).parent / "coretap-access.so")}


def make_module(folder, made):
    """Makes a kernel module, and a compressed copy of it."""
    source = folder / "module.c"
    source.write_text("""extern int other(int);
static const char info[] __attribute__((section(".modinfo"), used)) = "license=GPL";
int table[2] = {1, 2};
__attribute__((section(".text.b"))) int work(int x) { return x ? other(x) : table[1]; }
int twice(int x) { return work(x) + work(x + 1); }
""")
    made["module"], made["packed_module"] = folder / "module.ko", folder / "module.ko.gz"
    subprocess.run([TOOLS[0], "-g", "-O1", "-fno-pic", "-c", "-o", made["module"], source], check=True)
    made["packed_module"].write_bytes(gzip.compress(made["module"].read_bytes()))


def make_inputs(command, plugin, folder):
    """Returns the inputs as name -> path. Those that need a recorded program are there only when it can be
    recorded."""
    def run(*args, **more):
        return subprocess.run([command, *map(str, args)], check=True, capture_output=True, timeout=300,
                              **more)

    made = {"quickstart": ROOT / "examples/quickstart", "itm": ROOT / "examples/raw/itm.ini",
            "board": ROOT / "examples/raw/board.ini", "sources": HERE,
            "messages": ROOT / "tests/cli/cases/fractal-log.messages",
            "timing_spec": ROOT / "examples/monitor/timing-stream.tessla"}
    for name in ("perfdata", "fractal_log", "tessla", "tessla_trace", "counts_a", "counts_b", "counts",
                 "times", "stacks", "elf", "elf_log", "cluster", "capture", "soft", "stream",
                 "branches"):
        made[name] = folder / name
    run("export", "--perf", made["perfdata"], made["quickstart"])
    run("fractal", "replay", "--messages", made["messages"], "--pgd", "1000", "--va-bits", "39", "--mode",
        "passive", "-o", made["fractal_log"])
    made["tessla"].write_text(TESSLA)
    made["firmware"] = folder / "firmware.srec"
    made["firmware"].write_text("S1070000000000EA0E\nS107010000F020E304\nS107000800F020E3FD\n")
    made["go_table"] = folder / "go_table"
    made["go_table"].write_bytes((ROOT / "tests/fuzz/corpus/elf/go_table").read_bytes()[1:])
    make_named(folder, made)
    made["tessla_trace"].write_text("".join(f"{at}: x = ()\n" for at in (1, 5, 6, 20, 21)))
    made["counts_a"].write_text("coretap-coverage 1\nprogram 1000 2000 00ff ./a program\ncontext 2 7 0 0 0\n"
                                "run 1000 1008 5\nnot 1004 2\n")
    made["counts_b"].write_text("coretap-coverage 1\nprogram 1000 3000 00ff elsewhere\ncontext 2 7 0 0 "
                                "0\nrun 1000 1008 1\n"
                                "taken 1004 1000 4\nprogram 0 10 - b\nrun 0 4 1\n" +
                                "".join(f"run {4 * i:x} {4 * i + 4:x} {i}\n" for i in range(600)))
    run("timing", "--format", "data", "-o", made["times"], made["quickstart"])
    made["manifest"], made["pieces"] = folder / "list.jsonl", folder / "pieces"
    made["manifest"].write_bytes(run("manifest", made["quickstart"]).stdout)
    made["pieces"].mkdir()
    shutil.copy(made["times"], made["pieces"] / "0.piece")
    made["stacks"] = HERE.parent / "fuzz/corpus/saved/stacks"
    made["fractal_sums"] = HERE.parent / "fuzz/corpus/saved/fractal"
    made["monitors"] = HERE.parent / "fuzz/corpus/saved/monitors"
    made["watch"] = HERE.parent / "fuzz/corpus/saved/counts"
    if all(map(shutil.which, TOOLS)):
        env = plugins(plugin)
        subprocess.run([TOOLS[0], "-g", "-O1", "-static", "-nostdlib", "-ffreestanding",
                        "-I", ROOT / "include/target", "-o", made["elf"], HERE / "program.c"],
                       check=True)
        options = ("record", "-q", "--cycle-count", "--timestamps", "--context-id")
        run(*options, "-o", made["capture"], "--", made["elf"], env=env)
        run(*options, "--itm", "ports", "--watch-data", "sink", "-o", made["soft"], "--", made["elf"],
            env=env)
        made["cluster"].write_text("cores = 2\nl2_bytes = 0x40000 # smaller\n")
        run("fractal", "run", "-q", "-o", made["elf_log"], "--point", "_start", "--", made["elf"], env=env)
        run(*options, "-o", folder / "streamed", "--stream", made["stream"], "--", made["elf"], env=env)
        run("cover", "--format", "data", "-o", made["counts"], made["capture"])
        made["package"] = folder / "app.apk!" / "lib.so"
        with zipfile.ZipFile(folder / "app.apk", "w") as archive:
            archive.write(made["elf"], "lib.so")
        run("profile", "-q", "-f", "branch-list", "-o", made["branches"], made["capture"])
        make_module(folder, made)
        made["config"] = folder / "streamed/live.ini"
    return made


class LiveRun(http.server.BaseHTTPRequestHandler):
    """Answers the requests of 'coretap ctl' like a live run."""
    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b'{"done": "so be it", "at": 17}' if self.command == "POST" else b"input 17 bytes\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


# ---- runs ----

Outcome = collections.namedtuple("Outcome", "code signal count out err files frames talk")


class Server:
    """The program FAILING with one command line. It forks a process for each run."""

    def __init__(self, failing, case, inputs, folder, env):
        self.case, self.folder = case, folder
        self.place = folder / "here"
        self.fifo, self.trace, self.bodies = folder / "fifo", b"", {}
        if case.talks:
            os.mkfifo(self.fifo)
            self.trace = inputs["stream"].read_bytes()
            inputs = {**inputs, "fifo": self.fifo}
        self.out, self.err = open(folder / "stdout", "w+b"), open(folder / "stderr", "w+b")
        self.input = open(inputs[case.stdin] if case.stdin else os.devnull, "rb")
        their_in, self.to = os.pipe()
        self.come, their_out = os.pipe()
        words = [word.format(**inputs) for word in re.findall(r'(?:[^\s"]|"[^"]*")+', case.args)]
        self.child = subprocess.Popen([failing, *(word.replace('"', "") for word in words)], stdin=self.input,
                                      stdout=self.out,
                                      stderr=self.err, cwd=self.fresh_place(), pass_fds=(their_in, their_out),
                                      env={**env, "CT_ALLOC_SERVER": f"{their_in},{their_out}"})
        os.close(their_in)
        os.close(their_out)

    def fresh_place(self):
        if self.place.exists():
            for path in self.place.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.place.mkdir(exist_ok=True)
        for name in self.case.outputs:
            (self.place / name).write_bytes(BEFORE)
        return self.place

    def files(self):
        found = {}
        for path in self.place.rglob("*"):
            name = str(path.relative_to(self.place))
            if path.is_file() and name.split("/")[0] not in self.case.partial:
                found[name] = self.masked(path.read_bytes())
        return found

    def masked(self, data):
        for mask in self.case.masks:
            data = re.sub(mask, b"~", data)
        return data

    def run(self, first, on=False, posts=tuple(talk.POSTS)):
        self.fresh_place()
        for file in (self.out, self.err):
            file.truncate(0)  # before find_port looks for the port in it
        os.write(self.to, struct.pack("<qqq", first, on, PATIENCE_S))
        held = self.case.talks and talk.hold(self.fifo, self.trace, self.folder / "stderr", self.come,
                                             self.bodies, posts)
        answer = os.read(self.come, 8 * (3 + DEPTH))
        if len(answer) < 8 * (3 + DEPTH):
            raise AssertionError(f"{self.case.name}: cannot be served: "
                                 f"{(self.folder / 'stderr').read_text(errors='replace')}")
        status, count, depth, *frames = struct.unpack(f"<qqq{DEPTH}Q", answer)
        return Outcome(os.waitstatus_to_exitcode(status) if status & 127 == 0 else None, status & 127, count,
                       self.masked((self.folder / "stdout").read_bytes()),
                       self.masked((self.folder / "stderr").read_bytes()),
                       self.files(), [frame for frame in frames[:depth] if frame], held)

    def close(self):
        for fd in (self.to, self.come):
            os.close(fd)
        self.child.wait()
        for file in (self.out, self.err, self.input):
            file.close()


class Goods:
    """The results of a command when no allocation fails."""

    def __init__(self, server):
        self.server, self.known = server, {}
        self.whole = server.run(-1)
        if self.whole.code not in (0, 1):
            raise AssertionError(f"without any failure: exit code {self.whole.code}, signal "
                                 f"{self.whole.signal}: "
                                 f"{self.whole.err.decode(errors='replace')[-1500:]}")

    def of(self, now):
        """Returns the good runs that a run may equal: one for each combination of the doubtful posts."""
        if not now.talk:
            return [self.whole]
        sure, doubtful = (sorted(set(some) & set(talk.CHANGES))
                          for some in (now.talk.done, now.talk.doubtful))
        return [self.with_posts((*sure, *more)) for count in range(len(doubtful) + 1)
                for more in itertools.combinations(doubtful, count)]

    def with_posts(self, posts):
        key = tuple(sorted(posts))
        if key not in self.known:
            self.known[key] = self.server.run(-1, posts=(*key, "filter"))
        return self.known[key]


def judge_all(case, goods, now):
    """Judges a run, including the conversation with its page. Returns what is wrong, or None."""
    verdicts = [judge(case, good, now) for good in goods.of(now)]
    wrong = now.talk.wrong if now.talk else []
    if now.talk and now.talk.lacked and now.code == goods.whole.code:
        wrong.append("there was no memory for an answer, and nobody was told but who asked")
    return wrong[0] if wrong else None if None in verdicts else verdicts[0]


def judge(case, good, now):
    """Returns what is wrong with a run, or None when it succeeded or failed as it should."""
    if now.signal:
        return "does not end" if now.signal == signal.SIGALRM else f"signal {now.signal}"
    if now.code == 127 and b"cannot allocate memory for thread-local data" in now.err:
        return None  # glibc's dynamic linker ends the process
    if now.code == SANITIZER_EXIT:
        found = re.search(rb"(?:ERROR|SUMMARY): (\w+Sanitizer: [\w-]+)|runtime error: .*", now.err)
        return (found[0] if found else b"sanitizer").decode(errors="replace")
    if now.code == 2 and good.code != 2:
        if not NO_MEMORY.search(now.err.decode(errors="replace")):
            return ("exit code 2 with a message about something else" if now.err
                    else "exit code 2 without a message")
        wrong = {name for name, data in now.files.items() if name not in case.outputs or data != BEFORE}
        wrong |= set(case.outputs) - set(now.files)
        return f"exit code 2, and files are not as they were: {sorted(wrong)}" if wrong else None
    if now.code != good.code:
        return f"exit code {now.code} for {good.code}"
    said = () if LESSER.search(now.err) else ("err",)
    for what in ("out", "files", *said):
        if getattr(now, what) != getattr(good, what):
            return f"another answer with exit code {now.code}: {what}"
    return None


class Names:
    """Names of FAILING's functions by address."""

    def __init__(self, program):
        self.program, self.known = program, {}

    def of(self, frames):
        unknown = [frame for frame in frames if frame not in self.known]
        if unknown and shutil.which("addr2line"):
            lines = subprocess.run(["addr2line", "-f", "-s", "-e", self.program,
                                    *(hex(frame - 1) for frame in unknown)],
                                   capture_output=True, text=True, check=True).stdout.splitlines()
            for frame, name, place in zip(unknown, lines[::2], lines[1::2]):
                self.known[frame] = name + ("" if place.startswith("?") else " " + place.split(" ")[0])
        return " < ".join(self.known.get(frame, hex(frame)) for frame in frames[2:11])


def try_case(case, failing, inputs, folder, env, names, options):
    """Tries the allocations of a case. Returns lines about what was found, and how many runs there were."""
    folder.mkdir()
    server = Server(failing, case, inputs, folder, env)
    wrong, runs, clean = collections.OrderedDict(), 0, 0
    goods = Goods(server)
    good = goods.whole
    again = judge_all(case, goods, server.run(-1))
    if again:
        raise AssertionError(f"not the same twice: {again}")
    started = time.monotonic()
    begin = zlib.crc32(case.name.encode())
    step = options.step if options.exact else options.step * case.sparse
    for on in options.modes:
        for n in range((begin + 7 * on) % step, good.count, step):
            now = server.run(n, on)
            runs += 1
            clean += now.code == 2
            verdict = judge_all(case, goods, now)
            if verdict:
                place = names.of(now.frames)
                key = (verdict, " < ".join(place.split(" < ")[:3]))
                wrong.setdefault(key, []).append(
                    f"n={n}{' and on' if on else ''}: {verdict}\n    in {place}\n    said: "
                    + now.err.decode(errors="replace")[-options.said:].replace("\n", "\n      "))
    server.close()
    shutil.rmtree(folder)
    said = [f"[{len(lines)}] {lines[0]}" for lines in wrong.values()]
    return said, sum(map(len, wrong.values())), runs, clean, good.count, time.monotonic() - started


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("failing")
    parser.add_argument("plugin")
    parser.add_argument("--case", default="*")
    parser.add_argument("--step", type=int)
    parser.add_argument("--said", type=int, default=300)
    parser.add_argument("--mode", choices=("once", "on"))
    options = parser.parse_args()
    options.exact = options.step is not None
    options.step = options.step or LONG or (100 if tap.WHOLE else 400)
    options.modes = {"once": (False,), "on": (True,), None: (False, True)}[options.mode]
    command, failing, plugin = (os.path.abspath(path)
                                for path in (options.command, options.failing, options.plugin))
    folder = pathlib.Path(tempfile.mkdtemp())
    inputs = make_inputs(command, plugin, folder)
    live_run = http.server.ThreadingHTTPServer(("127.0.0.1", 0), LiveRun)
    threading.Thread(target=live_run.serve_forever, daemon=True).start()
    inputs["port"] = live_run.server_port
    missing = missing_parts(command)
    env = {**plugins(plugin), "LC_ALL": "C", "DEBUGINFOD_URLS": "",
           "ASAN_OPTIONS": f"exitcode={SANITIZER_EXIT}:allocator_may_return_null=1",
           "LSAN_OPTIONS": os.environ.get("LSAN_OPTIONS", "print_suppressions=0")
           + f":exitcode={SANITIZER_EXIT}", "UBSAN_OPTIONS": f"halt_on_error=1:exitcode={SANITIZER_EXIT}"}
    names = Names(failing)
    total = collections.Counter()

    def body(case):
        wrong, findings, runs, clean, count, seconds = try_case(case, failing, inputs,
                                                                folder / case.name.replace(" ", "-"),
                                                                env, names, options)
        total.update(runs=runs, findings=findings, clean=clean)
        note = (f"{count} allocations, {runs} runs, {clean} with exit code 2, {findings} wrong, "
                f"{seconds:.1f} s")
        if wrong:
            raise AssertionError(note + "\n" + "\n".join(wrong))
        return note

    def why_not(case):
        lacking = [missing[need] for need in case.needs if need in missing]
        made = r"\{(elf|elf_log|capture|stream|counts|branches|(packed_)?module)\}"
        recorded = re.search(made, case.args) and not inputs["elf"].exists()
        return lacking[0] if lacking else f"there is no {' or '.join(TOOLS)}" if recorded else None

    chosen = [case for case in cases() if fnmatch.fnmatch(case.name, options.case)]
    with ThreadPoolExecutor(max_workers=os.cpu_count() if LONG else 1) as pool:
        results = [(case, why_not(case), None if why_not(case) else pool.submit(body, case))
                   for case in chosen]
        for case, why, future in results:
            tap.case(case.name, why, lambda future=future: future.result())
    print(f"# {total['runs']} runs, {total['clean']} with exit code 2, {total['findings']} wrong")
    live_run.shutdown()
    shutil.rmtree(folder)
    return tap.finish()


sys.exit(main())
