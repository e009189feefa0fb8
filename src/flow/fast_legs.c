/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/fast_legs.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/table_memory.h"
#include "flow/edge_table.h"

#define FIRST_TURNS 1024u

/* Returns the entry of a pair, or the free entry where it belongs. */
static struct ct_leg_turn *find_turn(const struct ct_legs *g, uint32_t from, uint64_t addr)
{
    uint32_t at = ct_leg_turn_place(g, from, addr);
    while (g->turns[at].from && (g->turns[at].from != from || g->turns[at].addr != addr))
        at = (at + 1) & (g->turn_cap - 1);
    return &g->turns[at];
}

static bool grow_turns(struct ct_legs *g)
{
    struct ct_legs grown = {.turn_cap = g->turn_cap ? g->turn_cap * 2 : FIRST_TURNS};
    grown.turns = ct_table_of_zeros(grown.turn_cap, sizeof *grown.turns);
    if (!grown.turns)
        return false;
    for (uint32_t i = 0; i < g->turn_cap; i++)
        if (g->turns[i].from)
            *find_turn(&grown, g->turns[i].from, g->turns[i].addr) = g->turns[i];
    free(g->turns);
    g->turns = grown.turns;
    g->turn_cap = grown.turn_cap;
    return true;
}

static bool grow_blocks(struct ct_legs *g, uint32_t cap)
{
    struct ct_leg_links *links = ct_array_grow(g->links, g->cap, cap, sizeof *links);
    g->links = links ? links : g->links;
    struct ct_leg_sums(*sums)[2] = links ? ct_array_grow(g->sums, g->cap, cap, sizeof *sums) : NULL;
    g->sums = sums ? sums : g->sums;
    g->cap = sums ? cap : g->cap;
    return sums;
}

bool ct_legs_have(struct ct_fast *f)
{
    if (!f->legs)
        f->legs = ct_table_of_zeros(1, sizeof *f->legs);
    struct ct_legs *g = f->legs;
    if (g && (g->turn_count * 2 < g->turn_cap || grow_turns(g)) &&
        (g->cap >= f->blocks.cap || grow_blocks(g, f->blocks.cap)))
        return true;
    f->blocks.error = ct_fail_nomem(f->ctx, "fast walk");
    return false;
}

void ct_fast_free_legs(struct ct_fast *f)
{
    struct ct_legs *g = f->legs;
    if (!g)
        return;
    ct_array_free(g->links, g->cap, sizeof *g->links);
    ct_array_free(g->sums, g->cap, sizeof *g->sums);
    free(g->turns);
    ct_leg_table_free(g);
    free(g);
}

int ct_legs_spend(struct ct_fast *f, uint32_t number, unsigned exec, uint32_t edge, struct ct_leg_sums *s)
{
    const struct ct_block *block = &f->blocks.blocks[number];
    const uint32_t count = (uint32_t)s->times;
    const struct ct_edge_stats stats = {.count = count,
                                        .timed = count,
                                        .sum = s->times >> 32,
                                        .square_lo = s->square,
                                        .min = CT_LEG_CYCLES_MOST - s->spare,
                                        .max = s->max};
    f->sums.ranges += count;
    f->sums.instructions += (uint64_t)count * block->n;
    f->sums.branches += exec && block->flags & CT_BLOCK_BRANCH ? count : 0;
    *s = (struct ct_leg_sums){0};
    return ct_edges_add_at(f->edges, f->blocks.domains[block->domain].context, edge, &stats);
}

int ct_fast_spend_legs(struct ct_fast *f)
{
    struct ct_legs *g = f->legs;
    int rc = CT_OK;
    if (!g || !g->counted)
        return CT_OK;
    for (uint32_t i = 1; i < g->cap && i < f->blocks.count && !rc; i++)
        for (unsigned exec = 0; exec < 2 && !rc; exec++)
            if (g->sums[i][exec].times)
                rc = ct_legs_spend(f, i, exec, f->blocks.blocks[i].edge[exec], &g->sums[i][exec]);
    for (uint32_t i = 0; i < g->turn_cap && !rc; i++)
        if (g->turns[i].sums.times)
            rc = ct_legs_spend(f, g->turns[i].from, 1, g->turns[i].edge, &g->turns[i].sums);
    if (!rc)
        rc = ct_leg_table_spend(f);
    g->counted = g->cycles = 0;
    return rc;
}

void ct_fast_forget_legs(struct ct_fast *f)
{
    struct ct_legs *g = f->legs;
    if (!g)
        return;
    memset(g->links, 0, g->cap * sizeof *g->links);
    memset(g->turns, 0, g->turn_cap * sizeof *g->turns);
    g->turn_count = 0;
    ct_leg_table_forget(g);
}

uint32_t ct_legs_link(struct ct_fast *f, uint32_t number, unsigned exec)
{
    struct ct_legs *g = f->legs;
    const struct ct_block *block = &f->blocks.blocks[number];
    const bool indirect = exec && block->flags & CT_BLOCK_INDIRECT;
    if (!number || !block->n || block->node == CT_NO_NUMBER || block->flags & CT_BLOCK_SLOW ||
        block->n > CT_LEG_INSNS_MOST || ct_block_contradicts(block, exec) ||
        (!indirect && (block->edge[exec] == CT_NO_NUMBER || !block->next[exec])))
        return 0;
    g->links[number].addr = block->addr;
    const uint32_t next = indirect ? 0 : block->next[exec];
    return g->links[number].next[exec] = CT_LEG_KNOWN | block->n << CT_LEG_INSNS_SHIFT | next;
}

struct ct_leg_turn *ct_legs_turn(struct ct_fast *f, uint32_t from, uint64_t addr)
{
    struct ct_legs *g = f->legs;
    struct ct_leg_turn *turn = find_turn(g, from, addr);
    if (turn->from)
        return turn;
    const struct ct_branch_target *pair = ct_blocks_known_pair(&f->blocks, from, addr, CT_ISA_A64);
    if (!pair || !pair->next || g->turn_count * 4 >= g->turn_cap * 3)
        return NULL;
    g->turn_count++;
    *turn = (struct ct_leg_turn){.addr = addr, .from = from, .next = pair->next, .edge = pair->edge};
    return turn;
}
