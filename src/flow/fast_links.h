/* SPDX-License-Identifier: Apache-2.0 */
/* Follows atoms along links of 16 bytes a block, and keeps the state of the engine meanwhile. What is met for
 * the first time is left to others. */
#ifndef CT_FLOW_FAST_LINKS_H
#define CT_FLOW_FAST_LINKS_H

#include "flow/fast_own.h"

/* The words of a link: the block that follows, and what the branch does beside. */
#define CT_LINK_BLOCK    (CT_BLOCKS_MAX - 1)
#define CT_LINK_INDIRECT (UINT32_C(1) << 30)
#define CT_LINK_PUSH     (UINT32_C(1) << 31)

/* The counts of links have 32 bits: after so many atoms they are added to those of the blocks. */
#define CT_LINKED_MOST (UINT32_C(1) << 31)

/* The state of the engine that a burst keeps in registers. */
struct ct_fast_at {
    struct ct_memo *tail;
    uint32_t cur;
    uint32_t marks;
    uint64_t addr;
    uint8_t addr_isa;
    bool have_addr;
};

/* Take the state of the engine out, and put it back. */
static inline struct ct_fast_at ct_fast_take_at(const struct ct_fast *f)
{
    return (struct ct_fast_at){f->tail, f->cur, f->marks, f->addr, f->addr_isa, f->have_addr};
}

static inline void ct_fast_put_at(struct ct_fast *f, const struct ct_fast_at *b)
{
    f->tail = b->tail;
    f->last = b->tail->last;
    f->last_exec = b->tail->flags & CT_MEMO_EXEC;
    f->cur = b->cur;
    f->marks = b->marks;
    f->addr = b->addr;
    f->addr_isa = b->addr_isa;
    f->have_addr = b->have_addr;
}

/* Finds where the indirect branch of block `last` led, by the trace or the return stack: returns the block,
 * and the pair of branch and target. 0 when it was not met before. */
static inline uint32_t ct_fast_known_turn(struct ct_fast *f, const struct ct_fast_at *b, uint32_t last,
                                          struct ct_branch_target **pair)
{
    const struct ct_return_stack *stack = &f->walk->stack;
    uint64_t addr = b->addr;
    uint8_t isa = b->addr_isa;
    if (!b->have_addr) {
        if (!stack->enabled || !stack->count)
            return 0;
        addr = stack->entries[stack->top].addr;
        isa = stack->entries[stack->top].isa;
    }
    *pair = ct_blocks_known_pair(&f->blocks, last, addr, isa);
    if (!*pair)
        return 0;
    const uint32_t target = ct_fast_known_target(f, addr, isa, &f->blocks.blocks[last]);
    return target ? target : (*pair)->next;
}

/* Returns the block where the next step begins, and the pair that leads there; 0 when it was not met
 * before. */
static inline uint32_t ct_fast_known_begin(struct ct_fast *f, const struct ct_fast_at *b,
                                           struct ct_branch_target **pair)
{
    *pair = NULL;
    if (!b->cur)
        return ct_fast_known_turn(f, b, b->tail->last, pair);
    const struct ct_block *known = &f->blocks.blocks[b->cur];
    return b->have_addr && (known->addr != b->addr || known->isa != b->addr_isa) ? 0 : b->cur;
}

/* Counts the edge of an indirect branch, and takes its target off the return stack when no address told
 * it. */
static inline void ct_fast_count_pair(struct ct_fast *f, struct ct_branch_target *pair, bool have_addr)
{
    struct ct_return_stack *stack = &f->walk->stack;
    pair->count++;
    if (!have_addr) {
        stack->top = (stack->top - 1) % CT_RETURN_STACK_SIZE;
        stack->count--;
    }
}

/* Makes room for the links of all blocks. Returns false without memory. */
bool ct_fast_have_links(struct ct_fast *f);

/* Adds the counts of links to those of their blocks. An indirect branch is counted by its pairs. */
void ct_fast_spend_links(struct ct_fast *f);

/* Makes the link of a step of a block. 0: it would meet something new. */
uint32_t ct_fast_make_link(struct ct_fast *f, uint32_t number, unsigned exec);

/* Sets the state behind a step of block `last`, whose link is known. */
static inline void ct_fast_come_along(struct ct_fast *f, struct ct_fast_at *b, uint32_t last, unsigned exec,
                                      uint32_t link)
{
    f->alone.last = last;
    f->alone.flags = (uint8_t)((exec ? CT_MEMO_EXEC : 0) |
                               (link & CT_LINK_INDIRECT ? CT_MEMO_INDIRECT : CT_MEMO_NUMBERED));
    b->tail = &f->alone;
    b->cur = link & CT_LINK_BLOCK;
    b->marks = 0;
}

/* Follows atoms from a block on, which `pair` leads to if there is one, as long as all is known. Result: how
 * many; the state is behind the last of them. */
static inline unsigned ct_fast_follow_links(struct ct_fast *f, struct ct_fast_at *b, uint32_t block,
                                            struct ct_branch_target *pair, uint64_t bits, unsigned count)
{
    struct ct_fast_link *const links = f->links;
    uint32_t last = 0;
    uint32_t link = 0;
    unsigned exec = 0;
    unsigned done;
    for (done = 0; done < count; done++) {
        if (done && !block) {
            block = ct_fast_known_turn(f, b, last, &pair);
            if (!block)
                break;
        }
        const unsigned executed = bits >> done & 1;
        const uint32_t next = links[block].next[executed];
        const uint32_t known = __builtin_expect(next != 0, 1) ? next : ct_fast_make_link(f, block, executed);
        if (!known) {
            block = link & CT_LINK_BLOCK;
            break;
        }
        if (pair)
            ct_fast_count_pair(f, pair, b->have_addr);
        pair = NULL;
        b->have_addr = false;
        links[block].count[executed]++;
        if (known & CT_LINK_PUSH)
            ct_return_stack_push(&f->walk->stack, f->blocks.blocks[block].end, f->blocks.blocks[block].isa);
        last = block;
        exec = executed;
        link = known;
        block = known & CT_LINK_BLOCK;
    }
    if (!done)
        return 0;
    f->linked += done;
    ct_fast_come_along(f, b, last, exec, link);
    return done;
}

#endif
