/* SPDX-License-Identifier: Apache-2.0 */
/* The packet decoder of STPv2: from 4-bit units, the low half of a byte first, to packets. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/require.h"
#include "proto/stm_header.h"
#include "proto/unsynced.h"

/* An alignment packet has 21 units f and one unit 0. */
#define ASYNC_ONES  21
#define ASYNC_UNITS (ASYNC_ONES + 1)
#define ASYNC_BYTES ((ASYNC_UNITS + 1) / 2)

/* An endless row of units f is cut into bad packets of ROW_MOST; ROW_KEPT units, more than an alignment
 * packet needs, are read again. */
#define ROW_MOST 120
#define ROW_KEPT 24

struct ct_stm_decoder {
    uint64_t timestamp;
    uint16_t master;
    uint16_t channel;
    uint8_t version; /* enum ct_stm_version; 0: no version packet yet, and timestamps cannot be read */
    uint8_t ones;    /* units f at the end of the consumed ones, at most ASYNC_ONES */
    bool half;       /* the low half of the next byte was consumed */
    bool synced;
    bool arm; /* what an Arm STM does not send is reserved */
    ct_stm_from_gray_fn *from_gray;
    /* A run of bytes without synchronisation that is not a packet yet. */
    struct ct_unsynced run;
};

/* A reader of units from `at` up to, not including, `end`, counted from the low half of data[0]. A read
 * beyond the end sets `cut` and returns 0. */
struct cursor {
    const uint8_t *data;
    size_t begin; /* start of the new units in this call */
    size_t at;
    size_t end;
    bool cut;
};

static uint64_t to_gray(uint64_t binary)
{
    return binary ^ binary >> 1;
}

static uint64_t from_gray(uint64_t gray)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        gray ^= gray >> shift;
    return gray;
}

int ct_stm_decoder_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_stm_decoder **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
    if (source->protocol != CT_PROTOCOL_STM)
        return ct_fail(ctx, CT_ERR_ARG,
                       "source %s: the source is not an STM; use the decoder of its protocol", source->name);
    struct ct_stm_decoder *d = calloc(1, sizeof *d);
    if (!d)
        return ct_fail_nomem(ctx, "STM packet decoder");
    d->from_gray = from_gray;
    *out = d;
    return CT_OK;
}

void ct_stm_decoder_free(struct ct_stm_decoder *d)
{
    free(d);
}

void ct_stm_decoder_reset(struct ct_stm_decoder *d)
{
    if (!d)
        return;
    *d = (struct ct_stm_decoder){.arm = d->arm, .from_gray = d->from_gray};
}

void ct_stm_decoder_be_arm(struct ct_stm_decoder *d, ct_stm_from_gray_fn *from_gray_fn)
{
    d->arm = true;
    d->from_gray = from_gray_fn;
}

static unsigned read_unit(struct cursor *c)
{
    if (c->at == c->end) {
        c->cut = true;
        return 0;
    }
    unsigned byte = c->data[c->at / 2];
    return c->at++ & 1 ? byte >> 4 : byte & 15;
}

/* Reads a number of 0 to 16 units, highest first. */
static uint64_t read_number(struct cursor *c, unsigned count)
{
    static const uint64_t low_halves = UINT64_C(0x0f0f0f0f0f0f0f0f);
    uint8_t tail[9] = {0};
    const uint8_t *p = c->data + c->at / 2;
    size_t left = c->end / 2 - c->at / 2;
    if (!count)
        return 0;
    if (c->end - c->at < count) {
        c->at = c->end;
        c->cut = true;
        return 0;
    }
    if (left < sizeof tail) {
        memcpy(tail, p, left);
        p = tail;
    }
    uint64_t lowest_first = ct_load64(p);
    if (c->at & 1)
        lowest_first = lowest_first >> 4 | (uint64_t)p[8] << 60;
    uint64_t bytes = __builtin_bswap64(lowest_first);
    uint64_t highest_first = (bytes & low_halves) << 4 | (bytes >> 4 & low_halves);
    c->at += count;
    return highest_first >> (64 - 4 * count);
}

/* Counts the consecutive units f directly before unit `at`, up to ASYNC_ONES. */
static unsigned ones_before(const struct ct_stm_decoder *d, const struct cursor *c, size_t at)
{
    unsigned ones = 0;
    while (ones < ASYNC_ONES && at > c->begin) {
        at--;
        unsigned byte = c->data[at / 2];
        if ((at & 1 ? byte >> 4 : byte & 15) != 15)
            return ones;
        ones++;
    }
    ones += d->ones;
    return ones < ASYNC_ONES ? ones : ASYNC_ONES;
}

static void set_bad(struct ct_stm_packet *packet)
{
    packet->err = packet->type;
    packet->type = CT_STM_BAD_SEQUENCE;
}

/* Reads a timestamp (STPv2, timestamps): a unit with its length, then as many units. Lengths 13 and 14 mean
 * 14 and 16 units; 15 is undefined. Returns false when it is damaged. */
static bool read_timestamp(struct ct_stm_decoder *d, struct cursor *c, struct ct_stm_packet *packet)
{
    unsigned length = read_unit(c);
    if (length == 15)
        return false;
    unsigned units = length < 13 ? length : 2 * length - 12;
    uint64_t mask = ct_mask64(4 * units);
    uint64_t low = read_number(c, units);
    if (c->cut)
        return true;
    const uint64_t high = d->timestamp & ~mask;
    switch (d->version) {
    case CT_STM_VERSION_DELTA:
        d->timestamp += low;
        break;
    case CT_STM_VERSION_NATURAL:
        d->timestamp = high | low;
        break;
    case CT_STM_VERSION_GRAY:
        d->timestamp = high | (d->from_gray((to_gray(d->timestamp) & ~mask) | low) & mask);
        break;
    default:
        return false;
    }
    packet->ts = d->timestamp;
    packet->flags |= CT_STM_HAS_TS;
    return true;
}

/* Updates the state of the decoder with a complete packet. */
static void apply(struct ct_stm_decoder *d, const struct ct_stm_packet *packet)
{
    switch (packet->type) {
    case CT_STM_VERSION:
        d->version = (uint8_t)packet->value;
        d->master = d->channel = 0;
        break;
    case CT_STM_GERR:
        d->master = d->channel = 0;
        break;
    case CT_STM_MERR:
        d->channel = 0;
        break;
    case CT_STM_M8:
        d->master = (uint16_t)((d->master & 0xff00) | packet->value);
        d->channel = 0;
        break;
    case CT_STM_M16:
        d->master = (uint16_t)packet->value;
        d->channel = 0;
        break;
    case CT_STM_C8:
        d->channel = (uint16_t)((d->channel & 0xff00) | packet->value);
        break;
    case CT_STM_C16:
        d->channel = (uint16_t)packet->value;
        break;
    default:
        break;
    }
}

/* Reads an alignment packet after two units f; it may have more than it needs. Only alignment packets have 21
 * in a row, so after lost trace, units that seemed to belong to the packet before also count. */
static void read_async(const struct ct_stm_decoder *d, struct cursor *c, struct ct_stm_packet *packet)
{
    unsigned swallowed = ones_before(d, c, c->at - 2);
    unsigned ones = 2;
    unsigned unit;
    while ((unit = read_unit(c)) == 15)
        if (++ones == ROW_MOST) {
            c->at -= ROW_KEPT;
            set_bad(packet);
            return;
        }
    if (!c->cut && (unit != 0 || ones + swallowed < ASYNC_ONES))
        set_bad(packet);
}

static bool is_foreign(const struct ct_stm_header *header)
{
    return header->type == CT_STM_M16 || header->type == CT_STM_USER || header->type == CT_STM_XSYNC ||
           (header->type == CT_STM_FREQ && header->flags & CT_STM_HAS_TS);
}

static const struct ct_stm_header *read_header(const struct ct_stm_decoder *d, struct cursor *c)
{
    static const struct ct_stm_header none = {.type = CT_STM_RESERVED};
    const struct ct_stm_header *header = &ct_stm_headers_1[read_unit(c)];
    if (header->type == CT_STM_NOT_SYNC)
        header = &ct_stm_headers_2[read_unit(c)];
    if (header->type == CT_STM_NOT_SYNC)
        header = &ct_stm_headers_3[read_unit(c)];
    return c->cut || (d->arm && is_foreign(header)) ? &none : header;
}

/* Decodes the packet at c->at into *packet, whose pos and CT_STM_HALF are set. On `cut` the decoder does not
 * change. */
static void decode_one(struct ct_stm_decoder *d, struct cursor *c, struct ct_stm_packet *packet)
{
    const unsigned oldest = d->arm ? CT_STM_VERSION_NATURAL : CT_STM_VERSION_DELTA;
    const struct ct_stm_header *header = read_header(d, c);
    packet->type = header->type;
    packet->flags |= header->flags & CT_STM_MARKER;
    packet->units = header->units;
    if (header->type == CT_STM_ASYNC)
        read_async(d, c, packet);
    else
        packet->value = read_number(c, header->units);
    if (header->type == CT_STM_USER && !c->cut) {
        packet->units = (uint8_t)(packet->value + 1);
        packet->value = read_number(c, packet->units);
    }
    bool sound = !(header->flags & CT_STM_HAS_TS) || c->cut || read_timestamp(d, c, packet);
    if (header->type == CT_STM_VERSION && (packet->value < oldest || packet->value > CT_STM_VERSION_GRAY))
        sound = false;
    if (!c->cut && !sound)
        set_bad(packet);
}

/* Searches bytes without synchronisation for the alignment packet. Returns the number of whole bytes in the
 * run; the packet begins after them, in the high half of a byte when d->half is set. Units f at the end are
 * held back, because an alignment packet may begin with them. */
static size_t unsynced_bytes(struct ct_stm_decoder *d, const uint8_t *data, size_t size, int final)
{
    size_t ones = 0; /* units f up to here */
    for (size_t i = 0; i < size; i++) {
        if (data[i] == 0xff) {
            ones += 2;
            continue;
        }
        for (unsigned half = 0; half < 2; half++) {
            unsigned unit = half ? data[i] >> 4 : data[i] & 15;
            if (unit == 0 && ones >= ASYNC_ONES) {
                size_t begin = 2 * i + half - ASYNC_ONES;
                d->synced = true;
                d->half = begin & 1;
                return begin / 2;
            }
            ones = unit == 15 ? ones + 1 : 0;
        }
    }
    if (final)
        return size;
    size_t held = (ones + 1) / 2;
    return size - (held < ASYNC_BYTES ? held : ASYNC_BYTES);
}

/* Adds `bytes` at `pos` to the run without synchronisation, and makes a packet of the run when it has ended.
 * Returns the number of packets, 0 or 1. */
static size_t tell_run(struct ct_stm_decoder *d, size_t bytes, uint64_t pos, int over,
                       struct ct_stm_packet *packet)
{
    if (!ct_unsynced_add(&d->run, bytes, pos, over))
        return 0;
    *packet =
        (struct ct_stm_packet){.pos = d->run.pos, .type = CT_STM_NOT_SYNC, .value = ct_unsynced_end(&d->run)};
    return 1;
}

/* Clears the fields of an impossible packet, or of one that the end of the trace cuts. Its intended type is
 * kept. */
static void strip(struct ct_stm_packet *packet, bool cut)
{
    if (cut) {
        packet->err = packet->type;
        packet->type = CT_STM_INCOMPLETE_EOT;
    }
    if (packet->type != CT_STM_INCOMPLETE_EOT && packet->type != CT_STM_BAD_SEQUENCE)
        return;
    packet->value = packet->ts = 0;
    packet->units = 0;
    packet->flags &= CT_STM_HALF;
}

size_t ct_stm_decode(struct ct_stm_decoder *d, const uint8_t *data, size_t size, uint64_t pos, int final,
                     struct ct_stm_packet *packets, size_t cap, size_t *count)
{
    if (ct_no_batch(d, data, size, packets, cap, count))
        return 0;
    size_t n = 0;
    size_t skipped = 0;
    if (!d->synced && cap) {
        skipped = unsynced_bytes(d, data, size, final);
        n += tell_run(d, skipped, pos, d->synced || final, packets);
    }
    if (!d->synced) {
        *count = n;
        return skipped;
    }
    struct cursor c = {.data = data, .at = 2 * skipped + d->half, .end = 2 * size};
    c.begin = c.at;
    while (n < cap && c.at < c.end) {
        struct ct_stm_packet *packet = &packets[n];
        size_t begin = c.at;
        *packet = (struct ct_stm_packet){.pos = pos + begin / 2, .flags = begin & 1 ? CT_STM_HALF : 0};
        decode_one(d, &c, packet);
        if (c.cut && !final) {
            c.at = begin;
            break;
        }
        strip(packet, c.cut);
        apply(d, packet);
        packet->master = d->master;
        packet->channel = d->channel;
        packet->size = (uint8_t)((c.at + 1) / 2 - begin / 2);
        n++;
    }
    d->ones = (uint8_t)ones_before(d, &c, c.at);
    d->half = c.at & 1;
    *count = n;
    return c.at / 2;
}
