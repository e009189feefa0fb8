/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the combined effect of calls and returns on a return stack equals their effects one by one: for
 * any content and depth, when a full stack drops its oldest entries, and when some entries are in doubt. */
#include "flow/stack_effect.h"
#include "support/rng.h"
#include "support/unit.h"

enum {
    ROWS = 20000,
    MOST = 40, /* calls and returns per row */
};

/* A row of calls, each with its own return address, and returns (0). */
struct row {
    uint64_t calls[MOST];
    unsigned size;
};

static struct row random_row(struct rng *rng)
{
    struct row row = {.size = rng_below(rng, MOST)};
    const unsigned often = 64 + rng_below(rng, 160);
    for (unsigned i = 0; i < row.size; i++)
        row.calls[i] = rng_chance(rng, often) ? 0x1000 + i * 4u : 0;
    return row;
}

static struct ct_return_stack random_stack(struct rng *rng)
{
    struct ct_return_stack stack = {.enabled = true, .top = rng_below(rng, CT_RETURN_STACK_SIZE)};
    for (unsigned calls = rng_below(rng, 24); calls; calls--) {
        ct_return_stack_push(&stack, 0x2000 + rng_below(rng, 3) * 4u, CT_ISA_A64);
        if (rng_chance(rng, 10))
            ct_return_stack_doubt(&stack);
    }
    return stack;
}

/* Executes a row one by one. Returns false when the stack has too few entries. */
static bool run(struct ct_return_stack *stack, const struct row *row)
{
    uint64_t addr;
    uint8_t isa;
    for (unsigned i = 0; i < row->size; i++)
        if (row->calls[i])
            ct_return_stack_push(stack, row->calls[i], CT_ISA_A64);
        else if (!ct_return_stack_pop(stack, &addr, &isa))
            return false;
    return true;
}

/* Computes the effect of a row. Returns false when an effect cannot hold it. */
static bool effect_of(const struct ct_return_stack *stack, const struct row *row,
                      struct ct_stack_effect *effect)
{
    uint64_t own[MOST];
    unsigned height = 0;
    *effect = (struct ct_stack_effect){0};
    for (unsigned i = 0; i < row->size; i++) {
        if (row->calls[i]) {
            if (height == CT_RETURN_STACK_SIZE)
                return false;
            own[height++] = row->calls[i];
        } else if (height) {
            height--;
        } else {
            if (effect->pops == CT_STACK_EFFECT_ROOM || effect->pops == stack->count)
                return false;
            const unsigned at = (stack->top - effect->pops) % CT_RETURN_STACK_SIZE;
            effect->addr[effect->pops++] = stack->entries[at].addr;
        }
        if (height > effect->pops + effect->depth)
            effect->depth = (uint8_t)(height - effect->pops);
    }
    if (effect->pops + height > CT_STACK_EFFECT_ROOM)
        return false;
    for (unsigned i = 0; i < height; i++)
        effect->addr[effect->pops + i] = own[i];
    effect->pushes = (uint8_t)height;
    return true;
}

static void assert_same(const struct ct_return_stack *a, const struct ct_return_stack *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->doubted, b->doubted);
    for (unsigned i = 0; i < a->count + a->doubted; i++) {
        const unsigned x = (a->top - i) % CT_RETURN_STACK_SIZE;
        const unsigned y = (b->top - i) % CT_RETURN_STACK_SIZE;
        assert_int_equal(a->entries[x].addr, b->entries[y].addr);
        assert_int_equal(a->entries[x].isa, b->entries[y].isa);
    }
}

TEST(test_rows)
{
    struct rng rng = {1};
    unsigned changed = 0;
    for (unsigned n = 0; n < ROWS; n++) {
        const struct row row = random_row(&rng);
        const struct ct_return_stack before = random_stack(&rng);
        struct ct_return_stack plain = before;
        struct ct_return_stack quick = before;
        struct ct_stack_effect effect;
        if (!effect_of(&before, &row, &effect) || !ct_stack_has(&before, &effect))
            continue;
        assert_true(run(&plain, &row));
        ct_stack_change(&quick, &effect);
        assert_same(&plain, &quick);
        changed++;
    }
    assert_in_range(changed, ROWS / 4, ROWS);
}

/* The same row on another stack, which has the removed entries or not. */
TEST(test_other_stacks)
{
    struct rng rng = {2};
    unsigned refused = 0;
    for (unsigned n = 0; n < ROWS; n++) {
        const struct row row = random_row(&rng);
        const struct ct_return_stack met = random_stack(&rng);
        struct ct_return_stack plain = random_stack(&rng);
        struct ct_return_stack quick = plain;
        struct ct_stack_effect effect;
        if (!effect_of(&met, &row, &effect))
            continue;
        if (!ct_stack_has(&plain, &effect)) {
            refused++;
            continue;
        }
        for (unsigned i = 0; i < effect.pops; i++)
            assert_int_equal(plain.entries[(plain.top - i) % CT_RETURN_STACK_SIZE].addr, effect.addr[i]);
        assert_true(run(&plain, &row));
        ct_stack_change(&quick, &effect);
        assert_same(&plain, &quick);
    }
    assert_in_range(refused, ROWS / 50, ROWS);
}

/* An entry of another instruction set is a different one. */
TEST(test_instruction_set)
{
    const struct ct_stack_effect effect = {.addr = {0x2000}, .pops = 1};
    struct ct_return_stack stack = {.enabled = true};
    ct_return_stack_push(&stack, 0x2000, CT_ISA_A32);
    assert_false(ct_stack_has(&stack, &effect));
    ct_return_stack_push(&stack, 0x2000, CT_ISA_A64);
    assert_true(ct_stack_has(&stack, &effect));
}
