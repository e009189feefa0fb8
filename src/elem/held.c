/* SPDX-License-Identifier: Apache-2.0 */
#include "elem/held.h"

#include <stdlib.h>

#include "base/bytes.h"

bool ct_held_init(struct ct_held *held)
{
    *held = (struct ct_held){.items = malloc(CT_HELD_SIZE * sizeof *held->items)};
    return held->items != NULL;
}

void ct_held_deinit(struct ct_held *held)
{
    free(held->items);
}

bool ct_held_is_off_path(const struct ct_elem *elem)
{
    switch (elem->kind) {
    case CT_ELEM_EVENT:
    case CT_ELEM_TIMESTAMP:
    case CT_ELEM_CYCLES:
    case CT_ELEM_MARKER:
    case CT_ELEM_ITE:
    case CT_ELEM_SYNC:
        return true;
    default:
        return false;
    }
}

/* Takes up to `count` P0 elements off one item, the newest atoms first, and returns their number. */
static uint32_t cancel_item(struct ct_held_item *item, uint32_t count)
{
    uint32_t taken = count < item->p0 ? count : item->p0;
    item->p0 = (uint8_t)(item->p0 - taken);
    if (item->elem.kind == CT_ELEM_ATOMS) {
        item->elem.n = item->p0;
        item->elem.v &= ct_mask64(item->p0);
    }
    return taken;
}

uint32_t ct_held_cancel(struct ct_held *held, uint32_t count)
{
    /* items that stay move to the end of the range that was read, from the newest down */
    uint32_t at = held->newest;
    uint32_t keep = held->newest;
    while (count && at != held->oldest) {
        struct ct_held_item *item = &held->items[--at % CT_HELD_SIZE];
        bool stays;
        if (item->p0) {
            count -= cancel_item(item, count);
            stays = item->p0 != 0;
        } else {
            stays = ct_held_is_off_path(&item->elem);
        }
        if (stays)
            held->items[--keep % CT_HELD_SIZE] = *item;
    }
    /* close the hole between `at` and `keep` */
    while (keep != held->newest)
        held->items[at++ % CT_HELD_SIZE] = held->items[keep++ % CT_HELD_SIZE];
    held->newest = at;
    return count;
}

bool ct_held_mispredict(struct ct_held *held)
{
    uint32_t at = held->newest;
    while (at != held->oldest) {
        struct ct_held_item *item = &held->items[--at % CT_HELD_SIZE];
        if (item->elem.kind == CT_ELEM_ATOMS) {
            item->elem.v ^= UINT64_C(1) << (item->elem.n - 1);
            return true;
        }
        if (item->elem.kind == CT_ELEM_ADDRESS) {
            for (uint32_t next = at + 1; next != held->newest; next++)
                held->items[(next - 1) % CT_HELD_SIZE] = held->items[next % CT_HELD_SIZE];
            held->newest--;
        }
    }
    return false;
}
