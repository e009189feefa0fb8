/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a capture one stream at a time, so that the output for a trace ID stays together. */
#pragma once

#include "cli/results.h"

struct cli_streams {
    /* Set by the caller. */
    struct cli_results read; /* args, elf, programs, filter, threads, untold */
    bool headings;           /* print lines '# buffer NAME' and '# id HH' when there may be several */
    void *user; /* of the functions below and, unless they set another, of the receivers of streams */
    bool (*opened)(void *user);                             /* as in struct cli_results; or NULL */
    int (*begin)(void *user, struct ct_session_turn *turn); /* sets the receivers of the next stream */
    int (*end)(void *user);                                 /* the stream ended; or NULL */
    int (*decode)(void *user);                              /* as in struct cli_results; or NULL */
    /* Print the next heading, and flush the printed output. */
    int (*heading)(void *user, const char *buffer, int id);
    int (*flush)(void *user);

    const struct ct_buffer *buffer; /* of the current stream */
};

/* Reads the operand args->operand. Returns an enum cli_exit. */
int cli_streams_run(struct cli_streams *streams);
