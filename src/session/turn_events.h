/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a stream in its turn, made from its elements or along the program. Those that the filter
 * keeps go to the receiver of the session. */
#pragma once

#include "session/session.h"

struct ct_turn_events;

/* Makes the events of a stream of `source`. The errors of ct_events_new and ct_event_sieve_new. */
int ct_turn_events_new(const struct ct_session *session, const struct ct_source *source,
                       const struct ct_maps *maps, struct ct_turn_events **out);
void ct_turn_events_free(struct ct_turn_events *events);

/* Announces that the stream begins inside of its trace, before the window, with the clock `clock`. To be
 * called before the first batch. */
void ct_turn_events_begin_inside(struct ct_turn_events *events, const struct ct_sieve_clock *clock);

/* Converts a batch to events and passes the kept ones to the receiver, with its `user`. Returns the
 * receiver's result, or CT_SESSION_NEXT when the window has ended. */
int ct_turn_events_from_elems(struct ct_turn_events *events, void *user, const struct ct_stream *stream,
                              const struct ct_elem_batch *batch);
int ct_turn_events_from_flow(struct ct_turn_events *events, void *user, const struct ct_stream *stream,
                             const struct ct_flow_batch *batch);

/* Returns the statistics so far; NULL when the filter keeps everything. */
const struct ct_sieve_seen *ct_turn_events_seen(const struct ct_turn_events *events);
