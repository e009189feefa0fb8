#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulates how long a job of coretap-mpi takes on more ranks than are at hand (docs/fleet.md).

The simulation starts from the cost of one capture. Ranks get captures one by one, the largest first; all
share one storage; some are slow or die; and their sums are merged in a tree. Prints a table with a row for
each number of ranks. With --check the result is compared with the jobs that measure.py timed on this machine.
The exit code is 1 when one of them differs by more than a quarter.

usage: simulate.py [--measured FILE [--check]] [--store local|shared|object] [--captures N] [--mean-mb X]
                   [--stragglers P] [--slow FACTOR] [--failures-per-day X] [OPTION]... [RANKS]..."""
import argparse
import heapq
import json
import math
import pathlib
import random
import sys

FAR = 0.25  # largest allowed difference between simulated and measured times, as a part
DEFAULT_RANKS = (1, 2, 8, 10, 30, 100, 300, 1000, 3000, 10000)


# Each store: MB/s that all ranks together can read, MB/s of one rank, and seconds until the first byte
# arrives. "local": the disks of the machines; "shared": a file system that all machines share; "object": an
# object store.
STORES = {"local": (math.inf, 2000, 0.0005), "shared": (20000, 1000, 0.005), "object": (math.inf, 80, 0.05)}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("ranks", nargs="*", type=int)
    add("--measured", help="figures of measure.py; options say otherwise")
    add("--check", action="store_true")
    add("--store", choices=STORES, default="shared")
    add("--captures", type=int, default=100000)
    add("--mean-mb", type=float, help="of a capture; sizes are log-normal, or as measured")
    add("--spread", type=float, default=1.0, help="sigma of the logarithm of sizes")
    add("--cores", type=int, help="that all ranks share; without this option each has one")
    add("--hand-out-s", type=float, default=20e-6, help="that rank 0 takes to hand out a capture")
    add("--network-mb-s", type=float, default=1000, help="between two ranks")
    add("--stragglers", type=float, default=0.01, help="part of the ranks that are slow")
    add("--slow", type=float, default=4, help="how many times as long these take")
    add("--failures-per-day", type=float, default=0.01, help="of one rank; each ends the job")
    add("--restart-s", type=float, default=60, help="until a job that was ended runs again")
    add("--seed", type=int, default=1)
    for name, value in COSTS.items():
        add(f"--{name.replace('_', '-')}", type=float, default=None, help=f"{value} without figures")
    return settle(parser.parse_args())


# Costs to assume where none were measured: seconds to start the process of a capture; seconds for each MB
# that is decoded, compared with the manifest, and merged; seconds to store a piece; MB of a piece and of a
# sum; seconds of a job, and of each of its ranks.
COSTS = {"start_s": 0.03, "decode_s_per_mb": 0.007, "digest_s_per_mb": 0.004, "merge_s_per_mb": 0.025,
         "keep_s": 0.0005, "piece_mb": 1.0, "sum_mb": 1.0, "job_s": 0.3, "job_s_per_rank": 0.01}


def settle(how):
    """Fills in what the command line leaves open, from measured figures or COSTS."""
    how.figures = json.loads(pathlib.Path(how.measured).read_text(encoding="utf-8")) if how.measured else {}
    for name, value in COSTS.items():
        if getattr(how, name) is None:
            setattr(how, name, how.figures.get(name, value))
    how.storage, how.connection, how.latency_s = STORES[how.store]
    if how.check:
        how.ranks, how.captures = [int(ranks) for ranks in how.figures["seconds"]], how.figures["captures"]
        how.cores, how.stragglers, how.failures_per_day = how.figures["cores"], 0, 0
        how.storage, how.connection, how.latency_s = math.inf, math.inf, 0  # the captures are in memory
    how.ranks = how.ranks or list(DEFAULT_RANKS)
    return how


def sizes_of(how, rng):
    """Returns the MB of each capture, the largest first."""
    known = how.figures.get("sizes_mb")
    if known and how.mean_mb is None:
        chosen = known if how.captures == len(known) else rng.choices(known, k=how.captures)
        return sorted(chosen, reverse=True)
    shift = math.log(how.mean_mb or 50) - how.spread ** 2 / 2
    return sorted((rng.lognormvariate(shift, how.spread) for _ in range(how.captures)), reverse=True)


def capture_s(how, size):
    """Returns the seconds of one capture on a rank that has a processor to itself."""
    reading = max(size * (how.decode_s_per_mb + how.digest_s_per_mb), size / how.connection)
    return how.start_s + how.latency_s + reading + how.piece_mb * how.merge_s_per_mb + how.keep_s


def tree_s(how, ranks):
    """Returns the seconds that merging the sums of all ranks takes: each round sends a sum and loads it."""
    rounds = math.ceil(math.log2(ranks)) if ranks > 1 else 0
    return rounds * how.sum_mb * (1 / how.network_mb_s + how.merge_s_per_mb)


def work_s(how, ranks, sizes, rng):
    """Returns the seconds until the last capture is done, and the part of them in which ranks were idle.

    All working ranks get the same share of the processors and of the storage. So one clock, in seconds on a
    processor of one's own, shows the progress of each rank: a capture is done when the clock has advanced by
    the capture's cost since its start."""
    slow = [how.slow if rng.random() < how.stragglers else 1.0 for _ in range(ranks)]
    gap = how.hand_out_s  # rank 0 answers one rank at a time
    mean_rate = sum(sizes) / sum(capture_s(how, size) for size in sizes)  # MB that a rank reads in a second
    seconds = clock = busy = 0.0
    running, following = [], iter(sizes)
    for rank, size in zip(range(ranks), following):
        heapq.heappush(running, (capture_s(how, size) * slow[rank] + rank * gap, rank))
    while running:
        done, rank = heapq.heappop(running)
        active = len(running) + 1
        speed = min(1, (how.cores or active) / active, how.storage / (active * mean_rate))
        took = (done - clock) / speed
        seconds += took
        busy += took * active
        clock = done
        size = next(following, None)
        if size is not None:
            heapq.heappush(running, (clock + capture_s(how, size) * slow[rank], rank))
    seconds = max(seconds, len(sizes) * gap)
    return seconds, 1 - busy / (seconds * ranks)


def job_s(how, ranks, sizes):
    """Returns the seconds of a job without failures, the part in which ranks were idle, and the seconds of
    merging."""
    work, idle = work_s(how, ranks, sizes, random.Random(how.seed + ranks))
    tree = tree_s(how, ranks)
    own = len(sizes) / ranks * how.piece_mb * how.merge_s_per_mb
    start = how.job_s + how.job_s_per_rank * (ranks if how.cores else 1)  # machines start at the same time
    return start + work + tree, idle, own + tree


def with_failures(how, ranks, seconds, sizes):
    """Returns the seconds of a job that failures end and that is started again each time: the captures that
    ranks had begun are lost, the finished ones are kept."""
    per_second = how.failures_per_day * ranks / 86400
    capture = sum(capture_s(how, size) for size in sizes) / len(sizes)
    if per_second * (how.restart_s + capture) >= 1:
        return math.inf
    begun = min(ranks, len(sizes)) / ranks
    return seconds / (1 - per_second * (how.restart_s + capture * begun / 2))


def check(how, sizes):
    """Compares simulated with measured jobs. Returns the exit code."""
    code = 0
    print("ranks\tmeasured, s\tsimulated, s\tdifference")
    for ranks in how.ranks:
        simulated, measured = job_s(how, ranks, sizes)[0], how.figures["seconds"][str(ranks)]
        print(f"{ranks}\t{measured:.2f}\t{simulated:.2f}\t{simulated / measured - 1:+.1%}")
        code |= abs(simulated / measured - 1) > FAR
    return code


def table(how, sizes):
    total = sum(sizes)
    print("ranks\thours\tMB/s\tof one rank\tidle\tadding up\twith failures, hours")
    single = None
    for ranks in how.ranks:
        seconds, idle, adding = job_s(how, ranks, sizes)
        whole = with_failures(how, ranks, seconds, sizes)
        single = single or seconds * ranks
        print(f"{ranks}\t{seconds / 3600:.3f}\t{total / seconds:.0f}\t{single / seconds:.1f}\t{idle:.1%}\t"
              f"{adding / seconds:.1%}\t{whole / 3600:.3f}")


def main():
    how = arguments()
    sizes = sizes_of(how, random.Random(how.seed))
    if how.check:
        return check(how, sizes)
    table(how, sizes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
