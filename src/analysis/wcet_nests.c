/* SPDX-License-Identifier: Apache-2.0 */
/* Counts how often loops go round in total during one entry of a surrounding loop, or during one run of the
 * entry. The product of observed bounds allows far more than was observed: a loop of ten rounds, with an
 * inner loop of at most ten rounds, need not have had a hundred inner rounds. */
#include <stdlib.h>

#include "analysis/wcet.h"
#include "base/ctx.h"

/* Gives each loop one total for each surrounding loop, from the inside out. */
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

static void add(uint64_t *sum, uint64_t *stamp, uint64_t now, uint64_t *most)
{
    *sum = *stamp == now ? *sum + 1 : 1;
    *stamp = now;
    if (*sum > *most)
        *most = *sum;
}

/* Returns whether a block has an edge that calls the entry. */
static bool calls_entry(const struct ct_wcet *w, uint32_t block)
{
    size_t count;
    const struct ct_cfg_edge *edges = ct_cfg_edges(w->cfg, &count);
    for (uint32_t e = ct_cfg_blocks(w->cfg, &count)[block].first_out; e != CT_CFG_NONE; e = edges[e].next_out)
        if (edges[e].to == w->entry_block && edges[e].kind != CT_CFG_CALLED)
            return true;
    return false;
}

/* A run of the entry lasts from its call to the instruction behind the call. When the entry is recursive, it
 * lasts from the call from outside of the recursion. A run begun by a jump has no visible end. */
enum ct_wcet_act_kind ct_wcet_run_act(const struct ct_wcet *w, const struct ct_cfg_edge *edge)
{
    if (edge->kind == CT_CFG_CALLED)
        return calls_entry(w, edge->from) ? CT_WCET_RUN_ENDS : CT_WCET_NOTHING;
    if (edge->to != w->entry_block || (edge->kind != CT_CFG_CALL && edge->kind != CT_CFG_TAIL))
        return CT_WCET_NOTHING;
    size_t count;
    const uint32_t from = ct_cfg_blocks(w->cfg, &count)[edge->from].function;
    if (w->recursive[w->entry] && from != CT_CFG_NONE && w->piece[from] == w->piece[w->entry])
        return CT_WCET_NOTHING;
    return edge->kind == CT_CFG_TAIL ? CT_WCET_RUN_JUMPED : CT_WCET_RUN_BEGINS;
}

/* Only calls of recursive functions are counted. */
enum ct_wcet_act_kind ct_wcet_depth_act(const struct ct_wcet *w, const struct ct_cfg_edge *edge,
                                        const struct ct_cfg_block *blocks)
{
    const uint32_t from = blocks[edge->from].function;
    const uint32_t to = blocks[edge->to].function;
    const bool calls = edge->kind == CT_CFG_CALL || edge->kind == CT_CFG_TAIL;
    if (!calls || to == CT_CFG_NONE || !w->recursive[to])
        return CT_WCET_NOTHING;
    return from == CT_CFG_NONE || w->piece[from] != w->piece[to] ? CT_WCET_CALLED_IN : CT_WCET_CALLED;
}

static void count_depth(struct ct_wcet *w, uint32_t function, bool from_outside)
{
    struct ct_wcet_counts *c = w->at->counts;
    const uint32_t piece = w->piece[function];
    if (from_outside && !w->at->shares)
        c->calls[piece]++;
    add(&c->depths[function], &c->depth_stamps[function], c->calls[piece], &w->depth_most[function]);
    if (c->runs)
        add(&c->run_calls[function], &c->run_call_stamps[function], c->run, &w->run_calls_most[function]);
}

static void begin_run(struct ct_wcet *w, uint32_t caller, bool is_jumped_to)
{
    struct ct_wcet_counts *c = w->at->counts;
    w->no_runs |= is_jumped_to;
    c->runs = true;
    c->caller = caller;
    c->run++;
}

void ct_wcet_count_call(struct ct_wcet *w, struct ct_wcet_act act)
{
    struct ct_wcet_counts *c = w->at->counts;
    if (act.kind == CT_WCET_RUN_ENDS)
        c->runs &= c->caller != act.what;
    else if (act.kind == CT_WCET_RUN_BEGINS || act.kind == CT_WCET_RUN_JUMPED)
        begin_run(w, act.what, act.kind == CT_WCET_RUN_JUMPED);
    else
        count_depth(w, act.what, act.kind == CT_WCET_CALLED_IN);
}

/* Counts a run of the head of a loop. */
void ct_wcet_count_nest(struct ct_wcet *w, uint32_t loop, const struct ct_cfg_loop *loops)
{
    struct ct_wcet_counts *c = w->at->counts;
    uint32_t nest = w->nest_first[loop];
    for (uint32_t a = loops[loop].parent; a != CT_CFG_NONE; a = loops[a].parent, nest++)
        add(&c->sums[nest], &c->stamps[nest], c->entries[a], &w->nest_most[nest]);
    if (c->runs)
        add(&c->run_sums[loop], &c->run_stamps[loop], c->run, &w->run_most[loop]);
}

void ct_wcet_count_deep_round(struct ct_wcet *w, uint32_t loop, const struct ct_cfg_loop *loops)
{
    struct ct_wcet_counts *c = w->at->counts;
    const uint64_t call = c->calls[w->piece[loops[loop].function]];
    add(&c->rounds[loop], &c->entries[loop], call, &w->loops[loop].observed);
    if (c->runs)
        add(&c->run_sums[loop], &c->run_stamps[loop], c->run, &w->run_most[loop]);
}
