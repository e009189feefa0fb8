/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of each function. A loop is a strongly connected component of the blocks. Its heads are the
 * blocks through which it is entered. Without the edges into the heads, the components that remain are the
 * inner loops. With one head each these are the natural loops; with more they are irreducible. All heads are
 * removed at once: an interpreter whose instructions jump to each other then becomes two nested loops, and
 * not as many loops as it has instructions. */
#include <stdlib.h>

#include "base/ctx.h"
#include "program/cfg.h"

#define DEEPEST 64 /* all blocks of a loop at this depth are its heads, so no cycle is without one */
#define UNSEEN  UINT32_MAX

struct frame {
    uint32_t block;
    uint32_t edge; /* the edge to look at next */
};

/* Arrays by block, and stacks with room for all blocks. */
struct work {
    struct ct_cfg *cfg;
    uint32_t *order; /* by number of the visit */
    uint32_t *low;
    uint32_t *piece; /* strongly connected component; UNSEEN while it is open */
    uint32_t *stack;
    uint32_t *start; /* by piece: where its blocks begin */
    struct frame *frames;
    uint32_t *region; /* the blocks of the function; those of each loop are adjacent */
    uint32_t *begin;  /* by loop of the function: start of its blocks in `region` */
    uint32_t clock;
    uint32_t depth;
    uint32_t pieces;     /* components closed so far; numbers are unique in a function */
    uint32_t base;       /* the first component number of the current region */
    uint32_t first_loop; /* of the function */
};

/* Returns whether an edge is in the region of loop `around` without the edges into the loop's heads. */
static bool in_region(const struct work *w, const struct ct_cfg_edge *edge, uint32_t around)
{
    const struct ct_cfg *cfg = w->cfg;
    return ct_cfg_stays(cfg, edge) && cfg->blocks.at[edge->to].loop == around &&
           (around == CT_CFG_NONE || !cfg->blocks.at[edge->to].head);
}

static void close_piece(struct work *w, uint32_t block)
{
    uint32_t top;
    do {
        top = w->stack[--w->depth];
        w->piece[top] = w->pieces;
    } while (top != block);
    w->pieces++;
}

/* Finds strongly connected components from one block on (Tarjan's algorithm). */
static void connect(struct work *w, uint32_t from, uint32_t around)
{
    struct ct_cfg *cfg = w->cfg;
    uint32_t depth = 0;
    w->frames[depth++] = (struct frame){from, cfg->blocks.at[from].first_out};
    w->order[from] = w->low[from] = w->clock++;
    w->stack[w->depth++] = from;
    while (depth) {
        struct frame *top = &w->frames[depth - 1];
        uint32_t block = top->block;
        if (top->edge == CT_CFG_NONE) {
            if (w->low[block] == w->order[block])
                close_piece(w, block);
            depth--;
            if (depth && w->low[block] < w->low[w->frames[depth - 1].block])
                w->low[w->frames[depth - 1].block] = w->low[block];
            continue;
        }
        const struct ct_cfg_edge *edge = &cfg->edges.at[top->edge];
        top->edge = edge->next_out;
        if (!in_region(w, edge, around))
            continue;
        if (w->order[edge->to] == UNSEEN) {
            w->order[edge->to] = w->low[edge->to] = w->clock++;
            w->stack[w->depth++] = edge->to;
            w->frames[depth++] = (struct frame){edge->to, cfg->blocks.at[edge->to].first_out};
        } else if (w->piece[edge->to] == UNSEEN && w->order[edge->to] < w->low[block]) {
            w->low[block] = w->order[edge->to];
        }
    }
}

/* Returns whether a block is entered from outside of its component, or by a call or jump of another
 * function. */
static bool is_entered(const struct work *w, uint32_t block, uint32_t piece)
{
    const struct ct_cfg *cfg = w->cfg;
    const struct ct_cfg_block *b = &cfg->blocks.at[block];
    if (cfg->functions.at[b->function].block == block)
        return true;
    for (uint32_t e = b->first_in; e != CT_CFG_NONE; e = cfg->edges.at[e].next_in)
        if (!ct_cfg_stays(cfg, &cfg->edges.at[e]) || w->piece[cfg->edges.at[e].from] != piece)
            return true;
    return false;
}

static bool has_edge_to_itself(const struct work *w, uint32_t block, uint32_t around)
{
    const struct ct_cfg *cfg = w->cfg;
    for (uint32_t e = cfg->blocks.at[block].first_out; e != CT_CFG_NONE; e = cfg->edges.at[e].next_out)
        if (cfg->edges.at[e].to == block && in_region(w, &cfg->edges.at[e], around))
            return true;
    return false;
}

/* Makes a loop of the blocks region[first … first + count), which are one component, sorted by address. */
static int add_loop(struct work *w, uint32_t first, uint32_t count, uint32_t around)
{
    struct ct_cfg *cfg = w->cfg;
    const uint32_t function = cfg->blocks.at[w->region[first]].function;
    const uint32_t depth = around == CT_CFG_NONE ? 1 : cfg->loops.at[around].depth + 1;
    uint32_t head = UNSEEN;
    uint32_t heads = 0;
    int rc = CT_CFG_ROOM(cfg, &cfg->loops);
    if (rc)
        return rc;
    const uint32_t number = (uint32_t)cfg->loops.count++;
    for (uint32_t i = first; i < first + count; i++) {
        struct ct_cfg_block *block = &cfg->blocks.at[w->region[i]];
        block->loop = number;
        block->head = depth == DEEPEST || is_entered(w, w->region[i], w->piece[w->region[i]]);
        if (block->head && !heads++)
            head = w->region[i];
    }
    if (!heads) { /* nothing enters it, like code that is only reached by a computed branch */
        head = w->region[first];
        cfg->blocks.at[head].head = 1;
    }
    w->begin[number - w->first_loop] = first;
    cfg->loops.at[number] = (struct ct_cfg_loop){.head = head,
                                                 .parent = around,
                                                 .function = function,
                                                 .depth = depth,
                                                 .blocks = count,
                                                 .irreducible = heads > 1};
    cfg->functions.at[function].irreducible |= heads > 1;
    return CT_OK;
}

/* Groups the blocks by component, keeping their order. Components that are no loop may stay anywhere. */
static void sort_pieces(struct work *w, uint32_t *region, uint32_t count)
{
    uint32_t *start = w->start;
    uint32_t pieces = w->pieces - w->base;
    for (uint32_t i = 0; i <= pieces; i++)
        start[i] = 0;
    for (uint32_t i = 0; i < count; i++)
        start[w->piece[region[i]] - w->base + 1]++;
    for (uint32_t i = 0; i < pieces; i++)
        start[i + 1] += start[i];
    for (uint32_t i = 0; i < count; i++)
        w->stack[start[w->piece[region[i]] - w->base]++] = region[i];
    for (uint32_t i = 0; i < count; i++)
        region[i] = w->stack[i];
}

/* Finds the loops directly inside of loop `around` (or of a function), whose blocks are region[first … first
 * + count). */
static int split_region(struct work *w, uint32_t first, uint32_t count, uint32_t around)
{
    const uint32_t end = first + count;
    int rc = CT_OK;
    w->clock = w->depth = 0;
    w->base = w->pieces;
    for (uint32_t i = first; i < end; i++)
        w->order[w->region[i]] = w->piece[w->region[i]] = UNSEEN;
    for (uint32_t i = first; i < end; i++)
        if (w->order[w->region[i]] == UNSEEN)
            connect(w, w->region[i], around);
    sort_pieces(w, w->region + first, count);
    for (uint32_t i = first, next; !rc && i < end; i = next) {
        for (next = i + 1; next < end && w->piece[w->region[next]] == w->piece[w->region[i]];)
            next++;
        if (next - i > 1 || has_edge_to_itself(w, w->region[i], around))
            rc = add_loop(w, i, next - i, around);
    }
    return rc;
}

static int find_loops(struct work *w, const struct ct_cfg_function *function)
{
    struct ct_cfg *cfg = w->cfg;
    w->first_loop = (uint32_t)cfg->loops.count;
    w->pieces = 0;
    for (uint32_t i = 0; i < function->count; i++)
        w->region[i] = cfg->members.at[function->first + i];
    int rc = split_region(w, 0, function->count, CT_CFG_NONE);
    for (uint32_t l = w->first_loop; !rc && l < cfg->loops.count; l++)
        if (cfg->loops.at[l].blocks > 1 && cfg->loops.at[l].depth < DEEPEST)
            rc = split_region(w, w->begin[l - w->first_loop], cfg->loops.at[l].blocks, l);
    return rc;
}

/* Returns whether an edge leads from inside of a loop to a head of it. */
static bool leads_back(const struct ct_cfg *cfg, const struct ct_cfg_edge *edge)
{
    if (!ct_cfg_stays(cfg, edge) || !cfg->blocks.at[edge->to].head)
        return false;
    uint32_t l = cfg->blocks.at[edge->from].loop;
    while (l != CT_CFG_NONE && l != cfg->blocks.at[edge->to].loop)
        l = cfg->loops.at[l].parent;
    return l != CT_CFG_NONE;
}

static int find_all(struct work *w)
{
    struct ct_cfg *cfg = w->cfg;
    int rc = CT_OK;
    cfg->loops.count = 0;
    for (size_t i = 0; i < cfg->blocks.count; i++) {
        cfg->blocks.at[i].loop = CT_CFG_NONE;
        cfg->blocks.at[i].head = 0;
    }
    for (size_t i = 0; !rc && i < cfg->functions.count; i++)
        rc = find_loops(w, &cfg->functions.at[i]);
    for (size_t i = 0; i < cfg->edges.count; i++)
        cfg->edges.at[i].back = leads_back(cfg, &cfg->edges.at[i]);
    return rc;
}

int ct_cfg_loops_find(struct ct_cfg *cfg)
{
    size_t n = cfg->blocks.count + 2;
    struct work w = {.cfg = cfg};
    uint32_t *columns = calloc(n, 7 * sizeof *columns);
    w.frames = calloc(n, sizeof *w.frames);
    if (!columns || !w.frames) {
        free(columns);
        free(w.frames);
        return ct_fail_nomem(cfg->ctx, cfg->name);
    }
    w.order = columns;
    w.low = columns + n;
    w.piece = columns + 2 * n;
    w.stack = columns + 3 * n;
    w.start = columns + 4 * n;
    w.region = columns + 5 * n;
    w.begin = columns + 6 * n;
    int rc = find_all(&w);
    free(columns);
    free(w.frames);
    return rc;
}
