#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks profiles of a program and its libraries: folded stacks, callgrind and pprof name the module of each
function, even for a saved file when a library no longer exists. Prints TAP.

usage: test_profile_modules.py CORETAP"""
import collections
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import protobuf  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, skip  # noqa: E402  pylint: disable=wrong-import-position

SYSROOT = "/usr/aarch64-linux-gnu"
LIBRARY = """int twice(int x, int (*f)(int)) { return f(x) + f(x); }
static int hidden(int x) { return x * 3; }
int thrice(int x) { return hidden(x); }
"""
MAIN = """int twice(int x, int (*f)(int)); int thrice(int);
static int one(int x) { return x + 1; }
int main(void) { int s = 0; for (int i = 0; i < 20; i++) s += twice(i, one) + thrice(i); return s & 1; }
"""
OBJECT = {"twice": "libtwo.so", "thrice": "libtwo.so", "hidden": "libtwo.so", "one": "main", "main": "main"}


def functions(text):
    """Returns (object, file, function) of those with cost, and their calls to others in the same form."""
    now = {}
    defined, called = set(), collections.Counter()
    for key, _, value in (line.partition("=") for line in text.splitlines()):
        if key in ("ob", "fl", "fn", "cob", "cfi", "cfn"):
            now[key] = value
        if key == "fn":
            defined.add((now["ob"], now["fl"], value))
        if key == "calls":
            called[now.get("cob", now["ob"]), now.get("cfi", now["fl"]), now["cfn"]] += int(value.split()[0])
            for gone in ("cob", "cfi", "cfn"):
                now.pop(gone, None)
    return defined, called


def check_callgrind(name, file, text):
    defined, called = functions(text)
    lost = [place for place in called if place not in defined]
    check(f"{name}: callgrind: each of {len(called)} functions that are called is one that has cost",
          len(called) > 50 and not lost, lost)
    objects = {function: pathlib.Path(of).name for of, _, function in defined if function in OBJECT}
    check(f"{name}: callgrind: functions are in their objects", objects == OBJECT, objects)
    count = {function: n for (_, _, function), n in called.items()}
    check(f"{name}: callgrind: calls across objects", (count["twice"], count["one"], count["hidden"])
          == (20, 40, 20), count)
    if not shutil.which("callgrind_annotate"):
        skip(f"{name}: callgrind_annotate names the objects",
             "callgrind_annotate is missing (Debian: valgrind)")
        return
    file.write_text(text)
    shown = subprocess.run(["callgrind_annotate", "--threshold=100", file], capture_output=True, text=True,
                           check=True, timeout=300).stdout
    found = dict(re.findall(r"^ *[\d,]+ \([ \d.]+%\)  \S+:(\w+) \[\S*?([^/\]]+)\]$", shown, re.MULTILINE))
    check(f"{name}: callgrind_annotate names the objects", OBJECT.items() <= found.items(), shown)
    target = re.search(r"^Profiled target: +(.*)$", shown, re.MULTILINE)
    check(f"{name}: callgrind_annotate names what was profiled", target and "unknown" not in target[1], shown)


def check_pprof(name, packed):
    if protobuf.MISSING:
        skip(f"{name}: pprof: functions are in their mappings", protobuf.MISSING)
        return
    profile = protobuf.messages("pprof", protobuf.PPROF)["Profile"].FromString(gzip.decompress(packed))
    text = profile.string_table
    names = {function.id: text[function.name] for function in profile.function}
    files = {mapping.id: pathlib.Path(text[mapping.filename]).name for mapping in profile.mapping}
    found = {names[place.line[0].function_id]: files[place.mapping_id] for place in profile.location}
    check(f"{name}: pprof: functions are in their mappings, and the first is of what was started",
          OBJECT.items() <= found.items() and files[profile.mapping[0].id] == "main", found)


def check_folded(coretap, source):
    weights = []
    for options in ([], ["--modules"]):
        lines = coretap("profile", *options, source).stdout.decode().splitlines()
        weights.append(collections.Counter())
        for line in lines:
            stack, weight = line.rsplit(" ", 1)
            weights[-1][stack] += int(weight)
    plain, named = weights
    back = collections.Counter()
    for stack, weight in named.items():
        back[re.sub(r"(^|;)[^;`]*`", r"\1", stack)] += weight
    check("folded: without its modules each stack is what it is without --modules", back == plain and plain,
          list(named)[:10])
    stack = next((stack for stack in named if stack.endswith("`one")), "")
    check("folded: functions behind their modules",
          stack.endswith("main`main;libtwo.so`twice;main`one"), stack)
    refused = coretap("profile", "--modules", "-f", "pprof", source)
    check("--modules is refused where it does not apply", refused.returncode == 2 and not refused.stdout and
          b"--format folded" in refused.stderr, refused)


def check_alone(coretap, folder):
    """Checks a saved file whose programs are all missing: names are all there is, and they are enough."""
    program, saved = folder / "alone", folder / "alone.saved"
    (folder / "alone.c").write_text(LIBRARY + MAIN)
    subprocess.run(["aarch64-linux-gnu-gcc", "-O0", "-static", "-o", program, folder / "alone.c"], check=True)
    coretap("record", "-q", "-o", folder / "alone.capture", "--", program)
    saved.write_bytes(coretap("profile", "-f", "data", folder / "alone.capture").stdout)
    program.unlink()
    callgrind, pprof = (coretap("profile", "-f", form, saved) for form in ("callgrind", "pprof"))
    defined, called = functions(callgrind.stdout.decode())
    check("without any program callgrind has functions and calls by name", callgrind.returncode == 0 and
          {(str(program), "???", name) for name in OBJECT} <= defined and called.keys() <= defined,
          (callgrind.stderr, sorted(called.keys() - defined)[:5]))
    check("without any program pprof has stacks", pprof.returncode == 0 and len(pprof.stdout) > 500 and
          b"has no source lines" in pprof.stderr, pprof.stderr)


def main():
    program = os.path.abspath(sys.argv[1])
    missing = not all(map(shutil.which, ("aarch64-linux-gnu-gcc", "qemu-aarch64")))
    if missing or not os.path.exists(f"{SYSROOT}/lib/libc.so.6"):
        print("1..0 # SKIP QEMU, a compiler or a C library for Arm is missing (tools/install-deps arm)")
        return 0

    def coretap(*args):
        return subprocess.run([program, *args], capture_output=True, check=False, timeout=300,
                              env={**os.environ, "QEMU_LD_PREFIX": SYSROOT})

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, text, options in (("libtwo.so", LIBRARY, ["-shared", "-fPIC"]),
                                    ("main", MAIN, [f"-L{folder}", "-ltwo", f"-Wl,-rpath,{folder}"])):
            (folder / f"{name}.c").write_text(text)
            subprocess.run(["aarch64-linux-gnu-gcc", "-g", "-O0", "-o", folder / name, folder / f"{name}.c",
                            *options], check=True)
        capture, saved = folder / "capture", folder / "saved"
        coretap("record", "-q", "-o", capture, "--", folder / "main")
        check_folded(coretap, capture)
        saved.write_bytes(coretap("profile", "-f", "data", capture).stdout)
        for name, source in (("a capture", capture), ("a saved file", saved),
                             ("a saved file without its library", saved)):
            if "without" in name:
                (folder / "libtwo.so").unlink()
            callgrind, pprof = (coretap("profile", "-f", form, source) for form in ("callgrind", "pprof"))
            check_callgrind(name, folder / "callgrind.out", callgrind.stdout.decode())
            check_pprof(name, pprof.stdout)
            said = b"libtwo.so: the program was not found; code that ran in it has no" in callgrind.stderr
            check(f"{name}: what has no lines is said", said == ("without" in name), callgrind.stderr)
        check_alone(coretap, folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
