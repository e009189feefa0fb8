/* SPDX-License-Identifier: Apache-2.0 */
/* Converts elements to packets as a trace unit would. The inverse of elem/etm4_resolve.c. */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/etm4_config.h"
#include "base/options.h"
#include "base/require.h"
#include "encode/etm4_state.h"

struct ct_etm4_emitter {
    struct ct_ctx *ctx;
    struct ct_etm4_config config;
    struct ct_etm4_emit_options options;
    struct ct_etm4_encoder *encoder;
    uint64_t noise_state;
    uint64_t since_sync;  /* bytes */
    uint64_t atoms;       /* held back to fill larger packets, oldest in bit 0 */
    uint32_t natoms;      /* atoms in `atoms`, at most 32 */
    uint32_t uncommitted; /* P0 elements that a decoder has not committed yet */
    uint32_t q_count;
    uint8_t q_unknown;
    uint8_t synced;
    uint8_t last_is;
    uint8_t ids_said; /* CT_CONTEXT_CTXT, CT_CONTEXT_VMID: which IDs were written */
    uint64_t ids;     /* values of the IDs, as in an element */
};

/* The output of one call. There is always room for one element. */
struct sink {
    uint8_t *out;
    size_t cap;
    size_t len;
};

static int say(struct ct_etm4_emitter *e, struct sink *sink, const struct ct_etm4_packet *packet)
{
    size_t len;
    int err = ct_etm4_encode_packet(e->encoder, packet, sink->out + sink->len, sink->cap - sink->len, &len);
    sink->len += len;
    e->since_sync += len;
    return err;
}

static int say_type(struct ct_etm4_emitter *e, struct sink *sink, enum ct_etm4_type type)
{
    return say(e, sink, &(struct ct_etm4_packet){.type = (uint8_t)type});
}

/* Returns a random number below n (xorshift64*). */
static uint32_t random_below(struct ct_etm4_emitter *e, uint32_t n)
{
    uint64_t x = e->noise_state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    e->noise_state = x;
    return (uint32_t)((x * UINT64_C(2685821657736338717) >> 32) * n >> 32);
}

static int be_wrong(struct ct_etm4_emitter *e)
{
    return e->options.noise && e->config.max_spec && random_below(e, 256) < e->options.noise;
}

/* Counts P0 elements as uncommitted, up to the speculation depth: a decoder commits by itself whatever
 * exceeds it. */
static void add_p0(struct ct_etm4_emitter *e, uint32_t count)
{
    e->uncommitted += count;
    if (e->uncommitted > e->config.max_spec)
        e->uncommitted = e->config.max_spec;
}

static int commit(struct ct_etm4_emitter *e, struct sink *sink, uint32_t count)
{
    if (!count)
        return CT_OK;
    e->uncommitted -= count;
    return say(e, sink, &(struct ct_etm4_packet){.type = CT_ETM4_COMMIT, .count2 = count});
}

/* ---- atoms ---- */

/* Finds the packet that covers the most of `n` atoms, oldest in bit 0 (IHI 0064H 6.4, atom formats). */
static struct ct_etm4_packet best_atoms(uint64_t atoms, uint32_t n)
{
    static const uint8_t f4[] = {0xe, 0x0, 0xa, 0x5}, f5[] = {0x00, 0x0a, 0x15, 0x1e};
    unsigned ones = ~atoms ? (unsigned)__builtin_ctzll(~atoms) : 64, take = n < 3 ? n : 3;
    enum ct_etm4_type type = (enum ct_etm4_type)(CT_ETM4_ATOM_F1 + take - 1);
    for (unsigned i = 0; i < 4; i++) {
        if (n >= 4 && take < 4 && (atoms & 15) == f4[i]) {
            type = CT_ETM4_ATOM_F4;
            take = 4;
        }
        if (n >= 5 && (atoms & 31) == f5[i]) {
            type = CT_ETM4_ATOM_F5;
            take = 5;
        }
    }
    if (ones >= 3 && n >= 4) {
        unsigned run = ones < 23 ? ones + 1 : 24;
        run = run < n ? run : n;
        if (run > take || take <= 3) {
            type = CT_ETM4_ATOM_F6;
            take = run;
        }
    }
    return (struct ct_etm4_packet){
        .type = (uint8_t)type, .natoms = (uint8_t)take, .atoms = (uint32_t)(atoms & ct_mask64(take))};
}

static int say_atoms(struct ct_etm4_emitter *e, struct sink *sink, uint64_t atoms, uint32_t n)
{
    while (n) {
        struct ct_etm4_packet packet = best_atoms(atoms, n);
        int err = say(e, sink, &packet);
        if (err)
            return err;
        add_p0(e, packet.natoms);
        atoms >>= packet.natoms;
        n -= packet.natoms;
    }
    return CT_OK;
}

/* Writes that the newest atom was mispredicted, sometimes with one more atom that is then cancelled. */
static int say_mispredict(struct ct_etm4_emitter *e, struct sink *sink)
{
    struct ct_etm4_packet packet = {.type = CT_ETM4_MISPREDICT};
    if (e->config.max_spec > 1 && random_below(e, 2)) {
        packet = (struct ct_etm4_packet){.type = CT_ETM4_CANCEL_F2, .count2 = 1, .natoms = 1, .atoms = 1};
        add_p0(e, 1);
        e->uncommitted--;
    }
    return say(e, sink, &packet);
}

/* Writes a wrong path, and cancels it. */
static int say_wrong_path(struct ct_etm4_emitter *e, struct sink *sink)
{
    uint32_t n = 1 + random_below(e, e->config.max_spec < 8 ? e->config.max_spec : 8);
    int err = say_atoms(e, sink, random_below(e, 256), n);
    if (err)
        return err;
    e->uncommitted -= n;
    return say(e, sink, &(struct ct_etm4_packet){.type = CT_ETM4_CANCEL_F1, .count2 = n});
}

static int flush_atoms(struct ct_etm4_emitter *e, struct sink *sink)
{
    uint32_t n = e->natoms;
    uint64_t atoms = e->atoms;
    e->natoms = 0;
    e->atoms = 0;
    if (!n)
        return CT_OK;
    int wrong = be_wrong(e);
    int err = say_atoms(e, sink, wrong ? atoms ^ UINT64_C(1) << (n - 1) : atoms, n);
    if (!err && wrong)
        err = say_mispredict(e, sink);
    if (!err && be_wrong(e))
        err = say_wrong_path(e, sink);
    if (!err && be_wrong(e))
        err = commit(e, sink, random_below(e, e->uncommitted + 1));
    return err;
}

/* ---- synchronisation ---- */

static int say_sync(struct ct_etm4_emitter *e, struct sink *sink, int in_transaction)
{
    struct ct_etm4_packet info = {.type = CT_ETM4_TRACE_INFO};
    if (e->config.cycle_count) {
        info.info |= 1;
        info.flags |= CT_ETM4_HAS_CCTHR;
        info.count = e->options.cc_threshold;
    }
    if (in_transaction) {
        info.info |= 0x40;
        info.flags |= CT_ETM4_TSTATE;
    }
    if (e->uncommitted) {
        info.flags |= CT_ETM4_HAS_SPEC;
        info.count2 = e->uncommitted;
    }
    int err = say_type(e, sink, CT_ETM4_ASYNC);
    e->since_sync = 0;
    return err ? err : say(e, sink, &info);
}

static int say_gap(struct ct_etm4_emitter *e, struct sink *sink, const struct ct_elem *elem)
{
    int err = commit(e, sink, e->uncommitted);
    e->synced = 0;
    if (err || elem->n == CT_GAP_INIT)
        return err;
    if (elem->n == CT_GAP_OVERFLOW)
        return say_type(e, sink, CT_ETM4_OVERFLOW);
    if (elem->n == CT_GAP_DISCARD)
        return say_type(e, sink, CT_ETM4_DISCARD);
    return ct_fail(
        e->ctx, CT_ERR_ARG,
        "gap of reason %u: no trace unit reports it; it was not encoded; use an overflow or a discard",
        elem->n);
}

/* ---- addresses and contexts ---- */

enum address_use {
    TARGET,
    SOURCE,
    WITH_CONTEXT
};

/* Writes `value` in the shortest form: a match, a short address, 32 bits, 64 bits. */
static int say_address(struct ct_etm4_emitter *e, struct sink *sink, uint64_t value, unsigned is,
                       enum address_use use, struct ct_etm4_packet packet)
{
    static const uint8_t types[3][4] = {
        {CT_ETM4_ADDR_MATCH, CT_ETM4_ADDR_S_IS0, CT_ETM4_ADDR_L_32IS0, CT_ETM4_ADDR_L_64IS0},
        {CT_ETM4_SRC_ADDR_MATCH, CT_ETM4_SRC_ADDR_S_IS0, CT_ETM4_SRC_ADDR_L_32IS0, CT_ETM4_SRC_ADDR_L_64IS0},
        {0, 0, CT_ETM4_ADDR_CTXT_L_32IS0, CT_ETM4_ADDR_CTXT_L_64IS0},
    };
    const struct ct_etm4_state *state = ct_etm4_encoder_state(e->encoder);
    uint64_t last = state->history[0].value, upper = state->sf ? last >> 32 : 0;
    unsigned idx = 0, form = value >> 32 == upper ? 2 : 3;
    while (idx < 3 && (state->history[idx].value != value || state->history[idx].is != is))
        idx++;
    if (use != WITH_CONTEXT && (value ^ last) >> (is ? 16 : 17) == 0)
        form = 1;
    if (use != WITH_CONTEXT && idx < 3)
        form = 0;
    packet.type = (uint8_t)(types[use][form] + (form ? is : 0));
    packet.value = value;
    packet.idx = form ? 0 : (uint8_t)idx;
    e->last_is = (uint8_t)is;
    return say(e, sink, &packet);
}

/* Makes a context packet; it contains an identifier only when that changes. */
static struct ct_etm4_packet context_packet(struct ct_etm4_emitter *e, const struct ct_elem *elem)
{
    struct ct_etm4_packet packet = {.type = CT_ETM4_CTXT, .flags = CT_ETM4_HAS_CONTEXT, .el_sec = elem->n};
    uint64_t changed = elem->v ^ e->ids;
    if (elem->aux & CT_CONTEXT_SF)
        packet.flags |= CT_ETM4_SF;
    if (elem->aux & CT_CONTEXT_CTXT && ((uint32_t)changed || !(e->ids_said & CT_CONTEXT_CTXT))) {
        packet.flags |= CT_ETM4_HAS_CTXT;
        packet.ctxt = (uint32_t)elem->v;
    }
    if (elem->aux & CT_CONTEXT_VMID && (changed >> 32 || !(e->ids_said & CT_CONTEXT_VMID))) {
        packet.flags |= CT_ETM4_HAS_VMID;
        packet.vmid = (uint32_t)(elem->v >> 32);
    }
    e->ids_said |= elem->aux & (CT_CONTEXT_CTXT | CT_CONTEXT_VMID);
    e->ids = elem->v;
    return packet;
}

/* Writes a context, in one packet with the address after it. *used receives the number of elements used. */
static int say_context(struct ct_etm4_emitter *e, struct sink *sink, const struct ct_elem *elem,
                       const struct ct_elem *next, size_t *used)
{
    struct ct_etm4_packet packet = context_packet(e, elem);
    if (!next || next->kind != CT_ELEM_ADDRESS)
        return say(e, sink, &packet);
    *used = 2;
    return say_address(e, sink, next->v, next->n, WITH_CONTEXT, packet);
}

static int say_exception(struct ct_etm4_emitter *e, struct sink *sink, const struct ct_elem *elem)
{
    if (!(elem->n & CT_EXCEPTION_HAS_RET)) {
        add_p0(e, 1);
        if (elem->aux == 0 && e->config.ete)
            return say_type(e, sink, CT_ETM4_PE_RESET);
        return ct_fail(e->ctx, CT_ERR_ARG,
                       "exception %u: only the PE reset of an ETE has no return address; it was not encoded; "
                       "add the address",
                       elem->aux);
    }
    struct ct_etm4_packet packet = {
        .type = CT_ETM4_EXCEPT, .info = elem->aux, .idx = elem->n & CT_EXCEPTION_TARGET ? 2 : 1};
    if (elem->n & CT_EXCEPTION_PENDING)
        packet.flags |= CT_ETM4_FAULT_PENDING;
    int err = say(e, sink, &packet);
    add_p0(e, 1);
    if (err)
        return err;
    return say_address(e, sink, elem->v, elem->n & CT_EXCEPTION_IS1 ? CT_IS1 : CT_IS0, TARGET,
                       (struct ct_etm4_packet){0});
}

/* Writes a Q. An address that 32 bits cannot express follows the Q packet. */
static int say_q(struct ct_etm4_emitter *e, struct sink *sink, const struct ct_elem *elem)
{
    const struct ct_etm4_state *state = ct_etm4_encoder_state(e->encoder);
    struct ct_etm4_packet packet = {.type = CT_ETM4_Q, .count = e->q_count};
    int reach = elem->v >> 32 == (state->sf ? state->history[0].value >> 32 : 0);
    if (!e->q_unknown)
        packet.flags |= CT_ETM4_HAS_COUNT;
    add_p0(e, 1);
    if (reach && !e->q_unknown) {
        packet.flags |= CT_ETM4_HAS_ADDR;
        packet.value = elem->v;
        packet.is = elem->n;
        e->last_is = elem->n;
        return say(e, sink, &packet);
    }
    int err = say(e, sink, &packet);
    return err ? err : say_address(e, sink, elem->v, elem->n, TARGET, (struct ct_etm4_packet){0});
}

/* ---- counts, times ---- */

/* Writes a cycle count. Where cycle counts commit, formats 2 and 3 commit at least one element. */
static int say_cycles(struct ct_etm4_emitter *e, struct sink *sink, const struct ct_elem *elem)
{
    struct ct_etm4_packet packet = {.type = CT_ETM4_CCNT_F1};
    uint32_t over = (uint32_t)elem->v - e->options.cc_threshold, commits = 0;
    if (elem->aux)
        return say(e, sink, &packet);
    packet.flags |= CT_ETM4_HAS_COUNT;
    packet.count = (uint32_t)elem->v;
    if (over <= 15 && (e->config.comm_opt || e->uncommitted)) {
        packet.type = over <= 3 ? CT_ETM4_CCNT_F3 : CT_ETM4_CCNT_F2;
        commits = over <= 3 ? 4 : 16;
        commits = e->config.comm_opt ? 0 : e->uncommitted < commits ? e->uncommitted : commits;
    }
    packet.count2 = commits;
    e->uncommitted -= commits;
    return say(e, sink, &packet);
}

static int say_timestamp(struct ct_etm4_emitter *e, struct sink *sink, const struct ct_elem *elem,
                         const struct ct_elem *next, size_t *used)
{
    struct ct_etm4_packet packet = {.type = CT_ETM4_TIMESTAMP, .value = elem->v};
    if (next && next->kind == CT_ELEM_CYCLES && next->n) {
        *used = 2;
        packet.count = (uint32_t)next->v;
        if (packet.count)
            packet.flags |= CT_ETM4_HAS_COUNT;
    }
    return say(e, sink, &packet);
}

static int say_transaction(struct ct_etm4_emitter *e, struct sink *sink, const struct ct_elem *elem)
{
    switch ((enum ct_trans)elem->n) {
    case CT_TRANS_START:
        add_p0(e, e->config.trans_start_p0);
        return say_type(e, sink, CT_ETM4_TRANS_ST);
    case CT_TRANS_COMMIT:
        return say_type(e, sink, CT_ETM4_TRANS_COMMIT);
    case CT_TRANS_FAIL:
        return say_type(e, sink, CT_ETM4_TRANS_FAIL);
    case CT_TRANS_INIT:
        break;
    }
    return ct_fail(
        e->ctx, CT_ERR_ARG,
        "transaction of kind %u: it does not follow a SYNC; it was not encoded; put it directly behind one",
        elem->n);
}

/* ---- elements ---- */

static int emit_sync(struct ct_etm4_emitter *e, struct sink *sink, const struct ct_elem *next, size_t *used)
{
    int in_transaction = next && next->kind == CT_ELEM_TRANS && next->n == CT_TRANS_INIT;
    e->synced = 1;
    *used = in_transaction ? 2 : 1;
    return say_sync(e, sink, in_transaction);
}

static int emit_elem(struct ct_etm4_emitter *e, struct sink *sink, const struct ct_elem *elem,
                     const struct ct_elem *next, size_t *used)
{
    switch ((enum ct_elem_kind)elem->kind) {
    case CT_ELEM_GAP:
        return say_gap(e, sink, elem);
    case CT_ELEM_SYNC:
        e->ids_said = 0; /* a decoder may begin here */
        return emit_sync(e, sink, next, used);
    case CT_ELEM_TRACE_ON:
        return say_type(e, sink, CT_ETM4_TRACE_ON);
    case CT_ELEM_END:
        return commit(e, sink, e->uncommitted);
    case CT_ELEM_ADDRESS:
        return say_address(e, sink, elem->v, elem->n, TARGET, (struct ct_etm4_packet){0});
    case CT_ELEM_SOURCE:
        add_p0(e, 1);
        return say_address(e, sink, elem->v, elem->n, SOURCE, (struct ct_etm4_packet){0});
    case CT_ELEM_CONTEXT:
        return say_context(e, sink, elem, next, used);
    case CT_ELEM_EXCEPTION:
        return say_exception(e, sink, elem);
    case CT_ELEM_RETURN:
        add_p0(e, e->config.m_profile);
        return say_type(e, sink, CT_ETM4_EXCEPT_RTN);
    case CT_ELEM_FUNC_RET:
        add_p0(e, 1);
        return say_type(e, sink, CT_ETM4_FUNC_RET);
    case CT_ELEM_CYCLES:
        return say_cycles(e, sink, elem);
    case CT_ELEM_TIMESTAMP:
        return say_timestamp(e, sink, elem, next, used);
    case CT_ELEM_EVENT:
        return say(e, sink, &(struct ct_etm4_packet){.type = CT_ETM4_EVENT, .info = elem->n});
    case CT_ELEM_MARKER:
        return say_type(e, sink, CT_ETM4_TS_MARKER);
    case CT_ELEM_Q_COUNT:
        e->q_count = (uint32_t)elem->v;
        e->q_unknown = (uint8_t)elem->aux;
        return CT_OK;
    case CT_ELEM_Q:
        return say_q(e, sink, elem);
    case CT_ELEM_TRANS:
        return say_transaction(e, sink, elem);
    case CT_ELEM_ITE:
        return say(e, sink,
                   &(struct ct_etm4_packet){.type = CT_ETM4_ITE, .value = elem->v, .el_sec = elem->n});
    default:
        break;
    }
    return ct_fail(e->ctx, CT_ERR_ARG,
                   "element of kind %u: no ETMv4 or ETE packet has it; it was not encoded; leave it out",
                   elem->kind);
}

/* Returns whether nothing may come between this element and the next one. */
static int belongs_to_next(const struct ct_elem *elem)
{
    return elem->kind == CT_ELEM_Q_COUNT;
}

/* Returns whether the packets of an element depend on the next element. */
static int needs_next(const struct ct_elem *elem)
{
    return elem->kind == CT_ELEM_CONTEXT || elem->kind == CT_ELEM_SYNC || elem->kind == CT_ELEM_TIMESTAMP;
}

/* Collects atoms; the element after them writes them. */
static int hold_atoms(struct ct_etm4_emitter *e, struct sink *sink, const struct ct_elem *elem)
{
    int err = e->natoms + elem->n > 32 ? flush_atoms(e, sink) : CT_OK;
    e->atoms |= (elem->v & ct_mask64(elem->n)) << e->natoms;
    e->natoms += elem->n;
    return err;
}

int ct_etm4_emit(struct ct_etm4_emitter *e, const struct ct_elem *elems, size_t size, int final,
                 size_t *taken, uint8_t *out, size_t cap, size_t *len)
{
    CT_REQUIRE_OF(e, elems || !size, taken, out, len);
    struct sink sink = {.out = out, .cap = cap};
    int err = cap < CT_ETM4_EMIT_MAX ? ct_fail(e->ctx, CT_ERR_ARG,
                                               "ETMv4 elements: there is room for %zu bytes, but one may "
                                               "need %d; none was encoded; give more room",
                                               cap, CT_ETM4_EMIT_MAX)
                                     : CT_OK;
    size_t i = 0;
    while (!err && i < size && cap - sink.len >= CT_ETM4_EMIT_MAX) {
        const struct ct_elem *elem = &elems[i], *next = i + 1 < size ? elem + 1 : NULL;
        size_t used = 1;
        if (needs_next(elem) && !next && !final)
            break;
        if (elem->kind == CT_ELEM_ATOMS) {
            err = hold_atoms(e, &sink, elem);
        } else {
            err = flush_atoms(e, &sink);
            if (!err && e->synced && e->options.sync_period && e->since_sync >= e->options.sync_period &&
                !belongs_to_next(elem) && elem->kind != CT_ELEM_Q)
                err = say_sync(e, &sink, 0);
            if (!err)
                err = emit_elem(e, &sink, elem, next, &used);
        }
        if (!err)
            i += used;
    }
    if (!err && final && i == size) /* the room left by the last element is enough for the atoms */
        err = flush_atoms(e, &sink);
    *taken = i;
    *len = sink.len;
    return err;
}

int ct_etm4_emitter_new(struct ct_ctx *ctx, const struct ct_source *source,
                        const struct ct_etm4_emit_options *options, struct ct_etm4_emitter **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
    struct ct_etm4_emit_options o;
    struct ct_etm4_config config;
    int err = ct_options_read(ctx, "ct_etm4_emitter_new", options, &o, sizeof o);
    if (!err)
        err = ct_etm4_config_init(ctx, source, &config);
    if (err)
        return err;
    struct ct_etm4_emitter *e = calloc(1, sizeof(*e));
    if (!e)
        return ct_fail_nomem(ctx, "ETMv4 emitter");
    e->ctx = ctx;
    e->config = config;
    e->options = o;
    e->noise_state = o.seed ^ UINT64_C(0x9e3779b97f4a7c15);
    err = ct_etm4_encoder_new(ctx, source, &e->encoder);
    if (err) {
        free(e);
        return err;
    }
    *out = e;
    return CT_OK;
}

void ct_etm4_emitter_free(struct ct_etm4_emitter *e)
{
    if (!e)
        return;
    ct_etm4_encoder_free(e->encoder);
    free(e);
}
