/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that trace a program under QEMU share. */
#pragma once

#include "cli/cli.h"
#include "coretap/record.h"

/* Makes signals that would end this process end the program instead, so that its trace up to then is written.
 * The program itself receives signals from keys of the terminal. Returns the address of the signal's number
 * (struct ct_record_options). */
const volatile int *cli_record_catch_signals(void);

/* Reports that a program, or a whole machine, ran no code that is traced; `what` is the consequence. */
void cli_record_tell_nothing(const char *name, const char *what, bool system);

/* Reads the ranges of a list option. Returns an exit code; there is a message unless it is CLI_CLEAN. */
int cli_record_ranges(const struct cli_args *args, unsigned option, struct ct_record_range *ranges,
                      size_t *count);
