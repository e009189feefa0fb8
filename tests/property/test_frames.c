/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that bytes of many trace IDs come out of frames as they went in, for every framing, however the
 * frames are cut, and so do the packets of an ETMv4 among them. CT_SEED sets the first seed, CT_COUNT the
 * number of bytes, CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/etm4_gen.h"
#include "support/seeds.h"

enum {
    BYTES = 6000,
    IDS = 5,
    ROOM = 4 * BYTES + 4096,
    PACKETS = BYTES
};

struct side {
    uint8_t bytes[IDS][BYTES];
    size_t size[IDS];
};

static const uint8_t ids[IDS] = {0x10, 0x01, 0x6f, 0x2a, 0x55};

/* Writes packets of an ETMv4 for the first ID. The other IDs have random bytes. */
static void fill_etm4(struct rng *rng, struct ct_source *source, struct side *in)
{
    struct ct_etm4_encoder *encoder;
    struct ct_etm4_packet packets[4];
    struct gen gen;
    size_t len;
    gen_source(rng, GEN_DECODABLE, source);
    gen_init(&gen, rng, source);
    if (ct_etm4_encoder_new(NULL, source, &encoder))
        return;
    while (in->size[0] < BYTES / 4) {
        unsigned n = in->size[0] ? gen_sensible(&gen, packets) : gen_prologue(&gen, packets);
        for (unsigned i = 0; i < n; i++)
            if (!ct_etm4_encode_packet(encoder, &packets[i], in->bytes[0] + in->size[0], BYTES - in->size[0],
                                       &len))
                in->size[0] += len;
    }
    ct_etm4_encoder_free(encoder);
}

static size_t frame(struct rng *rng, const struct ct_framer_options *options, const struct side *in,
                    uint8_t *out)
{
    struct ct_framer *framer;
    size_t at[IDS] = {0}, size = 0, used, len, left = 0;
    if (ct_framer_new(NULL, options, &framer))
        return 0;
    for (unsigned i = 0; i < IDS; i++)
        left += in->size[i];
    while (left) {
        unsigned i = rng_below(rng, IDS);
        size_t give = 1 + rng_below(rng, rng_chance(rng, 128) ? 4 : 60);
        give = give < in->size[i] - at[i] ? give : in->size[i] - at[i];
        ct_framer_push(framer, ids[i], in->bytes[i] + at[i], give, &used, out + size, CT_FRAMER_OUT_MIN,
                       &len);
        at[i] += used;
        left -= used;
        size += len;
        if (rng_chance(rng, 4) && !ct_framer_push(framer, 0, (const uint8_t[8]){0}, rng_below(rng, 8), &used,
                                                  out + size, CT_FRAMER_OUT_MIN, &len))
            size += len; /* padding in between */
    }
    ct_framer_finish(framer, out + size, ROOM - size, &len);
    ct_framer_free(framer);
    return size + len;
}

static void drain(struct ct_demux *demux, struct side *out)
{
    struct ct_run run;
    for (unsigned i = 0; i < IDS; i++) {
        ct_demux_run(demux, ids[i], &run);
        if (run.size > BYTES - out->size[i])
            run.size = BYTES - out->size[i];
        if (run.size)
            memcpy(out->bytes[i] + out->size[i], run.data, run.size);
        out->size[i] += run.size;
        ct_demux_consume(demux, ids[i], run.size);
    }
}

/* Unframes in pieces of at most `most` bytes. */
static int unframe(struct rng *rng, uint8_t framing, size_t most, const uint8_t *bytes, size_t size,
                   struct side *out)
{
    struct ct_demux_options options = {.size = sizeof(options), .framing = framing};
    struct ct_demux *demux;
    if (ct_demux_new(NULL, &options, &demux))
        return 0;
    memset(out, 0, sizeof(*out));
    for (size_t at = 0, used; at < size; at += used) {
        size_t give = 1 + rng_below(rng, (uint32_t)most);
        if (ct_demux_push(demux, bytes + at, give < size - at ? give : size - at, &used))
            return 0;
        drain(demux, out);
    }
    ct_demux_finish(demux);
    drain(demux, out);
    ct_demux_free(demux);
    return 1;
}

/* Decodes runs as they come: a stream in pieces gives the same packets as a whole one. */
static int same_packets(struct rng *rng, const struct ct_source *source, const uint8_t *bytes, size_t size)
{
    static struct ct_etm4_packet whole[PACKETS], pieces[PACKETS];
    struct ct_etm4_decoder *decoder;
    size_t count, total = 0, n;
    if (ct_etm4_decoder_new(NULL, source, &decoder))
        return 0;
    ct_etm4_decode(decoder, bytes, size, 0, 1, whole, PACKETS, &count);
    ct_etm4_decoder_reset(decoder);
    for (size_t at = 0, shown = 0; at < size; total += n) {
        shown += 1 + rng_below(rng, 3);
        shown = shown < size ? shown : size;
        at += ct_etm4_decode(decoder, bytes + at, shown - at, at, shown == size, pieces + total,
                             PACKETS - total, &n);
    }
    ct_etm4_decoder_free(decoder);
    return total == count && !memcmp(whole, pieces, count * sizeof(whole[0]));
}

static int same_side(const struct side *a, const struct side *b)
{
    for (unsigned i = 0; i < IDS; i++)
        if (a->size[i] != b->size[i] || memcmp(a->bytes[i], b->bytes[i], a->size[i])) {
            printf("# ID %02x: %zu bytes went in, %zu came out\n", ids[i], a->size[i], b->size[i]);
            return 0;
        }
    return 1;
}

static int check(uint64_t seed)
{
    static struct side in, out;
    static uint8_t frames[ROOM];
    struct rng rng = {seed};
    struct ct_source source;
    struct ct_framer_options options = {
        .size = sizeof(options),
        .framing = (uint8_t)(CT_FRAMING_FRAMES + rng_below(&rng, 3)),
        .fsync_period = rng_below(&rng, 2) ? 1 + rng_below(&rng, 50) : 0,
        .hsync_period = rng_below(&rng, 2) ? 1 + rng_below(&rng, 20) : 0,
        .id_period = rng_below(&rng, 2) ? 1 + rng_below(&rng, 20) : 0,
    };
    memset(&in, 0, sizeof(in));
    fill_etm4(&rng, &source, &in);
    for (unsigned i = 1; i < IDS; i++)
        for (in.size[i] = 0; in.size[i] < rng_below(&rng, BYTES / 8) + 1; in.size[i]++)
            in.bytes[i][in.size[i]] = rng_chance(&rng, 30) ? 0xff : (uint8_t)rng_next(&rng);
    size_t size = frame(&rng, &options, &in, frames);
    int ok = unframe(&rng, options.framing, size, frames, size, &out) && same_side(&in, &out) &&
             unframe(&rng, options.framing, 7, frames, size, &out) && same_side(&in, &out) &&
             unframe(&rng, options.framing, 1, frames, size, &out) && same_side(&in, &out) &&
             same_packets(&rng, &source, out.bytes[0], out.size[0]);
    if (!ok)
        printf("# framing %s, FSYNC every %u, HSYNC every %u, ID every %" PRIu64 "\n",
               ct_framing_name((enum ct_framing)options.framing), options.fsync_period, options.hsync_period,
               options.id_period);
    return ok;
}

/* Removes the first frames of a stream of one ID: nothing is missing from the next frame on that names it. */
static int check_cut(uint64_t seed)
{
    static struct side in, out;
    static uint8_t frames[ROOM];
    struct rng rng = {seed};
    const uint32_t period = 1 + rng_below(&rng, 20);
    const struct ct_framer_options options = {
        .size = sizeof(options), .framing = CT_FRAMING_FRAMES, .id_period = period};
    memset(&in, 0, sizeof(in));
    for (in.size[1] = 0; in.size[1] < BYTES; in.size[1]++)
        in.bytes[1][in.size[1]] = (uint8_t)rng_next(&rng);
    const size_t size = frame(&rng, &options, &in, frames);
    const uint32_t cut = rng_below(&rng, (uint32_t)(size / 16 - period));
    const size_t named = (cut + period - 1) / period * period;
    if (!unframe(&rng, options.framing, size, frames + 16 * (size_t)cut, size - 16 * (size_t)cut, &out))
        return 0;
    if (out.size[1] + 15 * named - named / period < BYTES)
        printf("# ID every %u, %u frames cut off: %zu bytes came out\n", period, cut, out.size[1]);
    return out.size[1] + 15 * named - named / period >= BYTES &&
           !memcmp(out.bytes[1], in.bytes[1] + BYTES - out.size[1], out.size[1]);
}

int main(void)
{
    const struct seeds seeds = seeds_begin(2, 2000000, 200000000);
    int ok = seeds_hold(seeds, BYTES, check, 1, "demux(frame(bytes)) == bytes, cut anywhere");
    ok &= seeds_hold(seeds, BYTES, check_cut, 2,
                     "behind a cut, bytes have their ID from the next frame on that names it");
    return ok ? 0 : 1;
}
