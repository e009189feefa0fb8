/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where a stream of ETMv4 or ETE may be cut, and saves the state of decoder and resolver there. */
#include "etm4/seam.h"

#include <string.h>

#include "elem/etm4_state.h"
#include "proto/etm4_state.h"

#define ASYNC_ZEROS 11u
#define TRACE_INFO  0x01u

size_t ct_etm4_find_sync(const uint8_t *data, size_t size, size_t from)
{
    static const uint8_t zeros[ASYNC_ZEROS];
    size_t at = from + ASYNC_ZEROS;
    while (at + 1 < size) {
        const uint8_t *end = memchr(data + at, 0x80, size - 1 - at);
        if (!end)
            break;
        if (end[1] == TRACE_INFO && !memcmp(end - ASYNC_ZEROS, zeros, ASYNC_ZEROS))
            return (size_t)(end - data) - ASYNC_ZEROS;
        at = (size_t)(end - data) + 1;
    }
    return SIZE_MAX;
}

void ct_etm4_decoder_seam(const void *decoder, struct ct_seam *seam)
{
    const struct ct_etm4_decoder *d = decoder;
    for (unsigned i = 0; i < 3; i++) {
        const struct ct_etm4_address *a = &d->history[i];
        ct_seam_put(seam, a->value);
        /* whether a whole address was traced with 32 bits makes no difference */
        const uint8_t size = a->valid < 64 ? a->size : 64;
        ct_seam_put(seam, (uint64_t)a->valid << 16 | (uint64_t)size << 8 | a->is);
    }
    ct_seam_put(seam, d->timestamp);
    ct_seam_put(seam, d->cc_threshold);
    ct_seam_put(seam, (uint64_t)d->sf << 2 | (uint64_t)d->info_seen << 1 | d->synced);
    ct_seam_put(seam, d->run.size);
}

static void put_held(const struct ct_held *held, struct ct_seam *seam)
{
    const uint32_t count = ct_held_count(held);
    ct_seam_put(seam, count);
    for (uint32_t i = 0; i < count && !seam->overflow; i++) {
        const struct ct_held_item *item = ct_held_at(held, i);
        const struct ct_elem *e = &item->elem;
        ct_seam_put(seam, (uint64_t)e->kind << 56 | (uint64_t)e->n << 48 | (uint64_t)e->aux << 32 | e->pos);
        ct_seam_put(seam, e->v);
        ct_seam_put(seam, item->p0);
    }
}

void ct_etm4_resolver_seam(const void *resolver, struct ct_seam *seam)
{
    const struct ct_etm4_resolver *r = resolver;
    const struct ct_etm4_demand *d = &r->demand;
    put_held(&r->held, seam);
    ct_seam_put(seam, (uint64_t)d->commit << 32 | d->cancel);
    ct_seam_put(seam, (uint64_t)d->mispredict << 3 | (uint64_t)d->discard << 2 | (uint64_t)d->fail << 1 |
                          d->overrun);
    ct_seam_put(seam, r->state);
    if (r->state != CT_ETM4_DECODE) {
        ct_seam_put(seam, r->gap);
        ct_seam_put(seam, r->lost);
    }
    ct_seam_put(seam, (uint64_t)r->depth << 32 | r->unseen);
    ct_seam_put(seam, (uint64_t)r->doubtful << 4 | (uint64_t)r->pending_address << 3 |
                          (uint64_t)r->after_overflow << 2 | (uint64_t)r->marker_seen << 1 | r->ended);
    ct_seam_put(seam, r->last_is);
    ct_seam_put(seam, (uint64_t)r->ctxt << 32 | r->vmid);
    ct_seam_put(seam, r->context_known);
    ct_seam_put(seam, r->pos);
}
