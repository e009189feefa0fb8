/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of what ran in the trace that a command read, when its answer is empty. */
#pragma once

#include "cli/cli.h"
#include "coretap/ran.h"

/* Reports that `result` of args->operand is empty although instructions ran: their number and programs, `why`
 * (what is missing) and `remedy`. */
void cli_ran_tell_empty(const struct ct_ran *ran, const struct cli_args *args, const char *result,
                        const char *why, const char *remedy);

/* Does the same, and prevents the output file. Returns the worse of `code` and CLI_DAMAGED. When nothing ran,
 * returns `code` without a message. */
int cli_ran_but_empty(const struct ct_ran *ran, const struct cli_args *args, int code, const char *result,
                      const char *why, const char *remedy);
