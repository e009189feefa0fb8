/* SPDX-License-Identifier: Apache-2.0 */
/* A trace in memory through one of two libraries, and what they gave beside each other. */
#ifndef CT_TEST_OPENCSD_COMPARE_H
#define CT_TEST_OPENCSD_COMPARE_H

#include <stdbool.h>

#include "opencsd/player.h"
#include "oracle/ocsd.h"

/* A trace of one source without frames, and the program that ran. */
struct compare_trace {
    const struct ct_source *source;
    const struct ocsd_region *regions;
    unsigned region_count;
    const uint8_t *bytes;
    size_t size;
    bool twice; /* OpenCSD's library plays it twice, in processes of their own with other bytes in memory that
                 * was never set, and what it does not do again counts as a crash */
};

/* What a library gave, as lines; `data` is the caller's to free. */
struct compare_text {
    char *data;
    size_t size;
};

struct compare_counts {
    uint64_t worse;   /* traces of which the libraries gave something else */
    uint64_t crashes; /* traces that crashed OpenCSD's library, which 1.3.3 does of some damage */
};

/* Compares the traces of `count` seeds from `first` on, by `each`, a few hundred in a process: where 1.3.3
 * ruins its heap, the one that ends the process counts as a crash, and the next has a new process. */
void compare_seeds(uint64_t first, uint64_t count,
                   void (*each)(const void *context, uint64_t seed, struct compare_counts *counts),
                   const void *context, struct compare_counts *counts);

/* Plays a trace as `player` says through both libraries, and counts a difference. The first few are shown,
 * and the `seed` of each is printed. Lines behind the first code of another instruction set than `isa` are
 * not compared. */
void compare(struct player player, const struct compare_trace *trace, const struct library *theirs,
             const struct library *ours, ocsd_isa isa, uint64_t seed, struct compare_counts *counts);

/* Tells whether both libraries live through a trace and give the same, without a word. */
bool compare_is_same(struct player player, const struct compare_trace *trace, const struct library *theirs,
                     const struct library *ours, ocsd_isa isa);

/* Plays a trace through a library. Returns true when the library crashed. */
bool compare_play(struct player player, const struct library *library, const struct compare_trace *trace,
                  struct compare_text *out);

/* Writes a trace of words with a space between two, each by `put_word`, which returns its size. Returns the
 * size of all. */
size_t compare_put(uint8_t *bytes, const char *words, size_t (*put_word)(uint8_t *bytes, const char *word));

#endif
