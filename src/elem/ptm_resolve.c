/* PTM packets to elements. IHI 0035B chapter 4; the order of what comes out is LISTING 5.4. */
#include <stdlib.h>

#include "base/ctx.h"
#include "base/v7_config.h"
#include "coretap/elem.h"

/* Elements that one packet may put out; the caller's array has room for more. */
#define STEP_ELEMS 8

enum state {
    NO_SYNC,    /* the next packet says so */
    WAIT_SYNC,  /* for an alignment packet */
    WAIT_ISYNC, /* for an i-sync */
    DECODE,
};

struct ct_ptm_resolver {
    enum state state;
    uint8_t gap; /* enum ct_gap: why there is no synchronisation */
    bool ended;
    bool ns, hyp;
    uint32_t ctxt, vmid;
    uint16_t context_known; /* CT_CONTEXT_CTXT, CT_CONTEXT_VMID */
    uint64_t pos;           /* of the packet in work */
    uint64_t lost;          /* bytes of packets that could not be used since the gap began … */
    uint64_t lost_cycles;   /* … and the cycles that they counted */
};

/* Output of one call. */
struct sink {
    struct ct_elem *elems;
    size_t count;
    size_t cap;
};

int ct_ptm_resolver_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_ptm_resolver **out)
{
    struct ct_v7_config config;
    int rc = ct_v7_config_init(ctx, source, &config);
    if (rc)
        return rc;
    struct ct_ptm_resolver *r = calloc(1, sizeof *r);
    if (!r)
        return ct_fail_nomem(ctx, "PTM elements");
    r->gap = CT_GAP_INIT;
    *out = r;
    return CT_OK;
}

void ct_ptm_resolver_free(struct ct_ptm_resolver *r)
{
    free(r);
}

void ct_ptm_resolver_reset(struct ct_ptm_resolver *r)
{
    *r = (struct ct_ptm_resolver){.gap = CT_GAP_RESET};
}

static void put(struct ct_ptm_resolver *r, struct sink *sink, enum ct_elem_kind kind, unsigned n,
                unsigned aux, uint64_t v)
{
    sink->elems[sink->count++] = (struct ct_elem){
        .kind = (uint8_t)kind, .n = (uint8_t)n, .aux = (uint16_t)aux, .pos = (uint32_t)r->pos, .v = v};
}

/* The cycle count of the packet, for the element before. */
static void put_cycles(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p, struct sink *sink)
{
    if (p->flags & CT_PTM_HAS_CC)
        put(r, sink, CT_ELEM_CYCLES, CT_CYCLES_ATTACHED, 0, p->cc);
}

static void put_context(struct ct_ptm_resolver *r, unsigned select, unsigned flags, struct sink *sink)
{
    put(r, sink, CT_ELEM_CONTEXT, (unsigned)(r->ns ? CT_SEC_NS : CT_SEC_S) << 4 | (r->hyp ? 2u : 0u),
        flags | r->context_known | select << CT_CONTEXT_IS_SHIFT, (uint64_t)r->vmid << 32 | r->ctxt);
}

/* True when the packet says another security state or mode than before. */
static bool take_security(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p)
{
    if (!(p->flags & CT_PTM_HAS_SEC))
        return false;
    bool ns = p->flags & CT_PTM_NS;
    bool hyp = p->flags & CT_PTM_HYP;
    bool changed = ns != r->ns || hyp != r->hyp;
    r->ns = ns;
    r->hyp = hyp;
    return changed;
}

/* What was counted while nothing could be decoded. */
static void put_lost_cycles(struct ct_ptm_resolver *r, struct sink *sink)
{
    if (r->lost_cycles)
        put(r, sink, CT_ELEM_CYCLES, CT_CYCLES_UNPLACED, 0, r->lost_cycles);
    r->lost_cycles = 0;
}

static void on_isync(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p, struct sink *sink)
{
    static const uint8_t reasons[] = {
        [CT_SYNC_PERIODIC] = CT_TRACE_ON_FILTER,
        [CT_SYNC_TRACE_ENABLE] = CT_TRACE_ON_FILTER,
        [CT_SYNC_OVERFLOW] = CT_TRACE_ON_OVERFLOW,
        [CT_SYNC_DEBUG_EXIT] = CT_TRACE_ON_DEBUG,
    };
    bool first = r->state != DECODE;
    bool on = first || p->reason != CT_SYNC_PERIODIC;
    put(r, sink, CT_ELEM_SYNC, first, 0, first ? r->lost : 0);
    put_lost_cycles(r, sink);
    r->state = DECODE;
    if (on) {
        put(r, sink, CT_ELEM_TRACE_ON, reasons[p->reason], 0, 0);
        put_cycles(r, p, sink);
    }
    take_security(r, p);
    if (p->flags & CT_PTM_HAS_CTXT) {
        r->ctxt = p->ctxt;
        r->context_known |= CT_CONTEXT_CTXT;
    }
    bool told = on && p->flags & (CT_PTM_ISA_CHANGED | CT_PTM_HAS_CTXT);
    put_context(r, p->isa, told ? 0 : CT_CONTEXT_SILENT, sink);
    put(r, sink, CT_ELEM_ADDRESS, p->isa, p->valid, p->value);
}

/* An address without an exception is where an executed branch went: an E atom and the target. */
static void on_branch(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p, struct sink *sink)
{
    if (p->flags & CT_PTM_HAS_EXC)
        put(r, sink, CT_ELEM_EXCEPTION, CT_EXCEPTION_HERE, p->exc, 0);
    else
        put(r, sink, CT_ELEM_ATOMS, 1, CT_ATOMS_TARGET, 1);
    put_cycles(r, p, sink);
    if (take_security(r, p))
        put_context(r, p->isa, CT_CONTEXT_SILENT, sink);
    put(r, sink, CT_ELEM_ADDRESS, p->isa, p->valid, p->value);
}

static void on_context_id(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p, struct sink *sink)
{
    bool ctxt = p->type == CT_PTM_CTXTID;
    uint16_t flag = ctxt ? CT_CONTEXT_CTXT : CT_CONTEXT_VMID;
    uint32_t *known = ctxt ? &r->ctxt : &r->vmid;
    uint32_t value = ctxt ? p->ctxt : (uint32_t)p->value;
    if (r->context_known & flag && *known == value)
        return;
    *known = value;
    r->context_known |= flag;
    put_context(r, CT_IS_SAME, 0, sink);
}

static void on_bad(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p, struct sink *sink)
{
    put(r, sink, CT_ELEM_GAP, CT_GAP_BAD_PACKET, 0, 0);
    r->state = WAIT_SYNC;
    r->lost = p->size;
}

/* A packet while decoding. */
static void on_packet(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p, struct sink *sink)
{
    switch (p->type) {
    case CT_PTM_ISYNC:
        on_isync(r, p, sink);
        break;
    case CT_PTM_ATOM:
        put(r, sink, CT_ELEM_ATOMS, p->natoms, 0, p->atoms);
        put_cycles(r, p, sink);
        break;
    case CT_PTM_BRANCH_ADDRESS:
        on_branch(r, p, sink);
        break;
    case CT_PTM_WP_UPDATE:
        put(r, sink, CT_ELEM_WAYPOINT, p->isa, p->valid, p->value);
        break;
    case CT_PTM_TRIGGER:
        put(r, sink, CT_ELEM_EVENT, 0, 1, 0);
        break;
    case CT_PTM_CTXTID:
    case CT_PTM_VMID:
        on_context_id(r, p, sink);
        break;
    case CT_PTM_TIMESTAMP:
        put(r, sink, CT_ELEM_TIMESTAMP, 0, 0, p->value);
        put_cycles(r, p, sink);
        break;
    case CT_PTM_ERET:
        put(r, sink, CT_ELEM_RETURN, 0, 0, 0);
        break;
    case CT_PTM_NOT_SYNC:
    case CT_PTM_BAD_SEQUENCE:
    case CT_PTM_RESERVED:
        on_bad(r, p, sink);
        break;
    default: /* alignment, ignore, a packet that the end cut */
        break;
    }
}

/* A packet that nothing can be made of while there is no synchronisation; alignment says nothing by itself. */
static void count_lost(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p)
{
    if (p->type == CT_PTM_NOT_SYNC)
        r->lost += p->value;
    else if (p->type != CT_PTM_ASYNC)
        r->lost += p->size;
    r->lost_cycles += p->cc;
}

static void step(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p, struct sink *sink)
{
    r->pos = p->pos;
    if (r->state == NO_SYNC) {
        put(r, sink, CT_ELEM_GAP, r->gap, 0, 0);
        r->state = WAIT_SYNC;
    }
    if (r->state == WAIT_SYNC && p->type == CT_PTM_ASYNC)
        r->state = WAIT_ISYNC;
    else if (r->state == WAIT_ISYNC && p->type == CT_PTM_ISYNC)
        on_isync(r, p, sink);
    else if (r->state == DECODE)
        on_packet(r, p, sink);
    else
        count_lost(r, p);
}

size_t ct_ptm_resolve(struct ct_ptm_resolver *r, const struct ct_ptm_packet *packets, size_t size, int final,
                      struct ct_elem *elems, size_t cap, size_t *count)
{
    struct sink sink = {.elems = elems, .cap = cap};
    size_t taken = 0;
    while (taken < size && sink.cap - sink.count >= STEP_ELEMS)
        step(r, &packets[taken++], &sink);
    if (final && taken == size && !r->ended && sink.cap - sink.count >= STEP_ELEMS) {
        put_lost_cycles(r, &sink);
        unsigned untold = r->state == NO_SYNC ? r->gap + 1u : 0;
        put(r, &sink, CT_ELEM_END, CT_GAP_END, untold, r->state == DECODE ? 0 : r->lost);
        r->ended = true;
    }
    *count = sink.count;
    return taken;
}
