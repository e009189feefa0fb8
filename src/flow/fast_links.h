/* SPDX-License-Identifier: Apache-2.0 */
/* Follows atoms along links of 16 bytes per block, and makes the links, numbers and pairs that are new on the
 * way. */
#pragma once

#include "flow/fast_own.h"

/* The parts of a link: the block that follows, and what else the branch does. */
#define CT_LINK_BLOCK    (CT_BLOCKS_MAX - 1)
#define CT_LINK_INDIRECT (UINT32_C(1) << 30)
#define CT_LINK_PUSH     (UINT32_C(1) << 31)

/* After so many atoms the counts of links, which have 32 bits, are added to those of the blocks. */
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

/* Return a copy of the state of the engine, and store it back. */
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

/* Sets *addr and *isa to where an indirect branch led, by the trace or else by the return stack. Returns
 * false when neither tells. */
static inline bool ct_fast_turn_address(const struct ct_fast *f, const struct ct_fast_at *b, uint64_t *addr,
                                        uint8_t *isa)
{
    const struct ct_return_stack *stack = &f->walk->stack;
    *addr = b->addr;
    *isa = b->addr_isa;
    if (b->have_addr)
        return true;
    if (!stack->enabled || !stack->count)
        return false;
    *addr = stack->entries[stack->top].addr;
    *isa = stack->entries[stack->top].isa;
    return true;
}

/* Returns the block to which the indirect branch of block `last` led, and sets *pair to the pair of branch
 * and target. Returns 0 when the pair is new. */
static inline uint32_t ct_fast_known_turn(struct ct_fast *f, const struct ct_fast_at *b, uint32_t last,
                                          struct ct_branch_target **pair)
{
    uint64_t addr;
    uint8_t isa;
    if (!ct_fast_turn_address(f, b, &addr, &isa))
        return 0;
    *pair = ct_blocks_known_pair(&f->blocks, last, addr, isa);
    if (!*pair)
        return 0;
    const uint32_t target = ct_fast_known_target(f, addr, isa, &f->blocks.blocks[last]);
    return target ? target : (*pair)->next;
}

/* Returns the block where the next step begins, and sets *pair to the pair that leads there, or NULL. Returns
 * 0 when the pair is new, or an address contradicts the block. */
static inline uint32_t ct_fast_known_begin(struct ct_fast *f, const struct ct_fast_at *b,
                                           struct ct_branch_target **pair)
{
    *pair = NULL;
    if (!b->cur)
        return ct_fast_known_turn(f, b, b->tail->last, pair);
    const struct ct_block *known = &f->blocks.blocks[b->cur];
    return b->have_addr && (known->addr != b->addr || known->isa != b->addr_isa) ? 0 : b->cur;
}

/* Counts the edge of an indirect branch. Pops the target off the return stack when no address told it. */
static inline void ct_fast_count_pair(struct ct_fast *f, struct ct_branch_target *pair, bool have_addr)
{
    struct ct_return_stack *stack = &f->walk->stack;
    pair->count++;
    if (!have_addr) {
        stack->top = (stack->top - 1) % CT_RETURN_STACK_SIZE;
        stack->count--;
    }
}

/* Makes room for the links of all blocks. Returns false when out of memory. */
bool ct_fast_have_links(struct ct_fast *f);

/* Adds the counts of links to those of their blocks, and zeroes them. Indirect branches are left out, because
 * their pairs count them. */
void ct_fast_spend_links(struct ct_fast *f);

/* Sets the state behind a step of block `last`, whose link is `link`. `is_new`: the edge behind the step has
 * no number. */
static inline void ct_fast_come_along(struct ct_fast *f, struct ct_fast_at *b, uint32_t last, unsigned exec,
                                      uint32_t link, bool is_new)
{
    const unsigned leads = link & CT_LINK_INDIRECT ? CT_MEMO_INDIRECT : is_new ? 0 : CT_MEMO_NUMBERED;
    f->alone.last = last;
    f->alone.flags = (uint8_t)((exec ? CT_MEMO_EXEC : 0) | leads);
    b->tail = &f->alone;
    b->cur = link & CT_LINK_BLOCK;
    b->marks = 0;
}

/* The last step that was followed along links, and where it led. */
struct ct_fast_along {
    uint32_t last; /* its block */
    unsigned exec;
    uint32_t link;                 /* 0 before the first step */
    uint32_t block;                /* the block to be executed next; 0 behind an indirect branch */
    struct ct_branch_target *pair; /* the pair that leads there, or NULL */
    bool is_new;                   /* the edge that leads there may lack a number */
};

/* Follows atoms as long as all is known. Returns how many. */
static inline unsigned ct_fast_follow_known(struct ct_fast *f, struct ct_fast_at *b, struct ct_fast_along *a,
                                            uint64_t bits, unsigned count)
{
    struct ct_fast_link *const links = f->links;
    struct ct_branch_target *pair = a->pair;
    uint32_t block = a->block;
    uint32_t last = a->last;
    uint32_t link = a->link;
    unsigned exec = a->exec;
    unsigned done;
    for (done = 0; done < count; done++) {
        if (!block) {
            block = ct_fast_known_turn(f, b, last, &pair);
            if (!block)
                break;
        }
        const unsigned executed = bits >> done & 1;
        const uint32_t next = links[block].next[executed];
        if (!next)
            break;
        if (pair)
            ct_fast_count_pair(f, pair, b->have_addr);
        pair = NULL;
        b->have_addr = false;
        links[block].count[executed]++;
        if (next & CT_LINK_PUSH)
            ct_return_stack_push(&f->walk->stack, f->blocks.blocks[block].end, f->blocks.blocks[block].isa);
        last = block;
        exec = executed;
        link = next;
        block = next & CT_LINK_BLOCK;
    }
    *a = (struct ct_fast_along){last, exec, link, block, pair, false};
    return done;
}

/* Does what ct_fast_known_turn does, but makes the pair when it is new. Returns 0 when the plain walk has to
 * go there. */
uint32_t ct_fast_meet_turn(struct ct_fast *f, const struct ct_fast_at *b, uint32_t last,
                           struct ct_branch_target **pair);

/* Counts the edge behind the last step, which is new, and numbers it. Returns false when the plain walk has
 * to go there. */
bool ct_fast_meet_join(struct ct_fast *f, struct ct_fast_at *b);

/* Follows one atom, and makes what is new on the way. Returns false when the plain walk has to take it. */
bool ct_fast_follow_one(struct ct_fast *f, struct ct_fast_at *b, struct ct_fast_along *a, unsigned exec);

/* Does the same with copies of `b` and `a`: if their addresses left the caller, it would have to keep them in
 * memory, not in registers, for the whole burst. */
static inline bool ct_fast_follow_new(struct ct_fast *f, struct ct_fast_at *b, struct ct_fast_along *a,
                                      unsigned exec)
{
    struct ct_fast_at at = *b;
    struct ct_fast_along along = *a;
    const bool done = ct_fast_follow_one(f, &at, &along, exec);
    *b = at;
    *a = along;
    return done;
}

/* Follows atoms from a block on. `pair`: the pair that leads to the block, or NULL. `is_new`: the edge that
 * leads to it may lack a number. Returns how many atoms are done, and leaves the state behind the last of
 * them. */
static inline unsigned ct_fast_follow_links(struct ct_fast *f, struct ct_fast_at *b, uint32_t block,
                                            struct ct_branch_target *pair, bool is_new, uint64_t bits,
                                            unsigned count)
{
    struct ct_fast_along a = {.last = b->tail->last,
                              .exec = b->tail->flags & CT_MEMO_EXEC,
                              .block = block,
                              .pair = pair,
                              .is_new = is_new};
    unsigned done = 0;
    while (done < count) {
        if (!a.is_new)
            done += ct_fast_follow_known(f, b, &a, bits >> done, count - done);
        if (done == count || !ct_fast_follow_new(f, b, &a, bits >> done & 1))
            break;
        done++;
    }
    if (!done)
        return 0;
    f->linked += done;
    if (is_new && b->cur)
        b->tail->flags |= CT_MEMO_NUMBERED;
    ct_fast_come_along(f, b, a.last, a.exec, a.link, a.is_new);
    return done;
}

/* Follows atoms from the current position, which is `block`, reached by `pair`, if ct_fast_known_begin knew
 * them. Returns what ct_fast_follow_links does. */
static inline unsigned ct_fast_follow_from(struct ct_fast *f, struct ct_fast_at *b, uint32_t block,
                                           struct ct_branch_target *pair, uint64_t bits, unsigned count)
{
    bool is_new = !pair && !(b->tail->flags & CT_MEMO_NUMBERED);
    if (__builtin_expect(!block && !b->cur, 0)) {
        const struct ct_fast_at at = *b;
        struct ct_branch_target *made;
        block = ct_fast_meet_turn(f, &at, b->tail->last, &made);
        pair = made;
        is_new = true;
    }
    return block ? ct_fast_follow_links(f, b, block, pair, is_new, bits, count) : 0;
}
