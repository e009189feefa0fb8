/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the numbers that a value can have when the code of one loop does not make it constant: it depends on
 * the counter of a loop around it, or on an argument of its function. All numbers of these are listed, and
 * perhaps more, so that what is true for each of them is true in each execution. */
#include "program/cfg_counted.h"

#define MOST_STEPS 5000 /* instructions that are looked at for one call */

/* Returns whether one run has all numbers of another. */
static bool has_all(const struct ct_progression *all, const struct ct_progression *run)
{
    const uint64_t far = run->first - all->first;
    if (run->count > 1 && run->by != all->by)
        return false;
    if (all->count == 1 || !all->by)
        return !far && (run->count == 1 || !run->by);
    const int64_t by = (int64_t)all->by;
    if ((int64_t)far % by || (int64_t)far / by < 0)
        return false;
    const uint64_t skipped = (uint64_t)((int64_t)far / by);
    return skipped < all->count && run->count <= all->count - skipped;
}

bool ct_numbers_add(struct ct_numbers *numbers, struct ct_progression run)
{
    for (uint32_t i = 0; i < numbers->count; i++)
        if (has_all(&numbers->at[i], &run))
            return true;
    if (numbers->count == CT_NUMBERS_PROGRESSIONS)
        return false;
    numbers->at[numbers->count++] = run;
    return true;
}

/* Adds what a value can be when its x is one of some numbers. */
static bool add_values(const struct ct_value *value, const struct ct_numbers *numbers, bool is_wide,
                       struct ct_numbers *out)
{
    const bool is_sum = ct_value_is_sum(value, is_wide);
    bool fits = true;
    for (uint32_t i = 0; fits && i < numbers->count; i++) {
        struct ct_progression run = numbers->at[i];
        run.first = ct_value_for(value, run.first);
        if (is_sum)
            fits = ct_numbers_add(out, run);
        for (uint32_t k = 0; !is_sum && fits && k < run.count; k++) {
            const uint64_t x = numbers->at[i].first + k * run.by;
            fits = ct_numbers_add(out, (struct ct_progression){.first = ct_value_for(value, x), .count = 1});
        }
    }
    return fits;
}

/* Finds the numbers that an argument has: those of all calls of its function. */
static bool argument_numbers(const struct ct_cfg *cfg, const struct ct_value *value, bool is_wide,
                             struct ct_effort *effort, struct ct_numbers *out)
{
    const struct ct_cfg_block *entry = &cfg->blocks.at[value->block];
    bool found = value->place.reg < (cfg->is_a64 ? 8 : 4) && !cfg->taken.at[entry->function] &&
                 entry->first_in != CT_CFG_NONE;
    for (uint32_t e = entry->first_in; found && e != CT_CFG_NONE; e = cfg->edges.at[e].next_in) {
        const struct ct_cfg_edge *edge = &cfg->edges.at[e];
        const struct ct_cfg_block *from = &cfg->blocks.at[edge->from];
        if (from->function == CT_CFG_NONE || cfg->functions.at[from->function].incomplete)
            return false;
        struct ct_numbers numbers = {.count = 0};
        struct ct_values values = {
            .cfg = cfg, .function = from->function, .budget = MOST_STEPS, .escapes = -1};
        const struct ct_value given = ct_value_before(
            &values, edge->from, edge->kind == CT_CFG_NEXT ? from->end : from->last, value->place, is_wide);
        found = ct_numbers_of(cfg, &given, edge->from, is_wide, effort, &numbers) &&
                add_values(&given, &numbers, is_wide, out);
    }
    return found;
}

bool ct_numbers_of(const struct ct_cfg *cfg, const struct ct_value *value, uint32_t where, bool is_wide,
                   struct ct_effort *effort, struct ct_numbers *out)
{
    bool found = false;
    if (value->from == CT_VALUE_CONST)
        return ct_numbers_add(out, (struct ct_progression){.first = value->constant, .count = 1});
    if (!effort->depth)
        return false;
    effort->depth--;
    if (value->from == CT_VALUE_BLOCK)
        found = ct_counter_numbers(cfg, value, where, is_wide, effort, out);
    else if (value->from == CT_VALUE_ENTRY)
        found = argument_numbers(cfg, value, is_wide, effort, out);
    effort->depth++;
    return found;
}
