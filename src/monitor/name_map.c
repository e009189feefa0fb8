/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/name_map.h"

#define FIRST_SLOTS 64u

/* Returns the slot of a name: its own, or the free one where it would be. */
static struct ct_mon_name_slot *slot_of(const struct ct_mon_name_map *map, const char *name)
{
    size_t at = (size_t)hash_ptr(0, name);
    while (map->slots[at & (map->cap - 1)].name && map->slots[at & (map->cap - 1)].name != name)
        at++;
    return &map->slots[at & (map->cap - 1)];
}

void *ct_mon_name_map_get(const struct ct_mon_name_map *map, const char *name)
{
    return map->cap ? slot_of(map, name)->value : NULL;
}

static void grow(struct ct_mon_arena *arena, struct ct_mon_name_map *map)
{
    const struct ct_mon_name_map old = *map;
    map->cap = old.cap ? 2 * old.cap : FIRST_SLOTS;
    map->slots = ARENA_ARRAY(arena, struct ct_mon_name_slot, map->cap);
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].name)
            *slot_of(map, old.slots[i].name) = old.slots[i];
}

void ct_mon_name_map_add(struct ct_mon_arena *arena, struct ct_mon_name_map *map, const char *name,
                         void *value)
{
    if (2 * map->count >= map->cap)
        grow(arena, map);
    map->count++;
    *slot_of(map, name) = (struct ct_mon_name_slot){name, value};
}
