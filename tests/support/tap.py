# SPDX-License-Identifier: Apache-2.0
"""Prints TAP for tests in Python: numbered results, the plan at the end."""
import os
import pathlib
import shutil

# Whether all cases are to run: with CHECK=whole and in make check-long (tools/run-tests).
WHOLE = any(os.environ.get(name, "0") not in ("", "0") for name in ("CT_WHOLE", "CT_LONG"))

count = 0
failed = 0


def some(every, *few):
    """Returns `every`, all values that a test can take, or only those at the indices `few` when not all
    cases are to run."""
    every = list(every)
    return every if WHOLE else [every[index] for index in few]


def check(name, truth, detail=""):
    """Prints one result; `detail`, a text or its lines, describes a failure."""
    global count, failed
    count += 1
    failed += not truth
    print(f"{'ok' if truth else 'not ok'} {count} - {name}", flush=True)
    if not truth:
        lines = detail if isinstance(detail, list) else str(detail).splitlines()
        print("\n".join(f"# {line}" for line in lines[:80]), flush=True)


def skip(name, why):
    global count
    count += 1
    print(f"ok {count} - {name} # SKIP {why}", flush=True)


def case(name, missing, body):
    """Prints a result that an assertion decides, or a False that `body` returns; another value is a note.
    `missing` gives the reason for a skip, or nothing."""
    if missing:
        skip(name, missing)
        return
    try:
        note = body()
    except AssertionError as error:
        check(name, False, str(error)[:20000])
        return
    check(name, note is not False)
    if not isinstance(note, bool):
        print(f"# {note}", flush=True)


def told(name, why, note=""):
    """Prints one result from what is wrong: a text, or nothing when all is well. Then `note` is printed."""
    check(name, not why, why)
    if note and not why:
        print(f"# {note}", flush=True)


def lacks(*tools):
    """Returns the reason for a skip when one of the programs is not installed, or None."""
    return next((f"needs {tool}" for tool in tools if not shutil.which(tool)), None)


def skip_all(why):
    """Prints that nothing is tested, and returns the exit code."""
    print(f"1..0 # SKIP {why}")
    return 0


def is_sanitized(program):
    """Returns whether the program is built with AddressSanitizer, which needs much address space, and
    /proc."""
    return b"__asan_init" in pathlib.Path(program).read_bytes()


def is_emulated(program):
    """Returns whether the program is a script that calls an emulator (make-emulated)."""
    with pathlib.Path(program).open("rb") as file:
        return file.read(2) == b"#!"


def finish():
    """Prints the plan and returns the exit code."""
    print(f"1..{count}")
    return 1 if failed else 0
