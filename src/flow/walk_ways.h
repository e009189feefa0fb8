/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps ways of the walk: straight A64 code up to a waypoint, which need not be read again. The records are
 * the same as without ways. */
#pragma once

#include "flow/walk_records.h"

/* Takes atoms along ways that are kept, up to the first atom that is special or has no way. */
void ct_walk_follow_ways(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink);

/* Returns the cache line with the two ways that are kept for an address and for those with the same hash, the
 * newer way first. It is a Fibonacci hash, because addresses of code differ in their low bits. */
static inline struct ct_walk_way *ct_walk_way_line(const struct ct_walk *w, uint64_t addr)
{
    return &w->ways[addr * UINT64_C(0x9e3779b97f4a7c15) >> (65 - CT_WALK_WAY_BITS) << 1];
}
