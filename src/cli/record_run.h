/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands share that run a program under QEMU to trace it. */
#ifndef CT_CLI_RECORD_RUN_H
#define CT_CLI_RECORD_RUN_H

#include "cli/cli.h"
#include "coretap/record.h"

/* Makes signals that would end this process end the program, so that what it did until then is written. Those
 * of keys on the terminal the program gets itself. Returns where the signal stands (struct
 * ct_record_options). */
const volatile int *cli_record_catch_signals(void);

/* Reads the ranges that were given by an option of lists. An exit code after a message. */
int cli_record_ranges(const struct cli_args *args, unsigned option, struct ct_record_range *ranges,
                      size_t *count);

#endif
