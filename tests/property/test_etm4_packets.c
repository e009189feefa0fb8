/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that encoded packets decode to the same packets and bytes, however they are cut. CT_SEED sets the
 * first seed, CT_COUNT the number of packets, CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/etm4_gen.h"
#include "support/pieces.h"
#include "support/seeds.h"

enum {
    STREAM = 400,
    MOST = 2 * STREAM,
    ROOM = STREAM * CT_ETM4_PACKET_MAX
};

/* The stream under test. */
static struct {
    struct ct_source source;
    struct ct_etm4_packet packets[STREAM];
    uint8_t bytes[ROOM];
    unsigned count;
    size_t size;
} s;

/* Returns a packet without what the decoder adds: position, size and header. */
static struct ct_etm4_packet essence(struct ct_etm4_packet p)
{
    static const uint8_t first = CT_ETM4_COND_I_F1, last = CT_ETM4_COND_RES_F4;
    p.pos = 0;
    p.size = 0;
    p.flags &= (uint16_t)~CT_ETM4_FIRST_INFO;
    if (!(p.type >= first && p.type <= last) && p.type != CT_ETM4_NUM_DS_MKR &&
        p.type != CT_ETM4_UNNUM_DS_MKR)
        p.header = 0;
    return p;
}

/* Makes the stream of a seed. Returns whether all its packets could be encoded. */
static int fill(uint64_t seed)
{
    struct rng rng = {seed};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_etm4_encoder *encoder;
    struct gen gen;
    int ok = 1;
    gen_source(&rng, GEN_ANY, &s.source);
    gen_init(&gen, &rng, &s.source);
    s.count = 0;
    s.size = 0;
    if (ct_etm4_encoder_new(ctx, &s.source, &encoder))
        return 0;
    while (s.count < STREAM && ok) {
        struct ct_etm4_packet *p = &s.packets[s.count];
        size_t len;
        unsigned type = s.count == 0   ? CT_ETM4_ASYNC
                        : s.count == 1 ? CT_ETM4_TRACE_INFO
                                       : rng_below(&rng, CT_ETM4_TYPE_COUNT);
        if (!gen_packet(&gen, type, p))
            continue;
        if (ct_etm4_encode_packet(encoder, p, s.bytes + s.size, ROOM - s.size, &len)) {
            printf("# packet %u was refused: %s\n", s.count, ct_ctx_error(ctx));
            ok = 0;
        }
        s.size += len;
        s.count++;
    }
    ct_etm4_encoder_free(encoder);
    ct_ctx_free(ctx);
    return ok;
}

/* Decodes the stream in pieces of random size, or at once if `cuts` is NULL, and compares. */
static int check_decode(struct rng *cuts)
{
    static struct ct_etm4_packet got[MOST];
    const size_t count = pieces_decode(&ct_etm4_ops, &s.source, s.bytes, s.size, cuts, (uint8_t *)got, MOST);
    if (count != s.count)
        printf("# %u packets in %zu bytes went in, %zu came out\n", s.count, s.size, count);
    for (unsigned i = 0; i < s.count && i < count; i++) {
        struct ct_etm4_packet want = essence(s.packets[i]), have = essence(got[i]);
        if (memcmp(&want, &have, sizeof(want))) {
            printf("# packet %u: type %u became %u, value %" PRIx64 "/%" PRIx64
                   " count %u/%u,%u/%u flags %x/%x\n",
                   i, want.type, have.type, want.value, have.value, want.count, have.count, want.count2,
                   have.count2, want.flags, have.flags);
            return 0;
        }
    }
    return count == s.count;
}

static int check_whole(uint64_t seed)
{
    return fill(seed) && check_decode(NULL);
}

static int check_cut(uint64_t seed)
{
    struct rng cuts = {seed};
    return fill(seed) && check_decode(&cuts);
}

/* Checks that packets decoded from bytes encode to those bytes. */
static int check_again(uint64_t seed)
{
    struct ct_etm4_decoder *decoder;
    struct ct_etm4_encoder *encoder;
    struct ct_etm4_packet got[STREAM];
    size_t count, len, at = 0;
    int ok = fill(seed);
    if (ct_etm4_decoder_new(NULL, &s.source, &decoder) || ct_etm4_encoder_new(NULL, &s.source, &encoder))
        return 0;
    ct_etm4_decode(decoder, s.bytes, s.size, 0, 1, got, STREAM, &count);
    for (size_t i = 0; i < count && ok; i++) {
        uint8_t again[CT_ETM4_PACKET_MAX];
        ok = !ct_etm4_encode_packet(encoder, &got[i], again, sizeof(again), &len) && len == got[i].size &&
             !memcmp(again, s.bytes + at, len);
        if (!ok)
            printf("# packet %zu, type %u: other bytes than before\n", i, got[i].type);
        at += len;
    }
    ct_etm4_decoder_free(decoder);
    ct_etm4_encoder_free(encoder);
    return ok && at == s.size;
}

int main(void)
{
    const struct seeds seeds = seeds_begin(3, 200000, 20000000);
    int ok = seeds_hold(seeds, STREAM, check_whole, 1, "decode(encode(packets)) == packets");
    ok &= seeds_hold(seeds, STREAM, check_cut, 2, "cutting the bytes anywhere changes nothing");
    ok &= seeds_hold(seeds, STREAM, check_again, 3, "encode(decode(bytes)) == bytes");
    return ok ? 0 : 1;
}
