/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of packets that a trace unit might emit: packets that belong together follow each other. */
#include "support/etm4_gen.h"

/* Returns a random type of target address that the source can encode. */
static unsigned address_type(struct gen *gen, int context)
{
    static const uint8_t forms[] = {CT_ETM4_ADDR_S_IS0, CT_ETM4_ADDR_L_32IS0, CT_ETM4_ADDR_L_32IS0,
                                    CT_ETM4_ADDR_L_64IS0};
    struct rng *rng = gen->rng;
    unsigned is = 0;
    if (gen->region_count)
        is = gen->regions[rng_below(rng, gen->region_count)].is;
    else
        is = rng_below(rng, 2);
    if (context)
        return (rng_below(rng, 2) ? CT_ETM4_ADDR_CTXT_L_64IS0 : CT_ETM4_ADDR_CTXT_L_32IS0) + is;
    int match = 1; /* an address match for the other instruction set is not allowed where there is code */
    for (unsigned i = 0; i < 3 && gen->region_count; i++)
        match &= gen->history_is[i] == is;
    if (match && rng_chance(rng, 24))
        return CT_ETM4_ADDR_MATCH;
    return forms[rng_below(rng, 4)] + is;
}

static unsigned add(struct gen *gen, unsigned type, struct ct_etm4_packet *out)
{
    return gen_packet(gen, type, out) ? 1 : 0;
}

unsigned gen_prologue(struct gen *gen, struct ct_etm4_packet out[4])
{
    unsigned n = add(gen, CT_ETM4_ASYNC, out);
    n += add(gen, CT_ETM4_TRACE_INFO, out + n);
    gen->uncommitted = 0;
    n += add(gen, CT_ETM4_TRACE_ON, out + n);
    n += add(gen, address_type(gen, 1), out + n);
    return n;
}

static void spent(struct gen *gen, unsigned p0)
{
    gen->uncommitted += p0;
    if (gen->uncommitted > gen->config.max_spec)
        gen->uncommitted = gen->config.max_spec;
}

static unsigned atoms(struct gen *gen, struct ct_etm4_packet *out)
{
    struct rng *rng = gen->rng;
    unsigned format = rng_chance(rng, 100) ? 1 : 1 + rng_below(rng, 6);
    unsigned n = add(gen, CT_ETM4_ATOM_F1 + format - 1, out);
    spent(gen, out->natoms);
    if (rng_chance(rng, 90))
        n += add(gen, address_type(gen, 0), out + n);
    return n;
}

/* Makes an exception and its return address, mostly some instructions after an address just traced. */
static unsigned exception(struct gen *gen, struct ct_etm4_packet *out)
{
    struct rng *rng = gen->rng;
    unsigned n = 0, type = CT_ETM4_ADDR_L_64IS0 + rng_below(rng, 2), forward = !rng_chance(rng, 30);
    if (gen->region_count)
        type = CT_ETM4_ADDR_L_64IS0 + gen->regions[rng_below(rng, gen->region_count)].is;
    if (forward && rng_chance(rng, 200))
        n += add(gen, type, out);
    n += add(gen, CT_ETM4_EXCEPT, out + n);
    if (!rng_chance(rng, 8))
        out[n - 1].idx = rng_chance(rng, 64) ? 2 : 1;
    spent(gen, 1);
    if (forward)
        gen->want = gen->history[0] + 4 * rng_below(rng, 20);
    n += add(gen, forward ? type : address_type(gen, rng_chance(rng, 50)), out + n);
    if (!rng_chance(rng, 8))
        n += add(gen, address_type(gen, rng_chance(rng, 128)), out + n);
    return n;
}

/* Makes commits, cancels and mispredicts of no more P0 elements than there are. */
static unsigned speculation(struct gen *gen, struct ct_etm4_packet *out)
{
    static const uint8_t types[] = {CT_ETM4_COMMIT,     CT_ETM4_COMMIT,           CT_ETM4_COMMIT,
                                    CT_ETM4_CANCEL_F1,  CT_ETM4_CANCEL_F2,        CT_ETM4_CANCEL_F3,
                                    CT_ETM4_MISPREDICT, CT_ETM4_CANCEL_F1_MISPRED};
    struct rng *rng = gen->rng;
    unsigned type = types[rng_below(rng, 8)], atom;
    uint32_t there = gen->uncommitted;
    if (!gen->config.max_spec)
        return 0;
    unsigned n = add(gen, type, out);
    if (type == CT_ETM4_COMMIT || type == CT_ETM4_CANCEL_F1 || type == CT_ETM4_CANCEL_F1_MISPRED)
        out->count2 = rng_below(rng, there + 1);
    there = there + out->natoms < gen->config.max_spec ? there + out->natoms : gen->config.max_spec;
    atom = type != CT_ETM4_COMMIT && type != CT_ETM4_CANCEL_F1; /* 1 for the atom that was mispredicted */
    if (out->count2 + atom > there)
        return 0;
    gen->uncommitted = there - out->count2;
    return n;
}

static unsigned cycle_count(struct gen *gen, struct ct_etm4_packet *out)
{
    struct rng *rng = gen->rng;
    if (!gen->config.cycle_count && !rng_chance(rng, 4))
        return 0;
    unsigned n = add(gen, CT_ETM4_CCNT_F1 + rng_below(rng, 3), out);
    if (out->flags & CT_ETM4_HAS_COMMIT && gen->config.max_spec) {
        if (out->type == CT_ETM4_CCNT_F1)
            out->count2 = rng_below(rng, gen->uncommitted + 1);
        if (out->count2 > gen->uncommitted)
            return 0;
        gen->uncommitted -= out->count2 < gen->uncommitted ? out->count2 : gen->uncommitted;
    }
    return n;
}

static unsigned rare(struct gen *gen, struct ct_etm4_packet *out)
{
    static const uint8_t types[] = {
        CT_ETM4_TRACE_ON,   CT_ETM4_TRACE_ON, CT_ETM4_IGNORE,   CT_ETM4_TS_MARKER,    CT_ETM4_EXCEPT_RTN,
        CT_ETM4_EXCEPT_RTN, CT_ETM4_FUNC_RET, CT_ETM4_TRANS_ST, CT_ETM4_TRANS_COMMIT, CT_ETM4_TRANS_FAIL};
    struct rng *rng = gen->rng;
    if (rng_chance(rng, 20)) { /* the stream breaks off and begins again */
        struct ct_etm4_packet first;
        unsigned type = rng_chance(rng, 128) ? CT_ETM4_OVERFLOW : CT_ETM4_DISCARD;
        add(gen, type, &first);
        out[0] = first;
        unsigned n = 1 + add(gen, CT_ETM4_ASYNC, out + 1);
        n += add(gen, CT_ETM4_TRACE_INFO, out + n);
        gen->uncommitted = 0;
        return n + add(gen, address_type(gen, 1), out + n);
    }
    if (rng_chance(rng, 20)) {
        unsigned n = add(gen, CT_ETM4_ASYNC, out);
        if (gen->config.max_spec == 0 || rng_chance(rng, 40))
            n += add(gen, CT_ETM4_TRACE_INFO, out + n);
        return n;
    }
    unsigned type = types[rng_below(rng, sizeof(types))];
    unsigned n = add(gen, type, out);
    if (n && (type == CT_ETM4_TRANS_ST || type == CT_ETM4_EXCEPT_RTN))
        spent(gen, type == CT_ETM4_EXCEPT_RTN ? gen->config.m_profile : gen->config.trans_start_p0);
    if (type == CT_ETM4_TRACE_ON)
        n += add(gen, address_type(gen, rng_chance(rng, 128)), out + n);
    return n;
}

static unsigned code(struct gen *gen, struct ct_etm4_packet *out)
{
    struct rng *rng = gen->rng;
    unsigned n = 0;
    if (gen->config.ete && !gen->config.return_stack && rng_chance(rng, 60)) {
        static const uint8_t forms[] = {CT_ETM4_SRC_ADDR_S_IS0, CT_ETM4_SRC_ADDR_L_32IS0,
                                        CT_ETM4_SRC_ADDR_L_64IS0};
        unsigned is =
            gen->region_count ? gen->regions[rng_below(rng, gen->region_count)].is : rng_below(rng, 2);
        n = add(gen, rng_chance(rng, 20) ? CT_ETM4_SRC_ADDR_MATCH : forms[rng_below(rng, 3)] + is, out);
        spent(gen, n);
    } else if (gen->config.q_elements && rng_chance(rng, 40)) {
        n = add(gen, CT_ETM4_Q, out);
        spent(gen, n);
        if (!(out->flags & CT_ETM4_HAS_ADDR))
            n += add(gen, address_type(gen, 0), out + n);
    } else {
        n = atoms(gen, out);
    }
    return n;
}

unsigned gen_sensible(struct gen *gen, struct ct_etm4_packet out[4])
{
    unsigned what = rng_below(gen->rng, 100);
    if (what < 50)
        return code(gen, out);
    if (what < 58)
        return add(gen, address_type(gen, 0), out);
    if (what < 62)
        return add(gen, address_type(gen, 1), out);
    if (what < 65)
        return add(gen, CT_ETM4_CTXT, out);
    if (what < 70)
        return exception(gen, out);
    if (what < 80)
        return speculation(gen, out);
    if (what < 88)
        return cycle_count(gen, out);
    if (what < 92)
        return add(gen, CT_ETM4_TIMESTAMP, out);
    if (what < 95)
        return add(gen, CT_ETM4_EVENT, out);
    return rare(gen, out);
}

size_t gen_trace(struct rng *rng, const struct ct_source *source, const struct gen_region *regions,
                 unsigned region_count, unsigned packets, uint8_t *bytes, size_t room)
{
    struct ct_etm4_encoder *encoder;
    struct ct_etm4_packet group[4];
    struct gen gen;
    size_t size = 0, len;
    if (ct_etm4_encoder_new(NULL, source, &encoder))
        return 0;
    gen_init(&gen, rng, source);
    gen.regions = regions;
    gen.region_count = region_count;
    for (unsigned count = 0; count < packets;) {
        const unsigned n = count ? gen_sensible(&gen, group) : gen_prologue(&gen, group);
        for (unsigned i = 0; i < n; i++, count++)
            if (!ct_etm4_encode_packet(encoder, &group[i], bytes + size, room - size, &len))
                size += len;
    }
    ct_etm4_encoder_free(encoder);
    return size;
}
