/* SPDX-License-Identifier: Apache-2.0 */
/* Branch lists of simpleperf among the operands. */
#ifndef CT_CLI_BRANCH_LISTS_H
#define CT_CLI_BRANCH_LISTS_H

#include "cli/counts.h"
#include "coretap/json.h"

/* Tells whether a file begins like a branch list. False for a pipe, which is not read. */
bool cli_branch_lists_is_file(const char *path);

/* Adds what the lists of a file say of their programs, which are looked for. Result: enum cli_exit. */
int cli_branch_lists_count(struct cli_counts *counts, const char *path);

/* The same for commands that have no options of captures: adds the counts to `cover`. */
int cli_branch_lists_cover(const struct cli_args *args, size_t elf, const char *path, struct ct_cover *cover);

/* Says that a file is a branch list, and what cannot be known of one. False when it is none. */
bool cli_branch_lists_refuse(const struct cli_args *args, const char *path);

/* Prints what is in a file, as text where `json` is NULL. Result: enum cli_exit. */
int cli_branch_lists_info(const struct cli_args *args, struct ct_json *json);

/* Prints the sum of all operands, `weight` times. Result: enum cli_exit. */
int cli_branch_lists_merge(const struct cli_args *args, uint64_t weight);

#endif
