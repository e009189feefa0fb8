/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of captures of one system, decoded side by side for specifications that run over all of
 * them. */
#pragma once

#include "cli/results.h"
#include "coretap/together.h"
#include "coretap/verdict.h"

/* A capture with its sources. */
struct cli_axis_part;

struct cli_axis {
    const struct cli_args *args;
    struct cli_results *read; /* the first capture */
    bool cycles;              /* --clock cycles was given */
    bool software;            /* sources of software trace belong to the run, too */
    bool alone;               /* other captures are separate runs */
    struct cli_axis_part *parts;
    size_t part_count;
    struct ct_verdict_source *sources; /* sources with trace of a core, and others that are wanted */
    size_t count;
    struct ct_together *together;
    int code; /* enum cli_exit of the captures behind the first one */
    /* Receives the reason why captures are not one run with a common clock. NULL: a message is printed
     * that names the remedy of 'monitor'. `repeats`: each capture has trace of the same core, like
     * repeated runs. */
    void (*refused)(void *user, const char *why, bool repeats);
    int (*failed)(
        void *user); /* NULL, or told that a specification failed. Returns an enum ct_error, to end the run */
    void *user;
};

/* Finds the sources of the opened capture and of the captures named behind it. Sets *several when they are
 * one run: more than one source has trace, or a single one is software trace with a clock. Returns false
 * after a message: there is no common clock. */
bool cli_axis_open(struct cli_axis *axis, bool *several);

/* Returns a capture of the run by its index, or NULL behind the last one. */
const struct cli_capture *cli_axis_capture(const struct cli_axis *axis, size_t index);

/* Returns the core of a run that is not of several sources, or NULL when it may be any of several described
 * ones. Requires that cli_axis_open found the sources, unless each is a separate run. */
const char *cli_axis_only_core(const struct cli_axis *axis);

/* Decodes all sources, for a verifier whose run has begun. Does not finish the run. Returns an enum
 * cli_exit. */
int cli_axis_run(struct cli_axis *axis, struct ct_verifier *verifier, struct ct_watches *watches);

void cli_axis_close(struct cli_axis *axis);
