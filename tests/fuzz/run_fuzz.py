#!/usr/bin/env python3
"""Fuzzes one target with libFuzzer for a while, beginning with its corpus; prints TAP.

usage: run_fuzz.py PROGRAM CORPUS

$CT_FUZZ_SECONDS says how long (5). What breaks the target is kept in the folder fuzz-findings of the build."""
import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    program, corpus = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    seconds = os.environ.get("CT_FUZZ_SECONDS", "5")
    findings = pathlib.Path("fuzz-findings").resolve()
    findings.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as grown:
        line = [str(program), f"-max_total_time={seconds}", "-rss_limit_mb=1024", "-timeout=10", "-max_len=65536",
                f"-artifact_prefix={findings}/{program.name}-", grown]
        if corpus.is_dir():
            line.append(str(corpus))
        result = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True)
    log = result.stderr.decode(errors="replace").splitlines()
    print("1..1")
    print(f"{'not ' if result.returncode else ''}ok 1 - {program.name} for {seconds} s")
    print("\n".join(f"# {row}" for row in (log[-60:] if result.returncode else log[-1:])))
    return 1 if result.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
