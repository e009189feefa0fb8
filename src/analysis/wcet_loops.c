/* How often loops go round: counted along the steps, for each thread by itself. */
#include <stdlib.h>
#include <string.h>

#include "analysis/wcet.h"
#include "base/ctx.h"

#define MOST_THREADS 64

int ct_wcet_make_loops(struct ct_wcet *w)
{
    if (w->loops)
        return CT_OK;
    ct_cfg_loops(w->cfg, &w->loop_count);
    w->loops = calloc(w->loop_count + 1, sizeof *w->loops);
    return w->loops ? CT_OK : ct_fail_nomem(w->ctx, "wcet");
}

const struct ct_wcet_loop *ct_wcet_loops(const struct ct_wcet *w, size_t *count)
{
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

/* ---- recursion ---- */

/* Functions that `from` calls and jumps to, marked in `reached`; what is new goes onto the stack. */
static void reach(const struct ct_wcet *w, uint32_t from, uint8_t *reached, uint32_t *stack, size_t *depth)
{
    size_t count;
    const struct ct_cfg_function *f = &ct_cfg_functions(w->cfg, &count)[from];
    const uint32_t *members = ct_cfg_members(w->cfg, &count);
    const struct ct_cfg_block *blocks = ct_cfg_blocks(w->cfg, &count);
    const struct ct_cfg_edge *edges = ct_cfg_edges(w->cfg, &count);
    for (uint32_t i = 0; i < f->count; i++)
        for (uint32_t e = blocks[members[f->first + i]].first_out; e != CT_CFG_NONE; e = edges[e].next_out) {
            uint32_t to = edges[e].to == CT_CFG_NONE ? CT_CFG_NONE : blocks[edges[e].to].function;
            bool leaves = edges[e].kind == CT_CFG_CALL || edges[e].kind == CT_CFG_TAIL || to != from;
            if (to == CT_CFG_NONE || !leaves || reached[to])
                continue;
            reached[to] = 1;
            stack[(*depth)++] = to;
        }
}

int ct_wcet_reach(const struct ct_wcet *w, uint32_t from, uint8_t *reached)
{
    size_t count;
    size_t depth = 0;
    ct_cfg_functions(w->cfg, &count);
    uint32_t *stack = malloc((count + 1) * sizeof *stack);
    if (!stack)
        return ct_fail_nomem(w->ctx, "wcet");
    memset(reached, 0, count);
    reach(w, from, reached, stack, &depth);
    while (depth)
        reach(w, stack[--depth], reached, stack, &depth);
    free(stack);
    return CT_OK;
}

/* Only those with loops are asked about. */
int ct_wcet_find_recursion(struct ct_wcet *w)
{
    size_t count;
    size_t loop_count;
    const struct ct_cfg_loop *loops = ct_cfg_loops(w->cfg, &loop_count);
    ct_cfg_functions(w->cfg, &count);
    uint8_t *reached = malloc(count + 1);
    free(w->recursive);
    w->recursive = calloc(count + 1, 1);
    if (!reached || !w->recursive) {
        free(reached);
        return ct_fail_nomem(w->ctx, "wcet");
    }
    int rc = CT_OK;
    for (size_t l = 0; !rc && l < loop_count; l++) {
        uint32_t f = loops[l].function;
        if (l && loops[l - 1].function == f)
            continue;
        rc = ct_wcet_reach(w, f, reached);
        if (!rc)
            w->recursive[f] = reached[f];
    }
    free(reached);
    return rc;
}

/* ---- counting ---- */

static int add_traversed(struct ct_wcet *w, uint32_t edge)
{
    int rc =
        ct_wcet_room(w, (void **)&w->traversed, w->traversed_count, &w->traversed_room, sizeof *w->traversed);
    if (!rc)
        w->traversed[w->traversed_count++] = edge;
    return rc;
}

/* The edges of the control flow graph that a step traverses: inside of its code, and at its end. */
static int find_traversed(struct ct_wcet *w, const struct ct_node *node, const struct ct_edge *edge)
{
    size_t count;
    const struct ct_cfg_block *blocks = ct_cfg_blocks(w->cfg, &count);
    int rc = CT_OK;
    if (node->flags & CT_NODE_NOPATH)
        return CT_OK;
    for (uint64_t at = node->start; !rc && at < node->end;) {
        uint32_t block = ct_cfg_block_at(w->cfg, at);
        if (block == CT_CFG_NONE || blocks[block].end > node->end)
            return CT_OK;
        at = blocks[block].end;
        uint64_t next = at < node->end ? at : edge->kind == CT_EDGE_OPEN ? 0 : edge->next;
        uint32_t e = ct_cfg_edge_between(w->cfg, blocks[block].last, next);
        if (e != CT_CFG_NONE)
            rc = add_traversed(w, e);
    }
    return rc;
}

static int learn(struct ct_wcet *w, const struct ct_graph *graph)
{
    uint32_t count;
    uint32_t nodes;
    const struct ct_edge *edges = ct_graph_edges(graph, &count);
    const struct ct_node *all = ct_graph_nodes(graph, &nodes);
    int rc = CT_OK;
    while (!rc && w->first_count < count) {
        rc = ct_wcet_room(w, (void **)&w->first, w->first_count + 1, &w->first_room, sizeof *w->first);
        if (rc)
            break;
        const struct ct_edge *edge = &edges[w->first_count];
        w->first[w->first_count++] = (uint32_t)w->traversed_count;
        rc = find_traversed(w, &all[edge->from], edge);
        w->first[w->first_count] = (uint32_t)w->traversed_count;
    }
    return rc;
}

/* One execution of the head, or the loop is entered. A function that calls itself may be in the loop more than once at a
 * time: its counts are never taken back, and so too large rather than too small. */
static void count_edge(struct ct_wcet *w, const struct ct_cfg_edge *edge, const struct ct_cfg_block *blocks,
                       const struct ct_cfg_loop *loops)
{
    if (edge->to == CT_CFG_NONE)
        return;
    for (uint32_t l = blocks[edge->to].loop; l != CT_CFG_NONE; l = loops[l].parent) {
        bool enters = ct_wcet_enters(w, edge, l);
        if (enters && !w->recursive[loops[l].function])
            w->now->rounds[l] = 0;
        if (loops[l].head == edge->to)
            w->now->rounds[l]++;
        if (w->now->rounds[l] > w->loops[l].observed)
            w->loops[l].observed = w->now->rounds[l];
    }
}

static int switch_thread(struct ct_wcet *w, uint32_t ctxt, uint32_t vmid)
{
    for (size_t i = 0; i < w->thread_count; i++)
        if (w->threads[i].ctxt == ctxt && w->threads[i].vmid == vmid) {
            w->now = &w->threads[i];
            return CT_OK;
        }
    if (w->thread_count == MOST_THREADS) { /* they share: counts may become too large */
        w->now = &w->threads[MOST_THREADS - 1];
        return CT_OK;
    }
    if (!w->threads)
        w->threads = calloc(MOST_THREADS, sizeof *w->threads);
    uint64_t *rounds = w->threads ? calloc(w->loop_count + 1, sizeof *rounds) : NULL;
    if (!rounds)
        return ct_fail_nomem(w->ctx, "wcet");
    w->now = &w->threads[w->thread_count++];
    *w->now = (struct ct_wcet_thread){ctxt, vmid, rounds};
    return CT_OK;
}

static int on_mark(struct ct_wcet *w, const struct ct_step_mark *mark)
{
    if (mark->kind != CT_MARK_ELEM || mark->elem.kind != CT_ELEM_CONTEXT)
        return CT_OK;
    uint32_t ctxt = mark->elem.aux & CT_CONTEXT_CTXT ? (uint32_t)mark->elem.v : 0;
    uint32_t vmid = mark->elem.aux & CT_CONTEXT_VMID ? (uint32_t)(mark->elem.v >> 32) : 0;
    return switch_thread(w, ctxt, vmid);
}

static void end_stream(struct ct_wcet *w)
{
    for (size_t i = 0; i < w->thread_count; i++)
        free(w->threads[i].rounds);
    w->thread_count = 0;
    w->now = NULL;
    w->traversed_count = w->first_count = 0;
}

static int begin_stream(struct ct_wcet *w)
{
    int rc = ct_wcet_make_loops(w);
    if (!rc && !w->recursive)
        rc = ct_wcet_find_recursion(w);
    return rc ? rc : switch_thread(w, 0, 0);
}

int ct_wcet_count_loops(struct ct_wcet *w, const struct ct_step_batch *batch)
{
    size_t count;
    if (!batch) {
        end_stream(w);
        return CT_OK;
    }
    int rc = w->now ? CT_OK : begin_stream(w);
    if (!rc)
        rc = learn(w, batch->graph);
    const struct ct_cfg_edge *edges = ct_cfg_edges(w->cfg, &count);
    const struct ct_cfg_block *blocks = ct_cfg_blocks(w->cfg, &count);
    const struct ct_cfg_loop *loops = ct_cfg_loops(w->cfg, &count);
    size_t mark = 0;
    for (size_t i = 0; !rc && i <= batch->count; i++) {
        while (!rc && mark < batch->mark_count && batch->marks[mark].at == i)
            rc = on_mark(w, &batch->marks[mark++]);
        if (rc || i == batch->count)
            break;
        uint32_t edge = batch->edge[i];
        for (uint32_t t = w->first[edge]; t < w->first[edge + 1]; t++)
            count_edge(w, &edges[w->traversed[t]], blocks, loops);
    }
    return rc;
}
