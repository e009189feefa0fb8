/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a function of each of the inner loops that count known stretches, as bench/inner_loops.c does for the
 * decoder. */
#include "flow/stretch_collect.h"
#include "flow/stretch_strips.c"

unsigned loop_stretch_collect(struct ct_stretches *c, const struct ct_elem *elems, size_t size)
{
    return ct_stretches_collect_as(c, elems, size, false, false);
}

void loop_stretch_rows(struct ct_stretches *c, unsigned n, uint64_t space)
{
    ct_stretches_find_rows(c, n, space);
}

void loop_strip_rows(struct ct_stretches *c, size_t first, size_t n, uint64_t space)
{
    find_strip_rows(c, first, n, space);
}

unsigned loop_stretch_count(struct ct_stretches *c, unsigned n, uint64_t domain)
{
    unsigned s = 0;
    for (; s < n; s++) {
        struct ct_stretch *known = ct_stretch_find(c, s, domain, false);
        if (__builtin_expect(!known, 0))
            break;
        known->word += CT_STRETCH_ONCE;
    }
    return s;
}
