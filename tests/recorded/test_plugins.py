#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what record and fractal run say when the plugin for QEMU is not the one that they need: of another
build, another plugin, for another QEMU, no plugin. The program does not run then. Prints TAP.

usage: test_plugins.py COMMAND TRACE_PLUGIN ACCESS_PLUGIN"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND, TRACE, ACCESS = map(os.path.abspath, sys.argv[1:4])
PROGRAM = '#include <stdio.h>\nint main(void) { puts("it ran"); return 0; }\n'
REPLACED = """#include <unistd.h>
int main(int argc, char **argv) { return argc > 1 ? execv(argv[1], argv + 1) : 1; }
"""
PLUGIN = """
int qemu_plugin_version = VERSION;
int qemu_plugin_install(void) { return 0; }
#ifdef TYPE
__asm__(".pushsection .note.coretap, \\"a\\", %note\\n.long 8, 2f - 1f, " TYPE "\\n.asciz \\"coretap\\"\\n"
        "1: .long " LAYOUT "\\n.asciz \\"9.8.7\\"\\n2: .balign 4\\n.popsection");
#endif
"""


def run(command, plugin, *arguments):
    variable = "CORETAP_ACCESS_PLUGIN" if command[0] == "fractal" else "CORETAP_TRACE_PLUGIN"
    return subprocess.run([COMMAND, *command, *(str(word) for word in arguments)], capture_output=True,
                          text=True, check=False, env={**os.environ, variable: str(plugin)}, timeout=300)


def make_plugin(folder, name, version=1, note=None):
    """Makes a plugin, with a note of this type and layout."""
    source = folder / "plugin.c"
    source.write_text(PLUGIN, encoding="ascii")
    options = [f'-DTYPE="{note[0]}"', f'-DLAYOUT="{note[1]}"'] if note else []
    subprocess.run(["gcc", "-shared", "-fPIC", f"-DVERSION={version}", *options, "-o", folder / name, source],
                   check=True)
    return folder / name


def check_refused(folder, program, layouts):
    text = folder / "text.so"
    text.write_text("no plugin\n", encoding="ascii")
    cases = (("no shared object", text, "it is no shared object"),
             ("a folder", folder, "it cannot be read: Is a directory"),
             ("a plugin without a version", make_plugin(folder, "old.so"),
              "it is no plugin of coretap, or one of a build that had no version yet"),
             ("another build", make_plugin(folder, "other.so", note=(1, "0x12345678")),
              "it is of another build: coretap 9.8.7 with layout 12345678"),
             ("the other plugin", ACCESS, "it is the plugin coretap-access.so"))
    for name, plugin, wanted in cases:
        done = run(["record", "-o", folder / "none"], plugin, program)
        tap.check(f"record with {name}: both files, both versions, the remedy", done.returncode == 2
                  and f"{plugin}: {wanted}; {os.path.realpath(COMMAND)} (coretap " in done.stderr
                  and f"with layout {layouts['TRACE']})" in done.stderr
                  and "set CORETAP_TRACE_PLUGIN to the plugin of the same build, or unset it" in done.stderr,
                  done.stderr)
        tap.check(f"record with {name}: nothing ran and nothing is left", "it ran" not in done.stdout
                  and not (folder / "none").exists(), done.stdout)
    done = run(["fractal", "run"], make_plugin(folder, "access.so", note=(2, "0x1")), "-o",
               folder / "log", "--", program)
    tap.check("fractal run with another build", done.returncode == 2 and "it ran" not in done.stdout
              and "it is of another build: coretap 9.8.7 with layout 00000001" in done.stderr
              and "set CORETAP_ACCESS_PLUGIN" in done.stderr, done.stderr)


def check_qemu(folder, program, layouts):
    """Checks plugins that QEMU itself refuses."""
    plugin = make_plugin(folder, "api.so", 99, (1, "0x" + layouts["TRACE"]))
    done = run(["record", "-o", folder / "none"], plugin, program)
    tap.check("record with a plugin for another QEMU", done.returncode == 2 and "it ran" not in done.stdout
              and f"qemu-aarch64 ended before it had loaded the plugin {plugin} (coretap" in done.stderr
              and "record with QEMU 7.2" in done.stderr and not (folder / "none").exists(), done.stderr)
    plugin = make_plugin(folder, "api-access.so", 99, (2, "0x" + layouts["ACCESS"]))
    done = run(["fractal", "run"], plugin, "-o", folder / "log", "--", program)
    tap.check("fractal run with a plugin for another QEMU", done.returncode == 2
              and "it ran" not in done.stdout and "cannot load the plugin, use QEMU 7.2" in done.stderr,
              f"{done.returncode} {done.stderr}")


def check_options(program, layouts):
    """Checks what a plugin says when the command is of another build."""
    for plugin, layout in ((TRACE, layouts["TRACE"]), (ACCESS, layouts["ACCESS"])):
        name = pathlib.Path(plugin).name
        for options, wanted in ((f"layout={layout},colour=red", "the option 'colour=red' is unknown"),
                                ("layout=1,fd=9", "the command that started QEMU is not of the same build"),
                                ("fd=9", "the command that started QEMU is not of the same build")):
            done = subprocess.run(["qemu-aarch64", "-plugin", f"{plugin},{options}", program],
                                  capture_output=True, text=True, check=False, timeout=300)
            tap.check(f"{name} with {options.replace(layout, 'L')}", done.returncode and not done.stdout
                      and f"{name} (coretap " in done.stderr and wanted in done.stderr
                      and "use the plugin with the coretap command of the same build" in done.stderr,
                      done.stderr)


def check_exec(folder, program):
    """Checks that the plugin goes along into a program that replaces itself."""
    (folder / "replaced.c").write_text(REPLACED, encoding="ascii")
    subprocess.run(["aarch64-linux-gnu-gcc", "-O2", "-static", "-o", folder / "replaced",
                    folder / "replaced.c"], check=True)
    done = run(["fractal", "run"], shutil.copy(ACCESS, folder / "a=b,c,,d,access.so"), "-o",
               folder / "exec-log", "--", folder / "replaced", program)
    tap.check("fractal run with commas in the plugin's name, and exec", done.returncode == 0
              and done.stdout == "it ran\n", f"{done.returncode} {done.stdout} {done.stderr}")


def main():
    missing = [tool for tool in ("gcc", "aarch64-linux-gnu-gcc", "qemu-aarch64") if not shutil.which(tool)]
    if missing:
        tap.skip("plugins", " and ".join(missing) + ": missing")
        return tap.finish()
    header = (pathlib.Path(__file__).resolve().parents[2] / "recorder/plugin_note.h").read_text()
    layouts = dict(re.findall(r"PLUGIN_(\w+)_LAYOUT +0x(\w+)", header))
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "program.c").write_text(PROGRAM, encoding="ascii")
        program = folder / "program"
        subprocess.run(["aarch64-linux-gnu-gcc", "-O2", "-static", "-o", program, folder / "program.c"],
                       check=True)
        for place in ("moved.so", "a=b,c,,d,.so"):
            done = run(["record", "-q", "-o", folder / f"of {place}"], shutil.copy(TRACE, folder / place),
                       program)
            tap.check(f"a plugin may have any name: {place}",
                      done.returncode == 0 and done.stdout == "it ran\n", done.stderr)
        check_exec(folder, program)
        check_refused(folder, program, layouts)
        check_qemu(folder, program, layouts)
        check_options(program, layouts)
    return tap.finish()


sys.exit(main())
