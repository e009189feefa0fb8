/* SPDX-License-Identifier: Apache-2.0 */
/* What ran in the trace that a command read: told when the command has nothing to say of it, since an empty
 * answer is one only when nothing ran. */
#ifndef CT_CLI_RAN_H
#define CT_CLI_RAN_H

#include "cli/cli.h"
#include "coretap/decode.h"
#include "coretap/programs.h"

#define CLI_RAN_NAMES 32

struct cli_ran {
    uint64_t instructions;
    char names[CLI_RAN_NAMES][64]; /* of programs: the last part of their paths */
    size_t count;                  /* of all; those that `names` has no room for count too */
    bool is_answered; /* the command has something to say, so that nobody asks for names any more */
};

/* Takes what ran in the streams of a chain of level STEPS and, unless it is answered, the names: those of
 * `programs` (NULL: of none), and of the buffer's images where there is no program. Names need the symbols of
 * programs. False: no memory. */
bool cli_ran_add(struct cli_ran *ran, const struct ct_capture *capture, const struct ct_buffer *buffer,
                 const struct ct_chain *chain, const struct ct_programs *programs);

/* Says that `result` of args->operand is empty although instructions ran: how many, in which programs, `why`
 * (what is missing) and `remedy`. */
void cli_ran_tell_empty(const struct cli_ran *ran, const struct cli_args *args, const char *result,
                        const char *why, const char *remedy);

/* Says the same; no output file is written then. Result: the worse of `code` and
 * CLI_DAMAGED; when nothing ran it is `code`, without a message. */
int cli_ran_but_empty(const struct cli_ran *ran, const struct cli_args *args, int code, const char *result,
                      const char *why, const char *remedy);

#endif
