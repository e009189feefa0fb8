/* SPDX-License-Identifier: Apache-2.0 */
/* What ran in the trace that a command read. It is reported when the command's answer is empty, because an
 * empty answer is only right when nothing ran. */
#pragma once

#include "cli/cli.h"
#include "coretap/decode.h"
#include "coretap/programs.h"

#define CLI_RAN_NAMES 32

struct cli_ran {
    uint64_t instructions;
    char names[CLI_RAN_NAMES][64]; /* last parts of the programs' paths */
    size_t count;                  /* number of programs, including those that `names` has no room for */
    bool is_answered;              /* the command's answer is not empty, so no names are needed */
};

/* Adds what ran in the streams of a chain of level STEPS. Unless `is_answered`, also adds names: those of
 * `programs` (NULL: none), and of images of the buffer where there is no program. Names need the symbols of
 * programs. Returns false when out of memory. */
bool cli_ran_add(struct cli_ran *ran, const struct ct_capture *capture, const struct ct_buffer *buffer,
                 const struct ct_chain *chain, const struct ct_programs *programs);

/* Reports that `result` of args->operand is empty although instructions ran: their number and programs, `why`
 * (what is missing) and `remedy`. */
void cli_ran_tell_empty(const struct cli_ran *ran, const struct cli_args *args, const char *result,
                        const char *why, const char *remedy);

/* Does the same, and prevents the output file. Returns the worse of `code` and CLI_DAMAGED. When nothing ran,
 * returns `code` without a message. */
int cli_ran_but_empty(const struct cli_ran *ran, const struct cli_args *args, int code, const char *result,
                      const char *why, const char *remedy);
