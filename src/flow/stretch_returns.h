/* SPDX-License-Identifier: Apache-2.0 */
/* Stretches where there is a return stack: one of the table counts where the stack has the addresses that it
 * took off when it was met. */
#ifndef CT_FLOW_STRETCH_RETURNS_H
#define CT_FLOW_STRETCH_RETURNS_H

#include "flow/fast_returns.h"
#include "flow/stretch_pass.h"

/* Returns true when a place of the table has stretch `s` but for what it does to the return stack. */
static inline bool ct_stretch_is_like(const struct ct_stretches *c, const struct ct_stretch *place,
                                      unsigned s, uint64_t domain)
{
    return !((place->addr ^ c->addr[s]) | (place->next ^ c->addr[s + 1]) | (place->bits ^ c->bits[s]) |
             ((place->word ^ domain) & CT_STRETCH_DOMAIN));
}

/* Returns the last step, as the block << 1 | the atom. */
static inline uint32_t ct_stretch_step_before(const struct ct_stretch_pass *p)
{
    return p->counted ? p->effect->end : p->at.tail->last << 1 | (p->at.tail->flags & CT_MEMO_EXEC);
}

/* Returns true unless a stretch went on behind another step than the last one. */
static inline bool ct_stretch_begins_here(const struct ct_stretch_pass *p, const struct ct_stretch *place)
{
    return !ct_stretch_is_behind(p->c, place->addr) ||
           (ct_stretch_block(place) << 1 | ct_stretch_effect(p->c, place)->from_exec) ==
               ct_stretch_step_before(p);
}

/* Returns the stretch of the table if the return stack has what it takes off, else NULL. Those that came with
 * other return addresses, as many as the one in the row of the stretch takes off, are in rows of their own:
 * then that is the row of the stretch. */
static inline struct ct_stretch *ct_stretch_find_returning(const struct ct_stretch_pass *p, unsigned s)
{
    const struct ct_fast *f = p->f;
    struct ct_stretches *c = p->c;
    const struct ct_return_stack *stack = &f->walk->stack;
    for (unsigned turn = 0; turn < 2; turn++) {
        struct ct_stretch *row = c->rows[c->row[s]];
        const struct ct_stack_effect *other = NULL;
        for (unsigned k = 0; k < 2; k++)
            if (ct_stretch_is_like(c, &row[k], s, f->domain) && ct_stretch_begins_here(p, &row[k])) {
                other = ct_stretch_effect(c, &row[k]);
                if (ct_stack_has(stack, other))
                    return &row[k];
            }
        if (!other || turn)
            break;
        c->row[s] ^= (uint32_t)(ct_stack_hash(stack, other->pops) >> c->shift);
    }
    return NULL;
}

/* Returns where stretch `s` begins, which is followed from here on; its block is 0 when that is not known. */
struct ct_row_begin ct_stretch_begin_here(const struct ct_stretch_pass *p, unsigned s);

/* Finds what stretch `s` did to the return stack, which was `before`, if it is to be remembered: it came
 * before, as far as a byte tells. */
bool ct_stretch_find_effect(struct ct_stretch_pass *p, unsigned s, struct ct_row_begin begin,
                            const struct ct_return_stack *before, struct ct_stack_effect *effect);

#endif
