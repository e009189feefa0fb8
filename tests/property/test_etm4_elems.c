/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that random elements survive encoding and decoding, with speculation that is cancelled in between.
 * SYNCs inside a stream come from the emitter and are ignored. CT_SEED sets the first seed, CT_COUNT the
 * number of elements, CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "support/elem_rows.h"
#include "support/etm4_gen.h"
#include "support/pieces.h"
#include "support/seeds.h"

enum {
    ELEMS = 400,
    GOT = 40 * ELEMS,
    ROOM = 64 * ELEMS + 1024
};

struct maker {
    struct rng *rng;
    struct ct_etm4_config config;
    struct ct_elem *out;
    unsigned count;
    uint64_t address, ids;
    uint16_t known; /* CT_CONTEXT_CTXT and CT_CONTEXT_VMID */
    uint32_t ccthr;
    int marker_seen, after_overflow;
};

static struct ct_elem *add(struct maker *m, enum ct_elem_kind kind, uint8_t n, uint16_t aux, uint64_t v)
{
    m->out[m->count] = (struct ct_elem){.kind = (uint8_t)kind, .n = n, .aux = aux, .v = v};
    return &m->out[m->count++];
}

static void add_atoms(struct maker *m)
{
    uint8_t n = (uint8_t)(1 + rng_below(m->rng, 32));
    uint64_t bits =
        rng_chance(m->rng, 128) ? ~UINT64_C(0) ^ UINT64_C(1) << rng_below(m->rng, 40) : rng_next(m->rng);
    add(m, CT_ELEM_ATOMS, n, 0, bits & ct_mask64(n));
}

/* Returns an address near the last one, in the same 4 GiB, or anywhere. */
static uint64_t some_address(struct maker *m, unsigned is)
{
    static const uint8_t bits[] = {9, 16, 31, 32, 63, 64};
    uint64_t mask = ct_mask64(bits[rng_below(m->rng, 6)]);
    m->address = ((m->address & ~mask) | (rng_next(m->rng) & mask)) & ~ct_mask64(is ? 1 : 2);
    return m->address;
}

static void add_context(struct maker *m)
{
    struct rng *rng = m->rng;
    uint16_t flags = CT_CONTEXT_EL | (rng_below(rng, 2) ? CT_CONTEXT_SF : 0);
    if (m->config.ctxt_bytes && rng_chance(rng, 100)) {
        m->ids = (m->ids & ~UINT64_C(0xffffffff)) | (rng_next(rng) & 0xffffffff);
        m->known |= CT_CONTEXT_CTXT;
    }
    if (m->config.vmid_bytes && rng_chance(rng, 100)) {
        m->ids = (m->ids & 0xffffffff) | (rng_next(rng) & ct_mask64(8u * m->config.vmid_bytes)) << 32;
        m->known |= CT_CONTEXT_VMID;
    }
    uint32_t sec = rng_below(rng, m->config.ete ? 4 : 2);
    add(m, CT_ELEM_CONTEXT, (uint8_t)(rng_below(rng, 4) | sec << 4), flags | m->known, m->ids);
}

static void add_exception(struct maker *m)
{
    struct rng *rng = m->rng;
    uint8_t flags = CT_EXCEPTION_HAS_RET;
    uint16_t number = (uint16_t)rng_below(rng, 1024);
    unsigned is = rng_below(rng, 2);
    if (m->config.ete && rng_chance(rng, 20)) {
        add(m, CT_ELEM_EXCEPTION, 0, 0, 0); /* PE reset */
        m->address = 0;
        return;
    }
    if (m->config.ete && ((number & 31) == 0 || (number & 31) == 24))
        number++;
    flags |= (uint8_t)((is ? CT_EXCEPTION_IS1 : 0) | (rng_below(rng, 2) ? CT_EXCEPTION_TARGET : 0) |
                       (rng_chance(rng, 20) ? CT_EXCEPTION_PENDING : 0));
    add(m, CT_ELEM_EXCEPTION, flags, number, some_address(m, is));
}

static void add_timestamp(struct maker *m)
{
    if (m->config.ts_markers && !m->marker_seen)
        return;
    add(m, CT_ELEM_TIMESTAMP, 0, 0, rng_wide(m->rng, 64));
    if (m->config.cycle_count)
        add(m, CT_ELEM_CYCLES, 1, 0, rng_wide(m->rng, m->config.cc_bits));
}

static void add_cycles(struct maker *m)
{
    static const uint8_t bits[] = {2, 4, 20};
    int unknown = rng_chance(m->rng, 16);
    if (m->config.cycle_count)
        add(m, CT_ELEM_CYCLES, 0, (uint16_t)unknown,
            unknown ? 0 : m->ccthr + rng_wide(m->rng, bits[rng_below(m->rng, 3)]));
}

static void add_sync(struct maker *m)
{
    add(m, CT_ELEM_SYNC, 1, 0, 0);
    if (m->config.ete && rng_chance(m->rng, 40))
        add(m, CT_ELEM_TRANS, CT_TRANS_INIT, 0, 0);
    m->address = 0;
}

static void add_trace_on(struct maker *m)
{
    add(m, CT_ELEM_TRACE_ON, m->after_overflow ? CT_TRACE_ON_OVERFLOW : CT_TRACE_ON_FILTER, 0, 0);
    m->after_overflow = 0;
}

/* Adds a gap after some atoms: elements that are not followed by execution would be lost there. */
static void add_gap(struct maker *m)
{
    int overflow = rng_chance(m->rng, 128);
    add_atoms(m);
    add(m, CT_ELEM_GAP, overflow ? CT_GAP_OVERFLOW : CT_GAP_DISCARD, 0, 0);
    m->after_overflow |= overflow;
    add_sync(m);
    if (overflow)
        add_trace_on(m);
}

static void add_rare(struct maker *m)
{
    const struct ct_etm4_config *c = &m->config;
    struct rng *rng = m->rng;
    unsigned is = rng_below(rng, 2);
    switch (rng_below(rng, 8)) {
    case 0:
        add_gap(m);
        break;
    case 1:
        add_trace_on(m);
        break;
    case 2:
        if (c->version >= 0x46) {
            add(m, CT_ELEM_MARKER, 0, 0, 0);
            m->marker_seen = 1;
        }
        break;
    case 3:
        if (!c->ete)
            add(m, CT_ELEM_RETURN, 0, 0, 0);
        break;
    case 4:
        if (c->m_profile && !c->v7m && c->version >= 0x42)
            add(m, CT_ELEM_FUNC_RET, 0, 0, 0);
        break;
    case 5:
        if (c->ete)
            add(m, CT_ELEM_TRANS, (uint8_t)(CT_TRANS_START + rng_below(rng, 2)), 0, 0);
        break;
    case 6:
        if (c->q_elements) {
            int unknown = rng_chance(rng, 30);
            add(m, CT_ELEM_Q_COUNT, 0, (uint16_t)unknown, unknown ? 0 : rng_wide(rng, 32));
            add(m, CT_ELEM_Q, (uint8_t)is, 1, some_address(m, is));
        }
        break;
    default:
        if (c->version >= 0x53)
            add(m, CT_ELEM_ITE, (uint8_t)rng_below(rng, 4), 0, rng_next(rng));
        break;
    }
}

static void add_any(struct maker *m)
{
    struct rng *rng = m->rng;
    unsigned is = rng_below(rng, 2), what = rng_below(rng, 100);
    if (what < 40)
        add_atoms(m);
    else if (what < 58)
        add(m, CT_ELEM_ADDRESS, (uint8_t)is, 64, some_address(m, is));
    else if (what < 66)
        add_context(m);
    else if (what < 74)
        add_exception(m);
    else if (what < 80)
        add_timestamp(m);
    else if (what < 86)
        add_cycles(m);
    else if (what < 90)
        add(m, CT_ELEM_EVENT, (uint8_t)(1 + rng_below(rng, 15)), 0, 0);
    else if (what < 94 && m->config.ete)
        add(m, CT_ELEM_SOURCE, (uint8_t)is, 64, some_address(m, is));
    else
        add_rare(m);
}

/* Sets the instruction set of each context to that of the address with it, or else of the last address. */
static void set_context_isa(struct ct_elem *elems, unsigned count)
{
    unsigned is = 0;
    for (unsigned i = 0; i < count; i++) {
        struct ct_elem *e = &elems[i];
        if (e->kind == CT_ELEM_SYNC)
            is = 0;
        else if (e->kind == CT_ELEM_ADDRESS || e->kind == CT_ELEM_SOURCE || e->kind == CT_ELEM_Q)
            is = e->n;
        else if (e->kind == CT_ELEM_EXCEPTION && e->n)
            is = (e->n & CT_EXCEPTION_IS1) != 0;
        else if (e->kind == CT_ELEM_CONTEXT && (elems[i + 1].kind == CT_ELEM_ADDRESS ? elems[i + 1].n : is))
            e->aux |= CT_CONTEXT_IS1;
    }
}

static unsigned make(struct rng *rng, const struct ct_source *source, uint32_t ccthr, struct ct_elem *out)
{
    struct maker m = {.rng = rng, .out = out, .ccthr = ccthr};
    ct_etm4_config_init(NULL, source, &m.config);
    add(&m, CT_ELEM_GAP, CT_GAP_INIT, 0, 0);
    add_sync(&m);
    while (m.count < ELEMS - 8)
        add_any(&m);
    add_atoms(&m);
    add(&m, CT_ELEM_END, m.after_overflow ? CT_GAP_OVERFLOW : CT_GAP_END, 0, 0);
    set_context_isa(out, m.count);
    return m.count;
}

/* Encodes elements in pieces, like a recorder. */
static int encode(struct rng *rng, const struct ct_source *source, const struct ct_etm4_emit_options *options,
                  const struct ct_elem *elems, unsigned count, uint8_t *bytes, size_t *size)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_etm4_emitter *emitter;
    size_t at = 0, taken, len;
    int err = ct_etm4_emitter_new(ctx, source, options, &emitter);
    *size = 0;
    while (!err && at < count) {
        size_t give = 1 + rng_below(rng, 40);
        int final = give >= count - at;
        give = final ? count - at : give;
        size_t room = ROOM - *size < 900 ? ROOM - *size : 900;
        err = ct_etm4_emit(emitter, elems + at, give, final, &taken, bytes + *size, room, &len);
        at += taken;
        *size += len;
    }
    if (err)
        printf("# element %zu was refused: %s\n", at, ct_ctx_error(ctx));
    ct_etm4_emitter_free(emitter);
    ct_ctx_free(ctx);
    return err;
}

static int check(uint64_t seed)
{
    static struct ct_elem want[ELEMS + 8], got[GOT];
    static uint8_t bytes[ROOM];
    struct rng rng = {seed};
    struct ct_source source;
    gen_source(&rng, GEN_ANY, &source);
    struct ct_etm4_emit_options options = {
        .size = sizeof(options),
        .sync_period = rng_below(&rng, 2) ? 64 + rng_below(&rng, 1000) : 0,
        .cc_threshold = source.regs.configr >> 4 & 1 ? rng_below(&rng, 100) : 0,
        .noise = rng_below(&rng, 2) ? rng_below(&rng, 256) : 0,
        .seed = seed,
    };
    size_t size, count = make(&rng, &source, options.cc_threshold, want);
    if (encode(&rng, &source, &options, want, (unsigned)count, bytes, &size))
        return 0;
    size_t have = elem_rows(got, pieces_elems(&source, bytes, size, got, GOT), ELEM_ROWS_NO_SYNCS);
    count = elem_rows(want, count, ELEM_ROWS_NO_SYNCS);
    for (size_t i = 0; i < count || i < have; i++)
        if (i >= count || i >= have || memcmp(&want[i], &got[i], sizeof(want[i]))) {
            printf("# element %zu of %zu (%zu came back): kind %u n %u aux %x v %" PRIx64
                   " became kind %u n %u aux %x v %" PRIx64
                   "\n# protocol %u noise %u sync %u MAXSPEC %u idr0 %x configr %x\n",
                   i, count, have, want[i].kind, want[i].n, want[i].aux, want[i].v, got[i].kind, got[i].n,
                   got[i].aux, got[i].v, source.protocol, options.noise, options.sync_period,
                   source.regs.idr8, source.regs.idr0, source.regs.configr);
            return 0;
        }
    return 1;
}

int main(void)
{
    const struct seeds seeds = seeds_begin(1, 400000, 20000000);
    const int ok = seeds_hold(seeds, ELEMS, check, 1, "resolve(decode(encode(elements))) == elements");
    return ok ? 0 : 1;
}
