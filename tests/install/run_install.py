#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs into an empty folder and uses the result like a third-party program: through pkg-config, shared
and static; every public header alone, in C and in C++; a program in C++. Prints TAP.

usage: run_install.py BUILD SOURCE_ROOT"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / "support"))
import small_elf  # noqa: E402  pylint: disable=wrong-import-position
import tap as results  # noqa: E402  pylint: disable=wrong-import-position

# What examples/count.c prints about examples/quickstart.
COUNTED = "ETM_0: 939 instructions in 802 bytes\nETE_1: 3671 instructions in 2361 bytes\n"
# What examples/pages.c prints about it when it reads it three times.
PAGES = "0x80000 13830\n"

# What examples/save_counts.py counts in it.
SAVED = "count 4610 instructions\n"

# What examples/functions.cc and functions.py print about it.
CALLED = """firmware.elf+0x80000 27
main 2
gcd 200
popcount 78
report 52
on_call 27
on_irq 15
"""

# The functions of examples/quickstart/firmware.bin, whose source is examples/quickstart/generator/machine.c.
FUNCTIONS = [(b"main", 0x80500, 0x3c), (b"gcd", 0x8053c, 0x20), (b"popcount", 0x8055c, 0x20),
             (b"report", 0x8057c, 0x1c), (b"on_call", 0x80598, 8), (b"on_irq", 0x805a0, 0x10)]
# Each example: its library, its arguments, and its output.
EXAMPLES = {
    "two_cores": ("coretap", ["CAPTURE"], (HERE / "two_cores.txt").read_text()),
    "branches": ("coretap", ["CAPTURE", "ELF"], """4610 instructions, 0 gaps
main: 104 conditional branches, 76 taken
gcd: 374 conditional branches, 53 taken
popcount: 1098 conditional branches, 316 taken
report: 52 conditional branches, 27 taken
on_irq: 15 conditional branches, 7 taken
"""),
    "verdicts": ("coretap-monitor", ["CAPTURE", "ELF"], """ETM_0
  361: error = true, at 0x80558
  701: error = true, at 0x80558
  1316: error = true, at 0x80558
  6 results, 3 violations
ETE_1
  20 results, 0 violations
"""),
    "own_events": ("coretap-monitor", [], """25: waited = 15
190: waited = 150
190: slow = 150
230: waited = 30
230: wrong = 4
"""),
    "probe": ("coretap", ["ELF", "TRACE"], """gcd: 6 times, at most 64 cycles
popcount: 18 times, at most 65 cycles
report: 12 times, at most 79 cycles
0 gaps, 0 bytes lost
"""),
    "live": ("coretap-live", ["CAPTURE", "TRACE", "ELF"], """3488 bytes
ETM_0, gcd: 6 times, at most 64 cycles
ETM_0, popcount: 18 times, at most 65 cycles
ETM_0, report: 12 times, at most 79 cycles
"""),
}


class Tap:
    result = staticmethod(results.told)
    skip = staticmethod(results.skip)

    def run(self, name, line, **kwargs):
        """Runs a command as one subtest, which passes when the command succeeds. Returns its output, or
        None."""
        done = subprocess.run(line, capture_output=True, text=True, stdin=subprocess.DEVNULL, **kwargs)
        self.result(name,
                    done.stdout + done.stderr or f"exit code {done.returncode}" if done.returncode else None)
        return None if done.returncode else done.stdout


def headers(tap, include):
    """Checks that each header compiles alone, without warnings. In C++, where a header includes what it
    includes in C, all of them together are enough for `make check`."""
    names = sorted(p.name for p in (include / "coretap").glob("*.h"))
    tap.result("headers are installed", None if names else "there is none")
    compilers = [("C99", "cc", ["-std=c99"]), ("C++", "c++", ["-std=c++11"])]
    for language, program, flags in compilers:
        alone = results.WHOLE or program == "cc"
        for part in [[name] for name in names] if alone else [names]:
            title = f"{part[0]} compiles alone as {language}" if alone else f"all compile as {language}"
            if not shutil.which(program):
                tap.skip(title, f"there is no {program}")
                continue
            code = include.parent / ("alone.c" if program == "cc" else "alone.cc")
            code.write_text("".join(2 * f"#include <coretap/{name}>\n" for name in part))
            tap.run(title, [program, *flags, "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror",
                            "-I", str(include), "-fsyntax-only", str(code)])


# The core library and the libraries beside it.
LIBRARIES = ("coretap", "coretap-monitor", "coretap-fractal", "coretap-record", "coretap-live",
             "coretap-fleet")


class Package:
    """What pkg-config prints about the installed libraries."""

    def __init__(self, prefix, libdir):
        self.prefix, self.libdir = prefix, libdir
        self.env = dict(os.environ, PKG_CONFIG_PATH=str(libdir / "pkgconfig"), LD_LIBRARY_PATH=str(libdir))

    def line(self, *words):
        return ["pkg-config", f"--define-variable=prefix={self.prefix}", *words]

    def said(self, *words):
        return subprocess.run(self.line(*words), env=self.env, capture_output=True, text=True).stdout

    def flags(self, name, kind):
        """Returns the flags that a program is compiled with. A static program takes only the project's
        libraries from archives; their dependencies are shared libraries."""
        if kind == "shared":
            return self.said("--cflags", "--libs", name).split()
        used = [row.split()[0] for row in self.said("--print-requires", name).splitlines()]
        rows = self.said("--print-requires-private", name, *used).splitlines()
        needed = [row.split()[0] for row in rows]
        flags = self.said("--cflags", "--libs", name, *(word for word in needed if word != "coretap")).split()
        flags += re.search(r"^Libs.private: (.*)$", (self.libdir / "pkgconfig/coretap.pc").read_text(),
                           re.MULTILINE)[1].split()
        archives = {f"-l{library}": str(self.libdir / f"lib{library}.a") for library in LIBRARIES}
        return [archives.get(flag, flag) for flag in flags]


def consumer(tap, source, prefix, libdir):
    """Compiles the README's example and runs it against the installed tree."""
    package = Package(prefix, libdir)
    version = re.search(r"version: '([^']+)'", (source / "meson.build").read_text()).group(1)
    for name in LIBRARIES:
        said = tap.run(f"pkg-config knows {name}", package.line("--modversion", name), env=package.env)
        tap.result(f"pkg-config says the version of {name}",
                   None if said and said.strip() == version else f"{said} is not {version}")
    for kind in ("shared", "static"):
        flags = package.flags("coretap", kind)
        env = package.env if kind == "shared" else None
        program = prefix / f"consumer-{kind}"
        tap.run(f"a program compiles, {kind}", ["cc", "-Wall", "-Wextra", "-Werror", "-o", str(program),
                                               str(source / "examples/count.c"), *flags])
        out = tap.run(f"a program runs, {kind}", [str(program), str(source / "examples/quickstart")], env=env)
        tap.result(f"a program counts, {kind}", None if out == COUNTED else f"it says {out}, not {COUNTED}")
        pages(tap, source, prefix / f"pages-{kind}", flags, env)
        for name, (library, args, expected) in EXAMPLES.items():
            example(tap, source, prefix / f"{name}-{kind}", package.flags(library, kind), env, args, expected)


def pages(tap, source, program, flags, env):
    """Checks an analysis outside of the library: it reads saved files in place of captures, and refuses a
    changed one."""
    capture, saved = source / "examples/quickstart", program.with_suffix(".saved")
    tap.run(f"an analysis of one's own compiles, {program.name}",
            ["cc", "-Wall", "-Wextra", "-Werror", "-o", program, source / "examples/pages.c", *flags])
    tap.run("it saves", [program, "-o", saved, capture], env=env)
    out = tap.run("it adds up", [program, capture, saved, capture], env=env)
    tap.result("to three times the instructions", None if out == PAGES else f"it says {out}, not {PAGES}")
    saved.write_text(saved.read_text().replace("page 8", "page 9"))
    done = subprocess.run([program, saved], env=env, capture_output=True, text=True, check=False)
    tap.result("a changed file is refused",
               None if done.returncode == 1 and "was changed" in done.stderr else done.stderr)


def make_elf(source, path):
    """Writes the program of examples/quickstart as an ELF file with its functions."""
    path.write_bytes(small_elf.make((source / "examples/quickstart/firmware.bin").read_bytes(), 0x80000,
                                    FUNCTIONS))
    return path


def in_cplusplus(tap, source, prefix, libdir):
    """Compiles a program in C++, which includes all headers, and checks its counts and its error."""
    package, capture = Package(prefix, libdir), source / "examples/quickstart"
    elf = make_elf(source, prefix / "firmware.elf")
    for standard in results.some(("c++17", "c++20"), 1):
        knows = shutil.which("c++") and not subprocess.run(
            ["c++", f"-std={standard}", "-fsyntax-only", "-x", "c++", os.devnull], stderr=subprocess.DEVNULL,
            check=False).returncode
        if not knows:
            tap.skip(f"a program in {standard}", "no compiler here knows it")
            continue
        program = prefix / f"functions-{standard}"
        tap.run(f"a program compiles in {standard}",
                ["c++", f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror",
                 "-o", program, source / "examples/functions.cc", *package.flags("coretap", "shared")])
        out = tap.run("it runs", [program, capture, elf], env=package.env)
        tap.result("it counts functions", None if out == CALLED else f"it prints {out}, not {CALLED}")
        done = subprocess.run([program, prefix / "nothing", elf], env=package.env, capture_output=True,
                              text=True, check=False)
        tap.result("it reports the error of a capture that is not there",
                   None if done.returncode == 1 and done.stdout.startswith("refused: CT_ERR_IO: ") and
                   "nothing: " in done.stdout else done.stdout)
        done = subprocess.run([program, capture, elf, "1000"], env=package.env, capture_output=True,
                              text=True, check=False)
        wanted = "refused: more than 1000 instructions ran\n"
        tap.result("an exception of a receiver comes out behind the library",
                   None if done.returncode == 1 and done.stdout == wanted else done.stdout + done.stderr)


def example(tap, source, program, flags, env, args, expected):
    """Compiles an example against the installed tree, and checks what it prints."""
    with_names = make_elf(source, program.with_name("firmware.elf"))
    capture = source / "examples/quickstart"
    places = {"CAPTURE": capture, "TRACE": capture / "trace.bin", "ELF": with_names}
    name = program.name.split("-")[0]
    tap.run(f"{program.name} compiles",
            ["cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o", program,
            source / f"examples/{name}.c", *flags])
    out = tap.run(f"{program.name} runs", [program, *(places[arg] for arg in args)], env=env)
    tap.result(f"{program.name} prints what it should",
               None if out == expected else f"it says {out}, not {expected}")
    if args:
        bare = subprocess.run([program], env=env, capture_output=True, text=True, check=False)
        tap.result(f"{program.name} says its usage without arguments",
                   None if bare.returncode == 2 and bare.stderr.startswith("usage: ") else bare.stderr)


def with_headers(tap, source, prefix, libdir):
    """Loads the library from Python with the declarations of its installed headers."""
    package, elf = Package(prefix, libdir), make_elf(source, prefix / "firmware.elf")
    script, flags = source / "examples/functions.py", package.said("--cflags", "coretap").split()
    if subprocess.run([sys.executable, "-c", "import cffi"], stderr=subprocess.DEVNULL,
                      check=False).returncode:
        tap.skip("Python reads the headers", "cffi is not installed")
        return
    # the script asks pkg-config, which knows the final place only
    tools = prefix / "tools"
    tools.mkdir()
    (tools / "pkg-config").write_text(f"#!/bin/sh\necho '{' '.join(flags)}'\n")
    (tools / "pkg-config").chmod(0o755)
    env = dict(package.env, PATH=f"{tools}:{os.environ['PATH']}")
    out = tap.run("Python reads the headers", [sys.executable, script, source / "examples/quickstart", elf],
                  env=env)
    tap.result("it counts functions, too", None if out == CALLED else f"it prints {out}, not {CALLED}")
    done = subprocess.run([sys.executable, script, prefix / "nothing", elf], env=env, capture_output=True,
                          text=True, check=False)
    tap.result("it raises the error of a capture that is not there",
               None if done.returncode == 1 and done.stderr.startswith("refused: ") else done.stderr)


def from_python(tap, source, prefix, libdir):
    """Loads the library from Python, without a header. Checks that the counts can be merged."""
    env = dict(os.environ, LD_LIBRARY_PATH=str(libdir))
    line = [sys.executable, source / "examples/save_counts.py", source / "examples/quickstart"]
    out = tap.run("Python loads the library", line, env=env)
    tap.result("it counts", None if out and SAVED in out else f"it says {out}")
    saved = prefix / "counts.data"
    saved.write_text(out or "")
    merged = tap.run("its counts can be merged", [prefix / "bin/coretap", "merge", saved], env=env)
    tap.result("to the same", None if merged == out else f"it says {merged}")


def library_pages(tap, prefix, libdir):
    """Checks that section 3 has a page, or a link to one, for each function that the libraries export."""
    exported = []
    for library in LIBRARIES:
        rows = subprocess.run(["nm", "-D", "--defined-only", libdir / f"lib{library}.so"], text=True,
                              capture_output=True, check=True).stdout.splitlines()
        # versions of symbols are absolute symbols
        exported += [row.split()[2] for row in rows if row.split()[1] != "A"]
    folder = prefix / "share/man/man3"
    missing = []
    for name in [*(word.split("@")[0] for word in exported), "coretap"]:
        page = folder / f"{name}.3"
        text = page.read_text() if page.exists() else ".so nowhere"
        if text.startswith(".so ") and not (folder.parent / text.split()[1]).exists():
            missing.append(name)
    tap.result(f"{len(exported)} functions have a manual page",
               "\n".join(missing) or None if exported else "there are none")


def main():
    build, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        stage = pathlib.Path(folder)
        tap.run("meson install", ["meson", "install", "-C", str(build), "--no-rebuild", "--quiet"],
                env=dict(os.environ, DESTDIR=str(stage)))
        found = list(stage.rglob("coretap.pc"))
        tap.result("a pkg-config file is installed",
                   None if len(found) == 1 else f"{len(found)} files coretap.pc")
        if found:
            libdir = found[0].parent.parent
            prefix = next(p for p in libdir.parents if (p / "include").is_dir())
            headers(tap, prefix / "include")
            consumer(tap, source, prefix, libdir)
            in_cplusplus(tap, source, prefix, libdir)
            for page in sorted((source / "docs" / "man").glob("*.1")):
                installed = list(prefix.glob(f"share/man/man1/{page.name}*"))
                tap.result(f"{page.name} is installed", None if installed else "it is not")
            for script in ("bash-completion/completions/coretap", "zsh/site-functions/_coretap",
                           "fish/vendor_completions.d/coretap.fish"):
                tap.result(f"{script} is installed",
                           None if (prefix / "share" / script).exists() else "it is not")
            from_python(tap, source, prefix, libdir)
            with_headers(tap, source, prefix, libdir)
            for program in [path for end in ("c", "cc", "py") for path in source.glob(f"examples/*.{end}")]:
                installed = prefix / "share/doc/coretap/examples" / program.name
                tap.result(f"the example {program.name} is installed", None if installed.exists() else "no")
            library_pages(tap, prefix, libdir)
            tap.run("the installed command runs", [str(prefix / "bin" / "coretap"), "--version"])
    return results.finish()


if __name__ == "__main__":
    sys.exit(main())
