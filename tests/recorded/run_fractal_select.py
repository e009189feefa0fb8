#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the selection of what is traced: several ranges, objects of several lines, and changes during the
run.

usage: run_fractal_select.py COMMAND PLUGIN EXAMPLES"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, PLUGIN, EXAMPLES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
COMPILER, COMPILER_32 = "aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc"
ENVIRONMENT = {**os.environ, "CORETAP_ACCESS_PLUGIN": PLUGIN}
BOTH = ("--section", ".text", "--section", ".bss")


def coretap(*args, given=""):
    return subprocess.run([COMMAND, *map(str, args)], capture_output=True, text=True, check=False,
                          env=ENVIRONMENT, input=given)


def trace(folder, program, *options, given="", arguments=(), code=0):
    result = coretap("fractal", "run", "-q", "-o", folder / "log", *options, "--", program, *arguments,
                     given=given)
    if result.returncode != code:
        raise AssertionError(f"exit code {result.returncode}: {result.stderr}")
    return result


def report(folder, program):
    return coretap("fractal", "report", folder / "log", "--elf", program).stdout


def hits(folder, program):
    """Returns the hits of each milestone, with how they were distinguished."""
    return {name: (int(count), told) for count, told, name in
            re.findall(r"^ +\d+ 0x[0-9a-f]{16} +(\d+) .* (line|address) +(.+)$", report(folder, program),
                       re.MULTILINE)}


def steps(folder):
    return re.findall(rb"steer=(\d+) ([^\n]*)\n", (folder / "log").read_bytes(), re.MULTILINE)


def both_ranges_are_traced(folder, program):
    """Checks that the log of two sections agrees with the cluster, and that the report names them."""
    trace(folder, program, "--section", ".text", "--section", ".data", "--truth", folder / "truth")
    logged = coretap("fractal", "report", folder / "log", "--elf", program, "--csv").stdout
    kinds = {row.split(",")[5] for row in logged.splitlines()[1:]}
    return logged == (folder / "truth").read_text() and kinds == {"I", "D"} and \
        len(re.findall(r"^ +0x[0-9a-f]+\.\.0x[0-9a-f]+  \.(?:text|data)$", report(folder, program),
                       re.MULTILINE)) == 2


def an_object_is_all_its_lines(folder, program):
    trace(folder, program, *BOTH, "--point", "table", "--points-only", "--mode", "points")
    return hits(folder, program) == {"table": (1000, "address")}


def functions_of_one_line(folder, program):
    """Checks two functions in one line: their hits are reported together, or separately when the port says
    which part of the line was requested."""
    points = ("--point", "even", "--point", "odd", "--points-only", "--mode", "points")
    trace(folder, program, "--section", ".text", *points)
    together = hits(folder, program)
    (folder / "cluster").write_text("port_bytes = 8\n")
    trace(folder, program, "--section", ".text", *points, "--config", folder / "cluster")
    apart = hits(folder, program)
    return list(together) == ["even, odd"] and together["even, odd"][1] == "line" and \
        together["even, odd"][0] >= 1000 and apart.get("even") == (500, "address") and \
        apart.get("odd") == (500, "address")


def bad_selections_name_the_limit(folder, program):
    cases = [(("--section", ".text", "--symbol", "main"), "overlaps .text"),
             (("--range-registers", "1", *BOTH), "all 1 range registers"),
             (("--point", "table", "--point-registers", "3"), "needs 4 registers"),
             (("--point", "70000000"), "has no memory at 0x70000000"),
             (("--section", ".text", "--point", "table"), "none of the traced ranges"),
             (("--mode", "passive", "--point", "main"), "passive"),
             (("--range", "1:0..100"), "there is no process 1"),
             (("--with", program) * 4, "one core runs the program, and 3 more can each")]
    for name, setting, text in (("ways", "l2_ways = 32\nl2_bytes = 2097152", "l2_ways at most 16"),
                                ("cores", "cores = 9", "cores must be 1 to 8"),
                                ("port", "port_bytes = 7", "port_bytes must be 8, 16, 32 or 64"),
                                ("sets", "l1d_bytes = 3000", "l1d_bytes / 64 / l1d_ways a power of two")):
        (folder / name).write_text(setting + "\n")
        cases.append((("--config", folder / name), text))
    for options, text in cases:
        log = folder / "no log"
        result = coretap("fractal", "run", "-q", "-o", log, *options, "--", program)
        if result.returncode != 2 or text not in result.stderr or log.exists():
            raise AssertionError(f"{options}: {result.stderr}")
    return True


def a_script_exchanges_points(folder, program):
    """Checks that the table is watched for a while, and then its range is removed."""
    (folder / "script").write_text("# the table, for a while\n100us point add table\n"
                                   "140us point remove table\n141us section remove .bss\n9s point add main\n")
    result = coretap("fractal", "run", "-o", folder / "log", *BOTH, "--mode", "points", "--script",
                     folder / "script", "--", program, given="\n\n\n\n\n\n\n\n")
    known = hits(folder, program)
    times = [int(at) / 1300 for at, _ in steps(folder)]
    return 0 < known["table"][0] < 9000 and len(times) == 3 and \
        "the last 1 steps of the script" in result.stderr and all(
            wanted <= at < wanted + 3 for at, wanted in zip(times, (100, 140, 141)))


def a_command_before_the_first_event(folder, program):
    """Checks times of a report, which begin at its first event; an earlier exchange has a negative time."""
    (folder / "script").write_text("1us point add table\n")
    trace(folder, program, "--section", ".bss", "--mode", "points", "--script", folder / "script")
    return re.search(r"^ +at -0\.\d+: point add table$", report(folder, program), re.MULTILINE)


THREAD = """
#include <pthread.h>
volatile int table[1 << 20];
static void *work(void *none)
{
    for (int round = 0; round < 4; round++)
        for (int i = 0; i < 1 << 20; i += 16)
            table[i]++;
    return none;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    return pthread_join(thread, 0);
}
"""


def a_script_goes_by_the_thread_that_runs(folder, _program):
    """Checks a script while the first thread waits and its core's clock stands still."""
    source, waits = folder / "waits.c", folder / "waits"
    source.write_text(THREAD)
    subprocess.run([COMPILER, "-O1", "-static", "-pthread", "-o", waits, source], check=True)
    (folder / "script").write_text("2ms status\n")
    result = coretap("fractal", "run", "-o", folder / "log", "--section", ".bss", "--script",
                     folder / "script", "--", waits)
    own = re.search(r"([0-9.]+) ms of the model's time", result.stderr)
    if result.returncode or "steps of the script" in result.stderr or float(own[1]) < 2:
        raise AssertionError(result.stderr)
    return True


def bad_scripts_are_refused(folder, program):
    script = folder / "bad"
    for text, wanted in (("point add main\n", "bad:1: 'point add main': the line is not TIME"),
                         ("2ms status\n1ms status\n", "bad:2: the time is earlier than that of line 1"),
                         ("1us frobnicate\n", "bad:1: 'frobnicate' is not range|section"),
                         ("1us point add nowhere\n", "bad:1: --point: 'nowhere' is neither")):
        script.write_text(text)
        result = coretap("fractal", "run", "-q", "-o", folder / "no log", "--script", script, "--", program)
        if result.returncode != 2 or wanted not in result.stderr:
            raise AssertionError(f"{text}: {result.stderr}")
    return True


def ask(socket, *words):
    return coretap("ctl", "--control", socket, *words)


def a_client_exchanges_points(folder, program):
    """Runs three stages; a client adds the table before the second and removes it before the third. Clients
    are served while the program waits, also when children are followed."""
    return all(exchanges_points(folder, program, *more) for more in ((), ("--follow-forks",)))


def exchanges_points(folder, program, *more):
    socket = folder / "socket"
    with subprocess.Popen([COMMAND, "fractal", "run", "-q", "-o", folder / "log", *BOTH, "--mode", "points",
                           "--control", socket, *more, "--", program], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as run:
        answers = []
        for command in ("point add table", "point remove table"):
            before = None
            for _ in range(200):  # until the program waits for its input
                status = ask(socket, "status").stdout
                if ": 2 ranges" in status and status == before:
                    break
                before = status
                time.sleep(0.1)
            answers.append(ask(socket, *command.split()).returncode)
            run.stdin.write("\n")
            run.stdin.flush()
            run.stdout.readline()
        answers += [ask(socket, *words.split()).returncode for words in ("point add nowhere", "frobnicate",
                                                                         "section remove .data")]
        run.stdin.close()
    return run.returncode == 0 and answers == [0, 0, 2, 2, 2] and \
        hits(folder, program) == {"table": (1000, "address")} and not socket.exists() and \
        "there is no run that listens" in ask(socket, "status").stderr and \
        [what for _, what in steps(folder)] == [b"point add table", b"point remove table"]


def points_that_a_removal_leaves(folder, program):
    """Checks that points without a range are reported, to the client and in the report; a forked child has
    the same ones as its parent."""
    socket, log = folder / "socket", folder / "log"
    with subprocess.Popen([COMMAND, "fractal", "run", "-q", "-o", log, *BOTH, "--mode", "points", "--point",
                           "table", "--point", "main", "--point", "even", "--control", socket, "--", program],
                          stdin=subprocess.PIPE, env=ENVIRONMENT) as run:
        for _ in range(200):
            if ": 2 ranges, 3 points" in ask(socket, "status").stdout:
                break
            time.sleep(0.1)
        said = [ask(socket, *command.split()).stdout.strip() for command in (
            "section remove .bss", "point remove table", "section remove .text", "range add 0..1000",
            "section add .text", "range remove 0..1000")]
        run.stdin.close()
    one, two = "1 point, table, is in no range now", "2 points, main and others, are in no range now"
    remedy = "so no hit is logged; add a range that contains "
    told = [answer.split(" (")[0] for answer in said]
    if run.returncode or told != [f"{one}, {remedy}it", "", f"{two}, {remedy}them", "", "", ""]:
        raise AssertionError(str(said))
    (folder / "script").write_text("1us section remove .bss\n")
    trace(folder, folder / "processes", *BOTH, "--point", "table", "--mode", "points", "--follow-forks",
          "--script", folder / "script", arguments=("fork",))
    return re.search(rf"^ +at \S+: section remove \.bss \({one}\)$", report(folder, folder / "processes"),
                     re.MULTILINE)


def points_of_a_program_beside(folder, program):
    """Checks that the second program is traced with its own point, which the first one need not have."""
    trace(folder, program, "--with", program, "--point", "1:table", "--points-only", "--mode", "points")
    events = coretap("fractal", "report", folder / "log", "--elf", program, "--perfetto").stdout
    return hits(folder, program)["1:table"][0] > 100 and \
        set(re.findall(r'"pid":(\d+),"tid"', events)) == {"1"}


def children_and_their_memory(folder, program):
    """Checks that a child has the points of its parent, and its own pages from its first write on. In the log
    each has its own hits; without the option only those of the parent exist."""
    processes = folder / "processes"
    points = ("--point", "table", "--mode", "points", "--points-only")
    trace(folder, processes, *points, arguments=("fork",))
    alone = hits(folder, processes)
    logs = []
    for _ in range(2):
        trace(folder, processes, "--follow-forks", "--truth", folder / "truth", *points, arguments=("fork",))
        logs.append((folder / "log").read_bytes())
    both = hits(folder, processes)
    pages = {}
    events = coretap("fractal", "report", folder / "log", "--elf", processes, "--perfetto").stdout
    for process, page in re.findall(r'"name":"table".*"pid":(\d+).*"pa":"0x([0-9a-f]+)..."', events):
        pages.setdefault(process, set()).add(page)
    return alone == {"table": (1920, "address")} and logs[0] == logs[1] and \
        both == {"table": (1920, "address"), "1:table": (640, "address")} and \
        set(pages) == {"0", "1"} and pages["0"] != pages["1"]


def a_program_in_the_place_of_a_child(folder, program):
    """Checks a child that becomes another program: it continues in the log with its own names and points,
    also through a script, and the log agrees with the cluster. A program for another machine is reported."""
    processes, script = folder / "processes", folder / "starter"
    script.write_text(f"#!{program} --\n")
    script.chmod(0o755)
    options = ("--follow-forks", "--point", "table", "--point", "stages:even", "--mode", "points")
    for started in (program, script):
        trace(folder, processes, "--truth", folder / "truth", *options, arguments=("exec", started),
              given="\n\n\n")
        rows = coretap("fractal", "report", folder / "log", "--elf", processes, "--csv").stdout
        if rows != (folder / "truth").read_text():
            raise AssertionError(f"{started}: the log is not the truth")
        known = hits(folder, processes)
        wanted = {"table": 1280, "1:table": 64, "2:table": 4000}
        if known.pop("2:even")[0] < 2000 or \
                {name: count for name, (count, _) in known.items()} != wanted:
            raise AssertionError(f"{started}: {known}")
        said = report(folder, processes)
        if not re.search(r"process 1 became process 2: /.*stages$", said, re.MULTILINE) or \
                not re.search(r" 2:_int_malloc$", said, re.MULTILINE):
            raise AssertionError(said)
    (folder / "writes.tessla").write_text("in a: Events[Int]\nin b: Events[Int]\nout a\nout b\n")
    seen = coretap("monitor", "-q", "-a", "--spec", folder / "writes.tessla", "--bind",
                   "a=access:table.write", "--bind", "b=access:2:table.write", folder / "log").stdout
    if [len(re.findall(f": {name} = ", seen)) for name in "ab"] != [1280, 4000]:
        raise AssertionError(f"monitor: {seen[:1000]}")
    alone = coretap("fractal", "report", folder / "log", "--process", 2, "--elf", program).stdout
    foreign = trace(folder, processes, *options, arguments=("exec", shutil.which("true")), code=1)
    return re.search(r" _int_malloc$", alone, re.MULTILINE) and \
        "1 of the processes started a program" in foreign.stderr and \
        "1 selections NAME:PLACE name a program that no process started" in foreign.stderr and \
        "became a program that is not traced" in report(folder, processes)


def a_program_in_its_own_place(folder, program):
    """Checks a program that becomes another one, which is traced by the same names where it has them, with
    more programs at once than there are tracers."""
    source, launcher = folder / "again.c", folder / "again"
    source.write_text(AGAIN)
    subprocess.run([COMPILER, "-O1", "-static", "-o", launcher, source], check=True)
    trace(folder, launcher, "--section", ".text", "--symbol", "table", "--point", "table", "--mode", "points",
          "--truth", folder / "truth", arguments=("12", program), given="\n\n\n")
    known = hits(folder, launcher)
    return {name: count for name, (count, _) in known.items()} == \
        {("" if i == 0 else f"{i}:") + "table": 4000 if i == 13 else 64 for i in range(14)} and \
        coretap("fractal", "report", folder / "log", "--elf", launcher, "--csv").stdout == \
        (folder / "truth").read_text()


AGAIN = """
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
volatile int table[64] __attribute__((aligned(64)));
int main(int argc, char **argv)
{
    char left[12];
    for (int i = 0; i < 64; i++)
        table[i] = i;
    if (atoi(argv[1]) % 2) /* as programs do before they start another one */
        syscall(SYS_close_range, 3, ~0u, 0);
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    if (atoi(argv[1]) == 0)
        return execv(argv[2], argv + 2);
    snprintf(left, sizeof left, "%d", atoi(argv[1]) - 1);
    argv[1] = left;
    return execv(argv[0], argv);
}
"""


def is_truth(folder, program):
    """Returns whether the log agrees with the cluster. Events at the same time have no order."""
    rows = coretap("fractal", "report", folder / "log", "--elf", program, "--csv").stdout
    return sorted(rows.splitlines()) == sorted((folder / "truth").read_text().splitlines())


def many_processes_at_once(folder, program):
    """Checks as many traced processes as a log can distinguish; one more is an error that names the limit."""
    source, many = folder / "many.c", folder / "many"
    source.write_text(MANY)
    subprocess.run([COMPILER, "-O1", "-static", "-o", many, source], check=True)
    trace(folder, many, "--follow-forks", "--point", "table", "--mode", "points", "--truth", folder / "truth",
          arguments=("20",))
    known = hits(folder, many)
    if {name: count for name, (count, _) in known.items()} != \
            {("" if i == 0 else f"{i}:") + "table": 64 if i == 0 else 128 for i in range(21)} or \
            not is_truth(folder, many):
        raise AssertionError(str(known))
    refused = coretap("fractal", "run", "-q", "--follow-forks", "--section", ".bss", "-o",
                      folder / "too many", "--", many, "256")
    return refused.returncode == 2 and "process 257 of the run, but a log can have" in refused.stderr \
        and not (folder / "too many").exists()


MANY = """
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int table[64] __attribute__((aligned(64)));
static void touch(void)
{
    for (int i = 0; i < 64; i++)
        table[i] = i;
}
int main(int argc, char **argv)
{
    int wakes[2];
    char c;
    if (argc < 2 || pipe(wakes))
        return 1;
    touch();
    for (int i = atoi(argv[1]); i; i--) {
        if (fork())
            continue;
        close(wakes[1]);
        touch();
        (void)!read(wakes[0], &c, 1); /* until all are there */
        touch();
        return 0;
    }
    close(wakes[1]);
    while (wait(0) > 0)
        continue;
    return 0;
}
"""


def programs_of_32_bits(folder, program):
    """Checks a 32-bit program that forks and becomes a 64-bit one, and a 64-bit child that becomes a 32-bit
    one: each is traced under its own names, and its memory is followed."""
    if not shutil.which(COMPILER_32) or not shutil.which("qemu-arm"):
        print("# SKIP programs of 32 bits: qemu-arm and arm-linux-gnueabihf-gcc are needed")
        return True
    processes, of_32 = folder / "processes", folder / "processes32"
    subprocess.run([COMPILER_32, "-O1", "-static", "-pthread", "-o", of_32, EXAMPLES / "processes.c"],
                   check=True)
    points = ("--follow-forks", "--point", "table", "--mode", "points", "--truth", folder / "truth")
    for first, second, wanted in (
            (of_32, None, {"table": 1920, "1:table": 640}),
            (of_32, of_32, {"table": 1280, "1:table": 64, "2:table": 1920, "3:table": 640}),
            (of_32, processes, {"table": 1280, "1:table": 64, "2:table": 1920, "3:table": 640}),
            (processes, of_32, {"table": 1280, "1:table": 64, "2:table": 1920, "3:table": 640})):
        trace(folder, first, *points, arguments=("exec", second, "fork") if second else ("fork",))
        known = {name: count for name, (count, _) in hits(folder, first).items()}
        if known != wanted or not is_truth(folder, first):
            raise AssertionError(f"{first} {second}: {known}")
    for what in ("threads", "shared", "mremap", "huge"):
        counts = []
        for which in (processes, of_32):
            trace(folder, which, *points, arguments=(what,))
            counts.append({name: told[0] for name, told in hits(folder, which).items()})
            if not is_truth(folder, which):
                raise AssertionError(f"{which} {what}: the log is not the truth")
        if counts[0] != counts[1]:
            raise AssertionError(f"{what}: {counts}")
    return True


def a_child_that_is_killed(folder, program):
    """Checks that what a killed child did is in the log, and so is the child that it had forked."""
    source, killed = folder / "killed.c", folder / "killed"
    wanted = {KILLED: {"table": 64, "1:table": 64, "2:table": 64},
              KILLED_BY_ANOTHER: {"table": 64, "1:table": 64}}
    for text, points in wanted.items():
        source.write_text(text)
        for number, compiler in enumerate((COMPILER, COMPILER_32)):
            if not shutil.which(compiler):
                continue
            subprocess.run([compiler, "-O1", "-static", "-o", killed, source], check=True)
            trace(folder, killed, "--follow-forks", "--point", "table", "--points-only", "--mode", "points")
            known = {name: count for name, (count, _) in hits(folder, killed).items()}
            if known != points:
                raise AssertionError(f"{number}: {known}")
    return True


KILLED = """
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int table[64] __attribute__((aligned(64)));
int main(void)
{
    if (!fork()) {
        const int last = !fork();
        for (int i = 0; i < 64; i++)
            table[i] = i;
        if (!last)
            kill(getpid(), SIGKILL);
        return 0;
    }
    while (wait(0) > 0)
        continue;
    for (int i = 0; i < 64; i++)
        table[i] = i;
    return 0;
}
"""


# The child waits where the plugin does not write its buffer.
KILLED_BY_ANOTHER = """
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int table[64] __attribute__((aligned(64)));
int main(void)
{
    volatile int *done = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const pid_t child = fork();
    if (!child) {
        sigset_t none;
        sigemptyset(&none);
        for (int i = 0; i < 64; i++)
            table[i] = i;
        *done = 1;
        sigwaitinfo(&none, 0);
        return 0;
    }
    while (!*done)
        continue;
    usleep(1000);
    kill(child, SIGKILL);
    while (wait(0) > 0)
        continue;
    for (int i = 0; i < 64; i++)
        table[i] = i;
    return 0;
}
"""


def shared_memory_of_each_process(folder, program):
    """Checks that memory which two processes share with their own children is not the same memory."""
    source, each = folder / "each.c", folder / "each"
    source.write_text(EACH)
    subprocess.run([COMPILER, "-O1", "-static", "-o", each, source], check=True)
    trace(folder, each, "--follow-forks", "--point", "table", "--points-only", "--mode", "points")
    rows = coretap("fractal", "report", folder / "log", "--elf", each, "--perfetto").stdout
    pages = {}
    for process, page in re.findall(r'"name":"table".*"pid":(\d+).*"pa":"0x([0-9a-f]+)..."', rows):
        pages.setdefault(process, set()).add(page)
    return set(pages) == {"0", "1"} and not pages["0"] & pages["1"]


EACH = """
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int table[1024] __attribute__((aligned(4096)));
int main(void)
{
    const int child = fork();
    if (mmap((void *)table, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
        table)
        return 1;
    for (int i = 0; i < 1024; i++)
        table[i] = i;
    return child ? wait(0) != child : 0;
}
"""


def memory_of_all_kinds(folder, program):
    """Checks threads, memory at two addresses, memory that moves, huge pages: the log agrees with the
    cluster."""
    processes = folder / "processes"
    for what in ("threads", "shared", "mremap", "huge"):
        trace(folder, processes, "--truth", folder / "truth", arguments=(what,))
        if coretap("fractal", "report", folder / "log", "--elf", processes,
                   "--csv").stdout != (folder / "truth").read_text():
            raise AssertionError(f"{what}: the log is not the truth")
    return True


def shared_memory_that_grows(folder, program):
    """Checks that memory which mremap moves and enlarges shows the same file, even where nothing was touched
    before."""
    source, grows = folder / "grows.c", folder / "grows"
    source.write_text(GROWS)
    subprocess.run([COMPILER, "-O1", "-static", "-o", grows, source], check=True)
    for growth in ("in place", "elsewhere"):
        trace(folder, grows, "--range", "5500000000..5600000000", arguments=(folder / "file", growth))
        rows = [row.split(",") for row in coretap("fractal", "report", folder / "log", "--elf", grows,
                                                  "--csv").stdout.splitlines()[1:]]
        # page of the file -> its frames
        lines = {n: {row[2][:-3] for row in rows
                     if int(row[2][-3:], 16) == 0x40 * (n + 1) and row[6] != "[stack]"} for n in (2, 8)}
        if any(len(frames) != 1 for frames in lines.values()) or lines[2] == lines[8]:
            raise AssertionError(f"{growth}: {lines}")
    return True


# Each page is written in another line, so that physical addresses identify it.
GROWS = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#define PAGE 4096
static volatile char others[3 << 20];
static void touch(volatile char *pages)
{
    for (int n = 2; n <= 8; n += 6)
        pages[n * PAGE + 64 * (n + 1)]++;
    for (unsigned i = 0; i < sizeof others; i += 64)
        others[i]++;
}
int main(int argc, char **argv)
{
    const int all = PROT_READ | PROT_WRITE, fd = open(argv[1], O_CREAT | O_RDWR, 0600);
    if (ftruncate(fd, 16 * PAGE))
        return 1;
    volatile char *whole = mmap(0, 16 * PAGE, all, MAP_SHARED, fd, 0);
    char *room = mmap(0, 32 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *part = mmap(room, 4 * PAGE, all, MAP_SHARED | MAP_FIXED, fd, 0);
    if (argv[2][0] == 'i')
        munmap(room + 4 * PAGE, 28 * PAGE);
    volatile char *grown = mremap(part, 4 * PAGE, 16 * PAGE, MREMAP_MAYMOVE);
    if (grown == MAP_FAILED)
        return 1;
    touch(whole);
    touch(grown);
    touch(whole);
    touch(grown);
    return 0;
}
"""


def a_page_that_moves(folder, program):
    """Checks that an address keeps its name when its page gets another frame."""
    nm = subprocess.run(["aarch64-linux-gnu-nm", program], capture_output=True, text=True, check=True).stdout
    address = re.search(r"^([0-9a-f]+) . table$", nm, re.MULTILINE).group(1)
    (folder / "script").write_text(f"150us page move {address}\n")
    trace(folder, program, "--point", "table", "--points-only", "--mode", "points", "--script",
          folder / "script", "--truth", folder / "truth", given="\n\n\n")
    rows = [row.split(",") for row in coretap("fractal", "report", folder / "log", "--elf", program,
                                              "--csv").stdout.splitlines()[1:]]
    frames = [row[2][:-3] for row in rows]
    return hits(folder, program) == {"table": (4000, "address")} and len(set(frames)) == 2 and \
        frames == sorted(frames, key=frames.index)


def passive_is_complete_where_walks_show(folder, program):
    """Checks the paper's claim: passive mode logs every miss if the port sees the walks, else nearly none.
    The mode of the paper's measurements, without points, logs every miss on either cluster."""
    (folder / "walks").write_text("walks = 1\n")
    logged = {}
    for mode in ("passive", "points"):
        for options in ((), ("--config", folder / "walks")):
            trace(folder, program, "--mode", mode, "--truth", folder / "truth", *options)
            rows = coretap("fractal", "report", folder / "log", "--elf", program, "--csv").stdout
            logged[mode, bool(options)] = (rows == (folder / "truth").read_text(), rows.count("\n"))
    return [whole for whole, _ in logged.values()] == [False, True, True, True] and \
        logged["passive", False][1] * 5 < logged["passive", True][1]


TESTS = [both_ranges_are_traced, an_object_is_all_its_lines, functions_of_one_line,
         bad_selections_name_the_limit, a_script_exchanges_points, a_command_before_the_first_event,
         a_script_goes_by_the_thread_that_runs, bad_scripts_are_refused,
         a_client_exchanges_points, points_that_a_removal_leaves, points_of_a_program_beside,
         children_and_their_memory,
         a_program_in_the_place_of_a_child, a_program_in_its_own_place, many_processes_at_once,
         programs_of_32_bits, a_child_that_is_killed, shared_memory_of_each_process, memory_of_all_kinds,
         shared_memory_that_grows,
         a_page_that_moves, passive_is_complete_where_walks_show]


def main():
    if tap.lacks("qemu-aarch64", COMPILER):
        return tap.skip_all(tap.lacks("qemu-aarch64", COMPILER) + " (tools/install-deps arm)")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "stages"
        subprocess.run([COMPILER, "-O1", "-static", "-o", program, EXAMPLES / "stages.c"], check=True)
        subprocess.run([COMPILER, "-O1", "-static", "-pthread", "-o", folder / "processes",
                        EXAMPLES / "processes.c"], check=True)
        for test in TESTS:
            tap.case(test.__name__.replace("_", " "), None, lambda test=test: bool(test(folder, program)))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
