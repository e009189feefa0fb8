/* SPDX-License-Identifier: Apache-2.0 */
/* Plays a trace in memory through two libraries and compares their output. */
#pragma once

#include <stdbool.h>

#include "opencsd/player.h"
#include "oracle/ocsd.h"

/* A trace of one source without frames, and the program that it traces. */
struct compare_trace {
    const struct ct_source *source;
    const struct ocsd_region *regions;
    unsigned region_count;
    const uint8_t *bytes;
    size_t size;
    bool twice; /* plays it at once as a trace that differs is played: OpenCSD's library twice, in separate
                 * processes with different bytes in memory that was never written or was freed, where output
                 * that differs counts as a crash; coretap's in one of its own */
};

/* Output of a library, as lines. The caller frees `data`. */
struct compare_text {
    char *data;
    size_t size;
};

struct compare_counts {
    uint64_t worse;   /* traces with different output */
    uint64_t crashes; /* traces at which OpenCSD's library crashed, which 1.3.3 does at some damage, or whose
                       * output depends on memory that it has freed or never wrote */
};

/* Calls `each` for `count` seeds from `first` on, for a few hundred of them per process. 1.3.3 can corrupt
 * its heap: the trace that then ends the process counts as a crash, and the next one gets a new process. */
void compare_seeds(uint64_t first, uint64_t count,
                   void (*each)(const void *context, uint64_t seed, struct compare_counts *counts),
                   const void *context, struct compare_counts *counts);

/* Traces of a kind, and the libraries that play them. */
struct compare_kind {
    int kind;
    const struct library *theirs, *ours;
};

/* Loads the libraries that the first two arguments name. Calls `each` with a struct compare_kind for traces
 * of each of `count` kinds: a number of traces that test_count makes of `few` and `many`. Of `most_worse`
 * damaged traces one may differ; 0: none. Prints a line of TAP for each kind. Returns the exit code. */
int compare_kinds(int argc, char **argv, int count, const char *(*name)(int kind, bool *damaged),
                  uint64_t few, uint64_t many, uint64_t most_worse,
                  void (*each)(const void *kind, uint64_t seed, struct compare_counts *counts));

/* Plays a trace through both libraries with the options in `player`, and counts a difference. The first few
 * differences are printed, and the `seed` of each. Lines after the first code of another instruction set than
 * `isa` are not compared. */
void compare(struct player player, const struct compare_trace *trace, const struct library *theirs,
             const struct library *ours, ocsd_isa isa, uint64_t seed, struct compare_counts *counts);

/* Returns whether neither library crashes at a trace and both give the same output. Prints nothing. */
bool compare_is_same(struct player player, const struct compare_trace *trace, const struct library *theirs,
                     const struct library *ours, ocsd_isa isa);

/* Plays a trace through a library. Returns true when the library crashed. */
bool compare_play(struct player player, const struct library *library, const struct compare_trace *trace,
                  struct compare_text *out);

/* Writes a trace from words with a space between two. `put_word` writes each one and returns its size.
 * Returns the size of the trace in bytes. */
size_t compare_put(uint8_t *bytes, const char *words, size_t (*put_word)(uint8_t *bytes, const char *word));
