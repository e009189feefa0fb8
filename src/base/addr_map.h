/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers by address: a pair map with one half of the pair. */
#ifndef CT_BASE_ADDR_MAP_H
#define CT_BASE_ADDR_MAP_H

#include "base/pair_map.h"

#define CT_ADDR_NONE CT_PAIR_NONE

/* All zero is an empty map. */
struct ct_addr_map {
    struct ct_pair_map pairs;
};

/* CT_ADDR_NONE when there is nothing at `addr`. */
static inline uint32_t ct_addr_map_get(const struct ct_addr_map *map, uint64_t addr)
{
    return ct_pair_map_get(&map->pairs, addr, 0);
}

/* Puts `value` (not CT_ADDR_NONE) there in place of what was. CT_ERR_NOMEM. */
static inline int ct_addr_map_put(struct ct_addr_map *map, uint64_t addr, uint32_t value)
{
    return ct_pair_map_put(&map->pairs, addr, 0, value);
}

static inline void ct_addr_map_free(struct ct_addr_map *map)
{
    ct_pair_map_free(&map->pairs);
}

#endif
