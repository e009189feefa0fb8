/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that encoded packets decode to the same packets and bytes, however they are cut. CT_SEED sets the
 * first seed, CT_COUNT the number of packets, CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/etm4_gen.h"

enum {
    STREAM = 400,
    ROOM = STREAM * CT_ETM4_PACKET_MAX
};

struct stream {
    struct ct_source source;
    struct ct_etm4_packet packets[STREAM];
    uint8_t bytes[ROOM];
    unsigned count;
    size_t size;
};

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

static int fill(struct rng *rng, struct stream *s)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_etm4_encoder *encoder;
    struct gen gen;
    int ok = 1;
    gen_source(rng, GEN_ANY, &s->source);
    gen_init(&gen, rng, &s->source);
    s->count = 0;
    s->size = 0;
    if (ct_etm4_encoder_new(ctx, &s->source, &encoder))
        return 0;
    unsigned prologue = CT_ETM4_ASYNC;
    while (s->count < STREAM && ok) {
        struct ct_etm4_packet *p = &s->packets[s->count];
        size_t len;
        unsigned type = s->count == 0   ? prologue
                        : s->count == 1 ? CT_ETM4_TRACE_INFO
                                        : rng_below(rng, CT_ETM4_TYPE_COUNT);
        if (!gen_packet(&gen, type, p))
            continue;
        if (ct_etm4_encode_packet(encoder, p, s->bytes + s->size, ROOM - s->size, &len)) {
            printf("# packet %u was refused: %s\n", s->count, ct_ctx_error(ctx));
            ok = 0;
        }
        s->size += len;
        s->count++;
    }
    ct_etm4_encoder_free(encoder);
    ct_ctx_free(ctx);
    return ok;
}

/* Decodes the stream in pieces of random size, or at once if `cuts` is NULL, and compares. */
static int check_decode(struct stream *s, struct rng *cuts)
{
    struct ct_etm4_decoder *decoder;
    struct ct_etm4_packet got[STREAM + 1];
    size_t count = 0, at = 0, shown = 0;
    if (ct_etm4_decoder_new(NULL, &s->source, &decoder))
        return 0;
    while (at < s->size && count < STREAM) {
        shown = cuts && shown < s->size ? shown + rng_below(cuts, 24) : s->size;
        if (shown > s->size)
            shown = s->size;
        size_t n = 0;
        if (shown > at)
            at += ct_etm4_decode(decoder, s->bytes + at, shown - at, at, shown == s->size, got + count,
                                 STREAM + 1 - count, &n);
        count += n;
    }
    ct_etm4_decoder_free(decoder);
    if (count != s->count || at != s->size) {
        printf("# %u packets in %zu bytes went in, %zu in %zu came out\n", s->count, s->size, count, at);
    }
    for (unsigned i = 0; i < s->count && i < count; i++) {
        struct ct_etm4_packet want = essence(s->packets[i]), have = essence(got[i]);
        if (memcmp(&want, &have, sizeof(want))) {
            printf("# packet %u: type %u became %u, value %" PRIx64 "/%" PRIx64
                   " count %u/%u,%u/%u flags %x/%x\n",
                   i, want.type, have.type, want.value, have.value, want.count, have.count, want.count2,
                   have.count2, want.flags, have.flags);
            return 0;
        }
    }
    return count == s->count && at == s->size;
}

/* Checks that packets decoded from bytes encode to those bytes. */
static int check_bytes(struct stream *s)
{
    struct ct_etm4_decoder *decoder;
    struct ct_etm4_encoder *encoder;
    struct ct_etm4_packet got[STREAM];
    size_t count, len, at = 0;
    int ok = 1;
    if (ct_etm4_decoder_new(NULL, &s->source, &decoder) || ct_etm4_encoder_new(NULL, &s->source, &encoder))
        return 0;
    ct_etm4_decode(decoder, s->bytes, s->size, 0, 1, got, STREAM, &count);
    for (size_t i = 0; i < count && ok; i++) {
        uint8_t again[CT_ETM4_PACKET_MAX];
        ok = !ct_etm4_encode_packet(encoder, &got[i], again, sizeof(again), &len) && len == got[i].size &&
             !memcmp(again, s->bytes + at, len);
        if (!ok)
            printf("# packet %zu, type %u: other bytes than before\n", i, got[i].type);
        at += len;
    }
    ct_etm4_decoder_free(decoder);
    ct_etm4_encoder_free(encoder);
    return ok && at == s->size;
}

/* Checks one property over all streams and prints one result, with the seed of the first failure. */
static int run(const char *name, int number, uint64_t seed, uint64_t packets, int which)
{
    static struct stream s;
    for (uint64_t done = 0; done < packets; done += STREAM, seed++) {
        struct rng rng = {seed}, cuts = {seed};
        int ok = fill(&rng, &s);
        if (ok)
            ok = which == 0 ? check_decode(&s, NULL) : which == 1 ? check_decode(&s, &cuts) : check_bytes(&s);
        if (!ok) {
            printf("not ok %d - %s # CT_SEED=%" PRIu64 " CT_COUNT=1\n", number, name, seed);
            return 0;
        }
    }
    printf("ok %d - %s\n", number, name);
    return 1;
}

int main(void)
{
    uint64_t seed = test_number("CT_SEED", 1);
    uint64_t packets = test_count(200000, 20000000);
    printf("TAP version 13\n1..3\n# CT_SEED=%" PRIu64 " CT_COUNT=%" PRIu64 "\n", seed, packets);
    int ok = run("decode(encode(packets)) == packets", 1, seed, packets, 0);
    ok &= run("cutting the bytes anywhere changes nothing", 2, seed, packets, 1);
    ok &= run("encode(decode(bytes)) == bytes", 3, seed, packets, 2);
    return ok ? 0 : 1;
}
