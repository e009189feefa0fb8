/* ETMv3 packets to elements. IHI 0014Q chapter 7; the order of what comes out is LISTING 5.3. */
#include <stdlib.h>

#include "base/ctx.h"
#include "base/v7_config.h"
#include "coretap/elem.h"

/* Elements that one packet may put out, those held before it included; the caller's array has room for more. */
#define STEP_ELEMS 10

enum state {
    NO_SYNC,    /* the next packet says so */
    WAIT_SYNC,  /* for an alignment packet */
    WAIT_ISYNC, /* for an i-sync */
    DECODE,
};

struct ct_etm3_resolver {
    enum state state;
    uint8_t gap; /* enum ct_gap: why there is no synchronisation */
    bool cycle_accurate;
    bool ended;
    bool ns, hyp;
    uint32_t ctxt, vmid;
    uint16_t context_known; /* CT_CONTEXT_CTXT, CT_CONTEXT_VMID */
    uint64_t pos;           /* of the packet in work */
    uint64_t lost;          /* bytes of packets that could not be used since the gap began … */
    uint64_t lost_cycles;   /* … and the cycles that they counted */
    /* The newest atoms, and a return from an exception right behind them: a branch packet may cancel the last one. */
    struct ct_elem held[2];
    unsigned held_count;
};

/* Output of one call. */
struct sink {
    struct ct_elem *elems;
    size_t count;
    size_t cap;
};

int ct_etm3_resolver_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_etm3_resolver **out)
{
    struct ct_v7_config config;
    int rc = ct_v7_config_init(ctx, source, &config);
    if (rc)
        return rc;
    struct ct_etm3_resolver *r = calloc(1, sizeof *r);
    if (!r)
        return ct_fail_nomem(ctx, "ETMv3 elements");
    r->cycle_accurate = config.cycle_accurate;
    r->gap = CT_GAP_INIT;
    *out = r;
    return CT_OK;
}

void ct_etm3_resolver_free(struct ct_etm3_resolver *r)
{
    free(r);
}

void ct_etm3_resolver_reset(struct ct_etm3_resolver *r)
{
    *r = (struct ct_etm3_resolver){.gap = CT_GAP_RESET, .cycle_accurate = r->cycle_accurate};
}

static struct ct_elem make(const struct ct_etm3_resolver *r, enum ct_elem_kind kind, unsigned n, unsigned aux,
                           uint64_t v)
{
    return (struct ct_elem){
        .kind = (uint8_t)kind, .n = (uint8_t)n, .aux = (uint16_t)aux, .pos = (uint32_t)r->pos, .v = v};
}

static void put(struct ct_etm3_resolver *r, struct sink *sink, enum ct_elem_kind kind, unsigned n,
                unsigned aux, uint64_t v)
{
    sink->elems[sink->count++] = make(r, kind, n, aux, v);
}

static void release(struct ct_etm3_resolver *r, struct sink *sink)
{
    for (unsigned i = 0; i < r->held_count; i++)
        sink->elems[sink->count++] = r->held[i];
    r->held_count = 0;
}

/* The last instruction, or the return behind it too, did not happen. Its cycles did. */
static void cancel(struct ct_etm3_resolver *r, struct sink *sink)
{
    if (r->held_count && r->held[r->held_count - 1].kind == CT_ELEM_RETURN)
        r->held_count--;
    if (!r->held_count)
        return;
    if (!r->held[0].n) { /* only cycles: no instruction to take back */
        release(r, sink);
        return;
    }
    struct ct_elem atoms = r->held[0];
    uint64_t cycles = atoms.v >> 32;
    r->held_count = 0;
    atoms.n--;
    if (atoms.aux & CT_ATOMS_EACH)
        cycles = cycles != 0;
    else if (atoms.n)
        cycles = 0; /* they stay with the first atom */
    atoms.v -= cycles << 32;
    atoms.v &= ~(UINT64_C(1) << atoms.n);
    if (atoms.n)
        sink->elems[sink->count++] = atoms;
    if (cycles)
        sink->elems[sink->count++] =
            (struct ct_elem){.kind = CT_ELEM_CYCLES, .n = CT_CYCLES_UNPLACED, .pos = atoms.pos, .v = cycles};
}

static void put_context(struct ct_etm3_resolver *r, unsigned select, struct sink *sink)
{
    unsigned el_sec = (r->ns ? (unsigned)CT_SEC_NS : CT_SEC_S) << 4 | (r->hyp ? 2u : 0u);
    unsigned aux = r->context_known | (r->hyp ? CT_CONTEXT_EL : 0u) | select << CT_CONTEXT_IS_SHIFT;
    put(r, sink, CT_ELEM_CONTEXT, el_sec, aux, (uint64_t)r->vmid << 32 | r->ctxt);
}

/* True when the packet says another security state or mode than before. */
static bool take_security(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p)
{
    if (!(p->flags & CT_ETM3_HAS_SEC))
        return false;
    bool ns = p->flags & CT_ETM3_NS;
    bool hyp = p->flags & CT_ETM3_HYP;
    bool changed = ns != r->ns || hyp != r->hyp;
    r->ns = ns;
    r->hyp = hyp;
    return changed;
}

/* What was counted while nothing could be decoded. */
static void put_lost_cycles(struct ct_etm3_resolver *r, struct sink *sink)
{
    if (r->lost_cycles)
        put(r, sink, CT_ELEM_CYCLES, CT_CYCLES_UNPLACED, 0, r->lost_cycles);
    r->lost_cycles = 0;
}

static void on_i_sync(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p, struct sink *sink)
{
    static const uint8_t reasons[] = {
        [CT_SYNC_PERIODIC] = CT_TRACE_ON_FILTER,
        [CT_SYNC_TRACE_ENABLE] = CT_TRACE_ON_FILTER,
        [CT_SYNC_OVERFLOW] = CT_TRACE_ON_OVERFLOW,
        [CT_SYNC_DEBUG_EXIT] = CT_TRACE_ON_DEBUG,
    };
    bool first = r->state != DECODE;
    if (first)
        put(r, sink, CT_ELEM_SYNC, 1, 0, r->lost);
    put_lost_cycles(r, sink);
    r->state = DECODE;
    if (first || p->reason != CT_SYNC_PERIODIC)
        put(r, sink, CT_ELEM_TRACE_ON, reasons[p->reason], 0, 0);
    take_security(r, p);
    if (p->flags & CT_ETM3_HAS_CTXT) {
        r->ctxt = p->ctxt;
        r->context_known |= CT_CONTEXT_CTXT;
    }
    bool has_addr = p->flags & CT_ETM3_HAS_ADDR;
    put_context(r, has_addr ? p->isa : CT_IS_SAME, sink);
    if (p->type == CT_ETM3_I_SYNC_CYCLE)
        put(r, sink, CT_ELEM_CYCLES, CT_CYCLES_ATTACHED, 0, p->cc);
    if (has_addr)
        put(r, sink, CT_ELEM_ADDRESS, p->isa, p->valid, p->flags & CT_ETM3_HAS_CURR ? p->curr : p->value);
}

static void on_branch(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p, struct sink *sink)
{
    if (take_security(r, p))
        put_context(r, p->isa, sink);
    if (p->flags & CT_ETM3_HAS_EXC && p->exc)
        put(r, sink, CT_ELEM_EXCEPTION, 0, p->exc, 0);
    put(r, sink, CT_ELEM_ADDRESS, p->isa, p->valid, p->value);
}

/* The cycles of a P-header go to its atoms; without atoms they stand alone. */
static void on_p_header(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p, struct sink *sink)
{
    if (!p->natoms) {
        if (r->cycle_accurate)
            put(r, sink, CT_ELEM_ATOMS, 0, CT_ATOMS_INSN | CT_ATOMS_CYCLES, (uint64_t)p->cc << 32);
        return;
    }
    unsigned aux = CT_ATOMS_INSN;
    if (r->cycle_accurate)
        aux |= CT_ATOMS_CYCLES | (p->format == 1 ? CT_ATOMS_EACH : 0u);
    r->held[0] = make(r, CT_ELEM_ATOMS, p->natoms, aux, (uint64_t)p->cc << 32 | p->atoms);
    r->held_count = 1;
}

static void on_context_id(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p, struct sink *sink)
{
    if (p->type == CT_ETM3_CONTEXT_ID) {
        r->ctxt = p->ctxt;
        r->context_known |= CT_CONTEXT_CTXT;
    } else {
        r->vmid = (uint32_t)p->value;
        r->context_known |= CT_CONTEXT_VMID;
    }
    put_context(r, CT_IS_SAME, sink);
}

static void on_data(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p, enum ct_data kind,
                    struct sink *sink)
{
    unsigned aux = (p->flags & CT_ETM3_HAS_DATA ? CT_DATA_HAS_VALUE : 0u) |
                   (p->flags & CT_ETM3_HAS_ADDR ? CT_DATA_HAS_ADDR : 0u) |
                   (p->flags & CT_ETM3_BIG_ENDIAN ? CT_DATA_BIG_ENDIAN : 0u) |
                   (unsigned)p->tag << CT_DATA_TAG_SHIFT | (unsigned)p->bytes << CT_DATA_BYTES_SHIFT;
    put(r, sink, CT_ELEM_DATA, kind, aux, p->value << 32 | p->data);
}

static void on_bad(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p)
{
    r->state = NO_SYNC;
    r->gap = CT_GAP_BAD_PACKET;
    r->lost = p->size;
}

/* A packet that the end of the trace cut says nothing. */
static void on_packet(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p, struct sink *sink)
{
    bool branch = p->type == CT_ETM3_BRANCH_ADDRESS && !(p->flags & CT_ETM3_CUT);
    if (branch && p->flags & CT_ETM3_CANCEL)
        cancel(r, sink);
    else if (p->type != CT_ETM3_EXCEPTION_EXIT || r->held_count > 1)
        release(r, sink);
    if (p->flags & CT_ETM3_CUT)
        return;
    switch (p->type) {
    case CT_ETM3_I_SYNC:
    case CT_ETM3_I_SYNC_CYCLE:
        on_i_sync(r, p, sink);
        break;
    case CT_ETM3_P_HDR:
        on_p_header(r, p, sink);
        break;
    case CT_ETM3_BRANCH_ADDRESS:
        on_branch(r, p, sink);
        break;
    case CT_ETM3_CYCLE_COUNT:
        put(r, sink, CT_ELEM_CYCLES, CT_CYCLES_ALONE, 0, p->cc);
        break;
    case CT_ETM3_TRIGGER:
        put(r, sink, CT_ELEM_EVENT, 0, 1, 0);
        break;
    case CT_ETM3_CONTEXT_ID:
    case CT_ETM3_VMID:
        on_context_id(r, p, sink);
        break;
    case CT_ETM3_TIMESTAMP:
        put(r, sink, CT_ELEM_TIMESTAMP, 0, 0, p->value);
        break;
    case CT_ETM3_EXCEPTION_EXIT:
        r->held[r->held_count++] = make(r, CT_ELEM_RETURN, 0, 0, 0);
        break;
    case CT_ETM3_NOT_SYNC:
    case CT_ETM3_BAD_SEQUENCE:
    case CT_ETM3_BAD_TRACEMODE:
    case CT_ETM3_RESERVED:
        on_bad(r, p);
        break;
    case CT_ETM3_NORM_DATA:
        on_data(r, p, CT_DATA_VALUE, sink);
        break;
    case CT_ETM3_VAL_NOT_TRACED:
        on_data(r, p, CT_DATA_NOT_TRACED, sink);
        break;
    case CT_ETM3_OOO_ADDR_PLC:
        on_data(r, p, CT_DATA_LATER, sink);
        break;
    case CT_ETM3_OOO_DATA:
        on_data(r, p, CT_DATA_LATE, sink);
        break;
    case CT_ETM3_STORE_FAIL:
        on_data(r, p, CT_DATA_STORE_FAILED, sink);
        break;
    case CT_ETM3_DATA_SUPPRESSED:
        on_data(r, p, CT_DATA_SUPPRESSED, sink);
        break;
    default: /* alignment, ignore, exception entry */
        break;
    }
}

/* A packet that nothing can be made of while there is no synchronisation; alignment says nothing by itself. */
static void count_lost(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p)
{
    if (p->type == CT_ETM3_NOT_SYNC)
        r->lost += p->value;
    else if (p->type != CT_ETM3_A_SYNC)
        r->lost += p->size;
    r->lost_cycles += p->cc;
}

/* Before the first i-sync: times, and with cycle counts what has cycles. */
static void on_early_packet(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p, struct sink *sink)
{
    release(r, sink);
    if (p->flags & CT_ETM3_CUT)
        return;
    switch (p->type) {
    case CT_ETM3_I_SYNC:
    case CT_ETM3_I_SYNC_CYCLE:
        on_i_sync(r, p, sink);
        break;
    case CT_ETM3_TIMESTAMP:
        put(r, sink, CT_ELEM_TIMESTAMP, 0, 0, p->value);
        break;
    case CT_ETM3_CYCLE_COUNT:
        if (r->cycle_accurate)
            put(r, sink, CT_ELEM_CYCLES, CT_CYCLES_ALONE, 0, p->cc);
        break;
    case CT_ETM3_P_HDR:
        if (r->cycle_accurate)
            on_p_header(r, p, sink);
        break;
    default:
        count_lost(r, p);
        break;
    }
}

static void step(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p, struct sink *sink)
{
    r->pos = p->pos;
    if (r->state == NO_SYNC) {
        release(r, sink);
        put(r, sink, CT_ELEM_GAP, r->gap, 0, 0);
        r->state = WAIT_SYNC;
    }
    if (r->state == WAIT_SYNC && p->type == CT_ETM3_A_SYNC)
        r->state = WAIT_ISYNC;
    else if (r->state == WAIT_ISYNC)
        on_early_packet(r, p, sink);
    else if (r->state == DECODE)
        on_packet(r, p, sink);
    else
        count_lost(r, p);
}

size_t ct_etm3_resolve(struct ct_etm3_resolver *r, const struct ct_etm3_packet *packets, size_t size,
                       int final, struct ct_elem *elems, size_t cap, size_t *count)
{
    struct sink sink = {.elems = elems, .cap = cap};
    size_t taken = 0;
    while (taken < size && sink.cap - sink.count >= STEP_ELEMS)
        step(r, &packets[taken++], &sink);
    if (final && taken == size && !r->ended && sink.cap - sink.count >= STEP_ELEMS) {
        unsigned untold = r->state == NO_SYNC ? r->gap + 1u : 0;
        release(r, &sink);
        put_lost_cycles(r, &sink);
        put(r, &sink, CT_ELEM_END, CT_GAP_END, untold, r->state == DECODE ? 0 : r->lost);
        r->ended = true;
    }
    *count = sink.count;
    return taken;
}
