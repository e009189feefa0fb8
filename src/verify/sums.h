/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of result sums: the table (sums.c), saved files (sums_file.c), and streams in progress
 * (sums_streams.c). */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "coretap/verify_sums.h"

struct ct_verify_sums_stream;

/* A specification as it was added. */
struct ct_verify_sums_spec {
    const struct ct_monitor_spec *spec;
    const char *name;
    struct ct_verify_bind *binds;
    size_t bind_count;
};

struct ct_verify_sums {
    struct ct_analysis analysis; /* must be the first member */
    struct ct_verify_options options;
    struct ct_arena arena; /* memory of specifications and rules */
    struct ct_verify_sums_spec *specs;
    size_t spec_count;
    struct ct_verify_bind *rules; /* violation rules: output and value, or NULL */
    size_t rule_count;
    struct ct_programs *programs; /* the programs that ran */
    struct ct_verify_sum *all;    /* sorted */
    size_t count, room;
    struct ct_verify_sums_stream **streams;
    size_t stream_count;
};

/* Adds a sum to the one with the same specification, output and type, which is created if new. Copies
 * everything. Errors: CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_verify_sums_put(struct ct_verify_sums *sums, const struct ct_verify_sum *more);

/* Makes `first` the first violation of a sum, unless the sum has an earlier one. Error: CT_ERR_NOMEM. */
int ct_verify_sum_first(struct ct_verify_sum *sum, const struct ct_verify_violation *first);

/* Adds an Int or Float to the range and total of a sum. */
void ct_verify_sum_number(struct ct_verify_sum *sum, union ct_monitor_value value);

/* Returns the hash of a specification, which is saved with its results. */
uint64_t ct_verify_sums_key(const struct ct_verify_sums *sums, size_t number);

/* Take batches, and end streams. */
int ct_verify_streams_take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch);
int ct_verify_streams_end(struct ct_analysis *analysis, uint32_t lane);
void ct_verify_streams_free(struct ct_verify_sums *sums);

/* Save and load results. */
int ct_verify_sums_save(struct ct_analysis *analysis, struct ct_save *to);
int ct_verify_sums_load(struct ct_analysis *part, struct ct_load *from);
