/* SPDX-License-Identifier: Apache-2.0 */
/* Maps pairs of numbers to numbers: a hash table that only grows. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CT_PAIR_NONE UINT32_MAX

struct ct_pair_slot {
    uint64_t a;
    uint32_t b;
    uint32_t value; /* CT_PAIR_NONE when the slot is free */
};

/* A map. All zero is an empty map. */
struct ct_pair_map {
    struct ct_pair_slot *slots;
    size_t count;
    size_t slot_count; /* a power of two; at most half of the slots are used */
};

/* Returns the value of (a, b), or CT_PAIR_NONE. */
uint32_t ct_pair_map_get(const struct ct_pair_map *map, uint64_t a, uint32_t b);

/* Sets the value of (a, b) to `value`, which is not CT_PAIR_NONE. CT_ERR_NOMEM. */
int ct_pair_map_put(struct ct_pair_map *map, uint64_t a, uint32_t b, uint32_t value);

void ct_pair_map_free(struct ct_pair_map *map);
