/* SPDX-License-Identifier: Apache-2.0 */
/* How often the code of the programs of a capture ran: decoded, or from a coverage file. */
#pragma once

#include "cli/results.h"
#include "coretap/cover.h"
#include "coretap/format.h"

struct cli_counts {
    struct cli_results read; /* captures and files; the caller sets its receivers of steps and chains, and
                                file_why for other files than coverage */
    struct ct_cover *cover;
    bool lent; /* `cover` is not owned */
    /* Makes other analyses once the programs are known, before anything is read. Receives the `user` of
     * `read`. Returns false after a message. May be NULL. */
    bool (*begun)(void *user);
    bool names_suffice; /* set by the caller: code in a missing program is reported with the names in the file
                         */
    bool unbounded_told; /* the note about programs without symbols was given */
    bool optimised_told; /* that about optimised code was given */
    /* Set by the caller: the scope of reports. */
    bool contexts; /* also each context separately */
    bool all_functions;
};

/* Reads and adds up the captures and coverage files of the operands. Starts with all zeros. Returns an enum
 * cli_exit. */
int cli_counts_read(struct cli_counts *counts, const struct cli_args *args, size_t elf);

/* Returns whether one of the programs is the one with this number in the counts. */
bool cli_counts_has_program(struct ct_cover *cover, struct ct_programs *programs, uint32_t number);

/* Finds the programs of saved files, if there were any. cli_counts_read calls it. Returns `code`, or
 * CLI_FAILED. */
int cli_counts_find(struct cli_counts *counts, int code);

/* Open the capture and its programs for counts that the caller makes, and then replace the counts by `cover`,
 * which is not owned and may be NULL. Returns an enum cli_exit. */
int cli_counts_open(struct cli_counts *counts, const struct cli_args *args, size_t elf);
void cli_counts_lend(struct cli_counts *counts, struct ct_cover *cover);
void cli_counts_close(struct cli_counts *counts);

/* Adds the losses of the trace to the counts. */
void cli_counts_tell_captures(struct cli_counts *counts);

/* Report how many instructions ran outside of all programs, where, and what to do, unless --quiet. `result`
 * is what lacks them. The second function does so only for a sum of coverage. */
void cli_counts_tell_outside(const struct cli_counts *counts, const char *result);
void cli_outside_tell_sum(const char *operand, const struct ct_analysis *sum);

/* Names the programs of --elf of which nothing ran: the file may be another build than the one that ran.
 * Returns CLI_DAMAGED when that holds for all of them, so that there is no answer; otherwise CLI_CLEAN, and
 * --quiet silences the note. */
int cli_counts_tell_unrun(const struct cli_counts *counts);

/* Returns the architecture of the first core of the capture; NULL without a capture. */
const struct ct_arch *cli_counts_arch(const struct cli_counts *counts);

/* Makes the views of all programs, to be freed by the caller. Returns NULL after a message. */
struct ct_cover_views *cli_counts_views(struct cli_counts *counts);
