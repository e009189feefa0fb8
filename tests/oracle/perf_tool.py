# SPDX-License-Identifier: Apache-2.0
"""Runs perf as a black box, and prints the TAP lines of its tests."""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))  # folder of perf_writer
import tap  # noqa: E402  pylint: disable=wrong-import-position


def corpus():
    shared = os.environ.get("CT_SHARED")
    return (pathlib.Path(shared) if shared else ROOT.parent / "shared") / "corpus"


def skip(reason):
    sys.exit(tap.skip_all(reason))


def need_perf():
    """Returns the path of perf. Skips the test when perf is missing or built without OpenCSD."""
    perf = shutil.which("perf")
    if not perf:
        skip("perf is not installed (Debian: linux-perf)")
    libraries = subprocess.run(["ldd", os.path.realpath(perf)], capture_output=True, text=True).stdout
    if "opencsd" not in libraries:
        skip("perf is built without OpenCSD")
    return perf


def run(line, **options):
    result = subprocess.run([str(part) for part in line], capture_output=True, stdin=subprocess.DEVNULL,
                            timeout=300, **options)
    return result.stdout.decode(errors="replace"), result.stderr.decode(errors="replace"), result.returncode


class Tap:
    """Prints results. check(name, why): `why` is None when it passed, otherwise what is wrong."""
    check = staticmethod(tap.told)
    skip = staticmethod(tap.skip)

    @staticmethod
    def end():
        sys.exit(tap.finish())


def first_difference(wanted, got, names=("perf", "coretap")):
    for i, (w, g) in enumerate(zip(wanted, got)):
        if w != g:
            return f"entry {i}\n  {names[0]}: {w}\n  {names[1]}: {g}"
    if len(wanted) != len(got):
        return f"{names[0]} has {len(wanted)}, {names[1]} {len(got)}"
    return None if wanted else "nothing to compare"
