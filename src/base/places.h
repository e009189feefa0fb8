/* SPDX-License-Identifier: Apache-2.0 */
/* Places of a table that something was put in since it was last looked through: a list as long as they are
 * few, so that not all of the table has to be. */
#ifndef CT_BASE_PLACES_H
#define CT_BASE_PLACES_H

#include <stddef.h>
#include <stdint.h>

#define CT_PLACES_LISTED 1024u

struct ct_places {
    size_t count; /* more than CT_PLACES_LISTED: it may be any */
    uint32_t list[CT_PLACES_LISTED];
};

static inline void ct_places_add(struct ct_places *p, size_t place)
{
    if (p->count < CT_PLACES_LISTED)
        p->list[p->count] = (uint32_t)place;
    p->count++;
}

/* How many places of a table of `size` are to be looked at, and which one number `i` of them is. */
static inline size_t ct_places_count(const struct ct_places *p, size_t size)
{
    return p->count > CT_PLACES_LISTED ? size : p->count;
}

static inline size_t ct_places_at(const struct ct_places *p, size_t i)
{
    return p->count > CT_PLACES_LISTED ? i : p->list[i];
}

#endif
