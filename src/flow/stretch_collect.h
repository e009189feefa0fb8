/* SPDX-License-Identifier: Apache-2.0 */
/* Collects stretches from elements. */
#pragma once

#include "flow/stretch_table.h"

/* Maximal number of elements of a stretch in the table, so that there are fewer marks between two steps than
 * the builder takes. */
#define CT_STRETCH_ELEMS_MOST (CT_FAST_MARKS / 4)

/* Number of elements that are checked for other kinds than atoms and addresses. */
#define CT_STRETCH_LOOKED_AT 16u

_Static_assert((CT_ELEM_ATOMS & ~1u) == CT_ELEM_ATOMS && CT_ELEM_ADDRESS == CT_ELEM_ATOMS + 1,
               "the kinds of atoms and addresses differ in bit 0");

/* The elements that may lie in a stretch without being part of it: a bit for each kind. */
#define CT_STRETCH_BETWEEN (UINT64_C(1) << CT_ELEM_CYCLES | UINT64_C(1) << CT_ELEM_EVENT)

static inline bool ct_stretch_is_between(unsigned kind)
{
    return CT_STRETCH_BETWEEN >> (kind & 63) & 1;
}

/* Collects whole stretches from elements, the first of which is an address. Which elements are atoms cannot
 * be predicted, so nothing branches on it. Returns how many stretches there are. Both flags are constants.
 * `returns`: there is a return stack. `mixed`: there may be cycle counts and events anywhere, so nothing
 * branches on these either. */
CT_STRETCH_INLINE unsigned ct_stretches_collect_as(struct ct_stretches *c, const struct ct_elem *elems,
                                                   size_t size, const bool returns, const bool mixed)
{
    const size_t most = c->batch;
    size_t n = 0;
    uint64_t bits = 0;
    uint64_t count = 0;
    c->addr[0] = elems[0].v;
    c->at[0] = 0;
    for (size_t i = 1; i < size && n < most; i++) {
        const struct ct_elem *elem = &elems[i];
        const unsigned kind = elem->kind;
        if (mixed &&
            __builtin_expect(!((CT_STRETCH_BETWEEN | UINT64_C(3) << CT_ELEM_ATOMS) >> (kind & 63) & 1), 0))
            break;
        if (!mixed && __builtin_expect((kind & ~1u) != CT_ELEM_ATOMS, 0)) {
            if (!ct_stretch_is_between(kind))
                break;
            continue;
        }
        const uint64_t atoms = mixed ? -(uint64_t)(kind == CT_ELEM_ATOMS) : UINT64_MAX;
        const uint64_t is_address = mixed ? kind == CT_ELEM_ADDRESS : kind & 1;
        const uint64_t more = elem->n & atoms;
        if (returns && __builtin_expect(count + more > CT_STRETCH_ATOMS_MOST, 0) && !is_address && count) {
            c->bits[n] = bits | UINT64_C(1) << count;
            c->count[n] = (uint32_t)count;
            c->addr[n + 1] = ct_stretch_behind(c->bits[n]);
            c->at[n + 1] = (uint32_t)i;
            bits = count = 0;
            if (++n == most)
                break;
        }
        if (__builtin_expect((is_address & elem->v) != 0, 0))
            break;
        const uint64_t keep = is_address - 1;
        c->bits[n] = bits | UINT64_C(1) << (count & 63);
        c->count[n] = (uint32_t)count;
        c->addr[n + 1] = elem->v;
        c->at[n + 1] = (uint32_t)i;
        bits = (bits | (elem->v & atoms) << (count & 63)) & keep;
        count = (count + more) & keep;
        n += is_address;
    }
    return (unsigned)n;
}

/* Collects stretches with the variant that suits the first elements. Returns how many there are. */
CT_STRETCH_INLINE unsigned ct_stretches_collect(struct ct_stretches *c, const struct ct_elem *elems,
                                                size_t size)
{
    bool mixed = false;
    for (size_t i = 0; i < size && i < CT_STRETCH_LOOKED_AT; i++)
        mixed |= ct_stretch_is_between(elems[i].kind);
    if (c->effects)
        return mixed ? ct_stretches_collect_as(c, elems, size, true, true)
                     : ct_stretches_collect_as(c, elems, size, true, false);
    return mixed ? ct_stretches_collect_as(c, elems, size, false, true)
                 : ct_stretches_collect_as(c, elems, size, false, false);
}

/* Finds the rows of `n` stretches and prefetches them. */
CT_STRETCH_INLINE void ct_stretches_find_rows(struct ct_stretches *c, unsigned n, uint64_t space)
{
    const unsigned shift = c->shift;
    for (unsigned s = 0; s < n; s++) {
        const bool fits =
            c->count[s] - 1 < CT_STRETCH_ATOMS_MOST && c->at[s + 1] - c->at[s] <= CT_STRETCH_ELEMS_MOST;
        c->bits[s] = fits ? c->bits[s] | space << CT_STRETCH_SPACE_SHIFT : CT_STRETCH_NONE;
        c->row[s] = ct_stretch_row(shift, c->addr[s], c->addr[s + 1], c->bits[s]);
    }
    ct_stretches_fetch(c, 0, n);
}
