#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fuzzes one target with libFuzzer for a while, beginning with its corpus; prints TAP.

usage: run_fuzz.py PROGRAM CORPUS [COMMAND]

Without $CT_FUZZ_SECONDS it runs a few thousand inputs, or for a second, and always generates the same ones,
so that a change which breaks something is found with that change. With $CT_WHOLE it takes 2 seconds (1 for a
COMMAND, because there are many). With $CT_FUZZ_SECONDS it takes that long and generates new ones. Findings
are kept in the folder fuzz-findings of the build."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

RUNS = 3000  # those of the corpus included

def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__)
        return 2
    program, corpus = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    command = sys.argv[3] if len(sys.argv) > 3 else ""
    seconds = os.environ.get("CT_FUZZ_SECONDS")
    walk = [f"-max_total_time={seconds}"] if seconds else ["-seed=1"] + (
        [f"-max_total_time={1 if command else 2}"] if tap.WHOLE else ["-max_total_time=1", f"-runs={RUNS}"])
    name = "-".join([program.name, *command.split()])
    findings = pathlib.Path("fuzz-findings").resolve()
    findings.mkdir(exist_ok=True)
    # Folders that a target makes are to be in memory.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as work:
        grown = pathlib.Path(work, "corpus")
        grown.mkdir()
        line = [str(program), *walk, "-rss_limit_mb=1024", "-timeout=10", "-max_len=65536",
                f"-artifact_prefix={findings}/{name}-", str(grown)]
        if corpus.is_dir():
            line.append(str(corpus))
        result = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True,
                                env=os.environ
                                | {"TMPDIR": work, **({"CT_FUZZ_COMMAND": command} if command else {})})
    log = result.stderr.decode(errors="replace").splitlines()
    print("1..1")
    print(f"{'not ' if result.returncode else ''}ok 1 - {name}: {' '.join(walk)}")
    # What a sanitizer says begins with the fault; the rows before it are of the search, those far behind it
    # show memory.
    fault = next((i for i, row in enumerate(log) if "ERROR:" in row), max(0, len(log) - 60))
    told = log[fault:fault + 60] + log[max(fault + 60, len(log) - 4):] if result.returncode else log[-1:]
    print("\n".join(f"# {row}" for row in told))
    return 1 if result.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
