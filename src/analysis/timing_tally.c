/* SPDX-License-Identifier: Apache-2.0 */
/* Counts steps by edge and cycles, and runs by function and cycles. A program takes an edge with the same few
 * counts of cycles again and again, so the sums and histograms are updated once for many steps. */
#include <stdlib.h>

#include "analysis/dist.h"
#include "analysis/timing.h"

static int add(const struct ct_timing *t, uint32_t number, uint32_t word, uint32_t count)
{
    struct ct_timing_edge *edge = &t->edges[number];
    const uint64_t cycles = word & CT_STEP_CYCLES;
    edge->count += count;
    if (word == CT_TIMING_NO_CYCLES)
        return CT_OK;
    edge->shared += word & CT_STEP_SHARED ? count : 0;
    return ct_dist_add_times(&edge->cycles, cycles, count, t->histograms);
}

/* Adds a cell to the sums. Cannot fail, because the buckets were allocated before. */
static void settle(const struct ct_timing *t, uint32_t edge, struct ct_timing_cell *cell)
{
    if (cell->count)
        (void)add(t, edge, cell->cycles, cell->count);
    cell->count = 0;
}

/* Adds a run, or several of the same cycles, to a distribution. CT_ERR_NOMEM. */
static int add_run(const struct ct_timing *t, struct ct_dist *to, uint64_t cycles, uint32_t *count)
{
    const int rc = *count ? ct_dist_add_times(to, cycles, *count, t->histograms) : CT_OK;
    *count = 0;
    return rc;
}

/* Adds the counted runs of a function to its distributions. Cannot fail, because the buckets were allocated
 * before. */
static void settle_runs(const struct ct_timing *t, struct ct_timing_function *f, struct ct_timing_open *open)
{
    f->runs += open->runs;
    open->runs = 0;
    for (uint64_t i = 0; open->exact && i < CT_TIMING_EXACT; i++) {
        uint32_t both = open->exact->both[i];
        (void)add_run(t, &f->self, i, &both);
        (void)add_run(t, &f->inclusive, i, &open->exact->both[i]);
        (void)add_run(t, &f->inclusive, i, &open->exact->inclusive[i]);
        (void)add_run(t, &f->self, i, &open->exact->self[i]);
    }
}

/* Sets the sums of each function from those of its edges. */
static void add_up_functions(const struct ct_timing *t)
{
    for (size_t i = 0; i < t->function_count; i++)
        t->functions[i].steps = t->functions[i].cycles = 0;
    for (size_t i = 0; i < t->edge_count; i++) {
        struct ct_timing_function *function = &t->functions[t->ways[i].function];
        function->steps += t->edges[i].count;
        function->cycles += t->edges[i].cycles.sum;
    }
}

void ct_timing_settle(const struct ct_timing *t)
{
    for (uint32_t i = 0; i < t->edge_count; i++)
        for (unsigned k = 0; k < CT_TIMING_CELLS; k++)
            settle(t, i, &t->tallies[i].cells[k]);
    for (size_t i = 0; i < t->function_count; i++)
        settle_runs(t, &t->functions[i], &t->open[i]);
    add_up_functions(t);
}

int ct_timing_count(struct ct_timing *t, uint32_t edge, uint32_t word)
{
    if (t->plain)
        return add(t, edge, word, 1);
    struct ct_timing_cell *cell = &t->tallies[edge].cells[word % CT_TIMING_CELLS];
    if (cell->cycles != word) {
        settle(t, edge, cell);
        if (word != CT_TIMING_NO_CYCLES && t->histograms &&
            ct_dist_make_room(&t->edges[edge].cycles, word & CT_STEP_CYCLES))
            return CT_ERR_NOMEM;
        cell->cycles = word;
    }
    cell->count++;
    return CT_OK;
}

/* Allocates the exact counts of a function, and the buckets to which they are added. CT_ERR_NOMEM. */
static int make_exact(const struct ct_timing *t, struct ct_timing_function *f, struct ct_timing_open *open)
{
    if (t->histograms &&
        (ct_dist_make_room(&f->inclusive, CT_TIMING_EXACT) || ct_dist_make_room(&f->self, CT_TIMING_EXACT)))
        return CT_ERR_NOMEM;
    open->exact = calloc(1, sizeof *open->exact);
    return open->exact ? CT_OK : CT_ERR_NOMEM;
}

int ct_timing_count_run(struct ct_timing *t, uint32_t function, uint64_t inclusive, uint64_t self,
                        bool is_inner)
{
    struct ct_timing_function *f = &t->functions[function];
    struct ct_timing_open *open = &t->open[function];
    int rc = CT_OK;
    if (t->plain || is_inner) {
        rc = ct_dist_add(is_inner ? &f->recursive : &f->inclusive, inclusive, t->histograms);
        return rc ? rc : ct_dist_add(&f->self, self, t->histograms);
    }
    if (!open->exact && make_exact(t, f, open))
        return CT_ERR_NOMEM;
    struct ct_timing_exact *exact = open->exact;
    if (inclusive == self && self < CT_TIMING_EXACT) {
        exact->both[self]++;
        return CT_OK;
    }
    if (inclusive < CT_TIMING_EXACT)
        exact->inclusive[inclusive]++;
    else
        rc = ct_dist_add(&f->inclusive, inclusive, t->histograms);
    if (self < CT_TIMING_EXACT)
        exact->self[self]++;
    else if (!rc)
        rc = ct_dist_add(&f->self, self, t->histograms);
    return rc;
}
