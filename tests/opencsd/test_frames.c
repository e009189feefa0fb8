/* SPDX-License-Identifier: Apache-2.0 */
/* Checks random frames in all layouts that a tree supports: aligned, with synchronisation words and
 * half-words between and inside frames, with words that reset decoders; sound, cut and damaged. coretap's
 * library prints the same frames as OpenCSD 1.3.3, passes the same bytes to a decoder, and reports the same
 * errors. After a word at an odd offset 1.3.3 may read past the end of the call: such a trace counts as a
 * crash. CT_SEED sets the first seed, CT_COUNT the number of traces, CT_LONG=1 the long tier.
 *
 * usage: test_frames OPENCSD CORETAP */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opencsd/compare.h"
#include "support/damage.h"

enum {
    FRAMES = 12,
    FRAME = 16,
    ROOM = FRAMES * 3 * FRAME + 64,
    DECODED = 0x21, /* trace ID with a decoder */
};

static const struct ct_source source = {
    .name = "stm", .protocol = CT_PROTOCOL_STM, .trace_id = DECODED, .regs = {.stmtcsr = 0x00210007}};

struct trace {
    uint8_t bytes[ROOM];
    size_t size;
    int flags;
};

static void put(struct trace *t, const uint8_t *bytes, size_t size)
{
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
}

static void put_words(struct trace *t, unsigned count)
{
    static const uint8_t word[] = {0xff, 0xff, 0xff, 0x7f};
    while (count--)
        put(t, word, sizeof word);
}

/* Makes a random frame without two IDs in a row: 1.3.3 passes the decoder no bytes for an ID without any, and
 * the decoder fails. */
static void fill_frame(struct rng *rng, uint8_t *frame)
{
    bool had_id = true;
    for (unsigned i = 0; i < FRAME; i++)
        frame[i] = (uint8_t)rng_next(rng);
    for (unsigned i = 0; i < FRAME - 1; i += 2) {
        const bool has_id = !had_id && rng_chance(rng, 64);
        const unsigned id = rng_chance(rng, 128) ? DECODED : 1 + rng_below(rng, 0x6f);
        frame[i] = has_id ? (uint8_t)(id << 1 | 1) : frame[i] & 0xfe;
        had_id = has_id;
    }
}

/* Writes a frame, with half-words between its byte pairs when the layout has them. */
static void put_frame(struct rng *rng, struct trace *t)
{
    static const uint8_t half_word[] = {0xff, 0x7f};
    uint8_t frame[FRAME];
    fill_frame(rng, frame);
    for (unsigned i = 0; i < FRAME; i += 2) {
        if (t->flags & OCSD_DFRMTR_HAS_HSYNCS && rng_chance(rng, 20))
            put(t, half_word, sizeof half_word);
        put(t, frame + i, 2);
    }
}

static void fill(struct rng *rng, bool damaged, struct trace *t, struct player *player)
{
    static const int layouts[] = {OCSD_DFRMTR_HAS_FSYNCS,
                                  OCSD_DFRMTR_HAS_HSYNCS,
                                  OCSD_DFRMTR_HAS_FSYNCS | OCSD_DFRMTR_HAS_HSYNCS,
                                  OCSD_DFRMTR_FRAME_MEM_ALIGN,
                                  OCSD_DFRMTR_FRAME_MEM_ALIGN | OCSD_DFRMTR_RESET_ON_4X_FSYNC,
                                  OCSD_DFRMTR_RESET_ON_4X_FSYNC};
    t->flags = layouts[rng_below(rng, sizeof layouts / sizeof *layouts)];
    t->size = 0;
    const bool has_words = t->flags & OCSD_DFRMTR_HAS_FSYNCS;
    const bool resets = t->flags & OCSD_DFRMTR_FRAME_MEM_ALIGN && t->flags & OCSD_DFRMTR_RESET_ON_4X_FSYNC;
    const unsigned unit = t->flags & OCSD_DFRMTR_HAS_HSYNCS ? 2 : has_words ? 4 : FRAME;
    if (has_words)
        put_words(t, 1);
    for (unsigned n = 1 + rng_below(rng, FRAMES); n; n--) {
        if (has_words)
            put_words(t, rng_below(rng, 3));
        if (resets && rng_chance(rng, 64))
            put_words(t, 4 + 4 * rng_below(rng, 2));
        put_frame(rng, t);
    }
    if (damaged)
        t->size = damage(rng, t->bytes, t->size, ROOM);
    if (rng_chance(rng, 64) || damaged)
        t->size -= t->size % unit;
    *player = (struct player){.tree_flags = t->flags,
                              .frames = OCSD_DFRMTR_PACKED_RAW_OUT | OCSD_DFRMTR_UNPACKED_RAW_OUT,
                              .chunk = unit * (1 + rng_below(rng, 20)),
                              .as_packets = 3,
                              .severity = 1 + (int)rng_below(rng, 3)};
    player_vary(player, rng, PLAYER_EOT | PLAYER_FLUSH | PLAYER_RESET);
    player->small = 0; /* calls have whole units */
}

/* Plays one trace through both libraries. */
static void check_one(const void *context, uint64_t seed, struct compare_counts *counts)
{
    static struct trace t;
    const struct compare_kind *check = context;
    struct rng rng = {seed};
    struct player player;
    fill(&rng, check->kind, &t, &player);
    const struct compare_trace trace = {.source = &source, .bytes = t.bytes, .size = t.size};
    compare(player, &trace, check->theirs, check->ours, ocsd_isa_unknown, seed, counts);
}

static const char *name(int kind, bool *damaged)
{
    *damaged = kind;
    return kind ? "damaged frames" : "frames";
}

int main(int argc, char **argv)
{
    return compare_kinds(argc, argv, 2, name, 1000, 20000, 0, check_one);
}
