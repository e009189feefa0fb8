/* SPDX-License-Identifier: Apache-2.0 */
/* Times of blocks, from those of edges. */
#include "analysis/timing.h"

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The part of `cycles` that bytes [from, to) of `size` have. */
static uint64_t part(uint64_t cycles, uint64_t from, uint64_t to, uint64_t size)
{
    unsigned __int128 all = cycles;
    return (uint64_t)(all * to / size - all * from / size);
}

static void add(struct ct_timing_block *block, const struct ct_timing_edge *edge, uint64_t from, uint64_t to,
                uint64_t size, bool whole)
{
    const struct ct_dist *d = &edge->cycles;
    uint64_t low = part(d->min, from, to, size);
    uint64_t high = part(d->max, from, to, size);
    if (whole)
        block->count += edge->count;
    if (!d->count)
        return;
    if (!block->timed || low < block->min)
        block->min = low;
    if (high > block->max)
        block->max = high;
    block->timed += d->count;
    block->sum += part(d->sum, from, to, size);
}

static void add_node(const struct ct_timing_edge *edge, const struct ct_node *node, const struct ct_cfg *cfg,
                     struct ct_timing_block *blocks)
{
    size_t count;
    const struct ct_cfg_block *all = ct_cfg_blocks(cfg, &count);
    uint64_t size = node->end - node->start;
    for (uint64_t at = node->start; at < node->end;) {
        uint32_t number = ct_cfg_block_at(cfg, at);
        if (number == CT_CFG_NONE)
            return; /* code that the graph does not know */
        uint64_t end = min(all[number].end, node->end);
        add(&blocks[number], edge, at - node->start, end - node->start, size, end == all[number].end);
        at = end;
    }
}

void ct_timing_add_blocks(const struct ct_timing *t, const struct ct_graph *graph, const struct ct_cfg *cfg,
                          struct ct_timing_block *blocks)
{
    if (!t || !graph || !cfg || !blocks)
        return;
    uint32_t count;
    const struct ct_edge *edges = ct_graph_edges(graph, &count);
    const struct ct_node *nodes = ct_graph_nodes(graph, &count);
    for (size_t i = 0; i < t->edge_count; i++)
        if (!(nodes[edges[i].from].flags & CT_NODE_NOPATH))
            add_node(&t->edges[i], &nodes[edges[i].from], cfg, blocks);
}
