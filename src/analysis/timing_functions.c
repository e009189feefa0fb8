/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that execution reached. Large programs have many more, so only these have sums. */
#include <stdlib.h>

#include "analysis/dist.h"
#include "analysis/timing.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"

int ct_timing_put_function(struct ct_timing *t, const struct ct_timing_function *function, uint32_t symbol)
{
    size_t open = t->function_room; /* every array has as much room as `functions` */
    size_t symbols = open;
    const size_t needed = t->function_count + 1;
    if (!CT_MAKE_ROOM(t->open, open, needed) || !CT_MAKE_ROOM(t->symbols, symbols, needed) ||
        !CT_MAKE_ROOM(t->functions, t->function_room, needed))
        return ct_fail_nomem(t->ctx, "timing");
    t->open[t->function_count] = (struct ct_timing_open){0};
    t->symbols[t->function_count] = symbol;
    t->functions[t->function_count++] = *function;
    return CT_OK;
}

int ct_timing_number(struct ct_timing *t, uint32_t program, const struct ct_symbol *symbol, uint32_t index,
                     uint32_t *number)
{
    const struct ct_program_place *place = &t->programs[program];
    *number = t->numbers[index];
    if (*number)
        return CT_OK;
    const struct ct_timing_function function = {.name = symbol->name,
                                                .label = ct_symbols_label(place->symbols, symbol),
                                                .addr = symbol->addr + place->shift,
                                                .program = program};
    *number = (uint32_t)t->function_count;
    const int rc = ct_timing_put_function(t, &function, index);
    if (!rc)
        t->numbers[index] = *number;
    return rc;
}

void ct_timing_drop_runs(struct ct_timing *t, size_t number)
{
    struct ct_timing_function *function = &t->functions[number];
    ct_dist_free(&function->inclusive);
    ct_dist_free(&function->self);
    ct_dist_free(&function->recursive);
    ct_dist_free(&function->preempted);
    free(t->open[number].exact);
    t->open[number].exact = NULL;
}

void ct_timing_functions_free(struct ct_timing *t)
{
    for (size_t i = 0; i < t->function_count; i++)
        ct_timing_drop_runs(t, i);
    free(t->functions);
    free(t->open);
    free(t->symbols);
    free(t->numbers);
}

/* ---- in the order of the programs ---- */

/* A function in the order in which it was reached. */
struct reached {
    struct ct_timing_function function;
    struct ct_timing_open open;
    uint32_t symbol, number;
};

static int by_symbol(const void *a, const void *b)
{
    const struct reached *x = a;
    const struct reached *y = b;
    return x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

/* Moves the functions to their places in `all`, and gives them their new numbers everywhere. `now` is room
 * for the new number of each. */
static void renumber(const struct ct_timing *t, const struct reached *all, uint32_t *now)
{
    for (uint32_t i = 1; i < t->function_count; i++) {
        now[all[i].number] = i;
        t->functions[i] = all[i].function;
        t->open[i] = all[i].open;
        t->symbols[i] = all[i].symbol;
        t->numbers[all[i].symbol] = i;
    }
    for (size_t i = 0; i < t->edge_count; i++) {
        t->ways[i].function = now[t->ways[i].function];
        t->ways[i].callee = now[t->ways[i].callee];
    }
    for (size_t i = 0; i < t->thread_count; i++)
        for (size_t k = 0; k < t->threads[i].depth; k++)
            t->threads[i].frames[k].function = now[t->threads[i].frames[k].function];
}

/* Sorts the functions as the programs have them, all but the first, which is code in no program. Returns
 * false when out of memory. */
static bool sort(const struct ct_timing *t)
{
    uint32_t i = 1;
    while (i + 1 < t->function_count && t->symbols[i] < t->symbols[i + 1])
        i++;
    if (i + 1 >= t->function_count)
        return true;
    struct reached *all = malloc(t->function_count * sizeof *all);
    uint32_t *now = calloc(t->function_count, sizeof *now);
    for (i = 1; all && now && i < t->function_count; i++)
        all[i] = (struct reached){t->functions[i], t->open[i], t->symbols[i], i};
    if (all && now) {
        qsort(all + 1, t->function_count - 1, sizeof *all, by_symbol);
        renumber(t, all, now);
    }
    const bool sorted = all && now;
    free(all);
    free(now);
    return sorted;
}

const struct ct_timing_function *ct_timing_functions(const struct ct_timing *t, size_t *count)
{
    if (ct_no_array(t, count))
        return NULL;
    ct_timing_settle(t);
    if (!sort(t)) {
        ct_fail_nomem(t->ctx, "timing");
        return NULL;
    }
    *count = t->function_count;
    return t->functions;
}
