/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of results that can be added up. */
#pragma once

#include <stdbool.h>

#include "coretap/analysis.h"

struct cli_result_kind {
    const char *name; /* value of --kind */
    const struct ct_analysis_kind *(*kind)(void);
    /* makes an empty analysis; returns an error of the library */
    int (*make)(struct ct_ctx *ctx, struct ct_analysis **out);
    bool needs_program;
    bool whole;         /* of whole streams: takes no steps */
    const char *unsaid; /* what captures do not tell, for the message; or NULL */
    const char *writer; /* the command that writes this kind */
};

/* All kinds. The last entry has no name. */
extern const struct cli_result_kind cli_result_kinds[];
