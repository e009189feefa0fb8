/* SPDX-License-Identifier: Apache-2.0 */
/* The elements that say how far execution came: exceptions, waypoint updates and Q. */
#ifndef CT_FLOW_WALK_REACHED_H
#define CT_FLOW_WALK_REACHED_H

#include "flow/walk_records.h"

/* Takes an exception. Its preferred return address says how far execution came; with E1:E0 = 2 it is where
 * the last branch went. docs/listing.md counts from the last address there is, even if an indirect branch
 * left it for a place that the trace does not tell. Such a range is listed but stale, since nothing says that
 * it ran. A range with a waypoint in it is stale too: the waypoint would have given an atom. */
void ct_walk_on_exception(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink);

/* PTM: takes an exception. Its return address is as far as execution is known to have come; where it goes on
 * follows. */
void ct_walk_on_pft_exception(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink);

/* PTM: takes a waypoint update. Execution went up to the instruction at an address, over waypoints or not. */
void ct_walk_on_waypoint(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink);

/* Takes a Q element: as many instructions ran as the count before it said, then execution was at its address.
 * Which of the branches among them were taken is not known. If an indirect branch came before whose target no
 * packet told, it is not known where they began either; then the path is put out as unknown from the address
 * behind that branch on. */
void ct_walk_on_q(struct ct_walk *w, const struct ct_elem *q, struct ct_walk_sink *sink);

#endif
