/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of counts share: sums by name (counts.c), and what each kind counts in a stream until the
 * stream ends. */
#pragma once

#include "coretap/counts.h"

/* A stream that has not ended. Each kind has a struct of its own that begins with this one. */
struct ct_counts_stream {
    uint32_t lane;
};

/* What distinguishes one kind of counts from another. */
struct ct_counts_way {
    size_t stream_size;
    /* Counts a batch in a stream. A new stream is all zeros. */
    int (*take)(struct ct_counts *counts, struct ct_counts_stream *stream,
                const struct ct_analysis_batch *batch);
    /* As in struct ct_analysis_kind. NULL: nothing is kept from one batch to the next. */
    int (*cut)(struct ct_counts *counts, struct ct_counts_stream *stream, int is_end,
               struct ct_analysis_cut *cut);
    /* Adds what a stream counted to the sums, when the stream ends. */
    int (*end)(struct ct_counts *counts, struct ct_counts_stream *stream);
    /* Frees what a stream holds, but not the stream. NULL when it holds nothing. */
    void (*free)(struct ct_counts_stream *stream);
};

struct ct_counts {
    struct ct_analysis analysis; /* must be the first member */
    const struct ct_counts_way *way;
    struct ct_count *all; /* sorted by name */
    size_t count, room;
    struct ct_counts_stream **streams;
    size_t stream_count;
    struct ct_programs *programs; /* the programs that ran */
    char **places;                /* the watchpoints to count, as text */
    size_t place_count;
};

int ct_counts_new(struct ct_ctx *ctx, const struct ct_analysis_kind *kind, const struct ct_counts_way *way,
                  struct ct_counts **out);

/* Defines the table of a kind. All kinds have the same operations, which call the functions of the kind's
 * `way`. */
#define CT_COUNTS_KIND(kind_name, kind_writer, kind_inputs)                                                  \
    {                                                                                                        \
        .size = sizeof(struct ct_analysis_kind), .name = (kind_name), .writer = (kind_writer), .version = 1, \
        .inputs = (kind_inputs), .part = ct_counts_part, .programs = ct_counts_programs,                     \
        .take = ct_counts_take, .end = ct_counts_end, .cut = ct_counts_cut, .merge = ct_counts_merge,        \
        .save = ct_counts_save, .load = ct_counts_load, .free = ct_counts_free_analysis                      \
    }

/* The operations that all kinds of counts share. */
int ct_counts_part(const struct ct_analysis *analysis, struct ct_analysis **out);
int ct_counts_programs(struct ct_analysis *analysis, struct ct_programs *programs);
int ct_counts_take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch);
int ct_counts_end(struct ct_analysis *analysis, uint32_t lane);
int ct_counts_cut(struct ct_analysis *analysis, uint32_t lane, int is_end, struct ct_analysis_cut *cut);
int ct_counts_merge(struct ct_analysis *into, struct ct_analysis *other);
int ct_counts_save(struct ct_analysis *analysis, struct ct_save *to);
int ct_counts_load(struct ct_analysis *part, struct ct_load *from);
void ct_counts_free_analysis(struct ct_analysis *analysis);
