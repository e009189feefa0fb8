/* SPDX-License-Identifier: Apache-2.0 */
/* The traced ranges of virtual addresses, sorted and disjoint. */
#pragma once

#include <stdint.h>

struct ct_range {
    uint64_t lo, hi; /* first address, and first address after the range */
};

struct ct_ranges {
    struct ct_range *range;
    uint32_t count, capacity;
};

/* Allocates `capacity` ranges. Error: CT_ERR_NOMEM. */
int ct_ranges_init(struct ct_ranges *r, uint32_t capacity);
void ct_ranges_free(struct ct_ranges *r);

/* Adds a range, which must not be empty. Errors: CT_ERR_LIMIT when all are in use; CT_ERR_CONFIG when it
 * overlaps another range, which is stored in *other. */
int ct_ranges_add(struct ct_ranges *r, uint64_t lo, uint64_t hi, struct ct_range *other);

/* Removes a range that was added with the same bounds. Error: CT_ERR_NOT_FOUND. */
int ct_ranges_remove(struct ct_ranges *r, uint64_t lo, uint64_t hi);

/* Returns the index of the first range that ends after `va`, or the count. */
static inline uint32_t ct_ranges_first(const struct ct_ranges *r, uint64_t va)
{
    uint32_t i = 0;
    while (i < r->count && r->range[i].hi <= va)
        i++;
    return i;
}

/* Returns whether a range contains one of the addresses from `first` to `last`. */
static inline int ct_ranges_touch(const struct ct_ranges *r, uint64_t first, uint64_t last)
{
    const uint32_t i = ct_ranges_first(r, first);
    return i < r->count && r->range[i].lo <= last;
}
