/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/held.h"

#include <stdlib.h>

enum {
    FIRST_ROOM = 64, /* items of a new queue */
};

void ct_ocsd_held_deinit(struct ct_ocsd_held_queue *q)
{
    free(q->items);
    *q = (struct ct_ocsd_held_queue){0};
}

static bool grow(struct ct_ocsd_held_queue *q)
{
    const uint32_t room = q->room ? 2 * q->room : FIRST_ROOM;
    struct ct_ocsd_held *items = malloc(room * sizeof *items);
    if (!items)
        return false;
    for (uint32_t i = 0; i < q->count; i++)
        items[i] = *ct_ocsd_held_at(q, i);
    free(q->items);
    q->items = items;
    q->first = 0;
    q->room = room;
    return true;
}

bool ct_ocsd_held_push(struct ct_ocsd_held_queue *q, const struct ct_ocsd_held *item)
{
    if (q->count == q->room && !grow(q))
        return false;
    q->count++;
    *ct_ocsd_held_at(q, q->count - 1) = *item;
    return true;
}

/* Removes item `i`. */
static void take_out(struct ct_ocsd_held_queue *q, uint32_t i)
{
    for (q->count--; i < q->count; i++)
        *ct_ocsd_held_at(q, i) = *ct_ocsd_held_at(q, i + 1);
}

/* Returns whether an item counts as a P0 element when elements are cancelled. OpenCSD does not count source
 * addresses. */
static bool counts(const struct ct_ocsd_held *item)
{
    return item->p0 && item->kind != CT_OCSD_HELD_SOURCE;
}

uint32_t ct_ocsd_held_cancel(struct ct_ocsd_held_queue *q, uint32_t count)
{
    for (uint32_t i = q->count; i-- && count;) {
        struct ct_ocsd_held *item = ct_ocsd_held_at(q, i);
        if (ct_ocsd_held_is_apart(item))
            continue;
        if (item->kind == CT_OCSD_HELD_ATOMS && item->n > count) {
            item->n = item->p0 = (uint8_t)(item->n - count);
            return 0;
        }
        if (counts(item))
            count -= item->p0 < count ? item->p0 : count;
        take_out(q, i);
    }
    return count;
}

bool ct_ocsd_held_mispredict(struct ct_ocsd_held_queue *q)
{
    for (uint32_t i = q->count; i--;) {
        struct ct_ocsd_held *item = ct_ocsd_held_at(q, i);
        if (item->kind == CT_OCSD_HELD_ADDRESS) {
            take_out(q, i);
        } else if (item->kind == CT_OCSD_HELD_ATOMS) {
            item->value ^= UINT64_C(1) << (item->n - 1);
            return true;
        }
    }
    return false;
}
