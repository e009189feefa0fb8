/* SPDX-License-Identifier: Apache-2.0 */
/* Counts steps by edge and cycles. A program takes an edge with the same few counts of cycles again and
 * again, so that sums and histograms are touched once for many steps. */
#include "analysis/dist.h"
#include "analysis/timing.h"

static int add(const struct ct_timing *t, uint32_t number, uint32_t word, uint32_t count)
{
    struct ct_timing_edge *edge = &t->edges[number];
    struct ct_timing_function *function = &t->functions[t->ways[number].function];
    const uint64_t cycles = word & CT_STEP_CYCLES;
    edge->count += count;
    function->steps += count;
    if (word == CT_STEP_NO_CYCLES)
        return CT_OK;
    edge->shared += word & CT_STEP_SHARED ? count : 0;
    function->cycles += cycles * count;
    return ct_dist_add_times(&edge->cycles, cycles, count, t->histograms);
}

/* Adds what a cell has. The buckets are there, so that nothing can fail. */
static void settle(const struct ct_timing *t, uint32_t edge, struct ct_timing_cell *cell)
{
    if (cell->count)
        (void)add(t, edge, cell->cycles, cell->count);
    cell->count = 0;
}

void ct_timing_settle(const struct ct_timing *t)
{
    for (uint32_t i = 0; i < t->edge_count; i++)
        for (unsigned k = 0; k < CT_TIMING_CELLS; k++)
            settle(t, i, &t->tallies[i].cells[k]);
}

int ct_timing_count(struct ct_timing *t, uint32_t edge, uint32_t cycles)
{
    if (cycles != CT_STEP_NO_CYCLES)
        cycles &= ~CT_STEP_ENDS;
    if (t->plain)
        return add(t, edge, cycles, 1);
    struct ct_timing_cell *cell = &t->tallies[edge].cells[cycles % CT_TIMING_CELLS];
    if (cell->cycles != cycles) {
        settle(t, edge, cell);
        if (cycles != CT_STEP_NO_CYCLES && t->histograms && ct_dist_make_room(&t->edges[edge].cycles))
            return CT_ERR_NOMEM;
        cell->cycles = cycles;
    }
    cell->count++;
    return CT_OK;
}
