/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a stream along a program, sound or damaged, gives the same instruction ranges at once and in
 * pieces, whatever room the layers have. CT_SEED sets the first seed, CT_COUNT the number of packets,
 * CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coretap/flow.h"
#include "support/code_gen.h"
#include "support/damage.h"
#include "support/etm4_gen.h"
#include "support/seeds.h"

enum {
    STREAM = 500,
    ROOM = STREAM * 24,
    CODE = 8192,
    FLOWS = 200000
};

struct stream {
    struct ct_source source;
    struct ct_memory *memory;
    struct gen_region region;
    uint8_t bytes[ROOM];
    size_t size;
};

struct flows {
    struct ct_flow records[FLOWS];
    size_t count;
};

static int fill(struct rng *rng, struct stream *s)
{
    static uint8_t code[CODE];
    gen_source(rng, GEN_DECODABLE, &s->source);
    int m = s->source.arch.profile == CT_PROFILE_M, sf = !m && rng_chance(rng, 160),
        thumb = m || (!sf && rng_below(rng, 2));
    s->region = (struct gen_region){.addr = 0x40000, .size = CODE, .is = (uint8_t)thumb, .sf = (uint8_t)sf};
    code_fill(rng, sf ? CT_ISA_A64 : thumb ? CT_ISA_T32 : CT_ISA_A32, code, CODE);
    if (ct_memory_new(NULL, &s->memory) ||
        ct_memory_add_bytes(s->memory, code, CODE, s->region.addr, CT_SPACE_ANY))
        return 0;
    s->size = gen_trace(rng, &s->source, &s->region, 1, STREAM, s->bytes, ROOM);
    if (rng_chance(rng, 128))
        s->size = damage(rng, s->bytes, s->size, ROOM);
    return 1;
}

struct chain {
    struct ct_etm4_decoder *decoder;
    struct ct_etm4_resolver *resolver;
    struct ct_walk *walk;
    struct flows *out;
    struct rng *rng; /* NULL: everything at once */
};

static size_t room(struct chain *c, size_t least, size_t most)
{
    return c->rng ? least + rng_below(c->rng, 5) : most;
}

static void walk(struct chain *c, const struct ct_elem *elems, size_t count, uint64_t end)
{
    for (size_t taken = 0, n; taken < count;) {
        size_t left = FLOWS - c->out->count, cap = room(c, 16, left);
        if (left < 32)
            return;
        taken +=
            ct_walk_run(c->walk, elems + taken, count - taken, end, c->out->records + c->out->count, cap, &n);
        c->out->count += n;
    }
}

static void resolve(struct chain *c, const struct ct_etm4_packet *packets, size_t count, int final,
                    uint64_t end)
{
    static struct ct_elem elems[4096];
    size_t taken = 0, n, cap;
    do {
        cap = room(c, CT_RESOLVE_MIN, 4096);
        taken += ct_etm4_resolve(c->resolver, packets + taken, count - taken, final, elems, cap, &n);
        walk(c, elems, n, end);
    } while (taken < count || n > cap - CT_RESOLVE_MIN);
}

static int run(const struct stream *s, struct rng *rng, struct flows *out)
{
    static struct ct_etm4_packet packets[ROOM];
    struct ct_walk_options options = {.size = sizeof(options)};
    struct chain c = {.out = out, .rng = rng};
    int err = ct_etm4_decoder_new(NULL, &s->source, &c.decoder) ||
              ct_etm4_resolver_new(NULL, &s->source, &c.resolver) ||
              ct_walk_new(NULL, &s->source, s->memory, &options, &c.walk);
    memset(out, 0, sizeof(*out));
    for (size_t at = 0, shown = 0; at < s->size && !err;) {
        size_t count;
        shown += rng ? 1 + rng_below(rng, 9) : s->size;
        shown = shown < s->size ? shown : s->size;
        at +=
            ct_etm4_decode(c.decoder, s->bytes + at, shown - at, at, shown == s->size, packets, ROOM, &count);
        resolve(&c, packets, count, at == s->size, count ? packets[count - 1].pos : at);
    }
    ct_walk_free(c.walk);
    ct_etm4_resolver_free(c.resolver);
    ct_etm4_decoder_free(c.decoder);
    return !err;
}

static int check(uint64_t seed)
{
    static struct stream s;
    static struct flows whole, pieces;
    struct rng rng = {seed}, cuts = {seed};
    if (!fill(&rng, &s))
        return 0;
    int ok = run(&s, NULL, &whole) && run(&s, &cuts, &pieces);
    ct_memory_free(s.memory);
    for (size_t i = 0; ok && (i < whole.count || i < pieces.count); i++)
        if (memcmp(&whole.records[i], &pieces.records[i], sizeof(whole.records[i]))) {
            printf("# record %zu of %zu and %zu: kind %u at %" PRIu64 ", in pieces kind %u at %" PRIu64 "\n",
                   i, whole.count, pieces.count, whole.records[i].kind, whole.records[i].offset,
                   pieces.records[i].kind, pieces.records[i].offset);
            ok = 0;
        }
    return ok && whole.count == pieces.count;
}

int main(void)
{
    const struct seeds seeds = seeds_begin(1, 50000, 10000000);
    const int ok = seeds_hold(seeds, STREAM, check, 1, "ranges are the same however the trace is cut");
    return ok ? 0 : 1;
}
