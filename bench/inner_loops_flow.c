/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops that count stretches that are known, as bench/inner_loops.c has those of the decoder. */
#include "flow/fast_stretches.c"

unsigned loop_stretch_collect(struct ct_stretches *c, const struct ct_elem *elems, size_t size)
{
    return collect(c, elems, size, false);
}

void loop_stretch_rows(struct ct_stretches *c, unsigned n, uint64_t space)
{
    find_rows(c, n, space);
}

unsigned loop_stretch_count(struct ct_stretches *c, unsigned n, uint64_t domain)
{
    unsigned s = 0;
    for (; s < n; s++) {
        struct stretch *known = find(c, s, domain);
        if (__builtin_expect(!known, 0))
            break;
        known->word += ONCE;
    }
    return s;
}
