/* SPDX-License-Identifier: Apache-2.0 */
/* Puts out elements of ETMv4 and ETE that the resolver held: those that packets commit and, at the end of the
 * trace, those that nothing can take back any more. */
#pragma once

#include "elem/etm4_state.h"

/* Most elements that one step may put out; the caller's array has room for more. */
#define CT_ETM4_STEP_ELEMS 4

/* The output array of one call. */
struct ct_etm4_sink {
    struct ct_elem *elems;
    size_t count;
    size_t cap;
};

/* Returns an element at the position of the current packet. */
static inline struct ct_elem ct_etm4_elem(const struct ct_etm4_resolver *r, enum ct_elem_kind kind, uint8_t n,
                                          uint16_t aux, uint64_t v)
{
    return (struct ct_elem){.kind = (uint8_t)kind, .n = n, .aux = aux, .pos = (uint32_t)r->pos, .v = v};
}

static inline void ct_etm4_put(struct ct_etm4_sink *sink, struct ct_elem elem)
{
    sink->elems[sink->count++] = elem;
}

/* Returns whether no P0 element is held, later packets cannot take anything back, and no element waits for
 * its address. */
static inline bool ct_etm4_is_plain(const struct ct_etm4_resolver *r)
{
    return r->state == CT_ETM4_DECODE && !r->config.max_spec && !r->depth && !r->unseen &&
           !r->pending_address;
}

/* Clears the state, after which the resolver waits for an alignment packet. `gap` is the reason that the next
 * GAP element gives. */
void ct_etm4_lose_sync(struct ct_etm4_resolver *r, enum ct_gap gap);

/* Puts out the oldest item or, of atoms, as many as are committed. Returns false when an element that must
 * follow it is missing. */
bool ct_etm4_release(struct ct_etm4_resolver *r, struct ct_etm4_sink *sink);

/* Carries out what the last packet demanded (r->demand). Returns false when the sink is full: call again. */
bool ct_etm4_satisfy(struct ct_etm4_resolver *r, struct ct_etm4_sink *sink);

/* Puts out the elements that are certain at the end of the trace, and the END element: before the first
 * uncommitted P0 element all those that are not about the path of execution, and the end of a transaction if
 * nothing is uncommitted. Returns false when the sink is full: call again. */
bool ct_etm4_finish(struct ct_etm4_resolver *r, struct ct_etm4_sink *sink);
