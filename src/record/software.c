/* SPDX-License-Identifier: Apache-2.0 */
#include "record/software.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "coretap/encode.h"

#define HELD 8192u /* accesses that are sorted at a time: the older half of them is written */

/* Bits of a global timestamp in its first packet, and in both where the second is short (DDI 0403E D4.2.5).
 */
#define LOW_BITS   26
#define SHORT_BITS 48

/* Discriminators of the DWT's data trace (DDI 0403E, table D4-5): these and twice the comparator. */
#define DWT_PC      8u
#define DWT_ADDRESS 9u
#define DWT_READ    16u
#define DWT_WRITE   17u

struct held {
    struct ct_software_access access;
    uint64_t number; /* in the order in which they came */
};

struct ct_software {
    struct ct_ctx *ctx;
    struct ct_software_options o;
    struct held held[HELD];
    unsigned count;
    uint64_t taken;
    uint64_t clock; /* of the last global timestamp */
    uint64_t since; /* bytes since the last alignment packet */
    bool begun;     /* there was one, and a whole timestamp */
    uint8_t page;   /* of stimulus ports */
};

int ct_software_new(struct ct_ctx *ctx, const struct ct_software_options *options, struct ct_software **out)
{
    struct ct_software *made = calloc(1, sizeof *made);
    *out = made;
    if (!made)
        return ct_fail_nomem(ctx, "software trace");
    made->ctx = ctx;
    made->o = *options;
    return CT_OK;
}

void ct_software_free(struct ct_software *software)
{
    free(software);
}

void ct_software_source(uint8_t trace_id, struct ct_source *source)
{
    *source = (struct ct_source){.name = "ITM", .protocol = CT_PROTOCOL_ITM, .trace_id = trace_id};
    /* ITMENA, SYNCENA, TXENA; GTSFREQ: a timestamp behind each packet; TraceBusID (DDI 0403E C1.7.6) */
    source->regs.itmtcr = 0x0du | 3u << 10 | (uint32_t)trace_id << 16;
}

static int put(struct ct_software *s, struct ct_itm_packet packet)
{
    uint8_t bytes[CT_ITM_PACKET_MAX];
    size_t size;
    const int rc = ct_itm_encode_packet(s->ctx, &packet, bytes, sizeof bytes, &size);
    if (rc)
        return rc;
    s->since += size;
    return s->o.write(s->o.user, bytes, size);
}

/* Returns how many bits of a timestamp its first packet has: those up to the highest one that changed. */
static unsigned low_bits(uint64_t clock, uint64_t before)
{
    unsigned bits = 7;
    while (bits < 21 && clock >> bits != before >> bits)
        bits += 7;
    return clock >> bits == before >> bits ? bits : LOW_BITS;
}

/* Writes the time of what was written before it. */
static int put_time(struct ct_software *s, uint64_t clock)
{
    const bool whole = !s->begun || clock >> LOW_BITS != s->clock >> LOW_BITS;
    const uint64_t high = clock >> LOW_BITS;
    const unsigned bits = whole ? LOW_BITS : low_bits(clock, s->clock);
    s->clock = clock;
    s->begun = true;
    int rc = put(s, (struct ct_itm_packet){.type = CT_ITM_GTS_1,
                                           .value = clock & ((UINT64_C(1) << bits) - 1),
                                           .size = (uint16_t)(1 + (bits + 6) / 7),
                                           .flags = whole ? CT_ITM_WRAP : 0});
    if (!rc && whole)
        rc = put(s, (struct ct_itm_packet){.type = CT_ITM_GTS_2,
                                           .value = high & ((UINT64_C(1) << (64 - LOW_BITS)) - 1),
                                           .size = clock >> SHORT_BITS ? 7 : 5});
    return rc;
}

/* Writes `bytes` of a stimulus port or of the DWT, eight as two halves in turn. */
static int put_data(struct ct_software *s, enum ct_itm_type type, unsigned source, uint64_t data,
                    unsigned bytes)
{
    const uint64_t mask = bytes >= 4 ? UINT32_MAX : (UINT64_C(1) << 8 * bytes) - 1;
    return put(s, (struct ct_itm_packet){.type = (uint8_t)type,
                                         .source = (uint8_t)source,
                                         .bits = (uint8_t)(bytes >= 4 ? 32 : 8 * bytes),
                                         .value = data & mask});
}

/* Writes what came to a stimulus port. Eight bytes are a write to this port and one to the next. */
static int put_port(struct ct_software *s, const struct ct_software_access *a)
{
    int rc = CT_OK;
    for (unsigned done = 0; done < a->bytes && !rc; done += 4) {
        const unsigned port = (unsigned)((a->addr + done) / 4) % CT_SOFTWARE_PORTS;
        if (port >> 5 != s->page)
            rc = put(s, (struct ct_itm_packet){.type = CT_ITM_EXTENSION, .bits = 3, .value = port >> 5});
        s->page = (uint8_t)(port >> 5);
        if (!rc)
            rc = put_data(s, CT_ITM_SWIT, port & 31, a->data >> 8 * done, a->bytes);
    }
    return rc;
}

/* Writes an access to watched memory: PC, address, data (DDI 0403E D4.3.4). */
static int put_watched(struct ct_software *s, const struct ct_software_access *a)
{
    const unsigned twice = 2u * a->comparator;
    int rc = CT_OK;
    for (unsigned done = 0; done < a->bytes && !rc; done += 4) {
        rc = put_data(s, CT_ITM_DWT, DWT_PC + twice, a->pc, 4);
        if (!rc)
            rc = put_data(s, CT_ITM_DWT, DWT_ADDRESS + twice, a->addr + done, 2);
        if (!rc)
            rc = put_data(s, CT_ITM_DWT, (a->store ? DWT_WRITE : DWT_READ) + twice, a->data >> 8 * done,
                          a->bytes);
    }
    return rc;
}

/* Writes an alignment packet where it is time for one. */
static int put_sync(struct ct_software *s)
{
    if (s->begun && (!s->o.sync_period || s->since < s->o.sync_period))
        return CT_OK;
    s->since = 0;
    s->begun = false;
    s->page = 0xff; /* a reader that begins here does not know it */
    return put(s, (struct ct_itm_packet){.type = CT_ITM_ASYNC});
}

static int put_access(struct ct_software *s, const struct ct_software_access *a)
{
    const uint64_t clock = a->clock > s->clock ? a->clock : s->clock;
    int rc = put_sync(s);
    if (!rc)
        rc = a->port ? put_port(s, a) : put_watched(s, a);
    return rc ? rc : put_time(s, clock);
}

static int by_clock(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    if (x->access.clock != y->access.clock)
        return x->access.clock < y->access.clock ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Writes the oldest `count` of what is held. */
static int put_oldest(struct ct_software *s, unsigned count)
{
    int rc = CT_OK;
    qsort(s->held, s->count, sizeof *s->held, by_clock);
    for (unsigned i = 0; i < count && !rc; i++)
        rc = put_access(s, &s->held[i].access);
    memmove(s->held, s->held + count, (s->count - count) * sizeof *s->held);
    s->count -= count;
    return rc;
}

int ct_software_take(struct ct_software *s, const struct ct_software_access *access)
{
    const int rc = s->count == HELD ? put_oldest(s, HELD / 2) : CT_OK;
    s->held[s->count++] = (struct held){*access, s->taken++};
    return rc;
}

int ct_software_flush(struct ct_software *s)
{
    return put_oldest(s, s->count);
}

int ct_software_restart(struct ct_software *s)
{
    const int rc = ct_software_flush(s);
    s->begun = false;
    return rc;
}
