/* SPDX-License-Identifier: Apache-2.0 */
/* Checks random streams of ETMv4 and ETE along random programs: coretap's library gives its client the same
 * output as OpenCSD 1.3.3, call by call: elements, packets, messages, answers, with pauses, flushes and
 * resets. All sound streams must agree, with speculation as well. A few damaged ones may differ, and are
 * counted. A stream at which OpenCSD's output depends on memory that it freed counts as a crash. Only A64
 * code is compared. With speculation, 1.3.3 corrupts its heap at mispredicts: those are removed (patch.c),
 * and each stream is played in separate processes. CT_SEED sets the first seed, CT_COUNT the number of
 * streams of each kind, CT_LONG=1 the long tier.
 *
 * usage: test_streams OPENCSD CORETAP */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opencsd/compare.h"
#include "oracle/patch.h"
#include "oracle/stream.h"
#include "support/damage.h"
#include "support/part.h"

enum {
    HEAD = 12,          /* bytes that are never damaged: the first alignment packet */
    HELD_AT = 21,       /* offset of the bytes that check_held plays */
    MOST_WORSE = 1000,  /* one damaged stream in this many may differ */
    MOST_CRASHES = 100, /* one stream in this many with speculation may crash 1.3.3 */
};

#define RETURN_STACK (UINT32_C(1) << 12) /* TRCCONFIGR.RS */
#define Q_ELEMENTS   (UINT32_C(3) << 15) /* TRCIDR0.QSUPP */

/* Removes from a stream with speculation what 1.3.3 handles differently (tests/oracle/patch.c). */
static void patch(struct stream *s)
{
    static struct ct_etm4_packet packets[ROOM];
    static struct patches patches;
    struct ct_etm4_decoder *decoder;
    size_t count = 0;
    if (ct_etm4_decoder_new(NULL, &s->source, &decoder))
        return;
    ct_etm4_decode(decoder, s->bytes, s->size, 0, 1, packets, ROOM, &count);
    ct_etm4_decoder_free(decoder);
    patch_stream(&patches, 1u << PATCH_MISPREDICT, &s->source, s->bytes, packets, count);
}

/* Makes a random stream and random options to play it with. */
static void fill(struct rng *rng, bool damaged, bool speculated, struct stream *s, struct player *player)
{
    do
        gen_source(rng, speculated ? GEN_DECODABLE : GEN_UNSPECULATED, &s->source);
    while (speculated && !(s->source.regs.idr8));
    s->source.regs.idr0 &= ~Q_ELEMENTS;
    if (s->source.protocol == CT_PROTOCOL_ETE || rng_chance(rng, 128))
        s->source.regs.configr &= ~RETURN_STACK;
    do {
        stream_fill_program(rng, s);
    } while (s->region_count &&
             s->regions[0].addr < REGION_SIZE); /* 1.3.3 reads on at 0 after the last address */
    stream_fill_trace(rng, s);
    if (speculated)
        patch(s);
    if (damaged)
        s->size = HEAD + damage(rng, s->bytes + HEAD, s->size - HEAD, ROOM - HEAD);
    *player = (struct player){
        .single = 1, .chunk = 64 + rng_below(rng, 5000), .severity = 1 + (int)rng_below(rng, 3)};
    player->create_flags = rng_chance(rng, 64) ? ETE_OPFLG_PKTDEC_SRCADDR_N_ATOMS : 0;
    static const int bad_flags[] = {0, OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS, OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS,
                                    OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS, OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS};
    if (damaged && s->source.protocol == CT_PROTOCOL_ETM4)
        player->create_flags |= bad_flags[rng_below(rng, sizeof bad_flags / sizeof *bad_flags)];
    player->wait = rng_chance(rng, 128) ? 1 + rng_below(rng, 20) : 0;
    player_vary(player, rng, PLAYER_EOT | PLAYER_FLUSH | PLAYER_RESET);
}

/* Which streams are compared, and in which libraries. */
struct check {
    bool damaged, packets, speculated;
    const struct library *theirs, *ours;
};

/* Plays one stream through both libraries. */
static void check(const void *context, uint64_t seed, struct compare_counts *counts)
{
    static struct stream s;
    const struct check *check = context;
    struct rng rng = {seed};
    struct player player;
    fill(&rng, check->damaged, check->speculated, &s, &player);
    player.as_packets = check->packets ? 1 + (int)rng_below(&rng, 2) : 0;
    const struct compare_trace trace = {&s.source, s.regions, s.region_count,
                                        s.bytes,   s.size,    check->speculated};
    compare(player, &trace, check->theirs, check->ours, ocsd_isa_aarch64, seed, counts);
}

/* Plays a trace of two halves with a reset between them. The first context says 64 bits, the second that
 * nothing changed: 1.3.3 keeps the upper half of an address there. */
static void check_kept_context(const struct library *theirs, const struct library *ours,
                               struct compare_counts *counts)
{
    enum {
        HALF = 32
    };
    static const uint8_t bytes[2 * HALF] = {
        0,    0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0x80, /* alignment */
        0x01, 0x01, 0x00,                                                 /* trace info */
        0x9d, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,             /* address of 64 bits */
        0x81, 0x13,                                                       /* context */
        0x9a, 0x01, 0x02, 0x03, 0x04,                                     /* address of 32 bits */
        0xf6,                                                             /* atom */
        0,    0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0x80, /* alignment */
        0x01, 0x01, 0x00,                                                 /* trace info */
        0x9d, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,             /* address of 64 bits */
        0x80,                                                             /* the same context */
        0x9a, 0x01, 0x02, 0x03, 0x04,                                     /* address of 32 bits */
        0xf6, 0xf6,                                                       /* atoms */
    };
    struct rng rng = {1};
    struct ct_source source;
    const struct player player = {.single = 1, .chunk = HALF, .severity = 1, .reset = 1, .as_packets = 2};
    gen_source(&rng, GEN_UNSPECULATED, &source);
    const struct compare_trace trace = {.source = &source, .bytes = bytes, .size = sizeof bytes};
    compare(player, &trace, theirs, ours, ocsd_isa_aarch64, 0, counts);
}

/* Plays `bytes`, which are held as speculative, after an alignment, a trace info and an address with its
 * context. */
static void check_held(const struct library *theirs, const struct library *ours, uint8_t profile,
                       const uint8_t *bytes, size_t size, struct compare_counts *counts)
{
    uint8_t trace[64] = {
        0,    0,    0,    0,    0,    0,    0, 0, 0, 0, 0, 0x80, /* alignment */
        0x01, 0x01, 0x00,                                        /* trace info */
        0x82, 0x01, 0x02, 0x03, 0x04, 0x11,                      /* address of 32 bits, with a context */
    };
    struct rng rng = {1};
    struct ct_source source;
    const struct player player = {.single = 1, .chunk = sizeof trace, .severity = 1};
    gen_source(&rng, GEN_UNSPECULATED, &source);
    source.protocol = CT_PROTOCOL_ETM4;
    source.arch = (struct ct_arch){.major = 8, .profile = profile};
    source.regs.idr8 = 8;
    memcpy(trace + HELD_AT, bytes, size);
    const struct compare_trace played = {.source = &source, .bytes = trace, .size = HELD_AT + size};
    compare(player, &played, theirs, ours, ocsd_isa_unknown, 0, counts);
}

/* Plays an exception whose return address has a context, then a commit of more than there is, which drops
 * what was committed so far. */
static void check_overrun(const struct library *theirs, const struct library *ours,
                          struct compare_counts *counts)
{
    static const uint8_t bytes[] = {0xf7, 0x06, 0x03, 0x82, 0x01, 0x02, 0x04, 0x04, 0x12, /* exception */
                                    0x2d, 0x05, 0xf7};                                    /* commit */
    check_held(theirs, ours, CT_PROFILE_A, bytes, sizeof bytes, counts);
}

/* Plays a function return of v8-M that is cancelled alone: the atom before it stays. */
static void check_cancelled_return(const struct library *theirs, const struct library *ours,
                                   struct compare_counts *counts)
{
    static const uint8_t bytes[] = {0xf7, 0x05, 0x2e, 0x01,  /* atom, function return, cancel */
                                    0x2d, 0x01, 0xf7, 0xf7}; /* commit */
    check_held(theirs, ours, CT_PROFILE_M, bytes, sizeof bytes, counts);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"sound streams", "damaged streams", "packets of sound streams",
                                        "packets of damaged streams", "speculated streams"};
    struct library theirs, ours;
    if (argc < 3 || library_load(argv[1], &theirs) || library_load(argv[2], &ours))
        return 2;
    const uint64_t first = test_number("CT_SEED", 1);
    const uint64_t count = test_count(test_part(300), 10000);
    int failed = 0;
    printf("TAP version 13\n1..8\n");
    for (int kind = 0; kind < 5; kind++) {
        const bool damaged = kind == 1 || kind == 3;
        const struct check what = {damaged, kind == 2 || kind == 3, kind == 4, &theirs, &ours};
        struct compare_counts counts;
        compare_seeds(first, count, check, &what, &counts);
        const uint64_t most = damaged ? count / MOST_WORSE : 0;
        const uint64_t most_crashes = what.speculated ? count / MOST_CRASHES : UINT64_MAX;
        const bool bad = counts.worse > most || counts.crashes > most_crashes;
        printf("# %" PRIu64 " streams, %" PRIu64 " that differ, %" PRIu64 " of which OpenCSD crashes\n",
               count, counts.worse, counts.crashes);
        printf("%sok %d - %s\n", bad ? "not " : "", kind + 1, names[kind]);
        failed |= bad;
    }
    static const struct {
        const char *what;
        void (*check)(const struct library *theirs, const struct library *ours,
                      struct compare_counts *counts);
    } fixed[] = {
        {"a context that is kept behind a reset", check_kept_context},
        {"an overrun behind an exception with a context", check_overrun},
        {"a function return that is taken back", check_cancelled_return},
    };
    for (int i = 0; i < 3; i++) {
        struct compare_counts counts = {0};
        fixed[i].check(&theirs, &ours, &counts);
        const bool bad = counts.worse || counts.crashes;
        printf("%sok %d - %s\n", bad ? "not " : "", i + 6, fixed[i].what);
        failed |= bad;
    }
    return failed;
}
