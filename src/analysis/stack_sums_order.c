/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts sums of stacks: programs by build id, functions by program and address, places in preorder of the
 * tree of calls, and calls by program and site. */
#define _GNU_SOURCE /* qsort_r */
#include "analysis/stack_sums.h"

#include <stdlib.h>

#include "analysis/cover.h"
#include "base/ctx.h"
#include "base/saturate.h"

/* ---- functions ---- */

static int by_address(const void *a, const void *b, void *user)
{
    const struct ct_stack_function *all = user;
    const struct ct_stack_function *x = &all[*(const uint32_t *)a], *y = &all[*(const uint32_t *)b];
    if (x->program != y->program)
        return x->program < y->program ? -1 : 1;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static uint32_t *numbers_up_to(size_t count)
{
    uint32_t *numbers = calloc(count + 1, sizeof *numbers);
    for (size_t i = 0; numbers && i < count; i++)
        numbers[i] = (uint32_t)i;
    return numbers;
}

/* Sorts the functions, and renumbers those of places and calls. Returns false when out of memory. */
static bool sort_functions(struct ct_stack_sums *s)
{
    uint32_t *order = numbers_up_to(s->function_count);
    uint32_t *numbers = calloc(s->function_count + 1, sizeof *numbers);
    struct ct_stack_function *sorted = malloc((s->function_count + 1) * sizeof *sorted);
    struct ct_pair_map map = {0};
    bool fine = order && numbers && sorted;
    if (fine && s->function_count)
        qsort_r(order, s->function_count, sizeof *order, by_address, s->functions);
    for (uint32_t i = 0; fine && i < s->function_count; i++) {
        sorted[i] = s->functions[order[i]];
        numbers[order[i]] = i;
        fine = ct_pair_map_put(&map, sorted[i].addr, sorted[i].program, i) == 0;
    }
    for (size_t i = 0; fine && i < s->place_count; i++)
        s->places[i].function = numbers[s->places[i].function];
    for (size_t i = 0; fine && i < s->call_count; i++) {
        s->calls[i].caller = numbers[s->calls[i].caller];
        s->calls[i].callee = numbers[s->calls[i].callee];
    }
    if (fine) {
        free(s->functions);
        ct_pair_map_free(&s->numbers);
        s->functions = sorted;
        s->function_room = s->function_count + 1;
        s->numbers = map;
        sorted = NULL;
    } else {
        ct_pair_map_free(&map);
    }
    free(order);
    free(numbers);
    free(sorted);
    return fine;
}

/* ---- the tree ---- */

/* Compares places by parent and then function. Those without a parent come first. */
static int by_parent(const void *a, const void *b, void *user)
{
    const struct ct_stack_place *all = user;
    const struct ct_stack_place *x = &all[*(const uint32_t *)a], *y = &all[*(const uint32_t *)b];
    if (x->parent != y->parent)
        return x->parent + 1 < y->parent + 1 ? -1 : 1; /* CT_STACK_NONE + 1 is 0 */
    return x->function < y->function ? -1 : x->function > y->function;
}

/* Walks the tree in preorder and writes the new number of each place to `numbers`. `order` has the places
 * sorted by parent, `first` the index in `order` of the first child of each place, and `stack` room for all
 * places. */
static void number_tree(const struct ct_stack_sums *s, const uint32_t *order, const uint32_t *first,
                        uint32_t *stack, uint32_t *numbers)
{
    const size_t count = s->place_count;
    size_t depth = 0;
    uint32_t next = 0;
    for (uint32_t at = 0; at < count || depth;) {
        const bool sibling =
            at < count && s->places[order[at]].parent == (depth ? order[stack[depth - 1]] : CT_STACK_NONE);
        if (!sibling) {
            at = depth ? stack[--depth] + 1 : (uint32_t)count;
            continue;
        }
        numbers[order[at]] = next++;
        stack[depth++] = at;
        at = first[order[at]];
    }
}

/* Moves places to their new numbers. Returns false when out of memory. */
static bool place_tree(struct ct_stack_sums *s, const uint32_t *numbers)
{
    struct ct_stack_place *sorted = malloc((s->place_count + 1) * sizeof *sorted);
    struct ct_pair_map map = {0};
    bool fine = sorted;
    for (size_t i = 0; fine && i < s->place_count; i++) {
        struct ct_stack_place place = s->places[i];
        if (place.parent != CT_STACK_NONE)
            place.parent = numbers[place.parent];
        sorted[numbers[i]] = place;
        fine = ct_pair_map_put(&map, place.parent, place.function, numbers[i]) == 0;
    }
    if (!fine) {
        ct_pair_map_free(&map);
        free(sorted);
        return false;
    }
    free(s->places);
    ct_pair_map_free(&s->children);
    s->places = sorted;
    s->place_room = s->place_count + 1;
    s->children = map;
    return true;
}

static bool sort_places(struct ct_stack_sums *s)
{
    const size_t count = s->place_count;
    uint32_t *order = numbers_up_to(count);
    uint32_t *first = calloc(count + 1, sizeof *first);
    uint32_t *stack = calloc(count + 1, sizeof *stack);
    uint32_t *numbers = calloc(count + 1, sizeof *numbers);
    bool fine = order && first && stack && numbers;
    if (fine && count)
        qsort_r(order, count, sizeof *order, by_parent, s->places);
    for (size_t i = 0; fine && i < count; i++)
        first[i] = (uint32_t)count; /* no children */
    for (size_t i = count; fine && i-- > 0;)
        if (s->places[order[i]].parent != CT_STACK_NONE)
            first[s->places[order[i]].parent] = (uint32_t)i;
    if (fine) {
        number_tree(s, order, first, stack, numbers);
        fine = place_tree(s, numbers);
    }
    free(order);
    free(first);
    free(stack);
    free(numbers);
    return fine;
}

/* ---- calls ---- */

static int order(uint64_t x, uint64_t y)
{
    return x < y ? -1 : x > y;
}

static int by_site(const void *a, const void *b, void *user)
{
    const struct ct_stack_function *functions = user;
    const struct ct_stack_call *x = a, *y = b;
    int result = order(functions[x->caller].program, functions[y->caller].program);
    if (!result)
        result = order(x->site, y->site);
    if (!result)
        result = order(x->callee, y->callee);
    return result ? result : order(x->caller, y->caller);
}

void ct_stack_sums_add_up_calls(struct ct_stack_sums *s)
{
    size_t count = 0;
    if (!s->call_count)
        return;
    qsort_r(s->calls, s->call_count, sizeof *s->calls, by_site, s->functions);
    for (size_t i = 1; i < s->call_count; i++) {
        struct ct_stack_call *sum = &s->calls[count];
        const struct ct_stack_call *call = &s->calls[i];
        if (by_site(sum, call, s->functions) != 0) {
            s->calls[++count] = *call;
            continue;
        }
        ct_add_up(&sum->count, call->count);
        ct_add_up(&sum->insns, call->insns);
        ct_add_up(&sum->cycles, call->cycles);
    }
    s->call_count = count + 1;
}

int ct_stack_sums_settle(struct ct_stack_sums *s)
{
    uint32_t *numbers = NULL;
    if (s->settled && s->settled_programs == s->table->count)
        return CT_OK;
    int rc = ct_cover_sort_programs(s->cover, &numbers);
    for (size_t i = 0; numbers && i < s->function_count; i++)
        if (s->functions[i].program != CT_STACK_NONE)
            s->functions[i].program = numbers[s->functions[i].program];
    free(numbers);
    if (!rc && !(sort_functions(s) && sort_places(s)))
        rc = CT_ERR_NOMEM;
    if (!rc)
        ct_stack_sums_add_up_calls(s);
    s->settled = !rc;
    s->settled_programs = s->table->count;
    return rc ? ct_fail_nomem(s->analysis.ctx, "stacks") : CT_OK;
}
