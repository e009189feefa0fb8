/* SPDX-License-Identifier: Apache-2.0 */
/* Follows stretches along links once more, where there is a return stack. The return addresses that a stretch
 * takes are either in its effect, or it pushed them itself. */
#pragma once

#include "flow/fast_links.h"
#include "flow/stack_effect.h"

/* The return addresses of a stretch while it is followed. */
struct ct_return_trip {
    uint64_t own[CT_RETURN_STACK_SIZE]; /* those that it pushed, the newest last */
    uint8_t height;                     /* how many of `own` are still on the stack */
    uint8_t pops;                       /* how many it took off that were on the stack before it */
};

static inline void ct_return_trip_begin(struct ct_return_trip *trip)
{
    trip->height = trip->pops = 0;
}

static inline void ct_return_trip_push(struct ct_return_trip *trip, uint64_t addr)
{
    trip->own[trip->height++] = addr;
}

/* Follows the indirect branch of a block to its return address, which no address in the trace tells, and adds
 * `count` to that pair. Returns the block there; 0 when the pair is new. */
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

/* The place where a row of atoms begins. */
struct ct_row_begin {
    uint32_t block; /* the first block; with `behind`, that of the step before the row */
    bool behind;    /* the row continues another one, whose last atom is `exec` */
    uint8_t exec;
};

/* Returns the block where a row begins. When the row has to take its address off the return stack, adds
 * `count` to the pair that leads there. Returns 0 when part of it is not known. */
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

/* Finds what a row of atoms, with a 1 behind the last one, did to a return stack that was as `before`. The
 * row must have been followed, so that its links and pairs are known. Returns false when an effect cannot
 * hold it. */
bool ct_fast_find_effect(struct ct_fast *f, const struct ct_return_stack *before, struct ct_row_begin begin,
                         uint64_t atoms, struct ct_stack_effect *effect);
