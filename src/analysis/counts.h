/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of counts: sums by name (counts.c), and what the kinds count in a stream before it is over. */
#ifndef CT_ANALYSIS_COUNTS_H
#define CT_ANALYSIS_COUNTS_H

#include "coretap/counts.h"

/* A stream that is not over. Each kind has its own, of which this is the first member. */
struct ct_counts_stream {
    uint32_t lane;
};

/* What a kind does, beside the contract. */
struct ct_counts_way {
    size_t stream_size;
    /* Counts a batch in a stream, which begins with zeros. */
    int (*take)(struct ct_counts *counts, struct ct_counts_stream *stream,
                const struct ct_analysis_batch *batch);
    /* Adds what was counted, when the stream is over. */
    int (*end)(struct ct_counts *counts, struct ct_counts_stream *stream);
    void (*free)(struct ct_counts_stream *stream); /* all but itself; NULL: nothing */
};

struct ct_counts {
    struct ct_analysis analysis; /* has to be the first member */
    const struct ct_counts_way *way;
    struct ct_count *all; /* by name */
    size_t count, room;
    struct ct_counts_stream **streams;
    size_t stream_count;
    struct ct_programs *programs; /* that ran */
    char **places;                /* to be watched */
    size_t place_count;
};

int ct_counts_new(struct ct_ctx *ctx, const struct ct_analysis_kind *kind, const struct ct_counts_way *way,
                  struct ct_counts **out);

/* The table of a kind: all have the same operations, on what each counts in its own way. */
#define CT_COUNTS_KIND(kind_name, kind_writer, kind_inputs)                                                  \
    {                                                                                                        \
        .size = sizeof(struct ct_analysis_kind), .name = (kind_name), .writer = (kind_writer), .version = 1, \
        .inputs = (kind_inputs), .part = ct_counts_part, .programs = ct_counts_programs,                     \
        .take = ct_counts_take, .end = ct_counts_end, .merge = ct_counts_merge, .save = ct_counts_save,      \
        .load = ct_counts_load, .free = ct_counts_free_analysis                                              \
    }

/* Its operations. */
int ct_counts_part(const struct ct_analysis *analysis, struct ct_analysis **out);
int ct_counts_programs(struct ct_analysis *analysis, struct ct_programs *programs);
int ct_counts_take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch);
int ct_counts_end(struct ct_analysis *analysis, uint32_t lane);
int ct_counts_merge(struct ct_analysis *into, struct ct_analysis *other);
int ct_counts_save(struct ct_analysis *analysis, struct ct_save *to);
int ct_counts_load(struct ct_analysis *part, struct ct_load *from);
void ct_counts_free_analysis(struct ct_analysis *analysis);

#endif
