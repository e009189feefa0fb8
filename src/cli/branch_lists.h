/* SPDX-License-Identifier: Apache-2.0 */
/* Branch lists of simpleperf among the operands. */
#pragma once

#include "cli/counts.h"
#include "coretap/json.h"

/* Returns whether a file begins like a branch list. Returns false for a pipe, which is not read. */
bool cli_branch_lists_is_file(const char *path);

/* Finds the programs of a file of lists, and adds their counts. Returns an enum cli_exit. */
int cli_branch_lists_count(struct cli_counts *counts, const char *path);

/* Does the same for commands without the options of captures: adds the counts to `cover`. */
int cli_branch_lists_cover(const struct cli_args *args, size_t elf, const char *path, struct ct_cover *cover);

/* Reports that a file is a branch list, and what branch lists do not tell. Returns false when it is none. */
bool cli_branch_lists_refuse(const struct cli_args *args, const char *path);

/* Prints the content of a file, as text when `json` is NULL. Returns an enum cli_exit. */
int cli_branch_lists_info(const struct cli_args *args, struct ct_json *json);

/* Prints the sum of all operands, multiplied by `weight`. Returns an enum cli_exit. */
int cli_branch_lists_merge(const struct cli_args *args, uint64_t weight);
