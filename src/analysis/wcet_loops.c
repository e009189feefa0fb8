/* SPDX-License-Identifier: Apache-2.0 */
/* Counts how often loops go round, along the steps and separately for each thread. */
#include <stdlib.h>

#include "analysis/transfer.h"
#include "analysis/wcet.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"

int ct_wcet_make_loops(struct ct_wcet *w)
{
    if (w->loops)
        return CT_OK;
    ct_cfg_loops(w->cfg, &w->loop_count);
    w->loops = calloc(w->loop_count + 1, sizeof *w->loops);
    if (!w->loops)
        return ct_fail_nomem(w->ctx, "wcet");
    int rc = ct_wcet_find_lines(w);
    if (!rc)
        rc = ct_wcet_find_recursion(w);
    if (!rc)
        rc = ct_wcet_make_nests(w);
    if (rc) {
        free(w->loops);
        w->loops = NULL;
    }
    return rc;
}

bool ct_wcet_exceeds(const struct ct_wcet *w, uint32_t loop, uint64_t bound)
{
    size_t count;
    return !w->recursive[ct_cfg_loops(w->cfg, &count)[loop].function] && w->loops[loop].observed > bound;
}

const struct ct_wcet_loop *ct_wcet_loops(const struct ct_wcet *w, size_t *count)
{
    if (ct_no_array(w, count))
        return NULL;
    *count = w->loops ? w->loop_count : 0;
    return w->loops;
}

static bool is_inside(const struct ct_wcet *w, uint32_t block, uint32_t loop)
{
    size_t count;
    const struct ct_cfg_block *blocks = ct_cfg_blocks(w->cfg, &count);
    const struct ct_cfg_loop *loops = ct_cfg_loops(w->cfg, &count);
    uint32_t l = blocks[block].loop;
    while (l != CT_CFG_NONE && l != loop)
        l = loops[l].parent;
    return l == loop;
}

bool ct_wcet_enters(const struct ct_wcet *w, const struct ct_cfg_edge *edge, uint32_t loop)
{
    if (edge->to == CT_CFG_NONE || !is_inside(w, edge->to, loop))
        return false;
    return edge->kind == CT_CFG_CALL || edge->kind == CT_CFG_TAIL || !is_inside(w, edge->from, loop);
}

/* ---- the effects of edges ---- */

static int add_act(struct ct_wcet *w, enum ct_wcet_act_kind kind, uint32_t what)
{
    struct ct_wcet_stream *s = w->at;
    if (!CT_MAKE_ROOM(s->acts, s->act_room, s->act_count + 1))
        return ct_fail_nomem(w->ctx, "wcet");
    s->acts[s->act_count++] = (struct ct_wcet_act){.kind = kind, .what = what};
    return CT_OK;
}

/* Adds the effect of an edge on the loop whose head it leads to. The edge enters no other loop, because an
 * edge enters a loop at its head, which is in no inner loop. A recursive function may be in the loop several
 * times at once, so its rounds are counted for each call from outside of the recursion. */
static int add_loop(struct ct_wcet *w, const struct ct_cfg_edge *edge)
{
    size_t count;
    const struct ct_cfg_block *to = &ct_cfg_blocks(w->cfg, &count)[edge->to];
    int rc = CT_OK;
    if (!to->head)
        return CT_OK;
    if (to->function != CT_CFG_NONE && w->recursive[to->function])
        return add_act(w, CT_WCET_DEEP_ROUND, to->loop);
    if (ct_wcet_enters(w, edge, to->loop))
        rc = add_act(w, CT_WCET_ENTERS, to->loop);
    if (!rc)
        rc = add_act(w, CT_WCET_ROUND, to->loop);
    return rc ? rc : add_act(w, CT_WCET_NEST, to->loop);
}

/* Adds the effects of traversing an edge of the control flow graph. */
static int add_traversed(struct ct_wcet *w, uint32_t number)
{
    size_t count;
    const struct ct_cfg_edge *edge = &ct_cfg_edges(w->cfg, &count)[number];
    const struct ct_cfg_block *blocks = ct_cfg_blocks(w->cfg, &count);
    if (edge->to == CT_CFG_NONE)
        return CT_OK;
    const enum ct_wcet_act_kind run = ct_wcet_run_act(w, edge);
    const enum ct_wcet_act_kind depth = ct_wcet_depth_act(w, edge, blocks);
    int rc = run == CT_WCET_NOTHING ? CT_OK : add_act(w, run, edge->from);
    if (!rc && depth != CT_WCET_NOTHING)
        rc = add_act(w, depth, blocks[edge->to].function);
    return rc ? rc : add_loop(w, edge);
}

/* Adds the effects of the edge from a call to the block behind it, which a return also traverses. */
static int add_called(struct ct_wcet *w, uint64_t next)
{
    size_t count;
    const struct ct_cfg_block *blocks = ct_cfg_blocks(w->cfg, &count);
    const struct ct_cfg_edge *edges = ct_cfg_edges(w->cfg, &count);
    uint32_t block = ct_cfg_block_at(w->cfg, next);
    if (block == CT_CFG_NONE || blocks[block].start != next)
        return CT_OK;
    for (uint32_t e = blocks[block].first_in; e != CT_CFG_NONE; e = edges[e].next_in)
        if (edges[e].kind == CT_CFG_CALLED)
            return add_traversed(w, e);
    return CT_OK;
}

/* Finds the bias to subtract from an address of the trace to get one of the control flow graph. Returns false
 * when the node is in another program. */
static bool find_bias(const struct ct_wcet *w, const struct ct_node *node, uint64_t *bias)
{
    struct ct_program *program;
    *bias = 0;
    for (size_t i = 0; (program = ct_programs_at(w->programs, i)); i++)
        if (ct_program_has(program, node->start, node->memory) && ct_wcet_is_of(w, program)) {
            *bias = program->bias;
            return true;
        }
    return !w->programs;
}

/* Adds the effects of the edges of the control flow graph that a step traverses, inside of its code and at
 * its end. */
static int add_step(struct ct_wcet *w, const struct ct_node *node, const struct ct_edge *edge)
{
    uint64_t bias;
    size_t count;
    const struct ct_cfg_block *blocks = ct_cfg_blocks(w->cfg, &count);
    const struct ct_cfg_edge *edges = ct_cfg_edges(w->cfg, &count);
    int rc = CT_OK;
    if (node->flags & CT_NODE_NOPATH || !find_bias(w, node, &bias))
        return CT_OK;
    const uint64_t end = node->end - bias;
    for (uint64_t at = node->start - bias; !rc && at < end;) {
        uint32_t block = ct_cfg_block_at(w->cfg, at);
        if (block == CT_CFG_NONE || blocks[block].end > end)
            return CT_OK;
        at = blocks[block].end;
        uint64_t next = at < end ? at : edge->kind == CT_EDGE_OPEN ? 0 : edge->next - bias;
        uint32_t e = ct_cfg_edge_between(w->cfg, blocks[block].last, next);
        if (e != CT_CFG_NONE)
            rc = add_traversed(w, e);
        if (!rc && e != CT_CFG_NONE && next && edges[e].target != next)
            rc = add_called(w, next);
    }
    return rc;
}

/* Adds the effect of leaving an exception, if the step may do so at its end. */
static int add_leaving(struct ct_wcet *w, const struct ct_node *node, const struct ct_edge *edge)
{
    const enum ct_transfer transfer = ct_transfer_of(node, edge);
    if (edge->kind != CT_EDGE_NEXT || (transfer != CT_TRANSFER_ERET && transfer != CT_TRANSFER_JUMP))
        return CT_OK;
    return add_act(w, transfer == CT_TRANSFER_ERET ? CT_WCET_ERET : CT_WCET_JUMPS, 0);
}

/* Notes the effects of the new edges of the graph. CT_ERR_NOMEM. */
static int learn(struct ct_wcet *w, const struct ct_graph *graph)
{
    struct ct_wcet_stream *s = w->at;
    uint32_t count;
    uint32_t nodes;
    const struct ct_edge *edges = ct_graph_edges(graph, &count);
    const struct ct_node *all = ct_graph_nodes(graph, &nodes);
    int rc = CT_OK;
    while (!rc && s->edge_count < count) {
        const struct ct_edge *edge = &edges[s->edge_count];
        const struct ct_node *node = &all[edge->from];
        if (!CT_MAKE_ROOM(s->passed, s->passed_room, s->edge_count + 1) ||
            !CT_MAKE_ROOM(s->first_act, s->first_room, s->edge_count + 2))
            return ct_fail_nomem(w->ctx, "wcet");
        s->passed[s->edge_count] = (struct ct_wcet_passed){.start = node->start, .next = edge->next};
        s->first_act[s->edge_count++] = (uint32_t)s->act_count;
        rc = add_step(w, node, edge);
        if (!rc)
            rc = add_leaving(w, node, edge);
        s->first_act[s->edge_count] = (uint32_t)s->act_count;
    }
    return rc;
}

/* ---- counting ---- */

static void count_round(struct ct_wcet *w, uint32_t loop)
{
    const uint64_t rounds = ++w->at->counts->rounds[loop];
    if (rounds > w->loops[loop].observed)
        w->loops[loop].observed = rounds;
}

static void enter_loop(const struct ct_wcet *w, uint32_t loop)
{
    struct ct_wcet_counts *c = w->at->counts;
    if (w->at->shares)
        return;
    c->rounds[loop] = 0;
    c->entries[loop]++;
}

static int act(struct ct_wcet *w, struct ct_wcet_act a, const struct ct_cfg_loop *loops, uint64_t next)
{
    switch (a.kind) {
    case CT_WCET_ENTERS:
        enter_loop(w, a.what);
        return CT_OK;
    case CT_WCET_ROUND:
        count_round(w, a.what);
        return CT_OK;
    case CT_WCET_NEST:
        ct_wcet_count_nest(w, a.what, loops);
        return CT_OK;
    case CT_WCET_DEEP_ROUND:
        ct_wcet_count_deep_round(w, a.what, loops);
        return CT_OK;
    case CT_WCET_ERET:
    case CT_WCET_JUMPS:
        return ct_wcet_step_leaves(w, a.kind, next);
    default:
        ct_wcet_count_call(w, a);
        return CT_OK;
    }
}

/* Counts the steps from `i` to `end`, which have no marks between them. Most have no effect. */
static int count_steps(struct ct_wcet *w, const uint32_t *steps, size_t i, size_t end)
{
    size_t count;
    const struct ct_wcet_stream *s = w->at;
    const struct ct_cfg_loop *loops = ct_cfg_loops(w->cfg, &count);
    int rc = CT_OK;
    if (i < end)
        w->at->chained = 0;
    for (; !rc && i < end; i++) {
        const uint32_t edge = steps[i];
        if (s->arrives)
            rc = ct_wcet_step_begins(w, s->passed[edge].start);
        for (uint32_t a = s->first_act[edge]; !rc && a < s->first_act[edge + 1]; a++)
            rc = act(w, s->acts[a], loops, s->passed[edge].next);
    }
    if (i)
        w->at->next = s->passed[steps[i - 1]].next;
    return rc;
}

/* ---- streams ---- */

static void free_stream(struct ct_wcet_stream *s)
{
    ct_wcet_free_threads(s);
    free(s->acts);
    free(s->first_act);
    free(s->passed);
    free(s);
}

void ct_wcet_free_streams(struct ct_wcet *w)
{
    for (size_t i = 0; i < w->stream_count; i++)
        free_stream(w->streams[i]);
    free(w->streams);
}

/* Makes the stream with this number the current one. Returns false when it has not begun. */
static bool find_stream(struct ct_wcet *w, uint32_t lane)
{
    for (size_t i = 0; i < w->stream_count && (!w->at || w->at->lane != lane); i++)
        if (w->streams[i]->lane == lane)
            w->at = w->streams[i];
    return w->at && w->at->lane == lane;
}

static void end_stream(struct ct_wcet *w)
{
    size_t i = 0;
    while (w->streams[i] != w->at)
        i++;
    w->streams[i] = w->streams[--w->stream_count];
    free_stream(w->at);
    w->at = NULL;
}

static int begin_stream(struct ct_wcet *w, uint32_t lane)
{
    size_t count;
    const struct ct_cfg_function *functions = ct_cfg_functions(w->cfg, &count);
    int rc = ct_wcet_make_loops(w);
    if (!rc && !CT_MAKE_ROOM(w->streams, w->stream_room, w->stream_count + 1))
        rc = ct_fail_nomem(w->ctx, "wcet");
    struct ct_wcet_stream *s = rc ? NULL : calloc(1, sizeof *s);
    if (!s)
        return rc ? rc : ct_fail_nomem(w->ctx, "wcet");
    s->lane = lane;
    w->streams[w->stream_count++] = w->at = s;
    if (w->entry < count)
        w->entry_block = functions[w->entry].block;
    rc = ct_wcet_switch_thread(w, 0, 0, 0);
    if (rc)
        end_stream(w);
    return rc;
}

int ct_wcet_count_loops(struct ct_wcet *w, uint32_t lane, const struct ct_step_batch *batch)
{
    CT_REQUIRE(NULL, w);
    const bool has_begun = find_stream(w, lane);
    if (!batch) {
        if (has_begun)
            end_stream(w);
        return CT_OK;
    }
    int rc = has_begun ? CT_OK : begin_stream(w, lane);
    if (!rc)
        rc = learn(w, batch->graph);
    size_t mark = 0;
    for (size_t i = 0; !rc && i <= batch->count;) {
        for (; !rc && mark < batch->mark_count && batch->marks[mark].at == i; mark++)
            rc = ct_wcet_on_mark(w, &batch->marks[mark]);
        const size_t end = mark < batch->mark_count ? batch->marks[mark].at : batch->count;
        if (!rc)
            rc = count_steps(w, batch->edge, i, end);
        i = end > i ? end : batch->count + 1;
    }
    return rc;
}
