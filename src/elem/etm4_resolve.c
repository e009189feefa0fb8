/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves ETMv4/ETE packets to elements. Elements that the trace unit may still take back are held until
 * they are committed (IHI 0064H chapter 5, speculation, and 6.4). docs/listing.md describes the order of the
 * elements. */
#include <stdlib.h>

#include "base/ctx.h"
#include "base/require.h"
#include "elem/etm4_release.h"

/* most items that one packet may add to those held */
#define PACKET_ITEMS 4

int ct_etm4_resolver_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_etm4_resolver **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
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

void ct_etm4_resolver_reset(struct ct_etm4_resolver *r)
{
    if (!r)
        return;
    ct_etm4_lose_sync(r, CT_GAP_RESET);
    r->after_overflow = r->marker_seen = false;
    r->context_known = 0;
}

static void hold(struct ct_etm4_resolver *r, enum ct_elem_kind kind, uint8_t n, uint16_t aux, uint64_t v)
{
    struct ct_elem elem = ct_etm4_elem(r, kind, n, aux, v);
    ct_held_push(&r->held, &elem, 0);
}

/* Holds an element that counts as `p0` P0 elements. */
static void hold_p0(struct ct_etm4_resolver *r, uint8_t p0, struct ct_elem elem)
{
    ct_held_push(&r->held, &elem, p0);
    r->depth += p0;
}

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
    hold_p0(r, 1, ct_etm4_elem(r, CT_ELEM_SOURCE, p->is, p->valid, p->value));
}

static void on_atoms(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p)
{
    if (p->natoms)
        hold_p0(r, p->natoms, ct_etm4_elem(r, CT_ELEM_ATOMS, p->natoms, 0, p->atoms));
}

static void on_exception(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p)
{
    uint8_t flags = CT_EXCEPTION_HAS_RET;
    if (p->idx == 2)
        flags |= CT_EXCEPTION_TARGET;
    if (p->flags & CT_ETM4_FAULT_PENDING)
        flags |= CT_EXCEPTION_PENDING;
    hold_p0(r, 1, ct_etm4_elem(r, CT_ELEM_EXCEPTION, flags, p->info, 0));
    r->pending_address = true;
}

static void on_q(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p)
{
    bool has_address = p->flags & CT_ETM4_HAS_ADDR;
    if (has_address)
        r->last_is = p->is;
    hold(r, CT_ELEM_Q_COUNT, 0, !(p->flags & CT_ETM4_HAS_COUNT), p->count);
    hold_p0(r, 1, ct_etm4_elem(r, CT_ELEM_Q, p->is, has_address, p->value));
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

/* Resolves a cycle count and commits the elements that it commits. Formats 2 and 3 always commit something;
 * for a source without speculation, everything is committed already, so their commits are ignored. */
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

/* Holds the elements of a packet, and records what it demands. */
static void on_packet(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p)
{
    switch (p->type) {
    case CT_ETM4_ATOM_F1 ... CT_ETM4_ATOM_F6:
        on_atoms(r, p);
        break;
    case CT_ETM4_ADDR_S_IS0 ... CT_ETM4_ADDR_MATCH:
        on_address(r, p);
        break;
    case CT_ETM4_SRC_ADDR_S_IS0 ... CT_ETM4_SRC_ADDR_MATCH:
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
        hold_p0(r, 1, ct_etm4_elem(r, CT_ELEM_EXCEPTION, 0, 0, 0));
        break;
    case CT_ETM4_EXCEPT_RTN:
        hold_p0(r, r->config.m_profile, ct_etm4_elem(r, CT_ELEM_RETURN, 0, 0, 0));
        break;
    case CT_ETM4_FUNC_RET:
        hold_p0(r, 1, ct_etm4_elem(r, CT_ELEM_FUNC_RET, 0, 0, 0));
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
        hold_p0(r, r->config.trans_start_p0, ct_etm4_elem(r, CT_ELEM_TRANS, CT_TRANS_START, 0, 0));
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
    case CT_ETM4_CANCEL_F1 ... CT_ETM4_MISPREDICT:
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
        /* Alignment, ignore, a packet that the end of the trace cut, and packets that are not about the path
         * of execution: conditional non-branch instructions, data synchronisation markers. */
        break;
    }
    /* Only the newest element may wait for its address. In trace with speculation the newest element is still
     * uncommitted, so it may go on waiting. */
    bool ready = !r->pending_address || r->config.max_spec;
    if (ready && !r->demand.commit && r->depth > r->config.max_spec)
        r->demand.commit = r->depth - r->config.max_spec;
}

static void on_first_info(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p,
                          struct ct_etm4_sink *sink)
{
    r->state = CT_ETM4_DECODE;
    r->unseen = r->depth = p->count2;
    r->last_is = 0;
    ct_etm4_put(sink, ct_etm4_elem(r, CT_ELEM_SYNC, 1, 0, r->lost));
    if (p->flags & CT_ETM4_TSTATE)
        hold(r, CT_ELEM_TRANS, CT_TRANS_INIT, 0, 0);
}

/* Makes room for the items of one more packet when the ring is nearly full. Elements that nothing can take
 * back leave early; if there are none, speculation is deeper than that of any trace unit, so the trace is
 * damaged. Returns false when the sink is full. */
static bool make_room(struct ct_etm4_resolver *r, struct ct_etm4_sink *sink)
{
    while (ct_held_count(&r->held) > CT_HELD_SIZE - PACKET_ITEMS) {
        if (sink->cap - sink->count < CT_ETM4_STEP_ELEMS)
            return false;
        if (ct_held_at(&r->held, 0)->p0) {
            ct_etm4_lose_sync(r, CT_GAP_LIMIT);
            return true;
        }
        ct_etm4_release(r, sink);
    }
    return true;
}

/* Counts the bytes of a packet that cannot be used because there is no synchronisation. Alignment packets do
 * not count. */
static void count_lost(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p)
{
    if (p->type == CT_ETM4_NOT_SYNC)
        r->lost += p->value;
    else if (p->type != CT_ETM4_ASYNC)
        r->lost += p->size;
}

/* Takes a packet. Returns false when the sink is full; the packet is then not taken. */
static bool step(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p, struct ct_etm4_sink *sink)
{
    if (sink->cap - sink->count < CT_ETM4_STEP_ELEMS || !make_room(r, sink))
        return false;
    r->pos = p->pos;
    r->size = p->size;
    if (r->state == CT_ETM4_NO_SYNC) {
        ct_etm4_put(sink, ct_etm4_elem(r, CT_ELEM_GAP, r->gap, 0, 0));
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
            ct_etm4_put(sink, ct_etm4_elem(r, CT_ELEM_EVENT, (uint8_t)p->info, 0, 0));
        else
            count_lost(r, p);
        break;
    default:
        on_packet(r, p);
        break;
    }
    return true;
}

/* Puts out the held elements, as ct_etm4_release does, if all are addresses and cycle counts. Otherwise
 * returns false and puts out nothing. */
static bool release_plain(struct ct_etm4_resolver *r, uint32_t held, struct ct_etm4_sink *sink)
{
    for (uint32_t i = 0; i < held; i++) {
        const uint8_t kind = ct_held_at(&r->held, i)->elem.kind;
        if (kind != CT_ELEM_ADDRESS && kind != CT_ELEM_CYCLES)
            return false;
    }
    for (uint32_t i = 0; i < held; i++)
        ct_etm4_put(sink, ct_held_at(&r->held, i)->elem);
    ct_held_clear(&r->held);
    return true;
}

/* Takes atoms, an address or a cycle count (most packets are one of these) as step and ct_etm4_satisfy do,
 * where atoms leave at once; addresses and cycle counts are held until the next atoms. Returns false when the
 * packet was not taken. */
static bool step_quickly(struct ct_etm4_resolver *r, const struct ct_etm4_packet *p,
                         struct ct_etm4_sink *sink)
{
    const uint32_t held = ct_held_count(&r->held);
    if (held > 2 || sink->cap - sink->count < CT_ETM4_STEP_ELEMS || !ct_etm4_is_plain(r))
        return false;
    const bool atoms = p->type >= CT_ETM4_ATOM_F1 && p->type <= CT_ETM4_ATOM_F6 && p->natoms;
    const bool cycles = p->type >= CT_ETM4_CCNT_F1 && p->type <= CT_ETM4_CCNT_F3;
    const bool address = p->type >= CT_ETM4_ADDR_S_IS0 && p->type <= CT_ETM4_ADDR_L_64IS1;
    if (!(atoms ? release_plain(r, held, sink) : cycles || address))
        return false;
    r->pos = p->pos;
    r->size = p->size;
    if (atoms)
        ct_etm4_put(sink, ct_etm4_elem(r, CT_ELEM_ATOMS, p->natoms, 0, p->atoms));
    else if (cycles)
        on_cycles(r, p);
    else
        on_address(r, p);
    return true;
}

size_t ct_etm4_resolve(struct ct_etm4_resolver *r, const struct ct_etm4_packet *packets, size_t size,
                       int final, struct ct_elem *elems, size_t cap, size_t *count)
{
    if (ct_no_batch(r, packets, size, elems, cap, count))
        return 0;
    struct ct_etm4_sink sink = {.elems = elems, .cap = cap};
    size_t taken = 0;
    bool room = ct_etm4_satisfy(r, &sink);
    while (room && taken < size) {
        if (step_quickly(r, &packets[taken], &sink)) {
            taken++;
            continue;
        }
        room = step(r, &packets[taken], &sink);
        if (room) {
            taken++;
            room = ct_etm4_satisfy(r, &sink);
        }
    }
    if (room && final && !r->ended)
        ct_etm4_finish(r, &sink);
    *count = sink.count;
    return taken;
}
