/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pair_map.h"
#include "base/table_memory.h"
#include "coretap/base.h"

#include <stdlib.h>

#define FIRST_SLOTS 256

static struct ct_pair_slot *slot_of(const struct ct_pair_map *map, uint64_t a, uint32_t b)
{
    uint64_t hash = (a ^ (uint64_t)b << 40 ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    size_t mask = map->slot_count - 1;
    for (size_t i = (size_t)(hash >> 32) & mask;; i = (i + 1) & mask) {
        struct ct_pair_slot *slot = &map->slots[i];
        if (slot->value == CT_PAIR_NONE || (slot->a == a && slot->b == b))
            return slot;
    }
}

uint32_t ct_pair_map_get(const struct ct_pair_map *map, uint64_t a, uint32_t b)
{
    return map->slot_count ? slot_of(map, a, b)->value : CT_PAIR_NONE;
}

static int grow(struct ct_pair_map *map, size_t slot_count)
{
    struct ct_pair_map wider = {.count = map->count, .slot_count = slot_count};
    wider.slots = ct_table_of_records(wider.slot_count, sizeof *wider.slots);
    if (!wider.slots)
        return CT_ERR_NOMEM;
    for (size_t i = 0; i < wider.slot_count; i++)
        wider.slots[i] = (struct ct_pair_slot){.value = CT_PAIR_NONE};
    for (size_t i = 0; i < map->slot_count; i++)
        if (map->slots[i].value != CT_PAIR_NONE)
            *slot_of(&wider, map->slots[i].a, map->slots[i].b) = map->slots[i];
    free(map->slots);
    *map = wider;
    return CT_OK;
}

/* Makes room for `more` pairs. CT_ERR_NOMEM. */
static int reserve(struct ct_pair_map *map, size_t more)
{
    size_t slot_count = map->slot_count ? map->slot_count : FIRST_SLOTS;
    while (slot_count / 2 < map->count + more)
        slot_count *= 2;
    return slot_count > map->slot_count ? grow(map, slot_count) : CT_OK;
}

int ct_pair_map_put(struct ct_pair_map *map, uint64_t a, uint32_t b, uint32_t value)
{
    if (reserve(map, 1) != CT_OK)
        return CT_ERR_NOMEM;
    struct ct_pair_slot *slot = slot_of(map, a, b);
    map->count += slot->value == CT_PAIR_NONE;
    *slot = (struct ct_pair_slot){.a = a, .b = b, .value = value};
    return CT_OK;
}

void ct_pair_map_free(struct ct_pair_map *map)
{
    free(map->slots);
    *map = (struct ct_pair_map){0};
}
