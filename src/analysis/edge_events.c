/* SPDX-License-Identifier: Apache-2.0 */
#include "coretap/edge_events.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/require.h"

#define UNNUMBERED UINT32_MAX
#define ROOM       16384u /* most events that are held back */
#define GROUP      16u    /* steps that are examined together */
#define MAGIC_SIZE (sizeof CT_EDGE_EVENTS_MAGIC - 1)

/* The numbers, in the graph of all streams, of the nodes or edges of a stream's graph. UNNUMBERED: none
 * yet. */
struct names {
    uint32_t *number;
    size_t count;
};

struct ct_edge_events {
    struct ct_ctx *ctx;
    struct ct_graph *all;
    ct_write_fn *write;
    void *user;
    const struct ct_graph *graph;    /* graph of the current stream */
    bool same;                       /* the stream's numbers are also those of `all` */
    uint32_t node_count, edge_count; /* how many of them are in `all` already */
    struct names nodes, edges;       /* used when the numbers differ */
    uint64_t traversed;
    uint64_t context; /* as traced, or CONTEXT_UNKNOWN */
    bool begun;       /* the magic is written */
    bool has_stream;  /* a stream has begun */
    size_t count;
    uint64_t out[ROOM]; /* as in a file */
};

#define CONTEXT_UNKNOWN UINT32_MAX

int ct_edge_events_new(struct ct_ctx *ctx, struct ct_graph *edges, ct_write_fn *write, void *user,
                       struct ct_edge_events **out)
{
    CT_REQUIRE_OUT(ctx, out, edges, write);
    struct ct_edge_events *e = calloc(1, sizeof *e);
    if (!e)
        return ct_fail_nomem(ctx, "events of edges");
    e->ctx = ctx;
    e->all = edges;
    e->write = write;
    e->user = user;
    e->context = CONTEXT_UNKNOWN;
    *out = e;
    return CT_OK;
}

void ct_edge_events_free(struct ct_edge_events *e)
{
    if (e) {
        free(e->nodes.number);
        free(e->edges.number);
    }
    free(e);
}

uint64_t ct_edge_events_count(const struct ct_edge_events *e)
{
    return e ? e->traversed : 0;
}

int ct_edge_events_flush(struct ct_edge_events *e)
{
    CT_REQUIRE(NULL, e);
    const size_t size = 8 * e->count;
    int rc = e->begun ? CT_OK : e->write(e->user, CT_EDGE_EVENTS_MAGIC, MAGIC_SIZE);
    e->begun = true;
    e->count = 0;
    return rc || !size ? rc : e->write(e->user, e->out, size);
}

/* Adds an event of eight bytes. */
static int put(struct ct_edge_events *e, uint64_t bytes)
{
    const int rc = e->count == ROOM ? ct_edge_events_flush(e) : CT_OK;
    e->out[e->count++] = ct_le64(bytes);
    return rc;
}

static int put_other(struct ct_edge_events *e, enum ct_edge_event_kind kind, uint64_t value)
{
    const uint64_t most = value < UINT32_MAX ? value : UINT32_MAX;
    return put(e, most << 32 | CT_EDGE_EVENT_OTHER | kind);
}

int ct_edge_events_begin(struct ct_edge_events *e, uint32_t buffer, uint8_t id)
{
    CT_REQUIRE(NULL, e);
    e->graph = NULL;
    e->context = CONTEXT_UNKNOWN;
    e->has_stream = true;
    return put_other(e, CT_EDGE_EVENT_STREAM, (uint64_t)buffer << 8 | id);
}

/* ---- numbers ---- */

/* Makes room for `count` numbers and sets the new ones to UNNUMBERED. Returns false when out of memory. */
static bool make_room(struct names *names, size_t count)
{
    if (count <= names->count)
        return true;
    const size_t more = count > 2 * names->count ? count : 2 * names->count;
    uint32_t *number = realloc(names->number, more * sizeof *number);
    if (!number)
        return false;
    memset(number + names->count, 0xff, (more - names->count) * sizeof *number);
    names->number = number;
    names->count = more;
    return true;
}

static void forget(const struct names *names)
{
    if (names->count)
        memset(names->number, 0xff, names->count * sizeof *names->number);
}

/* Makes room for the numbers of the stream's graph. CT_ERR_NOMEM. */
static int make_rooms(struct ct_edge_events *e)
{
    uint32_t nodes, edges;
    (void)ct_graph_nodes(e->graph, &nodes);
    (void)ct_graph_edges(e->graph, &edges);
    return make_room(&e->nodes, nodes) && make_room(&e->edges, edges)
               ? CT_OK
               : ct_fail_nomem(e->ctx, "events of edges");
}

/* Switches to looking numbers up, because the numbers of the stream and of all streams differ from here
 * on. */
static int part(struct ct_edge_events *e)
{
    e->same = false;
    forget(&e->nodes);
    forget(&e->edges);
    return make_rooms(e);
}

/* Prepares for the graph of a batch. Starts again with a new graph, because its numbers differ from those of
 * the last one. */
static int follow_graph(struct ct_edge_events *e, const struct ct_graph *graph)
{
    uint32_t nodes, edges;
    (void)ct_graph_nodes(e->all, &nodes);
    (void)ct_graph_edges(e->all, &edges);
    if (e->graph != graph) {
        e->node_count = e->edge_count = 0;
        e->same = true;
    }
    e->graph = graph;
    if (!e->same)
        return make_rooms(e);
    return nodes == e->node_count && edges == e->edge_count ? CT_OK : part(e);
}

/* Finds the number of a node of the stream's graph among all nodes, and adds the node when it is new. */
static int number_node(const struct ct_edge_events *e, uint32_t node, uint32_t *number)
{
    uint32_t count;
    if (e->nodes.number[node] == UNNUMBERED) {
        const int rc = ct_graph_node(e->all, &ct_graph_nodes(e->graph, &count)[node], &e->nodes.number[node]);
        if (rc)
            return rc;
    }
    *number = e->nodes.number[node];
    return CT_OK;
}

/* Numbers an edge that the stream traverses for the first time. */
static int number_edge(const struct ct_edge_events *e, uint32_t edge)
{
    uint32_t count;
    struct ct_edge copy = ct_graph_edges(e->graph, &count)[edge];
    const int rc = number_node(e, copy.from, &copy.from);
    return rc ? rc : ct_graph_edge(e->all, &copy, &e->edges.number[edge]);
}

/* Adds an edge that the stream traverses for the first time to all edges, under the same number. Calls part()
 * when that number is not the next one, because a filter left out the edges before it. */
static int add_same(struct ct_edge_events *e, uint32_t number)
{
    uint32_t count;
    const struct ct_edge *edge = &ct_graph_edges(e->graph, &count)[number];
    if (number != e->edge_count || edge->from > e->node_count)
        return part(e);
    const bool is_new = edge->from == e->node_count;
    const struct ct_node *node = &ct_graph_nodes(e->graph, &count)[edge->from];
    e->node_count += is_new;
    e->edge_count++;
    return ct_graph_append(e->all, node, is_new, edge, 1);
}

/* ---- the contents of a batch ---- */

static uint64_t event_of(uint32_t number, const uint32_t *cycles, size_t step)
{
    const uint32_t counted = cycles ? cycles[step] : CT_STEP_NO_CYCLES;
    const uint64_t told = counted == CT_STEP_NO_CYCLES ? CT_EDGE_EVENT_UNCOUNTED : counted & CT_STEP_CYCLES;
    return ct_le64(told << 32 | number);
}

/* Writes the events of steps up to the first one whose edge is not below `known`. Returns their number. */
static inline size_t copy_known(uint64_t *restrict out, const uint32_t *restrict edge,
                                const uint32_t *restrict cycles, size_t count, uint32_t known)
{
    size_t i = 0;
    for (; count - i >= GROUP; i += GROUP) {
        uint32_t beyond = 0;
        for (size_t k = i; k < i + GROUP; k++)
            beyond |= known - 1 - edge[k]; /* bit 31: not known; numbers have less bits */
        if (beyond >> 31)
            break;
        for (size_t k = i; k < i + GROUP; k++)
            out[k] = event_of(edge[k], cycles, k);
    }
    for (; i < count && edge[i] < known; i++)
        out[i] = event_of(edge[i], cycles, i);
    return i;
}

/* Adds steps whose edges have the same numbers in all streams. Returns their number. */
static size_t add_known(const struct ct_edge_events *e, uint64_t *out, const struct ct_step_batch *batch,
                        size_t step, size_t end)
{
    const uint32_t *edge = batch->edge + step;
    return batch->cycles ? copy_known(out, edge, batch->cycles + step, end - step, e->edge_count)
                         : copy_known(out, edge, NULL, end - step, e->edge_count);
}

/* Adds as many steps as there is room for. Sets *step to the first one left. */
static int add_steps(struct ct_edge_events *e, const struct ct_step_batch *batch, size_t *step, size_t end)
{
    uint64_t *out = e->out + e->count;
    size_t i = *step;
    int rc = CT_OK;
    if (end - i > ROOM - e->count)
        end = i + (ROOM - e->count);
    if (e->same) {
        i += add_known(e, out, batch, i, end);
        if (i < end)
            rc = add_same(e, batch->edge[i]);
        end = i;
    }
    for (; i < end && !rc; i++) {
        const uint32_t *number = &e->edges.number[batch->edge[i]];
        if (*number == UNNUMBERED)
            rc = number_edge(e, batch->edge[i]);
        *out++ = event_of(*number, batch->cycles, i);
    }
    e->traversed += i - *step;
    e->count += i - *step;
    *step = i;
    return rc;
}

static int take_steps(struct ct_edge_events *e, const struct ct_step_batch *batch, size_t step, size_t end)
{
    int rc = CT_OK;
    while (step < end && !rc) {
        rc = e->count == ROOM ? ct_edge_events_flush(e) : CT_OK;
        if (!rc)
            rc = add_steps(e, batch, &step, end);
    }
    return rc;
}

static int take_context(struct ct_edge_events *e, const struct ct_elem *elem)
{
    const uint64_t before = e->context;
    e->context = elem->aux & CT_CONTEXT_CTXT ? (uint32_t)elem->v : CONTEXT_UNKNOWN;
    return e->context == before ? CT_OK : put_other(e, CT_EDGE_EVENT_CONTEXT, e->context);
}

static int take_elem(struct ct_edge_events *e, const struct ct_elem *elem)
{
    const int why = ct_elem_loss(elem);
    int rc = CT_OK;
    if (why >= 0)
        rc = why == CT_GAP_OVERFLOW ? put_other(e, CT_EDGE_EVENT_OVERFLOW, 0)
                                    : put_other(e, CT_EDGE_EVENT_GAP, (uint64_t)why);
    if (rc)
        return rc;
    switch (elem->kind) {
    case CT_ELEM_SYNC:
        return put_other(e, CT_EDGE_EVENT_SYNC, elem->n);
    case CT_ELEM_TRACE_ON:
        return put_other(e, CT_EDGE_EVENT_ON, elem->n);
    case CT_ELEM_EXCEPTION:
        return put_other(e, CT_EDGE_EVENT_EXCEPTION, elem->aux);
    case CT_ELEM_RETURN:
        return put_other(e, CT_EDGE_EVENT_RETURN, 0);
    case CT_ELEM_CONTEXT:
        return take_context(e, elem);
    case CT_ELEM_CYCLES:
        return elem->aux || !elem->v ? CT_OK : put_other(e, CT_EDGE_EVENT_CYCLES, elem->v);
    case CT_ELEM_TIMESTAMP:
        rc = put_other(e, CT_EDGE_EVENT_TIMESTAMP, 0);
        return rc ? rc : put(e, elem->v);
    case CT_ELEM_END:
        return put_other(e, CT_EDGE_EVENT_END, 0);
    default:
        return CT_OK;
    }
}

static int take_mark(struct ct_edge_events *e, const struct ct_step_mark *mark)
{
    return mark->kind == CT_MARK_ELEM ? take_elem(e, &mark->elem) : put_other(e, CT_EDGE_EVENT_NO_ACCESS, 0);
}

int ct_edge_events_take(struct ct_edge_events *e, const struct ct_step_batch *batch)
{
    CT_REQUIRE_OF(e, batch);
    if (!e->has_stream)
        return ct_fail(e->ctx, CT_ERR_ARG,
                       "ct_edge_events_take: no stream has begun, so nothing was written; call "
                       "ct_edge_events_begin first");
    int rc = follow_graph(e, batch->graph);
    size_t step = 0;
    for (size_t m = 0; m < batch->mark_count && !rc; m++) {
        rc = take_steps(e, batch, step, batch->marks[m].at);
        step = batch->marks[m].at;
        if (!rc)
            rc = take_mark(e, &batch->marks[m]);
    }
    return rc ? rc : take_steps(e, batch, step, batch->count);
}
