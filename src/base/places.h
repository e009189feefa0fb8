/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers the places of a table that were filled since its last scan. A short list of them avoids scanning
 * the whole table. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CT_PLACES_LISTED 1024u

struct ct_places {
    size_t count; /* when it exceeds CT_PLACES_LISTED, any place may be filled */
    uint32_t list[CT_PLACES_LISTED];
};

static inline void ct_places_add(struct ct_places *p, size_t place)
{
    if (p->count < CT_PLACES_LISTED)
        p->list[p->count] = (uint32_t)place;
    p->count++;
}

/* Return the number of places to scan in a table of `size`, and place number `i`. */
static inline size_t ct_places_count(const struct ct_places *p, size_t size)
{
    return p->count > CT_PLACES_LISTED ? size : p->count;
}

static inline size_t ct_places_at(const struct ct_places *p, size_t i)
{
    return p->count > CT_PLACES_LISTED ? i : p->list[i];
}
