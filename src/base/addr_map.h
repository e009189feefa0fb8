/* SPDX-License-Identifier: Apache-2.0 */
/* Maps addresses to numbers: a pair map that uses one half of the pair. */
#pragma once

#include "base/pair_map.h"

#define CT_ADDR_NONE CT_PAIR_NONE

/* A map. All zero is an empty map. */
struct ct_addr_map {
    struct ct_pair_map pairs;
};

/* Returns the number at `addr`, or CT_ADDR_NONE. */
static inline uint32_t ct_addr_map_get(const struct ct_addr_map *map, uint64_t addr)
{
    return ct_pair_map_get(&map->pairs, addr, 0);
}

/* Sets the number at `addr` to `value`, which is not CT_ADDR_NONE. CT_ERR_NOMEM. */
static inline int ct_addr_map_put(struct ct_addr_map *map, uint64_t addr, uint32_t value)
{
    return ct_pair_map_put(&map->pairs, addr, 0, value);
}

static inline void ct_addr_map_free(struct ct_addr_map *map)
{
    ct_pair_map_free(&map->pairs);
}
