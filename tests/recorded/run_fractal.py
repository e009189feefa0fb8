#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs an Arm program under QEMU on the simulated cluster, and compares what FRACTAL logs with what the
cluster did.

usage: run_fractal.py COMMAND PLUGIN EXAMPLES"""
import csv
import json
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import command  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, PLUGIN, EXAMPLES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
COMPILER = "aarch64-linux-gnu-gcc"


coretap = functools.partial(command.output, COMMAND, "fractal", codes=(0, 1),
                            env={**os.environ, "CORETAP_ACCESS_PLUGIN": PLUGIN})


def run(folder, program, *options, size="cif", times="1"):
    log, truth = folder / "log", folder / "truth.csv"
    coretap("run", "-q", "-o", log, "--truth", truth, *options, "--", program, "-s", size, "-t", times)
    logged = coretap("report", log, "--elf", program, "--csv")
    return log, truth.read_text(), logged


def truth_is_logged(folder, program, *options):
    """Checks that the log has the lines of the truth in the same order, symbols included."""
    _, truth, logged = run(folder, program, *options, size="96x80")
    return truth.count("\n") > 100 and truth == logged


def small_reverse_tlb(folder, program):
    return truth_is_logged(folder, program, "--sets", "1", "--ways", "4")


def messages_replay(folder, program):
    log, truth, _ = run(folder, program, "--messages", folder / "messages", size="96x80")
    again = folder / "again"
    out = coretap("replay", "--messages", folder / "messages", "-o", again)
    events = coretap("report", again, "--elf", program, "--csv")
    return re.search(r"^refused +0$", out, re.MULTILINE) and \
        [row[:6] for row in csv.reader(events.splitlines())] == [row[:6]
                                                                 for row in csv.reader(truth.splitlines())]


def points_show_every_call(folder, program):
    log, _, _ = run(folder, program, "--section", ".text", "--point", "canny", "--points-only", "--mode",
                    "points", times="7", size="96x80")
    text = coretap("report", log, "--elf", program)
    hits = re.search(r"^ +0 0x[0-9a-f]+ +(\d+) .*canny$", text, re.MULTILINE)
    return hits and int(hits.group(1)) >= 7


def five_runs(folder, program):
    log, _, _ = run(folder, program, "--section", ".text", "--mode", "points", times="5")
    return re.search(r"^runs +5,", coretap("report", log, "--elf", program), re.MULTILINE)


def a_single_run_is_none_of_several(folder, program):
    log, _, _ = run(folder, program, "--section", ".text", "--mode", "points", size="96x80")
    return "\nruns " not in coretap("report", log, "--elf", program)


def pictures(folder, program):
    log, _, _ = run(folder, program, size="96x80")
    long = "main_whose_name_is_longer_than_any_row_of_a_picture"
    subprocess.run([COMPILER.removesuffix("gcc") + "objcopy", "--redefine-sym", f"main={long}", program,
                    folder / "long"], check=True)
    page = coretap("report", log, "--elf", folder / "long", "--html")
    trace = coretap("report", log, "--elf", program, "--perfetto")
    cut = re.findall(r'text-anchor="end">…([^<]*)<title>([^<]*)</title>', page)
    return (page.count("<svg") == page.count('role="img" aria-label="') == 4
            and page.rstrip().endswith("</html>")
            and (long[-33:], long) in cut and all(name.endswith(end) for end, name in cut)
            and 'name="viewport"' in page and "prefers-color-scheme" in page
            and len(json.loads(trace)["traceEvents"]) > 100)


def stripped_has_names(folder, program):
    """Checks that functions of a stripped program are named from the file of its .gnu_debuglink, or that of
    its build ID below --symdir."""
    log, _, logged = run(folder, program, "--section", ".text", size="96x80")
    (folder / "bare").mkdir()
    bare, debug = folder / "bare" / "canny", folder / "bare" / "canny.debug"
    tool = COMPILER.removesuffix("gcc")
    for command in (["objcopy", "--only-keep-debug", program, debug], ["strip", "-o", bare, program],
                    ["objcopy", f"--add-gnu-debuglink={debug}", bare]):
        subprocess.run([tool + command[0], *command[1:]], check=True)
    names = [{row[6] for row in csv.reader(text.splitlines())} for text in
             (logged, coretap("report", log, "--elf", bare, "--csv"))]
    alone = folder / "alone"
    subprocess.run([tool + "strip", "-o", alone, program], check=True)
    found = coretap("report", log, "--elf", alone, "--symdir", folder / "bare", "--csv")
    return "canny" in names[1] and "[unknown]" not in names[1] and len(names[0] & names[1]) > 5 and \
        found == coretap("report", log, "--elf", bare, "--csv") \
        != coretap("report", log, "--elf", alone, "--csv")


def zero_is_the_default(folder, program):
    """Checks that a setting of zero means that of a Kria."""
    (folder / "zero").write_text("cores = 0\ngranule = 0\nva_bits = 0\n")
    logs = [run(folder, program, *options, size="96x80")[0].read_bytes()
            for options in ((), ("--config", folder / "zero"))]
    return logs[0] == logs[1] and len(logs[0]) > 1000


def program_beside_that_cannot_run(folder, program):
    """Checks that a run fails and leaves no log when there is no QEMU for the second program."""
    (folder / "bin").mkdir()
    (folder / "bin/qemu-aarch64").symlink_to(shutil.which("qemu-aarch64"))
    (folder / "arm").write_bytes(b"\x7fELF\1\1\1" + bytes(11) + b"\x28\0" + bytes(32))
    (folder / "arm").chmod(0o755)
    log = folder / "log of two"
    env = {**os.environ, "CORETAP_ACCESS_PLUGIN": PLUGIN, "PATH": str(folder / "bin")}
    result = subprocess.run([COMMAND, "fractal", "run", "-q", "-o", log, "--with", folder / "arm", "--",
                             program, "-s", "96x80", "-t", "1"], capture_output=True, text=True, check=False,
                            env=env)
    return result.returncode == 2 and "qemu-arm: cannot be run" in result.stderr and \
        f"{folder / 'arm'}: the program could not be run" in result.stderr and not log.exists()


def monitors_know_processes(folder, _):
    """Checks that accesses of a program and of its child are inputs, as often as the report counts them; the
    program is the one named in the log."""
    program = folder / "processes"
    subprocess.run([COMPILER, "-O1", "-static", "-o", program, EXAMPLES / "processes.c", "-lpthread"],
                   check=True)
    log = folder / "forks"
    coretap("run", "-q", "--follow-forks", "--point", "table", "--mode", "points", "-o", log, "--", program,
            "fork")
    hits = dict(re.findall(r"^ +[01] 0x[0-9a-f]+ +(\d+) .* (\S+)$", coretap("report", log, "--elf", program),
                           re.MULTILINE))
    (folder / "hits.tessla").write_text("in a: Events[Unit]\nout a")
    binds = ["mine=access:table.write", "others=access:1:table.write", "reads=access:table.read",
             "who=context"]
    words = [COMMAND, "monitor", "-q", "-a", "-f", "jsonl", "--spec", EXAMPLES / "forks.tessla",
             *(word for bind in binds for word in ("--bind", bind))]
    outs = []
    for more in ([log], ["--elf", program, log]):
        got = subprocess.run([*words, *more], capture_output=True, text=True, check=False)
        assert got.returncode == 0, got
        outs.append(got.stdout)
    rows = [json.loads(line) for line in outs[0].splitlines()]
    last = {row["output"]: row["value"] for row in rows}
    who = [row["value"] for row in rows if row["output"] == "who"]
    missing = subprocess.run([*words[:-2], "--bind", "who=context:other", log], capture_output=True,
                             text=True, check=False)
    seen = {last["mine_writes"]: "table", last["other_writes"]: "1:table"}
    one = coretap("report", "--process", "1", log, "--elf", program)
    alone = "process   1 alone" in one and re.search(r"address +1:table$", one, re.MULTILINE) and \
        not re.search(r"address +table$", one, re.MULTILINE) \
        and re.search(r"^events +(\d+)", one, re.MULTILINE)[1] == \
        re.search(r"^initiator 1 +(\d+)", one, re.MULTILINE)[1]
    sums = {"table": 0, "1:table": 0}
    for process, name in (("", "table"), ("1:", "1:table")):
        numbers = re.findall(rb"point=" + process.encode() + rb"(\d+) \S+ table\n", log.read_bytes())
        for number in numbers:  # an observed line each
            said = subprocess.run([COMMAND, "monitor", "-q", "-a", "--spec", folder / "hits.tessla", "--bind",
                                   f"a=access:{process}point:{number.decode()}", log], capture_output=True,
                                  text=True, check=True).stdout
            sums[name] += len(said.splitlines())
    by_number = {str(sums[name]): name for name in sums}
    return alone and outs[0] == outs[1] and seen == hits == by_number and set(who) == {'"processes"'} and \
        "read_error" not in last and missing.returncode == 2 and \
        "no context with this name" in missing.stderr


WAITS = """#include <sys/wait.h>
#include <unistd.h>
volatile long table[1024];
int main(void)
{
    if (!fork()) {
        for (long i = 0; i < 300000; i++)
            table[i * 8 & 1023] += i;
        _exit(0);
    }
    wait(0);
    table[0] = 1;
    return 0;
}
"""


def all_of_a_child_that_is_waited_for(folder, _):
    """Checks that all of a child counts, which does more than a pipe holds while a process waits for it."""
    source, program, log = folder / "waits.c", folder / "waits", folder / "log of waits"
    source.write_text(WAITS)
    subprocess.run([COMPILER, "-O1", "-static", "-o", program, source], check=True)
    coretap("run", "-q", "--follow-forks", "--point", "table", "--mode", "points", "-o", log, "--", program)
    hits = dict(re.findall(r"^ +[01] 0x[0-9a-f]+ +(\d+) .* (\S+)$", coretap("report", log, "--elf", program),
                           re.MULTILINE))
    return hits.get("600000") == "1:table" and "table" in hits.values()


def all_of_a_grandchild_that_is_waited_for(folder, _):
    """Checks the same when the child itself waits for one that only it knows of yet."""
    source, program, log = folder / "nested.c", folder / "nested", folder / "log of nested"
    source.write_text(WAITS.replace("if (!fork()) {", "if (!fork()) {\n        if (fork())\n"
                                    "            _exit(wait(0) < 0);"))
    subprocess.run([COMPILER, "-O1", "-static", "-o", program, source], check=True)
    coretap("run", "-q", "--follow-forks", "--point", "table", "--mode", "points", "-o", log, "--", program)
    return re.search(r"^ +[0-9]+ 0x[0-9a-f]+ +600000 .* 2:table$", coretap("report", log, "--elf", program),
                     re.MULTILINE)


GROWS = """#include <stdlib.h>
int main(void)
{
    static volatile char *piece[256];
    for (int i = 0; i < 256; i++)
        piece[i] = malloc(16384);
    for (int i = 0; i < 512; i++) /* more than the caches hold, twice: first it is zeroed there */
        for (int at = 0; at < 16384; at += 64)
            piece[i % 256][at] = 1;
    return 0;
}
"""


def the_heap_has_a_name(folder, _):
    """Checks the heap of a program with libraries, whose loader uses the stack before it requests a heap."""
    source, program, log = folder / "grows.c", folder / "grows", folder / "log of grows"
    source.write_text(GROWS)
    subprocess.run([COMPILER, "-O1", "-o", program, source], check=True)
    coretap("run", "-q", "-o", log, "--", program)
    heap = re.findall(rb"region=0x([0-9a-f]+)\.\.0x([0-9a-f]+) \[heap\]", log.read_bytes())
    counts = re.findall(r"^ +(\d+) +\S+% .* \[heap\]$", coretap("report", log, "--elf", program),
                        re.MULTILINE)
    return len(heap) == 1 and int(heap[0][1], 16) - int(heap[0][0], 16) >= 4 << 20 \
        and counts and int(counts[0]) >= (4 << 20) // 64


def files_have_their_paths(folder, _):
    """Checks that a library is one region, whatever parts its loader maps. The loader, which QEMU maps, is a
    file, not the stack, and its pages come from memory. A long path is kept whole, and line ends in it are
    replaced."""
    source, program, log = folder / "maps.c", folder / "maps", folder / "log of maps"
    mapped = folder / ("long" * 30) / "new\nline"
    mapped.parent.mkdir()
    mapped.write_bytes(bytes(1 << 16))
    source.write_text(MAPS)
    subprocess.run([COMPILER, "-O1", "-o", program, source], check=True)
    coretap("run", "-q", "-o", log, "--", program, mapped)
    regions = re.findall(rb"region=0x\w+\.\.0x\w+ ([^\n]*)", log.read_bytes())
    names = [os.path.basename(name.decode()) for name in regions]
    rows = coretap("report", log, "--elf", program).split("Objects")[1]
    said = {name: int(count) for count, name in re.findall(r"^ +(\d+) +\S+% +\S+ +\S+  (.*)$", rows,
                                                          re.MULTILINE)}
    wanted = str(mapped).replace("\n", "?")
    if sorted(n for n in names if ".so." in n)[-2:] != ["ld.so.cache", "libc.so.6"] or "[file]" in names or \
            said.get(wanted) != 1024 or sum(said[n] for n in said if n.endswith(LOADER)) < 100:
        raise AssertionError(f"{names} {said}")
    return True


def calls_of_threads_are_told_apart(folder, _):
    """Checks that memory from mmap has the size that its thread requested, whatever other threads call
    meanwhile."""
    source, program, log = folder / "calls.c", folder / "calls", folder / "log of calls"
    source.write_text(CALLS)
    subprocess.run([COMPILER, "-O1", "-static", "-pthread", "-o", program, source], check=True)
    coretap("run", "-q", "-o", log, "--", program)
    regions = [(int(lo, 16), int(hi, 16)) for lo, hi in
               re.findall(rb"region=0x(\w+)\.\.0x(\w+) ", log.read_bytes())]
    return len(regions) > 4 and all(hi - lo < 1 << 30 for lo, hi in regions)


CALLS = """#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static volatile int done;
static void *calls(void *unused)
{
    while (!done)
        syscall(SYS_getpid, 7, 1L << 40, 0, 2, 3, 0);
    return unused;
}
int main(void)
{
    pthread_t thread[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], 0, calls, 0);
    for (int i = 0; i < 2000; i++) {
        void *at = mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(at, 1 << 16);
    }
    done = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], 0);
    return 0;
}
"""
LOADER = "/ld-linux-aarch64.so.1"
MAPS = """#include <fcntl.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
    volatile char *at = mmap(0, 1 << 16, PROT_READ, MAP_PRIVATE, open(argv[1], O_RDONLY), 0);
    for (int i = 0; i < 1 << 16; i += 64)
        (void)at[i];
    return argc != 2;
}
"""


def the_exit_code_is_that_of_the_program(folder, _):
    """Checks exit codes, also 2, which is that of a run without a log, and a shell's code for a signal. The
    log is kept."""
    source, program, log = folder / "ends.c", folder / "ends", folder / "log of ends"
    source.write_text("#include <stdlib.h>\n"
                      "int main(int n, char **a) { if (n < 2) abort(); return atoi(a[1]); }\n")
    subprocess.run([COMPILER, "-O1", "-static", "-o", program, source], check=True)
    for words, code in ((["0"], 0), (["2"], 2), (["77"], 77), ([], 134)):
        for command in (["run", "-q", "-o", log], ["overhead", "-q"]):
            log.unlink(missing_ok=True)
            done = subprocess.run([COMMAND, "fractal", *command, "--", program, *words], capture_output=True,
                                  env={**os.environ, "CORETAP_ACCESS_PLUGIN": PLUGIN}, check=False)
            if done.returncode != code or not (log.exists() or done.stdout):
                raise AssertionError(f"{command[0]} of a program that ends with {code}: {done.returncode}")
    return True


def names_without_elf(folder, _):
    """Checks that the log names its program; when that file is gone, or newer, a message says which option to
    give."""
    source, program, log = folder / "grows.c", folder / "named", folder / "log of named"
    source.write_text(GROWS)
    subprocess.run([COMPILER, "-O1", "-static", "-o", program, source], check=True)
    coretap("run", "-q", "-o", log, "--", program)

    def report(*options):
        done = subprocess.run([COMMAND, "fractal", "report", *options], capture_output=True, text=True,
                              check=True)
        return done.stdout, done.stderr

    named = report("--elf", program, "--top", "256", log)
    saved = report("--elf", program, "--data", log)
    fine = named == report("--top", "256", log) and re.search(r" main$", named[0], re.MULTILINE) and \
        saved == report("--data", log)
    os.utime(program, (2**32, 2**32))
    newer = report("--top", "256", log)
    fine = fine and newer[0] == named[0] and "is newer than the log" in newer[1]
    program.unlink()
    gone = report(log)
    return fine and " main\n" not in gone[0] and \
        f"its program {program} cannot be read" in gone[1] and "--elf" in gone[1]


TESTS = [zero_is_the_default, program_beside_that_cannot_run, truth_is_logged, stripped_has_names,
         small_reverse_tlb, messages_replay, points_show_every_call, five_runs,
         a_single_run_is_none_of_several, pictures,
         monitors_know_processes, all_of_a_child_that_is_waited_for,
         all_of_a_grandchild_that_is_waited_for, the_heap_has_a_name, files_have_their_paths,
         calls_of_threads_are_told_apart, the_exit_code_is_that_of_the_program, names_without_elf]


def main():
    if tap.lacks("qemu-aarch64", COMPILER):
        return tap.skip_all(tap.lacks("qemu-aarch64", COMPILER) + " (tools/install-deps arm)")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "canny"
        subprocess.run([COMPILER, "-O2", "-static", "-o", program, EXAMPLES / "canny.c", "-lm"], check=True)
        for test in TESTS:
            tap.case(test.__name__.replace("_", " "), None, lambda test=test: bool(test(folder, program)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
