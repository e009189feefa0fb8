/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of sums of stacks. */
#ifndef CT_ANALYSIS_STACK_SUMS_H
#define CT_ANALYSIS_STACK_SUMS_H

#include <stdbool.h>

#include "analysis/program_table.h"
#include "base/pair_map.h"
#include "coretap/stacks.h"

/* A stream that is not over. */
struct ct_stack_stream {
    uint32_t lane;
    struct ct_stacks *stacks;
};

struct ct_stack_sums {
    struct ct_analysis analysis; /* has to be the first member */
    struct ct_stack_sums_options options;
    struct ct_program_table table;
    struct ct_stack_function *functions; /* their names belong to the list */
    size_t function_count, function_room;
    struct ct_pair_map numbers; /* (address, program) -> function */
    struct ct_stack_place *places;
    size_t place_count, place_room;
    struct ct_pair_map children; /* (parent, function) -> place */
    uint64_t renewed;
    bool settled;                 /* programs, functions and places are in their order */
    struct ct_programs *programs; /* that ran */
    struct ct_stack_stream *streams;
    size_t stream_count;
};

/* Gives a function its number, and the name; of several names for one address the first by alphabet counts.
 * CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_stack_sums_add_function(struct ct_stack_sums *sums, const struct ct_stack_function *function,
                               uint32_t *number);

/* Adds what one place has, with parent and function by the numbers of the sums, and gives its number.
 * CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_stack_sums_add_place(struct ct_stack_sums *sums, const struct ct_stack_place *place, uint32_t *number);

/* ---- stack_sums_order.c ---- */

/* Brings programs, functions and places in an order that does not depend on the one in which they came.
 * CT_ERR_NOMEM. */
int ct_stack_sums_settle(struct ct_stack_sums *sums);

/* ---- stack_sums_streams.c ---- */

int ct_stack_streams_take(struct ct_stack_sums *sums, const struct ct_analysis_batch *batch);

/* Adds the stacks of a stream to the sums. CT_ERR_NOMEM, CT_ERR_LIMIT, those of ct_program_symbols. */
int ct_stack_streams_end(struct ct_stack_sums *sums, uint32_t lane);
void ct_stack_streams_free(struct ct_stack_sums *sums);

/* ---- stack_sums_file.c ---- */

int ct_stack_sums_save(struct ct_analysis *analysis, struct ct_save *to);
int ct_stack_sums_load(struct ct_analysis *part, struct ct_load *from);

#endif
