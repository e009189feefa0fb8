#include "base/addr_map.h"

#include <stdlib.h>

#include "coretap/base.h"

#define FIRST_BITS 8

/* Fibonacci hashing: addresses that follow one another are spread. */
static size_t place(const struct ct_addr_map *map, uint64_t addr)
{
    return (size_t)((addr * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - map->bits));
}

/* The slot of `addr`, or the free one where it would be. */
static struct ct_addr_slot *find(const struct ct_addr_map *map, uint64_t addr)
{
    size_t mask = ((size_t)1 << map->bits) - 1;
    size_t i = place(map, addr);
    while (map->slots[i].used && map->slots[i].addr != addr)
        i = (i + 1) & mask;
    return &map->slots[i];
}

uint32_t ct_addr_map_get(const struct ct_addr_map *map, uint64_t addr)
{
    if (!map->slots)
        return CT_ADDR_NONE;
    const struct ct_addr_slot *slot = find(map, addr);
    return slot->used ? slot->value : CT_ADDR_NONE;
}

static int grow(struct ct_addr_map *map)
{
    struct ct_addr_map larger = {.bits = map->slots ? map->bits + 1 : FIRST_BITS, .count = map->count};
    larger.slots = calloc((size_t)1 << larger.bits, sizeof *larger.slots);
    if (!larger.slots)
        return CT_ERR_NOMEM;
    for (size_t i = 0; map->slots && i >> map->bits == 0; i++)
        if (map->slots[i].used)
            *find(&larger, map->slots[i].addr) = map->slots[i];
    free(map->slots);
    *map = larger;
    return CT_OK;
}

int ct_addr_map_put(struct ct_addr_map *map, uint64_t addr, uint32_t value)
{
    if (!map->slots || map->count >= ((size_t)3 << map->bits) / 4) {
        int rc = grow(map);
        if (rc)
            return rc;
    }
    struct ct_addr_slot *slot = find(map, addr);
    map->count += !slot->used;
    *slot = (struct ct_addr_slot){addr, value, 1};
    return CT_OK;
}

void ct_addr_map_free(struct ct_addr_map *map)
{
    free(map->slots);
    *map = (struct ct_addr_map){0};
}
