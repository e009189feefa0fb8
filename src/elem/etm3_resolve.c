/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves ETMv3 packets to elements (IHI 0014Q chapter 7). docs/listing.md describes the order of the
 * elements. */
#include <stdlib.h>

#include "base/ctx.h"
#include "base/require.h"
#include "base/v7_config.h"
#include "elem/v7.h"
#include "elem/v7_seam.h"

/* Most elements that one packet may put out, including those held before it; the caller's array has room for
 * more. */
#define STEP_ELEMS 10

struct ct_etm3_resolver {
    struct ct_v7_stream stream;
    bool cycle_accurate;
    bool data_values; /* values of transfers are traced; else a packet of the same form has only an address */
    /* The newest atoms, and the return from an exception that follows them, if any: a branch packet may
     * cancel the last atom. */
    struct ct_elem held[2];
    unsigned held_count;
};

int ct_etm3_resolver_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_etm3_resolver **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
    struct ct_v7_config config;
    int rc = ct_v7_config_init(ctx, source, &config);
    if (rc)
        return rc;
    struct ct_etm3_resolver *r = calloc(1, sizeof *r);
    if (!r)
        return ct_fail_nomem(ctx, "ETMv3 elements");
    r->cycle_accurate = config.cycle_accurate;
    r->data_values = config.data_values;
    r->stream.gap = CT_GAP_INIT;
    *out = r;
    return CT_OK;
}

void ct_etm3_resolver_free(struct ct_etm3_resolver *r)
{
    free(r);
}

void ct_etm3_resolver_reset(struct ct_etm3_resolver *r)
{
    if (!r)
        return;
    *r = (struct ct_etm3_resolver){
        .stream = {.gap = CT_GAP_RESET}, .cycle_accurate = r->cycle_accurate, .data_values = r->data_values};
}

static void release(struct ct_etm3_resolver *r)
{
    for (unsigned i = 0; i < r->held_count; i++)
        r->stream.elems[r->stream.count++] = r->held[i];
    r->held_count = 0;
}

/* Takes back the last instruction, and the return behind it if there is one. Its cycles stay. */
static void cancel(struct ct_etm3_resolver *r)
{
    if (r->held_count && r->held[r->held_count - 1].kind == CT_ELEM_RETURN)
        r->held_count--;
    if (!r->held_count)
        return;
    if (!r->held[0].n) { /* cycles alone: there is no instruction to take back */
        release(r);
        return;
    }
    struct ct_elem atoms = r->held[0];
    uint64_t cycles = atoms.v >> 32;
    r->held_count = 0;
    atoms.n--;
    if (atoms.aux & CT_ATOMS_EACH)
        cycles = cycles != 0;
    else if (atoms.n)
        cycles = 0; /* the cycles stay with the first atom */
    atoms.v -= cycles << 32;
    atoms.v &= ~(UINT64_C(1) << atoms.n);
    if (atoms.n)
        r->stream.elems[r->stream.count++] = atoms;
    if (cycles)
        r->stream.elems[r->stream.count++] =
            (struct ct_elem){.kind = CT_ELEM_CYCLES, .n = CT_CYCLES_UNPLACED, .pos = atoms.pos, .v = cycles};
}

static void put_context(struct ct_etm3_resolver *r, unsigned select)
{
    ct_v7_put_context(&r->stream, select, r->stream.hyp ? CT_CONTEXT_EL : 0);
}

/* Takes over the security state and mode of a packet. Returns whether either changed. */
static bool take_security(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p)
{
    return p->flags & CT_ETM3_HAS_SEC &&
           ct_v7_take_security(&r->stream, p->flags & CT_ETM3_NS, p->flags & CT_ETM3_HYP);
}

static void on_i_sync(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p)
{
    bool first = r->stream.state != CT_V7_DECODE;
    if (first)
        ct_v7_put(&r->stream, CT_ELEM_SYNC, 1, 0, r->stream.lost);
    ct_v7_put_lost_cycles(&r->stream);
    r->stream.state = CT_V7_DECODE;
    if (first || p->reason != CT_SYNC_PERIODIC)
        ct_v7_put_trace_on(&r->stream, p->reason, first);
    take_security(r, p);
    if (p->flags & CT_ETM3_HAS_CTXT)
        ct_v7_take_id(&r->stream, CT_CONTEXT_CTXT, p->ctxt);
    bool has_addr = p->flags & CT_ETM3_HAS_ADDR;
    put_context(r, has_addr ? p->isa : CT_IS_SAME);
    if (p->type == CT_ETM3_I_SYNC_CYCLE)
        ct_v7_put(&r->stream, CT_ELEM_CYCLES, CT_CYCLES_ATTACHED, 0, p->cc);
    if (has_addr)
        ct_v7_put(&r->stream, CT_ELEM_ADDRESS, p->isa, p->valid,
                  p->flags & CT_ETM3_HAS_CURR ? p->curr : p->value);
}

static void on_branch(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p)
{
    if (take_security(r, p))
        put_context(r, p->isa);
    if (p->flags & CT_ETM3_HAS_EXC && p->exc)
        ct_v7_put(&r->stream, CT_ELEM_EXCEPTION, 0, p->exc, 0);
    ct_v7_put(&r->stream, CT_ELEM_ADDRESS, p->isa, p->valid, p->value);
}

/* Holds the atoms of a P-header with their cycles. Puts out cycles without atoms at once. */
static void on_p_header(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p)
{
    if (!p->natoms) {
        if (r->cycle_accurate)
            ct_v7_put(&r->stream, CT_ELEM_ATOMS, 0, CT_ATOMS_INSN | CT_ATOMS_CYCLES, (uint64_t)p->cc << 32);
        return;
    }
    unsigned aux = CT_ATOMS_INSN;
    if (r->cycle_accurate)
        aux |= CT_ATOMS_CYCLES | (p->format == 1 ? CT_ATOMS_EACH : 0u);
    r->held[0] = ct_v7_elem(&r->stream, CT_ELEM_ATOMS, p->natoms, aux, (uint64_t)p->cc << 32 | p->atoms);
    r->held_count = 1;
}

static void on_context_id(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p)
{
    if (p->type == CT_ETM3_CONTEXT_ID)
        ct_v7_take_id(&r->stream, CT_CONTEXT_CTXT, p->ctxt);
    else
        ct_v7_take_id(&r->stream, CT_CONTEXT_VMID, (uint32_t)p->value);
    put_context(r, CT_IS_SAME);
}

static void on_data(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p, enum ct_data kind)
{
    unsigned aux = (p->flags & CT_ETM3_HAS_DATA && r->data_values ? CT_DATA_HAS_VALUE : 0u) |
                   (p->flags & CT_ETM3_HAS_ADDR ? CT_DATA_HAS_ADDR : 0u) |
                   (p->flags & CT_ETM3_BIG_ENDIAN ? CT_DATA_BIG_ENDIAN : 0u) |
                   (unsigned)p->tag << CT_DATA_TAG_SHIFT | (unsigned)p->bytes << CT_DATA_BYTES_SHIFT;
    ct_v7_put(&r->stream, CT_ELEM_DATA, kind, aux, p->value << 32 | p->data);
}

static void on_bad(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p)
{
    r->stream.state = CT_V7_NO_SYNC;
    r->stream.gap = CT_GAP_BAD_PACKET;
    r->stream.lost = p->size;
}

/* Resolves a packet. One that the end of the trace cuts has no meaning. */
static void on_packet(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p)
{
    bool branch = p->type == CT_ETM3_BRANCH_ADDRESS && !(p->flags & CT_ETM3_CUT);
    if (branch && p->flags & CT_ETM3_CANCEL)
        cancel(r);
    else if (p->type != CT_ETM3_EXCEPTION_EXIT || r->held_count > 1)
        release(r);
    if (p->flags & CT_ETM3_CUT)
        return;
    switch (p->type) {
    case CT_ETM3_I_SYNC:
    case CT_ETM3_I_SYNC_CYCLE:
        on_i_sync(r, p);
        break;
    case CT_ETM3_P_HDR:
        on_p_header(r, p);
        break;
    case CT_ETM3_BRANCH_ADDRESS:
        on_branch(r, p);
        break;
    case CT_ETM3_CYCLE_COUNT:
        ct_v7_put(&r->stream, CT_ELEM_CYCLES, CT_CYCLES_ALONE, 0, p->cc);
        break;
    case CT_ETM3_TRIGGER:
        ct_v7_put(&r->stream, CT_ELEM_EVENT, 0, 1, 0);
        break;
    case CT_ETM3_CONTEXT_ID:
    case CT_ETM3_VMID:
        on_context_id(r, p);
        break;
    case CT_ETM3_TIMESTAMP:
        ct_v7_put(&r->stream, CT_ELEM_TIMESTAMP, 0, 0, p->value);
        break;
    case CT_ETM3_EXCEPTION_EXIT:
        r->held[r->held_count++] = ct_v7_elem(&r->stream, CT_ELEM_RETURN, 0, 0, 0);
        break;
    case CT_ETM3_NOT_SYNC:
    case CT_ETM3_BAD_SEQUENCE:
    case CT_ETM3_BAD_TRACEMODE:
    case CT_ETM3_RESERVED:
        on_bad(r, p);
        break;
    case CT_ETM3_NORM_DATA:
        on_data(r, p, CT_DATA_VALUE);
        break;
    case CT_ETM3_VAL_NOT_TRACED:
        on_data(r, p, CT_DATA_NOT_TRACED);
        break;
    case CT_ETM3_OOO_ADDR_PLC:
        on_data(r, p, CT_DATA_LATER);
        break;
    case CT_ETM3_OOO_DATA:
        on_data(r, p, CT_DATA_LATE);
        break;
    case CT_ETM3_STORE_FAIL:
        on_data(r, p, CT_DATA_STORE_FAILED);
        break;
    case CT_ETM3_DATA_SUPPRESSED:
        on_data(r, p, CT_DATA_SUPPRESSED);
        break;
    default: /* alignment, ignore, exception entry */
        break;
    }
}

/* Counts the bytes and cycles of a packet that cannot be used because there is no synchronisation. Alignment
 * packets do not count. */
static void count_lost(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p)
{
    uint64_t bytes = p->type == CT_ETM3_NOT_SYNC ? p->value : p->type == CT_ETM3_A_SYNC ? 0 : p->size;
    ct_v7_lose(&r->stream, bytes, p->cc);
}

/* Resolves a packet between the alignment packet and the first i-sync: takes timestamps and, with cycle
 * counts, packets that have cycles. */
static void on_early_packet(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p)
{
    release(r);
    if (p->flags & CT_ETM3_CUT)
        return;
    switch (p->type) {
    case CT_ETM3_I_SYNC:
    case CT_ETM3_I_SYNC_CYCLE:
    case CT_ETM3_TIMESTAMP:
        on_packet(r, p);
        break;
    case CT_ETM3_CYCLE_COUNT:
    case CT_ETM3_P_HDR:
        if (r->cycle_accurate)
            on_packet(r, p);
        break;
    default:
        count_lost(r, p);
        break;
    }
}

static void step(struct ct_etm3_resolver *r, const struct ct_etm3_packet *p)
{
    r->stream.pos = p->pos;
    if (r->stream.state == CT_V7_NO_SYNC) {
        release(r);
        ct_v7_put(&r->stream, CT_ELEM_GAP, r->stream.gap, 0, 0);
        r->stream.state = CT_V7_WAIT_SYNC;
    }
    if (r->stream.state == CT_V7_WAIT_SYNC && p->type == CT_ETM3_A_SYNC)
        r->stream.state = CT_V7_WAIT_ISYNC;
    else if (r->stream.state == CT_V7_WAIT_ISYNC)
        on_early_packet(r, p);
    else if (r->stream.state == CT_V7_DECODE)
        on_packet(r, p);
    else
        count_lost(r, p);
}

size_t ct_etm3_resolve(struct ct_etm3_resolver *r, const struct ct_etm3_packet *packets, size_t size,
                       int final, struct ct_elem *elems, size_t cap, size_t *count)
{
    if (ct_no_batch(r, packets, size, elems, cap, count))
        return 0;
    struct ct_v7_stream *stream = &r->stream;
    ct_v7_output(stream, elems, cap);
    size_t taken = 0;
    while (taken < size && cap - stream->count >= STEP_ELEMS)
        step(r, &packets[taken++]);
    if (final && taken == size && !stream->ended && cap - stream->count >= STEP_ELEMS) {
        release(r);
        ct_v7_end(stream);
    }
    *count = stream->count;
    return taken;
}

void ct_etm3_resolver_seam(const void *resolver, struct ct_seam *seam)
{
    const struct ct_etm3_resolver *r = resolver;
    ct_v7_stream_seam(&r->stream, seam);
    ct_seam_put(seam, r->held_count);
    for (unsigned i = 0; i < r->held_count; i++) {
        const struct ct_elem *e = &r->held[i];
        ct_seam_put(seam, (uint64_t)e->kind << 56 | (uint64_t)e->n << 48 | (uint64_t)e->aux << 32 | e->pos);
        ct_seam_put(seam, e->v);
    }
}
