#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Types the commands of the guides, from top to bottom, in a new folder for each guide.

usage: test_guides.py COMMAND

Each command must end with its exit code (0 unless GUIDES says otherwise) and without a warning. The lines
that a guide shows below a command must be in its output, in that order. Numbers may differ; "…" and "[...]"
stand for any text. What a guide shows below "$ cat FILE" is written to that file.

GUIDES says what a guide leaves to its reader: the files that exist before, names that are typed differently
here, and commands that a test machine cannot run or that another test runs. Prints TAP."""
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position
from live import free_port, wait_for_port  # noqa: E402  pylint: disable=wrong-import-position
from parts import missing_for, missing_parts  # noqa: E402  pylint: disable=wrong-import-position

COMMAND = pathlib.Path(sys.argv[1]).resolve()
LIBRARY = COMMAND.parent / "src" / "opencsd"
FIRST_WORDS = ("CORETAP_OPENCSD_VERSION=", "LD_LIBRARY_PATH=", "aarch64-linux-gnu-gcc ", "cc ", "coretap ",
               "create_llvm_prof ", "duckdb ", "llvm-profgen ", "make ", "mkdir ", "mkfifo ", "mpirun ",
               "perf ", "perf2bolt ", "printf ", "python3 ")
OPTIONAL = re.compile(r"^create_llvm_prof|^/usr/lib/llvm-19/bin/[\w-]+")
PORT = "8080"
LEFT_OUT = ("…", "[...]")
BUILD = "aarch64-linux-gnu-gcc -g -O1 -fno-inline -static -o"
RECORD = "coretap record -q --cycle-count --timestamps -o"
ENVIRONMENT = {**os.environ, "LC_ALL": "C", "PATH": f"{COMMAND.parent}:{os.environ['PATH']}",
               "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}
ENVIRONMENT.pop("MALLOC_PERTURB_", None)  # of meson; the recorded programs would fill memory for it
# Open MPI itself leaks memory, so leaks are not reported.
RANKS = {**ENVIRONMENT, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
# The program that guides call `program`: it has the functions that they name.
PROGRAM = """#include <stdio.h>
#include <stdlib.h>

int table[1000], *heap_table;

__attribute__((noinline)) int decode(int n)
{
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += table[i] ^ n;
    return sum;
}

__attribute__((noinline)) void leave(int sum)
{
    printf("%d\\n", sum);
}

int main(int argc, char **argv)
{
    int sum = 0;
    heap_table = malloc(sizeof table);
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 200); i++) {
        table[i % 1000] = i;
        sum += decode(i);
    }
    leave(sum);
    return 0;
}
"""


@dataclasses.dataclass
class Guide:
    before: tuple = ()                                       # commands that make what the guide presumes
    files: dict = dataclasses.field(default_factory=dict)    # name -> text of a file that it presumes
    typed: dict = dataclasses.field(default_factory=dict)    # text of a command -> what is typed instead
    codes: dict = dataclasses.field(default_factory=dict)    # text of a command -> its exit code
    left_out: dict = dataclasses.field(default_factory=dict)  # text of a command -> why it is not typed


PROGRAM_BEFORE = (f"{BUILD} program main.c",)
CAPTURE_BEFORE = (*PROGRAM_BEFORE, f"{RECORD} capture -- ./program")
PERF_BEFORE = (*CAPTURE_BEFORE, "coretap export -q --perf perf.data capture")
THREE_DAYS = tuple(f"{RECORD} {day} -- ./program {rounds}"
                   for day, rounds in (("monday", 10), ("tuesday", 20), ("wednesday", 30)))


def instrumented():
    """Returns a program with the statements that docs/instrument.md shows."""
    guide = (ROOT / "docs" / "instrument.md").read_text()
    statements = "\n".join(re.findall(r"^    ((?:CORETAP_[A-Z]+|filter)\(.*;)$", guide, re.MULTILINE))
    return f"""#include <stdint.h>
static volatile uint32_t my_ports[32];
#define CORETAP_PORTS my_ports
#include <coretap/itm.h>
static double speed = 1;
static __attribute__((noinline)) void filter(void)
{{
    speed *= 1.5;
}}
int main(void)
{{
    const unsigned turns = 200;
    for (int turn = 0; turn < 5; turn++) {{
{statements}
    }}
    return 0;
}}
"""


GUIDES = {
    "README.md": Guide(
        left_out={"make ": "is what the tests are part of", "$(pkg-config": "is in tests/install",
                  "examples/quickstart": "is in tests/cli/test_readme.py"}),
    "docs/analysis.md": Guide(
        before=(*PROGRAM_BEFORE, *THREE_DAYS),
        files={"budget.tessla": "in start: Events[Unit]\ndef error = count(start) > 100\nout error\n"}),
    "docs/bytewise.md": Guide(before=CAPTURE_BEFORE, typed={"CAPTURE": "capture"}),
    "docs/filter.md": Guide(
        before=PERF_BEFORE,
        typed={"CAPTURE": "capture", "shutdown": "leave", "--tid 4711 ": "",
               "--from 12.5s --to 13s": "--frequency 25000000 --from 10ms --to 12ms"}),
    "docs/fleet.md": Guide(
        before=(*PROGRAM_BEFORE, "mkdir week47", *(f"{RECORD} week47/{day} -- ./program 5" for day in "ab")),
        typed={"/farm/week47": "week47", "-n 64": "-n 2"},
        left_out={"$(seq": "adds up what many machines made: tests/fleet/run_schedulers.py",
                  "$SLURM_ARRAY_TASK_ID": "is in tests/fleet/run_schedulers.py"}),
    "docs/formats.md": Guide(
        before=(*PERF_BEFORE, "mkdir root", "cp program root", "head -c 4096 capture/trace_0.bin > etb.bin"),
        typed={"~/target-root": "root", "run.data": "perf.data"},
        left_out={"perf record": "needs an Arm machine"}),
    "docs/fractal.md": Guide(
        before=(*PROGRAM_BEFORE,
                "aarch64-linux-gnu-gcc -O2 -g -static -o canny examples/fractal/canny.c -lm"),
        typed={"./program args": "./program 3"},
        left_out=dict.fromkeys(("...", "--control", "replay", "--spec FILE", "FROM TO", "reads.tessla",
                                "make ", "--process 1", "--follow-forks"), "names what the reader has")),
    "docs/instrument.md": Guide(
        before=("aarch64-linux-gnu-gcc -I include/target -g -O1 -static -o turns turns.c",
                "coretap record -q -o board --cycle-count --timestamps --itm my_ports -- ./turns"),
        files={"turns.c": instrumented}, typed={"--merge capture": "--merge board"}),
    "docs/live.md": Guide(before=PROGRAM_BEFORE, typed={"./program": "./program 1000000"}),
    "docs/perf.md": Guide(before=PERF_BEFORE, left_out={"LD_LIBRARY_PATH": "names the installed library"}),
    "docs/profiles.md": Guide(
        before=(*PERF_BEFORE, "mkdir -p out/symbols out/root$PWD", "cp program out/symbols/libfoo.so",
                "cp program out/root$PWD",
                *(f"coretap profile -q -f branch-list perf.data > {day}.data"
                  for day in ("monday", "tuesday"))),
        typed={"-E libfoo.so": "-E out/symbols/libfoo.so", "perf2bolt ": "/usr/lib/llvm-19/bin/perf2bolt ",
               "llvm-profgen ": "/usr/lib/llvm-19/bin/llvm-profgen "},
        left_out={"pgo.py": "is in tests/recorded/run_pgo.py", "vmlinux": "needs the recording of a kernel"}),
    "docs/tables.md": Guide(
        before=(*CAPTURE_BEFORE, "mkdir week", f"{RECORD} week/one -- ./program 5",
                "coretap manifest week -o week47.jsonl"),
        left_out={"duckdb": "is in tests/cli/test_tables.py"}),
    "docs/tessla.md": Guide(
        before=("aarch64-linux-gnu-gcc -g -O1 -static -DBUG -o timing examples/monitor/timing.c",
                "mkdir monday",
                *(f"coretap record -q --cycle-count=4 -o {day} -- ./timing"
                  for day in ("monday/1", "monday/2", "tuesday", "later-capture"))),
        typed={"--spec timing.tessla": "--spec examples/monitor/timing.tessla",
               "entry:block_start entry:block_end": "entry:first entry:trigger",
               "--elf program": "--elf timing"},
        codes={"timing.tessla": 1, "windup-stream.tessla": 1, "turns.tessla": 1}),
}


def code_blocks(text):
    """Yields the blocks of code of a guide, fenced or indented: lists of line numbers and lines."""
    block, fenced = [], False
    for number, line in enumerate([*text.splitlines(), "The end."], 1):
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        if fenced and not fence:
            block.append((number, line))
        elif line.startswith("    ") or not line and block:
            block.append((number, line[4:]))
        elif block:
            yield block
            block = []


def commands_of(text):
    """Yields the commands of each block of code: lists of line number, command, and the lines shown below."""
    for block in code_blocks(text):
        commands, shows_output, continued = [], False, False
        for number, line in block:
            if continued:
                commands[-1][1] = f"{commands[-1][1][:-1].rstrip()} {line.strip()}"
            elif line.startswith("$ ") or line.startswith(FIRST_WORDS) and not shows_output:
                shows_output = line.startswith("$ ")
                commands.append([number, line.removeprefix("$ "), []])
            elif commands:
                commands[-1][2].append(line)
            continued = bool(commands) and line.endswith("\\") and not commands[-1][2]
        if commands:
            yield commands


def pattern(shown):
    """Returns the pattern of a line that is shown: with other numbers, and any text in place of "…"."""
    parts = re.split(r"(0x[0-9a-f]+|\d[\d.,]*|\s+|…)", shown.strip())
    wild = {"0": r"[\da-fx.,]+", "…": ".*"}
    return re.compile("".join(
        re.escape(part) if not index % 2 else r"[\d.,]+" if part[0].isdigit() and not part.startswith("0x")
        else wild["0"] if part.startswith("0x") else wild["…"] if part == "…" else r"\s+"
        for index, part in enumerate(parts)))


def first_missing(shown, printed):
    """Returns the first shown line that is not in the output after the ones before it, or None."""
    rest = iter(printed)
    for line in shown:
        if line.strip() in ("", *LEFT_OUT):
            continue
        wanted = pattern(line)
        if not any(wanted.fullmatch(got.strip()) for got in rest):
            return line
    return None


def type_here(line):
    return line.replace("perf-env", f"perf-env --library-dir {LIBRARY}")


def run(folder, line, code=0, shown=()):
    """Types a command. Its exit code must be `code`, and the lines of `shown` must be in its output."""
    done = subprocess.run(["bash", "-c", type_here(line)], cwd=folder, text=True, timeout=600, check=False,
                          env=RANKS if "mpirun" in line else ENVIRONMENT, stdin=subprocess.DEVNULL,
                          capture_output=True, errors="replace")
    output = done.stdout + done.stderr
    assert done.returncode == code, f"{line}: exit code {done.returncode}: {done.stderr}"
    assert not re.search(r"coretap: (warning|error):", output), f"{line}: {output}"
    missing = first_missing(shown, output.splitlines())
    assert missing is None, f"{line}: this line is not printed: {missing}\nprinted is: {output[:2000]}"


def run_together(folder, block):
    """Types the commands of a live run. A command of `coretap ctl` is for another terminal: it runs when the
    page is there. The run is stopped, unless the command that feeds it is waited for: then it ends itself."""
    port = str(free_port())
    jobs, live, is_fed = [], None, False
    try:
        for _, line, _ in block:
            line = line.replace(PORT, port)
            if "coretap ctl" in line:
                wait_for_port(port)
                run(folder, line)
            elif line.endswith("&") or "coretap live" in line:
                jobs.append(subprocess.Popen(["bash", "-c", f"exec {line.rstrip('& ')}"], cwd=folder,
                                             env=ENVIRONMENT, stdin=subprocess.DEVNULL, text=True,
                                             stdout=subprocess.PIPE, stderr=subprocess.PIPE))
                live = jobs[-1] if "coretap live" in line else live
            else:
                is_fed = live is not None
                run(folder, line)
        if not is_fed:
            wait_for_port(port)
            run(folder, f"coretap ctl --http {port} stop")
        out, told = live.communicate(timeout=300)
        # A stop may cut a packet, which is damage.
        fine = live.returncode == 0 or live.returncode == 1 and not is_fed
        assert fine, f"exit code {live.returncode}: {told}{out}"
        assert out, "there is no report"
    finally:
        for job in jobs:
            job.kill()
            job.communicate()


def typed(guide, line):
    for text, instead in guide.typed.items():
        line = line.replace(text, instead)
    return line


def from_table(table, line, otherwise):
    return next((value for text, value in table.items() if text in line), otherwise)


def prepare(folder, guide):
    for name in ("examples", "tests", "include"):
        (folder / name).symlink_to(ROOT / name)
    for name, text in {"main.c": PROGRAM, **guide.files}.items():
        (folder / name).write_text(text if isinstance(text, str) else text())
    for line in guide.before:
        run(folder, line)


def type_guide(name, guide, parts):
    """Types a guide; a failure does not keep the commands after it from being typed."""
    text = (ROOT / name).read_text()
    blocks = list(commands_of(text))
    used = " ".join(line for block in blocks for _, line, _ in block)
    stale = [entry for table in (guide.typed, guide.codes, guide.left_out) for entry in table
             if entry not in used]
    tap.check(f"{name}: has what GUIDES says of it", not stale, stale)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        prepare(folder, guide)
        for block in blocks:
            if any(line.endswith("&") for _, line, _ in block) and "coretap live" in str(block):
                lines = [[number, typed(guide, line), shown] for number, line, shown in block]
                tap.case(f"{name}:{block[0][0]}: a live run", missing_for(COMMAND, PORT, parts),
                         lambda lines=lines: run_together(folder, lines))
                continue
            for number, line, shown in block:
                if from_table(guide.left_out, line, None):
                    continue
                if line.startswith("cat "):
                    (folder / line.removeprefix("cat ")).write_text("\n".join([*shown, ""]))
                    continue
                here = typed(guide, line)
                why = missing_for(COMMAND, here, parts) or tap.lacks(*OPTIONAL.findall(here))
                tap.case(f"{name}:{number}: {line}".replace("#", "\\#"), why,
                         lambda here=here, shown=shown, line=line: run(
                             folder, here, from_table(guide.codes, line, 0), shown))


def scripts_say_usage():
    """Checks that each script of the examples prints its usage when it is started without arguments."""
    for script in sorted((ROOT / "examples").rglob("*.py")):
        text = script.read_text()
        if "usage:" not in text or "sys.argv" not in text or script.name.startswith("test_"):
            continue
        done = subprocess.run([sys.executable, script], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=300, check=False, env=ENVIRONMENT)
        tap.check(f"{script.relative_to(ROOT)} says its usage",
                  done.returncode and "usage:" in done.stderr and "Traceback" not in done.stderr, done.stderr)


def main():
    scripts_say_usage()
    # The guides call the command by its name and build against its library.
    lacks = "the command is for another processor" if tap.is_emulated(COMMAND) else \
        tap.lacks("aarch64-linux-gnu-gcc", "qemu-aarch64")
    if lacks:
        tap.skip("the guides", lacks)
        return tap.finish()
    parts = missing_parts(COMMAND)
    for name, guide in GUIDES.items():
        type_guide(name, guide, parts)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
