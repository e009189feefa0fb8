/* SPDX-License-Identifier: Apache-2.0 */
/* Takes atoms, and the waypoints at the end of a walk that they belong to. */
#pragma once

#include "flow/walk_records.h"

/* Moves execution past the executed waypoint at the end of a walk. The target of an exception return is never
 * on the return stack, which only holds return addresses of functions (IHI 0064H 5.3.1). */
void ct_walk_take_waypoint(struct ct_walk *w);

/* Puts out a return from an exception for which there is no packet. */
void ct_walk_put_eret(struct ct_walk *w, struct ct_walk_sink *sink);

/* Takes a return address off the return stack. Returns false when the stack is empty. An entry from before
 * execution went out of sight may be missing in the stack of the trace unit. Listings use it all the same
 * (docs/listing.md), and that counts as a contradiction. */
bool ct_walk_pop_return(struct ct_walk *w, struct ct_walk_sink *sink, uint64_t *addr, uint8_t *isa);

/* Takes the target of an indirect branch from the return stack, because no address followed it. */
void ct_walk_settle_return(struct ct_walk *w, struct ct_walk_sink *sink);

/* Passes over atoms of instructions whose address is unknown: behind a branch whose target neither the
 * program nor the return stack gives, behind an exception, or behind a trace info. Puts out a gap unless a
 * record said so before. */
void ct_walk_pass_over(struct ct_walk *w, struct ct_walk_sink *sink);

/* Takes atoms. Returns true when all are done, false when the sink is full. */
bool ct_walk_on_atoms(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink);
