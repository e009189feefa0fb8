/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the collected stretches one after the other. A stretch in the table is counted together with the
 * edge that leads to it, and the state of the engine is not updated. A stretch that is not there is followed
 * along links, from the state that is worked out at that point. */
#pragma once

#include "flow/stretch_table.h"

/* Takes the address before stretch `s`, unless the stretch continues another one. */
static inline void ct_stretch_come_to(struct ct_stretch_pass *p, unsigned s)
{
    if (ct_stretch_is_behind(p->c, p->c->addr[s]))
        return;
    p->at.addr = p->c->addr[s];
    p->at.addr_isa = CT_ISA_A64;
    p->at.have_addr = true;
}

/* Returns the block at an address; 0 when there is none yet, or the plain walk has to take it. */
static inline uint32_t ct_stretch_block_at(struct ct_fast *f, uint64_t addr)
{
    const struct ct_block like = {.space = (uint8_t)ct_walk_space(f->walk), .domain = f->domain};
    const uint32_t known = ct_fast_known_target(f, addr, CT_ISA_A64, &like);
    if (known)
        return known;
    const uint32_t found = ct_blocks_find(&f->blocks, addr, CT_ISA_A64, f->domain);
    if (!found || f->blocks.blocks[found].flags & CT_BLOCK_SLOW)
        return 0;
    *ct_fast_target(f, addr) = (struct ct_fast_target){
        .addr = addr, .block = found, .isa = CT_ISA_A64, .space = like.space, .domain = like.domain};
    return found;
}

/* Returns the block where a stretch, or a piece of one (stretch_pieces.h), begins. Returns 0 as
 * ct_stretch_block_at does. */
static inline uint32_t ct_stretch_begin_of(const struct ct_stretch_pass *p, unsigned s)
{
    const uint64_t addr = p->c->addr[s];
    return addr & 1 ? (uint32_t)(addr >> 1) : ct_stretch_block_at(p->f, addr);
}

/* Returns how many adjacent elements right before element `i` make marks. */
static inline uint32_t ct_stretch_marks_before(const struct ct_elem *elems, size_t i)
{
    uint32_t marks = 0;
    while (elems[i - 1 - marks].kind == CT_ELEM_CYCLES || elems[i - 1 - marks].kind == CT_ELEM_EVENT)
        marks++;
    return marks;
}

/* Returns the block of the last step of stretch `s`, which was counted, and sets *exec to its atom. */
static inline uint32_t ct_stretch_last_of(const struct ct_stretch_pass *p, unsigned s, unsigned *exec)
{
    const struct ct_fast_link *links = p->f->links;
    if (p->effect) {
        *exec = p->effect->end & 1;
        return p->effect->end >> 1;
    }
    uint32_t block = ct_stretch_begin_of(p, s);
    uint32_t last = block;
    for (uint64_t atoms = ct_stretch_atoms(p->c->bits[s]); atoms != 1; atoms >>= 1) {
        *exec = atoms & 1;
        last = block;
        block = links[block].next[*exec] & CT_LINK_BLOCK;
    }
    return last;
}

/* Sets the state to behind the stretch before `s`, which was counted, and takes back the count of the edge
 * behind it. */
static inline void ct_stretch_come_back(struct ct_stretch_pass *p, unsigned s)
{
    struct ct_fast *f = p->f;
    const struct ct_stretches *c = p->c;
    unsigned exec = 0;
    const uint32_t last = ct_stretch_last_of(p, s - 1, &exec);
    const uint32_t link = f->links[last].next[exec];
    ct_fast_come_along(f, &p->at, last, exec, link, false);
    p->at.marks = p->elems ? ct_stretch_marks_before(p->elems, c->at[s]) : 0;
    p->at.have_addr = false;
    ct_stretch_come_to(p, s);
    if (link & CT_LINK_INDIRECT && p->at.have_addr)
        ct_blocks_known_pair(&f->blocks, last, p->at.addr, CT_ISA_A64)->count--;
    p->counted = false;
}

/* Counts the edge to stretch `s`. Returns false, and does nothing, when something is new. Where a stretch has
 * no address before it, the edge is counted with the stretch. The function is not inline, because the loops
 * that call it have no registers to spare. */
bool ct_stretch_count_join(struct ct_stretch_pass *p, unsigned s);

/* Follows atoms of stretch `s` along links. Returns how many; 0 when the plain walk has to take the first. It
 * is inline, because a large program spends a tenth of its time on stretches that are new. */
CT_STRETCH_INLINE unsigned ct_stretch_follow(struct ct_stretch_pass *p, unsigned s)
{
    struct ct_fast *f = p->f;
    const struct ct_stretches *c = p->c;
    const uint64_t atoms = ct_stretch_atoms(c->bits[s]);
    struct ct_branch_target *pair;
    if (p->counted && ct_stretch_is_behind(c, c->addr[s]))
        ct_stretch_come_back(p, s);
    if (p->counted) {
        const uint32_t known = ct_stretch_begin_of(p, s);
        return known ? ct_fast_follow_links(f, &p->at, known, NULL, false, atoms, c->count[s]) : 0;
    }
    const uint32_t block = ct_fast_known_begin(f, &p->at, &pair);
    return ct_fast_follow_from(f, &p->at, block, pair, atoms, c->count[s]);
}

/* Puts a stretch into its row, where it replaces the older of the two. `effect`: with a return stack, what
 * the stretch does to it. */
static inline void ct_stretch_remember(struct ct_stretch_pass *p, unsigned s, uint32_t block,
                                       const struct ct_stack_effect *effect)
{
    struct ct_fast *f = p->f;
    struct ct_stretches *c = p->c;
    struct ct_stretch *row = c->rows[c->row[s]];
    ct_stretch_take_out(f, &row[1]);
    row[1] = row[0];
    if (c->effects && effect) {
        *ct_stretch_effect(c, &row[1]) = *ct_stretch_effect(c, &row[0]);
        *ct_stretch_effect(c, &row[0]) = *effect;
        p->effect = ct_stretch_effect(c, &row[0]);
    }
    row[0] = (struct ct_stretch){c->addr[s], c->addr[s + 1], c->bits[s],
                                 (uint64_t)block << CT_STRETCH_BLOCK_SHIFT | f->domain};
}
