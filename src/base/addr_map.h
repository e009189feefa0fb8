/* Numbers by address: a hash table that only grows. */
#ifndef CT_BASE_ADDR_MAP_H
#define CT_BASE_ADDR_MAP_H

#include <stddef.h>
#include <stdint.h>

#define CT_ADDR_NONE UINT32_MAX

struct ct_addr_slot {
    uint64_t addr;
    uint32_t value;
    uint32_t used;
};

/* All zero is an empty map. */
struct ct_addr_map {
    struct ct_addr_slot *slots;
    size_t count;
    unsigned bits; /* 1 << bits slots, at most three quarters of them used */
};

/* CT_ADDR_NONE when there is nothing at `addr`. */
uint32_t ct_addr_map_get(const struct ct_addr_map *map, uint64_t addr);

/* Puts `value` (not CT_ADDR_NONE) there in place of what was. CT_ERR_NOMEM. */
int ct_addr_map_put(struct ct_addr_map *map, uint64_t addr, uint32_t value);
void ct_addr_map_free(struct ct_addr_map *map);

#endif
