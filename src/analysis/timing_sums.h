/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of sums of times share. */
#pragma once

#include "analysis/program_table.h"
#include "base/arena.h"
#include "coretap/timing.h"

/* A list of items with keys. The first `sorted` ones are sorted, each key once; the others were added since
 * then. */
struct ct_sum_list {
    char *items;
    size_t count, room;
    size_t sorted;
    const struct ct_sum_kind *kind;
};

/* The type of the items of a list. */
struct ct_sum_kind {
    size_t size; /* bytes of an item */
    /* Compares keys, as for qsort. */
    int (*order)(const void *a, const void *b);
    /* Adds an item to one with the same key. Sums saturate. CT_ERR_NOMEM. */
    int (*add)(void *into, const void *from);
    /* Frees what an item points to. */
    void (*clear)(void *item);
};

extern const struct ct_sum_kind ct_sum_functions, ct_sum_edges, ct_sum_pairs;

/* Returns the item with a key. When none of the sorted items has the key, appends an item with nothing but
 * the key and sets *fresh: the caller has to copy what the key points to. Returns NULL when out of memory. */
void *ct_sum_list_slot(struct ct_sum_list *list, const void *key, bool *fresh);

/* Sorts the list, and adds up items with equal keys. CT_ERR_NOMEM. */
int ct_sum_list_settle(struct ct_sum_list *list);
void ct_sum_list_clear(struct ct_sum_list *list);

/* A stream that has not ended. */
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
    struct ct_analysis analysis; /* must be the first member */
    struct ct_timing_sums_options options;
    struct ct_arena arena; /* for names */
    struct ct_program_table table;
    struct ct_sum_list functions, edges, pairs;
    struct ct_timing_totals totals;
    struct ct_timing_wanted *wanted; /* the pairs to measure */
    size_t wanted_count;
    struct ct_programs *programs; /* the programs that ran */
    struct ct_timing_stream *streams;
    size_t stream_count;
};

/* Add an item to one of the lists, and copy its name. CT_ERR_NOMEM. */
int ct_timing_sums_add_function(struct ct_timing_sums *sums, const struct ct_timing_function *function);
int ct_timing_sums_add_edge(struct ct_timing_sums *sums, const struct ct_timing_edge *edge);
int ct_timing_sums_put_pair(struct ct_timing_sums *sums, const struct ct_timing_pair *pair);
void ct_timing_sums_add_totals(struct ct_timing_sums *sums, const struct ct_timing_totals *more);

/* ---- timing_streams.c ---- */

int ct_timing_streams_take(struct ct_timing_sums *sums, const struct ct_analysis_batch *batch);

/* Adds the times of a stream to the sums. CT_ERR_NOMEM, the errors of ct_program_symbols. */
int ct_timing_streams_end(struct ct_timing_sums *sums, uint32_t lane);
void ct_timing_streams_free(struct ct_timing_sums *sums);

/* ---- timing_file.c ---- */

int ct_timing_sums_save(struct ct_analysis *analysis, struct ct_save *to);
int ct_timing_sums_load(struct ct_analysis *part, struct ct_load *from);
