/* SPDX-License-Identifier: Apache-2.0 */
#include "fractal/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "coretap/base.h"

int ct_ranges_init(struct ct_ranges *r, uint32_t capacity)
{
    r->count = 0;
    r->capacity = capacity;
    r->range = calloc(capacity, sizeof *r->range);
    return r->range ? CT_OK : CT_ERR_NOMEM;
}

void ct_ranges_free(struct ct_ranges *r)
{
    free(r->range);
}

int ct_ranges_add(struct ct_ranges *r, uint64_t lo, uint64_t hi, struct ct_range *other)
{
    const uint32_t at = ct_ranges_first(r, lo);
    if (at < r->count && r->range[at].lo < hi) {
        *other = r->range[at];
        return CT_ERR_CONFIG;
    }
    if (r->count == r->capacity)
        return CT_ERR_LIMIT;
    memmove(&r->range[at + 1], &r->range[at], (r->count - at) * sizeof *r->range);
    r->range[at] = (struct ct_range){lo, hi};
    r->count++;
    return CT_OK;
}

int ct_ranges_remove(struct ct_ranges *r, uint64_t lo, uint64_t hi)
{
    const uint32_t at = ct_ranges_first(r, lo);
    if (at == r->count || r->range[at].lo != lo || r->range[at].hi != hi)
        return CT_ERR_NOT_FOUND;
    r->count--;
    memmove(&r->range[at], &r->range[at + 1], (r->count - at) * sizeof *r->range);
    return CT_OK;
}
