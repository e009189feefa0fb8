# SPDX-License-Identifier: Apache-2.0
"""Runs commands for tests."""
import subprocess


def run(*words, codes=(0,), **options):
    """Runs a command and returns what subprocess.run returns: its texts and its exit code, which must be one
    of `codes`; None allows all."""
    options = {"capture_output": True, "text": True, "timeout": 300, **options}
    done = subprocess.run(list(map(str, words)), check=False, **options)
    assert codes is None or done.returncode in codes, (words, done.returncode, done.stderr)
    return done


def output(*words, **options):
    """Runs a command like `run` and returns its standard output."""
    return run(*words, **options).stdout
