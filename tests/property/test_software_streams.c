/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that encoded packets decode to the same packets, and that neither packets nor elements depend on how
 * the trace is cut: for sound streams, damaged ones and random bytes. CT_SEED sets the first seed, CT_COUNT
 * the number of streams, CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "support/damage.h"
#include "support/itm_gen.h"
#include "support/pieces.h"
#include "support/stm_gen.h"
#include "coretap/encode.h"

enum {
    PACKETS = 300,
    BYTES = PACKETS * 112 + 1024,
    ROOM = 2 * BYTES + 64, /* a packet has at least half a byte */
    ELEMS = 3 * ROOM + 64,
};

struct stream {
    struct ct_source source;
    const struct ct_protocol_ops *ops;
    uint8_t bytes[BYTES];
    size_t size;
    uint8_t *packets; /* packets as encoded */
    size_t count;
    bool brief; /* STM: timestamps have no more units than they need */
};

static void *room_for(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (!p)
        abort();
    return p;
}

/* Writes bytes without synchronisation before the trace and returns how many. */
static size_t put_prefix(struct rng *rng, struct stream *s)
{
    size_t size = rng_chance(rng, 64) ? 1 + rng_below(rng, 60) : 0;
    for (size_t i = 0; i < size; i++)
        s->bytes[i] = (uint8_t)rng_next(rng);
    if (size)
        s->bytes[size - 1] = 0x11; /* neither a zero nor units f, which might extend what follows */
    return size;
}

static void fill_stm(struct rng *rng, struct stream *s)
{
    struct ct_stm_packet *p = (void *)s->packets;
    size_t prefix = put_prefix(rng, s);
    struct stm_writer w = {.bytes = s->bytes, .units = 2 * prefix};
    size_t n = 0;
    s->brief = rng_chance(rng, 128);
    if (prefix)
        p[n++] = (struct ct_stm_packet){.type = CT_STM_NOT_SYNC, .value = prefix};
    p[n] = (struct ct_stm_packet){.type = CT_STM_ASYNC};
    stm_put_packet(&w, &p[n++], 0);
    p[n] = (struct ct_stm_packet){.type = CT_STM_VERSION, .value = CT_STM_VERSION_DELTA + rng_below(rng, 3)};
    stm_put_packet(&w, &p[n++], 0);
    while (n < PACKETS || w.units & 1) {
        p[n] = w.units & 1 && n >= PACKETS ? (struct ct_stm_packet){.type = CT_STM_NULL}
                                           : stm_gen_packet(rng, &w, STM_GEN_ALL);
        stm_put_packet(&w, &p[n++], !s->brief && rng_chance(rng, 64) ? rng_below(rng, 16) : 0);
    }
    s->count = n;
    s->size = w.units / 2;
}

/* Encodes the decoded packets and returns whether the bytes are the same. */
static int is_encoded_alike(const struct stream *s)
{
    static uint8_t bytes[BYTES];
    const struct ct_stm_packet *p = (const void *)s->packets;
    struct ct_stm_encoder *encoder;
    const size_t prefix = p[0].type == CT_STM_NOT_SYNC ? p[0].value : 0;
    size_t size = prefix, len;
    int ok = ct_stm_encoder_new(NULL, &s->source, &encoder) == CT_OK;
    for (size_t i = prefix > 0; ok && i < s->count; i++, size += len)
        ok = ct_stm_encode_packet(encoder, &p[i], bytes + size, sizeof bytes - size, &len) == CT_OK;
    ct_stm_encoder_free(encoder);
    return ok && size == s->size && !memcmp(bytes + prefix, s->bytes + prefix, size - prefix);
}

static void fill_itm(struct rng *rng, struct stream *s)
{
    struct ct_itm_packet *p = (void *)s->packets;
    size_t n = 0;
    s->source.without_sync = rng_chance(rng, 64);
    size_t at = s->source.without_sync ? 0 : put_prefix(rng, s);
    if (at)
        p[n++] = (struct ct_itm_packet){.type = CT_ITM_NOT_SYNC, .value = at};
    if (!s->source.without_sync) {
        p[n] = (struct ct_itm_packet){.type = CT_ITM_ASYNC};
        at += itm_put_packet(s->bytes, at, &p[n++], 6);
    }
    while (n < PACKETS) {
        unsigned length;
        p[n] = itm_gen_packet(rng, &length);
        at += itm_put_packet(s->bytes, at, &p[n++], length);
    }
    s->source.regs.itmtcr = rng_below(rng, 4) << 8 | rng_below(rng, 2) << 4;
    s->count = n;
    s->size = at;
}

/* Inserts long runs, cut off, of the unit or byte that alignment packets consist of, and random bytes. */
static void spoil(struct rng *rng, struct stream *s)
{
    if (rng_chance(rng, 64)) {
        size_t n = rng_below(rng, 900);
        size_t at = rng_below(rng, (uint32_t)s->size);
        n = at + n < s->size ? n : s->size - at;
        memset(s->bytes + at, rng_chance(rng, 128) ? 0 : 0xff, n);
    }
    if (rng_chance(rng, 32))
        for (size_t i = 20; i < s->size; i++)
            s->bytes[i] = (uint8_t)rng_next(rng);
    else
        s->size = damage(rng, s->bytes, s->size, BYTES);
}

static int same(const char *what, const void *a, size_t count_a, const void *b, size_t count_b, size_t size)
{
    size_t least = count_a < count_b ? count_a : count_b;
    for (size_t i = 0; i < least; i++) {
        const uint8_t *x = (const uint8_t *)a + i * size, *y = (const uint8_t *)b + i * size;
        if (!memcmp(x, y, size))
            continue;
        printf("# %s %zu differs:", what, i);
        for (size_t k = 0; k < 2 * size; k++)
            printf("%s%02x", k == size ? " / " : k % 8 ? "" : " ", k < size ? x[k] : y[k - size]);
        printf("\n");
        return 0;
    }
    if (count_a != count_b)
        printf("# %zu %s in place of %zu\n", count_b, what, count_a);
    return count_a == count_b;
}

static int check_cuts(struct rng *rng, const struct stream *s, const uint8_t *whole, size_t count)
{
    const struct ct_protocol_ops *ops = s->ops;
    uint8_t *cut = room_for(ROOM, ops->packet_size);
    struct ct_elem *elems = room_for(ELEMS, sizeof *elems);
    struct ct_elem *cut_elems = room_for(ELEMS, sizeof *elems);
    size_t elem_count = pieces_resolve(ops, &s->source, whole, count, NULL, elems, ELEMS);
    int ok = 1;
    for (int times = 0; times < 3 && ok; times++) {
        size_t n = pieces_decode(ops, &s->source, s->bytes, s->size, rng, cut, ROOM);
        ok = same("packets of a cut stream", whole, count, cut, n, ops->packet_size);
        n = pieces_resolve(ops, &s->source, whole, count, rng, cut_elems, ELEMS);
        ok = ok && same("elements of a cut stream", elems, elem_count, cut_elems, n, sizeof *elems);
    }
    free(cut);
    free(elems);
    free(cut_elems);
    return ok;
}

static int check(struct rng *rng, struct stream *s, int spoilt)
{
    uint8_t *got = room_for(ROOM, s->ops->packet_size);
    size_t count = pieces_decode(s->ops, &s->source, s->bytes, s->size, NULL, got, ROOM);
    int ok = spoilt || same("packets", s->packets, s->count, got, count, s->ops->packet_size);
    ok = ok && check_cuts(rng, s, got, count);
    free(got);
    return ok;
}

static int run(enum ct_protocol protocol, uint64_t seed, uint64_t streams)
{
    static struct stream s;
    int ok = 1;
    uint64_t packets = 0;
    for (uint64_t i = 0; i < streams && ok; i++) {
        struct rng rng = {seed + i};
        memset(&s, 0, sizeof s);
        s.source = (struct ct_source){.name = "random", .protocol = (uint8_t)protocol};
        s.ops = ct_protocol_ops(protocol);
        s.packets = room_for(PACKETS + 2, s.ops->packet_size);
        if (protocol == CT_PROTOCOL_STM)
            fill_stm(&rng, &s);
        else
            fill_itm(&rng, &s);
        packets += s.count;
        ok = check(&rng, &s, 0);
        if (ok && s.brief && !is_encoded_alike(&s)) {
            printf("# encoded again they are other bytes\n");
            ok = 0;
        }
        if (ok) {
            spoil(&rng, &s);
            ok = check(&rng, &s, 1);
        }
        free(s.packets);
        if (!ok)
            printf("# CT_SEED=%" PRIu64 " CT_COUNT=1 repeats it\n", seed + i);
    }
    printf("# %" PRIu64 " packets in %" PRIu64 " streams\n", packets, streams);
    return ok;
}

int main(void)
{
    uint64_t seed = test_number("CT_SEED", 1);
    uint64_t streams = test_count(300, 20000);
    printf("TAP version 13\n1..2\n");
    int stm = run(CT_PROTOCOL_STM, seed, streams);
    int itm = run(CT_PROTOCOL_ITM, seed, streams);
    printf("%sok 1 - STM\n%sok 2 - ITM\n", stm ? "" : "not ", itm ? "" : "not ");
    return !(stm && itm);
}
