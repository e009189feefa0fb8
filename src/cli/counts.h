/* SPDX-License-Identifier: Apache-2.0 */
/* How often each piece of code of the programs of a capture ran: decoded, or from a coverage file. */
#ifndef CT_CLI_COUNTS_H
#define CT_CLI_COUNTS_H

#include "cli/results.h"
#include "coretap/cover.h"
#include "coretap/format.h"

struct cli_counts {
    struct cli_results read; /* captures and files; who gets steps and chains is set before, also file_why of
                                other files than those of coverage */
    struct ct_cover *cover;
    bool lent; /* it is not to be freed */
    /* Makes other analyses when programs are known, before anything is read; gets the `user` of `read`. False
     * after a message. May be NULL. */
    bool (*begun)(void *user);
    bool names_suffice;  /* set before: what ran in a program that is not there is written with its names,
                            which are in the file */
    bool unbounded_told; /* what it means that a program has no symbols was said */
    /* Set before: what reports are of. */
    bool contexts; /* also of each by itself */
    bool all_functions;
};

/* Reads what the operands name, captures and coverage files, and adds it up. Start with all zero. Result:
 * enum cli_exit. */
int cli_counts_read(struct cli_counts *counts, const struct cli_args *args, size_t elf);

/* Tells whether one of the programs is the one that counts know by this number. */
bool cli_counts_has_program(struct ct_cover *cover, struct ct_programs *programs, uint32_t number);

/* Finds the programs of saved files, if there were any; cli_counts_read does. Result: `code`, or CLI_FAILED.
 */
int cli_counts_find(struct cli_counts *counts, int code);

/* The same for counts that somebody else makes: opens the capture and its programs; then `cover`, which may
 * be NULL and is not owned, takes the place of the counts that were there. Result: enum cli_exit. */
int cli_counts_open(struct cli_counts *counts, const struct cli_args *args, size_t elf);
void cli_counts_lend(struct cli_counts *counts, struct ct_cover *cover);
void cli_counts_close(struct cli_counts *counts);

/* Tells the counts of a chain how much was lost of the trace that they count. */
void cli_counts_tell_captures(struct cli_counts *counts);

/* Says how many instructions ran (`of`: more words on which) that are in no program, where, and what to do:
 * `result` has none of them. The others say so unless --quiet, and of a sum that is coverage. */
void cli_outside_tell(const char *operand, const struct ct_cover *cover, const char *result, const char *of);
void cli_counts_tell_outside(const struct cli_counts *counts, const char *result);
void cli_outside_tell_sum(const char *operand, const struct ct_analysis *sum);

/* Returns the architecture of the first core of the capture; NULL without a capture. */
const struct ct_arch *cli_counts_arch(const struct cli_counts *counts);

/* Works out what the counts say of all programs; to be freed. NULL after a message. */
struct ct_cover_views *cli_counts_views(struct cli_counts *counts);

#endif
