/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of sums of times. */
#ifndef CT_ANALYSIS_TIMING_SUMS_H
#define CT_ANALYSIS_TIMING_SUMS_H

#include "analysis/program_table.h"
#include "base/arena.h"
#include "coretap/timing.h"

/* Things by a key. The first of them are in its order, each once; those behind came since then. */
struct ct_sum_list {
    char *items;
    size_t count, room;
    size_t sorted;
    const struct ct_sum_kind *kind;
};

/* What a list is of. */
struct ct_sum_kind {
    size_t size; /* of an item */
    /* The order of keys, as for qsort. */
    int (*order)(const void *a, const void *b);
    /* Adds what one of the same key has, up to the largest value of each sum. CT_ERR_NOMEM. */
    int (*add)(void *into, const void *from);
    /* Gives back what hangs on it. */
    void (*clear)(void *item);
};

extern const struct ct_sum_kind ct_sum_functions, ct_sum_edges, ct_sum_pairs;

/* The item of this key, which is appended, with its key alone, when there is none in order. What the key
 * points to is not copied: *fresh says that it has to be. NULL without memory. */
void *ct_sum_list_slot(struct ct_sum_list *list, const void *key, bool *fresh);

/* Brings it in order, each key once. CT_ERR_NOMEM. */
int ct_sum_list_settle(struct ct_sum_list *list);
void ct_sum_list_clear(struct ct_sum_list *list);

/* A stream that is not over. */
struct ct_timing_stream {
    uint32_t lane;
    struct ct_timing *timing;
    struct ct_watches *watches;
    const struct ct_graph *graph;
};

struct ct_timing_wanted {
    const char *from, *to;
};

struct ct_timing_sums {
    struct ct_analysis analysis; /* has to be the first member */
    struct ct_timing_sums_options options;
    struct ct_arena arena; /* names */
    struct ct_program_table table;
    struct ct_sum_list functions, edges, pairs;
    struct ct_timing_totals totals;
    struct ct_timing_wanted *wanted; /* pairs */
    size_t wanted_count;
    struct ct_programs *programs; /* that ran */
    struct ct_timing_stream *streams;
    size_t stream_count;
};

/* Adds one to the lists; names are copied. CT_ERR_NOMEM. */
int ct_timing_sums_add_function(struct ct_timing_sums *sums, const struct ct_timing_function *function);
int ct_timing_sums_add_edge(struct ct_timing_sums *sums, const struct ct_timing_edge *edge);
int ct_timing_sums_put_pair(struct ct_timing_sums *sums, const struct ct_timing_pair *pair);
void ct_timing_sums_add_totals(struct ct_timing_sums *sums, const struct ct_timing_totals *more);

/* ---- timing_streams.c ---- */

int ct_timing_streams_take(struct ct_timing_sums *sums, const struct ct_analysis_batch *batch);

/* Adds the times of a stream to the sums. CT_ERR_NOMEM, those of ct_program_symbols. */
int ct_timing_streams_end(struct ct_timing_sums *sums, uint32_t lane);
void ct_timing_streams_free(struct ct_timing_sums *sums);

/* ---- timing_file.c ---- */

int ct_timing_sums_save(struct ct_analysis *analysis, struct ct_save *to);
int ct_timing_sums_load(struct ct_analysis *part, struct ct_load *from);

#endif
