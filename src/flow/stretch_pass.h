/* SPDX-License-Identifier: Apache-2.0 */
/* Going through the stretches that were collected: one that the table has is counted with the edge that leads
 * to it, and the state of the engine is left where it was; one that it has not is followed along links, from
 * the state that is worked out then. */
#ifndef CT_FLOW_STRETCH_PASS_H
#define CT_FLOW_STRETCH_PASS_H

#include "flow/stretch_table.h"

/* Takes the address before stretch `s`, if there is one. */
static inline void ct_stretch_come_to(struct ct_stretch_pass *p, unsigned s)
{
    if (ct_stretch_is_behind(p->c, p->c->addr[s]))
        return;
    p->at.addr = p->c->addr[s];
    p->at.addr_isa = CT_ISA_A64;
    p->at.have_addr = true;
}

/* Sets the state behind the stretch before `s`, which was counted, and takes back the count of the edge
 * behind it. */
void ct_stretch_come_back(struct ct_stretch_pass *p, unsigned s);

/* Returns the block at an address, 0 when a step from there would be new or is for the plain walk. */
uint32_t ct_stretch_block_at(struct ct_fast *f, uint64_t addr);

/* Returns how many elements right before one make marks. */
uint32_t ct_stretch_marks_before(const struct ct_elem *elems, size_t i);

/* Returns the block where the stretch begins to which the state leads, and the pair that leads there, if one
 * does. 0 when something is new. */
static inline uint32_t ct_stretch_join(struct ct_stretch_pass *p, struct ct_branch_target **pair)
{
    const uint32_t block = ct_fast_known_begin(p->f, &p->at, pair);
    return block && (*pair || p->at.tail->flags & CT_MEMO_NUMBERED) ? block : 0;
}

/* Counts the edge to stretch `s`. Returns false, and does nothing, when something is new. What leads on to a
 * stretch without an address is counted with that. */
static inline bool ct_stretch_count_join(struct ct_stretch_pass *p, unsigned s)
{
    struct ct_branch_target *pair;
    if (ct_stretch_is_behind(p->c, p->c->addr[s])) {
        p->counted = !p->at.have_addr && p->at.tail->flags & (CT_MEMO_INDIRECT | CT_MEMO_NUMBERED);
        return p->counted;
    }
    if (!ct_stretch_join(p, &pair))
        return false;
    if (pair)
        pair->count++;
    p->counted = true;
    return true;
}

/* Follows atoms of stretch `s` along links. Result: how many; 0 when the plain way has to take the first. It
 * is inline, since what is met for the first time is a tenth of the time of a large program. */
CT_STRETCH_INLINE unsigned ct_stretch_follow(struct ct_stretch_pass *p, unsigned s)
{
    struct ct_fast *f = p->f;
    const struct ct_stretches *c = p->c;
    const uint64_t atoms = ct_stretch_atoms(c, c->bits[s]);
    struct ct_branch_target *pair;
    if (p->counted && ct_stretch_is_behind(c, c->addr[s]))
        ct_stretch_come_back(p, s);
    if (p->counted) {
        const uint32_t known = ct_stretch_block_at(f, c->addr[s]);
        return known ? ct_fast_follow_links(f, &p->at, known, NULL, false, atoms, c->count[s]) : 0;
    }
    const uint32_t block = ct_fast_known_begin(f, &p->at, &pair);
    return ct_fast_follow_from(f, &p->at, block, pair, atoms, c->count[s]);
}

/* Puts a stretch into its row, in place of the older one. `effect`: what it does to the return stack, if
 * there is one. */
void ct_stretch_remember(struct ct_stretch_pass *p, unsigned s, uint32_t block,
                         const struct ct_stack_effect *effect);

#endif
