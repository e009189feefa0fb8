/* SPDX-License-Identifier: Apache-2.0 */
/* Branch lists of simpleperf among the operands. */
#ifndef CT_CLI_BRANCH_LISTS_H
#define CT_CLI_BRANCH_LISTS_H

#include "cli/counts.h"

/* Tells whether a file begins like a branch list. False for a pipe, which is not read. */
bool cli_branch_lists_is_file(const char *path);

/* Adds what the lists of a file say of their programs, which are looked for. Result: enum cli_exit. */
int cli_branch_lists_count(struct cli_counts *counts, const char *path);

/* Prints the sum of all operands, `weight` times. Result: enum cli_exit. */
int cli_branch_lists_merge(const struct cli_args *args, uint64_t weight);

#endif
