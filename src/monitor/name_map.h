/* SPDX-License-Identifier: Apache-2.0 */
/* Maps interned names to pointers: a hash table that only grows. */
#pragma once

#include "monitor/arena.h"

struct ct_mon_name_slot {
    const char *name; /* NULL when the slot is free */
    void *value;
};

/* A map. All zero is an empty map. */
struct ct_mon_name_map {
    struct ct_mon_name_slot *slots;
    size_t count;
    size_t cap; /* a power of two; at most half of the slots are used */
};

/* Returns the value of a name, or NULL. */
void *ct_mon_name_map_get(const struct ct_mon_name_map *map, const char *name);

/* Adds a name that the map does not have, with a value that is not NULL. */
void ct_mon_name_map_add(struct ct_mon_arena *arena, struct ct_mon_name_map *map, const char *name,
                         void *value);
