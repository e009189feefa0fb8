/* SPDX-License-Identifier: Apache-2.0 */
/* Follows atoms along links of 16 bytes a block, meets what is new there, and keeps the state of the engine
 * meanwhile. */
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

/* Gives the address to which an indirect branch led, by the trace or the return stack. Returns false when
 * neither tells. */
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

/* Finds where the indirect branch of block `last` led: returns the block, and the pair of branch and target.
 * 0 when it was not met before. */
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

/* Sets the state behind a step of block `last`, of which the link is given. `is_new`: the edge that leads on
 * from there has no number. */
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

/* A step along links, and where it led. */
struct ct_fast_along {
    uint32_t last; /* the block of the step */
    unsigned exec;
    uint32_t link;                 /* its link; 0 before the first step */
    uint32_t block;                /* where execution is; 0 behind an indirect branch */
    struct ct_branch_target *pair; /* that leads there, or NULL */
    bool is_new;                   /* the edge that leads there may have no number */
};

/* Follows atoms as long as all is known. Result: how many. */
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

/* Finds where the indirect branch of block `last` led, as ct_fast_known_turn does; the pair is made when it
 * is new. */
uint32_t ct_fast_meet_turn(struct ct_fast *f, const struct ct_fast_at *b, uint32_t last,
                           struct ct_branch_target **pair);

/* Counts the edge behind the last step, which is new and leads to an address where all is known. Returns
 * false when the plain way has to go there. */
bool ct_fast_meet_join(struct ct_fast *f, struct ct_fast_at *b);

/* Follows one atom, and meets what is new. Returns false when the plain way has to take it. */
bool ct_fast_follow_one(struct ct_fast *f, struct ct_fast_at *b, struct ct_fast_along *a, unsigned exec);

/* Does the same. What is given by its address would be in memory for all of a burst, so copies are. */
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

/* Follows atoms from a block on, which `pair` leads to if there is one. `is_new`: the edge that leads there
 * may have no number. Result: how many; the state is behind the last of them. */
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

/* Follows atoms from where execution is, at `block` by `pair` if that is known (ct_fast_known_begin). Result:
 * as of ct_fast_follow_links. */
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

#endif
