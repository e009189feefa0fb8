/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a stream in its turn: made of its elements or along the program, those that the filter keeps
 * given to the receiver of the session. */
#ifndef CT_SESSION_TURN_EVENTS_H
#define CT_SESSION_TURN_EVENTS_H

#include "session/session.h"

struct ct_turn_events;

/* Makes the events of a stream of `source`. The errors of ct_events_new and ct_event_sieve_new. */
int ct_turn_events_new(const struct ct_session *session, const struct ct_source *source,
                       const struct ct_maps *maps, struct ct_turn_events **out);
void ct_turn_events_free(struct ct_turn_events *events);

/* Says that the stream begins inside of its trace, before the window, where its clock is `clock`. To be
 * called before the first batch. */
void ct_turn_events_begin_inside(struct ct_turn_events *events, const struct ct_sieve_clock *clock);

/* Turns a batch into events and gives those that are kept to the receiver, with its `user`. Returns what that
 * returned, or CT_SESSION_NEXT when the window is over. */
int ct_turn_events_from_elems(struct ct_turn_events *events, void *user, const struct ct_stream *stream,
                              const struct ct_elem_batch *batch);
int ct_turn_events_from_flow(struct ct_turn_events *events, void *user, const struct ct_stream *stream,
                             const struct ct_flow_batch *batch);

/* Returns what was seen so far; NULL when the filter keeps all. */
const struct ct_sieve_seen *ct_turn_events_seen(const struct ct_turn_events *events);

#endif
