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
    MOST_WORSE = 100, /* one damaged stream in this many may differ */
};

struct stream {
    uint8_t bytes[2 * ROOM];
    size_t size;
};

/* What is decoded. */
static const struct kind {
    bool packets; /* only packets, no elements */
    bool damaged;
    const char *what;
} kinds[] = {
    {true, false, "packets of STM"},
    {true, true, "packets of damaged STM"},
    {false, false, "elements of STM"},
    {false, true, "elements of damaged STM"},
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

static void fill(struct rng *rng, const struct kind *kind, struct stream *s, struct player *player)
{
    enum {
        HEAD = 14, /* bytes that are never damaged: alignment and version */
    };
    generate(rng, s);
    if (kind->damaged && s->size > HEAD)
        s->size = HEAD + damage(rng, s->bytes + HEAD, s->size - HEAD, 2 * ROOM - HEAD);
    *player = (struct player){
        .single = 1, .chunk = 1 + rng_below(rng, 500), .severity = 1 + (int)rng_below(rng, 3)};
    player->as_packets = kind->packets ? 1 + (int)rng_below(rng, 3) : 0;
    if (player->as_packets == 2) /* of bytes cut before the first packet 1.3.3 shows other ones */
        player->chunk += 64;
    static const int bad_flags[] = {0, OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS, OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS,
                                    OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS};
    player->create_flags = bad_flags[rng_below(rng, sizeof bad_flags / sizeof *bad_flags)];
    player->wait = rng_chance(rng, 128) ? 1 + rng_below(rng, 20) : 0;
    const unsigned resets = player->as_packets == 2 || (kind->packets && !kind->damaged) ? 0 : PLAYER_RESET;
    player_vary(player, rng, PLAYER_FLUSH | resets | (kind->packets ? 0 : PLAYER_EOT));
}

struct check {
    const struct kind *kind;
    const struct library *theirs, *ours;
};

/* Plays one stream through both libraries. */
static void check_one(const void *context, uint64_t seed, struct compare_counts *counts)
{
    static struct stream s;
    const struct check *check = context;
    struct rng rng = {seed};
    struct player player;
    fill(&rng, check->kind, &s, &player);
    const struct compare_trace trace = {.source = &source, .bytes = s.bytes, .size = s.size};
    compare(player, &trace, check->theirs, check->ours, ocsd_isa_unknown, seed, counts);
}

/* Compares `count` streams of a kind. Returns true when few enough differ. */
static bool check(const struct kind *kind, uint64_t first, uint64_t count, const struct library *theirs,
                  const struct library *ours)
{
    const struct check what = {kind, theirs, ours};
    struct compare_counts counts;
    compare_seeds(first, count, check_one, &what, &counts);
    printf("# %" PRIu64 " streams, %" PRIu64 " that differ, %" PRIu64 " of which OpenCSD crashes\n", count,
           counts.worse, counts.crashes);
    return counts.worse <= (kind->damaged ? count / MOST_WORSE : 0);
}

int main(int argc, char **argv)
{
    struct library theirs, ours;
    if (argc < 3 || library_load(argv[1], &theirs) || library_load(argv[2], &ours))
        return 2;
    const uint64_t first = test_number("CT_SEED", 1);
    const uint64_t count = test_count(300, 10000);
    int failed = 0;
    printf("TAP version 13\n1..%d\n", KINDS);
    for (int i = 0; i < KINDS; i++) {
        const bool good = check(&kinds[i], first, count, &theirs, &ours);
        printf("%sok %d - %s\n", good ? "" : "not ", i + 1, kinds[i].what);
        failed |= !good;
    }
    return failed;
}
