/* SPDX-License-Identifier: Apache-2.0 */
#include "support/v7_gen.h"

#include <string.h>

#include "base/v7_config.h"

struct gen {
    struct rng *rng;
    struct ct_v7_config config;
    const struct v7_place *place;
    int ptm;
    uint32_t alt; /* 4 when the last packet with that bit said ThumbEE: OpenCSD ignores it
                   *                      in an i-sync */
    uint32_t ns;  /* of the last i-sync: OpenCSD ignores it in a PTM branch */
    uint8_t *p;
};

struct ct_source v7_gen_source(struct rng *rng, enum ct_protocol protocol)
{
    uint32_t cycle_accurate = rng_below(rng, 2), context = rng_below(rng, 3), broadcast = rng_below(rng, 2);
    struct ct_source source = {.name = "random",
                               .core = "core",
                               .protocol = (uint8_t)protocol,
                               .trace_id = 0x10,
                               .arch = {.major = 7, .profile = CT_PROFILE_A}};
    struct ct_source_regs *r = &source.regs;
    r->etmcr = cycle_accurate << 12 | (context + (context > 0)) << 14 | broadcast << 8 | 1u << 28;
    if (context == 0)
        r->etmcr |= 1u << 14; /* OpenCSD consumes a byte of a context ID packet that has none */
    r->etmccer = rng_below(rng, 2) << 29 | 1u << 28 | 1u << 22 | 1u << 26;
    if (protocol == CT_PROTOCOL_PTM) {
        r->etmidr = 0x411cf312;
        r->etmcr |= rng_below(rng, 2) << 29;
        r->etmccer |= rng_below(rng, 2) << 23 | rng_below(rng, 2) << 24;
    } else {
        r->etmidr = 0x410cf250u | rng_below(rng, 2) << 20;
        r->etmcr |= rng_below(rng, 2) << 2; /* data values: OpenCSD finds no end of data addresses */
        source.arch.profile = rng_chance(rng, 64) ? CT_PROFILE_M : CT_PROFILE_A;
    }
    r->etmtraceidr = 0x10;
    return source;
}

static void put(struct gen *g, uint32_t byte)
{
    *g->p++ = (uint8_t)byte;
}

static void put_random(struct gen *g, unsigned bytes)
{
    while (bytes--)
        put(g, (uint32_t)rng_next(g->rng));
}

static void put_cont(struct gen *g, uint64_t value, unsigned most)
{
    unsigned bytes = 1;
    for (; bytes < most && (value >= 0x80 || rng_chance(g->rng, 16)); bytes++, value >>= 7)
        put(g, 0x80 | (uint32_t)(value & 0x7f));
    put(g, (uint32_t)value & (bytes == most && most > 5 ? 0xff : 0x7f));
}

static void put_cc(struct gen *g)
{
    if (!g->config.cycle_accurate)
        return;
    uint32_t value = (uint32_t)rng_wide(g->rng, 20);
    put(g, (value & 15) << 2 | (value > 15 ? 0x40u : 0));
    if (value > 15)
        put_cont(g, value >> 4, 4);
}

/* Returns an address, mostly one of the program. */
static uint32_t some_address(struct gen *g, int *thumb)
{
    *thumb = g->place->thumb ? !rng_chance(g->rng, 8) : rng_chance(g->rng, 8);
    if (!g->place->size || rng_chance(g->rng, 16))
        return (uint32_t)rng_next(g->rng);
    return g->place->addr + rng_below(g->rng, g->place->size);
}

/* Returns 1 for ThumbEE or Jazelle at random, but only without a program: OpenCSD does not walk their
 * code. */
static int odd_isa(struct gen *g, unsigned chance)
{
    return !g->place->size && rng_chance(g->rng, chance);
}

static void put_isync(struct gen *g)
{
    int thumb;
    uint32_t addr = some_address(g, &thumb);
    unsigned reason = rng_chance(g->rng, 128) ? 0 : rng_below(g->rng, 4);
    uint32_t info = reason << 5 | 1 | rng_below(g->rng, 2) << 3 | (odd_isa(g, 16) ? 4u : 0) |
                    (rng_chance(g->rng, 16) ? 2u : 0);
    addr = thumb ? addr | 1 : addr & ~UINT32_C(3);
    int with_cycles = !g->ptm && rng_chance(g->rng, 64);
    put(g, with_cycles ? 0x70 : 0x08);
    if (g->ptm) {
        for (unsigned i = 0; i < 4; i++)
            put(g, addr >> 8 * i);
        put(g, info);
        if (reason)
            put_cc(g);
        put_random(g, g->config.ctxt_bytes);
        return;
    }
    if (with_cycles)
        put_cont(g, rng_wide(g->rng, 32), 5);
    put_random(g, g->config.ctxt_bytes);
    int in_progress = !with_cycles && rng_chance(g->rng, 16);
    put(g, info | (in_progress ? 0x80u : 0) | (odd_isa(g, 4) ? 0x10u : 0));
    for (unsigned i = 0; i < 4; i++)
        put(g, addr >> 8 * i);
    if (in_progress)
        put(g, rng_below(g->rng, 64) << 1 | 1);
}

/* Writes exception information of PTM (at most two bytes) or ETMv3 (three). */
static void put_exception(struct gen *g)
{
    uint32_t first = (uint32_t)rng_next(g->rng) & 0x7f;
    if (g->ptm)
        first &= ~0x20u;
    if (!odd_isa(g, 128))
        first &= ~0x40u;
    int more = rng_chance(g->rng, 64);
    put(g, first | (more ? 0x80u : 0));
    if (more && !g->ptm && rng_chance(g->rng, 128)) {
        put(g, 0x80 | rng_below(g->rng, 64));
        put(g, 0x40 | rng_below(g->rng, 16));
    } else if (more) {
        put(g, rng_below(g->rng, 64));
    }
}

/* Writes a branch address of one to five bytes. */
static void put_branch(struct gen *g, int with_exception)
{
    int thumb;
    uint32_t addr = some_address(g, &thumb);
    uint64_t bits = addr >> (thumb ? 1 : 2);
    unsigned bytes = rng_chance(g->rng, 128) ? 5 : 1 + rng_below(g->rng, 4);
    int alt = g->ptm || g->config.alt_branch;
    int exception = with_exception && rng_chance(g->rng, 40) && (alt ? bytes > 1 : bytes == 5);
    for (unsigned i = 0; i < bytes; i++) {
        uint32_t more = i + 1 < bytes ? 0x80 : 0;
        if (i == 0) {
            put(g, more | (uint32_t)(bits & 0x3f) << 1 | 1);
            bits >>= 6;
        } else if (i == 4) {
            uint32_t isa = thumb ? 0x10 | (uint32_t)(bits & 15) : 0x08 | (uint32_t)(bits & 7);
            if (odd_isa(g, 4))
                isa = 0x20 | (uint32_t)(bits & 31);
            put(g, isa | (exception ? 0x40u : 0));
        } else if (more || !alt) {
            put(g, more | (uint32_t)(bits & 0x7f));
            bits >>= 7;
        } else {
            put(g, (uint32_t)(bits & 0x3f) | (exception ? 0x40u : 0));
        }
    }
    if (exception)
        put_exception(g);
}

static void put_timestamp(struct gen *g)
{
    put(g, rng_chance(g->rng, 200) ? 0x42 : 0x46);
    uint64_t value = rng_wide(g->rng, g->config.ts_64bit ? 64 : 48);
    put_cont(g, value, g->config.ts_64bit ? 9 : 7);
    if (g->ptm)
        put_cc(g);
}

static void put_ptm_packet(struct gen *g)
{
    static const uint8_t plain[] = {0x0c, 0x66, 0x76};
    unsigned what = rng_below(g->rng, 100);
    if (what < 55) {
        uint32_t header = 0x80 | (uint32_t)(rng_next(g->rng) & 0x7e);
        put(g, g->config.cycle_accurate ? header & ~0x40u : header);
    } else if (what < 80) {
        put_branch(g, 1);
        put_cc(g);
    } else if (what < 84) {
        put(g, 0x72);
        put_branch(g, 0);
    } else if (what < 88) {
        put_isync(g);
    } else if (what < 91) {
        put_timestamp(g);
    } else if (what < 93) {
        put(g, 0x6e);
        put_random(g, g->config.ctxt_bytes);
    } else if (what < 95) {
        put(g, 0x3c);
        put(g, rng_below(g->rng, 4));
    } else if (what < 96) {
        memcpy(g->p, "\0\0\0\0\0\x80", 6);
        g->p += 6;
    } else {
        put(g, plain[rng_below(g->rng, sizeof plain)]);
    }
}

static void put_data(struct gen *g)
{
    static const uint8_t sizes[] = {0, 1, 2, 4};
    unsigned size = rng_below(g->rng, 4);
    switch (rng_below(g->rng, 4)) {
    case 0:
        put(g, 0x02 | size << 2 | rng_below(g->rng, 2) << 5);
        put_random(g, g->config.data_values ? sizes[size] : 0);
        break;
    case 1:
        put(g, (1 + rng_below(g->rng, 3)) << 5 | size << 2);
        put_random(g, g->config.data_values ? sizes[size] : 0);
        break;
    case 2:
        put(g, 0x50 | rng_below(g->rng, 2) << 5 | (1 + rng_below(g->rng, 3)) << 2);
        break;
    default:
        put(g, (uint32_t[]){0x50, 0x62, 0x6a, 0x7a}[rng_below(g->rng, 4)]);
        break;
    }
}

static void put_etm3_packet(struct gen *g)
{
    static const uint8_t plain[] = {0x0c, 0x66, 0x76, 0x7e};
    unsigned what = rng_below(g->rng, 100);
    if (what < 60) {
        put(g, 0x80 | (uint32_t)(rng_next(g->rng) & 0x7e));
    } else if (what < 76) {
        put_branch(g, 1);
    } else if (what < 80) {
        put_isync(g);
    } else if (what < 84 && g->config.data_values) {
        put_data(g);
    } else if (what < 87) {
        put(g, 0x04);
        put_cont(g, rng_wide(g->rng, 32), 5);
    } else if (what < 90) {
        put_timestamp(g);
    } else if (what < 92) {
        put(g, 0x6e);
        put_random(g, g->config.ctxt_bytes);
    } else if (what < 94) {
        put(g, 0x3c);
        put(g, rng_below(g->rng, 4));
    } else if (what < 95) {
        memcpy(g->p, "\0\0\0\0\0\x80", 6);
        g->p += 6;
    } else {
        put(g, plain[rng_below(g->rng, sizeof plain)]);
    }
}

size_t v7_gen(struct rng *rng, const struct ct_source *source, const struct v7_place *place, unsigned packets,
              uint8_t *out)
{
    struct gen g = {.rng = rng, .place = place, .ptm = source->protocol == CT_PROTOCOL_PTM, .p = out};
    ct_v7_config_init(NULL, source, &g.config);
    memcpy(g.p, "\0\0\0\0\0\x80", 6);
    g.p += 6;
    put_isync(&g);
    while (packets--) {
        if (g.ptm)
            put_ptm_packet(&g);
        else
            put_etm3_packet(&g);
    }
    return (size_t)(g.p - out);
}
