/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/stretch_pass.h"

uint32_t ct_stretch_block_at(struct ct_fast *f, uint64_t addr)
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

uint32_t ct_stretch_marks_before(const struct ct_elem *elems, size_t i)
{
    uint32_t marks = 0;
    while (elems[i - 1 - marks].kind == CT_ELEM_CYCLES || elems[i - 1 - marks].kind == CT_ELEM_EVENT)
        marks++;
    return marks;
}

/* Returns the block of the last step of stretch `s`, which was counted, and sets *exec to its atom. */
static uint32_t last_of(const struct ct_stretch_pass *p, unsigned s, unsigned *exec)
{
    const struct ct_fast_link *links = p->f->links;
    if (p->effect) {
        *exec = p->effect->end & 1;
        return p->effect->end >> 1;
    }
    uint32_t block = ct_stretch_block_at(p->f, p->c->addr[s]);
    uint32_t last = block;
    for (uint64_t atoms = ct_stretch_atoms(p->c, p->c->bits[s]); atoms != 1; atoms >>= 1) {
        *exec = atoms & 1;
        last = block;
        block = links[block].next[*exec] & CT_LINK_BLOCK;
    }
    return last;
}

void ct_stretch_come_back(struct ct_stretch_pass *p, unsigned s)
{
    struct ct_fast *f = p->f;
    const struct ct_stretches *c = p->c;
    unsigned exec = 0;
    const uint32_t last = last_of(p, s - 1, &exec);
    const uint32_t link = f->links[last].next[exec];
    ct_fast_come_along(f, &p->at, last, exec, link, false);
    p->at.marks = c->headers ? 0 : ct_stretch_marks_before(p->elems, c->at[s]);
    p->at.have_addr = false;
    ct_stretch_come_to(p, s);
    if (link & CT_LINK_INDIRECT && p->at.have_addr)
        ct_blocks_known_pair(&f->blocks, last, p->at.addr, CT_ISA_A64)->count--;
    p->counted = false;
}

void ct_stretch_remember(struct ct_stretch_pass *p, unsigned s, uint32_t block,
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
