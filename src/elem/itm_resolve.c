/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves ITM and DWT packets to elements. docs/listing.md describes the elements. */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/require.h"
#include "elem/sw.h"

/* bits of a global timestamp that are in its first packet */
#define GTS_LOW_BITS 26

struct ct_itm_resolver {
    struct ct_sw_stream stream;
    bool without_sync;    /* of the source: any valid packet synchronises */
    unsigned prescaler;   /* log2 of the cycles of one step of a local timestamp */
    uint64_t local_time;  /* cycles since the start or the last overflow */
    uint64_t global_low;  /* bits from the first packet of a global timestamp */
    uint64_t global_high; /* bits from the second packet of a global timestamp */
    bool global_known;    /* a second packet came, and no further one is due */
    uint8_t page;         /* page of stimulus ports */
    bool overflow;        /* an overflow came, and no element reports it yet */
};

/* Returns log2 of the prescaler of local timestamps. ITMTCR has it in bits 9:8 (1, 4, 16, 64); it only counts
 * in asynchronous mode, bit 4 (DDI 0403E C1.7.6). */
static unsigned prescaler_of(uint32_t itmtcr)
{
    return itmtcr & 0x10 ? 2 * ct_bits(itmtcr, 9, 8) : 0;
}

int ct_itm_resolver_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_itm_resolver **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
    if (source->protocol != CT_PROTOCOL_ITM)
        return ct_fail(ctx, CT_ERR_ARG,
                       "source %s: the source is not an ITM; use the decoder of its protocol", source->name);
    struct ct_itm_resolver *r = calloc(1, sizeof *r);
    if (!r)
        return ct_fail_nomem(ctx, "ITM elements");
    r->prescaler = prescaler_of(source->regs.itmtcr);
    r->without_sync = source->without_sync;
    ct_sw_init(&r->stream, CT_GAP_INIT);
    *out = r;
    return CT_OK;
}

void ct_itm_resolver_free(struct ct_itm_resolver *r)
{
    free(r);
}

static void forget(struct ct_itm_resolver *r)
{
    r->local_time = r->global_low = r->global_high = 0;
    r->global_known = r->overflow = false;
    r->page = 0;
}

void ct_itm_resolver_reset(struct ct_itm_resolver *r)
{
    if (!r)
        return;
    ct_sw_init(&r->stream, CT_GAP_RESET);
    forget(r);
}

/* Returns CT_SW_OVERFLOW for the first element after an overflow, else 0. */
static unsigned overflow_flag(struct ct_itm_resolver *r)
{
    unsigned flag = r->overflow ? CT_SW_OVERFLOW : 0;
    r->overflow = false;
    return flag;
}

static void put_global(struct ct_itm_resolver *r)
{
    uint64_t time = r->global_high << GTS_LOW_BITS | r->global_low;
    ct_sw_put(&r->stream, CT_ELEM_TIMESTAMP, CT_TIMESTAMP_GLOBAL, overflow_flag(r), time);
}

/* Takes the low part of a global timestamp. A packet only has the lower bits, up to the highest one that
 * changed; the higher bits stay. */
static void on_global_low(struct ct_itm_resolver *r, const struct ct_itm_packet *p)
{
    unsigned bits = 7u * (p->size - 1u);
    uint64_t mask = ct_mask64(bits < GTS_LOW_BITS ? bits : GTS_LOW_BITS);
    r->global_low = (r->global_low & ~mask) | p->value;
    if (p->flags & CT_ITM_WRAP)
        r->global_known = false;
    if (r->global_known)
        put_global(r);
}

static void on_packet(struct ct_itm_resolver *r, const struct ct_itm_packet *p)
{
    struct ct_sw_stream *s = &r->stream;
    switch (p->type) {
    case CT_ITM_OVERFLOW:
        r->overflow = true;
        r->local_time = 0;
        break;
    case CT_ITM_SWIT:
        ct_sw_put_source(s, true, 0, (uint16_t)(r->page << 5 | p->source));
        ct_sw_put(s, CT_ELEM_SW, CT_SW_STIMULUS, p->bits | overflow_flag(r), p->value);
        break;
    case CT_ITM_DWT:
        ct_sw_put(s, CT_ELEM_DWT, p->source, p->bits | overflow_flag(r), p->value);
        break;
    case CT_ITM_TS_LOCAL:
        r->local_time += p->value << r->prescaler;
        ct_sw_put(s, CT_ELEM_LOCAL_TIME, p->source, r->prescaler | CT_SW_TIMED | overflow_flag(r), p->value);
        ct_sw_put(s, CT_ELEM_TIMESTAMP, CT_TIMESTAMP_ATTACHED, 0, r->local_time);
        break;
    case CT_ITM_GTS_1:
        on_global_low(r, p);
        break;
    case CT_ITM_GTS_2:
        r->global_high = p->value;
        r->global_known = true;
        put_global(r);
        break;
    case CT_ITM_EXTENSION:
        if (p->flags & CT_ITM_PAGE)
            r->page = (uint8_t)p->value;
        break;
    case CT_ITM_BAD_SEQUENCE:
    case CT_ITM_RESERVED:
        forget(r);
        ct_sw_lose_sync(s);
        break;
    default: /* alignment, a packet that the end of the trace cut */
        break;
    }
}

/* Returns whether elements may begin with the packet. */
static bool synchronises(const struct ct_itm_resolver *r, const struct ct_itm_packet *p)
{
    return p->type == CT_ITM_ASYNC || (r->without_sync && !r->stream.synced && p->type > CT_ITM_ASYNC);
}

/* Puts out the END element, which reports the last overflow if no element followed that. */
static void end(struct ct_itm_resolver *r)
{
    ct_sw_end(&r->stream);
    struct ct_elem *elem = &r->stream.elems[r->stream.count - 1];
    if (r->overflow && !elem->aux)
        elem->aux = CT_GAP_OVERFLOW + 1;
}

size_t ct_itm_resolve(struct ct_itm_resolver *r, const struct ct_itm_packet *packets, size_t size, int final,
                      struct ct_elem *elems, size_t cap, size_t *count)
{
    if (ct_no_batch(r, packets, size, elems, cap, count))
        return 0;
    struct ct_sw_stream *s = &r->stream;
    size_t taken = 0;
    ct_sw_output(s, elems, cap);
    for (; taken < size && ct_sw_room(s); taken++) {
        const struct ct_itm_packet *p = &packets[taken];
        uint64_t bytes = p->type == CT_ITM_NOT_SYNC ? p->value : p->size;
        if (ct_sw_begin(s, p->pos, bytes, synchronises(r, p)))
            on_packet(r, p);
    }
    if (final && taken == size && !s->ended && ct_sw_room(s))
        end(r);
    *count = s->count;
    return taken;
}
