/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up the times of edges and functions, step by step. */
#include <stdlib.h>

#include "analysis/dist.h"
#include "analysis/timing.h"
#include "analysis/transfer.h"
#include "base/name_suffix.h"
#include "base/array_of.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "base/room.h"

/* Makes the function of code in no program, and the table of the functions of all programs. */
static int make_functions(struct ct_timing *t)
{
    size_t count = 0;
    for (size_t i = 0; i < t->program_count; i++) {
        size_t more;
        ct_symbols_all_code(t->programs[i].symbols, &more);
        count += more;
    }
    t->numbers = calloc(count + 1, sizeof *t->numbers);
    const struct ct_timing_function unknown = {
        .name = CT_SYMBOL_UNKNOWN, .label = CT_SYMBOL_UNKNOWN, .program = CT_TIMING_NO_PROGRAM};
    return t->numbers && !ct_timing_put_function(t, &unknown, 0) ? CT_OK : ct_fail_nomem(t->ctx, "timing");
}

/* Copies the origin of the stream. CT_ERR_NOMEM. */
static int set_origin(struct ct_timing *t, const struct ct_stream_origin *origin)
{
    if (!origin || !origin->run || !*origin->run || !origin->buffer || !*origin->buffer)
        return CT_OK;
    t->origin = (struct ct_timing_longest){.capture = ct_arena_strdup(&t->arena, origin->run),
                                           .buffer = ct_arena_strdup(&t->arena, origin->buffer),
                                           .id = origin->id};
    return t->origin.capture && t->origin.buffer ? CT_OK : ct_fail_nomem(t->ctx, "timing");
}

int ct_timing_new(struct ct_ctx *ctx, const struct ct_timing_options *options, struct ct_timing **out)
{
    CT_REQUIRE_OUT(ctx, out);
    struct ct_timing_options o;
    int rc = ct_options_read(ctx, "ct_timing_new", options, &o, sizeof o);
    if (rc)
        return rc;
    CT_REQUIRE(ctx, !o.program_count || o.programs);
    struct ct_timing *t = calloc(1, sizeof *t);
    if (!t)
        return ct_fail_nomem(ctx, "timing");
    t->ctx = ctx;
    t->histograms = !o.no_histograms;
    t->programs = o.programs;
    t->program_count = o.program_count;
    t->last = CT_TIMING_NO_EDGE;
    rc = make_functions(t);
    if (!rc)
        rc = set_origin(t, o.origin);
    if (!rc)
        rc = ct_timing_switch(t, 0, 0, 0);
    if (rc)
        ct_timing_free(t);
    else
        *out = t;
    return rc;
}

void ct_timing_free(struct ct_timing *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->edge_count; i++)
        ct_dist_free(&t->edges[i].cycles);
    for (size_t i = 0; i < t->thread_count; i++)
        free(t->threads[i].frames);
    ct_timing_pairs_free(t);
    free(t->edges);
    free(t->ways);
    free(t->classes);
    free(t->tallies);
    ct_timing_functions_free(t);
    ct_arena_free(&t->arena);
    free(t);
}

/* ---- the effects of edges ---- */

/* Finds the function with an address of a memory, and sets *number to 0 for none, and *begins when it begins
 * there. CT_ERR_NOMEM. */
static int function_at(struct ct_timing *t, uint64_t addr, uint32_t memory, uint32_t *number, bool *begins)
{
    uint32_t first = 0;
    *number = 0;
    *begins = false;
    for (size_t i = 0; i < t->program_count; i++) {
        const struct ct_program_place *place = &t->programs[i];
        size_t count;
        const struct ct_symbol *all = ct_symbols_all_code(place->symbols, &count);
        const uint64_t at = addr - place->shift;
        const struct ct_symbol *symbol =
            ct_memory_set_has(&place->memories, memory) ? ct_symbols_code_at(place->symbols, at, NULL) : NULL;
        if (symbol) {
            *begins = symbol->addr == at;
            return ct_timing_number(t, (uint32_t)i, symbol, first + (uint32_t)(symbol - all), number);
        }
        first += (uint32_t)count;
    }
    return CT_OK;
}

static enum ct_timing_branch branch_of(const struct ct_node *node)
{
    if (node->flags & CT_NODE_CUT || (node->type != CT_INSN_BR && node->type != CT_INSN_IBR))
        return CT_TIMING_BRANCH_NONE;
    if (node->sub == CT_INSN_SUB_NONE)
        return node->cond ? CT_TIMING_BRANCH_COND : CT_TIMING_BRANCH_JUMP;
    return node->sub == CT_INSN_SUB_LINK ? CT_TIMING_BRANCH_CALL : CT_TIMING_BRANCH_RETURN;
}

static enum ct_timing_class classify(const struct ct_timing *t, const struct ct_node *node,
                                     const struct ct_edge *edge, const struct ct_timing_way *way, bool begins)
{
    if (edge->kind == CT_EDGE_OPEN || !edge->next)
        return CT_TIMING_ON;
    const enum ct_transfer transfer = ct_transfer_of(node, edge);
    switch (transfer) {
    case CT_TRANSFER_CALL:
        return CT_TIMING_CALL;
    case CT_TRANSFER_ERET:
        return CT_TIMING_ERET;
    case CT_TRANSFER_RETURN:
        return CT_TIMING_RETURN;
    case CT_TRANSFER_NONE:
        return CT_TIMING_ON;
    case CT_TRANSFER_BRANCH:
    case CT_TRANSFER_JUMP:
        break;
    }
    if (begins && way->callee != way->function && way->callee &&
        !ct_is_cold_part(t->functions[way->callee].name, t->functions[way->function].name))
        return CT_TIMING_TAIL;
    return transfer == CT_TRANSFER_JUMP ? CT_TIMING_JUMP : CT_TIMING_ON;
}

static int make_room(struct ct_timing *t, size_t edges)
{
    size_t ways = t->edge_room; /* every array has as much room as `edges` */
    size_t classes = ways;
    size_t tallies = ways;
    if (!CT_MAKE_ROOM(t->ways, ways, edges) || !CT_MAKE_ROOM(t->classes, classes, edges) ||
        !CT_MAKE_ROOM(t->tallies, tallies, edges) || !CT_MAKE_ROOM(t->edges, t->edge_room, edges))
        return ct_fail_nomem(t->ctx, "timing");
    return CT_OK;
}

/* Makes an empty tally. Its cells have a word of cycles that needs no buckets. */
static void make_tally(struct ct_timing_tally *tally)
{
    *tally = (struct ct_timing_tally){0};
    for (unsigned i = 0; i < CT_TIMING_CELLS; i++)
        tally->cells[i].cycles = CT_TIMING_NO_CYCLES;
}

/* Classifies the new edges of the graph. CT_ERR_NOMEM. */
static int learn(struct ct_timing *t, const struct ct_graph *graph)
{
    uint32_t count;
    uint32_t nodes;
    const struct ct_edge *edges = ct_graph_edges(graph, &count);
    const struct ct_node *all = ct_graph_nodes(graph, &nodes);
    int rc = make_room(t, count);
    while (!rc && t->edge_count < count) {
        const struct ct_edge *edge = &edges[t->edge_count];
        const struct ct_node *node = &all[edge->from];
        struct ct_timing_way *way = &t->ways[t->edge_count];
        bool begins;
        *way = (struct ct_timing_way){
            .behind = node->end, .next = edge->next, .start = node->start, .memory = node->memory};
        rc = function_at(t, node->last, node->memory, &way->function, &begins);
        if (!rc)
            rc = function_at(t, edge->next, node->memory, &way->callee, &begins);
        if (rc)
            break;
        t->classes[t->edge_count] = (uint8_t)classify(t, node, edge, way, begins);
        make_tally(&t->tallies[t->edge_count]);
        t->edges[t->edge_count] = (struct ct_timing_edge){.start = node->start,
                                                          .last = node->last,
                                                          .end = node->end,
                                                          .next = edge->next,
                                                          .program = CT_TIMING_NO_PROGRAM,
                                                          .next_program = CT_TIMING_NO_PROGRAM,
                                                          .kind = edge->kind,
                                                          .exec = edge->exec,
                                                          .flags = node->flags,
                                                          .branch = (uint8_t)branch_of(node),
                                                          .n = node->n};
        t->edge_count++;
    }
    return rc;
}

/* ---- batches ---- */

/* Returns the memory of the last step. */
static uint32_t last_memory(const struct ct_timing *t)
{
    return t->last == CT_TIMING_NO_EDGE ? 0 : t->ways[t->last].memory;
}

static int on_element(struct ct_timing *t, const struct ct_step_mark *mark)
{
    const struct ct_elem *elem = &mark->elem;
    t->totals.gaps += ct_elem_loss(elem) >= 0;
    switch (elem->kind) {
    case CT_ELEM_CYCLES:
        if (elem->n == CT_CYCLES_LEFT_OUT) {
            t->left_out += elem->v;
        } else if (!elem->aux) {
            t->totals.cycles += elem->v;
            t->totals.unplaced += elem->v;
        }
        return CT_OK;
    case CT_ELEM_CONTEXT: {
        uint32_t ctxt = ct_elem_ctxt(elem);
        uint32_t vmid = ct_elem_vmid(elem);
        t->exception_level = elem->n & 3;
        if (ctxt == t->now->ctxt && vmid == t->now->vmid)
            return CT_OK;
        t->totals.switches += t->totals.steps > 0;
        return ct_timing_switch(t, ctxt, vmid, 0);
    }
    case CT_ELEM_EXCEPTION: {
        bool begins;
        uint32_t function;
        const uint64_t resumes_at = ct_transfer_resumes_at(elem);
        const int rc = function_at(t, resumes_at, last_memory(t), &function, &begins);
        return rc ? rc : ct_timing_exception(t, resumes_at, function);
    }
    case CT_ELEM_RETURN:
        return ct_timing_exception_return(t, mark);
    case CT_ELEM_TRACE_ON:
        t->was_off = true;
        if (elem->n != CT_TRACE_ON_FILTER)
            ct_timing_forget(t);
        return CT_OK;
    case CT_ELEM_GAP:
        ct_timing_forget(t);
        return CT_OK;
    default:
        return CT_OK;
    }
}

static int on_mark(struct ct_timing *t, const struct ct_step_mark *mark)
{
    if (mark->kind == CT_MARK_ELEM)
        return on_element(t, mark);
    ct_timing_forget(t);
    return CT_OK;
}

/* Settles the tallies before a counter of a cell can overflow. */
static void settle_in_time(struct ct_timing *t, size_t steps)
{
    t->tallied += steps;
    if (t->tallied <= UINT32_MAX)
        return;
    ct_timing_settle(t);
    t->tallied = steps;
}

int ct_timing_add(struct ct_timing *t, const struct ct_step_batch *batch)
{
    CT_REQUIRE_OF(t, batch);
    int rc = learn(t, batch->graph);
    settle_in_time(t, batch->count);
    size_t at = 0;
    for (size_t i = 0; !rc && i <= batch->count;) {
        for (; !rc && at < batch->mark_count && batch->marks[at].at == i; at++)
            rc = on_mark(t, &batch->marks[at]);
        const size_t end = at < batch->mark_count ? batch->marks[at].at : batch->count;
        if (!rc)
            rc = ct_timing_steps(t, batch, i, end);
        i = end > i ? end : batch->count + 1;
    }
    return !rc && t->pair_count ? ct_timing_watch(t, batch) : rc;
}

const struct ct_timing_edge *ct_timing_edges(const struct ct_timing *t, size_t *count)
{
    if (ct_no_array(t, count))
        return NULL;
    ct_timing_settle(t);
    *count = t->edge_count;
    return t->edges;
}

const struct ct_timing_pair *ct_timing_pairs(const struct ct_timing *t, size_t *count)
{
    return CT_ARRAY_OF(t, pairs, pair_count, count);
}

struct ct_timing_totals ct_timing_totals_of(const struct ct_timing *t)
{
    if (!t)
        return (struct ct_timing_totals){0};
    return t->totals;
}
