#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that commands with several threads print what they print with one, to the byte, for a recording long
enough to be divided, for a damaged one, and for one of several cores in one buffer. Prints TAP.

usage: run_threads.py CORETAP PLUGIN SOURCE"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402
from parts import missing_parts  # noqa: E402

CORETAP, PLUGIN = (os.path.abspath(path) for path in sys.argv[1:3])
CORES = pathlib.Path(sys.argv[3]).resolve()  # of the program of four threads
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
PROGRAM = """
static volatile unsigned sum;
__attribute__((noinline)) static unsigned leaf(unsigned n) { return n & 1 ? n * 3 + 1 : n / 2; }
__attribute__((noinline)) static unsigned chain(unsigned n)
{
    unsigned steps = 0;
    while (n > 1) {
        n = leaf(n);
        steps++;
    }
    return steps;
}
__attribute__((noinline)) static void round_of(unsigned n) { sum += chain(n); }
int main(void)
{
    for (unsigned i = 1; i < %d; i++)
        round_of(i);
    return sum == 0;
}
"""
SPEC = """in x: Events[Unit]
def n = count(x)
def error = since(x) > 2000
def since(e: Events[Unit]) = time(e) - last(time(e), e)
out n
out error
"""
COMMANDS = (
    ("decode --along binary", None), ("list --elements", None), ("timing --edges --blocks", None),
    ("timing --format json --pair 'leaf chain'", None), ("watch --at leaf --at context", None),
    ("watch --at return:chain --format jsonl", None), ("monitor --spec {spec} --bind x=round_of -a", None),
    ("monitor --spec {spec} --bind x=round_of --format data", None),
    ("cover --format data", None), ("profile --format folded", None), ("profile --format callgrind", None),
    ("profile --format chrome", None), ("profile --format autofdo", None),
    ("spec --timing --function chain", None), ("info", None), ("info --format json", None),
    ("graph --elf {program} --learn", None), ("merge --kind stacks", None), ("merge --kind timing", None),
    ("list --packets", None), ("decode --merge --to 5000cyc", None),
    ("wcet --entry chain --unobserved assume", "cbc"), ("report --entry chain -o {out}", "cbc"))


# Of several cores, whose program is another one, without cycle counts.
CORES_COMMANDS = ("decode --along binary", "timing --edges", "timing --format data", "cover --format data",
                  "profile --format folded", "profile --format callgrind", "profile --format chrome",
                  "profile --format data", "stats --level timing", "watch --at main --at context", "info",
                  "report -o {out}")
CHANGING = re.compile(rb"^(seconds|mb_per_s)=.*\n", re.M)


def answer(line, capture, folder, threads):
    out = folder / "out.html"
    words = line.replace("{spec}", str(folder / "spec.tessla")).replace("{out}", str(out))
    words = words.replace("{program}", str(folder / "program"))
    command = f"{CORETAP} {words} {capture} {f'--threads {threads}' if threads else ''}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=600)
    assert done.returncode in (0, 1), f"exit code {done.returncode}: {done.stderr.decode()}"
    assert done.stdout or out.exists(), f"nothing was said: {done.stderr.decode()}"
    page = out.read_bytes() if out.exists() else b""
    out.unlink(missing_ok=True)
    return done.returncode, CHANGING.sub(b"", done.stdout), done.stderr, page


def same(line, capture, folder):
    one = answer(line, capture, folder, 0)
    for threads in (2, 3, 5) if os.environ.get("CT_LONG") else (3,):
        many = answer(line, capture, folder, threads)
        for what, a, b in zip(("exit code", "output", "messages", "page"), one, many):
            assert a == b, f"{threads} threads: another {what}"


def record_cores(folder):
    """Four cores in frames."""
    program, capture = folder / "cores-program", folder / "cores"
    subprocess.run([TOOLS[0], "-O2", "-static", "-pthread", "-o", program, CORES], check=True)
    subprocess.run([CORETAP, "record", "-q", "--framed", "-o", capture, "--", program, "1", "4"], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN})


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    lacking = [tool for tool in TOOLS if not shutil.which(tool)]
    why = f"{lacking[0]} is missing" if lacking else None
    missing = missing_parts(CORETAP)
    if not why:
        (folder / "spec.tessla").write_text(SPEC)
        (folder / "program.c").write_text(PROGRAM % (40000 if os.environ.get("CT_LONG") else 4000))
        program = folder / "program"
        subprocess.run([TOOLS[0], "-g", "-O1", "-static", "-o", program, folder / "program.c"], check=True)
        subprocess.run([CORETAP, "record", "-q", "--cycle-count", "--timestamps", "-o", folder / "whole",
                        "--", program], check=True,
                       env={**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN})
        shutil.copytree(folder / "whole", folder / "damaged")
        trace = max((path for path in (folder / "damaged").glob("*.bin") if "mem" not in path.name),
                    key=os.path.getsize)
        content = bytearray(trace.read_bytes())
        for at in range(1, 9):
            content[at * len(content) // 9] ^= 0x55
        trace.write_bytes(content)
        print(f"# {len(content)} bytes of trace")
        record_cores(folder)
    for number, (line, part) in enumerate(COMMANDS):
        for which in tap.some(("whole", "damaged"), number % 2):
            tap.case(f"{line}, {which}", why or missing.get(part),
                     lambda line=line, which=which: same(line, folder / which, folder))
    for line in tap.some(CORES_COMMANDS, 0, 2, 4, 11):
        tap.case(f"{line}, cores", why, lambda line=line: same(line, folder / "cores", folder))
    shutil.rmtree(folder)
    return tap.finish()


sys.exit(main())
