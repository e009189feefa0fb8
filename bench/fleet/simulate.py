#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a job of coretap-mpi takes on more ranks than are at hand, from what one capture costs
(docs/fleet.md): ranks that are given captures one by one, the largest first, a file system that all of them
share, ranks that are slow or die, and sums that are added up in a tree. Prints a table, a row for each number
of ranks.

usage: simulate.py [--captures N] [--mean-mb X] [--spread S] [--rank-mb-s X] [--start-s X] [--storage MB/S]
                   [--latency-s X] [--piece-mb X] [--merge-mb-s X] [--network-mb-s X] [--stragglers P]
                   [--slow FACTOR] [--failures-per-day X] [--seed N] [RANKS]..."""
import argparse
import heapq
import math
import random

DEFAULT_RANKS = (1, 2, 8, 10, 30, 100, 300, 1000, 3000, 10000)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("ranks", nargs="*", type=int, default=list(DEFAULT_RANKS))
    add("--captures", type=int, default=100000)
    add("--mean-mb", type=float, default=50, help="of a capture; sizes are log-normal")
    add("--spread", type=float, default=1.0, help="sigma of the logarithm of sizes")
    add("--rank-mb-s", type=float, default=150, help="that a rank decodes, checking contents included")
    add("--start-s", type=float, default=0.03, help="to start the process of a capture and open it")
    add("--storage", type=float, default=20000, help="MB/s that all ranks together can read")
    add("--latency-s", type=float, default=0.01, help="until a capture's first byte comes")
    add("--piece-mb", type=float, default=1, help="of a piece, and of the sum of many")
    add("--merge-mb-s", type=float, default=40, help="of pieces that a rank adds up")
    add("--network-mb-s", type=float, default=1000, help="between two ranks")
    add("--hand-out-s", type=float, default=20e-6, help="that rank 0 takes to hand out a capture")
    add("--stragglers", type=float, default=0.01, help="part of the ranks that are slow")
    add("--slow", type=float, default=4, help="how many times as long these take")
    add("--failures-per-day", type=float, default=0.01, help="of one rank; each ends the job")
    add("--restart-s", type=float, default=60, help="until a job that was ended runs again")
    add("--seed", type=int, default=1)
    return parser.parse_args()


def sizes_of(how, rng):
    """MB of each capture, the largest first."""
    shift = math.log(how.mean_mb) - how.spread ** 2 / 2
    return sorted((rng.lognormvariate(shift, how.spread) for _ in range(how.captures)), reverse=True)


def tree_s(how, ranks):
    """Seconds of adding up the sums of all ranks: each round sends a sum and loads it."""
    rounds = math.ceil(math.log2(ranks)) if ranks > 1 else 0
    return rounds * (how.piece_mb / how.network_mb_s + how.piece_mb / how.merge_mb_s)


def work_s(how, ranks, sizes, rng):
    """Seconds until the last capture is done, and the part of them in which ranks had nothing to do.

    All ranks that read get the same share of the storage, so one clock of MB tells how far each is: a capture
    is done when the clock is its size beyond where it began. What else a capture costs is counted as MB, too.
    """
    slow = [how.slow if rng.random() < how.stragglers else 1.0 for _ in range(ranks)]
    fixed = (how.start_s + how.latency_s + how.piece_mb / how.merge_mb_s) * how.rank_mb_s
    gap = how.hand_out_s  # rank 0 answers one after the other
    seconds = clock = busy = 0.0
    running, following = [], iter(sizes)
    for rank, size in zip(range(ranks), following):
        heapq.heappush(running, ((size + fixed) * slow[rank] + rank * gap * how.rank_mb_s, rank))
    while running:
        done, rank = heapq.heappop(running)
        took = (done - clock) / min(how.rank_mb_s, how.storage / (len(running) + 1))
        seconds += took
        busy += took * (len(running) + 1)
        clock = done
        size = next(following, None)
        if size is not None:
            heapq.heappush(running, (clock + (size + fixed) * slow[rank], rank))
    seconds = max(seconds, len(sizes) * gap)
    return seconds, 1 - busy / (seconds * ranks)


def with_failures(how, ranks, seconds, sizes):
    """Seconds with the times that the job is ended: what a rank had begun is lost, and the rest kept."""
    per_second = how.failures_per_day * ranks / 86400
    capture = how.mean_mb / how.rank_mb_s + how.start_s
    if per_second * (how.restart_s + capture) >= 1:
        return math.inf
    begun = min(ranks, len(sizes)) / ranks
    return seconds / (1 - per_second * (how.restart_s + capture * begun / 2))


def main():
    how = arguments()
    rng = random.Random(how.seed)
    sizes = sizes_of(how, rng)
    total = sum(sizes)
    print("ranks\thours\tMB/s\tof one rank\tidle\tadding up\twith failures, hours")
    single = None
    for ranks in how.ranks:
        work, idle = work_s(how, ranks, sizes, random.Random(how.seed + ranks))
        tree = tree_s(how, ranks)
        seconds = work + tree
        whole = with_failures(how, ranks, seconds, sizes)
        single = single or seconds * ranks
        merging = (len(sizes) / ranks * how.piece_mb / how.merge_mb_s + tree) / seconds
        print(f"{ranks}\t{seconds / 3600:.3f}\t{total / seconds:.0f}\t{single / seconds:.1f}\t{idle:.1%}\t"
              f"{merging:.1%}\t{whole / 3600:.3f}")


if __name__ == "__main__":
    main()
