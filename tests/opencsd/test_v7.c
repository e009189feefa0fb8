/* SPDX-License-Identifier: Apache-2.0 */
/* Checks random streams of PTM and ETMv3 along random programs, sound and damaged: coretap's library gives
 * its client the same output as OpenCSD 1.3.3, call by call: elements, packets and their text, messages,
 * answers, with pauses, flushes and resets. There are two exceptions. Packets alone are compared without
 * resets, because 1.3.3 passes what a reset cut off to the next reader. Sound ETMv3 is compared without
 * pauses, because after one 1.3.3 may not hold an instruction back. A few damaged streams may differ, and are
 * counted. CT_SEED sets the first seed, CT_COUNT the number of streams of each kind, CT_LONG=1 the long tier.
 *
 * usage: test_v7 OPENCSD CORETAP */
#include <inttypes.h>
#include <stdio.h>

#include "opencsd/compare.h"
#include "oracle/v7/v7_code.h"
#include "oracle/v7/v7_patch.h"
#include "support/code_gen.h"
#include "support/damage.h"
#include "support/v7_gen.h"

enum {
    PACKETS = 400,
    ROOM = V7_ROOM - 8,
    CODE = 4096,
    HEAD = 6,          /* bytes that are never damaged: the first alignment packet */
    MOST_WORSE = 1000, /* one damaged stream in this many may differ */
};

struct stream {
    struct ct_source source;
    struct ocsd_region region;
    ocsd_isa isa; /* of the code */
    uint8_t code[CODE];
    uint8_t bytes[ROOM + 8];
    size_t size;
};

/* What is decoded. */
static const struct kind {
    enum ct_protocol protocol;
    bool packets; /* only packets, no elements */
    bool damaged;
    const char *what;
} kinds[] = {
    {CT_PROTOCOL_PTM, true, false, "packets of PTM"},
    {CT_PROTOCOL_PTM, true, true, "packets of damaged PTM"},
    {CT_PROTOCOL_PTM, false, false, "elements of PTM"},
    {CT_PROTOCOL_PTM, false, true, "elements of damaged PTM"},
    {CT_PROTOCOL_ETM3, true, false, "packets of ETMv3"},
    {CT_PROTOCOL_ETM3, true, true, "packets of damaged ETMv3"},
    {CT_PROTOCOL_ETM3, false, false, "elements of ETMv3"},
    {CT_PROTOCOL_ETM3, false, true, "elements of damaged ETMv3"},
};

enum {
    KINDS = sizeof kinds / sizeof *kinds,
};

/* Removes from an ETMv3 trace what coretap's library leaves to OpenCSD (docs/perf.md). */
static void patch(struct stream *s, const struct kind *kind, int thumb)
{
    if (!kind->packets)
        s->source.regs.etmcr &= ~UINT32_C(12); /* data, with which 1.3.3 makes no elements */
    struct v7_trace trace = {&s->source, !kind->packets, thumb, s->bytes, s->size};
    v7_patch(&trace);
    s->size = trace.size;
}

static void fill(struct rng *rng, const struct kind *kind, struct stream *s, struct player *player)
{
    struct v7_place place = {.thumb = (int)rng_below(rng, 2), .size = CODE};
    place.addr = (uint32_t)rng_wide(rng, 31) & ~UINT32_C(0xffff);
    s->source = v7_gen_source(rng, kind->protocol);
    code_fill(rng, place.thumb ? CT_ISA_T32 : CT_ISA_A32, s->code, CODE);
    if (place.thumb)
        v7_drop_odd_loads(s->code, CODE);
    s->isa = place.thumb ? ocsd_isa_thumb2 : ocsd_isa_arm;
    s->region = (struct ocsd_region){.addr = place.addr, .size = CODE, .bytes = s->code};
    s->size = v7_gen(rng, &s->source, &place, 1 + rng_below(rng, PACKETS), s->bytes);
    if (kind->damaged)
        s->size = HEAD + damage(rng, s->bytes + HEAD, s->size - HEAD, ROOM - HEAD);
    if (kind->protocol == CT_PROTOCOL_ETM3)
        patch(s, kind, place.thumb);
    *player = (struct player){
        .single = 1, .chunk = 64 + rng_below(rng, 5000), .severity = 1 + (int)rng_below(rng, 3)};
    player->as_packets = kind->packets ? 1 + (int)rng_below(rng, 2) : 0;
    static const int bad_flags[] = {0, OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS, OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS};
    if (kind->damaged)
        player->create_flags = bad_flags[rng_below(rng, sizeof bad_flags / sizeof *bad_flags)];
    player->hides_isa = kind->protocol == CT_PROTOCOL_ETM3;
    const bool pauses = kind->protocol == CT_PROTOCOL_PTM || kind->damaged;
    player->wait = rng_chance(rng, 128) && pauses ? 1 + rng_below(rng, 20) : 0;
    const unsigned ends = kind->protocol == CT_PROTOCOL_PTM ? PLAYER_EOT : 0; /* 1.3.3 makes elements of the
                                                                               * packet that ends an ETMv3 */
    player_vary(player, rng, PLAYER_FLUSH | (kind->packets ? 0 : PLAYER_RESET | ends));
}

/* Plays one stream through both libraries. */
static void check_one(const void *context, uint64_t seed, struct compare_counts *counts)
{
    static struct stream s;
    const struct compare_kind *check = context;
    struct rng rng = {seed};
    struct player player;
    fill(&rng, &kinds[check->kind], &s, &player);
    const struct compare_trace trace = {&s.source, &s.region, 1, s.bytes, s.size, false};
    compare(player, &trace, check->theirs, check->ours, s.isa, seed, counts);
}

static const char *name(int kind, bool *damaged)
{
    *damaged = kinds[kind].damaged;
    return kinds[kind].what;
}

int main(int argc, char **argv)
{
    return compare_kinds(argc, argv, KINDS, name, 300, 10000, MOST_WORSE, check_one);
}
