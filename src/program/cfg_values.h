/* SPDX-License-Identifier: Apache-2.0 */
/* Where the value of a register comes from, as far as the code alone shows it: a constant, or a constant
 * added to what another register or place on the stack contained at an earlier time. */
#pragma once

#include "program/cfg.h"

#define CT_PLACE_STACK   64 /* in place of a register: `size` bytes of the frame of the function */
#define CT_VALUES_ROUNDS 64 /* values at the start of blocks that are remembered */

/* What holds a value. */
struct ct_value_place {
    uint32_t reg;
    uint32_t size;
    int64_t offset; /* from the stack pointer at the entry of the function */
};

enum ct_value_from {
    CT_VALUE_UNKNOWN, /* is no other value */
    CT_VALUE_CONST,   /* x is `constant` */
    CT_VALUE_ENTRY,   /* x is what `place` has when the function is entered */
    CT_VALUE_BLOCK,   /* x is what `place` has each time that `block` is entered */
    CT_VALUE_INSN,    /* x is what the instruction at `at` in `block` writes to `place` */
};

/* The value outer + (extend(scale * x + inner) >> right). Sums are those of 64 bits, of which A32, T32 and
 * narrow A64 code uses the lower 32. */
struct ct_value {
    uint8_t from;   /* enum ct_value_from */
    uint8_t bits;   /* of scale * x + inner that are used; 64: all */
    uint8_t right;  /* less than 64; an arithmetic shift when is_signed */
    bool is_signed; /* sign-extended */
    uint32_t block;
    struct ct_value_place place;
    uint64_t at;
    uint64_t constant, scale, inner, outer;
};

struct ct_values {
    const struct ct_cfg *cfg;
    uint32_t function;
    unsigned budget;  /* instructions that may still be looked at; without any, values are unknown */
    unsigned depth;   /* of the search */
    int8_t escapes;   /* 1: other code may know an address of the frame; 0: none does; -1: not known yet */
    bool is_address;  /* the value is an address: what the stack frame contains is unknown then */
    struct ct_known { /* values of registers at the start of blocks */
        uint32_t block, reg;
        bool is_wide, is_address, is_there;
        struct ct_value value;
    } known[CT_VALUES_ROUNDS];
};

static inline struct ct_value ct_value_constant(uint64_t value)
{
    return (struct ct_value){.from = CT_VALUE_CONST, .constant = value, .bits = 64, .scale = 1};
}

/* Extends the low `bits` of a value. Makes it UNKNOWN when the result has another form. */
struct ct_value ct_value_extend(struct ct_value value, unsigned bits, bool is_signed);

/* Finds the value of a place before the instruction at `addr` of a block; `addr` may be the end of the block.
 * `is_wide`: all 64 bits matter. */
struct ct_value ct_value_before(struct ct_values *values, uint32_t block, uint64_t addr,
                                struct ct_value_place place, bool is_wide);

struct ct_value ct_value_of_register(struct ct_values *values, uint32_t block, uint64_t addr, uint32_t reg,
                                     bool is_wide);

/* Returns whether both are functions of the same x. */
bool ct_value_is_alike(const struct ct_value *a, const struct ct_value *b);

/* Returns whether the value is a sum of x and a constant, in arithmetic of 64 or 32 bits. */
bool ct_value_is_sum(const struct ct_value *value, bool is_wide);

/* Returns the value for an x. */
uint64_t ct_value_for(const struct ct_value *value, uint64_t x);
