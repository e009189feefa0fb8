#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks recordings of programs that do what few examples do. Prints TAP.

usage: test_programs.py COMMAND PLUGIN"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND = os.path.abspath(sys.argv[1])
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": os.path.abspath(sys.argv[2])}
COMPILERS = {"A64": ["aarch64-linux-gnu-gcc"],
             "A32": ["arm-linux-gnueabihf-gcc", "-marm"],
             "T32": ["arm-linux-gnueabihf-gcc", "-mthumb"]}

# Handlers of signal() get no siginfo. The depth of the stack differs, so that none is left of an earlier one.
TIMER = """
#include <signal.h>
#include <sys/time.h>
static volatile int ticks;
static void on_tick(int number) { ticks += number != 0; }
__attribute__((noinline)) static int deep(int i, int depth)
{
    volatile char room[400];
    room[i % 400] = (char)i;
    return depth ? deep(i, depth - 1) + room[i % 400] : i;
}
int main(void)
{
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    int sum = 0;
    signal(SIGALRM, on_tick);
    setitimer(ITIMER_REAL, &often, 0);
    for (int i = 0; ticks < 16; i++)
        sum += deep(i, i % 13);
    setitimer(ITIMER_REAL, &never, 0);
    return sum == 1;
}
"""


# The handler `first` ends in a jump to the handler `second`, whose arguments it has. NEXT is its name, or a
# pointer to it.
JUMP = """
#include <signal.h>
#include <sys/time.h>
static volatile int ticks;
__attribute__((noipa)) static void second(int number) { ticks += number != 0; }
static void (*volatile next)(int) = second;
__attribute__((noipa)) static void first(int number) { NEXT(number); }
__attribute__((noipa)) static int work(int i) { return i * 3; }
int main(void)
{
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    int sum = 0;
    signal(SIGALRM, first);
    signal(SIGUSR1, second);
    setitimer(ITIMER_REAL, &often, 0);
    for (int i = 0; ticks < 8; i++)
        sum += work(i);
    setitimer(ITIMER_REAL, &never, 0);
    return sum == 1;
}
"""


def build(folder, source, compiler, *flags):
    program = folder / "program"
    (folder / "program.c").write_text(source, encoding="ascii")
    subprocess.run([*compiler, "-O2", "-static", "-o", program, folder / "program.c", *flags], check=True)
    return program


def record(folder, program, *options):
    """Returns the capture of a program that ends with 0."""
    capture = folder / "capture"
    run = subprocess.run([COMMAND, "record", "-q", "-o", capture, *options, "--", program], text=True,
                         capture_output=True, env=ENV, check=False, timeout=200)
    assert run.returncode == 0, run
    return capture


def address_of(program, symbol):
    table = subprocess.run(["readelf", "-sW", program], capture_output=True, text=True, check=True).stdout
    return next(int(row.split()[1], 16) & ~1 for row in table.splitlines() if row.split()[-1:] == [symbol])


def output_of(*command):
    run = subprocess.run([COMMAND, *command], capture_output=True, text=True, check=False)
    assert run.returncode == 0 and not run.stderr, run
    return run.stdout


def entries(elements, start):
    """Returns what is before each range from `start` on, without what begins the trace again."""
    before, found = "", []
    for line in elements.splitlines():
        kind = line.split(maxsplit=2)[2].split()[0]
        if f" instr_range start={start:x} " in line:
            found.append(before)
        if kind not in ("trace_on", "pe_context"):
            before = kind
    return found


def signals_are_exceptions(compiler):
    """Each run of a handler follows an exception: of the signal, or of a system call that it waited for. On
    the stack it is above the function that was interrupted."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = build(folder, TIMER, compiler)
        capture = record(folder, program)
        handler = address_of(program, "on_tick")
        came = entries(output_of("list", "--elements", capture).split("\n", 2)[2], handler)
        assert len(came) >= 16, "a late tick may come before the timer stops, but none is missing"
        assert set(came) == {"exception"}, f"before the handler: {came}"
        stacks = [row.split()[0].split(";") for row in output_of("profile", capture).splitlines()]
        callers = {stack[-2] for stack in stacks if stack[-1] == "on_tick"}
        waited = {"__kernel_rt_sigreturn", "__default_sa_restorer"} # for another handler
        assert {"deep"} <= callers <= waited | {"main", "deep"}, f"under the handler: {callers}"
        return True


def a_jump_is_no_signal(compiler, target):
    """Execution that goes from one handler to another by a jump is not interrupted there."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = build(folder, JUMP, compiler, f"-DNEXT={target}")
        listed = output_of("list", "--elements", record(folder, program)).split("\n", 2)[2]
        came = [entries(listed, address_of(program, handler)) for handler in ("first", "second")]
        count = len(came[0])
        assert count >= 8, "a late tick may come before the timer stops, but none is missing"
        assert came == [["exception"] * count, ["instr_range"] * count], f"before the handlers: {came}"
        return True


def main():
    for number, (isa, compiler) in enumerate(COMPILERS.items()):
        missing = tap.lacks("qemu-aarch64", "qemu-arm", compiler[0])
        tap.case(f"signals of a timer in {isa}", missing, lambda c=compiler: signals_are_exceptions(c))
        for way, target in tap.some({"a jump": "second", "an indirect jump": "next"}.items(), number % 2):
            tap.case(f"{way} to another handler in {isa}", missing,
                     lambda c=compiler, t=target: a_jump_is_no_signal(c, t))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
