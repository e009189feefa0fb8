/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/stretch_returns.h"

struct ct_row_begin ct_stretch_begin_here(const struct ct_stretch_pass *p, unsigned s)
{
    if (!ct_stretch_is_behind(p->c, p->c->addr[s]))
        return (struct ct_row_begin){.block = ct_stretch_block_at(p->f, p->c->addr[s])};
    const uint32_t step = ct_stretch_step_before(p);
    return (struct ct_row_begin){.block = step >> 1, .behind = true, .exec = step & 1};
}

/* Returns true when stretch `s` was the last one met in its row, as far as a hash of one byte tells, and
 * records it there. */
static bool comes_again(struct ct_stretches *c, unsigned s)
{
    uint8_t *seen = &c->seen[c->row[s]];
    const uint8_t tag = (uint8_t)((c->addr[s + 1] ^ c->bits[s] * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
    const bool again = *seen == tag;
    *seen = tag;
    return again;
}

bool ct_stretch_find_effect(struct ct_stretch_pass *p, unsigned s, struct ct_row_begin begin,
                            const struct ct_return_stack *before, struct ct_stack_effect *effect)
{
    struct ct_stretches *c = p->c;
    return comes_again(c, s) &&
           ct_fast_find_effect(p->f, before, begin, ct_stretch_atoms(c->bits[s]), effect);
}
