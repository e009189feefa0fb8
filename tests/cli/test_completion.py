#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the scripts of src/cli/completion offer in bash, zsh and fish.

usage: test_completion.py COMMAND

bash calls the function as for a Tab, bash and zsh are also asked on a terminal, and fish itself prints what
it would complete. Prints TAP."""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND = pathlib.Path(sys.argv[1]).resolve()
SCRIPTS = ROOT / "src" / "cli" / "completion"
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TERM": "dumb"}
# Each row: what is typed, and words that must be offered. The folder contains "folder/" and "file".
CASES = [
    ("coretap cov", ["cover"]),
    ("coretap --ver", ["--version"]),
    ("coretap hel", ["help"]),
    ("coretap help cov", ["cover"]),
    ("coretap help fractal re", ["replay", "report", "regs"]),
    ("coretap fractal re", ["replay", "report", "regs"]),
    ("coretap cover --form", ["--format"]),
    ("coretap cover -f ht", ["html"]),
    ("coretap cover --format co", ["cobertura"]),
    ("coretap cover --format=co", ["cobertura"]),
    ("coretap list --framing ", ["auto", "none", "frames", "tpiu", "dstream"]),
    ("coretap map ti", ["timing"]),
    ("coretap map cover --form", ["--format"]),
    ("coretap cover --all", ["--all-functions"]),
]
FILES = [
    ("coretap cover fi", ["file"]),
    ("coretap cover --elf fi", ["file"]),
    ("coretap cover --elf=fi", ["file"]),
    ("coretap cover --symdir fo", ["folder/"]),
    ("coretap record -- fi", ["file"]),
]
# A shell function in place of the command: prints its words, but answers what the scripts ask.
PRINT = """coretap() { case $1 in --complete) command coretap "$@";; *) printf '<%s>\\n' "$*";; esac }"""
NOTHING = ["coretap nothing ", "coretap wcet --entry ", "coretap -- ", "coretap help cover "]


def bash_words(folder, line):
    """Returns COMPREPLY after a Tab. A fallback to the shell's own completion is in it as ':NAME'."""
    words = " ".join(f"'{word}'" for word in split_like_bash(line))
    script = f"""
. {SCRIPTS}/coretap.bash
compopt() {{ COMPREPLY+=(":$2"); }}
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
eval "$(complete -p coretap | sed 's/.*-F \\([^ ]*\\).*/\\1/')" coretap '"${{COMP_WORDS[COMP_CWORD]}}"'
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=ENVIRONMENT, cwd=folder,
                          timeout=300, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


def split_like_bash(line):
    """Returns the words of a line as bash's completion splits it: '=' is a word."""
    return [word for part in line.split(" ") for word in re.split("(=)", part) if word or "=" not in part]


def typed(shell, setup, folder, line):
    """Types a line and a Tab on a terminal. Returns the words that the command gets, as <WORD>."""
    process, terminal = pty.fork()
    if not process:
        os.chdir(folder)
        os.execvpe(shell[0], shell, ENVIRONMENT)
    try:
        os.write(terminal, f"{setup}; {PRINT}; PS1=; echo rea''dy\n".encode())
        read_until(terminal, b"ready\r\n")
        os.write(terminal, f"{line}\t\n".encode())
        os.write(terminal, b"echo do''ne\n")
        return read_until(terminal, b"done\r\n").decode(errors="replace")
    finally:
        os.kill(process, 9)
        os.waitpid(process, 0)
        os.close(terminal)


def read_until(terminal, end):
    text, limit = b"", time.monotonic() + 300
    while end not in text and time.monotonic() < limit:
        if select.select([terminal], [], [], 0.2)[0]:
            text += os.read(terminal, 4096)
    assert end in text, text
    return text


def fish_words(folder, line):
    script = f"source {SCRIPTS}/coretap.fish; complete -C '{line}'"
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, cwd=folder,
                          env={**ENVIRONMENT, "HOME": str(folder)}, timeout=300, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return [row.split("\t")[0].rpartition("=")[2] for row in done.stdout.splitlines()]


def hold(words, cases):
    for line, wanted in cases:
        got = words(line)
        assert set(wanted) <= set(got), f"'{line}': {wanted} are not among {got}"
    return f"{len(cases)} lines"


def hold_nothing(words):
    for line in NOTHING:
        assert not words(line), f"'{line}': {words(line)}"
    return f"{len(NOTHING)} lines"


def hold_typed(shell, setup, folder):
    """Checks that a single completion is put into the line."""
    single = [(line, words[0]) for line, words in [*CASES, *FILES] if len(words) == 1]
    for line, word in single:
        got = typed(shell, setup, folder, line)
        whole = f"{line[:max(line.rfind(' '), line.rfind('=')) + 1]}{word}".removeprefix("coretap ")
        assert re.search(f"<{whole.rstrip('/')}/? ?>", got), f"'{line}': not '{whole}' but {got!r}"
    return f"{len(single)} lines"


def missing(shell):
    return None if shutil.which(shell) else f"{shell} is missing"


def check_all(folder):
    bash = lambda line: bash_words(folder, line)  # noqa: E731
    fish = lambda line: fish_words(folder, line)  # noqa: E731
    tap.case("bash: words", missing("bash"), lambda: hold(bash, CASES))
    tap.case("bash: nothing", missing("bash"), lambda: hold_nothing(bash))
    tap.case("bash: on a terminal", missing("bash"), lambda: hold_typed(
        ["bash", "--norc", "-i"], f". {SCRIPTS}/coretap.bash", folder))
    tap.case("zsh: on a terminal", missing("zsh"), lambda: hold_typed(
        ["zsh", "-f", "-i"], f"fpath=({SCRIPTS} $fpath); autoload -U compinit; compinit -D -u", folder))
    tap.case("fish: words", missing("fish"), lambda: hold(fish, [*CASES, *FILES]))
    tap.case("fish: nothing", missing("fish"), lambda: hold_nothing(fish))


def main():
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as commands:
        # an emulated command has another name
        (pathlib.Path(commands) / "coretap").symlink_to(COMMAND)
        ENVIRONMENT["PATH"] = f"{commands}:{os.environ['PATH']}"
        folder = pathlib.Path(scratch)
        (folder / "file").touch()
        (folder / "folder").mkdir()
        check_all(folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
