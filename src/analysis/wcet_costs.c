/* SPDX-License-Identifier: Apache-2.0 */
/* The measurements: paths through the code with their cycles, over all streams. */
#include <stdlib.h>

#include "analysis/dist.h"
#include "analysis/wcet.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"

#define MOST_PIECES 64 /* most pieces into which exceptions cut a run */

static bool is_same(const struct ct_wcet_way *way, const struct ct_timing_edge *edge, uint64_t next)
{
    return way->last == edge->last && way->next == next && way->exec == edge->exec && way->kind == edge->kind;
}

/* Returns the number of instructions of an edge. Old files do not have it; then assumes the smallest certain
 * number, so that the rate does not become lower. */
static uint32_t instructions_of(const struct ct_timing_edge *edge)
{
    const uint64_t least = (edge->end - edge->start) / 4;
    return edge->n ? edge->n : least ? (uint32_t)least : 1;
}

/* Finds or makes the path of an edge. CT_ERR_NOMEM. */
static int find_way(struct ct_wcet *w, const struct ct_timing_edge *edge, uint64_t next,
                    struct ct_wcet_way **out)
{
    uint32_t first = ct_addr_map_get(&w->way_at, edge->start);
    for (uint32_t i = first; i != CT_CFG_NONE; i = w->ways[i].chain)
        if (is_same(&w->ways[i], edge, next)) {
            *out = &w->ways[i];
            return CT_OK;
        }
    if (!CT_MAKE_ROOM(w->ways, w->way_room, w->way_count + 1) ||
        ct_addr_map_put(&w->way_at, edge->start, (uint32_t)w->way_count))
        return ct_fail_nomem(w->ctx, "wcet");
    *out = &w->ways[w->way_count++];
    **out = (struct ct_wcet_way){.start = edge->start,
                                 .last = edge->last,
                                 .end = edge->end,
                                 .next = next,
                                 .n = instructions_of(edge),
                                 .chain = first,
                                 .exec = edge->exec,
                                 .kind = edge->kind};
    return CT_OK;
}

/* Adds measurements of runs to others. */
static void add_call(struct ct_wcet_call *into, struct ct_wcet_call call)
{
    into->runs += call.runs;
    if (call.cycles > into->cycles)
        into->cycles = call.cycles;
}

static struct ct_wcet_call runs_of(const struct ct_timing_function *f)
{
    struct ct_wcet_call call = {.cycles = f->inclusive.max, .runs = f->inclusive.count};
    add_call(&call, (struct ct_wcet_call){.cycles = f->recursive.max, .runs = f->recursive.count});
    return call;
}

const struct ct_wcet_runs *ct_wcet_runs_of(const struct ct_wcet *w, uint64_t entry)
{
    const uint32_t i = ct_addr_map_get(&w->run_at, entry);
    return i == CT_CFG_NONE ? NULL : &w->runs[i];
}

static int add_run(struct ct_wcet *w, const struct ct_timing_function *f)
{
    uint32_t i = ct_addr_map_get(&w->run_at, f->addr);
    if (i == CT_CFG_NONE) {
        i = (uint32_t)w->run_count;
        if (!CT_MAKE_ROOM(w->runs, w->run_room, w->run_count + 1) || ct_addr_map_put(&w->run_at, f->addr, i))
            return ct_fail_nomem(w->ctx, "wcet");
        w->runs[w->run_count++] = (struct ct_wcet_runs){.entry = f->addr};
    }
    w->runs[i].count += f->inclusive.count;
    w->runs[i].begun += f->runs;
    if (f->inclusive.max > w->runs[i].max)
        w->runs[i].max = f->inclusive.max;
    add_call(&w->runs[i].all, runs_of(f));
    return CT_OK;
}

struct ct_wcet_call ct_wcet_call_out(const struct ct_wcet *w, uint64_t last)
{
    const struct ct_wcet_call none = {0};
    const uint32_t i = ct_addr_map_get(&w->out_at, last);
    return i == CT_CFG_NONE ? none : w->outs[i].call;
}

/* Returns the function of another program that an edge enters: the last one that ran and begins at or before
 * the target. Functions are sorted by program and address. */
static const struct ct_timing_function *entered_by(const struct ct_timing_found *found,
                                                   const struct ct_timing_edge *edge)
{
    size_t low = 0;
    size_t high = found->function_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct ct_timing_function *f = &found->functions[middle];
        if (f->program < edge->next_program || (f->program == edge->next_program && f->addr <= edge->next))
            low = middle + 1;
        else
            high = middle;
    }
    const struct ct_timing_function *f = low ? &found->functions[low - 1] : NULL;
    return f && f->program == edge->next_program ? f : NULL;
}

/* Notes how long a call or jump into another program took until it returned. CT_ERR_NOMEM. */
static int add_out(struct ct_wcet *w, const struct ct_timing_found *found, const struct ct_timing_edge *edge)
{
    const bool calls = edge->branch == CT_TIMING_BRANCH_JUMP || edge->branch == CT_TIMING_BRANCH_CALL;
    const struct ct_timing_function *f = calls ? entered_by(found, edge) : NULL;
    const struct ct_wcet_call call = f ? runs_of(f) : (struct ct_wcet_call){0};
    if (!call.runs)
        return CT_OK;
    uint32_t i = ct_addr_map_get(&w->out_at, edge->last);
    if (i == CT_CFG_NONE) {
        i = (uint32_t)w->out_count;
        if (!CT_MAKE_ROOM(w->outs, w->out_room, w->out_count + 1) ||
            ct_addr_map_put(&w->out_at, edge->last, i))
            return ct_fail_nomem(w->ctx, "wcet");
        w->outs[w->out_count++] = (struct ct_wcet_out){.last = edge->last};
    }
    add_call(&w->outs[i].call, (struct ct_wcet_call){.cycles = call.cycles, .runs = edge->count});
    return CT_OK;
}

static int add_way(struct ct_wcet *w, const struct ct_timing_found *found, const struct ct_timing_edge *edge,
                   bool counted)
{
    /* code of another program may have the same address in its file */
    const bool leaves = edge->next && edge->next_program != edge->program;
    struct ct_wcet_way *way = NULL;
    const int rc = find_way(w, edge, leaves ? UINT64_MAX : edge->next, &way);
    if (!way)
        return rc;
    way->count += edge->count;
    way->shared += edge->shared;
    way->uncounted += counted ? 0 : edge->count;
    const int merged = ct_dist_merge(&way->cycles, &edge->cycles);
    return merged || !leaves ? merged : add_out(w, found, edge);
}

int ct_wcet_observe(struct ct_wcet *w, struct ct_timing_sums *sums, int counted)
{
    CT_REQUIRE_OF(w, sums);
    struct ct_timing_found found;
    int rc = ct_timing_sums_find(sums, &found);
    const uint32_t program = ct_wcet_program(w, sums);
    if (w->identity.name && program == CT_TIMING_NO_PROGRAM)
        return rc;
    for (size_t i = 0; !rc && i < found.edge_count; i++)
        if (found.edges[i].program == program && !(found.edges[i].flags & CT_NODE_NOPATH))
            rc = add_way(w, &found, &found.edges[i], counted);
    for (size_t i = 0; !rc && i < found.function_count; i++) {
        const struct ct_timing_function *f = &found.functions[i];
        if (f->program == program && f->runs && f->addr)
            rc = add_run(w, f);
    }
    return rc ? ct_fail_nomem(w->ctx, "wcet") : CT_OK;
}

int ct_wcet_find_uncounted(struct ct_wcet *w)
{
    size_t count;
    const struct ct_cfg_block *blocks = ct_cfg_blocks(w->cfg, &count);
    for (size_t i = 0; i < w->way_count; i++) {
        const struct ct_wcet_way *way = &w->ways[i];
        if (way->uncounted && !w->uncounted)
            w->uncounted = calloc(count + 1, 1);
        if (way->uncounted && !w->uncounted)
            return ct_fail_nomem(w->ctx, "wcet");
        for (uint64_t at = way->start; way->uncounted && at < way->end;) {
            const uint32_t block = ct_cfg_block_at(w->cfg, at);
            if (block == CT_CFG_NONE)
                break;
            w->uncounted[block] = 1;
            at = blocks[block].end;
        }
    }
    return CT_OK;
}

/* ---- costs ---- */

static uint64_t cycles_of(const struct ct_wcet_way *way, double quantile)
{
    if (quantile <= 0)
        return way->cycles.max;
    uint64_t mean = (way->cycles.sum + way->cycles.count - 1) / way->cycles.count;
    uint64_t part = ct_dist_quantile(&way->cycles, quantile);
    return mean > part ? mean : part;
}

/* Returns whether a path that ends with the block's last instruction continues by the edge of the control
 * flow graph. */
static bool fits(const struct ct_wcet_way *way, const struct ct_cfg_edge *edge)
{
    switch (edge->kind) {
    case CT_CFG_NEXT:
        return !way->exec || way->next == edge->target || (way->next == 0 && way->end == edge->target);
    case CT_CFG_RETURN:
        return way->exec;
    case CT_CFG_UNKNOWN: /* leads to an address without code, or to an unknown one */
        return way->exec && (way->next == UINT64_MAX || way->kind == CT_EDGE_OPEN);
    default: /* an open path does not tell its target, but a direct branch has only one */
        return way->exec && (way->next == edge->target || way->kind == CT_EDGE_OPEN);
    }
}

static void largest(struct ct_wcet_cost *best, uint64_t cycles, bool shared)
{
    best->shared = best->seen ? best->shared && shared : shared;
    if (!best->seen || cycles > best->cycles)
        best->cycles = cycles;
    best->seen = true;
}

uint64_t ct_wcet_times_run(const struct ct_wcet *w, const struct ct_wcet_term *term)
{
    size_t count;
    const struct ct_cfg_edge *edge =
        term->block == CT_CFG_NONE ? &ct_cfg_edges(w->cfg, &count)[term->edge] : NULL;
    const struct ct_cfg_block *block = &ct_cfg_blocks(w->cfg, &count)[edge ? edge->from : term->block];
    uint64_t times = 0;
    for (size_t i = 0; i < w->way_count; i++) {
        const struct ct_wcet_way *way = &w->ways[i];
        if (edge ? way->last == block->last && way->kind != CT_EDGE_OPEN && fits(way, edge)
                 : way->start <= block->start && block->start < way->end)
            times += way->count;
    }
    return times;
}

static struct ct_wcet_cost cost_from(const struct ct_wcet *w, uint64_t start, uint64_t last,
                                     const struct ct_cfg_edge *edge, double quantile, unsigned pieces)
{
    struct ct_wcet_cost best = {0};
    for (uint32_t i = ct_addr_map_get(&w->way_at, start); i != CT_CFG_NONE; i = w->ways[i].chain) {
        const struct ct_wcet_way *way = &w->ways[i];
        if (!way->cycles.count)
            continue;
        uint64_t cycles = cycles_of(way, quantile);
        bool shared = way->shared == way->count;
        if (way->last == last && fits(way, edge)) {
            largest(&best, cycles, shared);
        } else if (way->last < last && way->next > start && way->next <= last && pieces) {
            struct ct_wcet_cost rest = cost_from(w, way->next, last, edge, quantile, pieces - 1);
            if (rest.seen)
                largest(&best, cycles + rest.cycles, shared || rest.shared);
        }
    }
    return best;
}

struct ct_wcet_cost ct_wcet_cost_of(const struct ct_wcet *w, uint64_t start, uint64_t last,
                                    const struct ct_cfg_edge *edge, double quantile)
{
    return cost_from(w, start, last, edge, quantile, MOST_PIECES);
}

void ct_wcet_rate(const struct ct_wcet *w, double quantile, uint64_t *cycles, uint64_t *insns)
{
    *cycles = *insns = 1;
    for (size_t i = 0; i < w->way_count; i++) {
        const struct ct_wcet_way *way = &w->ways[i];
        if (!way->cycles.count || !way->n)
            continue;
        uint64_t c = cycles_of(way, quantile);
        if ((unsigned __int128)c * *insns > (unsigned __int128)*cycles * way->n) {
            *cycles = c;
            *insns = way->n;
        }
    }
}
