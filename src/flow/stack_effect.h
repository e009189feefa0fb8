/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of a row of A64 atoms on the return stack: the return addresses that the row takes off from
 * those before it, and those that it leaves in their place. The effect is the same each time the row recurs,
 * as long as the stack has the addresses that it takes. */
#pragma once

#include "coretap/program.h"
#include "flow/return_stack.h"

/* Maximal number of return addresses that are taken and left, together. */
#define CT_STACK_EFFECT_ROOM 7u

/* The effect of one row. It fills a cache line. */
struct ct_stack_effect {
    /* the return addresses that are taken, the newest first; behind them those that are left, the newest last
     */
    uint64_t addr[CT_STACK_EFFECT_ROOM];
    uint8_t pops;      /* number of addresses taken */
    uint8_t pushes;    /* number of addresses left */
    uint8_t depth;     /* maximal height of the stack above its height at the beginning */
    uint8_t from_exec; /* when the row continues another one: the last atom of that one */
    uint32_t end;      /* the last step of the row: its block << 1 | its atom */
};

/* Returns how many of its entries a stack keeps while it gets deeper by `depth`. */
static inline unsigned ct_stack_kept(const struct ct_return_stack *stack, unsigned depth)
{
    const unsigned most = CT_RETURN_STACK_SIZE - depth;
    return stack->count < most ? stack->count : most;
}

/* Returns true when the stack has the addresses that the effect takes off. */
static inline bool ct_stack_has(const struct ct_return_stack *stack, const struct ct_stack_effect *effect)
{
    if (effect->pops > ct_stack_kept(stack, effect->depth))
        return false;
    for (unsigned i = 0; i < effect->pops; i++) {
        const unsigned at = (stack->top - i) % CT_RETURN_STACK_SIZE;
        if (stack->entries[at].addr != effect->addr[i] || stack->entries[at].isa != CT_ISA_A64)
            return false;
    }
    return true;
}

/* Returns a hash of the newest `count` return addresses, whether the stack has so many or not. */
static inline uint64_t ct_stack_hash(const struct ct_return_stack *stack, unsigned count)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < count; i++)
        hash = (hash ^ stack->entries[(stack->top - i) % CT_RETURN_STACK_SIZE].addr) *
               UINT64_C(0x9e3779b97f4a7c15);
    return hash;
}

/* Applies the effect to a stack that has the addresses it takes. A full stack drops its oldest entries. */
static inline void ct_stack_change(struct ct_return_stack *stack, const struct ct_stack_effect *effect)
{
    const unsigned kept = ct_stack_kept(stack, effect->depth);
    const unsigned room = CT_RETURN_STACK_SIZE - effect->depth - kept;
    if (stack->doubted > room)
        stack->doubted = room;
    stack->count = kept - effect->pops + effect->pushes;
    stack->top = (stack->top - effect->pops) % CT_RETURN_STACK_SIZE;
    for (unsigned i = 0; i < effect->pushes; i++) {
        stack->top = (stack->top + 1) % CT_RETURN_STACK_SIZE;
        stack->entries[stack->top].addr = effect->addr[effect->pops + i];
        stack->entries[stack->top].isa = CT_ISA_A64;
    }
}
