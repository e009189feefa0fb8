/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/leg_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/simd.h"
#include "base/table_memory.h"

#define FIRST_SLOTS (1u << 14)

_Static_assert(sizeof(struct ct_leg_row) == 128, "a row fills two cache lines");
_Static_assert(CT_LEG_ROW_STEPS < CT_LEG_KEY_SHIFT, "the atoms of a row do not reach its key");
_Static_assert(CT_BLOCKS_MAX * 3 <= CT_LEG_SLOTS_MAX,
               "there is a slot for each edge of a block and each pair");

static bool grow_slots(struct ct_leg_strips *c)
{
    const uint32_t cap = c->slot_cap ? c->slot_cap * 2 : FIRST_SLOTS;
    struct ct_leg_sums *sums = ct_array_grow(c->sums, c->slot_cap, cap, sizeof *sums);
    c->sums = sums ? sums : c->sums;
    struct ct_leg_slot *slots = sums ? ct_array_grow(c->slots, c->slot_cap, cap, sizeof *slots) : NULL;
    c->slots = slots ? slots : c->slots;
    c->slot_cap = slots ? cap : c->slot_cap;
    return slots;
}

/* Makes a slot and returns its number; 0 when out of memory. */
static uint32_t make_slot(struct ct_fast *f, uint32_t step, uint32_t next, uint32_t edge)
{
    struct ct_leg_strips *c = f->legs->strips;
    if (c->slot_count == c->slot_cap && !grow_slots(c)) {
        f->blocks.error = ct_fail_nomem(f->ctx, "fast walk");
        return 0;
    }
    c->slots[c->slot_count] = (struct ct_leg_slot){.step = step, .next = next, .edge = edge};
    return c->slot_count++;
}

bool ct_leg_table_have(struct ct_fast *f)
{
    struct ct_legs *g = f->legs;
    if (!g->strips && (g->strips = ct_table_of_zeros(1, sizeof *g->strips))) {
        g->strips->shift = 64 - CT_LEG_ROWS_SHIFT;
        g->strips->simd = ct_simd();
        g->strips->slot_count = 1;
    }
    struct ct_leg_strips *c = g->strips;
    uint32_t(*slot_of)[2] = c ? c->slot_of : NULL;
    if (c && c->block_cap < g->cap)
        slot_of = ct_array_grow(c->slot_of, c->block_cap, g->cap, sizeof *slot_of);
    if (!slot_of || (!c->slot_cap && !grow_slots(c))) {
        f->blocks.error = ct_fail_nomem(f->ctx, "fast walk");
        return false;
    }
    c->slot_of = slot_of;
    c->block_cap = g->cap;
    return true;
}

/* Returns the block behind the first `steps` steps of the strip, where the address `addr` leads: 0 when that
 * is new, or contradicts the program. */
static uint32_t block_behind(struct ct_fast *f, uint32_t steps, uint64_t addr)
{
    const struct ct_leg_strips *c = f->legs->strips;
    if (steps)
        return c->slots[c->step[steps - 1] >> CT_LEG_SLOT_SHIFT].next;
    if (c->cur)
        return addr & 1 || f->blocks.blocks[c->cur].addr == addr ? c->cur : 0;
    const struct ct_leg_turn *turn = ct_legs_turn(f, c->last, addr);
    return turn ? turn->next : 0;
}

/* Returns the slot of a step of block `from`, which leads to block `next`; 0 when out of memory. */
static uint32_t slot_of(struct ct_fast *f, uint32_t from, unsigned exec, uint32_t next)
{
    struct ct_leg_strips *c = f->legs->strips;
    if (!c->slot_of[from][exec])
        c->slot_of[from][exec] = make_slot(f, from << 1 | exec, next, f->blocks.blocks[from].edge[exec]);
    return c->slot_of[from][exec];
}

/* Returns the slot of an indirect branch of block `from` to an address; 0 when the pair is new, or out of
 * memory. */
static uint32_t slot_of_turn(struct ct_fast *f, uint32_t from, uint64_t addr)
{
    struct ct_leg_turn *turn = ct_legs_turn(f, from, addr);
    if (turn && !turn->slot)
        turn->slot = make_slot(f, from << 1 | 1, turn->next, turn->edge);
    return turn ? turn->slot : 0;
}

/* Numbers what is new in a step of a block: its node, and the edge to the step behind it. `next`: the address
 * behind the step, or CT_STRETCH_GOES_ON. `exec_behind`: the atom of the step behind it. Returns false when
 * the plain walk has to take one of the two steps. */
static __attribute__((noinline)) bool meet(struct ct_fast *f, uint32_t block, unsigned exec, uint64_t next,
                                           unsigned exec_behind)
{
    struct ct_blocks *b = &f->blocks;
    const unsigned flags = b->blocks[block].flags;
    const bool indirect = exec && flags & CT_BLOCK_INDIRECT;
    struct ct_branch_target *pair = NULL;
    if (ct_blocks_are_full(b) || flags & CT_BLOCK_SLOW || ct_block_contradicts(&b->blocks[block], exec))
        return false;
    if (indirect && (next == CT_STRETCH_GOES_ON || !(pair = ct_blocks_pair(b, block, next, CT_ISA_A64))))
        return false;
    const uint32_t number = pair ? pair->next : ct_blocks_link(b, block, exec);
    const struct ct_block *behind = &b->blocks[number];
    if (behind->flags & CT_BLOCK_SLOW || ct_block_contradicts(behind, exec_behind) ||
        (next != CT_STRETCH_GOES_ON && behind->addr != next))
        return false;
    if (pair)
        ct_pair_edge(b, pair);
    else
        ct_block_edge(b, block, exec);
    return !b->error && ct_legs_have(f) && ct_leg_table_have(f);
}

/* Returns atom number `at` of the strip. */
static unsigned atom_at(const struct ct_leg_strips *c, uint32_t at)
{
    return ct_leg_bits(c, at, 1) & 1;
}

bool ct_leg_begin(struct ct_fast *f)
{
    const struct ct_leg_strips *c = f->legs->strips;
    const bool is_known = c->cur ? f->blocks.blocks[c->last].edge[c->exec] != CT_NO_NUMBER
                                 : ct_legs_turn(f, c->last, c->addr[0]) != NULL;
    const uint64_t next = c->addr[0] & 1 ? CT_STRETCH_GOES_ON : c->addr[0];
    if (!is_known && !(c->at[1] && meet(f, c->last, c->exec, next, atom_at(c, 0))))
        return false;
    return block_behind(f, 0, c->addr[0]);
}

/* Returns a step of *block, and sets *block to the one behind it. `next`: the address behind the step, or
 * CT_STRETCH_GOES_ON. Returns 0 when something is not known. */
static inline uint32_t known_step(struct ct_fast *f, uint32_t *block, unsigned exec, uint64_t next)
{
    const bool ends = next != CT_STRETCH_GOES_ON;
    uint32_t link = f->legs->links[*block].next[exec];
    if (!link)
        link = ct_legs_link(f, *block, exec);
    const uint32_t behind = link & CT_LEG_BLOCK;
    const uint32_t insns = link >> CT_LEG_INSNS_SHIFT & CT_LEG_INSNS_MOST;
    if (!link || insns > CT_LEG_ROW_INSNS || (behind && ends && f->blocks.blocks[behind].addr != next) ||
        !(behind || ends))
        return 0;
    const uint32_t slot = behind ? slot_of(f, *block, exec, behind) : slot_of_turn(f, *block, next);
    if (!slot)
        return 0;
    *block = behind;
    return slot << CT_LEG_SLOT_SHIFT | insns;
}

/* Writes the steps of a stretch or piece with the atoms `bits` from block `block` on, and `next` behind it.
 * Numbers what is new in them. `at`: the number of the first step in the strip. `sure`: a step behind them is
 * executed. Returns false when the plain walk has to take one of them. */
static bool follow(struct ct_fast *f, uint32_t block, uint32_t at, uint64_t bits, uint64_t next, bool sure)
{
    uint32_t *const steps = f->legs->strips->step;
    for (uint64_t atoms = bits & ct_mask64(CT_LEG_KEY_SHIFT); atoms != 1; atoms >>= 1, at++) {
        const bool is_last = atoms >> 1 == 1;
        const uint64_t behind = is_last ? next : CT_STRETCH_GOES_ON;
        uint32_t step = known_step(f, &block, atoms & 1, behind);
        if (__builtin_expect(!step, 0) && (sure || !is_last) &&
            meet(f, block, atoms & 1, behind, atom_at(f->legs->strips, at + 1)))
            step = known_step(f, &block, atoms & 1, behind);
        if (!step)
            return false;
        steps[at] = step;
    }
    return true;
}

/* Follows a stretch or piece from step number `at` of the strip on, and puts it into a row. `sure`: as in
 * follow. Returns false when the plain walk has to take a part of it. */
static bool make_row(struct ct_fast *f, struct ct_leg_row *row, uint32_t at, const struct ct_leg_row *key,
                     bool sure)
{
    const uint32_t block = block_behind(f, at, key->addr);
    if (!block || !follow(f, block, at, key->bits, key->next, sure))
        return false;
    *row = *key;
    memcpy(row->steps, f->legs->strips->step + at, sizeof row->steps);
    return true;
}

/* Returns whether a step is known to be executed behind stretch `s`. `n`: the number of the last address. */
static bool is_sure(const struct ct_leg_strips *c, size_t s, size_t n)
{
    return s + 2 <= n && c->at[s + 2] > c->at[s + 1];
}

bool ct_leg_follow(struct ct_fast *f, size_t s, size_t n)
{
    struct ct_leg_strips *c = f->legs->strips;
    const struct ct_leg_row key = {.addr = c->addr[s], .next = c->addr[s + 1], .bits = c->bits[s]};
    return make_row(f, &c->rows[c->row[s]], c->at[s], &key, is_sure(c, s, n));
}

bool ct_leg_take_long(struct ct_fast *f, size_t s, size_t n)
{
    struct ct_leg_strips *c = f->legs->strips;
    const uint32_t end = c->at[s + 1];
    const bool sure = is_sure(c, s, n);
    struct ct_leg_row key = {.addr = c->addr[s]};
    for (uint32_t at = c->at[s]; at < end; at += CT_LEG_ROW_STEPS) {
        const bool is_last = end - at <= CT_LEG_ROW_STEPS;
        key.next = is_last ? c->addr[s + 1] : CT_STRETCH_GOES_ON;
        key.bits = ct_leg_bits(c, at, is_last ? end - at : CT_LEG_ROW_STEPS);
        struct ct_leg_row *row = &c->rows[ct_stretch_row(c->shift, key.addr, key.next, key.bits)];
        if (ct_leg_row_is(row, key.addr, key.next, key.bits))
            memcpy(c->step + at, row->steps, sizeof row->steps);
        else if (!make_row(f, row, at, &key, sure || !is_last))
            return false;
        if (!is_last)
            key.addr = (uint64_t)block_behind(f, at + CT_LEG_ROW_STEPS, 0) << 1 | 1;
    }
    return true;
}

int ct_leg_table_spend(struct ct_fast *f)
{
    struct ct_leg_strips *c = f->legs->strips;
    int rc = CT_OK;
    for (uint32_t i = 1; c && i < c->slot_count && !rc; i++)
        if (c->sums[i].times)
            rc = ct_legs_spend(f, c->slots[i].step >> 1, c->slots[i].step & 1, c->slots[i].edge, &c->sums[i]);
    return rc;
}

void ct_leg_table_forget(struct ct_legs *g)
{
    struct ct_leg_strips *c = g->strips;
    if (!c)
        return;
    memset(c->rows, 0, sizeof c->rows);
    memset(c->slot_of, 0, c->block_cap * sizeof *c->slot_of);
    c->slot_count = 1;
}

void ct_leg_table_free(struct ct_legs *g)
{
    struct ct_leg_strips *c = g->strips;
    if (!c)
        return;
    ct_array_free(c->sums, c->slot_cap, sizeof *c->sums);
    ct_array_free(c->slots, c->slot_cap, sizeof *c->slots);
    ct_array_free(c->slot_of, c->block_cap, sizeof *c->slot_of);
    free(c);
}
