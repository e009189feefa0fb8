/* SPDX-License-Identifier: Apache-2.0 */
#include "elem/etm4_release.h"

#include "base/bytes.h"

void ct_etm4_lose_sync(struct ct_etm4_resolver *r, enum ct_gap gap)
{
    ct_held_clear(&r->held);
    r->demand = (struct ct_etm4_demand){0};
    r->state = CT_ETM4_NO_SYNC;
    r->gap = (uint8_t)gap;
    r->lost = 0;
    r->depth = r->unseen = 0;
    r->pending_address = r->doubtful = false;
    if (gap == CT_GAP_BAD_PACKET) /* after damage, a decoder starts without any knowledge */
        r->after_overflow = r->marker_seen = false;
}

/* Puts out a context, completed with those IDs that it lacks and that an earlier one had. */
static void release_context(struct ct_etm4_resolver *r, struct ct_elem elem, struct ct_etm4_sink *sink)
{
    if (elem.aux & CT_CONTEXT_CTXT)
        r->ctxt = (uint32_t)elem.v;
    if (elem.aux & CT_CONTEXT_VMID)
        r->vmid = (uint32_t)(elem.v >> 32);
    r->context_known |= elem.aux & (CT_CONTEXT_CTXT | CT_CONTEXT_VMID);
    elem.aux |= r->context_known;
    elem.v = (uint64_t)r->vmid << 32 | r->ctxt;
    ct_etm4_put(sink, elem);
}

/* Completes an element (an exception, or a Q without an address of its own) with the address behind it, which
 * may have a context before it. Returns false when the address is not there. */
static bool take_address(struct ct_etm4_resolver *r, struct ct_elem *elem, struct ct_etm4_sink *sink,
                         uint8_t *is)
{
    uint32_t next = 0;
    uint32_t count = ct_held_count(&r->held);
    if (next < count && ct_held_at(&r->held, next)->elem.kind == CT_ELEM_CONTEXT) {
        struct ct_elem context = ct_held_at(&r->held, next++)->elem;
        context.pos = elem->pos;
        release_context(r, context, sink);
    }
    if (next >= count || ct_held_at(&r->held, next)->elem.kind != CT_ELEM_ADDRESS)
        return false;
    const struct ct_elem *address = &ct_held_at(&r->held, next)->elem;
    elem->v = address->v;
    *is = address->n;
    for (uint32_t i = 0; i <= next; i++)
        ct_held_pop_oldest(&r->held);
    return true;
}

static bool release_exception(struct ct_etm4_resolver *r, struct ct_elem elem, struct ct_etm4_sink *sink)
{
    if (elem.n & CT_EXCEPTION_HAS_RET) {
        uint8_t is;
        if (!take_address(r, &elem, sink, &is))
            return false;
        if (is)
            elem.n |= CT_EXCEPTION_IS1;
    }
    ct_etm4_put(sink, elem);
    return true;
}

/* Puts out a Q element. One without an address takes the address behind it; returns false when that is not
 * there. */
static bool release_q(struct ct_etm4_resolver *r, struct ct_elem elem, struct ct_etm4_sink *sink)
{
    if (!elem.aux && !take_address(r, &elem, sink, &elem.n))
        return false;
    elem.aux = 1;
    ct_etm4_put(sink, elem);
    return true;
}

/* Puts out up to `most` of the oldest atoms and returns their number; the rest of the item stays. */
static uint32_t release_atoms(struct ct_etm4_resolver *r, uint32_t most, struct ct_etm4_sink *sink)
{
    struct ct_held_item *item = ct_held_at(&r->held, 0);
    struct ct_elem elem = item->elem;
    if (most >= item->p0) {
        ct_held_pop_oldest(&r->held);
        ct_etm4_put(sink, elem);
        return elem.n;
    }
    elem.n = (uint8_t)most;
    elem.v &= ct_mask64(most);
    ct_etm4_put(sink, elem);
    item->p0 = (uint8_t)(item->p0 - most);
    item->elem.n = item->p0;
    item->elem.v >>= most;
    return most;
}

static void release_trace_on(struct ct_etm4_resolver *r, struct ct_elem elem, struct ct_etm4_sink *sink)
{
    if (r->after_overflow)
        elem.n = CT_TRACE_ON_OVERFLOW;
    r->after_overflow = false;
    ct_etm4_put(sink, elem);
}

bool ct_etm4_release(struct ct_etm4_resolver *r, struct ct_etm4_sink *sink)
{
    struct ct_held_item item = *ct_held_at(&r->held, 0);
    if (item.elem.kind == CT_ELEM_ATOMS) {
        uint32_t count = release_atoms(r, r->demand.commit, sink);
        r->demand.commit -= count;
        r->depth -= count;
        return true;
    }
    ct_held_pop_oldest(&r->held);
    r->demand.commit -= item.p0;
    r->depth -= item.p0;
    switch (item.elem.kind) {
    case CT_ELEM_EXCEPTION:
        return release_exception(r, item.elem, sink);
    case CT_ELEM_Q:
        return release_q(r, item.elem, sink);
    case CT_ELEM_CONTEXT:
        release_context(r, item.elem, sink);
        return true;
    case CT_ELEM_TRACE_ON:
        release_trace_on(r, item.elem, sink);
        return true;
    default:
        ct_etm4_put(sink, item.elem);
        return true;
    }
}

/* Commits P0 elements from before the trace began, which are older than all held ones. */
static void commit_unseen(struct ct_etm4_resolver *r)
{
    uint32_t count = r->demand.commit < r->unseen ? r->demand.commit : r->unseen;
    r->demand.commit -= count;
    r->unseen -= count;
    r->depth -= count;
}

/* Puts out what the demand commits. Returns false when the sink is full. */
static bool commit(struct ct_etm4_resolver *r, struct ct_etm4_sink *sink)
{
    while (r->demand.commit) {
        if (sink->cap - sink->count < CT_ETM4_STEP_ELEMS)
            return false;
        if (r->unseen)
            commit_unseen(r);
        else if (!ct_held_count(&r->held) || !ct_etm4_release(r, sink))
            r->demand.overrun = true;
        if (r->demand.overrun)
            return true;
    }
    return true;
}

static void cancel(struct ct_etm4_resolver *r)
{
    uint32_t left = ct_held_cancel(&r->held, r->demand.cancel);
    uint32_t unseen = left < r->unseen ? left : r->unseen;
    r->unseen -= unseen;
    r->depth -= r->demand.cancel - (left - unseen);
    r->demand.overrun |= left > unseen;
    r->demand.cancel = 0;
}

/* Returns whether an element stays when the path of execution is lost, because it is not about that path. */
static bool survives_discard(const struct ct_elem *elem)
{
    return elem->kind != CT_ELEM_SYNC && ct_held_is_off_path(elem);
}

/* Returns whether the oldest item is the target of the last committed branch: its packet was whole, and
 * neither a P0 element that may still be taken back nor a pause of tracing precedes it. */
static bool is_last_target(const struct ct_etm4_resolver *r)
{
    return !r->unseen && !r->doubtful && ct_held_at(&r->held, 0)->elem.kind == CT_ELEM_ADDRESS;
}

/* Puts out those held elements that stay, and loses synchronisation. Returns false when the sink is full. */
static bool discard(struct ct_etm4_resolver *r, struct ct_etm4_sink *sink)
{
    while (ct_held_count(&r->held)) {
        if (sink->cap - sink->count < CT_ETM4_STEP_ELEMS)
            return false;
        struct ct_elem elem = ct_held_at(&r->held, 0)->elem;
        r->doubtful |= ct_held_at(&r->held, 0)->p0 || elem.kind == CT_ELEM_TRACE_ON;
        bool leaves = survives_discard(&elem) || is_last_target(r);
        ct_held_pop_oldest(&r->held);
        if (leaves)
            ct_etm4_put(sink, elem);
    }
    enum ct_gap gap = (enum ct_gap)r->gap;
    ct_etm4_lose_sync(r, gap);
    r->state = CT_ETM4_WAIT_SYNC;
    ct_etm4_put(sink, ct_etm4_elem(r, CT_ELEM_GAP, (uint8_t)gap, 0, 0));
    return true;
}

/* Loses synchronisation because a packet took back or committed more elements than there were. Returns false
 * when the sink is full. */
static bool overrun(struct ct_etm4_resolver *r, struct ct_etm4_sink *sink)
{
    if (sink->cap == sink->count) {
        r->demand = (struct ct_etm4_demand){.overrun = true};
        return false;
    }
    ct_etm4_lose_sync(r, CT_GAP_BAD_PACKET);
    r->lost = r->size;
    r->state = CT_ETM4_WAIT_SYNC;
    ct_etm4_put(sink, ct_etm4_elem(r, CT_ELEM_GAP, CT_GAP_BAD_PACKET, 0, 0));
    return true;
}

bool ct_etm4_satisfy(struct ct_etm4_resolver *r, struct ct_etm4_sink *sink)
{
    if (r->demand.discard)
        return discard(r, sink);
    if (r->demand.commit && !commit(r, sink))
        return false;
    if (r->demand.cancel && !r->demand.overrun)
        cancel(r);
    if (r->demand.mispredict && !r->demand.overrun)
        r->demand.overrun = !ct_held_mispredict(&r->held) && !r->unseen;
    r->demand.mispredict = false;
    if (r->demand.overrun)
        return overrun(r, sink);
    if (r->demand.fail) {
        ct_etm4_lose_sync(r, CT_GAP_BAD_PACKET);
        r->lost = r->size;
    }
    return true;
}

bool ct_etm4_finish(struct ct_etm4_resolver *r, struct ct_etm4_sink *sink)
{
    bool speculative = r->config.max_spec && r->depth;
    while (ct_held_count(&r->held)) {
        if (sink->cap - sink->count < CT_ETM4_STEP_ELEMS)
            return false;
        struct ct_held_item item = *ct_held_at(&r->held, 0);
        bool trans_end = item.elem.kind == CT_ELEM_TRANS && item.elem.n >= CT_TRANS_COMMIT && !speculative;
        bool leaves = survives_discard(&item.elem) || trans_end || is_last_target(r);
        ct_held_pop_oldest(&r->held);
        if (leaves)
            ct_etm4_put(sink, item.elem);
        else if (item.p0 || item.elem.kind == CT_ELEM_TRACE_ON || item.elem.kind == CT_ELEM_RETURN)
            ct_held_clear(&r->held);
    }
    if (sink->cap == sink->count)
        return false;
    uint8_t why = r->after_overflow ? CT_GAP_OVERFLOW : CT_GAP_END;
    uint16_t untold = r->state == CT_ETM4_NO_SYNC ? (uint16_t)(r->gap + 1) : 0;
    ct_etm4_put(sink, ct_etm4_elem(r, CT_ELEM_END, why, untold, r->state == CT_ETM4_DECODE ? 0 : r->lost));
    r->ended = true;
    return true;
}
