/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the specifications on all trace IDs of a live stream together, ordered by their timestamps. */
#pragma once

#include "live/live.h"

#define LIVE_HELD     65536               /* most events that wait for a source */
#define LIVE_PATIENCE ((uint64_t)4 << 20) /* most bytes of trace that come in while events wait */
#define LIVE_PRESUME  ((uint64_t)1 << 16) /* input bytes between two calls of ct_live_one_presume */

/* Creates the run, with the sources that the options select. Specifications are added to l->verifier. Errors:
 * CT_ERR_ARG when no source is left, CT_ERR_NOMEM. */
int ct_live_one_new(struct ct_live *live);

/* Begins the run. The verifier must exist. */
int ct_live_one_begin(struct ct_live *live);
void ct_live_one_free(struct ct_live_one *one);

/* Continues without the trace IDs that the filter excludes. */
int ct_live_one_filter(struct ct_live *live);

/* Takes steps of a trace ID. */
int ct_live_one_take(struct ct_live *live, uint8_t id, const struct ct_step_batch *batch);

/* Returns how many of `size` bytes at `offset` of the input to decode before the next ct_live_one_presume. */
size_t ct_live_one_part(const struct ct_live *live, uint64_t offset, size_t size);

/* Stops waiting for sources that have sent nothing, if `offset`, the end of the decoded input, is a multiple
 * of LIVE_PRESUME. */
int ct_live_one_presume(struct ct_live *live, uint64_t offset);

/* Passes events to the specifications after a piece of input, as far as their order is known. Stops waiting
 * for sources that delay the others for too long, with a warning. If an exchange request waits, it comes
 * first and the run stays unsettled. */
int ct_live_one_settle(struct ct_live *live);

/* Ends the run. Returns the errors of the sink. */
int ct_live_one_finish(struct ct_live *live);

/* Updates the run. Call it after adding or removing specifications. */
int ct_live_one_renew(struct ct_live *live);

/* Returns the trace ID of an event, or `id` when each ID is its own run. */
uint8_t ct_live_one_id(const struct ct_live *live, const struct ct_watch_event *event, uint8_t id);

/* Writes, for the page, how the sources keep up. */
void ct_live_one_json(const struct ct_live *live, struct ct_json *json);
