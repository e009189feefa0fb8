/* SPDX-License-Identifier: Apache-2.0 */
/* What the report says of a capture, collected while it is decoded. */
#ifndef CT_CLI_REPORT_COLLECT_H
#define CT_CLI_REPORT_COLLECT_H

#include "cli/counts.h"
#include "format/report.h"

/* What is collected of one stream while its buffer is decoded. */
struct cli_report_lane {
    struct ct_timing *timing; /* NULL: no step came */
    uint32_t lane;
};

/* Times of the runs of one function in one stream. */
struct cli_report_runs {
    uint64_t addr;
    struct ct_dist inclusive, self;
};

struct cli_report_collect {
    /* Set before: programs with addresses as in the trace, and the window of the timeline. */
    struct ct_programs *programs;
    struct ct_slices slices;

    struct cli_counts counts;
    const struct ct_program_place *places; /* of the functions of the stacks */
    struct ct_stacks *stacks;
    bool cycles;                      /* the first stream counts cycles */
    struct cli_report_lane open[128]; /* by ID, of the buffer that is being decoded */
    uint32_t stream_of[CT_STACK_LANES];
    struct ct_report_stream *streams; /* of buffers that are over */
    size_t stream_count;
    struct cli_report_runs *runs;
    size_t run_count, run_room;
    struct ct_report_function *functions;
    size_t function_count;
    struct ct_report_edge *edges;
    size_t edge_count;
    uint64_t edges_left_out;
};

/* Decodes what args->operand names; `elf` is the index of the option. Start with
 * all zero. Result: enum cli_exit. */
int cli_report_collect(struct cli_report_collect *collect, const struct cli_args *args, size_t elf);
void cli_report_collect_free(struct cli_report_collect *collect);

#endif
