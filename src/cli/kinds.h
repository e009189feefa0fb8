/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of results that add up. */
#ifndef CT_CLI_KINDS_H
#define CT_CLI_KINDS_H

#include <stdbool.h>

#include "coretap/analysis.h"

struct cli_result_kind {
    const char *name; /* as --kind has it */
    const struct ct_analysis_kind *(*kind)(void);
    int (*make)(struct ct_ctx *ctx, struct ct_analysis **out); /* an empty one; an error of the library */
    bool needs_program;
    bool whole;         /* of all of a stream: it does not take steps */
    const char *unsaid; /* what a capture does not tell, as in the message; or NULL */
    const char *writer; /* the command that writes this kind */
};

/* Ends with one that has no name. */
extern const struct cli_result_kind cli_result_kinds[];

#endif
