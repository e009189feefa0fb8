/* SPDX-License-Identifier: Apache-2.0 */
/* Iteration over the events of a log. */
#pragma once

#include "coretap/fractal_names.h"

/* Takes an event of a log. Returns 0, or an error, which ends the iteration. */
typedef int ct_fractal_event_fn(void *user, const struct ct_fractal_event *event);

#define CT_FRACTAL_ALL (-1) /* stands for all processes */

/* Returns the process whose events count, or CT_FRACTAL_ALL. */
static inline int ct_fractal_only(const struct ct_fractal_names_options *options)
{
    return options->one_process ? options->process : CT_FRACTAL_ALL;
}

/* Calls a function with each event of a log, or of one process in it, from the first on, until it returns an
 * error. Returns that error, or CT_ERR_NOMEM. */
int ct_fractal_each(struct ct_ctx *ctx, struct ct_fractal_reader *reader, int only, ct_fractal_event_fn *fn,
                    void *user);
