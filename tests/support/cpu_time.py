# SPDX-License-Identifier: Apache-2.0
"""Compares the processor time that a command takes for a small and a large input."""
import resource
import subprocess

TIMES = 8  # the large input is so many times as large
MOST = 24  # times as long: three times what linear work takes, and far less than the 64 of quadratic work


def seconds(*words):
    """Runs a command and returns its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(list(map(str, words)), stdout=subprocess.DEVNULL, check=True, timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def growth(small, large):
    """Runs two commands three times each, and returns how many times as long the second one takes. Other
    work of the machine only adds to the time of a command, so the shortest one counts."""
    return min(seconds(*large) for _ in range(3)) / min(seconds(*small) for _ in range(3))
