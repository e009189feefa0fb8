/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of sums of stacks share. */
#pragma once

#include <stdbool.h>

#include "analysis/program_table.h"
#include "base/pair_map.h"
#include "coretap/cover.h"
#include "coretap/stacks.h"

/* A stream that has not ended. */
struct ct_stack_stream {
    uint32_t lane;
    struct ct_stacks *stacks;
    const struct ct_graph *graph; /* of the last batch */
    uint64_t *counts;             /* by edge of that graph: how often it was taken */
    size_t edge_room;
};

struct ct_stack_sums {
    struct ct_analysis analysis; /* must be the first member */
    struct ct_stack_sums_options options;
    struct ct_cover *cover;              /* how often code ran */
    struct ct_program_table *table;      /* the programs of `cover` */
    struct ct_stack_function *functions; /* the array owns their names */
    size_t function_count, function_room;
    struct ct_pair_map numbers; /* maps (address, program) to a function */
    struct ct_stack_place *places;
    size_t place_count, place_room;
    struct ct_pair_map children; /* maps (parent, function) to a place */
    struct ct_stack_call *calls;
    size_t call_count, call_room;
    uint64_t renewed;
    bool lacks_calls;             /* some of the sums are from a file without calls */
    bool settled;                 /* functions, places and calls are sorted */
    size_t settled_programs;      /* number of programs when they were last sorted */
    struct ct_programs *programs; /* the programs that ran */
    struct ct_stack_stream *streams;
    size_t stream_count;
};

/* Adds a function or finds its number, and sets its name. Of several names of one address, the first by
 * alphabet stays. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_stack_sums_add_function(struct ct_stack_sums *sums, const struct ct_stack_function *function,
                               uint32_t *number);

/* Adds the counts of a place, with parent and function as numbers in these sums, and finds the number of the
 * place. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_stack_sums_add_place(struct ct_stack_sums *sums, const struct ct_stack_place *place, uint32_t *number);

/* Adds calls from one call site, with caller and callee as numbers in these sums. CT_ERR_NOMEM,
 * CT_ERR_LIMIT. */
int ct_stack_sums_add_call(struct ct_stack_sums *sums, const struct ct_stack_call *call);

/* ---- stack_sums_order.c ---- */

/* Sorts programs, functions, places and calls, so that their order does not depend on that of insertion.
 * CT_ERR_NOMEM. */
int ct_stack_sums_settle(struct ct_stack_sums *sums);

/* Sorts calls by program, site and callee in their current numbers, and adds up equal ones. */
void ct_stack_sums_add_up_calls(struct ct_stack_sums *sums);

/* ---- stack_sums_streams.c ---- */

int ct_stack_streams_take(struct ct_stack_sums *sums, const struct ct_analysis_batch *batch);

/* Adds the stacks of a stream to the sums. CT_ERR_NOMEM, CT_ERR_LIMIT, the errors of ct_program_symbols. */
int ct_stack_streams_end(struct ct_stack_sums *sums, uint32_t lane);
void ct_stack_streams_free(struct ct_stack_sums *sums);

/* ---- stack_sums_file.c ---- */

int ct_stack_sums_save(struct ct_analysis *analysis, struct ct_save *to);
int ct_stack_sums_load(struct ct_analysis *part, struct ct_load *from);
