/* SPDX-License-Identifier: Apache-2.0 */
/* All trace IDs of a live stream as one run of the specifications, on the axis of their timestamps. */
#ifndef CT_LIVE_ONE_RUN_H
#define CT_LIVE_ONE_RUN_H

#include "live/live.h"

#define LIVE_HELD     65536               /* the most events that wait for a source */
#define LIVE_PATIENCE ((uint64_t)4 << 20) /* the most bytes of trace that come while events wait */
#define LIVE_PRESUME  ((uint64_t)1 << 16) /* bytes of input from one ct_live_one_presume to the next */

/* Makes the run of the sources that the options leave; l->verifier is the one that specifications are
 * added to. CT_ERR_ARG: there is none; CT_ERR_NOMEM. */
int ct_live_one_new(struct ct_live *live);

/* Begins it, once the verifier is there. */
int ct_live_one_begin(struct ct_live *live);
void ct_live_one_free(struct ct_live_one *one);

/* Goes on without the trace IDs that the filter leaves out. */
int ct_live_one_filter(struct ct_live *live);

/* Takes steps of a trace ID. */
int ct_live_one_take(struct ct_live *live, uint8_t id, const struct ct_step_batch *batch);

/* Returns how many of `size` bytes at `offset` of the input to decode before ct_live_one_presume. */
size_t ct_live_one_part(const struct ct_live *live, uint64_t offset, size_t size);

/* Goes on without sources of which nothing came yet when `offset`, up to where the input was decoded, is a
 * multiple of LIVE_PRESUME. */
int ct_live_one_presume(struct ct_live *live, uint64_t offset);

/* Gives the specifications what is known after a piece of input. Sources that hold up the others for too long
 * are not waited for any more, which is said. When an exchange waits it comes first: the run stays unsettled
 * then. */
int ct_live_one_settle(struct ct_live *live);

/* Ends it. Returns what the sink returned. */
int ct_live_one_finish(struct ct_live *live);

/* Has to follow when specifications came or went. */
int ct_live_one_renew(struct ct_live *live);

/* Returns the trace ID of an event; `id` where each ID is a run of its own. */
uint8_t ct_live_one_id(const struct ct_live *live, const struct ct_watch_event *event, uint8_t id);

/* Writes how the sources kept up, for the page. */
void ct_live_one_json(const struct ct_live *live, struct ct_json *json);

#endif
