/* SPDX-License-Identifier: Apache-2.0 */
/* Finds which functions may call themselves: the strongly connected pieces of the call graph (Tarjan's
 * algorithm). Done once for all functions, so the time for a kernel grows only with its number of calls. */
#include <stdlib.h>

#include "analysis/wcet.h"
#include "base/ctx.h"

struct frame {
    uint32_t function;
    uint32_t next; /* the callee to visit next */
};

/* The state of the search. Arrays are by function, except `callees` and `stack`. */
struct work {
    uint32_t *first; /* the callees of function f are callees[first[f] … first[f + 1]) */
    uint32_t *callees;
    uint32_t *order; /* number of the visit, from 1; 0 before the visit */
    uint32_t *low;
    uint32_t *stack;
    struct frame *frames;
    uint32_t *piece; /* the result; CT_CFG_NONE while unknown */
    uint32_t clock, depth, pieces;
};

/* Returns the function that an edge enters: another function or, by a call, the same one. CT_CFG_NONE for
 * other edges. */
static uint32_t callee_of(const struct ct_cfg_block *blocks, const struct ct_cfg_edge *edge)
{
    uint32_t from = blocks[edge->from].function;
    uint32_t to = edge->to == CT_CFG_NONE ? CT_CFG_NONE : blocks[edge->to].function;
    bool leaves = edge->kind == CT_CFG_CALL || edge->kind == CT_CFG_TAIL || to != from;
    return leaves && from != CT_CFG_NONE ? to : CT_CFG_NONE;
}

/* Lists the callees of each function. CT_ERR_NOMEM. */
static int list_callees(const struct ct_wcet *w, struct work *k, size_t functions)
{
    size_t count;
    size_t edge_count;
    const struct ct_cfg_block *blocks = ct_cfg_blocks(w->cfg, &count);
    const struct ct_cfg_edge *edges = ct_cfg_edges(w->cfg, &edge_count);
    for (size_t e = 0; e < edge_count; e++)
        if (callee_of(blocks, &edges[e]) != CT_CFG_NONE)
            k->first[blocks[edges[e].from].function + 1]++;
    for (size_t f = 0; f < functions; f++)
        k->first[f + 1] += k->first[f];
    k->callees = malloc((k->first[functions] + 1) * sizeof *k->callees);
    uint32_t *next = k->low; /* free for other use before the visit */
    if (!k->callees)
        return CT_ERR_NOMEM;
    for (size_t f = 0; f < functions; f++)
        next[f] = k->first[f];
    for (size_t e = 0; e < edge_count; e++) {
        uint32_t callee = callee_of(blocks, &edges[e]);
        if (callee != CT_CFG_NONE)
            k->callees[next[blocks[edges[e].from].function]++] = callee;
    }
    return CT_OK;
}

static void enter(struct work *k, uint32_t function, uint32_t *depth)
{
    k->order[function] = k->low[function] = ++k->clock;
    k->stack[k->depth++] = function;
    k->frames[(*depth)++] = (struct frame){function, k->first[function]};
}

static void close_piece(struct work *k, uint32_t function)
{
    uint32_t top;
    do {
        top = k->stack[--k->depth];
        k->piece[top] = k->pieces;
    } while (top != function);
    k->pieces++;
}

static void connect(struct work *k, uint32_t from)
{
    uint32_t depth = 0;
    enter(k, from, &depth);
    while (depth) {
        struct frame *top = &k->frames[depth - 1];
        uint32_t f = top->function;
        if (top->next == k->first[f + 1]) {
            if (k->low[f] == k->order[f])
                close_piece(k, f);
            depth--;
            if (depth && k->low[f] < k->low[k->frames[depth - 1].function])
                k->low[k->frames[depth - 1].function] = k->low[f];
            continue;
        }
        uint32_t callee = k->callees[top->next++];
        if (!k->order[callee])
            enter(k, callee, &depth);
        else if (k->piece[callee] == CT_CFG_NONE && k->order[callee] < k->low[f])
            k->low[f] = k->order[callee];
    }
}

/* Marks the functions that may call themselves: their piece has other functions, or they are their own
 * callees. */
static void mark(const struct work *k, struct ct_wcet *w, size_t functions)
{
    for (uint32_t f = 0; f < functions; f++)
        for (uint32_t i = k->first[f]; i < k->first[f + 1]; i++)
            if (k->piece[k->callees[i]] == k->piece[f])
                w->recursive[f] = w->recursive[k->callees[i]] = 1;
}

int ct_wcet_find_recursion(struct ct_wcet *w)
{
    size_t n;
    struct work k = {0};
    ct_cfg_functions(w->cfg, &n);
    free(w->recursive);
    free(w->piece);
    free(w->depth_most);
    free(w->run_calls_most);
    w->recursive = calloc(n + 1, 1);
    w->piece = malloc((n + 1) * sizeof *w->piece);
    w->depth_most = calloc(n + 1, sizeof *w->depth_most);
    w->run_calls_most = calloc(n + 1, sizeof *w->run_calls_most);
    uint32_t *columns = calloc(n + 2, 4 * sizeof *columns);
    k.frames = malloc((n + 1) * sizeof *k.frames);
    const bool has_lists = w->recursive && w->piece && w->depth_most && w->run_calls_most;
    int rc = has_lists && columns && k.frames ? CT_OK : CT_ERR_NOMEM;
    k.first = columns;
    if (!rc) {
        k.order = columns + n + 2;
        k.low = k.order + n + 2;
        k.stack = k.low + n + 2;
        k.piece = w->piece;
        for (size_t f = 0; f < n; f++)
            k.piece[f] = CT_CFG_NONE;
        rc = list_callees(w, &k, n);
    }
    for (uint32_t f = 0; !rc && f < n; f++)
        if (!k.order[f])
            connect(&k, f);
    if (!rc)
        mark(&k, w, n);
    free(k.callees);
    free(k.frames);
    free(columns);
    return rc ? ct_fail_nomem(w->ctx, "wcet") : CT_OK;
}
