/* SPDX-License-Identifier: Apache-2.0 */
/* The packet decoder of ITM and DWT: from bytes to packets, one flat switch on the header. */
#include <stdbool.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/require.h"
#include "proto/cursor.h"
#include "proto/unsynced.h"
#include "coretap/packet_itm.h"

/* An alignment packet is at least 47 zero bits and a one: 5 bytes 00, one byte 80 (DDI 0403E D4.2.1). */
#define ASYNC_ZEROS 5

/* A longer row of zeros is cut into packets of ROW_MOST; ROW_KEPT zeros are read again as the start of the
 * next. */
#define ROW_MOST (CT_ITM_PACKET_MAX - 1)
#define ROW_KEPT 8

struct ct_itm_decoder {
    bool without_sync; /* of the source */
    bool synced;
    /* A run of bytes without synchronisation that is not a packet yet. */
    struct ct_unsynced run;
};

int ct_itm_decoder_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_itm_decoder **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
    if (source->protocol != CT_PROTOCOL_ITM)
        return ct_fail(ctx, CT_ERR_ARG,
                       "source %s: the source is not an ITM; use the decoder of its protocol", source->name);
    struct ct_itm_decoder *d = calloc(1, sizeof *d);
    if (!d)
        return ct_fail_nomem(ctx, "ITM packet decoder");
    d->without_sync = source->without_sync;
    ct_itm_decoder_reset(d);
    *out = d;
    return CT_OK;
}

void ct_itm_decoder_free(struct ct_itm_decoder *d)
{
    free(d);
}

void ct_itm_decoder_reset(struct ct_itm_decoder *d)
{
    if (!d)
        return;
    *d = (struct ct_itm_decoder){.without_sync = d->without_sync, .synced = d->without_sync};
}

static void set_bad(struct ct_itm_packet *packet)
{
    packet->err = packet->type;
    packet->type = CT_ITM_BAD_SEQUENCE;
}

/* Reads up to `most` bytes of seven bits, lowest first, while bit 7 is set. *last receives the last byte,
 * because some fields have flags in its top bits. Returns the number of bytes read. */
static unsigned read_continued(struct ct_cursor *c, unsigned most, uint64_t *value, uint8_t *last)
{
    unsigned n = 0;
    *value = 0;
    do {
        *last = ct_cursor_u8(c);
        *value |= (uint64_t)(*last & 0x7f) << (7 * n++);
    } while (*last & 0x80 && n < most);
    return n;
}

/* Reads a local timestamp (DDI 0403E D4.2.4): 0TTT0000 has only its header, with TTT 1 to 6; 11TC0000 is
 * followed by one to four bytes. */
static void local_timestamp(struct ct_cursor *c, struct ct_itm_packet *packet)
{
    uint8_t last;
    packet->type = CT_ITM_TS_LOCAL;
    if (!(packet->header & 0x80)) {
        packet->value = packet->header >> 4;
        return;
    }
    packet->source = packet->header >> 4 & 3;
    read_continued(c, 4, &packet->value, &last);
    if (last & 0x80)
        set_bad(packet);
}

/* Reads the low part of a global timestamp (DDI 0403E D4.2.5): bits 6:0, 13:7, 20:14, then 25:21 below two
 * flags. */
static void global_timestamp_1(struct ct_cursor *c, struct ct_itm_packet *packet)
{
    uint8_t last;
    packet->type = CT_ITM_GTS_1;
    if (read_continued(c, 4, &packet->value, &last) < 4)
        return;
    packet->value &= (1u << 26) - 1;
    packet->flags = (uint8_t)((last & 0x20 ? CT_ITM_CLOCK_CHANGED : 0) | (last & 0x40 ? CT_ITM_WRAP : 0));
    if (last & 0x80)
        set_bad(packet);
}

/* Reads the high part of a global timestamp (DDI 0403E D4.2.5): four bytes if it has 48 bits, six if it has
 * 64. */
static void global_timestamp_2(struct ct_cursor *c, struct ct_itm_packet *packet)
{
    uint8_t last;
    packet->type = CT_ITM_GTS_2;
    read_continued(c, 6, &packet->value, &last);
    if (last & 0x80)
        set_bad(packet);
}

/* Reads an extension packet (DDI 0403E D4.2.6): three bits in the header, seven in each byte after it, eight
 * in the fourth. */
static void extension(struct ct_cursor *c, struct ct_itm_packet *packet)
{
    packet->type = CT_ITM_EXTENSION;
    packet->flags = packet->header & 4 ? CT_ITM_HARDWARE : 0;
    packet->value = packet->header >> 4 & 7;
    packet->bits = 3;
    bool more = packet->header & 0x80;
    while (more) {
        bool full = packet->bits == 24;
        uint8_t byte = ct_cursor_u8(c);
        packet->value |= (uint64_t)(full ? byte : byte & 0x7f) << packet->bits;
        packet->bits = (uint8_t)(packet->bits + (full ? 8 : 7));
        more = byte & 0x80 && !full;
    }
    if (packet->bits == 3 && !(packet->flags & CT_ITM_HARDWARE))
        packet->flags |= CT_ITM_PAGE;
}

/* Reads a packet of software or of the DWT (DDI 0403E D4.2.8 and D4.3): header bits 1:0 are the size, bit 2
 * is set for hardware. */
static void source(struct ct_cursor *c, struct ct_itm_packet *packet)
{
    unsigned bytes = (packet->header & 3) == 3 ? 4 : packet->header & 3;
    packet->type = packet->header & 4 ? CT_ITM_DWT : CT_ITM_SWIT;
    packet->source = packet->header >> 3;
    packet->bits = (uint8_t)(8 * bytes);
    packet->value = ct_cursor_le(c, bytes);
}

/* Reads the rest of an alignment packet, after its first zero byte. */
static void async(struct ct_cursor *c, struct ct_itm_packet *packet)
{
    unsigned zeros = 1;
    uint8_t byte;
    packet->type = CT_ITM_ASYNC;
    while ((byte = ct_cursor_u8(c)) == 0 && !c->cut)
        if (++zeros == ROW_MOST) {
            c->p -= ROW_KEPT;
            set_bad(packet);
            return;
        }
    if (!c->cut && (byte != 0x80 || zeros < ASYNC_ZEROS))
        set_bad(packet);
}

static void decode_one(struct ct_cursor *c, struct ct_itm_packet *packet)
{
    uint8_t header = *c->p++;
    packet->header = header;
    packet->type = CT_ITM_RESERVED;
    if (header & 3)
        source(c, packet);
    else if (header == 0)
        async(c, packet);
    else if (header == 0x70)
        packet->type = CT_ITM_OVERFLOW;
    else if ((header & 0x8f) == 0 || (header & 0xcf) == 0xc0)
        local_timestamp(c, packet);
    else if (header == 0x94)
        global_timestamp_1(c, packet);
    else if (header == 0xb4)
        global_timestamp_2(c, packet);
    else if ((header & 0x0b) == 0x08)
        extension(c, packet);
}

/* Searches bytes without synchronisation for the alignment packet. Returns the number of bytes in the run.
 * Zeros at the end are held back, because the packet may begin with them. */
static size_t unsynced_bytes(struct ct_itm_decoder *d, const uint8_t *data, size_t size, int final)
{
    size_t zeros = 0; /* up to here, at most as many as a packet has */
    for (size_t i = 0; i < size; i++) {
        if (data[i] == 0) {
            zeros += zeros < ROW_MOST - 1;
            continue;
        }
        if (data[i] == 0x80 && zeros >= ASYNC_ZEROS) {
            d->synced = true;
            return i - zeros;
        }
        zeros = 0;
    }
    return final ? size : size - zeros;
}

/* Adds `bytes` at `pos` to the run without synchronisation, and makes a packet of the run when it has ended.
 * Returns the number of packets, 0 or 1. */
static size_t tell_run(struct ct_itm_decoder *d, size_t bytes, uint64_t pos, int over,
                       struct ct_itm_packet *packet)
{
    if (!ct_unsynced_add(&d->run, bytes, pos, over))
        return 0;
    *packet =
        (struct ct_itm_packet){.pos = d->run.pos, .type = CT_ITM_NOT_SYNC, .value = ct_unsynced_end(&d->run)};
    return 1;
}

/* Clears the fields of an impossible packet, or of one that the end of the trace cuts. Its intended type is
 * kept. */
static void strip(struct ct_itm_packet *packet, bool cut)
{
    uint8_t err = cut && packet->type != CT_ITM_BAD_SEQUENCE ? packet->type : packet->err;
    if (!cut && packet->type != CT_ITM_BAD_SEQUENCE)
        return;
    *packet = (struct ct_itm_packet){.pos = packet->pos,
                                     .type = cut ? CT_ITM_INCOMPLETE_EOT : CT_ITM_BAD_SEQUENCE,
                                     .err = err,
                                     .header = packet->header};
}

size_t ct_itm_decode(struct ct_itm_decoder *d, const uint8_t *data, size_t size, uint64_t pos, int final,
                     struct ct_itm_packet *packets, size_t cap, size_t *count)
{
    if (ct_no_batch(d, data, size, packets, cap, count))
        return 0;
    size_t n = 0;
    size_t at = 0;
    if (!d->synced && cap) {
        at = unsynced_bytes(d, data, size, final);
        n += tell_run(d, at, pos, d->synced || final, packets);
    }
    while (d->synced && n < cap && at < size) {
        struct ct_itm_packet *packet = &packets[n];
        struct ct_cursor c = {.p = data + at, .end = data + size};
        *packet = (struct ct_itm_packet){.pos = pos + at};
        decode_one(&c, packet);
        if (c.cut && !final)
            break;
        strip(packet, c.cut);
        packet->size = (uint16_t)(c.p - (data + at));
        at += packet->size;
        n++;
    }
    *count = n;
    return at;
}
