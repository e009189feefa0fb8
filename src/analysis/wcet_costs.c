/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured: ways through the code with their cycles, of all streams. */
#include <stdlib.h>

#include "analysis/dist.h"
#include "analysis/wcet.h"
#include "base/ctx.h"

#define FIRST_ROOM  256
#define MOST_PIECES 64 /* of one run that exceptions cut */

int ct_wcet_room(struct ct_wcet *w, void **at, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return CT_OK;
    size_t larger = *room ? *room * 2 : FIRST_ROOM;
    void *moved = realloc(*at, larger * size);
    if (!moved)
        return ct_fail_nomem(w->ctx, "wcet");
    *at = moved;
    *room = larger;
    return CT_OK;
}

static bool is_same(const struct ct_wcet_way *way, const struct ct_node *node, const struct ct_edge *edge)
{
    return way->last == node->last && way->next == edge->next && way->exec == edge->exec &&
           way->kind == edge->kind;
}

/* The way of this edge, made when it is new. */
static int find_way(struct ct_wcet *w, const struct ct_node *node, const struct ct_edge *edge,
                    struct ct_wcet_way **out)
{
    uint32_t first = ct_addr_map_get(&w->way_at, node->start);
    for (uint32_t i = first; i != CT_CFG_NONE; i = w->ways[i].chain)
        if (is_same(&w->ways[i], node, edge)) {
            *out = &w->ways[i];
            return CT_OK;
        }
    int rc = ct_wcet_room(w, (void **)&w->ways, w->way_count, &w->way_room, sizeof *w->ways);
    if (!rc && ct_addr_map_put(&w->way_at, node->start, (uint32_t)w->way_count) != CT_OK)
        rc = ct_fail_nomem(w->ctx, "wcet");
    if (rc)
        return rc;
    *out = &w->ways[w->way_count++];
    **out = (struct ct_wcet_way){.start = node->start,
                                 .last = node->last,
                                 .end = node->end,
                                 .next = edge->next,
                                 .n = node->n,
                                 .chain = first,
                                 .exec = edge->exec,
                                 .kind = edge->kind};
    return CT_OK;
}

static int add_run(struct ct_wcet *w, const struct ct_timing_function *f)
{
    size_t i = 0;
    while (i < w->run_count && w->runs[i].entry != f->addr)
        i++;
    if (i == w->run_count) {
        int rc = ct_wcet_room(w, (void **)&w->runs, w->run_count, &w->run_room, sizeof *w->runs);
        if (rc)
            return rc;
        w->runs[w->run_count++] = (struct ct_wcet_runs){.entry = f->addr};
    }
    w->runs[i].count += f->inclusive.count;
    w->runs[i].begun += f->runs;
    if (f->inclusive.max > w->runs[i].max)
        w->runs[i].max = f->inclusive.max;
    return CT_OK;
}

int ct_wcet_observe(struct ct_wcet *w, const struct ct_timing *timing, const struct ct_graph *graph)
{
    if (!w || !timing || !graph)
        return CT_ERR_ARG;
    size_t count;
    uint32_t n;
    const struct ct_timing_edge *times = ct_timing_edges(timing, &count);
    const struct ct_edge *edges = ct_graph_edges(graph, &n);
    const struct ct_node *nodes = ct_graph_nodes(graph, &n);
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < count; i++) {
        struct ct_wcet_way *way;
        if (nodes[edges[i].from].flags & CT_NODE_NOPATH)
            continue;
        rc = find_way(w, &nodes[edges[i].from], &edges[i], &way);
        if (rc)
            return rc;
        way->count += times[i].count;
        way->shared += times[i].shared;
        rc = ct_dist_merge(&way->cycles, &times[i].cycles);
    }
    const struct ct_timing_function *functions = ct_timing_functions(timing, &count);
    for (size_t i = 0; !rc && i < count; i++)
        if (functions[i].runs && functions[i].addr)
            rc = add_run(w, &functions[i]);
    return rc ? ct_fail_nomem(w->ctx, "wcet") : CT_OK;
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

/* Whether a way that ends with the block's last instruction goes on as the edge
 * of the control flow graph says. */
static bool fits(const struct ct_wcet_way *way, const struct ct_cfg_edge *edge)
{
    switch (edge->kind) {
    case CT_CFG_NEXT:
        return !way->exec || way->next == edge->target || (way->next == 0 && way->end == edge->target);
    case CT_CFG_RETURN:
    case CT_CFG_UNKNOWN:
        return way->exec;
    default: /* of an open way nobody knows where it led; with a direct branch there is one place only */
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
