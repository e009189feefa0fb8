/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of ETMv4 and ETE leave the resolver: those that packets commit, and at the end of the trace those
 * that nobody can take back any more. */
#ifndef CT_ELEM_ETM4_RELEASE_H
#define CT_ELEM_ETM4_RELEASE_H

#include "elem/etm4_state.h"

/* Elements that one step may put out; the caller's array has room for more. */
#define CT_ETM4_STEP_ELEMS 4

/* Output of one call. */
struct ct_etm4_sink {
    struct ct_elem *elems;
    size_t count;
    size_t cap;
};

/* Makes an element of the packet in work. */
static inline struct ct_elem ct_etm4_elem(const struct ct_etm4_resolver *r, enum ct_elem_kind kind, uint8_t n,
                                          uint16_t aux, uint64_t v)
{
    return (struct ct_elem){.kind = (uint8_t)kind, .n = n, .aux = aux, .pos = (uint32_t)r->pos, .v = v};
}

static inline void ct_etm4_put(struct ct_etm4_sink *sink, struct ct_elem elem)
{
    sink->elems[sink->count++] = elem;
}

/* Returns true when no P0 element is held, nothing that comes can be taken back, and no address is waited
 * for. */
static inline bool ct_etm4_is_plain(const struct ct_etm4_resolver *r)
{
    return r->state == CT_ETM4_DECODE && !r->config.max_spec && !r->depth && !r->unseen &&
           !r->pending_address;
}

/* Clears the state and waits for an alignment packet. */
void ct_etm4_lose_sync(struct ct_etm4_resolver *r, enum ct_gap gap);

/* Puts out the oldest item, or as many of its atoms as are committed. Returns false when what must follow it
 * is not there. */
bool ct_etm4_release(struct ct_etm4_resolver *r, struct ct_etm4_sink *sink);

/* Carries out what the last packet asked for. Returns false when the sink is full: call again. */
bool ct_etm4_satisfy(struct ct_etm4_resolver *r, struct ct_etm4_sink *sink);

/* Puts out what may leave at the end of the trace: before the first uncommitted P0 element everything that is
 * not about the path of execution, and the end of a transaction where nothing is uncommitted. Returns false
 * when the sink is full. */
bool ct_etm4_finish(struct ct_etm4_resolver *r, struct ct_etm4_sink *sink);

#endif
