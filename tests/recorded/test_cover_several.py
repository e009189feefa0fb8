#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that several captures on one command line, with coverage files among them, equal their merged
coverage files: of one program at different paths and of different programs, with memory that changes, and
with a damaged capture. Prints TAP.

usage: test_cover_several.py CORETAP"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

CORETAP = sys.argv[1]
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
PROGRAM = """
#include <stdlib.h>
__attribute__((noinline)) static int even(int n) { return n + 1; }
__attribute__((noinline)) static int odd(int n) { return n - 1; }
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    return n % 2 ? odd(n) : even(n);
}
"""
OTHER = "int helper(int n) { return n * 3; }\nint main(void) { return helper(2) == 6 ? 0 : 1; }\n"
SIGNAL = """
#include <signal.h>
static void handler(int number) { (void)number; }
int main(void) { return signal(SIGUSR1, handler) == SIG_ERR || raise(SIGUSR1); }
"""


def run(*args, code=0):
    done = subprocess.run([CORETAP, *map(str, args)], capture_output=True, check=False)
    assert done.returncode == code, f"{args}: exit code {done.returncode}: {done.stderr.decode()}"
    return done.stdout


def build(folder, name, source, *options):
    (folder / f"{name}.c").write_text(source)
    subprocess.run([TOOLS[0], "-g", "-O1", *options, "-o", folder / name, folder / f"{name}.c"], check=True)
    return folder / name


def record(folder, name, *command, options=()):
    subprocess.run([CORETAP, "record", "-q", "-o", folder / name, *options, "--", *command], check=False,
                   env=os.environ)
    return folder / name


def data(path):
    return run("cover", "--format", "data", path)


def sum_of(folder, *paths):
    files = []
    for i, path in enumerate(paths):
        files.append(folder / f"sum{i}")
        files[-1].write_bytes(data(path))
    return run("merge", *files)


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    why = f"{missing[0]} is missing" if missing else None
    made = {}

    def captures():
        program = build(folder, "program", PROGRAM, "-static")
        moved = folder / "moved"
        shutil.copy(program, moved)
        dynamic = build(folder, "dynamic", PROGRAM)
        other = build(folder, "other", OTHER, "-static")
        made.update(even=record(folder, "even", program, "2"), odd=record(folder, "odd", moved, "3"),
                    dynamic=record(folder, "dynamic.capture", dynamic, "3"),
                    other=record(folder, "other.capture", other))

    def same(*names):
        paths = [made[name] for name in names]
        both = run("cover", "--format", "data", *paths)
        assert both == sum_of(folder, *paths), "not the merged files"
        assert both == run("cover", "--format", "data", *reversed(paths)), "depends on the order"
        assert f"captures {len(paths)}\n".encode() in both
        for path in paths:
            assert f"capture {path}\n".encode() in both

    def perf():
        for name in ("dynamic", "even"):
            made[name + ".data"] = folder / f"{name}.data"
            run("export", "--perf", made[name + ".data"], made[name])
        same("dynamic.data", "even.data", "other")
        same("even.data", "dynamic.data")

    def files():
        saved = folder / "saved"
        saved.write_bytes(data(made["odd"]))
        mixed = run("cover", "--functions", made["even"], saved)
        both = run("cover", "--functions", made["even"], made["odd"])
        assert mixed.replace(b"saved", b"odd") == both, f"{mixed.decode()}\n{both.decode()}"
        for function in (b"even", b"odd"):
            assert function in mixed

    def several_programs():
        summary = run("cover", made["even"], made["other"]).decode()
        assert "program" in summary and "other" in summary, summary
        saved = folder / "both"
        saved.write_bytes(run("cover", "--format", "data", made["even"], made["other"]))
        summary = run("cover", saved).decode()
        assert "/program" in summary and "/other" in summary, summary
        (folder / "other").rename(folder / "away")
        summary = run("cover", saved).decode()
        assert "/program" in summary and "/other" not in summary, summary
        (folder / "away").rename(folder / "other")

    def never_ran():
        ran, other = folder / "dynamic", build(folder, "never", OTHER)
        for form in ("text", "json", "lcov", "cobertura", "html", "data", "sonarqube"):
            for some, code in (((), 1), (("--elf", ran), 0)):
                done = subprocess.run([CORETAP, "cover", "-f", form, "--elf", other, *some, made["dynamic"]],
                                      capture_output=True, text=True, check=False)
                assert done.returncode == code and done.stdout, (form, some, done.returncode)
                assert f"coretap: {other}: none of its code ran; " in done.stderr, done.stderr
        programs = json.loads(run("cover", "-f", "json", "--elf", other, "--elf", ran,
                                  made["dynamic"]))["programs"]
        assert {str(other): False, str(ran): True}.items() <= {
            program["program"]: program["ran"] for program in programs}.items(), programs
        saved = folder / "dynamic.cover"
        saved.write_bytes(data(made["dynamic"]))
        for command in (("cover", saved), ("report", made["dynamic"]),
                        ("profile", "-f", "branch-list", saved)):
            run(*command, "--quiet", "--elf", other, code=1)
            run(*command, "--quiet", "--elf", other, "--elf", ran)

    def returns_from_signals():
        capture = record(folder, "signal.capture", build(folder, "signal", SIGNAL))
        done = subprocess.run([CORETAP, "cover", capture], capture_output=True, text=True, check=False)
        assert "in __kernel_rt_sigreturn (2 instructions)" in done.stderr, done.stderr
        assert "--elf" not in done.stderr, f"no file contains that code: {done.stderr}"
        assert b";__kernel_rt_sigreturn 2\n" in run("profile", capture)

    def made_up_file():
        program = build(folder, "made_up", '#line 1 "<autogenerated>"\nint made_up(int n) { return n + 1; }\n'
                        f'#line 1 "{folder}/made_up.c"\nint main(void) {{ return made_up(-1); }}\n')
        capture = record(folder, "made_up.capture", program)
        lines = run("cover", "-f", "lcov", capture).decode().splitlines()
        files = [line for line in lines if line.startswith("SF:")]
        assert files == [f"SF:{folder}/made_up.c"], files
        assert b"<autogenerated>" in run("cover", capture)

    def only_made_up():
        program = build(folder, "only", '#line 1 "<autogenerated>"\nint main(void) { return 0; }\n')
        capture = record(folder, "only.capture", program)
        done = subprocess.run([CORETAP, "cover", "-q", "-f", "lcov", capture], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 1 and not done.stdout, done
        assert f"{capture}: the tracefile is empty, because all lines" in done.stderr, done.stderr
        assert b"&lt;autogenerated&gt;" in run("cover", "-f", "cobertura", capture)

    def copies():
        (folder / "copied.h").write_text("static inline int copied(int n) { return n + 1; }\n")
        (folder / "second.c").write_text('#include "copied.h"\nint second(void) { return copied(1); }\n')
        program = build(folder, "first", '#include "copied.h"\nint second(void);\n'
                        "int main(void) { return copied(copied(0)) - second(); }\n",
                        "-O0", folder / "second.c")
        capture = record(folder, "first.capture", program)
        assert run("cover", "--functions", capture).count(b"  copied\n") == 2
        tracefile = run("cover", "-f", "lcov", capture).decode()
        header = tracefile[tracefile.index("copied.h\n"):].split("end_of_record")[0]
        assert header.splitlines()[1:5] == ["FN:1,copied", "FNDA:3,copied", "FNF:1", "FNH:1"], header
        assert run("cover", "-f", "cobertura", capture).count(b'method name="copied"') == 1

    def names_of_d():
        """Two methods of one name: only the symbols tell them apart, as in all other commands."""
        symbols = ["_D5shape6Animal4legsMFZi", "_D5shape4Bird4legsMFZi"]
        program = build(folder, "shape", "".join(
            f'#line {i + 3} "shape.d"\n__attribute__((noinline)) static int legs{i}(void) '
            f'{{ return {i}; }}\n' for i in range(2)) + "int main(void) { return legs0() + legs1(); }\n")
        renamed = folder / "renamed"
        subprocess.run(["aarch64-linux-gnu-objcopy", *(f"--redefine-sym=legs{i}={symbol}" for i, symbol
                                                       in enumerate(symbols)), program, renamed], check=True)
        listed = run("cover", "-q", "--functions", record(folder, "shape.capture", renamed)).decode()
        assert all(f"  {symbol}\n" in listed for symbol in symbols), listed

    def relative_paths():
        for name, call, limit in (("one", "int two(void);\nint main(void) { return same(9) - two(); }", 2),
                                  ("two", "int two(void) { return same(9); }", 5)):
            for part in ("inc", "build"):
                (folder / name / part).mkdir(parents=True)
            (folder / name / "inc/same.h").write_text(
                "\n" * limit + f"static int same(int n) {{ return n > {limit}; }}\n")
            (folder / name / f"{name}.c").write_text(f'#include "same.h"\n{call}\n')
        for i, (top, options) in enumerate((
                (f"{folder}/", ["-gdwarf-4"]), (f"{folder}/", ["-gdwarf-5"]),
                ("", ["-gdwarf-4", f"-ffile-prefix-map={folder}=."]),
                ("", ["-gdwarf-5", f"-ffile-prefix-map={folder}=."]))):
            for name in ("one", "two"):
                subprocess.run([TOOLS[0], "-O0", *options, "-I../inc", "-c", f"../{name}.c"], check=True,
                               cwd=folder / name / "build")
            program = folder / f"relative{i}"
            subprocess.run([TOOLS[0], "-o", program, *(folder / f"{name}/build/{name}.o"
                                                       for name in ("one", "two"))], check=True)
            tracefile = run("cover", "-f", "lcov", record(folder, f"relative{i}.capture", program)).decode()
            lines = [line for line in tracefile.splitlines() if line.startswith(("SF:", "DA:"))]
            assert lines == [f"SF:{top}one/inc/same.h", "DA:3,1", f"SF:{top}one/one.c", "DA:3,1",
                             f"SF:{top}two/inc/same.h", "DA:6,1", f"SF:{top}two/two.c", "DA:2,1"], lines

    def shared_file_is_missing():
        twins = [build(folder, f"shared{i}", PROGRAM, "-static") for i in range(2)]
        subprocess.run(["dwz", "-m", "shared.debug", *(twin.name for twin in twins)], check=True, cwd=folder,
                       capture_output=True)
        capture = record(folder, "shared.capture", twins[0])
        (folder / "shared.debug").unlink()
        names = [line for line in run("cover", "-q", "-f", "lcov", capture).decode().splitlines()
                 if line.startswith("FN:")]
        assert sorted(name.split(",")[1] for name in names) == ["even", "main", "odd"], names

    def one_build_id():
        programs = [build(folder, f"twin{i}", source, "-static", "-Wl,--build-id=0x11112222")
                    for i, source in enumerate((PROGRAM, OTHER))]
        for i, program in enumerate(programs):
            (folder / f"twin{i}.data").write_bytes(data(record(folder, f"twin{i}.capture", program)))
        sums = [run("merge", *(folder / f"twin{i}.data" for i in order)) for order in ((0, 1), (1, 0))]
        assert sums[0] == sums[1] and sums[0].count(b" 11112222 ") == 2, sums[0].count(b" 11112222 ")
        (folder / "twins").write_bytes(sums[0])
        for i, program in enumerate(programs):
            assert run("cover", "-f", "lcov", "--elf", program, folder / "twins") == run(
                "cover", "-f", "lcov", "--elf", program, folder / f"twin{i}.data"), program
        done = subprocess.run([CORETAP, "cover", "--elf", programs[1], folder / "twin0.capture"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "both have build id 11112222" in done.stderr, done.stderr
        subprocess.run(["aarch64-linux-gnu-objcopy", "--only-keep-debug", programs[0], folder / "debug"],
                       check=True)
        run("cover", "--elf", folder / "debug", folder / "twin0.capture")

    def replaced():
        program = build(folder, "replaced", PROGRAM, "-Wl,--build-id=none")
        capture = record(folder, "replaced.capture", program, "2")
        assert b"/replaced\n" in run("cover", capture)
        build(folder, "replaced", "int zero;\n" + OTHER, "-Wl,--build-id=none", "-O0")
        done = subprocess.run([CORETAP, "cover", capture], capture_output=True, text=True, check=False)
        assert f"{program}: its code differs from that of {capture}/mem_" in done.stderr, done.stderr
        assert "/replaced\n" not in done.stdout, done.stdout

    def packed_lines():
        program = build(folder, "packed", PROGRAM)
        done = subprocess.run(["aarch64-linux-gnu-objcopy", "--compress-debug-sections=zstd", program],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            return f"no zstd in objcopy: {done.stderr}"
        done = subprocess.run([CORETAP, "cover", record(folder, "packed.capture", program)],
                              capture_output=True, text=True, check=False)
        told = f"{program}: its debug information is compressed with zstd" in done.stderr
        assert told != (f"{folder}/packed.c\n" in done.stdout), done.stderr
        return None

    def profiles():
        saved = folder / "sum"
        saved.write_bytes(data(made["even"]))
        for form in ("autofdo", "bolt", "llvm"):
            both = run("profile", "--format", form, made["even"], made["odd"])
            assert both == run("profile", "--format", form, saved, made["odd"]), form
            assert both != run("profile", "--format", form, made["odd"]), form
        saved.write_bytes(data(made["dynamic"]))
        assert run("profile", "--format", "autofdo", saved) == run("profile", "--format", "autofdo",
                                                                   made["dynamic"])

    def folded(*paths):
        """Returns stack -> instructions."""
        lines = [line.rsplit(" ", 1) for line in run("profile", *paths).decode().splitlines()]
        assert len({stack for stack, _ in lines}) == len(lines), "a stack has two lines"
        return {stack: int(count) for stack, count in lines}

    def stacks():
        saved, both = folder / "odd.stacks", folder / "both.stacks"
        saved.write_bytes(run("profile", "--format", "data", made["odd"]))
        both.write_bytes(run("profile", "--format", "data", made["even"], made["odd"]))
        assert both.read_bytes() == run("merge", saved, "--kind", "stacks", made["even"])
        for form in ("folded", "data"):
            for paths in ((made["odd"], made["even"]), (made["even"], saved), (both,)):
                said = run("profile", "--format", form, *paths)
                assert said == run("profile", "--format", form, made["even"], made["odd"]), (form, paths)
        one, two, sums = folded(made["even"]), folded(made["odd"]), folded(both)
        assert sums == {stack: one.get(stack, 0) + two.get(stack, 0) for stack in one | two}
        assert any(stack.endswith(";main;even") for stack in sums) and any(
            stack.endswith(";main;odd") for stack in sums), sums
        run("profile", "--threads", 2, "--format", "data", "-o", saved, made["even"], made["odd"])
        assert saved.read_bytes() == both.read_bytes()
        run("profile", "--format", "autofdo", both, code=2)
        run("profile", "--from", "main", both, code=2)
        part = run("profile", "--format", "data", "--from", "main", "--to", "900000insn", made["even"])
        assert f"capture {made['even']} (--from main --to 900000insn)\n".encode() in part, part[:200]
        saved.write_bytes(both.read_bytes()[:-30])
        run("profile", saved, code=2)

    def callgrind(*paths):
        """Returns (program, function, place, callee) -> cost, and the number of calls of the callee."""
        text = run("profile", "--format", "callgrind", *paths).decode()
        costs, at, called, count = {}, {}, None, 0
        for line in text.splitlines():
            key, _, value = line.partition("=")
            if key in ("ob", "fn", "fl", "fi", "cob"):
                at["fl" if key == "fi" else key] = value
            elif key == "cfn":
                called = (at.pop("cob", None), value)
            elif key == "calls":
                count = int(value.split()[0])
            elif line[:1].isdigit():
                place, cost = line.split()
                row = (at["ob"], at["fn"], at["fl"], place, called)
                before = costs.get(row, (0, 0))
                costs[row] = before[0] + int(cost), before[1] + count
                called, count = None, 0
        return costs

    def added(*costs):
        return {row: tuple(sum(one.get(row, (0, 0))[i] for one in costs) for i in (0, 1))
                for row in set().union(*costs)}

    def calls():
        one, two, other = (callgrind(made[name]) for name in ("even", "odd", "dynamic"))
        assert any(row[1] == "main" and row[4] and row[4][1] == "even" for row in one), one
        assert callgrind(made["even"], made["even"]) == added(one, one)
        # The program of "odd" is that of "even" elsewhere, and goes by the first of both paths.
        here, moved = str(folder / "program"), str(folder / "moved")
        there = {tuple(here if part == moved else (here, part[1]) if part and part[0] == moved else part
                       for part in row): cost for row, cost in two.items()}
        assert callgrind(made["even"], made["odd"]) == added(one, there)
        assert callgrind(made["dynamic"], made["even"]) == added(one, other)
        saved, both = folder / "even.stacks", folder / "all.stacks"
        saved.write_bytes(run("profile", "--format", "data", made["even"]))
        assert callgrind(saved) == one
        assert callgrind(saved, made["dynamic"]) == added(one, other)
        both.write_bytes(run("merge", saved, made["dynamic"]))
        assert callgrind(both) == added(one, other)
        one, other = (callgrind(made[f"{name}.data"]) for name in ("even", "dynamic"))
        assert callgrind(made["even.data"], made["dynamic.data"]) == added(one, other)
        texts = {run("profile", "--format", "callgrind", "--threads", threads, made["dynamic"], made["even"])
                 for threads in (1, 2, 3)}
        assert len(texts) == 1, "depends on the threads"

    def slices():
        def events(*paths):
            return json.loads(run("profile", "--format", "chrome", *paths))["traceEvents"]
        names = ("even", "dynamic", "even")
        all_of = events(*(made[name] for name in names))
        processes = {event["pid"]: event["args"]["name"] for event in all_of if event["ph"] == "M"}
        assert list(processes.values()) == [f"{made[name]}: {events(made[name])[0]['args']['name']}"
                                            for name in names], processes
        for process, name in zip(processes, names):
            one = [event | {"pid": process} for event in events(made[name]) if event["ph"] == "X"]
            assert [event for event in all_of if event["ph"] == "X" and event["pid"] == process] == one, name
        saved = folder / "even.stacks"
        run("profile", "--format", "chrome", made["even"], saved, code=2)

    def damaged():
        broken = folder / "broken"
        shutil.copytree(made["odd"], broken)
        trace = next(path for path in broken.iterdir() if path.suffix == ".bin" and "mem" not in path.name)
        content = bytearray(trace.read_bytes())
        content[len(content) // 2:len(content) // 2 + 40] = b"\x50" * 40  # no header of a packet
        trace.write_bytes(content)
        run("cover", made["even"], broken, code=1)
        run("cover", made["even"], folder / "nothing", code=2)

    tap.case("recordings", why, captures)
    tap.case("one program at two paths, run in two ways", why, lambda: same("even", "odd"))
    tap.case("programs that are not the same", why, lambda: same("even", "other"))
    tap.case("shared objects, at their own addresses", why, lambda: same("dynamic", "even", "other"))
    tap.case("perf.data, where each memory has programs of its own", why, perf)
    tap.case("coverage files in the place of captures", why, files)
    tap.case("all programs of a coverage file are told of", why, several_programs)
    tap.case("a program that never ran is told of", why, never_ran)
    tap.case("the code by which handlers of signals return has a name", why, returns_from_signals)
    tap.case("lcov: a file that a compiler made up is left out", why, made_up_file)
    tap.case("lcov: only files that a compiler made up", why, only_made_up)
    tap.case("lcov, Cobertura: copies of a static function of a header are one", why, copies)
    tap.case("functions of D have the names of their symbols", why, names_of_d)
    tap.case("relative paths are those in the folder of the compiler", why, relative_paths)
    tap.case("a name in a file of dwz that is missing is that of the symbol", why or tap.lacks("dwz"),
             shared_file_is_missing)
    tap.case("two programs with one build id are not added up", why, one_build_id)
    tap.case("a program without build id that was replaced is not used", why, replaced)
    tap.case("sections compressed with zstd are read, or named", why, packed_lines)
    tap.case("profiles that are counts", why, profiles)
    tap.case("stacks, and files of them", why, stacks)
    tap.case("calls with their cost, and files of them", why, calls)
    tap.case("slices of each capture are processes of their own", why, slices)
    tap.case("one of them is damaged or not there", why, damaged)
    shutil.rmtree(folder)
    return tap.finish()


sys.exit(main())
