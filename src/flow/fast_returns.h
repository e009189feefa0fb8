/* SPDX-License-Identifier: Apache-2.0 */
/* Follows stretches along links again where there is a return stack: those that it takes off are in their
 * effect, and the others they pushed themselves. */
#ifndef CT_FLOW_FAST_RETURNS_H
#define CT_FLOW_FAST_RETURNS_H

#include "flow/fast_links.h"
#include "flow/stack_effect.h"

/* Where a stretch is that is followed. */
struct ct_return_trip {
    uint64_t own[CT_RETURN_STACK_SIZE]; /* the return addresses that it pushed */
    uint8_t height;                     /* how many of them it has not taken off yet */
    uint8_t pops;                       /* how many it took off that were there before */
};

static inline void ct_return_trip_begin(struct ct_return_trip *trip)
{
    trip->height = trip->pops = 0;
}

static inline void ct_return_trip_push(struct ct_return_trip *trip, uint64_t addr)
{
    trip->own[trip->height++] = addr;
}

/* Goes on behind the indirect branch of a block to the return address, which no address in the trace tells,
 * and adds to the count of that pair. Returns the block there; 0 when the pair was not met before. */
static inline uint32_t ct_return_trip_turn(struct ct_fast *f, struct ct_return_trip *trip,
                                           const struct ct_stack_effect *effect, uint32_t block,
                                           uint32_t count)
{
    const uint64_t addr = trip->height ? trip->own[--trip->height] : effect->addr[trip->pops++];
    struct ct_branch_target *pair = ct_blocks_known_pair(&f->blocks, block, addr, CT_ISA_A64);
    if (!pair)
        return 0;
    pair->count += count;
    return pair->next;
}

/* Where a row of atoms begins. */
struct ct_row_begin {
    uint32_t block; /* with `behind`, of the step before it */
    bool behind;    /* it goes on behind another row, whose last atom is `exec` */
    uint8_t exec;
};

/* Returns the block where a row begins, and counts the pair that leads there when the row has to take its
 * address off the return stack. 0 when something on the way is not known. */
static inline uint32_t ct_return_trip_enter(struct ct_fast *f, struct ct_return_trip *trip,
                                            const struct ct_stack_effect *effect, struct ct_row_begin begin,
                                            uint32_t count)
{
    if (!begin.behind)
        return begin.block;
    const uint32_t link = f->links[begin.block].next[begin.exec];
    return link & CT_LINK_INDIRECT ? ct_return_trip_turn(f, trip, effect, begin.block, count)
                                   : link & CT_LINK_BLOCK;
}

/* Finds what atoms, which have a 1 behind the last one, did to a return stack that was as `before`; they were
 * followed, so that all links and pairs on the way are known. Returns false when it is more than an effect
 * can hold. */
bool ct_fast_find_effect(struct ct_fast *f, const struct ct_return_stack *before, struct ct_row_begin begin,
                         uint64_t atoms, struct ct_stack_effect *effect);

#endif
