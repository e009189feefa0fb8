/* SPDX-License-Identifier: Apache-2.0 */
/* Converts elements to PTM packets as a trace unit would. The inverse of elem/ptm_resolve.c. */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/v7_config.h"
#include "coretap/encode.h"

/* Atoms of one packet, without cycle counts. */
#define PACKET_ATOMS 5

struct ct_ptm_emitter {
    struct ct_ctx *ctx;
    struct ct_v7_config config;
    struct ct_ptm_encoder *encoder;
    struct ct_ptm_packet open; /* the packet for which elements are being collected; NOT_SYNC: none */
    bool open_context;         /* a CONTEXT has come for it */
    bool open_start;           /* the i-sync begins tracing */
    bool open_on;              /* a TRACE_ON has given the reason */
    bool synced;
    bool tee;         /* a decoder takes T32 addresses as ThumbEE */
    bool whole_time;  /* a decoder that begins at the last i-sync lacks the upper bits of timestamps */
    uint8_t atoms;    /* held back to fill a packet, oldest in bit 0 */
    uint8_t natoms;   /* atoms in `atoms`, less than PACKET_ATOMS */
    uint8_t security; /* security state and Hyp mode written last, as in an element */
    uint16_t known;   /* CT_CONTEXT_CTXT, CT_CONTEXT_VMID: which IDs were written */
    uint64_t ids;     /* values of the IDs, as in an element */
};

/* The output of one call. There is always room for one element. */
struct sink {
    uint8_t *out;
    size_t cap;
    size_t len;
};

static int refuse(struct ct_ptm_emitter *e, const struct ct_elem *elem, const char *why)
{
    return ct_fail(e->ctx, CT_ERR_ARG, "PTM element of kind %u: %s; it was not encoded; correct the elements",
                   elem->kind, why);
}

static int say(struct ct_ptm_emitter *e, struct sink *sink, const struct ct_ptm_packet *packet)
{
    size_t len;
    int err = ct_ptm_encode_packet(e->encoder, packet, sink->out + sink->len, sink->cap - sink->len, &len);
    sink->len += len;
    return err;
}

static int say_type(struct ct_ptm_emitter *e, struct sink *sink, enum ct_ptm_type type)
{
    return say(e, sink, &(struct ct_ptm_packet){.type = (uint8_t)type});
}

/* ---- atoms ---- */

static int flush_atoms(struct ct_ptm_emitter *e, struct sink *sink)
{
    struct ct_ptm_packet packet = {.type = CT_PTM_ATOM, .natoms = e->natoms, .atoms = e->atoms};
    e->natoms = e->atoms = 0;
    return packet.natoms ? say(e, sink, &packet) : CT_OK;
}

static int hold_atoms(struct ct_ptm_emitter *e, struct sink *sink, const struct ct_elem *elem)
{
    int err = CT_OK;
    for (unsigned i = 0; i < elem->n && !err; i++) {
        e->atoms |= (uint8_t)((elem->v >> i & 1) << e->natoms++);
        if (e->natoms == PACKET_ATOMS)
            err = flush_atoms(e, sink);
    }
    return err;
}

/* ---- packets of one element, or the first of several ---- */

static int open_packet(struct ct_ptm_emitter *e, struct ct_ptm_packet packet)
{
    e->open = packet;
    e->open_context = e->open_start = e->open_on = false;
    return CT_OK;
}

static int emit_atoms(struct ct_ptm_emitter *e, struct sink *sink, const struct ct_elem *elem)
{
    if (elem->n > 32 || elem->aux & ~CT_ATOMS_TARGET)
        return refuse(e, elem, "a PTM has up to 32 atoms of waypoints, with no cycles in them");
    if (elem->aux & CT_ATOMS_TARGET) {
        if (elem->n != 1 || elem->v != 1)
            return refuse(e, elem, "one branch with a target is one E atom");
        return open_packet(e, (struct ct_ptm_packet){.type = CT_PTM_BRANCH_ADDRESS});
    }
    if (!e->config.cycle_accurate)
        return hold_atoms(e, sink, elem);
    if (elem->n != 1)
        return refuse(e, elem, "with ETMCR.CycleAccurate each atom is alone and has its cycles behind it");
    return open_packet(
        e, (struct ct_ptm_packet){.type = CT_PTM_ATOM, .natoms = 1, .atoms = (uint8_t)(elem->v & 1)});
}

static int emit_exception(struct ct_ptm_emitter *e, const struct ct_elem *elem)
{
    if (elem->n != CT_EXCEPTION_HERE)
        return refuse(e, elem, "a PTM says no return address; it is where execution is (CT_EXCEPTION_HERE)");
    if (!elem->aux)
        return refuse(e, elem, "number 0 is no exception");
    return open_packet(
        e, (struct ct_ptm_packet){.type = CT_PTM_BRANCH_ADDRESS, .flags = CT_PTM_HAS_EXC, .exc = elem->aux});
}

static int emit_waypoint(struct ct_ptm_emitter *e, struct sink *sink, const struct ct_elem *elem)
{
    if (elem->n == CT_IS1 || elem->n == CT_IS_TEE)
        e->tee = elem->n == CT_IS_TEE;
    return say(e, sink, &(struct ct_ptm_packet){.type = CT_PTM_WP_UPDATE, .value = elem->v, .isa = elem->n});
}

static int emit_sync(struct ct_ptm_emitter *e, const struct ct_elem *elem)
{
    if (elem->n == e->synced)
        return refuse(e, elem, "n is 1 where tracing begins after a GAP, and 0 at all others");
    open_packet(e, (struct ct_ptm_packet){.type = CT_PTM_ISYNC, .reason = CT_SYNC_PERIODIC});
    e->open_start = elem->n;
    return CT_OK;
}

static int emit_timestamp(struct ct_ptm_emitter *e, struct sink *sink, const struct ct_elem *elem)
{
    struct ct_ptm_packet packet = {.type = CT_PTM_TIMESTAMP, .value = elem->v};
    if (elem->n != CT_TIMESTAMP_STREAM || elem->aux)
        return refuse(e, elem, "timestamps of a PTM are those of its stream (CT_TIMESTAMP_STREAM)");
    if (e->whole_time)
        packet.size = CT_PTM_PACKET_MAX;
    e->whole_time = false;
    return e->config.cycle_accurate ? open_packet(e, packet) : say(e, sink, &packet);
}

/* ---- contexts ---- */

static int check_context(struct ct_ptm_emitter *e, const struct ct_elem *elem)
{
    if (elem->aux & (CT_CONTEXT_SF | CT_CONTEXT_EL) || elem->n & ~(CT_SEC_NS << 4 | 2))
        return refuse(e, elem,
                      "a PTM says secure or not and, as level 2, Hyp mode; no 64-bit state, no level");
    return CT_OK;
}

static int say_vmid(struct ct_ptm_emitter *e, struct sink *sink)
{
    return say(e, sink, &(struct ct_ptm_packet){.type = CT_PTM_VMID, .value = e->ids >> 32});
}

/* Writes the identifiers that a separate context changes. */
static int emit_context(struct ct_ptm_emitter *e, struct sink *sink, const struct ct_elem *elem)
{
    uint64_t changed = elem->v ^ e->ids;
    int err = check_context(e, elem);
    if (err)
        return err;
    if ((elem->aux & CT_CONTEXT_IS) >> CT_CONTEXT_IS_SHIFT != CT_IS_SAME || elem->n != e->security)
        return refuse(e, elem, "without an i-sync or a branch before it only context ID and VMID can change");
    bool vmid = elem->aux & CT_CONTEXT_VMID && (changed >> 32 || !(e->known & CT_CONTEXT_VMID));
    bool ctxt = elem->aux & CT_CONTEXT_CTXT && ((uint32_t)changed || !(e->known & CT_CONTEXT_CTXT));
    e->known |= elem->aux & (CT_CONTEXT_CTXT | CT_CONTEXT_VMID);
    e->ids = elem->v;
    if (vmid)
        err = say_vmid(e, sink);
    if (ctxt && !err)
        err = say(e, sink, &(struct ct_ptm_packet){.type = CT_PTM_CTXTID, .ctxt = (uint32_t)elem->v});
    return err;
}

/* Adds a context to the open packet of an i-sync, a branch or an exception. An i-sync contains the context
 * ID, not the VMID. */
static int join_context(struct ct_ptm_emitter *e, const struct ct_elem *elem)
{
    bool isync = e->open.type == CT_PTM_ISYNC;
    uint64_t changed = elem->v ^ e->ids;
    uint16_t known = elem->aux & (CT_CONTEXT_CTXT | CT_CONTEXT_VMID), fresh = known ^ e->known;
    int err = check_context(e, elem);
    if (err)
        return err;
    if (!isync && e->open.type != CT_PTM_BRANCH_ADDRESS)
        return refuse(e, elem, "the element before it wants its cycles");
    if (isync && known & CT_CONTEXT_CTXT) {
        e->open.flags |= CT_PTM_HAS_CTXT;
        e->open.ctxt = (uint32_t)elem->v;
        changed &= ~UINT64_C(0xffffffff);
        fresh &= (uint16_t)~CT_CONTEXT_CTXT;
    }
    if (changed || fresh)
        return refuse(e, elem, "an i-sync says no VMID and a branch no identifier: a CONTEXT behind it does");
    e->open.isa = (elem->aux & CT_CONTEXT_IS) >> CT_CONTEXT_IS_SHIFT;
    e->open_context = true;
    e->security = elem->n;
    e->known = known;
    e->ids = elem->v;
    return CT_OK;
}

/* ---- the elements after the first one of a packet ---- */

static int close_packet(struct ct_ptm_emitter *e, struct sink *sink)
{
    struct ct_ptm_packet packet = e->open;
    e->open.type = CT_PTM_NOT_SYNC;
    return say(e, sink, &packet);
}

static void add_security(struct ct_ptm_emitter *e)
{
    e->open.flags |= (uint8_t)(CT_PTM_HAS_SEC | (e->security >> 4 == CT_SEC_NS ? CT_PTM_NS : 0) |
                               (e->security & 2 ? CT_PTM_HYP : 0));
}

/* Ends an i-sync. When a decoder may begin there, an alignment packet comes before it. The VMID follows it if
 * known. */
static int close_isync(struct ct_ptm_emitter *e, struct sink *sink, const struct ct_elem *elem)
{
    if (!e->open_context || (e->open_start && !e->open_on))
        return refuse(e, elem, "an i-sync is SYNC, TRACE_ON (always where tracing begins), CONTEXT, ADDRESS");
    bool counted = e->open.flags & CT_PTM_HAS_CC;
    if (e->open_start && e->open.reason == CT_SYNC_TRACE_ENABLE && e->config.cycle_accurate && !counted)
        e->open.reason = CT_SYNC_PERIODIC;
    add_security(e);
    int err = CT_OK;
    if (e->open_start || e->open.reason == CT_SYNC_PERIODIC) {
        err = say_type(e, sink, CT_PTM_ASYNC);
        e->whole_time = true;
    }
    e->synced = true;
    e->tee = e->open.isa == CT_V7_TEE;
    if (!err)
        err = close_packet(e, sink);
    if (!err && e->known & CT_CONTEXT_VMID)
        err = say_vmid(e, sink);
    return err;
}

/* Ends a branch. An information byte is added for exceptions, for changes of the security state, and between
 * T32 and ThumbEE. */
static int close_branch(struct ct_ptm_emitter *e, struct sink *sink)
{
    bool tee = e->open.isa == CT_V7_TEE, thumb = tee || e->open.isa == CT_V7_T32;
    if (e->open_context || (thumb && tee != e->tee))
        e->open.flags |= CT_PTM_HAS_EXC;
    if (e->open.flags & CT_PTM_HAS_EXC) {
        add_security(e);
        e->tee = tee;
    }
    return close_packet(e, sink);
}

static int join_address(struct ct_ptm_emitter *e, struct sink *sink, const struct ct_elem *elem)
{
    bool isync = e->open.type == CT_PTM_ISYNC;
    if (!isync && e->open.type != CT_PTM_BRANCH_ADDRESS)
        return refuse(e, elem, "the element before it wants its cycles");
    if (e->open_context && e->open.isa != elem->n)
        return refuse(e, elem, "the CONTEXT before it has another instruction set");
    e->open.value = elem->v;
    e->open.isa = elem->n;
    return isync ? close_isync(e, sink, elem) : close_branch(e, sink);
}

static int join_trace_on(struct ct_ptm_emitter *e, const struct ct_elem *elem)
{
    static const uint8_t reasons[] = {[CT_TRACE_ON_FILTER] = CT_SYNC_TRACE_ENABLE,
                                      [CT_TRACE_ON_OVERFLOW] = CT_SYNC_OVERFLOW,
                                      [CT_TRACE_ON_DEBUG] = CT_SYNC_DEBUG_EXIT};
    if (e->open.type != CT_PTM_ISYNC || e->open_on || e->open_context || elem->n >= sizeof reasons)
        return refuse(e, elem, "it stands right behind a SYNC and has one of three reasons");
    e->open.reason = reasons[elem->n];
    e->open_on = true;
    return CT_OK;
}

static int join_cycles(struct ct_ptm_emitter *e, struct sink *sink, const struct ct_elem *elem)
{
    bool early = e->open.type == CT_PTM_ISYNC && !e->open_on;
    if (elem->n != CT_CYCLES_ATTACHED || elem->aux || elem->v >> 32 || e->open_context || early ||
        e->open.flags & CT_PTM_HAS_CC)
        return refuse(e, elem, "a PTM counts 32 bits of cycles, attached to the element right before");
    e->open.flags |= CT_PTM_HAS_CC;
    e->open.cc = (uint32_t)elem->v;
    bool last = e->open.type == CT_PTM_ATOM || e->open.type == CT_PTM_TIMESTAMP;
    return last ? close_packet(e, sink) : CT_OK;
}

static int join(struct ct_ptm_emitter *e, struct sink *sink, const struct ct_elem *elem)
{
    switch (elem->kind) {
    case CT_ELEM_TRACE_ON:
        return join_trace_on(e, elem);
    case CT_ELEM_CYCLES:
        return join_cycles(e, sink, elem);
    case CT_ELEM_CONTEXT:
        return join_context(e, elem);
    case CT_ELEM_ADDRESS:
        return join_address(e, sink, elem);
    default:
        return refuse(e, elem, "the element before it wants its address or its cycles");
    }
}

/* ---- elements ---- */

static int emit_elem(struct ct_ptm_emitter *e, struct sink *sink, const struct ct_elem *elem)
{
    switch ((enum ct_elem_kind)elem->kind) {
    case CT_ELEM_ATOMS:
        return emit_atoms(e, sink, elem);
    case CT_ELEM_EXCEPTION:
        return emit_exception(e, elem);
    case CT_ELEM_WAYPOINT:
        return emit_waypoint(e, sink, elem);
    case CT_ELEM_CONTEXT:
        return emit_context(e, sink, elem);
    case CT_ELEM_TIMESTAMP:
        return emit_timestamp(e, sink, elem);
    case CT_ELEM_RETURN:
        return say_type(e, sink, CT_PTM_ERET);
    case CT_ELEM_EVENT:
        if (elem->n || elem->aux != 1)
            return refuse(e, elem, "the event of a PTM is its trigger (aux 1), which has no bits");
        return say_type(e, sink, CT_PTM_TRIGGER);
    default:
        return refuse(e, elem, "no PTM packet says it, or not here");
    }
}

static int take_elem(struct ct_ptm_emitter *e, struct sink *sink, const struct ct_elem *elem)
{
    if (e->open.type != CT_PTM_NOT_SYNC)
        return join(e, sink, elem);
    bool gathers = elem->kind == CT_ELEM_ATOMS && !(elem->aux & CT_ATOMS_TARGET);
    int err = gathers ? CT_OK : flush_atoms(e, sink);
    if (err || elem->kind == CT_ELEM_END)
        return err;
    if (elem->kind == CT_ELEM_SYNC)
        return emit_sync(e, elem);
    if (elem->kind == CT_ELEM_GAP && elem->n == CT_GAP_INIT && !e->synced)
        return CT_OK;
    if (elem->kind == CT_ELEM_GAP)
        return refuse(e, elem, "a PTM tells of lost trace by a SYNC with TRACE_ON (CT_TRACE_ON_OVERFLOW)");
    return e->synced ? emit_elem(e, sink, elem) : refuse(e, elem, "a SYNC comes first");
}

int ct_ptm_emit(struct ct_ptm_emitter *e, const struct ct_elem *elems, size_t size, int final, size_t *taken,
                uint8_t *out, size_t cap, size_t *len)
{
    CT_REQUIRE_OF(e, elems || !size, taken, out, len);
    struct sink sink = {.out = out, .cap = cap};
    int err = cap < CT_PTM_EMIT_MAX ? ct_fail(e->ctx, CT_ERR_ARG,
                                              "PTM elements: there is room for %zu bytes, but one may need "
                                              "%d; none was encoded; give more room",
                                              cap, CT_PTM_EMIT_MAX)
                                    : CT_OK;
    size_t i = 0;
    while (!err && i < size && cap - sink.len >= CT_PTM_EMIT_MAX) {
        err = take_elem(e, &sink, &elems[i]);
        i += !err;
    }
    if (!err && final && i == size && e->open.type != CT_PTM_NOT_SYNC)
        err = ct_fail(e->ctx, CT_ERR_ARG,
                      "PTM elements: the last one waits for its address or its cycles; it was not encoded; "
                      "add that element");
    if (!err && final && i == size)
        err = flush_atoms(e, &sink);
    *taken = i;
    *len = sink.len;
    return err;
}

int ct_ptm_emitter_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_ptm_emitter **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
    struct ct_v7_config config;
    int err = ct_v7_config_init(ctx, source, &config);
    if (err)
        return err;
    struct ct_ptm_emitter *e = calloc(1, sizeof(*e));
    if (!e)
        return ct_fail_nomem(ctx, "PTM emitter");
    e->ctx = ctx;
    e->config = config;
    err = ct_ptm_encoder_new(ctx, source, &e->encoder);
    if (err) {
        free(e);
        return err;
    }
    *out = e;
    return CT_OK;
}

void ct_ptm_emitter_free(struct ct_ptm_emitter *e)
{
    if (!e)
        return;
    ct_ptm_encoder_free(e->encoder);
    free(e);
}
