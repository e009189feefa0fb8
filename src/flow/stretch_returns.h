/* SPDX-License-Identifier: Apache-2.0 */
/* Counts stretches where there is a return stack. A stretch of the table counts only when the stack has the
 * addresses that the stretch took off when it was first met. */
#pragma once

#include "flow/fast_returns.h"
#include "flow/stretch_pass.h"

/* Returns true when `place` has the key of stretch `s`, whatever it does to the return stack. */
static inline bool ct_stretch_is_like(const struct ct_stretches *c, const struct ct_stretch *place,
                                      unsigned s, uint64_t domain)
{
    return !((place->addr ^ c->addr[s]) | (place->next ^ c->addr[s + 1]) | (place->bits ^ c->bits[s]) |
             ((place->word ^ domain) & CT_STRETCH_DOMAIN));
}

/* Returns the last step: its block << 1 | its atom. */
static inline uint32_t ct_stretch_step_before(const struct ct_stretch_pass *p)
{
    return p->counted ? p->effect->end : p->at.tail->last << 1 | (p->at.tail->flags & CT_MEMO_EXEC);
}

/* Returns true unless the stretch in `place` continued a step other than the last one. */
static inline bool ct_stretch_begins_here(const struct ct_stretch_pass *p, const struct ct_stretch *place)
{
    return !ct_stretch_is_behind(p->c, place->addr) ||
           (ct_stretch_block(place) << 1 | ct_stretch_effect(p->c, place)->from_exec) ==
               ct_stretch_step_before(p);
}

/* Returns stretch `s` in the table, or NULL when there is none that takes what the return stack has. When the
 * row of the stretch has it with other return addresses, the stretch gets another row, found by a hash of as
 * many return addresses of the stack as that one takes: then c->row[s] is changed to it. */
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

/* Returns where stretch `s` begins when it is followed from the current position; its block is 0 when it is
 * not known. */
struct ct_row_begin ct_stretch_begin_here(const struct ct_stretch_pass *p, unsigned s);

/* Finds what stretch `s` did to the return stack, which was `before`. Returns false when the stretch is not
 * to be remembered: it is new, as far as a hash of one byte tells, or an effect cannot hold it. */
bool ct_stretch_find_effect(struct ct_stretch_pass *p, unsigned s, struct ct_row_begin begin,
                            const struct ct_return_stack *before, struct ct_stack_effect *effect);

/* Counts `known`, a stretch of the table; the edge that leads to it is counted already. */
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
 * with a return stack, the stack before the stretch. */
static inline void ct_stretch_keep(struct ct_stretch_pass *p, unsigned s, struct ct_row_begin begin,
                                   const struct ct_return_stack *before)
{
    struct ct_stack_effect effect;
    if (p->c->effects && !ct_stretch_find_effect(p, s, begin, before, &effect))
        return;
    if (ct_stretch_count_join(p, s + 1))
        ct_stretch_remember(p, s, begin.block, &effect);
}

/* Follows stretch `s`, which is not in the table, and remembers it unless something is new behind it. Returns
 * how many of its atoms are done. When these are all, the state is behind the stretch, with `marks` elements
 * that make marks, and with the address there; else it is behind the last atom that was done. */
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
