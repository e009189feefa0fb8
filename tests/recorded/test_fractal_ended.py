#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a run of coretap fractal ended from outside leaves a complete log. Prints TAP.

usage: test_fractal_ended.py COMMAND PLUGIN

Programs that do not end by themselves are traced, and the command gets a signal: it ends like a recording,
with everything that the cluster saw until then in the log, and none of the programs is left running."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND = os.path.abspath(sys.argv[1])
ENV = {**os.environ, "CORETAP_ACCESS_PLUGIN": os.path.abspath(sys.argv[2])}
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
LINES = (2 << 20) // 64 - 16  # lines of an array larger than the caches, without a few that are still cached

HEAD = """
#include <signal.h>
#include <unistd.h>
volatile char field[2 << 20], late[64 << 10];
static void fill(void)
{
    for (int round = 0; round < 2; round++) /* first it is zeroed in the caches */
        for (unsigned at = 0; at < sizeof field; at += 64)
            field[at] = 1;
}
static void touch(void)
{
    for (unsigned at = 0; at < sizeof late; at += 64)
        late[at] = 1;
}
static void say(void)
{
    (void)!write(1, "ready\\n", 6);
}
"""
PROGRAMS = {
    "sleeps": "int main(void) { fill(); say(); for (;;) pause(); }",
    "quiet": "int main(void) { for (;;) pause(); }",
    "loops": "int main(void) { for (;;) field[0]++; }",
    "busy": "int main(void) { fill(); say(); for (;;) field[0]++; }",
    # more than its pipe holds while the run waits for another program
    "much": "int main(void) { fill(); say(); for (int n = 0; n < 20; n++) fill(); for (;;) pause(); }",
    "stubborn": "int main(void) { signal(SIGTERM, SIG_IGN); fill(); say(); for (;;) pause(); }",
    # The log includes what the program does after the signal. That is little, because it is killed after two
    # seconds.
    "handles": "static void end(int n) { (void)n; touch(); _exit(7); }\n"
               "int main(void) { signal(SIGTERM, end); touch(); fill(); say(); for (;;) pause(); }",
    # the run waits for the child, or does not
    "parent": "int main(void) { if (fork()) for (;;) pause(); fill(); say(); for (;;) pause(); }",
    "leaves": "int main(void) { if (fork()) return 5; fill(); say(); for (;;) pause(); }",
    # a grandchild, which has a copy of the program's pipe
    "grandparent":
        "int main(void) { fork(); if (fork()) for (;;) pause(); fill(); say(); for (;;) pause(); }",
}


def compile_all(folder):
    for name, text in PROGRAMS.items():
        source = folder / f"{name}.c"
        source.write_text(HEAD + text)
        subprocess.run([TOOLS[0], "-O1", "-static", "-w", "-o", folder / name, source], check=True)


def left_behind(folder, patience=300):
    """Returns the processes that still run a program of the folder, waiting for killed ones to disappear."""
    end = time.monotonic() + patience
    while True:
        found = []
        for about in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = about.read_bytes()
            except OSError:
                continue
            if os.fsencode(folder) in words and b"qemu" in words:
                found.append(int(about.parent.name))
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.05)


def ended(folder, program, number, *options):
    """Runs a program and sends a signal once it is ready. Returns exit code, messages and output."""
    # pylint: disable-next=consider-using-with
    run = subprocess.Popen([COMMAND, "fractal", *map(str, options), "--", str(folder / program)], text=True,
                           env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    run.stdout.readline()
    run.send_signal(number)
    try:
        out, said = run.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        run.kill()
        out, said = None, "it did not end"
    left = left_behind(folder)
    for process in left:
        os.kill(process, signal.SIGKILL)
    if out is None:
        run.communicate()
    return run.returncode, said + (f" left: {left}" if left else ""), out


def report(log, program):
    done = subprocess.run([COMMAND, "fractal", "report", "--csv", "--elf", program, log], text=True,
                          capture_output=True, check=False)
    return done.stdout if done.returncode == 0 and not done.stderr else f"{done.returncode}: {done.stderr}"


def check_log(folder, name, program, number, code, *options, late=0):
    log, truth = folder / "log", folder / "truth"
    log.unlink(missing_ok=True)
    got, said, _ = ended(folder, program, number, "run", "-q", "-o", log, "--truth", truth, *options)
    logged = report(log, folder / program)
    misses, after = (sum(f",{array}" in line for line in logged.splitlines()) for array in ("field", "late"))
    expected = [f"coretap: the traced program was terminated by signal {code - 128}"] if code > 128 else []
    tap.check(f"{name}: the exit code, and the message", got == code and said.splitlines() == expected,
              f"{got} {said}")
    tap.check(f"{name}: the log has what the cluster saw", misses >= LINES and after >= late and
              (options or truth.read_text() == logged), f"{misses} {after} {logged[-300:]}")


def check_not_followed(folder):
    """Checks that a child that is not followed continues, and that the run does not wait for it."""
    try:
        code = subprocess.run([COMMAND, "fractal", "run", "-q", "-o", folder / "log", "--",
                               folder / "leaves"], env=ENV,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=300, check=False).returncode
    except subprocess.TimeoutExpired:
        code = "it did not end"
    left = left_behind(folder, 0)
    for process in left:
        os.kill(process, signal.SIGKILL)
    tap.check("a child that is not followed is not waited for", code == 5 and len(left) == 1,
              f"{code} {left}")


def check_overhead(folder):
    code, said, out = ended(folder, "sleeps", signal.SIGTERM, "overhead", "-q", "--csv")
    tap.check("overhead: what was predicted up to the signal", code == 143 and
              said == "coretap: the traced program was terminated by signal 15\n" and
              len(out.split(",")) == 4, f"{code} {said} {out}")


def main():
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"1..0 # SKIP not installed: {' '.join(missing)}")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compile_all(folder)
        for number in tap.some((signal.SIGTERM, signal.SIGINT, signal.SIGHUP), 1):
            check_log(folder, f"{number.name}, asleep", "sleeps", number, 128 + number)
        check_log(folder, "SIGTERM, busy", "busy", signal.SIGTERM, 143)
        check_log(folder, "SIGTERM, of which the program takes no notice", "stubborn", signal.SIGTERM, 137)
        check_log(folder, "SIGTERM, which the program handles", "handles", signal.SIGTERM, 7, late=1000)
        check_log(folder, "SIGTERM, with a control socket", "sleeps", signal.SIGTERM, 143, "--control",
                  folder / "socket")
        check_log(folder, "SIGTERM, beside a program that sleeps", "sleeps", signal.SIGTERM, 143, "--with",
                  folder / "quiet")
        check_log(folder, "SIGTERM, with a full pipe", "much", signal.SIGTERM, 143, "--with",
                  folder / "quiet")
        check_log(folder, "SIGTERM, beside a program that does not", "sleeps", signal.SIGTERM, 143, "--with",
                  folder / "loops")
        for program, code in (("parent", 143), ("leaves", 5), ("grandparent", 143)):
            check_log(folder, f"SIGTERM, children that sleep: {program}", program, signal.SIGTERM, code,
                      "--follow-forks", "--mode", "active")
        check_not_followed(folder)
        check_overhead(folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
