/* SPDX-License-Identifier: Apache-2.0 */
/* ETMv4/ETE packets to elements: what the trace unit may still take back is held until it is committed.
 * IHI 0064H chapter 5 (speculation) and 6.4; the order of what comes out is docs/listing.md. */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "elem/etm4_state.h"

/* Elements that one step may put out; the caller's array has room for more. */
#define STEP_ELEMS 4

/* Items that one packet may add to those held. */
#define PACKET_ITEMS 4

/* Output of one call. */
struct sink {
    struct ct_elem *elems;
    size_t count;
    size_t cap;
};

int ct_etm4_resolver_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_etm4_resolver **out)
{
    if (!source || !out)
        return ct_fail_null(ctx, __func__);
    struct ct_etm4_config config;
    int rc = ct_etm4_config_init(ctx, source, &config);
    if (rc)
        return rc;
    struct ct_etm4_resolver *r = calloc(1, sizeof *r);
    if (!r || !ct_held_init(&r->held)) {
        free(r);
        return ct_fail_nomem(ctx, "ETMv4 elements");
    }
    r->config = config;
    r->gap = CT_GAP_INIT;
    *out = r;
    return CT_OK;
}

void ct_etm4_resolver_free(struct ct_etm4_resolver *r)
{
    if (!r)
        return;
    ct_held_deinit(&r->held);
    free(r);
}

/* Clears the state and waits for an alignment packet. */
static void lose_sync(struct ct_etm4_resolver *r, enum ct_gap gap)
{
    ct_held_clear(&r->held);
    r->demand = (struct ct_etm4_demand){0};
    r->state = CT_ETM4_NO_SYNC;
    r->gap = (uint8_t)gap;
    r->lost = 0;
    r->depth = r->unseen = 0;
    r->pending_address = r->doubtful = false;
    if (gap == CT_GAP_BAD_PACKET) /* a decoder starts from nothing after damage */
        r->after_overflow = r->marker_seen = false;
}

void ct_etm4_resolver_reset(struct ct_etm4_resolver *r)
{
    if (!r)
        return;
    lose_sync(r, CT_GAP_RESET);
    r->after_overflow = r->marker_seen = false;
    r->context_known = 0;
}

static struct ct_elem make(const struct ct_etm4_resolver *r, enum ct_elem_kind kind, uint8_t n, uint16_t aux,
                           uint64_t v)
{
    return (struct ct_elem){.kind = (uint8_t)kind, .n = n, .aux = aux, .pos = (uint32_t)r->pos, .v = v};
}

static void put(struct sink *sink, struct ct_elem elem)
{
    sink->elems[sink->count++] = elem;
}

static void hold(struct ct_etm4_resolver *r, enum ct_elem_kind kind, uint8_t n, uint16_t aux, uint64_t v)
{
    struct ct_elem elem = make(r, kind, n, aux, v);
    ct_held_push(&r->held, &elem, 0);
}

/* Holds a P0 element, or one that stands for `p0` of them. */
static void hold_p0(struct ct_etm4_resolver *r, uint8_t p0, struct ct_elem elem)
{
    ct_held_push(&r->held, &elem, p0);
    r->depth += p0;
}

/* ---- release: one committed item ---- */

/* Puts out a context, completed by the IDs that it does not name and that were known before. */
static void release_context(struct ct_etm4_resolver *r, struct ct_elem elem, struct sink *sink)
{
    if (elem.aux & CT_CONTEXT_CTXT)
        r->ctxt = (uint32_t)elem.v;
    if (elem.aux & CT_CONTEXT_VMID)
        r->vmid = (uint32_t)(elem.v >> 32);
    r->context_known |= elem.aux & (CT_CONTEXT_CTXT | CT_CONTEXT_VMID);
    elem.aux |= r->context_known;
    elem.v = (uint64_t)r->vmid << 32 | r->ctxt;
    put(sink, elem);
}

/* Completes an element by the address behind it, which may have a context before it: an exception, or a Q
 * without an address of its own. False: they are not there. */
static bool take_address(struct ct_etm4_resolver *r, struct ct_elem *elem, struct sink *sink, uint8_t *is)
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

static bool release_exception(struct ct_etm4_resolver *r, struct ct_elem elem, struct sink *sink)
{
    if (elem.n & CT_EXCEPTION_HAS_RET) {
        uint8_t is;
        if (!take_address(r, &elem, sink, &is))
            return false;
        if (is)
            elem.n |= CT_EXCEPTION_IS1;
    }
    put(sink, elem);
    return true;
}

/* Puts out a Q. One without an address takes the address behind it. */
static bool release_q(struct ct_etm4_resolver *r, struct ct_elem elem, struct sink *sink)
{
    if (!elem.aux && !take_address(r, &elem, sink, &elem.n))
        return false;
    elem.aux = 1;
    put(sink, elem);
    return true;
}

/* Puts out up to `most` of the oldest atoms; the rest of the item stays. Result: how many. */
static uint32_t release_atoms(struct ct_etm4_resolver *r, uint32_t most, struct sink *sink)
{
    struct ct_held_item *item = ct_held_at(&r->held, 0);
    struct ct_elem elem = item->elem;
    if (most >= item->p0) {
        ct_held_pop_oldest(&r->held);
        put(sink, elem);
        return elem.n;
    }
    elem.n = (uint8_t)most;
    elem.v &= ct_mask64(most);
    put(sink, elem);
    item->p0 = (uint8_t)(item->p0 - most);
    item->elem.n = item->p0;
    item->elem.v >>= most;
    return most;
}

static void release_trace_on(struct ct_etm4_resolver *r, struct ct_elem elem, struct sink *sink)
{
    if (r->after_overflow)
        elem.n = CT_TRACE_ON_OVERFLOW;
    r->after_overflow = false;
    put(sink, elem);
}

/* Puts out the oldest item, or as many of its atoms as are committed. False:
 * what must follow it is not there. */
static bool release(struct ct_etm4_resolver *r, struct sink *sink)
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
        put(sink, item.elem);
        return true;
    }
}

/* ---- demands ---- */

/* Commits P0 elements from before the trace began, which are older than all that is held. */
static void commit_unseen(struct ct_etm4_resolver *r)
{
    uint32_t count = r->demand.commit < r->unseen ? r->demand.commit : r->unseen;
    r->demand.commit -= count;
    r->unseen -= count;
    r->depth -= count;
}

/* Puts out what the demand commits. True when done, false when the sink is full. */
static bool commit(struct ct_etm4_resolver *r, struct sink *sink)
{
    while (r->demand.commit) {
        if (sink->cap - sink->count < STEP_ELEMS)
            return false;
        if (r->unseen)
            commit_unseen(r);
        else if (!ct_held_count(&r->held) || !release(r, sink))
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

/* Tells whether an element stays when the path of execution is lost, since it is about other things. */
static bool survives_discard(const struct ct_elem *elem)
{
    switch (elem->kind) {
    case CT_ELEM_EVENT:
    case CT_ELEM_TIMESTAMP:
    case CT_ELEM_CYCLES:
    case CT_ELEM_MARKER:
    case CT_ELEM_ITE:
        return true;
    default:
        return false;
    }
}

/* Tells whether the oldest item is where the last committed branch went: its packet was whole, and neither a
 * P0 element that may still be taken back nor a pause of tracing stands before it. */
static bool is_last_target(const struct ct_etm4_resolver *r)
{
    return !r->unseen && !r->doubtful && ct_held_at(&r->held, 0)->elem.kind == CT_ELEM_ADDRESS;
}

/* Puts out what stays of the held elements and loses synchronisation. True when done, false when the sink is
 * full. */
static bool discard(struct ct_etm4_resolver *r, struct sink *sink)
{
    while (ct_held_count(&r->held)) {
        if (sink->cap - sink->count < STEP_ELEMS)
            return false;
        struct ct_elem elem = ct_held_at(&r->held, 0)->elem;
        r->doubtful |= ct_held_at(&r->held, 0)->p0 || elem.kind == CT_ELEM_TRACE_ON;
        bool leaves = survives_discard(&elem) || is_last_target(r);
        ct_held_pop_oldest(&r->held);
        if (leaves)
            put(sink, elem);
    }
    enum ct_gap gap = (enum ct_gap)r->gap;
    lose_sync(r, gap);
    r->state = CT_ETM4_WAIT_SYNC;
    put(sink, make(r, CT_ELEM_GAP, (uint8_t)gap, 0, 0));
    return true;
}

/* Loses synchronisation, because a packet took back or committed more than there was. False: the sink is
 * full. */
static bool overrun(struct ct_etm4_resolver *r, struct sink *sink)
{
    if (sink->cap == sink->count) {
        r->demand = (struct ct_etm4_demand){.overrun = true};
        return false;
    }
    lose_sync(r, CT_GAP_BAD_PACKET);
    r->lost = r->size;
    r->state = CT_ETM4_WAIT_SYNC;
    put(sink, make(r, CT_ELEM_GAP, CT_GAP_BAD_PACKET, 0, 0));
    return true;
}

/* Carries out what the last packet asked for. False: the sink is full, call again. */
static bool satisfy(struct ct_etm4_resolver *r, struct sink *sink)
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
        lose_sync(r, CT_GAP_BAD_PACKET);
        r->lost = r->size;
    }
    return true;
}

/* ---- packets ---- */

static void hold_context(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p)
{
    if (!(p->flags & CT_ETM4_HAS_CONTEXT))
        return;
    uint16_t aux = CT_CONTEXT_EL;
    if (p->flags & CT_ETM4_SF)
        aux |= CT_CONTEXT_SF;
    if (p->flags & CT_ETM4_HAS_CTXT)
        aux |= CT_CONTEXT_CTXT;
    if (p->flags & CT_ETM4_HAS_VMID)
        aux |= CT_CONTEXT_VMID;
    if (r->last_is)
        aux |= CT_CONTEXT_IS1;
    hold(r, CT_ELEM_CONTEXT, p->el_sec, aux, (uint64_t)p->vmid << 32 | p->ctxt);
}

static void on_address(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p)
{
    r->last_is = p->is;
    hold_context(r, p);
    hold(r, CT_ELEM_ADDRESS, p->is, p->valid, p->value);
    r->pending_address = false;
}

static void on_source(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p)
{
    r->last_is = p->is;
    hold_p0(r, 1, make(r, CT_ELEM_SOURCE, p->is, p->valid, p->value));
}

static void on_atoms(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p)
{
    if (p->natoms)
        hold_p0(r, p->natoms, make(r, CT_ELEM_ATOMS, p->natoms, 0, p->atoms));
}

static void on_exception(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p)
{
    uint8_t flags = CT_EXCEPTION_HAS_RET;
    if (p->idx == 2)
        flags |= CT_EXCEPTION_TARGET;
    if (p->flags & CT_ETM4_FAULT_PENDING)
        flags |= CT_EXCEPTION_PENDING;
    hold_p0(r, 1, make(r, CT_ELEM_EXCEPTION, flags, p->info, 0));
    r->pending_address = true;
}

static void on_q(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p)
{
    bool has_address = p->flags & CT_ETM4_HAS_ADDR;
    if (has_address)
        r->last_is = p->is;
    hold(r, CT_ELEM_Q_COUNT, 0, !(p->flags & CT_ETM4_HAS_COUNT), p->count);
    hold_p0(r, 1, make(r, CT_ELEM_Q, p->is, has_address, p->value));
    r->pending_address = !has_address;
}

static void on_timestamp(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p)
{
    if (r->config.ts_markers && !r->marker_seen)
        return;
    hold(r, CT_ELEM_TIMESTAMP, 0, 0, p->value);
    if (r->config.cycle_count)
        hold(r, CT_ELEM_CYCLES, 1, 0, p->count);
}

/* Resolves a cycle count and commits what it says. Formats 2 and 3 cannot say that nothing is committed;
 * where nothing is ever speculative, everything was committed by itself, and their commits say nothing
 * new. */
static void on_cycles(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p)
{
    hold(r, CT_ELEM_CYCLES, 0, !(p->flags & CT_ETM4_HAS_COUNT), p->count);
    r->demand.commit = r->config.max_spec ? p->count2 : 0;
}

static void on_cancel(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p)
{
    on_atoms(r, p);
    r->demand.cancel = p->count2;
    r->demand.mispredict = p->type != CT_ETM4_CANCEL_F1;
}

static void on_lost(struct ct_etm4_resolver *r, enum ct_gap gap)
{
    r->demand.discard = true;
    r->gap = (uint8_t)gap;
    if (gap == CT_GAP_OVERFLOW)
        r->after_overflow = true;
}

/* Holds what a packet adds, and notes what it demands. */
static void on_packet(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p)
{
    switch (p->type) {
    case CT_ETM4_ATOM_F1:
    case CT_ETM4_ATOM_F2:
    case CT_ETM4_ATOM_F3:
    case CT_ETM4_ATOM_F4:
    case CT_ETM4_ATOM_F5:
    case CT_ETM4_ATOM_F6:
        on_atoms(r, p);
        break;
    case CT_ETM4_ADDR_S_IS0:
    case CT_ETM4_ADDR_S_IS1:
    case CT_ETM4_ADDR_L_32IS0:
    case CT_ETM4_ADDR_L_32IS1:
    case CT_ETM4_ADDR_L_64IS0:
    case CT_ETM4_ADDR_L_64IS1:
    case CT_ETM4_ADDR_CTXT_L_32IS0:
    case CT_ETM4_ADDR_CTXT_L_32IS1:
    case CT_ETM4_ADDR_CTXT_L_64IS0:
    case CT_ETM4_ADDR_CTXT_L_64IS1:
    case CT_ETM4_ADDR_MATCH:
        on_address(r, p);
        break;
    case CT_ETM4_SRC_ADDR_S_IS0:
    case CT_ETM4_SRC_ADDR_S_IS1:
    case CT_ETM4_SRC_ADDR_L_32IS0:
    case CT_ETM4_SRC_ADDR_L_32IS1:
    case CT_ETM4_SRC_ADDR_L_64IS0:
    case CT_ETM4_SRC_ADDR_L_64IS1:
    case CT_ETM4_SRC_ADDR_MATCH:
        on_source(r, p);
        break;
    case CT_ETM4_CTXT:
        hold_context(r, p);
        break;
    case CT_ETM4_TRACE_ON:
        hold(r, CT_ELEM_TRACE_ON, CT_TRACE_ON_FILTER, 0, 0);
        break;
    case CT_ETM4_TRACE_INFO:
        hold(r, CT_ELEM_SYNC, 0, 0, 0);
        break;
    case CT_ETM4_EXCEPT:
        on_exception(r, p);
        break;
    case CT_ETM4_PE_RESET:
        hold_p0(r, 1, make(r, CT_ELEM_EXCEPTION, 0, 0, 0));
        break;
    case CT_ETM4_EXCEPT_RTN:
        hold_p0(r, r->config.m_profile, make(r, CT_ELEM_RETURN, 0, 0, 0));
        break;
    case CT_ETM4_FUNC_RET:
        hold_p0(r, 1, make(r, CT_ELEM_FUNC_RET, 0, 0, 0));
        break;
    case CT_ETM4_Q:
        on_q(r, p);
        break;
    case CT_ETM4_CCNT_F1:
    case CT_ETM4_CCNT_F2:
    case CT_ETM4_CCNT_F3:
        on_cycles(r, p);
        break;
    case CT_ETM4_TIMESTAMP:
        on_timestamp(r, p);
        break;
    case CT_ETM4_TS_MARKER:
        r->marker_seen = true;
        hold(r, CT_ELEM_MARKER, 0, 0, 0);
        break;
    case CT_ETM4_EVENT:
        hold(r, CT_ELEM_EVENT, (uint8_t)p->info, 0, 0);
        break;
    case CT_ETM4_ITE:
        hold(r, CT_ELEM_ITE, p->el_sec, 0, p->value);
        break;
    case CT_ETM4_TRANS_ST:
        hold_p0(r, r->config.trans_start_p0, make(r, CT_ELEM_TRANS, CT_TRANS_START, 0, 0));
        break;
    case CT_ETM4_TRANS_COMMIT:
        hold(r, CT_ELEM_TRANS, CT_TRANS_COMMIT, 0, 0);
        break;
    case CT_ETM4_TRANS_FAIL:
        hold(r, CT_ELEM_TRANS, CT_TRANS_FAIL, 0, 0);
        break;
    case CT_ETM4_COMMIT:
        r->demand.commit = p->count2;
        break;
    case CT_ETM4_CANCEL_F1:
    case CT_ETM4_CANCEL_F1_MISPRED:
    case CT_ETM4_CANCEL_F2:
    case CT_ETM4_CANCEL_F3:
    case CT_ETM4_MISPREDICT:
        on_cancel(r, p);
        break;
    case CT_ETM4_OVERFLOW:
        on_lost(r, CT_GAP_OVERFLOW);
        break;
    case CT_ETM4_DISCARD:
        on_lost(r, CT_GAP_DISCARD);
        break;
    case CT_ETM4_NOT_SYNC:
    case CT_ETM4_BAD_SEQUENCE:
    case CT_ETM4_BAD_TRACEMODE:
    case CT_ETM4_RESERVED:
    case CT_ETM4_RESERVED_CFG:
    case CT_ETM4_EXTENSION:
        r->demand.fail = true;
        break;
    default:
        /* Alignment, ignore, a packet that the end cut, and what says nothing of the path of execution:
         * conditional non-branch instructions, data synchronisation markers. */
        break;
    }
    /* Only the newest element may wait for its address. Where elements may stay uncommitted the newest is one
     * of them, so that it may go on waiting. */
    bool ready = !r->pending_address || r->config.max_spec;
    if (ready && !r->demand.commit && r->depth > r->config.max_spec)
        r->demand.commit = r->depth - r->config.max_spec;
}

static void on_first_info(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p, struct sink *sink)
{
    r->state = CT_ETM4_DECODE;
    r->unseen = r->depth = p->count2;
    r->last_is = 0;
    put(sink, make(r, CT_ELEM_SYNC, 1, 0, r->lost));
    if (p->flags & CT_ETM4_TSTATE)
        hold(r, CT_ELEM_TRANS, CT_TRANS_INIT, 0, 0);
}

/* Makes room for the items of one more packet when the ring is nearly full. Elements that nobody can take
 * back leave early; without such, speculation is deeper than any trace unit's, which is damage. False: the
 * sink is full. */
static bool make_room(struct ct_etm4_resolver *r, struct sink *sink)
{
    while (ct_held_count(&r->held) > CT_HELD_SIZE - PACKET_ITEMS) {
        if (sink->cap - sink->count < STEP_ELEMS)
            return false;
        if (ct_held_at(&r->held, 0)->p0) {
            lose_sync(r, CT_GAP_LIMIT);
            return true;
        }
        release(r, sink);
    }
    return true;
}

/* Counts the bytes of a packet that cannot be used for want of synchronisation. Alignment packets do not
 * count. */
static void count_lost(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p)
{
    if (p->type == CT_ETM4_NOT_SYNC)
        r->lost += p->value;
    else if (p->type != CT_ETM4_ASYNC)
        r->lost += p->size;
}

/* Takes a packet. False: the sink is full and the packet was not taken. */
static bool step(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p, struct sink *sink)
{
    if (sink->cap - sink->count < STEP_ELEMS || !make_room(r, sink))
        return false;
    r->pos = p->pos;
    r->size = p->size;
    if (r->state == CT_ETM4_NO_SYNC) {
        put(sink, make(r, CT_ELEM_GAP, r->gap, 0, 0));
        r->state = CT_ETM4_WAIT_SYNC;
    }
    switch (r->state) {
    case CT_ETM4_WAIT_SYNC:
        if (p->type == CT_ETM4_ASYNC)
            r->state = CT_ETM4_WAIT_INFO;
        else
            count_lost(r, p);
        break;
    case CT_ETM4_WAIT_INFO:
        if (p->type == CT_ETM4_TRACE_INFO)
            on_first_info(r, p, sink);
        else if (p->type == CT_ETM4_EVENT && r->config.ete)
            put(sink, make(r, CT_ELEM_EVENT, (uint8_t)p->info, 0, 0));
        else
            count_lost(r, p);
        break;
    default:
        on_packet(r, p);
        break;
    }
    return true;
}

/* Puts out what may leave at the end of the trace: before the first uncommitted P0 element everything that is
 * not about the path of execution, and the end of a transaction where nothing is uncommitted. False: the sink
 * is full. */
static bool finish(struct ct_etm4_resolver *r, struct sink *sink)
{
    bool speculative = r->config.max_spec && r->depth;
    while (ct_held_count(&r->held)) {
        if (sink->cap - sink->count < STEP_ELEMS)
            return false;
        struct ct_held_item item = *ct_held_at(&r->held, 0);
        bool trans_end = item.elem.kind == CT_ELEM_TRANS && item.elem.n >= CT_TRANS_COMMIT && !speculative;
        bool leaves = survives_discard(&item.elem) || trans_end || is_last_target(r);
        ct_held_pop_oldest(&r->held);
        if (leaves)
            put(sink, item.elem);
        else if (item.p0 || item.elem.kind == CT_ELEM_TRACE_ON || item.elem.kind == CT_ELEM_RETURN)
            ct_held_clear(&r->held);
    }
    if (sink->cap == sink->count)
        return false;
    uint8_t why = r->after_overflow ? CT_GAP_OVERFLOW : CT_GAP_END;
    uint16_t untold = r->state == CT_ETM4_NO_SYNC ? (uint16_t)(r->gap + 1) : 0;
    put(sink, make(r, CT_ELEM_END, why, untold, r->state == CT_ETM4_DECODE ? 0 : r->lost));
    r->ended = true;
    return true;
}

/* Tells whether no P0 element is held, nothing that comes can be taken back, and no address is waited for. */
static bool is_plain(const struct ct_etm4_resolver *r)
{
    return r->state == CT_ETM4_DECODE && !r->config.max_spec && !r->depth && !r->unseen &&
           !r->pending_address;
}

/* Puts out what is held, at most two addresses and cycle counts, as release does. False: it is something
 * else, and nothing was put out. */
static bool release_plain(struct ct_etm4_resolver *r, uint32_t held, struct sink *sink)
{
    for (uint32_t i = 0; i < held; i++) {
        const uint8_t kind = ct_held_at(&r->held, i)->elem.kind;
        if (kind != CT_ELEM_ADDRESS && kind != CT_ELEM_CYCLES)
            return false;
    }
    for (uint32_t i = 0; i < held; i++)
        put(sink, ct_held_at(&r->held, i)->elem);
    ct_held_clear(&r->held);
    return true;
}

/* Takes atoms, addresses and cycle counts as step and satisfy do, where atoms leave at once: most packets are
 * such. The others are held until the next atoms. False: the packet was not taken. */
static bool step_quickly(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p, struct sink *sink)
{
    const uint32_t held = ct_held_count(&r->held);
    if (held > 2 || sink->cap - sink->count < STEP_ELEMS || !is_plain(r))
        return false;
    const bool atoms = p->type >= CT_ETM4_ATOM_F1 && p->type <= CT_ETM4_ATOM_F6 && p->natoms;
    const bool cycles = p->type >= CT_ETM4_CCNT_F1 && p->type <= CT_ETM4_CCNT_F3;
    const bool address = p->type >= CT_ETM4_ADDR_S_IS0 && p->type <= CT_ETM4_ADDR_L_64IS1;
    if (!(atoms ? release_plain(r, held, sink) : cycles || address))
        return false;
    r->pos = p->pos;
    r->size = p->size;
    if (atoms)
        put(sink, make(r, CT_ELEM_ATOMS, p->natoms, 0, p->atoms));
    else if (cycles)
        on_cycles(r, p);
    else
        on_address(r, p);
    return true;
}

size_t ct_etm4_resolve(struct ct_etm4_resolver *r, const struct ct_etm4_packet *packets, size_t size,
                       int final, struct ct_elem *elems, size_t cap, size_t *count)
{
    if (ct_no_array(r, count))
        return 0;
    struct sink sink = {.elems = elems, .cap = cap};
    size_t taken = 0;
    bool room = satisfy(r, &sink);
    while (room && taken < size) {
        if (step_quickly(r, &packets[taken], &sink)) {
            taken++;
            continue;
        }
        room = step(r, &packets[taken], &sink);
        if (room) {
            taken++;
            room = satisfy(r, &sink);
        }
    }
    if (room && final && !r->ended)
        finish(r, &sink);
    *count = sink.count;
    return taken;
}

/* ---- packets whose elements nobody wants ---- */

/* How ct_etm4_resolve_past counts a packet; but for ROLE_OTHER it makes one element, which leaves with the
 * next atoms. */
enum role {
    ROLE_OTHER,
    ROLE_ATOMS,
    ROLE_ADDRESS,
    ROLE_COUNT, /* or an event */
};

static const uint8_t roles[CT_ETM4_TYPE_COUNT] = {
    [CT_ETM4_ATOM_F1] = ROLE_ATOMS,        [CT_ETM4_ATOM_F2] = ROLE_ATOMS,
    [CT_ETM4_ATOM_F3] = ROLE_ATOMS,        [CT_ETM4_ATOM_F4] = ROLE_ATOMS,
    [CT_ETM4_ATOM_F5] = ROLE_ATOMS,        [CT_ETM4_ATOM_F6] = ROLE_ATOMS,
    [CT_ETM4_ADDR_S_IS0] = ROLE_ADDRESS,   [CT_ETM4_ADDR_S_IS1] = ROLE_ADDRESS,
    [CT_ETM4_ADDR_L_32IS0] = ROLE_ADDRESS, [CT_ETM4_ADDR_L_32IS1] = ROLE_ADDRESS,
    [CT_ETM4_ADDR_L_64IS0] = ROLE_ADDRESS, [CT_ETM4_ADDR_L_64IS1] = ROLE_ADDRESS,
    [CT_ETM4_ADDR_MATCH] = ROLE_ADDRESS,   [CT_ETM4_CCNT_F1] = ROLE_COUNT,
    [CT_ETM4_CCNT_F2] = ROLE_COUNT,        [CT_ETM4_CCNT_F3] = ROLE_COUNT,
    [CT_ETM4_EVENT] = ROLE_COUNT,
};

/* The most held elements that are looked at. */
#define PAST_HELD 16u

/* Tells whether all held elements are of packets that can be passed over. */
static bool holds_plain(const struct ct_held *held)
{
    const uint32_t count = ct_held_count(held);
    bool plain = count <= PAST_HELD;
    for (uint32_t i = 0; i < count && plain; i++) {
        const uint8_t kind = ct_held_at(held, i)->elem.kind;
        plain = kind == CT_ELEM_ADDRESS || kind == CT_ELEM_CYCLES || kind == CT_ELEM_EVENT;
    }
    return plain;
}

size_t ct_etm4_resolve_past(struct ct_etm4_resolver *r, const struct ct_etm4_packet *packets, size_t size,
                            struct ct_etm4_passed *passed)
{
    *passed = (struct ct_etm4_passed){0};
    if (!is_plain(r) || !holds_plain(&r->held))
        return 0;
    size_t end = 0; /* behind the last atoms */
    const struct ct_etm4_packet *address = NULL;
    const struct ct_etm4_packet *before = NULL; /* the last address up to there */
    uint64_t atoms = 0;
    for (size_t i = 0; i < size && roles[packets[i].type] != ROLE_OTHER; i++) {
        const bool is_atoms = roles[packets[i].type] == ROLE_ATOMS;
        address = roles[packets[i].type] == ROLE_ADDRESS ? &packets[i] : address;
        before = is_atoms ? address : before;
        end = is_atoms ? i + 1 : end;
        atoms += packets[i].natoms;
    }
    if (!end)
        return 0;
    passed->elements = ct_held_count(&r->held) + end;
    passed->atoms = atoms;
    ct_held_clear(&r->held);
    r->last_is = before ? before->is : r->last_is;
    r->pos = packets[end - 1].pos;
    r->size = packets[end - 1].size;
    return end;
}
