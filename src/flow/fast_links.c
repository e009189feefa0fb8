/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/fast_links.h"

#include <string.h>

#include "base/ctx.h"
#include "base/table_memory.h"

bool ct_fast_have_links(struct ct_fast *f)
{
    const uint32_t cap = f->blocks.cap;
    if (f->link_cap >= cap)
        return true;
    struct ct_fast_link *links = ct_array_grow(f->links, f->link_cap, cap, sizeof *links);
    if (!links) {
        f->blocks.error = ct_fail_nomem(f->ctx, "fast walk");
        return false;
    }
    f->links = links;
    f->link_cap = cap;
    return true;
}

void ct_fast_spend_links(struct ct_fast *f)
{
    for (uint32_t i = 1; i < f->link_cap && i < f->blocks.count; i++)
        for (unsigned exec = 0; exec < 2; exec++) {
            struct ct_fast_link *link = &f->links[i];
            if (!(link->next[exec] & CT_LINK_INDIRECT))
                f->blocks.blocks[i].count[exec] += link->count[exec];
            link->count[exec] = 0;
        }
    f->linked = 0;
}

/* Makes and stores the link of a step of a block. Returns 0 when the node, the edge or the next block is not
 * known. */
static uint32_t make_link(struct ct_fast *f, uint32_t number, unsigned exec)
{
    const struct ct_block *block = &f->blocks.blocks[number];
    const uint32_t push = exec && block->flags & CT_BLOCK_LINK ? CT_LINK_PUSH : 0;
    uint32_t link = 0;
    if (block->node == CT_NO_NUMBER)
        return 0;
    if (exec && block->flags & CT_BLOCK_INDIRECT)
        link = CT_LINK_INDIRECT | push;
    else if (block->next[exec] && block->edge[exec] != CT_NO_NUMBER)
        link = block->next[exec] | push;
    return f->links[number].next[exec] = link;
}

/* Numbers what is new in the step from `block`: its node, and the edge that led there. That is the edge of
 * `pair` or, when `pair` is NULL, of the step (last, last_exec), unless `last` is 0. Returns the link of the
 * step, which is stored only when its own edge has a number. Returns 0 when the plain walk has to take the
 * step. */
static uint32_t meet(struct ct_fast *f, uint32_t last, unsigned last_exec, struct ct_branch_target *pair,
                     uint32_t block, unsigned exec)
{
    struct ct_blocks *b = &f->blocks;
    const uint8_t flags = b->blocks[block].flags;
    if (flags & CT_BLOCK_SLOW || ct_block_contradicts(&b->blocks[block], exec) || ct_blocks_are_full(b))
        return 0;
    if (pair) {
        ct_pair_edge(b, pair);
    } else if (last) {
        ct_block_edge(b, last, last_exec);
        make_link(f, last, last_exec);
    }
    ct_block_node(b, block);
    const uint32_t push = exec && flags & CT_BLOCK_LINK ? CT_LINK_PUSH : 0;
    const bool indirect = exec && flags & CT_BLOCK_INDIRECT;
    const uint32_t next = indirect ? CT_LINK_INDIRECT : ct_blocks_link(b, block, exec);
    if (b->error || !next || !ct_fast_have_links(f))
        return 0;
    make_link(f, block, exec);
    return next | push;
}

uint32_t ct_fast_meet_turn(struct ct_fast *f, const struct ct_fast_at *b, uint32_t last,
                           struct ct_branch_target **pair)
{
    uint64_t addr;
    uint8_t isa;
    if (ct_blocks_are_full(&f->blocks) || !ct_fast_turn_address(f, b, &addr, &isa))
        return 0;
    *pair = ct_blocks_pair(&f->blocks, last, addr, isa);
    if (!*pair || !(*pair)->next || !ct_fast_have_links(f))
        return 0;
    ct_fast_remember_target(f, addr, isa, (*pair)->next);
    return (*pair)->next;
}

bool ct_fast_meet_join(struct ct_fast *f, struct ct_fast_at *b)
{
    const uint32_t last = b->tail->last;
    struct ct_branch_target *pair;
    if (b->cur) {
        const struct ct_block *known = &f->blocks.blocks[b->cur];
        if (known->addr != b->addr || known->isa != b->addr_isa)
            return false;
        const unsigned exec = b->tail->flags & CT_MEMO_EXEC;
        ct_block_edge(&f->blocks, last, exec);
        make_link(f, last, exec);
    } else {
        if (!ct_fast_meet_turn(f, b, last, &pair))
            return false;
        ct_pair_edge(&f->blocks, pair);
        pair->count++;
    }
    return !f->blocks.error;
}

bool ct_fast_follow_one(struct ct_fast *f, struct ct_fast_at *b, struct ct_fast_along *a, unsigned exec)
{
    a->is_new |= !a->block;
    if (!a->block)
        a->block = ct_fast_meet_turn(f, b, a->last, &a->pair);
    const uint32_t block = a->block;
    const uint32_t link = block ? meet(f, a->is_new ? a->last : 0, a->exec, a->pair, block, exec) : 0;
    if (!link)
        return false;
    if (a->pair)
        ct_fast_count_pair(f, a->pair, b->have_addr);
    b->have_addr = false;
    f->links[block].count[exec]++;
    if (link & CT_LINK_PUSH)
        ct_return_stack_push(&f->walk->stack, f->blocks.blocks[block].end, f->blocks.blocks[block].isa);
    *a = (struct ct_fast_along){block, exec, link, link & CT_LINK_BLOCK, NULL, !f->links[block].next[exec]};
    return true;
}

void ct_fast_forget_links(struct ct_fast *f)
{
    if (f->links)
        memset(f->links, 0, f->link_cap * sizeof *f->links);
    f->linked = 0;
}
