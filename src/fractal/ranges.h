/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of virtual addresses that are traced: sorted, and none overlaps another. */
#ifndef CT_FRACTAL_RANGES_H
#define CT_FRACTAL_RANGES_H

#include <stdint.h>

struct ct_range {
    uint64_t lo, hi; /* the first address, and the first behind the range */
};

struct ct_ranges {
    struct ct_range *range;
    uint32_t count, capacity;
};

/* Makes room for `capacity` ranges. CT_ERR_NOMEM. */
int ct_ranges_init(struct ct_ranges *r, uint32_t capacity);
void ct_ranges_free(struct ct_ranges *r);

/* Adds a range that is not empty. CT_ERR_LIMIT: all places are taken; CT_ERR_CONFIG: it overlaps one, which
 * goes to *other. */
int ct_ranges_add(struct ct_ranges *r, uint64_t lo, uint64_t hi, struct ct_range *other);

/* Removes a range, which must have been added with the same ends. CT_ERR_NOT_FOUND. */
int ct_ranges_remove(struct ct_ranges *r, uint64_t lo, uint64_t hi);

/* Finds the first range that ends behind `va`, or returns the count. */
static inline uint32_t ct_ranges_first(const struct ct_ranges *r, uint64_t va)
{
    uint32_t i = 0;
    while (i < r->count && r->range[i].hi <= va)
        i++;
    return i;
}

/* Tells whether a range has one of the addresses from `first` to `last`. */
static inline int ct_ranges_touch(const struct ct_ranges *r, uint64_t first, uint64_t last)
{
    const uint32_t i = ct_ranges_first(r, first);
    return i < r->count && r->range[i].lo <= last;
}

#endif
