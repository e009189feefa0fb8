/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves PTM packets to elements (IHI 0035B chapter 4). docs/listing.md describes the order of the
 * elements. */
#include <stdlib.h>

#include "base/ctx.h"
#include "base/require.h"
#include "base/v7_config.h"
#include "elem/v7.h"
#include "elem/v7_seam.h"

/* Most elements that one packet may put out; the caller's array has room for more. */
#define STEP_ELEMS 8

struct ct_ptm_resolver {
    struct ct_v7_stream stream;
};

int ct_ptm_resolver_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_ptm_resolver **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
    struct ct_v7_config config;
    int rc = ct_v7_config_init(ctx, source, &config);
    if (rc)
        return rc;
    struct ct_ptm_resolver *r = calloc(1, sizeof *r);
    if (!r)
        return ct_fail_nomem(ctx, "PTM elements");
    r->stream.gap = CT_GAP_INIT;
    *out = r;
    return CT_OK;
}

void ct_ptm_resolver_free(struct ct_ptm_resolver *r)
{
    free(r);
}

void ct_ptm_resolver_reset(struct ct_ptm_resolver *r)
{
    if (!r)
        return;
    *r = (struct ct_ptm_resolver){.stream = {.gap = CT_GAP_RESET}};
}

/* Puts out the cycle count of a packet, which belongs to the element before it. */
static void put_cycles(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p)
{
    if (p->flags & CT_PTM_HAS_CC)
        ct_v7_put(&r->stream, CT_ELEM_CYCLES, CT_CYCLES_ATTACHED, 0, p->cc);
}

/* Takes over the security state and mode of a packet. Returns whether either changed. */
static bool take_security(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p)
{
    return p->flags & CT_PTM_HAS_SEC &&
           ct_v7_take_security(&r->stream, p->flags & CT_PTM_NS, p->flags & CT_PTM_HYP);
}

static void on_isync(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p)
{
    bool first = r->stream.state != CT_V7_DECODE;
    bool on = first || p->reason != CT_SYNC_PERIODIC;
    ct_v7_put(&r->stream, CT_ELEM_SYNC, first, 0, first ? r->stream.lost : 0);
    ct_v7_put_lost_cycles(&r->stream);
    r->stream.state = CT_V7_DECODE;
    if (on) {
        ct_v7_put_trace_on(&r->stream, p->reason, first);
        put_cycles(r, p);
    }
    take_security(r, p);
    if (p->flags & CT_PTM_HAS_CTXT)
        ct_v7_take_id(&r->stream, CT_CONTEXT_CTXT, p->ctxt);
    bool told = on && p->flags & (CT_PTM_ISA_CHANGED | CT_PTM_HAS_CTXT);
    ct_v7_put_context(&r->stream, p->isa, told ? 0 : CT_CONTEXT_SILENT);
    ct_v7_put(&r->stream, CT_ELEM_ADDRESS, p->isa, p->valid, p->value);
}

/* Resolves a branch. The address of one without an exception is the target of an executed branch, so it
 * becomes an E atom and the target. Exception number 0 means no exception: the information byte is then there
 * for the security state or ThumbEE, which a return from an exception changes (IHI 0035B 4.5.4, 4.12.2). */
static void on_branch(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p)
{
    if (p->exc)
        ct_v7_put(&r->stream, CT_ELEM_EXCEPTION, CT_EXCEPTION_HERE, p->exc, 0);
    else
        ct_v7_put(&r->stream, CT_ELEM_ATOMS, 1, CT_ATOMS_TARGET, 1);
    put_cycles(r, p);
    if (take_security(r, p))
        ct_v7_put_context(&r->stream, p->isa, CT_CONTEXT_SILENT);
    ct_v7_put(&r->stream, CT_ELEM_ADDRESS, p->isa, p->valid, p->value);
}

static void on_context_id(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p)
{
    bool ctxt = p->type == CT_PTM_CTXTID;
    if (ct_v7_take_id(&r->stream, ctxt ? CT_CONTEXT_CTXT : CT_CONTEXT_VMID,
                      ctxt ? p->ctxt : (uint32_t)p->value))
        ct_v7_put_context(&r->stream, CT_IS_SAME, 0);
}

static void on_bad(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p)
{
    ct_v7_put(&r->stream, CT_ELEM_GAP, CT_GAP_BAD_PACKET, 0, 0);
    r->stream.state = CT_V7_WAIT_SYNC;
    r->stream.lost = p->size;
}

/* Resolves a packet in state CT_V7_DECODE. */
static void on_packet(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p)
{
    switch (p->type) {
    case CT_PTM_ISYNC:
        on_isync(r, p);
        break;
    case CT_PTM_ATOM:
        ct_v7_put(&r->stream, CT_ELEM_ATOMS, p->natoms, 0, p->atoms);
        put_cycles(r, p);
        break;
    case CT_PTM_BRANCH_ADDRESS:
        on_branch(r, p);
        break;
    case CT_PTM_WP_UPDATE:
        ct_v7_put(&r->stream, CT_ELEM_WAYPOINT, p->isa, p->valid, p->value);
        break;
    case CT_PTM_TRIGGER:
        ct_v7_put(&r->stream, CT_ELEM_EVENT, 0, 1, 0);
        break;
    case CT_PTM_CTXTID:
    case CT_PTM_VMID:
        on_context_id(r, p);
        break;
    case CT_PTM_TIMESTAMP:
        ct_v7_put(&r->stream, CT_ELEM_TIMESTAMP, 0, 0, p->value);
        put_cycles(r, p);
        break;
    case CT_PTM_ERET:
        ct_v7_put(&r->stream, CT_ELEM_RETURN, 0, 0, 0);
        break;
    case CT_PTM_NOT_SYNC:
    case CT_PTM_BAD_SEQUENCE:
    case CT_PTM_RESERVED:
        on_bad(r, p);
        break;
    default: /* alignment, ignore, a packet that the end of the trace cut */
        break;
    }
}

/* Counts the bytes and cycles of a packet that cannot be used because there is no synchronisation. Alignment
 * packets do not count. */
static void count_lost(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p)
{
    uint64_t bytes = p->type == CT_PTM_NOT_SYNC ? p->value : p->type == CT_PTM_ASYNC ? 0 : p->size;
    ct_v7_lose(&r->stream, bytes, p->cc);
}

static void step(struct ct_ptm_resolver *r, const struct ct_ptm_packet *p)
{
    r->stream.pos = p->pos;
    if (r->stream.state == CT_V7_NO_SYNC) {
        ct_v7_put(&r->stream, CT_ELEM_GAP, r->stream.gap, 0, 0);
        r->stream.state = CT_V7_WAIT_SYNC;
    }
    if (r->stream.state == CT_V7_WAIT_SYNC && p->type == CT_PTM_ASYNC)
        r->stream.state = CT_V7_WAIT_ISYNC;
    else if (r->stream.state == CT_V7_WAIT_ISYNC && p->type == CT_PTM_ISYNC)
        on_isync(r, p);
    else if (r->stream.state == CT_V7_DECODE)
        on_packet(r, p);
    else
        count_lost(r, p);
}

size_t ct_ptm_resolve(struct ct_ptm_resolver *r, const struct ct_ptm_packet *packets, size_t size, int final,
                      struct ct_elem *elems, size_t cap, size_t *count)
{
    if (ct_no_batch(r, packets, size, elems, cap, count))
        return 0;
    struct ct_v7_stream *stream = &r->stream;
    ct_v7_output(stream, elems, cap);
    size_t taken = 0;
    while (taken < size && cap - stream->count >= STEP_ELEMS)
        step(r, &packets[taken++]);
    if (final && taken == size && !stream->ended && cap - stream->count >= STEP_ELEMS)
        ct_v7_end(stream);
    *count = stream->count;
    return taken;
}

void ct_ptm_resolver_seam(const void *resolver, struct ct_seam *seam)
{
    const struct ct_ptm_resolver *r = resolver;
    ct_v7_stream_seam(&r->stream, seam);
}
