#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that what the library writes and reads does not depend on the locale of its program: the command is
run as if it had called setlocale in a country with a decimal comma. Prints TAP.

usage: run_locale.py COMMAND"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "support"))
import small_elf  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position
import run_install  # noqa: E402  pylint: disable=wrong-import-position

CAPTURE = ROOT / "examples" / "quickstart"
SETTER = """#include <locale.h>
#include <stdlib.h>
__attribute__((constructor)) static void set(void)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8") || strtod("1,5", NULL) != 1.5)
        abort();
}
"""
SPEC = """in x: Events[Float]
def y := x *. 1.5
out y
def text = slift1(y, (v: Float) => String.formatFloat("%.3f", v))
out text
"""
# Command lines whose output has real numbers. % stands for the program, @ for the folder of the test.
LINES = [
    "timing -E % {capture}",
    "timing -f json -E % {capture}",
    "timing -f svg --function gcd -E % {capture}",
    "cover -f html -E % {capture}",
    "report -E % {capture}",
    "wcet --entry gcd -f html -E % {capture}",
    "wcet --entry gcd -f dot -E % {capture}",
    "volume --capture {capture}",
    "volume -f svg --capture {capture}",
    "tessla --spec @/real.tessla --trace @/real.txt",
]


def main():
    missing = [tool for tool in ("cc", "localedef") if not shutil.which(tool)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = missing or subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"],
                                         capture_output=True, check=False).returncode
        if made:
            return tap.skip_all("no locale with a decimal comma can be made")
        (folder / "set.c").write_text(SETTER)
        setter = folder / "set.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", setter, folder / "set.c"], check=True)
        program = folder / "firmware.elf"
        program.write_bytes(small_elf.make((CAPTURE / "firmware.bin").read_bytes(), 0x80000,
                                           run_install.FUNCTIONS))
        (folder / "real.tessla").write_text(SPEC)
        (folder / "real.txt").write_text("1: x = 2.5\n2: x = 1.0e3\n")
        comma = dict(os.environ, LD_PRELOAD=str(setter), LOCPATH=str(folder))
        for line in LINES:
            words = line.format(capture=CAPTURE).replace("%", str(program)).replace("@", name).split()
            point, other = (subprocess.run([sys.argv[1], *words], capture_output=True, env=env, check=False)
                            for env in (os.environ, comma))
            tap.check(f"coretap {line.split(' -E')[0].split(' {')[0]}", len(point.stdout) > 20 and
                      (point.stdout, point.returncode) == (other.stdout, other.returncode),
                      f"exit codes {point.returncode}, {other.returncode}\n{point.stderr.decode()}\n"
                      f"{point.stdout[:600].decode()}\n{other.stdout[:600].decode(errors='replace')}")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
