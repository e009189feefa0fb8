/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the byte-wise decoding function gives the packets of the packet decoder, with every unroll
 * factor and however its input is cut: for all packets, sound and damaged. CT_SEED sets the first seed,
 * CT_COUNT the number of packets, CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/damage.h"
#include "support/etm4_gen.h"
#include "bytewise/etm4_bytewise.h"
#include "support/seeds.h"

enum {
    STREAM = 400,
    ROOM = STREAM * 48,
    PACKETS = ROOM + 64
};

/* Writes packets of all types in random order. Returns the number of bytes. */
static size_t fill(struct rng *rng, const struct ct_source *source, uint8_t *bytes)
{
    struct ct_etm4_encoder *encoder;
    struct ct_etm4_packet packets[4];
    struct gen gen;
    size_t size = rng_chance(rng, 60) ? rng_below(rng, 40) : 0, len;
    for (size_t i = 0; i < size; i++) /* bytes before the first alignment packet */
        bytes[i] = rng_chance(rng, 128) ? 0 : (uint8_t)rng_next(rng);
    if (ct_etm4_encoder_new(NULL, source, &encoder))
        return 0;
    gen_init(&gen, rng, source);
    for (unsigned count = 0; count < STREAM; count++) {
        unsigned n = !count ? gen_prologue(&gen, packets)
                     : rng_chance(rng, 128)
                         ? gen_sensible(&gen, packets)
                         : gen_packet(&gen, rng_below(rng, CT_ETM4_TYPE_COUNT), packets) != 0;
        for (unsigned i = 0; i < n; i++)
            if (!ct_etm4_encode_packet(encoder, &packets[i], bytes + size, ROOM - size, &len))
                size += len;
    }
    ct_etm4_encoder_free(encoder);
    if (rng_chance(rng, 128))
        size = damage(rng, bytes, size, ROOM);
    if (size > 200 && rng_chance(rng, 20)) /* a field without an end */
        memset(bytes + rng_below(rng, (uint32_t)size - 150), 0xff, 100 + rng_below(rng, 50));
    return size;
}

static size_t plain(const struct ct_source *source, const uint8_t *bytes, size_t size,
                    struct ct_etm4_packet *out)
{
    struct ct_etm4_decoder *decoder;
    size_t count = 0;
    if (!ct_etm4_decoder_new(NULL, source, &decoder))
        ct_etm4_decode(decoder, bytes, size, 0, 1, out, PACKETS, &count);
    ct_etm4_decoder_free(decoder);
    return count;
}

/* Decodes byte-wise. With `cuts` NULL the bytes come at once. */
static size_t bytewise(const struct ct_source *source, unsigned unroll, struct rng *cuts,
                       const uint8_t *bytes, size_t size, struct ct_etm4_packet *out)
{
    static struct ct_etm4_bytewise b;
    size_t n = 0, count;
    if (ct_etm4_bytewise_init(NULL, source, &b))
        return 0;
    for (size_t at = 0, shown = 0; at < size;) {
        if (shown == at)
            shown += cuts ? 1 + rng_below(cuts, 30) : size;
        shown = shown < size ? shown : size;
        size_t cap = cuts ? 2 * CT_ETM4_UNROLL_MAX + rng_below(cuts, 5) : PACKETS - n;
        at += ct_etm4_bytewise_run(&b, unroll, bytes + at, shown - at, at, out + n, cap, &count);
        n += count;
    }
    return n + ct_etm4_bytewise_finish(&b, out + n);
}

static int check(uint64_t seed)
{
    static uint8_t bytes[ROOM + 64];
    static struct ct_etm4_packet want[PACKETS], got[PACKETS];
    struct rng rng = {seed};
    struct ct_source source;
    gen_source(&rng, GEN_ANY, &source);
    size_t size = fill(&rng, &source, bytes);
    size_t count = plain(&source, bytes, size, want);
    for (unsigned unroll = 1; unroll <= CT_ETM4_UNROLL_MAX; unroll++) {
        size_t n = bytewise(&source, unroll, rng_chance(&rng, 128) ? &rng : NULL, bytes, size, got);
        for (size_t i = 0; i < count || i < n; i++)
            if (i >= count || i >= n || memcmp(&want[i], &got[i], sizeof want[i])) {
                printf("# D_%u, packet %zu of %zu and %zu: type %u at %" PRIu64 " and %u at %" PRIu64 "\n",
                       unroll, i, count, n, want[i].type, want[i].pos, got[i].type, got[i].pos);
                return 0;
            }
    }
    return 1;
}

int main(void)
{
    const struct seeds seeds = seeds_begin(1, 400000, 20000000);
    const int ok =
        seeds_hold(seeds, STREAM, check, 1, "packets byte by byte are those of the packet decoder");
    return ok ? 0 : 1;
}
