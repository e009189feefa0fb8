/* SPDX-License-Identifier: Apache-2.0 */
/* How often each piece of code of the programs of a capture ran: decoded, or from a coverage file. */
#ifndef CT_CLI_COUNTS_H
#define CT_CLI_COUNTS_H

#include "cli/cover.h"
#include "cli/filter.h"
#include "cli/programs.h"
#include "cli/ran.h"
#include "report/cover.h"
#include "coretap/session.h"

struct cli_counts {
    const struct cli_args *args;
    size_t elf;                 /* index of the option */
    struct cli_capture capture; /* the last one */
    bool has_capture;
    struct ct_programs *programs;
    struct ct_cover *cover;
    struct cli_ran ran;  /* in all buffers */
    uint32_t lanes[128]; /* by ID, of the buffer that is being decoded: lane + 1 */
    uint32_t lane_count;
    /* Set before: who gets the steps too (may be NULL), and what reports are of. */
    int (*steps)(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch);
    /* … and who looks at the chain of each buffer when its steps were given (may
     * be NULL). Result: enum ct_error. */
    int (*decoded)(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain);
    void *user;
    struct cli_filter filter;
    bool kept_nothing; /* by the filter, of what ran; it was said */
    bool contexts;     /* also of each by itself */
    bool all_functions;
    uint16_t threads; /* to decode with */
};

/* Reads what the operands name, captures and coverage files, and adds them up. Start with all zero. Result:
 * enum cli_exit. */
int cli_counts_read(struct cli_counts *counts, const struct cli_args *args, size_t elf);

/* The same in steps, for who runs the chain of a capture whose memory does not change: opens it and its
 * programs; then the counts of the chain's streams so far take the place of those that were there. Result:
 * enum cli_exit; with CLI_FAILED, which was said, there are no counts any more: counts->cover is NULL. */
int cli_counts_open(struct cli_counts *counts, const struct cli_args *args, size_t elf);
int cli_counts_take(struct cli_counts *counts, const struct ct_chain *chain);
void cli_counts_close(struct cli_counts *counts);

/* How whole the trace was that the counts are of. */
struct ct_analysis_captures cli_counts_captures(const struct cli_counts *counts);

/* A number for the stream with this ID, of the buffer that is being decoded: from 0 on, in the order in which
 * streams come. A stream of another buffer has another one, since its graph is another. */
uint32_t cli_counts_lane(struct cli_counts *counts, uint8_t id);

/* False for a program that ran at more than one load bias, at all but its first: its counts are of all. */
bool cli_counts_is_first(struct cli_counts *counts, struct ct_program *program);

/* The counts of a program in the contexts that are wanted, as ct_cover_items gives them. CT_ERR_NOMEM. */
int cli_counts_items(struct cli_counts *counts, struct ct_program *program, struct ct_cover_item **items,
                     size_t *count);

/* What they mean; *source has to stay as long as the report. False: said why. */
bool cli_counts_report(struct cli_counts *counts, struct ct_program *program, struct ct_cover_source *source,
                       struct ct_cover_report **report);

/* What ran of the program in each context by itself, of those that are wanted, in the order of
 * ct_edge_context_order(): *rows, to be freed whatever the result is. One report of the program is made for
 * each. False: said why. */
bool cli_counts_contexts(struct cli_counts *counts, struct ct_program *program,
                         struct ct_cover_context **rows, size_t *count);

#endif
