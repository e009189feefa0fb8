/* SPDX-License-Identifier: Apache-2.0 */
/* Checks events of edges: numbers are in the order of first traversal by all streams, whatever a filter
 * leaves out, in whatever order streams come, and whoever else adds to the common graph. */
#include <stdbool.h>
#include <string.h>

#include "coretap/edge_events.h"
#include "support/rng.h"
#include "support/unit.h"

#define NODES 40u
#define STEPS 3000u

struct fixture {
    struct ct_ctx *ctx;
    struct ct_graph *all;
    struct ct_edge_events *events;
    struct ct_edge_event out[10 * STEPS]; /* after the magic */
    size_t written;                       /* bytes written, with the magic */
};

static int keep(void *user, const void *bytes, size_t size)
{
    struct fixture *f = user;
    if (f->written) {
        assert_true(f->written - 8 + size <= sizeof f->out);
        memcpy((char *)f->out + (f->written - 8), bytes, size);
    } else {
        assert_int_equal(size, 8);
        assert_memory_equal(bytes, CT_EDGE_EVENTS_MAGIC, 8);
    }
    f->written += size;
    return CT_OK;
}

static int begin(void **state)
{
    static struct fixture f;
    f = (struct fixture){.ctx = ct_ctx_new()};
    *state = &f;
    return ct_graph_new(f.ctx, &f.all) || ct_edge_events_new(f.ctx, f.all, keep, &f, &f.events);
}

static int finish(void **state)
{
    struct fixture *f = *state;
    ct_edge_events_free(f->events);
    ct_graph_free(f->all);
    ct_ctx_free(f->ctx);
    return 0;
}

FIXTURE(struct fixture, begin, finish);

static struct ct_node node_at(uint64_t number)
{
    const uint64_t start = 0x400000 + 16 * number;
    return (struct ct_node){.start = start, .last = start + 12, .end = start + 16, .n = 4, .last_size = 4};
}

/* A stream of random edges of a few nodes. A filter may leave out those that lead to one of the targets. */
struct stream {
    struct ct_graph *graph;
    uint32_t edge[STEPS], cycles[STEPS];
    size_t count;
};

static void make_stream(struct fixture *f, struct stream *s, uint32_t nodes, bool has_filter, struct rng *rng)
{
    assert_int_equal(ct_graph_new(f->ctx, &s->graph), CT_OK);
    s->count = 0;
    for (uint32_t i = 0; i < STEPS; i++) {
        const struct ct_node node = node_at(rng_below(rng, nodes));
        struct ct_edge edge = {.next = 0x400000 + 16 * rng_below(rng, 3), .exec = 1};
        uint32_t number;
        assert_int_equal(ct_graph_node(s->graph, &node, &edge.from), CT_OK);
        assert_int_equal(ct_graph_edge(s->graph, &edge, &number), CT_OK);
        if (has_filter && edge.next & 16)
            continue;
        s->edge[s->count] = number;
        s->cycles[s->count++] = rng_below(rng, 9) ? i | CT_STEP_SHARED : CT_STEP_NO_CYCLES;
    }
}

static void give(struct fixture *f, const struct stream *s, size_t from, size_t to, bool counts)
{
    const struct ct_step_batch batch = {.graph = s->graph,
                                        .edge = s->edge + from,
                                        .cycles = counts ? s->cycles + from : NULL,
                                        .count = to - from};
    assert_int_equal(ct_edge_events_take(f->events, &batch), CT_OK);
}

/* Checks that the events from `at` on are the steps, each with the edge that the stream took. Returns the
 * index after them. */
static size_t check(struct fixture *f, const struct stream *s, size_t at, bool counts)
{
    uint32_t nodes, edges, n;
    assert_int_equal(ct_edge_events_flush(f->events), CT_OK);
    const struct ct_node *all_nodes = ct_graph_nodes(f->all, &nodes);
    const struct ct_edge *all_edges = ct_graph_edges(f->all, &edges);
    assert_int_equal(f->out[at].number, CT_EDGE_EVENT_OTHER | CT_EDGE_EVENT_STREAM);
    assert_true(f->written - 8 >= sizeof *f->out * (at + 1 + s->count));
    for (size_t i = 0; i < s->count; i++) {
        const struct ct_edge_event *event = &f->out[at + 1 + i];
        const struct ct_edge *edge = &ct_graph_edges(s->graph, &n)[s->edge[i]];
        const bool is_counted = counts && s->cycles[i] != CT_STEP_NO_CYCLES;
        assert_true(event->number < edges);
        assert_true(all_edges[event->number].next == edge->next && all_edges[event->number].from < nodes);
        assert_memory_equal(&all_nodes[all_edges[event->number].from],
                            &ct_graph_nodes(s->graph, &n)[edge->from], sizeof *all_nodes);
        assert_int_equal(event->cycles, is_counted ? s->cycles[i] & CT_STEP_CYCLES : CT_EDGE_EVENT_UNCOUNTED);
    }
    return at + 1 + s->count;
}

/* Checks that the numbers of all events come in order, from 0 on. */
static void check_order(const struct fixture *f, size_t count)
{
    uint32_t next = 0, edges;
    for (size_t i = 0; i < count; i++) {
        if (f->out[i].number >= CT_EDGE_EVENT_OTHER)
            continue;
        assert_true(f->out[i].number <= next);
        next += f->out[i].number == next;
    }
    (void)ct_graph_edges(f->all, &edges);
    assert_int_equal(next, edges);
}

TEST_WITH(test_streams, f)
{
    struct rng rng = {.state = 19};
    struct stream s;
    size_t at = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const bool counts = i != 2;
        make_stream(f, &s, 10 + 10 * i, i == 1, &rng);
        assert_int_equal(ct_edge_events_begin(f->events, 0, (uint8_t)i), CT_OK);
        for (size_t from = 0, to; from < s.count; from = to) {
            to = from + 1 + rng_below(&rng, 500);
            to = to < s.count ? to : s.count;
            give(f, &s, from, to, counts);
        }
        at = check(f, &s, at, counts);
        ct_graph_free(s.graph);
    }
    check_order(f, at);
}

TEST_WITH(test_filter, f)
{
    struct rng rng = {.state = 5};
    struct stream s;
    void *state = f;
    for (uint32_t i = 0; i < 20; i++) {
        make_stream(f, &s, 3, true, &rng);
        assert_int_equal(ct_edge_events_begin(f->events, 0, 1), CT_OK);
        give(f, &s, 0, s.count, true);
        check_order(f, check(f, &s, 0, true));
        ct_graph_free(s.graph);
        finish(&state);
        begin(&state);
    }
}

/* A node without outgoing edges has a number, too. */
TEST_WITH(test_lone_node, f)
{
    struct stream s = {.edge = {0}, .count = 2};
    assert_int_equal(ct_graph_new(f->ctx, &s.graph), CT_OK);
    for (uint32_t i = 0; i < 4; i++) {
        const struct ct_node node = node_at(i);
        const struct ct_edge edge = {.next = node.end, .from = i};
        uint32_t number;
        assert_int_equal(ct_graph_node(s.graph, &node, &number), CT_OK);
        if (i % 2)
            assert_int_equal(ct_graph_edge(s.graph, &edge, &s.edge[i / 2]), CT_OK);
    }
    assert_int_equal(ct_edge_events_begin(f->events, 0, 1), CT_OK);
    give(f, &s, 0, s.count, true);
    check_order(f, check(f, &s, 0, true));
    ct_graph_free(s.graph);
}

/* Another object may number its edges in the same graph between two batches. */
TEST_WITH(test_shared, f)
{
    struct rng rng = {.state = 7};
    struct stream s;
    make_stream(f, &s, NODES, false, &rng);
    assert_int_equal(ct_edge_events_begin(f->events, 0, 1), CT_OK);
    give(f, &s, 0, 50, true);
    const struct ct_node other = node_at(1000);
    struct ct_edge edge = {.next = 8};
    uint32_t number, edges;
    assert_int_equal(ct_graph_node(f->all, &other, &edge.from), CT_OK);
    assert_int_equal(ct_graph_edge(f->all, &edge, &number), CT_OK);
    const struct ct_edge without_node = {.from = 1000};
    assert_int_equal(ct_graph_append(f->all, NULL, 0, &without_node, 1), CT_ERR_ARG);
    assert_int_equal(ct_graph_edge(f->all, &without_node, &number), CT_ERR_ARG);
    give(f, &s, 50, s.count, true);
    (void)check(f, &s, 0, true);
    (void)ct_graph_edges(s.graph, &edges);
    (void)ct_graph_edges(f->all, &number);
    assert_int_equal(number, edges + 1);
    ct_graph_free(s.graph);
}
