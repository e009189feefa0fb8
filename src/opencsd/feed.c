/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/feed.h"

#include <string.h>

enum {
    STEP = 16, /* bytes appended to the kept ones at a time */
};

/* Removes the first kept bytes. */
static void drop(struct ct_ocsd_feed *f, uint32_t count)
{
    f->size -= count;
    memmove(f->bytes, f->bytes + count, f->size);
    memmove(f->indices, f->indices + count, f->size * sizeof *f->indices);
    f->pos += count;
}

static void keep(struct ct_ocsd_feed *f, const uint8_t *data, uint32_t size, ocsd_trc_index_t index)
{
    for (uint32_t i = 0; i < size; i++) {
        f->bytes[f->size] = data[i];
        f->indices[f->size++] = index + i;
    }
}

/* Continues a packet whose first bytes are kept. */
static uint32_t feed_kept(struct ct_ocsd_feed *f, const uint8_t *data, uint32_t size, ocsd_trc_index_t index,
                          void *packet, struct ct_ocsd_fed *fed)
{
    const uint32_t before = f->size;
    const uint32_t room = before + STEP <= CT_OCSD_FEED_ROOM ? STEP : CT_OCSD_FEED_ROOM - before;
    const uint32_t more = size < room ? size : room;
    size_t count = 0;
    keep(f, data, more, index);
    fed->first = f->indices[0];
    const uint32_t used = (uint32_t)f->decode(f->decoder, f->bytes, f->size, f->pos, 0, packet, &count);
    fed->have = count != 0;
    fed->taken = used;
    fed->kept = used < before ? used : before;
    fed->bytes = memcpy(f->last, f->bytes, f->size);
    if (!fed->have) {
        drop(f, used);
        return more;
    }
    drop(f, used);
    if (used < before) { /* the appended bytes will be passed again */
        f->size = before - used;
        return 0;
    }
    f->size = 0;
    return used - before;
}

uint32_t ct_ocsd_feed_next(struct ct_ocsd_feed *f, const uint8_t *data, uint32_t size, ocsd_trc_index_t index,
                           void *packet, struct ct_ocsd_fed *fed)
{
    size_t count = 0;
    if (f->size)
        return feed_kept(f, data, size, index, packet, fed);
    const uint32_t used = (uint32_t)f->decode(f->decoder, data, size, f->pos, 0, packet, &count);
    *fed = (struct ct_ocsd_fed){.have = count != 0, .first = index, .taken = used, .bytes = data};
    f->pos += used;
    if (fed->have)
        return used;
    keep(f, data + used, size - used, index + used);
    return size;
}

uint32_t ct_ocsd_feed_share(struct ct_ocsd_feed *f, uint8_t byte, ocsd_trc_index_t index)
{
    if (f->size)
        return 0;
    keep(f, &byte, 1, index);
    return 1;
}

bool ct_ocsd_feed_finish(struct ct_ocsd_feed *f, void *packet, struct ct_ocsd_fed *fed)
{
    size_t count = 0;
    *fed = (struct ct_ocsd_fed){.first = f->size ? f->indices[0] : 0};
    const uint32_t used = (uint32_t)f->decode(f->decoder, f->bytes, f->size, f->pos, 1, packet, &count);
    fed->have = count != 0;
    fed->taken = used;
    fed->kept = used;
    fed->bytes = memcpy(f->last, f->bytes, used);
    drop(f, used);
    return fed->have;
}

void ct_ocsd_feed_reset(struct ct_ocsd_feed *f)
{
    f->size = 0;
}
