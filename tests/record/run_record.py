#!/usr/bin/env python3
"""What coretap record writes decodes to exactly what the program executed.

usage: run_record.py COMMAND PLUGIN COMPARE EXAMPLES

CT_LONG=1 runs every program with every set of options; without, a few of them."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

COMMAND, PLUGIN, COMPARE, EXAMPLES = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
LONG = os.environ.get("CT_LONG") == "1"
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": PLUGIN}
COMPILERS = {"arm64": "aarch64-linux-gnu-gcc", "armhf": "arm-linux-gnueabihf-gcc"}

# Name of a set of options, the options, and for which programs it is among the few.
A64_SETS = {
    "plain": [],
    "broadcast": ["--branch-broadcast"],
    "cycles": ["--cycle-count=4"],
    "times": ["--cycle-count", "--timestamps=500"],
    "stack": ["--return-stack", "--sync-period", "8"],
    "identifiers": ["--context-id", "--vmid"],
    "events": ["--events", "50", "--seed", "7"],
    "overflow": ["--overflow", "3000", "--return-stack", "--cycle-count", "--seed", "3"],
    "framed": ["--framed", "--return-stack"],
    "ete": ["--protocol", "ete", "--cycle-count", "--timestamps", "--return-stack"],
    "contexts": ["--threads", "contexts", "--return-stack"],
    "limit": ["--max-instructions", "20000"],
    "all": ["--protocol", "ete", "--framed", "--branch-broadcast", "--return-stack", "--cycle-count=2",
            "--timestamps=200", "--events", "30", "--overflow", "5000", "--context-id", "--vmid",
            "--sync-period", "9"],
}


class Program:
    def __init__(self, name, source, arguments=(), flags=("-static",), arch="arm64"):
        self.name, self.source, self.arguments, self.flags, self.arch = name, source, arguments, flags, arch

    def build(self, folder):
        path = folder / self.name
        subprocess.run([COMPILERS[self.arch], "-O2", "-o", path, EXAMPLES / self.source, *self.flags, "-lpthread"],
                       check=True)
        return path


PROGRAMS = [
    Program("primes", "primes.c"),
    Program("primes, dynamic", "primes.c", flags=()),
    Program("signals", "signals.c", ("2",)),
    Program("threads", "threads.c"),
]


def record(folder, program, *options):
    result = subprocess.run([COMMAND, "record", "-q", "-o", folder, "--truth", f"{folder}.truth", *options, "--",
                             *map(str, program)], capture_output=True, text=True, env=ENV, check=False, timeout=600)
    return result


def path_is_truth(folder, program, options):
    """'' or what is wrong."""
    result = record(folder, program, *options)
    if result.returncode != 0:
        return f"exit code {result.returncode}: {result.stderr}"
    with subprocess.Popen([COMMAND, "list", "-q", "--elements", folder], stdout=subprocess.PIPE) as lister:
        check = subprocess.run([COMPARE, f"{folder}.truth"], stdin=lister.stdout, capture_output=True, text=True,
                               check=False)
    shutil.rmtree(folder)
    os.unlink(f"{folder}.truth")
    return "" if check.returncode == 0 else check.stdout


def output_is_its_own(folder, path):
    plain = subprocess.run(["qemu-aarch64", path, "500"], capture_output=True, check=False)
    got = subprocess.run([COMMAND, "record", "-q", "-o", folder, "--", path, "500"], capture_output=True, env=ENV,
                         check=False)
    return "" if (plain.returncode, plain.stdout, plain.stderr) == (got.returncode, got.stdout, got.stderr) \
        else f"{plain} {got}"


def same_trace_again(folder, path, *options):
    """The trace follows from program and seed, however the program was watched."""
    traces = []
    for extra in [[], ["--each"]]:
        result = record(folder, [path], "--cycle-count", "--timestamps", "--overflow", "2000", *options, *extra)
        if result.returncode != 0:
            return result.stderr
        traces.append((folder / "trace_0.bin").read_bytes())
        shutil.rmtree(folder)
    return "" if traces[0] == traces[1] and len(traces[0]) > 1000 else "the traces differ"


def truth_is_qemus(folder, path):
    """QEMU's own log of single instructions has the same addresses."""
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


def main():
    tests = []
    with tempfile.TemporaryDirectory() as name:
        base = pathlib.Path(name)
        needed = ["qemu-aarch64", COMPILERS["arm64"]]
        missing = [tool for tool in needed if not shutil.which(tool)]
        if missing:
            print(f"1..0 # SKIP {', '.join(missing)} missing (tools/install-deps arm)")
            return 0
        capture = base / "capture"
        for program in PROGRAMS:
            path = program.build(base)
            sets = A64_SETS if LONG or program is PROGRAMS[0] else {k: A64_SETS[k] for k in ("plain", "all", "contexts")}
            for what, options in sets.items():
                tests.append((f"{program.name}: {what}",
                              lambda path=path, program=program, options=options:
                              path_is_truth(capture, [path, *program.arguments], options)))
        primes = base / PROGRAMS[0].name
        tests.append(("output and exit code are the program's", lambda: output_is_its_own(capture, primes)))
        tests.append(("the same trace again", lambda: same_trace_again(capture, primes)))
        tests.append(("another seed", lambda: same_trace_again(capture, primes, "--seed", "5")))
        tests.append(("the truth is what QEMU logs", lambda: truth_is_qemus(capture, primes)))
        print(f"1..{len(tests)}")
        failed = 0
        for number, (what, test) in enumerate(tests, 1):
            why = test()
            failed += bool(why)
            print(f"{'not ok' if why else 'ok'} {number} - {what}", flush=True)
            if why:
                print("# " + why.replace("\n", "\n# "), flush=True)
            shutil.rmtree(capture, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
