/* SPDX-License-Identifier: Apache-2.0 */
/* The table of stretches for cycles. A stretch is the atoms between two addresses; these and its atoms
 * determine its steps, so one look-up gives all of them, and does not wait for the look-ups before. A step is
 * the number of its slot and its instructions. A slot is an edge with its sums, numbered in the order in
 * which edges are met, so that the sums of what ran lie side by side. */
#pragma once

#include "base/bytes.h"
#include "flow/fast_legs.h"
#include "flow/stretch_table.h"

/* log2 of the number of stretches in the table */
#define CT_LEG_ROWS_SHIFT 15u

/* Maximal number of steps of a stretch in the table; longer ones are there in pieces. */
#define CT_LEG_ROW_STEPS 26u

/* The parts of a step: its slot from bit CT_LEG_SLOT_SHIFT on, CT_LEG_END, and its instructions. */
#define CT_LEG_SLOT_SHIFT 10u
#define CT_LEG_SLOTS_MAX  (UINT32_C(1) << 22)
#define CT_LEG_END        (UINT32_C(1) << 9) /* a leg ends with the step; not in the table */
#define CT_LEG_ROW_INSNS  (CT_LEG_END - 1)

/* A stretch of the table, in two cache lines, or a piece of one. A piece that does not end with the stretch
 * has CT_STRETCH_GOES_ON in place of the address behind it, one that does not begin with it the block where
 * it begins, << 1 | 1, in place of the address. Both are odd, which addresses of A64 code are not. */
struct ct_leg_row {
    uint64_t addr;
    uint64_t next;
    uint64_t bits; /* its atoms, then a 1; from bit CT_LEG_KEY_SHIFT on the `key`; 0: the row is free */
    uint32_t steps[CT_LEG_ROW_STEPS];
};

#define CT_LEG_KEY_SHIFT 32

/* The edge of a slot. */
struct ct_leg_slot {
    uint32_t step; /* block << 1 | atom */
    uint32_t next; /* the block behind the step */
    uint32_t edge;
};

/* The table, and the strip that is counted. */
struct ct_leg_strips {
    _Alignas(64) struct ct_leg_row rows[1u << CT_LEG_ROWS_SHIFT];
    unsigned shift;           /* 64 - log2 of the rows */
    enum ct_simd simd;        /* the instructions that count */
    uint32_t key;             /* memory space and domain of the strip */
    struct ct_leg_sums *sums; /* by slot, from 1 on */
    struct ct_leg_slot *slots;
    uint32_t slot_count, slot_cap;
    uint32_t (*slot_of)[2]; /* by block and atom, unless the branch is indirect; 0: there is no slot yet */
    uint32_t block_cap;     /* number of blocks with room in `slot_of` */
    /* the strip: its addresses, the number of the first atom behind each, its atoms, and the step of each */
    uint64_t addr[CT_STRIP_PLACES];
    uint32_t at[CT_STRIP_PLACES];
    uint64_t bits[CT_STRIP_PLACES]; /* as in a row; of the first piece of a stretch that is too long */
    uint32_t row[CT_STRIP_PLACES];
    uint64_t atoms[CT_STRIP_ATOMS / 64 + 2];
    uint32_t step[CT_STRIP_ATOMS + CT_LEG_ROW_STEPS];
    uint32_t insns[CT_STRIP_ATOMS + 1]; /* of all steps before each step that is being added */
    /* its cycle counts: the number of atoms before each, and the cycles */
    uint32_t count_at[CT_STRIP_COUNTS];
    uint32_t cycles[CT_STRIP_COUNTS];
    uint64_t rate[CT_STRIP_COUNTS + 1]; /* of each leg that is being added, as in struct ct_legs */
    uint32_t until[CT_STRIP_COUNTS + 1];
    uint32_t last, exec, cur; /* the last step before the strip, and the block behind it */
    uint32_t legs;            /* number of legs that are added … */
    uint32_t steps;           /* … and of their steps, of which the last one is held back … */
    uint32_t held;            /* … with these cycles */
    bool stopped;             /* a leg has come that strips cannot take */
};

/* Makes the table unless there is one, and room for the slots of all blocks. Returns false when out of
 * memory. */
bool ct_leg_table_have(struct ct_fast *f);

/* Returns `count` atoms of the strip, at most CT_LEG_ROW_STEPS, as `bits` of a row. */
static inline uint64_t ct_leg_bits(const struct ct_leg_strips *c, uint32_t at, uint32_t count)
{
    const uint64_t atoms = ct_load64((const uint8_t *)c->atoms + (at >> 3)) >> (at & 7) & ct_mask64(count);
    return atoms | UINT64_C(1) << count | (uint64_t)c->key << CT_LEG_KEY_SHIFT;
}

/* Returns whether a row has this stretch. */
static inline bool ct_leg_row_is(const struct ct_leg_row *row, uint64_t addr, uint64_t next, uint64_t bits)
{
    return row->addr == addr && row->next == next && row->bits == bits;
}

/* Numbers the edge of the step before the strip when it is new. Returns false when the plain walk has to take
 * the first step. */
bool ct_leg_begin(struct ct_fast *f);

/* Write the steps of stretch `s`, and number what is new in it. `n`: the number of the last address of the
 * strip. Return false when the plain walk has to take it. The first is for a stretch that its row does not
 * have, the second for one that is longer than a row. */
bool ct_leg_follow(struct ct_fast *f, size_t s, size_t n);
bool ct_leg_take_long(struct ct_fast *f, size_t s, size_t n);
