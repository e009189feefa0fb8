/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of captures of one system, decoded side by side for the specifications of one run. */
#ifndef CT_CLI_MONITOR_AXIS_H
#define CT_CLI_MONITOR_AXIS_H

#include "cli/results.h"
#include "coretap/axis.h"
#include "coretap/merge.h"
#include "coretap/verdict.h"

/* A capture with its sources. */
struct cli_axis_part;

struct cli_axis {
    const struct cli_args *args;
    struct cli_results *read; /* of the first capture */
    bool cycles;              /* --clock cycles was given */
    bool software;            /* sources of software trace are of the run, too */
    bool alone;               /* other captures are runs of their own */
    struct cli_axis_part *parts;
    size_t part_count;
    struct ct_verdict_source *sources; /* those that have trace of a core, or are wanted besides */
    const char **cores;
    uint8_t *protocols; /* of the sources */
    size_t count;
    struct ct_verify_axis *axis;
    int code; /* enum cli_exit: of the captures behind the first */
    /* NULL, or told why captures are no run with a common clock, in the place of a message that names how
     * 'monitor' takes them. `repeats`: each of them has trace of the same core, as several runs have. */
    void (*refused)(void *user, const char *why, bool repeats);
    int (*failed)(
        void *user); /* NULL, or told that a specification failed. Result: enum ct_error, to end the run */
    void *user;
};

/* Looks for the sources of the capture that was opened and of those that are named behind it. They are one
 * run if *several: more than one of them has trace, or one alone that is software trace with a clock. False
 * after a message: they have no common clock. */
bool cli_axis_open(struct cli_axis *axis, bool *several);

/* Returns a capture of the run, from 0 on; NULL behind the last one. */
const struct cli_capture *cli_axis_capture(const struct cli_axis *axis, size_t index);

/* Returns the name of the core that alone is of a run which is not of several; NULL when it may be any of
 * several that are described. The sources were looked for, unless each is to be a run of its own. */
const char *cli_axis_only_core(const struct cli_axis *axis);

/* Decodes all of them, for a verifier whose run has begun; it is not finished. Result: enum cli_exit. */
int cli_axis_run(struct cli_axis *axis, struct ct_verifier *verifier, struct ct_watches *watches);

void cli_axis_close(struct cli_axis *axis);

#endif
