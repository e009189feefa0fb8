/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the elements that say how far execution came: exceptions, waypoint updates and Q. */
#pragma once

#include "flow/walk_records.h"

/* Takes an exception. Its preferred return address says how far execution came; with E1:E0 = 2 it is the
 * target of the last branch. As docs/listing.md says, the range up to it begins at the last known address,
 * even if an indirect branch left that address for an unknown target. Such a range is listed but stale,
 * because nothing says that it was executed. A range with a waypoint in it is stale, too: the waypoint would
 * have given an atom. */
void ct_walk_on_exception(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink);

/* PTM: takes an exception. Its return address is the last known position of execution. The address where
 * execution continues follows in another element. */
void ct_walk_on_pft_exception(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink);

/* PTM: takes a waypoint update. Execution went up to the instruction at its address, and may have passed
 * waypoints. */
void ct_walk_on_waypoint(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink);

/* Takes a Q element. The instructions counted by the element before it were executed, then execution was at
 * its address. Which of the branches among them were taken is not known. If no packet told the target of an
 * indirect branch before them, their beginning is not known either; then the path is put out as unknown from
 * the address behind that branch. */
void ct_walk_on_q(struct ct_walk *w, const struct ct_elem *q, struct ct_walk_sink *sink);
