/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the times of blocks from those of edges. */
#include "analysis/timing.h"

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns the share of `cycles` that falls to bytes [from, to) of `size`. */
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

static void add_edge(const struct ct_timing_edge *edge, uint64_t shift, const struct ct_cfg *cfg,
                     struct ct_timing_block *blocks)
{
    size_t count;
    const struct ct_cfg_block *all = ct_cfg_blocks(cfg, &count);
    const uint64_t start = edge->start - shift;
    const uint64_t behind = edge->end - shift;
    for (uint64_t at = start; at < behind;) {
        uint32_t number = ct_cfg_block_at(cfg, at);
        if (number == CT_CFG_NONE)
            return; /* code that the graph does not know */
        uint64_t end = min(all[number].end, behind);
        add(&blocks[number], edge, at - start, end - start, behind - start, end == all[number].end);
        at = end;
    }
}

void ct_timing_add_blocks(const struct ct_timing_edge *edges, size_t count, uint64_t shift,
                          const struct ct_cfg *cfg, struct ct_timing_block *blocks)
{
    if ((!edges && count) || !cfg || !blocks)
        return;
    for (size_t i = 0; i < count; i++)
        if (!(edges[i].flags & CT_NODE_NOPATH))
            add_edge(&edges[i], shift, cfg, blocks);
}
