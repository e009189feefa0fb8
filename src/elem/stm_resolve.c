/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves STM packets to elements. docs/listing.md describes the elements. */
#include <stdlib.h>

#include "base/ctx.h"
#include "base/require.h"
#include "elem/sw.h"

struct ct_stm_resolver {
    struct ct_sw_stream stream;
    bool master_known;
};

int ct_stm_resolver_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_stm_resolver **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
    if (source->protocol != CT_PROTOCOL_STM)
        return ct_fail(ctx, CT_ERR_ARG,
                       "source %s: the source is not an STM; use the decoder of its protocol", source->name);
    struct ct_stm_resolver *r = calloc(1, sizeof *r);
    if (!r)
        return ct_fail_nomem(ctx, "STM elements");
    ct_sw_init(&r->stream, CT_GAP_INIT);
    *out = r;
    return CT_OK;
}

void ct_stm_resolver_free(struct ct_stm_resolver *r)
{
    free(r);
}

void ct_stm_resolver_reset(struct ct_stm_resolver *r)
{
    if (!r)
        return;
    ct_sw_init(&r->stream, CT_GAP_RESET);
    r->master_known = false;
}

static void put(struct ct_stm_resolver *r, enum ct_sw what, const struct ct_stm_packet *p)
{
    unsigned aux = 4u * p->units;
    if (p->flags & CT_STM_MARKER || what == CT_SW_FLAG)
        aux |= CT_SW_MARKED;
    if (p->flags & CT_STM_HAS_TS)
        aux |= CT_SW_TIMED;
    ct_sw_put_source(&r->stream, r->master_known, p->master, p->channel);
    ct_sw_put(&r->stream, CT_ELEM_SW, (uint8_t)what, aux, p->value);
    if (p->flags & CT_STM_HAS_TS)
        ct_sw_put(&r->stream, CT_ELEM_TIMESTAMP, CT_TIMESTAMP_ATTACHED, 0, p->ts);
}

static void on_packet(struct ct_stm_resolver *r, const struct ct_stm_packet *p)
{
    switch (p->type) {
    case CT_STM_D4 ... CT_STM_D64:
        put(r, CT_SW_DATA, p);
        break;
    case CT_STM_FLAG:
        put(r, CT_SW_FLAG, p);
        break;
    case CT_STM_TRIG:
        put(r, CT_SW_TRIGGER, p);
        break;
    case CT_STM_FREQ:
        put(r, CT_SW_FREQUENCY, p);
        break;
    case CT_STM_USER:
        put(r, CT_SW_USER, p);
        break;
    case CT_STM_XSYNC:
        put(r, CT_SW_XSYNC, p);
        break;
    case CT_STM_NULL:
        if (p->flags & CT_STM_HAS_TS)
            put(r, CT_SW_TIME, p);
        break;
    case CT_STM_MERR:
        put(r, CT_SW_ERROR, p);
        break;
    case CT_STM_GERR:
        r->master_known = false;
        put(r, CT_SW_ERROR_ANY, p);
        break;
    case CT_STM_M8:
    case CT_STM_M16:
        r->master_known = true;
        break;
    case CT_STM_BAD_SEQUENCE:
    case CT_STM_RESERVED:
        r->master_known = false;
        ct_sw_lose_sync(&r->stream);
        break;
    default: /* alignment, version, channel (which later packets have too), a packet that the end cut */
        break;
    }
}

size_t ct_stm_resolve(struct ct_stm_resolver *r, const struct ct_stm_packet *packets, size_t size, int final,
                      struct ct_elem *elems, size_t cap, size_t *count)
{
    if (ct_no_batch(r, packets, size, elems, cap, count))
        return 0;
    struct ct_sw_stream *s = &r->stream;
    size_t taken = 0;
    ct_sw_output(s, elems, cap);
    for (; taken < size && ct_sw_room(s); taken++) {
        const struct ct_stm_packet *p = &packets[taken];
        uint64_t bytes = p->type == CT_STM_NOT_SYNC ? p->value : p->size;
        if (ct_sw_begin(s, p->pos, bytes, p->type == CT_STM_ASYNC))
            on_packet(r, p);
    }
    if (final && taken == size && !s->ended && ct_sw_room(s))
        ct_sw_end(s);
    *count = s->count;
    return taken;
}
