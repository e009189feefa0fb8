/* SPDX-License-Identifier: Apache-2.0 */
/* Checks random STM streams, sound and damaged: coretap's library gives its client the same output as OpenCSD
 * 1.3.3, call by call: elements, packets with their members, bytes and text, messages, answers, with pauses,
 * flushes and resets. CT_SEED sets the first seed, CT_COUNT the number of streams of each kind, CT_LONG=1 the
 * long tier.
 *
 * usage: test_software OPENCSD CORETAP */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opencsd/compare.h"
#include "support/damage.h"
#include "support/stm_gen.h"

enum {
    PACKETS = 300,
    ROOM = PACKETS * 24 + 64,
};

struct stream {
    uint8_t bytes[2 * ROOM];
    size_t size;
};

/* What is decoded. */
static const struct kind {
    bool packets; /* only packets, no elements */
    bool damaged;
    bool unaligned; /* long rows of units f before, between and in alignment packets, and few other packets */
    const char *what;
} kinds[] = {
    {.packets = true, .what = "packets of STM"},
    {.packets = true, .damaged = true, .what = "packets of damaged STM"},
    {.what = "elements of STM"},
    {.damaged = true, .what = "elements of damaged STM"},
    {.packets = true, .unaligned = true, .what = "alignment packets of STM"},
};

enum {
    KINDS = sizeof kinds / sizeof *kinds,
};

static const struct ct_source source = {
    .name = "stm", .protocol = CT_PROTOCOL_STM, .trace_id = 0x21, .regs = {.stmtcsr = 0x00210007}};

/* Writes a random stream. */
static void generate(struct rng *rng, struct stream *s)
{
    struct stm_writer w = {.bytes = s->bytes};
    const unsigned count = 1 + rng_below(rng, PACKETS);
    struct ct_stm_packet p = {.type = CT_STM_ASYNC};
    memset(s->bytes, 0, sizeof s->bytes);
    stm_put_packet(&w, &p, 0);
    p = (struct ct_stm_packet){.type = CT_STM_VERSION,
                               .value = rng_chance(rng, 128) ? CT_STM_VERSION_NATURAL : CT_STM_VERSION_GRAY};
    stm_put_packet(&w, &p, 0);
    for (unsigned i = 0; i < count || w.units & 1; i++) {
        p = (struct ct_stm_packet){.type = CT_STM_NULL};
        if (i < count)
            p = stm_gen_packet(rng, &w, STM_GEN_ARM);
        if (p.type != CT_STM_RESERVED)
            stm_put_packet(&w, &p, rng_chance(rng, 64) ? rng_below(rng, 16) : 0);
    }
    s->size = w.units / 2;
}

/* Writes units that have few packets. A row f has fewer units than those at which the packet decoder cuts
 * it. */
static void generate_unaligned(struct rng *rng, struct stream *s)
{
    enum {
        MOST_UNITS = 1200,
        MOST_ROW = 110,
        ALIGNED = 21, /* units f of an alignment packet */
    };
    const unsigned size = 2 + rng_below(rng, MOST_UNITS);
    memset(s->bytes, 0, sizeof s->bytes);
    for (unsigned at = 0; at < size;) {
        const bool is_row = rng_chance(rng, 128);
        const unsigned unit = is_row ? 15 : rng_chance(rng, 96) ? 0 : 5;
        const unsigned most = rng_chance(rng, 64) ? MOST_ROW : 4;
        unsigned count = is_row && rng_chance(rng, 128) ? ALIGNED : 1 + rng_below(rng, most);
        for (; count && at < size; count--, at++)
            s->bytes[at / 2] |= (uint8_t)(unit << (at & 1 ? 4 : 0));
        at += is_row; /* a unit 0 */
    }
    s->size = size / 2;
}

static void fill(struct rng *rng, const struct kind *kind, struct stream *s, struct player *player)
{
    enum {
        HEAD = 14, /* bytes that are never damaged: alignment and version */
    };
    if (kind->unaligned)
        generate_unaligned(rng, s);
    else
        generate(rng, s);
    if (kind->damaged && s->size > HEAD)
        s->size = HEAD + damage(rng, s->bytes + HEAD, s->size - HEAD, 2 * ROOM - HEAD);
    *player = (struct player){
        .single = 1, .chunk = 1 + rng_below(rng, 500), .severity = 1 + (int)rng_below(rng, 3)};
    player->as_packets = kind->packets ? 1 + (int)rng_below(rng, 3) : 0;
    static const int bad_flags[] = {0, OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS, OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS,
                                    OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS};
    player->create_flags = bad_flags[rng_below(rng, sizeof bad_flags / sizeof *bad_flags)];
    player->wait = rng_chance(rng, 128) ? 1 + rng_below(rng, 20) : 0;
    player_vary(player, rng, PLAYER_FLUSH | PLAYER_RESET | PLAYER_EOT);
    player->goes_on = !kind->unaligned; /* 1.3.3 counts units f of before an EOT */
}

/* Plays one stream through both libraries. */
static void check_one(const void *context, uint64_t seed, struct compare_counts *counts)
{
    static struct stream s;
    const struct compare_kind *check = context;
    struct rng rng = {seed};
    struct player player;
    fill(&rng, &kinds[check->kind], &s, &player);
    const struct compare_trace trace = {.source = &source, .bytes = s.bytes, .size = s.size};
    compare(player, &trace, check->theirs, check->ours, ocsd_isa_unknown, seed, counts);
}

static const char *name(int kind, bool *damaged)
{
    *damaged = kinds[kind].damaged;
    return kinds[kind].what;
}

int main(int argc, char **argv)
{
    return compare_kinds(argc, argv, KINDS, name, 300, 10000, 0, check_one);
}
