/* SPDX-License-Identifier: Apache-2.0 */
/* Counts how often loops go round, along the steps and for each thread by itself. */
#include <stdlib.h>
#include <string.h>

#include "analysis/transfer.h"
#include "analysis/wcet.h"
#include "base/ctx.h"

int ct_wcet_make_loops(struct ct_wcet *w)
{
    if (w->loops)
        return CT_OK;
    ct_cfg_loops(w->cfg, &w->loop_count);
    w->loops = calloc(w->loop_count + 1, sizeof *w->loops);
    return w->loops ? ct_wcet_make_nests(w) : ct_fail_nomem(w->ctx, "wcet");
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

/* ---- counting ---- */

static int add_traversed(struct ct_wcet *w, uint32_t edge)
{
    struct ct_wcet_stream *s = w->at;
    const int rc =
        ct_wcet_room(w, (void **)&s->traversed, s->traversed_count, &s->traversed_room, sizeof *s->traversed);
    if (!rc)
        s->traversed[s->traversed_count++] = edge;
    return rc;
}

/* Notes the edge from a call to the block behind it, which a return also traverses. */
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

/* Finds what to take off an address of the trace to get one of the control flow graph. Returns false when the
 * node is in another program. */
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

/* Finds the edges of the control flow graph that a step traverses: inside of its code, and at its end. */
static int find_traversed(struct ct_wcet *w, const struct ct_node *node, const struct ct_edge *edge)
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

static enum ct_wcet_leaving leaving_of(const struct ct_node *node, const struct ct_edge *edge)
{
    const enum ct_transfer transfer = ct_transfer_of(node, edge);
    if (edge->kind != CT_EDGE_NEXT)
        return CT_WCET_STAYS;
    return transfer == CT_TRANSFER_ERET   ? CT_WCET_ERET
           : transfer == CT_TRANSFER_JUMP ? CT_WCET_JUMPS
                                          : CT_WCET_STAYS;
}

static int learn(struct ct_wcet *w, const struct ct_graph *graph)
{
    struct ct_wcet_stream *s = w->at;
    uint32_t count;
    uint32_t nodes;
    const struct ct_edge *edges = ct_graph_edges(graph, &count);
    const struct ct_node *all = ct_graph_nodes(graph, &nodes);
    int rc = CT_OK;
    while (!rc && s->passed_count < count) {
        rc = ct_wcet_room(w, (void **)&s->passed, s->passed_count, &s->passed_room, sizeof *s->passed);
        if (rc)
            break;
        const struct ct_edge *edge = &edges[s->passed_count];
        struct ct_wcet_passed *passed = &s->passed[s->passed_count++];
        *passed = (struct ct_wcet_passed){.start = all[edge->from].start,
                                          .next = edge->next,
                                          .first = (uint32_t)s->traversed_count,
                                          .leaving = leaving_of(&all[edge->from], edge)};
        rc = find_traversed(w, &all[edge->from], edge);
        passed->end = (uint32_t)s->traversed_count;
    }
    return rc;
}

/* Counts a traversal of an edge: a run of a loop's head, or an entry of a loop. A function that calls itself
 * may be in the loop more than once at a time; its counts are never taken back, so they are too large rather
 * than too small. */
static void count_edge(struct ct_wcet *w, const struct ct_cfg_edge *edge, const struct ct_cfg_block *blocks,
                       const struct ct_cfg_loop *loops)
{
    struct ct_wcet_counts *c = w->at->counts;
    uint32_t headed = CT_CFG_NONE;
    if (edge->to == CT_CFG_NONE)
        return;
    ct_wcet_count_run(w, edge);
    ct_wcet_count_depth(w, edge, blocks);
    for (uint32_t l = blocks[edge->to].loop; l != CT_CFG_NONE; l = loops[l].parent) {
        bool enters = ct_wcet_enters(w, edge, l);
        if (enters && !w->recursive[loops[l].function] && !w->at->shares) {
            c->rounds[l] = 0;
            c->entries[l]++;
        }
        if (loops[l].head == edge->to) {
            c->rounds[l]++;
            headed = l;
        }
        if (c->rounds[l] > w->loops[l].observed)
            w->loops[l].observed = c->rounds[l];
    }
    if (headed != CT_CFG_NONE)
        ct_wcet_count_nest(w, headed, loops);
}

/* ---- streams ---- */

static void free_stream(struct ct_wcet_stream *s)
{
    ct_wcet_free_threads(s);
    free(s->traversed);
    free(s->passed);
    free(s);
}

void ct_wcet_free_streams(struct ct_wcet *w)
{
    for (size_t i = 0; i < w->stream_count; i++)
        free_stream(w->streams[i]);
    free(w->streams);
}

/* Makes the stream with this number the one that counts. False: it has not begun. */
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
    if (!rc && !w->recursive)
        rc = ct_wcet_find_recursion(w);
    if (!rc)
        rc = ct_wcet_room(w, (void **)&w->streams, w->stream_count, &w->stream_room,
                          sizeof(struct ct_wcet_stream *));
    struct ct_wcet_stream *s = rc ? NULL : calloc(1, sizeof *s);
    if (!s)
        return rc ? rc : ct_fail_nomem(w->ctx, "wcet");
    s->lane = lane;
    w->streams[w->stream_count++] = w->at = s;
    if (w->entry < count) {
        w->entry_block = functions[w->entry].block;
        w->no_runs |= w->recursive[w->entry];
    }
    rc = ct_wcet_switch_thread(w, 0, 0);
    if (rc)
        end_stream(w);
    return rc;
}

int ct_wcet_count_loops(struct ct_wcet *w, uint32_t lane, const struct ct_step_batch *batch)
{
    if (!w)
        return CT_ERR_ARG;
    size_t count;
    const bool has_begun = find_stream(w, lane);
    if (!batch) {
        if (has_begun)
            end_stream(w);
        return CT_OK;
    }
    int rc = has_begun ? CT_OK : begin_stream(w, lane);
    if (!rc)
        rc = learn(w, batch->graph);
    const struct ct_cfg_edge *edges = ct_cfg_edges(w->cfg, &count);
    const struct ct_cfg_block *blocks = ct_cfg_blocks(w->cfg, &count);
    const struct ct_cfg_loop *loops = ct_cfg_loops(w->cfg, &count);
    const struct ct_wcet_stream *s = w->at;
    size_t mark = 0;
    for (size_t i = 0; !rc && i <= batch->count; i++) {
        while (!rc && mark < batch->mark_count && batch->marks[mark].at == i)
            rc = ct_wcet_on_mark(w, &batch->marks[mark++]);
        if (rc || i == batch->count)
            break;
        const struct ct_wcet_passed *passed = &s->passed[batch->edge[i]];
        if (s->arrives)
            rc = ct_wcet_step_begins(w, passed->start);
        for (uint32_t t = passed->first; !rc && t < passed->end; t++)
            count_edge(w, &edges[s->traversed[t]], blocks, loops);
        if (!rc && passed->leaving != CT_WCET_STAYS)
            rc = ct_wcet_step_leaves(w, passed->leaving, passed->next);
    }
    return rc;
}
