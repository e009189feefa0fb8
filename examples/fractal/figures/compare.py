# SPDX-License-Identifier: Apache-2.0
"""Compares what the paper states or claims with the results here, and explains the differences."""


def percent(value, digits=3):
    return f"{100 * value:.{digits}f} %"


def share(counts):
    return f"{counts['events']} of {counts['misses']} ({percent(counts['events'] / counts['misses'], 2)})"


def verdict(agrees, why):
    return ("Agrees. " if agrees else "Differs. ") + why


def overhead_numbers(rows):
    total = [logged / none - 1 for _, _, none, _, _, logged in rows]
    coherent = [coherent / none - 1 for _, _, none, coherent, _, _ in rows]
    tracing = [(tracing - coherent) / none for _, _, none, coherent, tracing, _ in rows]
    sink = [(logged - tracing) / none for _, _, none, _, tracing, logged in rows]
    return [
        ("Table I, Perf. Overhead", "~8 %", f"{percent(min(total))} to {percent(max(total))}",
         "The model's cores wait for each miss, and a fabric answers 12 cycles later than memory; a board's "
         "fabric, at 100 MHz behind a CCI-400, may answer later still. This one number scales the column."),
        ("Fig. 2, PL Coherent against No PL", "the text has no numbers for the bars",
         f"{percent(min(coherent))} to {percent(max(coherent))}",
         "As above: each miss waits for the fabric's answer, so the cost is in proportion to the misses."),
        ("Fig. 2 and Sec. V-A, tracing against PL Coherent", "“negligible”",
         f"{percent(min(tracing))} to {percent(max(tracing))}",
         verdict(max(tracing) < 0.005, "Most of it is spent at the start, so its share is larger in short "
                 "programs.")),
        ("Sec. III, Logger: BRAM against DRAM", "BRAM adds no stress on the main memory bus",
         f"a log in DRAM costs {percent(min(sink), 4)} to {percent(max(sink), 4)} more",
         verdict(max(sink) < 0.005, "Each miss of the text section writes 33 bytes to the log, and reads a "
                 "whole line from memory.")),
    ]


def numbers(rows, figure, logged, sizes):
    """Returns rows of the comparison: place in the paper, its statement, the result here, the explanation."""
    return overhead_numbers(rows) + [
        ("Sec. V-A, start", "up to an invalidation for each page in the range and for each page table entry",
         f"{figure['commands']} commands in all, for canny's text section",
         "One clean covers a line of eight descriptors, so there are fewer cleans than pages. There is one "
         "read for each page-table walk that was seen."),
        (f"Fig. 3, canny -t 5, {sizes[-1]}", "5 runs, with functions in the order in which they are called",
         f"{figure['runs']} runs found in {figure['events']} events",
         verdict(figure["runs"] == 5, "Runs can be told apart when the image is larger than the last-level "
                 "cache, because each run then loads the code again. This canny is not the "
                 "paper's program.")),
        ("Sec. V-A, Fig. 2: the workloads", "disparity, mser, sift, tracking of SD-VBS",
         "own implementations of the same algorithms", "Ratios can be compared, times cannot."),
        ("Sec. III, passive logging", "“a complete trace of LLC misses”",
         f"{share(logged['passive'])} with walks through the L2; {share(logged['passive, walks seen'])} "
         "where walks show at the port",
         "The claim holds if the port sees the walks. A Cortex-A53 walks through its L2."),
        ("Sec. V, “intermediately intrusive mode”", "the mode of all measurements",
         f"{share(logged['points'])}",
         verdict(logged["points"]["events"] == logged["points"]["misses"], "TLBs and descriptors are flushed "
                 "once, at set-up, and from then on walks show.")),
        ("Sec. IV, platform", "KV260: 4 Cortex-A53 at 1.3 GHz, 1 MB of L2, ring of 256K",
         "a model of the same", "Times are the model's predictions; docs/fractal.md has its latencies."),
        ("Table II", "22257 LUT (19 %), 5170 LUTRAM (8.98 %), 64 BRAM (44.44 %), 22229 FF (9.49 %)",
         "no gates: memory of each module's state, in docs/fractal.md",
         "Software has no such resources."),
    ]
