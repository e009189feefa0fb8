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

/* Counts stretch `s`, which the table has as `known`; the edge that leads to it is counted. */
static inline void ct_stretch_count_known(struct ct_stretch_pass *p, struct ct_stretch *known,
                                          const bool returns)
{
    known->word += CT_STRETCH_ONCE;
    if (returns) {
        p->effect = ct_stretch_effect(p->c, known);
        ct_stack_change(&p->f->walk->stack, p->effect);
    }
}

/* Remembers stretch `s`, which was followed from `begin` on, unless something is new behind it. `before`:
 * with a return stack, what that was before. */
static inline void ct_stretch_keep(struct ct_stretch_pass *p, unsigned s, struct ct_row_begin begin,
                                   const struct ct_return_stack *before)
{
    struct ct_stack_effect effect;
    if (p->c->effects && !ct_stretch_find_effect(p, s, begin, before, &effect))
        return;
    if (ct_stretch_count_join(p, s + 1))
        ct_stretch_remember(p, s, begin.block, &effect);
}

/* Follows stretch `s`, of which the table has none, and remembers it unless something is new behind it.
 * Result: how many of its atoms are done. When these are all, the state is behind the stretch, where `marks`
 * elements make marks, with the address there; else it is behind the last atom that was done. */
CT_STRETCH_INLINE unsigned ct_stretch_follow_new(struct ct_stretch_pass *p, unsigned s, uint32_t marks)
{
    const struct ct_stretches *c = p->c;
    struct ct_return_stack before;
    struct ct_row_begin begin = {0};
    if (c->effects) {
        before = p->f->walk->stack;
        begin = ct_stretch_begin_here(p, s);
    }
    const unsigned done = ct_stretch_follow(p, s);
    if (!done && p->counted)
        ct_stretch_come_back(p, s);
    p->counted = false;
    if (done < c->count[s])
        return done;
    p->at.marks = marks;
    ct_stretch_come_to(p, s + 1);
    if (!begin.behind)
        begin.block = ct_stretch_block_at(p->f, c->addr[s]);
    if (begin.block)
        ct_stretch_keep(p, s, begin, &before);
    return done;
}

#endif
