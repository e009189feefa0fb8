/* SPDX-License-Identifier: Apache-2.0 */
/* A capture read one stream at a time, so that what is printed of a trace ID stands together. */
#ifndef CT_CLI_STREAMS_H
#define CT_CLI_STREAMS_H

#include "cli/results.h"

struct cli_streams {
    /* Set before. */
    struct cli_results read; /* args, elf, programs, filter, threads, untold */
    bool headings;           /* lines '# buffer NAME' and '# id HH' are wanted where more than one may come */
    void *user;              /* of the following and, unless they set it, of the receivers of streams */
    bool (*opened)(void *user);                             /* as in struct cli_results; or NULL */
    int (*begin)(void *user, struct ct_session_turn *turn); /* says who takes what of the next stream */
    int (*end)(void *user);                                 /* it is over; or NULL */
    int (*decode)(void *user);                              /* as in struct cli_results; or NULL */
    /* Give the next heading to who prints, and what is printed so far to standard output. */
    int (*heading)(void *user, const char *buffer, int id);
    int (*flush)(void *user);

    const struct ct_buffer *buffer; /* of the stream that is read */
};

/* Reads what args->operand names. Result: enum cli_exit. */
int cli_streams_run(struct cli_streams *streams);

#endif
