/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a packet of a System Trace Macrocell to 4-bit units, the low half of a byte first. Encodings: MIPI
 * System Trace Protocol version 2. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/require.h"
#include "coretap/encode.h"
#include "proto/stm_header.h"

#define ASYNC_ONES 21 /* units f in an alignment packet, before a unit 0 */

/* The state that a decoder keeps between packets. */
struct state {
    uint64_t timestamp;
    uint8_t version; /* enum ct_stm_version; 0: no version packet yet */
    bool half;       /* the low half of the next byte is held */
    uint8_t low;     /* the low half of the next byte */
};

struct ct_stm_encoder {
    struct ct_ctx *ctx;
    struct state now;
};

/* A packet that is being made. Nothing is output before all of it is valid. */
struct draft {
    const struct ct_stm_packet *packet;
    struct state next;
    uint8_t bytes[CT_STM_PACKET_MAX];
    size_t size;
};

int ct_stm_encoder_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_stm_encoder **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
    if (source->protocol != CT_PROTOCOL_STM)
        return ct_fail(ctx, CT_ERR_ARG,
                       "source %s: it is not an STM; no encoder was made; use the encoder of its protocol",
                       source->name);
    struct ct_stm_encoder *e = calloc(1, sizeof *e);
    if (!e)
        return ct_fail_nomem(ctx, "STM packet encoder");
    e->ctx = ctx;
    *out = e;
    return CT_OK;
}

void ct_stm_encoder_free(struct ct_stm_encoder *e)
{
    free(e);
}

static void put(struct draft *d, unsigned unit)
{
    if (d->next.half)
        d->bytes[d->size++] = (uint8_t)(d->next.low | unit << 4);
    else
        d->next.low = (uint8_t)unit;
    d->next.half = !d->next.half;
}

static void put_number(struct draft *d, uint64_t value, unsigned units)
{
    while (units--)
        put(d, value >> 4 * units & 15);
}

static bool announces(const struct ct_stm_header *header, const struct ct_stm_packet *p)
{
    return header->type == p->type && header->flags == (p->flags & (CT_STM_HAS_TS | CT_STM_MARKER));
}

/* Writes the header of the packet. NULL: there is none. */
static const struct ct_stm_header *put_header(struct draft *d)
{
    const struct ct_stm_header *const tables[] = {ct_stm_headers_1, ct_stm_headers_2, ct_stm_headers_3};
    static const uint8_t before[] = {0xf, 0x0};
    for (unsigned row = 0; row < 3; row++)
        for (unsigned unit = 0; unit < 16; unit++) {
            if (!announces(&tables[row][unit], d->packet))
                continue;
            for (unsigned i = 0; i < row; i++)
                put(d, before[i]);
            put(d, unit);
            return &tables[row][unit];
        }
    return NULL;
}

static uint64_t to_gray(uint64_t value)
{
    return value ^ value >> 1;
}

/* Writes a timestamp: a unit with its length, then as many units, up to the highest one that changed. There
 * are no lengths 13 and 15; codes 13 and 14 mean 14 and 16. */
static void put_timestamp(struct draft *d)
{
    const uint64_t before = d->next.timestamp;
    const bool gray = d->next.version == CT_STM_VERSION_GRAY, delta = d->next.version == CT_STM_VERSION_DELTA;
    const uint64_t value = gray ? to_gray(d->packet->ts) : delta ? d->packet->ts - before : d->packet->ts;
    const uint64_t differs = delta ? value : value ^ (gray ? to_gray(before) : before);
    unsigned units = 0;
    while (units < 16 && differs >> 4 * units)
        units++;
    units += units == 13 || units == 15;
    put(d, units == 16 ? 14 : units == 14 ? 13 : units);
    put_number(d, value, units);
    d->next.timestamp = d->packet->ts;
}

/* Builds the packet. Returns why it is impossible, or NULL. */
static const char *make(struct draft *d)
{
    const struct ct_stm_packet *p = d->packet;
    if (p->type == CT_STM_ASYNC) {
        put_number(d, UINT64_MAX, 16);
        put_number(d, UINT64_MAX, ASYNC_ONES - 16);
        put(d, 0);
        return NULL;
    }
    if (p->type == CT_STM_RESERVED) {
        put_number(d, 0xf0c, 3); /* an undefined header */
        return NULL;
    }
    const struct ct_stm_header *header = p->type > CT_STM_RESERVED ? put_header(d) : NULL;
    if (!header)
        return "there is no packet of this type with these flags";
    const unsigned units = p->type == CT_STM_USER ? p->units : header->units;
    if (units > 16 || (p->type == CT_STM_USER && !units) || (units < 16 && p->value >> 4 * units))
        return "the payload does not fit in its units";
    if (p->flags & CT_STM_HAS_TS && !d->next.version)
        return "there was no version packet, which says how timestamps are coded";
    if (p->type == CT_STM_VERSION && (p->value < CT_STM_VERSION_DELTA || p->value > CT_STM_VERSION_GRAY))
        return "there is no such version";
    if (p->type == CT_STM_VERSION)
        d->next.version = (uint8_t)p->value;
    if (p->type == CT_STM_USER)
        put(d, units - 1);
    put_number(d, p->value, units);
    if (p->flags & CT_STM_HAS_TS)
        put_timestamp(d);
    return NULL;
}

int ct_stm_encode_packet(struct ct_stm_encoder *e, const struct ct_stm_packet *packet, uint8_t *out,
                         size_t cap, size_t *len)
{
    CT_REQUIRE_OF(e, packet, out, len);
    struct draft draft = {.packet = packet, .next = e->now};
    *len = 0;
    const char *why = make(&draft);
    if (why)
        return ct_fail(e->ctx, CT_ERR_ARG,
                       "STM packet of type %u: %s; it was not encoded; correct the packet", packet->type,
                       why);
    if (draft.size > cap)
        return ct_fail(
            e->ctx, CT_ERR_LIMIT,
            "STM packet of %zu bytes: there is room for %zu; it was not encoded; give it more room",
            draft.size, cap);
    memcpy(out, draft.bytes, draft.size);
    *len = draft.size;
    e->now = draft.next;
    return CT_OK;
}

int ct_stm_encoder_holds(const struct ct_stm_encoder *e)
{
    return e && e->now.half;
}
