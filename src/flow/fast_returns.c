/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/fast_returns.h"

#include <string.h>

/* Takes one more return address off the stack that was there before. Returns false when it has none, or the
 * effect has no room for it. */
static bool take_one(const struct ct_return_stack *before, struct ct_stack_effect *effect)
{
    if (effect->pops == before->count || effect->pops == CT_STACK_EFFECT_ROOM)
        return false;
    const unsigned at = (before->top - effect->pops) % CT_RETURN_STACK_SIZE;
    effect->addr[effect->pops++] = before->entries[at].addr;
    return true;
}

/* Pushes the return address of a block. Returns false when there is no room. */
static bool push_one(const struct ct_fast *f, struct ct_return_trip *trip, uint32_t block,
                     struct ct_stack_effect *effect)
{
    if (trip->height == CT_RETURN_STACK_SIZE)
        return false;
    ct_return_trip_push(trip, f->blocks.blocks[block].end);
    if (trip->height > effect->pops + effect->depth)
        effect->depth = (uint8_t)(trip->height - effect->pops);
    return true;
}

/* Returns whether the indirect branch of a link, if it is one, can take an address: one of the row, or else
 * one that it adds to the effect. */
static bool can_turn(const struct ct_return_stack *before, const struct ct_return_trip *trip, uint32_t link,
                     struct ct_stack_effect *effect)
{
    return !(link & CT_LINK_INDIRECT) || trip->height || take_one(before, effect);
}

bool ct_fast_find_effect(struct ct_fast *f, const struct ct_return_stack *before, struct ct_row_begin begin,
                         uint64_t atoms, struct ct_stack_effect *effect)
{
    struct ct_return_trip trip;
    ct_return_trip_begin(&trip);
    *effect = (struct ct_stack_effect){.from_exec = begin.exec};
    if (begin.behind && !can_turn(before, &trip, f->links[begin.block].next[begin.exec], effect))
        return false;
    uint32_t block = ct_return_trip_enter(f, &trip, effect, begin, 0);
    for (; block; atoms >>= 1) {
        const uint32_t link = f->links[block].next[atoms & 1];
        if (link & CT_LINK_PUSH && !push_one(f, &trip, block, effect))
            return false;
        effect->end = block << 1 | (atoms & 1);
        if (atoms >> 1 == 1)
            break;
        if (!can_turn(before, &trip, link, effect))
            return false;
        block =
            link & CT_LINK_INDIRECT ? ct_return_trip_turn(f, &trip, effect, block, 0) : link & CT_LINK_BLOCK;
    }
    if (!block || effect->pops + trip.height > CT_STACK_EFFECT_ROOM)
        return false;
    memcpy(effect->addr + effect->pops, trip.own, trip.height * sizeof *trip.own);
    effect->pushes = trip.height;
    return ct_stack_has(before, effect);
}
