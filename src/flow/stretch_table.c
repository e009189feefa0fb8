/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the table of stretches, and judges whether it is worthwhile. */
#include "flow/stretch_table.h"

#include <string.h>

#include "base/ctx.h"
#include "base/simd.h"
#include "base/table_memory.h"

/* Minimal number of elements that are worth the table. */
#define ELEMS_LEAST 256u

/* After JUDGED stretches it is judged whether stretches recur. They do not when more than one of MISSES_BAD
 * was not in the table, and surely do when fewer than one of MISSES_FEW was not. If they do not, they rest
 * for REST elements the first time, and for twice as many each next time up to REST_MOST. */
#define JUDGED     (1u << 14)
#define MISSES_BAD 4u
#define MISSES_FEW 10u
#define REST       (1u << 20)
#define REST_MOST  (1u << 25)

/* The same numbers where there is a return stack: a stretch is longer there, and saves more. Only FEW_RETURNS
 * judgements in a row tell that stretches surely recur. */
#define JUDGED_RETURNS     (1u << 11)
#define MISSES_BAD_RETURNS 2u
#define MISSES_FEW_RETURNS 40u
#define FEW_RETURNS        10u
#define REST_RETURNS       (1u << 17)

/* Returns for how many elements stretches rest the first time. */
static uint32_t first_rest(const struct ct_stretches *c)
{
    return c->effects ? REST_RETURNS : REST;
}

void ct_stretches_judge(struct ct_stretches *c)
{
    if (c->looked <= (c->effects ? JUDGED_RETURNS : JUDGED))
        return;
    const bool bad = c->missed * (c->effects ? MISSES_BAD_RETURNS : MISSES_BAD) > c->looked;
    const bool few = c->missed * (c->effects ? MISSES_FEW_RETURNS : MISSES_FEW) < c->looked;
    c->few = few ? c->few + 1 : 0;
    c->repeats = c->few >= (c->effects ? FEW_RETURNS : 1);
    c->resting = bad ? c->rest : 0;
    c->rest = !bad ? first_rest(c) : c->rest < REST_MOST ? c->rest * 2 : REST_MOST;
    c->looked = c->missed = 0;
}

bool ct_stretches_have(struct ct_fast *f)
{
    if (f->stretches)
        return true;
    const size_t places = f->walk->stack.enabled ? sizeof f->stretches->rows / sizeof(struct ct_stretch) : 0;
    const size_t effects = places ? (places + CT_STRETCHES_LEFT) * sizeof(struct ct_stack_effect) +
                                        ((size_t)1 << CT_STRETCH_ROWS_SHIFT)
                                  : 0;
    f->stretches = ct_table_of_zeros(1, sizeof *f->stretches + effects);
    if (!f->stretches) {
        f->blocks.error = ct_fail_nomem(f->ctx, "fast walk");
        return false;
    }
    if (places) {
        f->stretches->effects = (struct ct_stack_effect *)(f->stretches + 1);
        f->stretches->left_effects = f->stretches->effects + places;
        f->stretches->seen = (uint8_t *)(f->stretches->left_effects + CT_STRETCHES_LEFT);
    }
    f->stretches->simd = ct_simd();
    f->stretches->shift = 64 - CT_STRETCH_ROWS_SHIFT;
    f->stretches->least = ELEMS_LEAST;
    f->stretches->batch = CT_STRETCH_BATCH;
    f->stretches->rest = first_rest(f->stretches);
    return true;
}

void ct_fast_forget_stretches(struct ct_fast *f)
{
    struct ct_stretches *c = f->stretches;
    if (!c)
        return;
    memset(c->rows, 0, sizeof c->rows);
    c->left_count = 0;
    c->used = false;
}

/* Returns true when `size` elements are worth the table. With a return stack the table is three times as
 * large, so the first atoms have to be over, too. */
static bool are_worth_table(const struct ct_fast *f, size_t size)
{
    const bool are_first = f->along && !f->along_last;
    return f->stretches || (size >= ELEMS_LEAST && !(f->walk->stack.enabled && are_first));
}

bool ct_fast_wants_stretches(struct ct_fast *f, size_t size)
{
    if (!f->walk->sf || f->pft || !are_worth_table(f, size) || !ct_stretches_have(f))
        return false;
    struct ct_stretches *c = f->stretches;
    c->resting -= c->resting < size ? c->resting : (uint32_t)size;
    return !c->resting && size >= c->least && f->marks < CT_FAST_MARKS / 2;
}

bool ct_fast_wants_strips(const struct ct_fast *f)
{
    const struct ct_stretches *c = f->stretches;
    return f->walk->stack.enabled ? c && c->repeats && !c->resting : !c || !c->resting;
}

bool ct_fast_repeats_stretches(const struct ct_fast *f)
{
    return f->stretches && f->stretches->repeats;
}

void ct_fast_tune_stretches(struct ct_fast *f, unsigned rows)
{
    if (!f->counts || !ct_stretches_have(f))
        return;
    ct_fast_spend_stretches(f);
    ct_fast_forget_stretches(f);
    f->stretches->shift = 64 - rows;
    f->stretches->least = CT_STRETCH_LEAST;
    f->stretches->repeats = true; /* so that there are strips with a return stack, too */
}
