/* SPDX-License-Identifier: Apache-2.0 */
/* Counts cycles of strips: stretches and cycle counts that were listed directly from the scan, so that no
 * elements are made. The steps of each stretch are copied from the table (leg_table.h). */
#include "flow/leg_table.h"

#include <string.h>

bool ct_fast_begin_timed_strip(struct ct_fast *f, struct ct_fast_strip *strip, uint32_t **count_at,
                               uint32_t **cycles)
{
    if (!ct_legs_are_possible(f) || !(f->have_addr ? !(f->addr & 1) : f->cur) || !ct_fast_settle_step(f) ||
        !ct_legs_have(f) || !ct_leg_table_have(f))
        return false;
    struct ct_leg_strips *c = f->legs->strips;
    c->key = (uint32_t)f->domain << 16 | (uint8_t)ct_walk_space(f->walk);
    c->legs = c->steps = 0;
    c->stopped = false;
    c->last = f->last;
    c->exec = f->last_exec;
    c->cur = f->cur;
    c->addr[0] = f->have_addr ? f->addr : (uint64_t)f->cur << 1 | 1;
    c->at[0] = 0;
    *strip = (struct ct_fast_strip){.addr = c->addr, .at = c->at, .atoms = c->atoms};
    *count_at = c->count_at;
    *cycles = c->cycles;
    return true;
}

/* Finds the rows of the stretches from `first` below `n`, and prefetches them. */
CT_STRETCH_INLINE void find_rows(struct ct_leg_strips *c, size_t first, size_t n)
{
    for (size_t s = first; s < n; s++) {
        const uint32_t count = c->at[s + 1] - c->at[s];
        const bool fits = count <= CT_LEG_ROW_STEPS;
        c->bits[s] = ct_leg_bits(c, c->at[s], fits ? count : CT_LEG_ROW_STEPS);
        c->row[s] =
            ct_stretch_row(c->shift, c->addr[s], fits ? c->addr[s + 1] : CT_STRETCH_GOES_ON, c->bits[s]);
        __builtin_prefetch(&c->rows[c->row[s]], 1);
        __builtin_prefetch(&c->rows[c->row[s]].steps[CT_LEG_ROW_STEPS - 1], 1);
    }
}

/* Writes the steps of the stretches from `first` below `n`. Returns the number of the stretch that the plain
 * walk has to take, or n. */
CT_STRETCH_INLINE size_t take_stretches(struct ct_fast *f, size_t first, size_t n, size_t ahead)
{
    struct ct_leg_strips *c = f->legs->strips;
    size_t s;
    if (!first && n && !ct_leg_begin(f))
        return 0;
    for (s = first; s < n; s++) {
        const uint32_t count = c->at[s + 1] - c->at[s];
        const struct ct_leg_row *row = &c->rows[c->row[s]];
        const bool known = ct_leg_row_is(row, c->addr[s], c->addr[s + 1], c->bits[s]);
        if (__builtin_expect(known && count <= CT_LEG_ROW_STEPS, 1)) {
            memcpy(c->step + c->at[s], row->steps, sizeof row->steps);
        } else if (!count ||
                   !(count > CT_LEG_ROW_STEPS ? ct_leg_take_long(f, s, ahead) : ct_leg_follow(f, s, ahead))) {
            break;
        }
    }
    return s;
}

/* Gives the step before the strip its edge. */
static void settle(struct ct_fast *f)
{
    const struct ct_leg_strips *c = f->legs->strips;
    struct ct_step_builder *b = &f->builder;
    b->edge[b->count - 1] =
        c->cur ? f->blocks.blocks[c->last].edge[c->exec] : ct_legs_turn(f, c->last, c->addr[0])->edge;
    b->pending = false;
}

/* Returns the number of the first of the `listed` legs that cannot be added yet, because some of its steps
 * are not among the first `known`, or that strips cannot take. */
static uint32_t find_last_leg(struct ct_leg_strips *c, uint32_t known, uint32_t listed)
{
    uint32_t n = c->legs;
    for (uint32_t at = c->steps; n < listed && c->count_at[n] <= known; at = c->count_at[n++]) {
        const uint32_t steps = c->count_at[n] - at;
        c->stopped = !steps || steps > CT_LEGS_STEPS || c->cycles[n] > CT_LEG_CYCLES_MOST;
        if (c->stopped)
            break;
    }
    return n;
}

/* Adds the legs before number `n` to the sums, each divided among its steps as ct_step_split does. Where legs
 * end cannot be predicted, so nothing branches on it. The last step is held back, because its edge may still
 * change. */
CT_STRETCH_INLINE void add_legs(struct ct_fast *f, uint32_t n)
{
    struct ct_legs *g = f->legs;
    struct ct_leg_strips *c = g->strips;
    struct ct_leg_sums *const sums = c->sums;
    const uint32_t begin = c->steps;
    const uint32_t end = c->count_at[n - 1];
    uint32_t *const step = c->step + begin;
    uint32_t all = 0;
    for (uint32_t i = 0; i < end - begin; i++) {
        __builtin_prefetch(&sums[step[i] >> CT_LEG_SLOT_SHIFT], 1);
        c->insns[i] = all;
        all += step[i] & CT_LEG_ROW_INSNS;
    }
    c->insns[end - begin] = all;
    uint32_t cycles = 0;
    uint32_t at = 0;
    for (uint32_t k = c->legs; k < n; k++) {
        const uint32_t upto = c->count_at[k] - begin;
        c->rate[k - c->legs] = ct_leg_rate(c->cycles[k], c->insns[upto] - c->insns[at]);
        c->until[k - c->legs] = cycles += c->cycles[k];
        step[upto - 1] |= CT_LEG_END;
        at = upto;
    }
    if (c->legs)
        ct_leg_add(&sums[step[-1] >> CT_LEG_SLOT_SHIFT], c->held);
    else
        settle(f);
    uint32_t leg = 0;
    uint32_t sum = 0;
    for (uint32_t i = 0; i + 1 < end - begin; i++) {
        const uint32_t ends = (step[i] & CT_LEG_END) != 0;
        const uint32_t before = sum;
        sum += ct_leg_part(step[i] & CT_LEG_ROW_INSNS, c->rate[leg]);
        sum += (c->until[leg] - sum) & -ends; /* the last step gets the remainder */
        leg += ends;
        ct_leg_add(&sums[step[i] >> CT_LEG_SLOT_SHIFT], sum - before);
    }
    g->cycles += cycles;
    g->counted += end - begin;
    c->held = c->until[leg] - sum;
    c->legs = n;
    c->steps = end;
}

/* Does what ct_fast_count_timed_strip does. */
CT_STRETCH_INLINE bool count_strip(struct ct_fast *f, size_t *done, size_t n, size_t ahead, size_t counts)
{
    struct ct_leg_strips *c = f->legs->strips;
    find_rows(c, n, ahead);
    *done = take_stretches(f, *done, n, ahead);
    /* Behind two addresses without an atom between them, execution is unknown: a count there must be left. */
    const bool astray = *done < ahead && c->at[*done + 1] == c->at[*done] && c->at[*done];
    const uint32_t legs = find_last_leg(c, c->at[*done] - astray, (uint32_t)counts);
    if (legs > c->legs)
        add_legs(f, legs);
    return *done == n && !c->stopped;
}

#ifdef CT_STRETCH_HAVE_AVX

static CT_STRETCH_AVX2 bool count_strip_avx2(struct ct_fast *f, size_t *done, size_t n, size_t ahead,
                                             size_t counts)
{
    return count_strip(f, done, n, ahead, counts);
}

static CT_STRETCH_AVX512 bool count_strip_avx512(struct ct_fast *f, size_t *done, size_t n, size_t ahead,
                                                 size_t counts)
{
    return count_strip(f, done, n, ahead, counts);
}

#endif

bool ct_fast_count_timed_strip(struct ct_fast *f, size_t *done, size_t n, size_t ahead, size_t counts)
{
    if (ct_legs_are_many(f->legs))
        f->blocks.error = ct_fast_spend_legs(f);
    if (f->blocks.error)
        return false;
#ifdef CT_STRETCH_HAVE_AVX
    if (f->legs->strips->simd == CT_SIMD_AVX2)
        return count_strip_avx2(f, done, n, ahead, counts);
    if (f->legs->strips->simd == CT_SIMD_AVX512)
        return count_strip_avx512(f, done, n, ahead, counts);
#endif
    return count_strip(f, done, n, ahead, counts);
}

size_t ct_fast_timed_legs(const struct ct_fast *f)
{
    return f->legs->strips->legs;
}

void ct_fast_end_timed_strip(struct ct_fast *f, size_t addresses, uint32_t marks)
{
    const struct ct_leg_strips *c = f->legs->strips;
    const struct ct_leg_slot *last = &c->slots[c->step[c->steps - 1] >> CT_LEG_SLOT_SHIFT];
    const uint32_t begin = c->legs > 1 ? c->count_at[c->legs - 2] : 0;
    const bool have_addr = addresses && c->at[addresses] == c->steps;
    const struct ct_leg_place place = {.last = last->step >> 1,
                                       .exec = last->step & 1,
                                       .cycles = ct_leg_last_cycles(c->held, c->steps - begin),
                                       .cur = f->legs->links[last->step >> 1].next[last->step & 1] &
                                              CT_LEG_BLOCK,
                                       .marks = marks,
                                       .addr = have_addr ? c->addr[addresses] : f->addr,
                                       .have_addr = have_addr};
    ct_legs_put_place(f, &place);
}

void ct_fast_tune_legs(struct ct_fast *f, unsigned rows)
{
    if (f->counts || !ct_legs_have(f) || !ct_leg_table_have(f))
        return;
    ct_leg_table_forget(f->legs);
    f->legs->strips->shift = 64 - rows;
}
