#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the output of coretap record decodes to exactly what the program executed.

usage: run_record.py COMMAND PLUGIN COMPARE EXAMPLES [OCSD]

With OCSD (ocsd_compare.c) OpenCSD must give equal elements.

CT_LONG=1 runs every program with every set of options; without it, a few of them."""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, PLUGIN, COMPARE, EXAMPLES = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
OCSD = sys.argv[5] if len(sys.argv) > 5 else None
LONG = os.environ.get("CT_LONG") == "1"
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN}
CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
DEBIAN = pathlib.Path(os.environ.get("CT_ARM_PROGRAMS") or f"{CACHE}/coretap/arm-programs")
COMPILERS = {"arm64": "aarch64-linux-gnu-", "armhf": "arm-linux-gnueabihf-"}

# Sets of options, for all programs …
SETS = {
    "plain": [],
    "broadcast": ["--branch-broadcast"],
    "cycles": ["--cycle-count=4"],
    "times": ["--cycle-count", "--timestamps=500"],
    "stack": ["--return-stack", "--sync-period", "8"],
    "identifiers": ["--context-id", "--vmid"],
    "events": ["--events", "50", "--seed", "7"],
    "overflow": ["--overflow", "3000", "--return-stack", "--cycle-count", "--seed", "3"],
    "framed": ["--framed", "--return-stack"],
    "ids": ["--ids", "2a,3,5f,12,13,14", "--padding", "40"],
    "points": ["--start", "main", "--range", "0..410000", "--range", "5500000000..5500001000",
               "--range", "40000000..40001000"],
    "contexts": ["--threads", "contexts", "--return-stack"],
    "limit": ["--max-instructions", "20000"],
    "all": ["--framed", "--branch-broadcast", "--return-stack", "--cycle-count=2", "--timestamps=200",
            "--events", "30", "--overflow", "5000", "--context-id", "--vmid", "--sync-period", "9"],
}
# … and options that each set is combined with on its architecture.
PROTOCOLS = {"arm64": ["etm4", "ete"], "armhf": ["etm4", "ptm"]}
FEW = {"plain", "contexts", "all"}


class Example:
    """A program of the project's own."""

    def __init__(self, source, *flags, arch="arm64", arguments=()):
        self.source, self.flags, self.arch, self.arguments = source, flags, arch, arguments
        self.name = " ".join([pathlib.Path(source).stem, arch, *flags])
        self.env = {}

    def command(self, folder):
        """Returns the command line, or None when the program cannot be built."""
        path = folder / self.name.replace(" ", "_")
        compiler = COMPILERS[self.arch] + ("g++" if self.source.endswith(".cc") else "gcc")
        if not shutil.which(compiler):
            return None
        subprocess.run([compiler, "-O2", "-o", path, EXAMPLES / self.source, *self.flags, "-lpthread"],
                       check=True)
        return [path, *self.arguments]


class Debian:
    """A program that tools/fetch-arm-programs downloaded."""

    def __init__(self, arch, path, *arguments):
        self.arch, self.path, self.arguments = arch, path, arguments
        self.name = " ".join([pathlib.Path(path).name, *arguments[:1], arch])
        self.env = {"QEMU_LD_PREFIX": str(DEBIAN / arch)}

    def command(self, folder):
        path = DEBIAN / self.arch / self.path
        return [path,
                *(a.replace("TEXT", str(folder / "text")) for a in self.arguments)] if path.exists() else None


def programs_of(arch):
    if arch == "arm64":
        kinds = [("-static",), ()]
    else:
        kinds = [("-static", "-marm"), ("-static", "-mthumb"), ("-mthumb",)]
    for kind in kinds:
        yield Example("primes.c", *kind, arch=arch, arguments=("500",))
        yield Example("signals.c", *kind, arch=arch, arguments=("4" if LONG else "1",))
        yield Example("threads.c", *kind, arch=arch)
        yield Example("rewrites.c", *kind, arch=arch)
        yield Example("exceptions.cc", *kind, arch=arch, arguments=("20" if LONG else "3",))
    yield Example("generated.c", *kinds[0], arch=arch)
    busybox = "bin/busybox"
    yield Debian(arch, busybox, "sha256sum", "TEXT")
    yield Debian(arch, busybox, "md5sum", "TEXT")
    yield Debian(arch, busybox, "sort", "TEXT")
    yield Debian(arch, busybox, "gzip", "-c", "TEXT")
    yield Debian(arch, busybox, "awk", "{ n += length($2) } END { print n }", "TEXT")
    yield Debian(arch, busybox, "sed", "s/[aeiou]/<&>/g", "TEXT")
    yield Debian(arch, busybox, "grep", "-c", "a.*e", "TEXT")
    yield Debian(arch, busybox, "tar", "-cf", "/dev/null", "TEXT")
    yield Debian(arch, busybox, "sh", "-c", "i=0; while [ $i -lt 50 ]; do i=$((i+1)); done; echo $(echo $i)")
    yield Debian(arch, busybox, "od", "-c", "TEXT")
    yield Debian(arch, busybox, "wc", "TEXT")
    yield Debian(arch, busybox, "uniq", "TEXT")
    yield Debian(arch, "bin/gzip", "-c", "TEXT")
    yield Debian(arch, "bin/bzip2", "-c", "TEXT")
    yield Debian(arch, "usr/bin/mawk", "{ a[$1]++ } END { for (k in a) n++; print n }", "TEXT")
    yield Debian(arch, "usr/bin/sqlite3", ":memory:",
                 "create table t(a, b); insert into t values (1, 'x'), (2, 'y'); select sum(a), max(b) from "
                 "t;")


# QEMU 7.2 itself rarely aborts when a program writes over its code (once in 280 recordings): the function
# that calls plugins for memory accesses finds an invalid list. Such a program is recorded again, and counted.
QEMU_ABORTS = b"plugins/core.c:473:qemu_plugin_vcpu_mem_cb"
# OpenCSD reads again where it could not (ocsd_compare.c, says_again).
SAYS_AGAIN = re.compile(r"; (\d+) times OpenCSD says of an address again")
# Where memory is missing both decoders continue after a wrong return, in what is no code (ocsd_compare.c,
# contradicts).
NOT_COMPARED = re.compile(r"; (\d+) behind contradictions are not compared")
counted = {"QEMU aborted by itself and was started again": 0,
           "OpenCSD said again that it cannot read an address": 0,
           "lines behind contradictions were not compared with OpenCSD's": 0}


def record(folder, command, *options, env=()):
    for _ in range(3):
        result = subprocess.run([COMMAND, "record", "-q", "-o", folder, "--truth", f"{folder}.truth",
                                 *options, "--",
                                 *map(str, command)], capture_output=True, env={**ENV, **dict(env)},
                                check=False, timeout=600)
        if QEMU_ABORTS not in result.stderr:
            break
        counted["QEMU aborted by itself and was started again"] += 1
        shutil.rmtree(folder, ignore_errors=True)
    return result


def path_is_truth_alone(folder, command, options, env):
    """Returns '' or what is wrong."""
    result = record(folder, command, *options, env=env)
    if result.returncode != 0:
        return f"exit code {result.returncode}: {result.stderr}"
    with subprocess.Popen([COMMAND, "list", "-q", "--elements", folder], stdout=subprocess.PIPE) as lister:
        ids = options[options.index("--ids") + 1].split(",") if "--ids" in options else []
        check = subprocess.run([COMPARE, f"{folder}.truth", *ids], stdin=lister.stdout, capture_output=True,
                               text=True, check=False)
    os.unlink(f"{folder}.truth")
    return check.stdout if check.returncode else whole(folder)


def whole(folder):
    """Returns '' or what is missing in an undamaged recording: only overflows may lose trace, and nothing
    contradicts."""
    got = subprocess.run([COMMAND, "stats", "--level", "flow", "-q", folder], capture_output=True, text=True,
                         check=False)
    values = dict(line.split("=", 1) for line in got.stdout.splitlines() if "=" in line)
    fine = values.get("contradictions") == "0" and values["gaps"] == values["overflows"]
    return "" if fine else f"stats: {got.stdout}{got.stderr}"


def path_is_truth(folder, command, options, env):
    """… and OpenCSD agrees."""
    why = path_is_truth_alone(folder, command, options, env)
    if why or not OCSD:
        return why
    check = subprocess.run([OCSD, folder], capture_output=True, text=True, check=False)
    for what, pattern in (("OpenCSD said again that it cannot read an address", SAYS_AGAIN),
                          ("lines behind contradictions were not compared with OpenCSD's", NOT_COMPARED)):
        counted[what] += sum(map(int, pattern.findall(check.stdout)))
    return "" if check.returncode == 0 else check.stdout


def output_is_its_own(folder, path):
    plain = subprocess.run(["qemu-aarch64", path, "500"], capture_output=True, check=False)
    got = subprocess.run([COMMAND, "record", "-q", "-o", folder, "--", path, "500"], capture_output=True,
                         env=ENV, check=False)
    return "" if (plain.returncode, plain.stdout, plain.stderr) == (got.returncode, got.stdout, got.stderr) \
        else f"{plain} {got}"


def names_are_known(folder, path):
    """Checks that the capture names the program, moved or not, so nobody has to."""
    moved = path.with_name("primes_moved")
    subprocess.run([COMPILERS["arm64"] + "gcc", "-O2", "-pie", "-o", moved, EXAMPLES / "primes.c"],
                   check=True)
    for program in (path, moved):
        record(folder, [program, "500"], "--cycle-count")
        for command in (["cover"], ["profile"], ["timing"], ["watch", "--at", "main"]):
            got = subprocess.run([COMMAND, command[0], "-q", *command[1:], folder], capture_output=True,
                                 text=True, check=False)
            what = str(program) if command == ["cover"] else "main"
            if got.returncode != 0 or what not in got.stdout:
                return f"{program}: {got}"
        shutil.rmtree(folder)
    return ""


def libraries_are_named(folder, path):
    """Checks that the capture names what else ran: interpreter and libraries. One that is gone or has changed
    is reported."""
    moved = path.with_name("primes_libraries")
    subprocess.run([COMPILERS["arm64"] + "gcc", "-O2", "-pie", "-Wl,--build-id", "-o", moved,
                    EXAMPLES / "primes.c"],
                   check=True)
    record(folder, [moved, "500"])
    cover = subprocess.run([COMMAND, "cover", "-q", "--functions", folder], capture_output=True, text=True,
                           check=False)
    named = [line for line in cover.stdout.splitlines() if line.startswith("/")]
    if cover.returncode != 0 or len(named) != 3 or named[0] != str(moved.resolve()) or len({*named}) != 3:
        return f"{named} {cover}"
    ran = [line.split() for line in cover.stdout.splitlines() if line.endswith(" __libc_start_main")]
    if not ran or ran[0][0] != "1":
        return f"__libc_start_main ran once, not {ran}"
    shutil.copy(moved, moved.with_name("copy"))
    for given in (str(moved), "libc.so.6", f"{moved.with_name('copy')}@5500000000"):
        more = subprocess.run([COMMAND, "cover", "-q", "--elf", given, folder], capture_output=True,
                              text=True, check=False)
        also = [line for line in more.stdout.splitlines() if line.startswith("/")]
        if more.returncode != 0 or len(also) != 3:
            return f"--elf {given}: {also} {more.stderr}"
    moved.rename(moved.with_name("elsewhere"))
    for what in ("No such file", "its build id differs"):
        said = subprocess.run([COMMAND, "info", "-q", folder], capture_output=True, text=True, check=False)
        if what not in said.stderr or "--elf" not in said.stderr or f"missing: {moved}" not in said.stdout:
            return f"{what}: {said}"
        subprocess.run([COMPILERS["arm64"] + "gcc", "-O1", "-pie", "-Wl,--build-id", "-o", moved,
                        EXAMPLES / "primes.c"],
                       check=True)
    return ""


def stream_is_live(folder, path):
    """Checks that what is read from the pipe while it is written equals a capture of the same run."""
    pipe = f"{folder}.pipe"
    os.mkfifo(pipe)
    with subprocess.Popen([COMMAND, "record", "-q", "-o", folder, "--stream", pipe, "--", path, "500"],
                          env=ENV, stdout=subprocess.PIPE) as recorder:
        with open(pipe, "rb") as stream:
            live = subprocess.run([COMMAND, "stats", "-q", "--config", folder / "live.ini", "-"],
                                  stdin=stream, capture_output=True, text=True, check=False).stdout
        recorder.communicate()
    shutil.rmtree(folder)
    os.unlink(pipe)
    record(folder, [path, "500"], "--framed")
    later = subprocess.run([COMMAND, "stats", "-q", folder], capture_output=True, text=True,
                           check=False).stdout
    count = [text.split("instructions=")[1].split()[0] for text in (live, later)]
    return "" if count[0] == count[1] and int(count[0]) > 1000 else f"{count}"


def same_trace_again(folder, path, *options):
    """Checks that program and seed determine the trace, however the program was watched."""
    traces = []
    for extra in [[], ["--each"]]:
        result = record(folder, [path], "--cycle-count", "--timestamps", "--overflow", "2000", *options,
                        *extra)
        if result.returncode != 0:
            return result.stderr
        traces.append((folder / "trace_0.bin").read_bytes())
        shutil.rmtree(folder)
    return "" if traces[0] == traces[1] and len(traces[0]) > 1000 else "the traces differ"


CROWD = '''#include <pthread.h>
static pthread_mutex_t all_run = PTHREAD_MUTEX_INITIALIZER;
static void *wait(void *user)
{
    pthread_mutex_lock(&all_run);
    pthread_mutex_unlock(&all_run);
    return user;
}
int main(void)
{
    pthread_t threads[560];
    pthread_attr_t small;
    int count = 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_mutex_lock(&all_run);
    while (count < 560 && !pthread_create(&threads[count], &small, wait, 0))
        count++;
    pthread_mutex_unlock(&all_run);
    while (count)
        pthread_join(threads[--count], 0);
    return 0;
}
'''


def a_crowd_is_told(folder):
    """Checks that threads beyond those that the recorder can follow at a time are missing, and counted in a
    message."""
    with tempfile.TemporaryDirectory() as name:
        source, program = pathlib.Path(name, "crowd.c"), pathlib.Path(name, "crowd")
        source.write_text(CROWD)
        subprocess.run(["aarch64-linux-gnu-gcc", "-static", "-pthread", "-o", program, source], check=True)
        result = record(folder, [program], "--threads", "contexts")
    return "" if b"threads are not in the trace" in result.stderr else f"it said: {result.stderr}"


FORKS = """#include <sys/wait.h>
#include <unistd.h>
int in_child(void) { return write(1, "child\\n", 6) == 6 ? 7 : 1; }
int in_parent(int child) { int status; return waitpid(child, &status, 0) < 0 ? 1 : WEXITSTATUS(status); }
int main(void)
{
    const int child = fork();
    if (!child)
        _exit(in_child());
    return in_parent(child);
}
"""
BUSY = """#define _GNU_SOURCE
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
static char stack[65536] __attribute__((aligned(16)));
static volatile int done;
static int works(void *user)
{
    syscall(SYS_gettid); /* what it traced is handed over here */
    done = 1;
    syscall(SYS_exit, 0);
    return user != 0;
}
int main(void)
{
    clone(works, stack + sizeof stack, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
          CLONE_SYSVSEM, 0);
    while (!done)
        __asm__ volatile(".rept 400\\n fsqrt d0, d1\\n .endr" : : : "v0"); /* few blocks, in a long time */
    return 0;
}
"""


def main_is_first(folder):
    """Checks that the main thread has core 0, although trace of another one comes before its own."""
    with tempfile.TemporaryDirectory() as name:
        source, program = pathlib.Path(name, "busy.c"), pathlib.Path(name, "busy")
        source.write_text(BUSY)
        subprocess.run(["aarch64-linux-gnu-gcc", "-static", "-o", program, source], check=True)
        record(folder, [program])
        watch = [COMMAND, "watch", "-q", folder, "--at", "entry:main", "--at", "entry:works", "--core"]
        cores = [subprocess.run([*watch, core], capture_output=True, text=True).stdout
                 for core in ("cpu_0", "cpu_1")]
    came = ["".join(row.split("\t")[8] + " " for row in text.splitlines() if row[0] != "#") for text in cores]
    return "" if came == ["entry:main ", "entry:works "] else f"of both cores: {came}"


def child_is_left_out(folder):
    """Checks that a forked child is not in the trace; its output and exit code are kept."""
    with tempfile.TemporaryDirectory() as name:
        source, program = pathlib.Path(name, "forks.c"), pathlib.Path(name, "forks")
        source.write_text(FORKS)
        subprocess.run(["aarch64-linux-gnu-gcc", "-static", "-o", program, source], check=True)
        ended = record(folder, [program])
        got = subprocess.run([COMMAND, "cover", "-q", "--functions", folder], capture_output=True, text=True)
    runs = {line.split()[-1]: line.split()[0] for line in got.stdout.splitlines() if line.strip()}
    fine = runs.get("in_child") == "0" and runs.get("in_parent") == "1"
    return "" if fine and ended.returncode == 7 and b"child\n" in ended.stdout else f"{ended} {runs}"


def contexts_are_told_again(folder, path):
    """Checks that identifiers come after each synchronisation, so that a decoder can begin there."""
    record(folder, [path, "300"], "--context-id", "--vmid", "--sync-period", "9")
    got = subprocess.run([COMMAND, "list", "-q", "--packets", folder], capture_output=True, text=True,
                         check=True)
    syncs = told = 0
    for line in got.stdout.splitlines():
        syncs += " i_trace_info " in line
        told += told < syncs and " ctxt=" in line and " vmid=" in line
    return "" if told == syncs > 2 else f"{told} contexts behind {syncs} synchronisations"


def truth_is_qemus(folder, path):
    """Checks that QEMU's own log of single instructions has the same addresses."""
    log = f"{folder}.log"
    subprocess.run(["qemu-aarch64", "-singlestep", "-d", "exec,nochain", "-D", log, path, "300"], check=True,
                   capture_output=True, env=ENV)
    with open(log, encoding="ascii") as lines:
        want = [int(line.split("[")[1].split("/")[1], 16) for line in lines if line.startswith("Trace")]
    record(folder, [path, "300"])
    got = []
    with open(f"{folder}.truth", encoding="ascii") as lines:
        for line in lines:
            fields = line.split()
            got.extend(range(int(fields[4], 16), int(fields[5], 16), 4))
    return "" if got == want and len(got) > 10000 else f"{len(got)} instructions, QEMU has {len(want)}"


def is_quick(program, first, what, last):
    """Returns whether a combination is in the short tier: every set once per architecture, a few with both
    protocols; for other programs the set with the most options. When not all cases run, the architectures
    share the sets, except for those few."""
    if not tap.WHOLE and what not in FEW:
        return first and last and list(SETS).index(what) % 2 == program.name.startswith("primes arm64")
    if first:
        return last or what in FEW
    return last and (what == "all" or what == "contexts" and program.name.startswith("threads"))


def matrix(folder):
    """Returns the names of tests with what runs them, or a text with the reason why they cannot run."""
    capture = folder / "capture"
    text = "".join(f"{i * 7919 % 1000} line {'abcdefghij'[i % 10:]} {'end' * (i % 5)}\n" for i in range(200))
    (folder / "text").write_text(text, encoding="ascii")
    for arch, protocols in PROTOCOLS.items():
        for program in programs_of(arch):
            first = program.name in ("primes arm64 -static", "primes armhf -static -mthumb")
            if not LONG and not first and not (isinstance(program, Example) and "-static" in program.flags):
                continue
            command = program.command(folder)
            if not command:
                yield program.name, "not there (tools/install-deps arm, tools/fetch-arm-programs)"
                continue
            for what, options in SETS.items():
                if what == "points" and not isinstance(program, Example):
                    continue # no symbols
                check = path_is_truth if LONG or what in FEW else path_is_truth_alone
                for protocol in protocols:
                    if LONG or is_quick(program, first, what, protocol == protocols[-1]):
                        yield f"{program.name}: {protocol} {what}", \
                            lambda f=check, c=command, o=["--protocol", protocol,
                                                          *options], e=program.env: f(capture, c, o, e)


def machine_boots(folder):
    """Records the first 150 million instructions of a kernel on two processors, with timer interrupts and
    code that the kernel changes. Only those changes and calls of the firmware, which is not there, leave
    gaps in the trace."""
    kernel = sorted((DEBIAN / "arm64/boot").glob("vmlinuz-*"))[-1]
    command = ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a53", "-smp", "2", "-m", "512", "-nic",
               "none",
               "-nographic", "-no-reboot", "-kernel", kernel, "-append", "console=ttyAMA0 nokaslr panic=-1"]
    why = path_is_truth_alone(folder, command,
                              ["--system", "--context-id", "--return-stack", "--max-instructions",
                               "150000000"], {})
    if why:
        return why
    begins, calls, interrupts = 0, 0, 0
    with subprocess.Popen([COMMAND, "list", "-q", "--elements", folder], stdout=subprocess.PIPE) as lister, \
            subprocess.Popen(["grep", "-E", " trace_on | exception "], stdin=lister.stdout,
                             stdout=subprocess.PIPE, text=True) as marks:
        for line in marks.stdout:
            begins += " trace_on " in line
            calls += " exception exc=2 " in line
            interrupts += " exception exc=e " in line
    pieces = (folder / "trace.ini").read_text(encoding="ascii").count("[coretap.piece")
    cores = len(list(folder.glob("trace_*.bin")))
    if interrupts > 100 and begins <= cores + calls + pieces:
        return ""
    return (f"{begins} beginnings of trace for {cores} cores, {calls} calls, {pieces} pieces; "
            f"{interrupts} interrupts")


def machine_of_a32(folder):
    """Checks a Cortex-A15 of either QEMU that ends itself by a semihosting call: three instructions behind
    the four by which QEMU begins."""
    kernel = folder.with_name("exit.bin")
    kernel.write_bytes(struct.pack("<4I", 0xe3a00018, 0xe59f1000, 0xef123456, 0x20026))
    for command in [c for c in ["qemu-system-arm", "qemu-system-aarch64"] if shutil.which(c)]:
        machine = [command, "-M", "virt", "-cpu", "cortex-a15", "-nic", "none", "-nographic", "-monitor",
                   "none", "-serial", "none", "-semihosting", "-kernel", kernel]
        run = subprocess.run([COMMAND, "record", "--system", "-o", folder, "--", *machine],
                             capture_output=True, text=True, timeout=300, check=False)
        if run.returncode or " 7 instructions in " not in run.stderr:
            return f"{command}: exit code {run.returncode}: {run.stderr}"
        shutil.rmtree(folder, ignore_errors=True)
    return ""


def t32_of_a64_is_refused(folder):
    """Checks a hypervisor on a Cortex-A53 whose guest is T32 at EL1: recording ends, and the message says
    what can be recorded."""
    kernel = folder.with_name("t32.bin")
    # MSR HCR_EL2, XZR; MOV X0, #0x33; MSR SPSR_EL2, X0; ADR X0, 0x1a; MSR ELR_EL2, X0; ERET; -; at 0x1a in
    # T32: NOP; B .
    kernel.write_bytes(struct.pack("<6I4H", 0xd51c111f, 0xd2800660, 0xd51c4000, 0x50000060, 0xd51c4020,
                                   0xd69f03e0, 0, 0xbf00, 0xe7fe, 0))
    with subprocess.Popen([COMMAND, "record", "--system", "-o", folder, "--", "qemu-system-aarch64", "-M",
                           "virt,virtualization=on", "-cpu", "cortex-a53", "-nic", "none", "-nographic",
                           "-monitor", "none", "-serial", "none", "-kernel", kernel],
                          stderr=subprocess.PIPE, text=True) as recorder:
        told = recorder.stderr.readline()
        recorder.terminate()
    return "" if "at EL1 of a processor for A64, where only A64 is recorded" in told else told


def main():
    missing = tap.lacks("qemu-aarch64", COMPILERS["arm64"] + "gcc")
    if missing:
        return tap.skip_all(f"{missing} (tools/install-deps arm)")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        capture = folder / "capture"
        tests = list(matrix(folder))
        primes = folder / "primes_arm64_-static"
        tests += [("output and exit code are the program's", lambda: output_is_its_own(capture, primes)),
                  ("names are known", lambda: names_are_known(capture, primes)),
                  ("libraries are named", lambda: libraries_are_named(capture, primes)),
                  ("a stream is live", lambda: stream_is_live(capture, primes)),
                  ("the same trace again", lambda: same_trace_again(capture, primes)),
                  ("another seed", lambda: same_trace_again(capture, primes, "--seed", "5")),
                  ("contexts are told again", lambda: contexts_are_told_again(capture, primes)),
                  ("a forked child is left out", lambda: child_is_left_out(capture)),
                  ("the main thread is first", lambda: main_is_first(capture)),
                  ("the truth is what QEMU logs", lambda: truth_is_qemus(capture, primes)),
                  ("more threads than are followed", lambda: a_crowd_is_told(capture)),
                  ("a machine of A32", lambda: machine_of_a32(capture))]
        if shutil.which("qemu-system-aarch64"):
            tests.append(("T32 at EL1 of an A64 processor is refused",
                          lambda: t32_of_a64_is_refused(capture)))
        if LONG:
            there = shutil.which("qemu-system-aarch64") and list((DEBIAN / "arm64/boot").glob("vmlinuz-*"))
            tests.append(("a machine boots", (lambda: machine_boots(capture)) if there else
                          "no kernel or no qemu-system-aarch64 (tools/install-deps arm, "
                          "tools/fetch-arm-programs)"))
        if not OCSD:
            tests.append(("OpenCSD's elements", "libopencsd is missing (Debian: libopencsd-dev)"))
        for what, test in tests:
            if isinstance(test, str):
                tap.skip(what, test)
            else:
                tap.told(what, test())
            shutil.rmtree(capture, ignore_errors=True)
        for what, times in counted.items():
            print(f"# {what}: {times} times")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
