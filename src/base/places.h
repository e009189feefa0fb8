/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers where something was put into a table since it was last looked through. While these places are few
 * they are a list, so that the whole table need not be looked through. */
#ifndef CT_BASE_PLACES_H
#define CT_BASE_PLACES_H

#include <stddef.h>
#include <stdint.h>

#define CT_PLACES_LISTED 1024u

struct ct_places {
    size_t count; /* when it is more than CT_PLACES_LISTED, any place may have something */
    uint32_t list[CT_PLACES_LISTED];
};

static inline void ct_places_add(struct ct_places *p, size_t place)
{
    if (p->count < CT_PLACES_LISTED)
        p->list[p->count] = (uint32_t)place;
    p->count++;
}

/* Return how many places of a table of `size` have to be looked at, and number `i` of them. */
static inline size_t ct_places_count(const struct ct_places *p, size_t size)
{
    return p->count > CT_PLACES_LISTED ? size : p->count;
}

static inline size_t ct_places_at(const struct ct_places *p, size_t i)
{
    return p->count > CT_PLACES_LISTED ? i : p->list[i];
}

#endif
