/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and edges of a report of several captures and saved results. */
#pragma once

#include "coretap/report.h"
#include "format/report_kept.h"
#include "format/report_page.h"

/* The functions and edges. All zeros before use. */
struct ct_report_sums {
    struct ct_report_function *functions; /* those of the stacks first, by their number */
    size_t function_count;
    size_t ran_count; /* number of functions of the stacks */
    struct ct_report_edge *edges;
    size_t edge_count;
    uint64_t edges_left_out;
    const struct ct_stack_place *places; /* borrowed from the sums */
    size_t place_count;
    struct ct_report_threads threads; /* those that can be selected, without the tree of all */
    uint64_t all_cycles;
    bool cycles; /* the sums have cycles */
};

/* Makes functions, edges and threads from sums and from what was kept of the captures. The caller frees *into
 * even after an error. CT_ERR_NOMEM. */
int ct_report_sums_make(struct ct_programs *programs, struct ct_stack_sums *stacks,
                        struct ct_timing_sums *times, const struct ct_report_kept *kept,
                        struct ct_report_sums *into);
void ct_report_sums_free(struct ct_report_sums *sums);
