/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/edge_table.h"
#include "base/require.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_of.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/room.h"

#define BLOCK_SHIFT    8
#define BLOCK          (1u << BLOCK_SHIFT)
#define CONTEXTS       256u
#define CONTEXTS_MAX   65536u
#define CONTEXT_KNOWN  (CT_CONTEXT_SF | CT_CONTEXT_CTXT | CT_CONTEXT_VMID | CT_CONTEXT_EL)
#define FIRST_CONTEXTS 4u

/* The statistics of BLOCK edges of one context: only counts as long as no cycles are added. At first both are
 * NULL; later exactly one of them is not. */
struct block {
    struct ct_edge_stats *stats;
    uint64_t *counts;
};

/* The statistics of one context, by edge >> BLOCK_SHIFT. */
struct column {
    struct block *blocks;
    size_t cap;
};

struct ct_edges {
    struct ct_ctx *ctx;
    uint32_t max_contexts;
    uint32_t part_contexts;         /* number of contexts from which on a part is full; 0: this is no part */
    struct ct_edge_context current; /* added to `contexts` with its first step */
    size_t at;                      /* its index in `contexts`, once `entered` */
    bool entered;
    size_t count, cap;
    struct ct_edge_context *contexts;
    struct column *columns;
    struct ct_edge_totals totals;
};

int ct_edges_new(struct ct_ctx *ctx, const struct ct_edges_options *options, struct ct_edges **out)
{
    CT_REQUIRE_OUT(ctx, out);
    struct ct_edges_options o;
    const int rc = ct_options_read(ctx, "ct_edges_new", options, &o, sizeof o);
    if (rc)
        return rc;
    const uint32_t most = o.max_contexts ? o.max_contexts : CONTEXTS;
    if (most > CONTEXTS_MAX)
        return ct_fail(
            ctx, CT_ERR_ARG,
            "edge statistics: %u contexts were requested, but at most %u can be distinguished; request fewer",
            most, CONTEXTS_MAX);
    struct ct_edges *e = calloc(1, sizeof *e);
    if (!e)
        return ct_fail_nomem(ctx, "edge statistics");
    e->ctx = ctx;
    e->max_contexts = most;
    *out = e;
    return CT_OK;
}

static void free_columns(struct ct_edges *e)
{
    for (size_t c = 0; c < e->count; c++) {
        for (uint32_t i = 0; i < e->columns[c].cap; i++) {
            free(e->columns[c].blocks[i].stats);
            free(e->columns[c].blocks[i].counts);
        }
        free(e->columns[c].blocks);
    }
    e->count = 0;
}

void ct_edges_free(struct ct_edges *e)
{
    if (!e)
        return;
    free_columns(e);
    free(e->columns);
    free(e->contexts);
    free(e);
}

static int order_of(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

int ct_edge_context_order(const struct ct_edge_context *a, const struct ct_edge_context *b)
{
    if (!a || !b)
        return 0;
    int order = order_of(a->known, b->known);
    order = order ? order : order_of(a->ctxt, b->ctxt);
    order = order ? order : order_of(a->vmid, b->vmid);
    order = order ? order : order_of(a->el_sec, b->el_sec);
    return order ? order : order_of(a->others, b->others);
}

static bool same_context(const struct ct_edge_context *a, const struct ct_edge_context *b)
{
    return ct_edge_context_order(a, b) == 0;
}

static int grow_contexts(struct ct_edges *e)
{
    size_t cap = e->cap ? e->cap * 2 : FIRST_CONTEXTS;
    struct ct_edge_context *contexts = realloc(e->contexts, cap * sizeof *contexts);
    if (contexts)
        e->contexts = contexts;
    struct column *columns = contexts ? realloc(e->columns, cap * sizeof *columns) : NULL;
    if (!columns)
        return ct_fail_nomem(e->ctx, "edge statistics");
    e->columns = columns;
    e->cap = cap;
    return CT_OK;
}

/* Finds or adds the current context. When there is no room for it, all contexts without room are counted as
 * one, with `others` set. */
static int enter_context(struct ct_edges *e)
{
    struct ct_edge_context wanted = e->current;
    if (e->count >= e->max_contexts)
        wanted = (struct ct_edge_context){.others = 1};
    for (e->at = 0; e->at < e->count; e->at++) {
        const struct ct_edge_context *c = &e->contexts[e->at];
        if (same_context(c, &e->current) || same_context(c, &wanted)) {
            e->entered = true;
            return CT_OK;
        }
    }
    int rc = e->count == e->cap ? grow_contexts(e) : CT_OK;
    if (rc)
        return rc;
    e->contexts[e->count] = wanted;
    e->columns[e->count++] = (struct column){0};
    e->entered = true;
    return CT_OK;
}

void ct_edges_set_context(struct ct_edges *e, const struct ct_elem *elem)
{
    if (!e || !elem)
        return;
    struct ct_edge_context context = {.ctxt = ct_elem_ctxt(elem),
                                      .vmid = ct_elem_vmid(elem),
                                      .el_sec = elem->n,
                                      .known = (uint8_t)(elem->aux & CONTEXT_KNOWN)};
    if (same_context(&context, &e->current))
        return;
    e->current = context;
    e->entered = false;
}

/* Returns the block of an edge, which is empty when it is new; NULL when out of memory. */
static struct block *block_of(struct ct_edges *e, size_t context, uint32_t edge)
{
    struct column *column = &e->columns[context];
    const uint32_t block = edge >> BLOCK_SHIFT;
    if (!CT_MAKE_ZEROED_ROOM(column->blocks, column->cap, (size_t)block + 1)) {
        ct_fail_nomem(e->ctx, "edge statistics");
        return NULL;
    }
    if (edge >= e->contexts[context].edges)
        e->contexts[context].edges = edge + 1;
    return &column->blocks[block];
}

/* Returns the statistics of an edge, made when they are new; NULL when out of memory. */
static struct ct_edge_stats *entry(struct ct_edges *e, size_t context, uint32_t edge)
{
    struct block *block = block_of(e, context, edge);
    if (!block)
        return NULL;
    if (!block->stats && !(block->stats = calloc(BLOCK, sizeof *block->stats))) {
        ct_fail_nomem(e->ctx, "edge statistics");
        return NULL;
    }
    for (uint32_t i = 0; block->counts && i < BLOCK; i++)
        block->stats[i].count = block->counts[i];
    free(block->counts);
    block->counts = NULL;
    return &block->stats[edge & (BLOCK - 1)];
}

/* Returns the count of an edge, made when it is new; NULL when out of memory. */
static uint64_t *count_of(struct ct_edges *e, size_t context, uint32_t edge)
{
    struct block *block = block_of(e, context, edge);
    if (!block)
        return NULL;
    if (block->stats)
        return &block->stats[edge & (BLOCK - 1)].count;
    if (!block->counts && !(block->counts = calloc(BLOCK, sizeof *block->counts))) {
        ct_fail_nomem(e->ctx, "edge statistics");
        return NULL;
    }
    return &block->counts[edge & (BLOCK - 1)];
}

/* Returns the statistics of an edge in a block. */
static struct ct_edge_stats stats_in(const struct block *block, uint32_t edge)
{
    const uint32_t at = edge & (BLOCK - 1);
    if (block->stats)
        return block->stats[at];
    return (struct ct_edge_stats){.count = block->counts ? block->counts[at] : 0};
}

/* Zeroes the statistics of a block. */
static void zero(const struct block *block)
{
    if (block->stats)
        memset(block->stats, 0, BLOCK * sizeof *block->stats);
    if (block->counts)
        memset(block->counts, 0, BLOCK * sizeof *block->counts);
}

static void add(struct ct_edge_stats *to, const struct ct_edge_stats *s)
{
    to->count += s->count;
    if (!s->timed)
        return;
    to->min = to->timed && to->min < s->min ? to->min : s->min;
    to->max = to->max > s->max ? to->max : s->max;
    to->timed += s->timed;
    to->sum += s->sum;
    to->square_lo += s->square_lo;
    to->square_hi += s->square_hi + (to->square_lo < s->square_lo);
}

int ct_edges_enter(struct ct_edges *e, size_t *context)
{
    int rc = e->entered ? CT_OK : enter_context(e);
    *context = e->at;
    return rc;
}

int ct_edges_add_at(struct ct_edges *e, size_t context, uint32_t edge, const struct ct_edge_stats *stats)
{
    struct ct_edge_stats *to = stats->timed ? entry(e, context, edge) : NULL;
    uint64_t *count = to ? &to->count : stats->timed ? NULL : count_of(e, context, edge);
    if (!count)
        return CT_ERR_NOMEM;
    if (to)
        add(to, stats);
    else
        *count += stats->count;
    e->contexts[context].steps += stats->count;
    e->totals.steps += stats->count;
    e->totals.cycles += stats->sum;
    return CT_OK;
}

int ct_edges_add_stats(struct ct_edges *e, uint32_t edge, const struct ct_edge_stats *stats)
{
    CT_REQUIRE_OF(e, stats);
    if (edge >= CT_GRAPH_MAX)
        return ct_fail(e->ctx, CT_ERR_ARG,
                       "edge statistics: a graph cannot have an edge with number %u; nothing was added",
                       edge);
    size_t context;
    int rc = ct_edges_enter(e, &context);
    return rc ? rc : ct_edges_add_at(e, context, edge, stats);
}

/* Counts one traversal. `cycles` is an entry of the column of a step batch. */
static inline void add_one(struct ct_edge_stats *to, uint32_t cycles)
{
    to->count++;
    if (cycles == CT_STEP_NO_CYCLES)
        return;
    uint32_t x = cycles & CT_STEP_CYCLES;
    uint64_t square = (uint64_t)x * x;
    if (!to->timed++)
        to->min = x;
    to->min = to->min < x ? to->min : x;
    to->max = to->max > x ? to->max : x;
    to->sum += x;
    to->square_lo += square;
    to->square_hi += to->square_lo < square;
}

/* Counts one traversal of an edge that may have no statistics yet. Returns false when out of memory. */
static bool add_first(struct ct_edges *e, size_t context, uint32_t edge, uint32_t cycles)
{
    uint64_t *count = cycles == CT_STEP_NO_CYCLES ? count_of(e, context, edge) : NULL;
    struct ct_edge_stats *to = cycles == CT_STEP_NO_CYCLES ? NULL : entry(e, context, edge);
    if (count)
        ++*count;
    if (to)
        add_one(to, cycles);
    return count || to;
}

/* Counts steps of one context. */
static int add_steps(struct ct_edges *e, const uint32_t *edge, const uint32_t *cycles, size_t count)
{
    size_t context;
    uint64_t sum = 0;
    if (!count)
        return CT_OK;
    int rc = ct_edges_enter(e, &context);
    if (rc)
        return rc;
    const struct column *column = &e->columns[context];
    const struct block *blocks = column->blocks;
    uint32_t edges = e->contexts[context].edges;
    for (size_t i = 0; i < count; i++) {
        const uint32_t number = edge[i];
        const uint32_t c = cycles ? cycles[i] : CT_STEP_NO_CYCLES;
        sum += c == CT_STEP_NO_CYCLES ? 0 : c & CT_STEP_CYCLES;
        if (number < edges && blocks[number >> BLOCK_SHIFT].stats) {
            add_one(&blocks[number >> BLOCK_SHIFT].stats[number & (BLOCK - 1)], c);
            continue;
        }
        if (!add_first(e, context, number, c))
            return CT_ERR_NOMEM;
        blocks = column->blocks;
        edges = e->contexts[context].edges;
    }
    e->contexts[context].steps += count;
    e->totals.steps += count;
    e->totals.cycles += sum;
    return CT_OK;
}

/* Returns true for a mark with a cycle count that no step got, unless such a count is left out by rule. */
static bool is_unplaced(const struct ct_step_mark *mark)
{
    return mark->kind == CT_MARK_ELEM && mark->elem.kind == CT_ELEM_CYCLES &&
           mark->elem.n != CT_CYCLES_LEFT_OUT;
}

int ct_edges_add(struct ct_edges *e, const struct ct_step_batch *batch)
{
    CT_REQUIRE_OF(e, batch);
    int rc = CT_OK;
    size_t done = 0;
    for (size_t m = 0; !rc && m <= batch->mark_count; m++) {
        const struct ct_step_mark *mark = m < batch->mark_count ? &batch->marks[m] : NULL;
        if (mark && batch->cycles && is_unplaced(mark))
            e->totals.unplaced += mark->elem.v;
        if (mark && (mark->kind != CT_MARK_ELEM || mark->elem.kind != CT_ELEM_CONTEXT))
            continue;
        size_t upto = mark ? mark->at : batch->count;
        if (upto > done)
            rc = add_steps(e, batch->edge + done, batch->cycles ? batch->cycles + done : NULL, upto - done);
        done = upto;
        if (mark)
            ct_edges_set_context(e, &mark->elem);
    }
    return rc;
}

void ct_edges_make_part(struct ct_edges *part)
{
    part->part_contexts = part->max_contexts;
    part->max_contexts = CONTEXTS_MAX;
}

bool ct_edges_part_is_full(const struct ct_edges *part)
{
    return part->part_contexts && part->count >= part->part_contexts;
}

/* Adds the counts of one context of a part to the current context of `e`, and zeroes them. */
static int take_column(struct ct_edges *e, struct column *column, const struct ct_graph_map *map)
{
    size_t context;
    int rc = ct_edges_enter(e, &context);
    for (uint32_t b = 0; !rc && b < column->cap; b++) {
        const struct block *block = &column->blocks[b];
        for (uint32_t i = 0; (block->stats || block->counts) && !rc && i < BLOCK; i++) {
            const struct ct_edge_stats stats = stats_in(block, i);
            if (stats.count)
                rc = ct_edges_add_at(e, context, map->edges[b << BLOCK_SHIFT | i], &stats);
        }
        zero(block);
    }
    return rc;
}

int ct_edges_take(struct ct_edges *e, struct ct_graph *graph, struct ct_edges *part,
                  struct ct_graph *part_graph, struct ct_graph_map *map)
{
    int rc = ct_graph_map_all(map, graph, part_graph);
    for (size_t c = 0; !rc && c < part->count; c++) {
        if (!part->contexts[c].steps)
            continue;
        e->current = part->contexts[c];
        e->current.steps = e->current.edges = 0;
        e->entered = false;
        rc = take_column(e, &part->columns[c], map);
        part->contexts[c].steps = 0;
    }
    e->totals.unplaced += part->totals.unplaced;
    part->totals = (struct ct_edge_totals){0};
    return rc;
}

void ct_edges_drop(struct ct_edges *part)
{
    for (size_t c = 0; c < part->count; c++) {
        for (uint32_t b = 0; part->contexts[c].steps && b < part->columns[c].cap; b++)
            zero(&part->columns[c].blocks[b]);
        part->contexts[c].steps = 0;
    }
    part->totals = (struct ct_edge_totals){0};
}

void ct_edges_forget_contexts(struct ct_edges *part)
{
    free_columns(part);
    part->entered = false;
}

void ct_edges_seam(const struct ct_edges *e, struct ct_seam *seam)
{
    const struct ct_edge_context *c = &e->current;
    ct_seam_put(seam, (uint64_t)c->ctxt << 32 | c->vmid);
    ct_seam_put(seam, (uint64_t)c->el_sec << 16 | (uint64_t)c->known << 8 | c->others);
}

const struct ct_edge_context *ct_edges_contexts(const struct ct_edges *e, size_t *count)
{
    return CT_ARRAY_OF(e, contexts, count, count);
}

struct ct_edge_stats ct_edges_get(const struct ct_edges *e, size_t context, uint32_t edge)
{
    if (!e)
        return (struct ct_edge_stats){0};
    struct ct_edge_stats sum = {0};
    uint32_t block = edge >> BLOCK_SHIFT;
    size_t first = context == CT_EDGES_ALL ? 0 : context;
    size_t last = context == CT_EDGES_ALL ? e->count : context + 1;
    for (size_t c = first; c < last && c < e->count; c++) {
        if (block >= e->columns[c].cap)
            continue;
        const struct ct_edge_stats stats = stats_in(&e->columns[c].blocks[block], edge);
        add(&sum, &stats);
    }
    return sum;
}

struct ct_edge_totals ct_edges_totals(const struct ct_edges *e)
{
    if (!e)
        return (struct ct_edge_totals){0};
    return e->totals;
}
