/* SPDX-License-Identifier: Apache-2.0 */
/* How often each piece of code of the programs of a capture ran: decoded, or from a coverage file. */
#ifndef CT_CLI_COUNTS_H
#define CT_CLI_COUNTS_H

#include "cli/results.h"
#include "format/cover.h"
#include "coretap/cover.h"

struct cli_counts {
    struct cli_results read; /* captures and files; who gets steps and chains is set before */
    struct ct_cover *cover;
    /* Set before: what reports are of. */
    bool contexts; /* also of each by itself */
    bool all_functions;
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

/* Tells the counts of a chain how whole the trace is that they are of. */
void cli_counts_tell_captures(struct cli_counts *counts);

/* False for a program that ran at more than one load bias, at all but its first: its counts are of all. */
bool cli_counts_is_first(struct cli_counts *counts, struct ct_program *program);

/* The counts of a program in the contexts that are wanted, as ct_cover_items gives them. CT_ERR_NOMEM. */
int cli_counts_items(struct cli_counts *counts, struct ct_program *program, struct ct_cover_item **items,
                     size_t *count);

/* What they mean; *source has to stay as long as the report. False: said why. */
bool cli_counts_report(struct cli_counts *counts, struct ct_program *program, struct ct_cover_source *source,
                       struct ct_cover_report **report);

/* What they mean for all programs; to be freed. NULL: said why. */
struct ct_cover_views *cli_counts_views(struct cli_counts *counts);

#endif
