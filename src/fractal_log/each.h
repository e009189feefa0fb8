/* SPDX-License-Identifier: Apache-2.0 */
/* Going through the events of a log. */
#ifndef CT_FRACTAL_LOG_EACH_H
#define CT_FRACTAL_LOG_EACH_H

#include "coretap/fractal.h"

/* Takes an event of a log. Result: 0, or an error, which ends the turn. */
typedef int ct_fractal_event_fn(void *user, const struct ct_fractal_event *event);

/* Calls a function with each event of a log, from the first one on, until it returns an error. Returns that,
 * or CT_ERR_NOMEM. */
int ct_fractal_each(struct ct_ctx *ctx, struct ct_fractal_reader *reader, ct_fractal_event_fn *fn,
                    void *user);

#endif
