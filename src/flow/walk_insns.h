/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over instructions by reading each of them. */
#pragma once

#include "flow/walk.h"

/* Walks the instruction at w->addr. Returns false when it cannot be read. */
bool ct_walk_insn(struct ct_walk *w, struct ct_walk_range *range);

/* Where ct_walk_to stops. */
enum ct_walk_stop {
    CT_WALK_STOP_BEFORE, /* behind the instruction that contains or ends at the given address */
    CT_WALK_STOP_AFTER,  /* behind the instruction at the given address */
};

/* Walks up to an address. */
enum ct_walk_found ct_walk_to(struct ct_walk *w, enum ct_walk_stop stop, uint64_t at,
                              struct ct_walk_range *range);

/* Walks up to the next waypoint by reading each instruction. */
enum ct_walk_found ct_walk_plainly_to_waypoint(struct ct_walk *w, struct ct_walk_range *range);
