/* SPDX-License-Identifier: Apache-2.0 */
/* Counts how often loops go round in all while a loop around them, or one run of the entry, lasts. Where
 * bounds are only observed, their product allows far more than was seen: a loop of ten rounds whose inner
 * loop went round ten times at most need not have had a hundred inner rounds. */
#include <stdlib.h>

#include "analysis/wcet.h"
#include "base/ctx.h"

/* Each loop has one total for each loop around it, from the inside out. */
int ct_wcet_make_nests(struct ct_wcet *w)
{
    size_t count;
    uint32_t nests = 0;
    const struct ct_cfg_loop *loops = ct_cfg_loops(w->cfg, &count);
    w->nest_first = malloc((count + 1) * sizeof *w->nest_first);
    w->run_most = calloc(count + 1, sizeof *w->run_most);
    if (!w->nest_first || !w->run_most)
        return ct_fail_nomem(w->ctx, "wcet");
    for (size_t l = 0; l < count; l++) {
        w->nest_first[l] = nests;
        nests += loops[l].depth - 1;
    }
    w->nest_first[count] = nests;
    w->nest_most = calloc(nests + 1, sizeof *w->nest_most);
    return w->nest_most ? CT_OK : ct_fail_nomem(w->ctx, "wcet");
}

/* A run of the entry goes from its call to the instruction behind the call. One that is jumped to has no end
 * that can be seen. */
void ct_wcet_count_run(struct ct_wcet *w, const struct ct_cfg_edge *edge)
{
    struct ct_wcet_counts *c = w->at->counts;
    if (edge->kind == CT_CFG_CALLED && c->runs && c->caller == edge->from)
        c->runs = false;
    if (edge->to != w->entry_block || (edge->kind != CT_CFG_CALL && edge->kind != CT_CFG_TAIL))
        return;
    w->no_runs |= edge->kind == CT_CFG_TAIL;
    c->runs = true;
    c->caller = edge->from;
    c->run++;
}

static void add(uint64_t *sum, uint64_t *stamp, uint64_t now, uint64_t *most)
{
    *sum = *stamp == now ? *sum + 1 : 1;
    *stamp = now;
    if (*sum > *most)
        *most = *sum;
}

/* Counts a call of a function that calls itself. */
void ct_wcet_count_depth(struct ct_wcet *w, const struct ct_cfg_edge *edge, const struct ct_cfg_block *blocks)
{
    struct ct_wcet_counts *c = w->at->counts;
    uint32_t from = blocks[edge->from].function;
    uint32_t to = blocks[edge->to].function;
    bool calls = edge->kind == CT_CFG_CALL || edge->kind == CT_CFG_TAIL;
    if (!calls || to == CT_CFG_NONE || !w->recursive[to])
        return;
    uint32_t piece = w->piece[to];
    if (!w->at->shares && (from == CT_CFG_NONE || w->piece[from] != piece))
        c->calls[piece]++;
    add(&c->depths[to], &c->depth_stamps[to], c->calls[piece], &w->depth_most[to]);
}

/* Counts one run of the head of a loop. */
void ct_wcet_count_nest(struct ct_wcet *w, uint32_t loop, const struct ct_cfg_loop *loops)
{
    struct ct_wcet_counts *c = w->at->counts;
    uint32_t nest = w->nest_first[loop];
    for (uint32_t a = loops[loop].parent; a != CT_CFG_NONE; a = loops[a].parent, nest++)
        add(&c->sums[nest], &c->stamps[nest], c->entries[a], &w->nest_most[nest]);
    if (c->runs)
        add(&c->run_sums[loop], &c->run_stamps[loop], c->run, &w->run_most[loop]);
}
