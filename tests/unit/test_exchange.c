/* SPDX-License-Identifier: Apache-2.0 */
/* Runs 256 specifications and exchanges one of them during the run: the others do not change, and the new one
 * gets each event from then on, also at a place that nobody watched before. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/verify.h"
#include "support/unit.h"

enum {
    SPECS = 256,
    NODES = 8,
    STEPS = 64,
    BATCHES = 40,
    EXCHANGED = 17,
    AT = 23 /* batch before which it is exchanged */
};

#define CODE UINT64_C(0x400000)

struct run {
    struct ct_ctx *ctx;
    uint64_t sums[SPECS]; /* of the results of each specification; depends on their order */
    uint64_t counts[SPECS];
    uint64_t last; /* last result of EXCHANGED */
};

static void take(void *user, const struct ct_verify_result *result)
{
    struct run *r = user;
    uint64_t *sum = &r->sums[result->spec];
    *sum = (*sum * 31 + result->time) * 31 + (uint8_t)result->value[0];
    r->counts[result->spec]++;
    if (result->spec == EXCHANGED)
        r->last = strtoull(result->value, NULL, 10);
}

static struct ct_monitor_spec *compile(struct ct_ctx *ctx, const char *text)
{
    const struct ct_monitor_options o = {.size = sizeof o, .changes_only = 1};
    struct ct_monitor_spec *spec;
    if (ct_monitor_compile(ctx, "exchange", text, strlen(text), &o, &spec))
        fail_msg("%s", ct_ctx_error(ctx));
    return spec;
}

static struct ct_graph *make_graph(struct ct_ctx *ctx, uint32_t edges[NODES])
{
    struct ct_graph *graph;
    assert_int_equal(ct_graph_new(ctx, &graph), CT_OK);
    for (uint32_t i = 0; i < NODES; i++) {
        const uint64_t addr = CODE + 16 * i;
        const struct ct_node node = {
            .start = addr, .last = addr + 12, .end = addr + 16, .n = 4, .last_size = 4};
        uint32_t number;
        assert_int_equal(ct_graph_node(graph, &node, &number), CT_OK);
        const struct ct_edge edge = {.next = addr + 16, .from = number, .exec = 1, .kind = CT_EDGE_NEXT};
        assert_int_equal(ct_graph_edge(graph, &edge, &edges[i]), CT_OK);
    }
    return graph;
}

/* Returns the node of step `i`. Node 7 is not watched at first. */
static uint32_t node_at(uint32_t i)
{
    return (i * 2654435761u) >> 29;
}

static void feed(struct ct_watcher *watcher, struct ct_verifier *verifier, const struct ct_graph *graph,
                 const uint32_t edges[NODES], uint32_t batch)
{
    uint32_t edge[STEPS], cycles[STEPS];
    struct ct_watch_event events[16];
    size_t count;
    int more;
    for (uint32_t i = 0; i < STEPS; i++) {
        edge[i] = edges[node_at(batch * STEPS + i)];
        cycles[i] = 8;
    }
    const struct ct_step_batch steps = {.graph = graph, .edge = edge, .cycles = cycles, .count = STEPS};
    do {
        assert_int_equal(ct_watcher_run(watcher, &steps, events, 16, &count, &more), CT_OK);
        assert_int_equal(ct_verifier_feed(verifier, events, count), CT_OK);
    } while (more);
}

static void run(struct run *r, bool exchange)
{
    const struct ct_watch_event early = {0};
    struct ct_verify_options o = {.size = sizeof o};
    struct ct_monitor_spec *specs[SPECS], *other;
    struct ct_watches *watches;
    struct ct_verifier *verifier;
    struct ct_watcher *watcher;
    uint32_t edges[NODES];
    char text[400];
    *r = (struct run){.ctx = ct_ctx_new()};
    struct ct_graph *graph = make_graph(r->ctx, edges);
    assert_int_equal(ct_watches_new(r->ctx, NULL, &watches), CT_OK);
    assert_int_equal(ct_verifier_new(r->ctx, &o, watches, &verifier), CT_OK);
    for (uint32_t i = 0; i < SPECS; i++) {
        snprintf(text, sizeof text,
                 "define p := onExecuting 0x%llx\ndefine q := onExecuting 0x%llx\n"
                 "define n := eventCount(p, q)\nout n\n"
                 "define m := monitor(always (p implies next[%u] (not p until q)))\nout m\n",
                 (unsigned long long)(CODE + 16 * (i % 7)), (unsigned long long)(CODE + 16 * (i / 7 % 7)),
                 1 + i % 5);
        specs[i] = compile(r->ctx, text);
        assert_int_equal(ct_verifier_add(verifier, specs[i], "one", NULL, 0), CT_OK);
    }
    snprintf(text, sizeof text, "define e := onExecuting 0x%llx\ndefine n := eventCount(e)\nout n\n",
             (unsigned long long)(CODE + 16 * 7));
    other = compile(r->ctx, text);
    struct ct_monitor_spec *wrong = compile(r->ctx, "define e := function_call nowhere\nout e\n");
    assert_int_equal(ct_verifier_exchange(verifier, 0, other, "other", NULL, 0), CT_ERR_ARG); /* no run */
    assert_int_equal(ct_verifier_feed(verifier, &early, 1), CT_ERR_ARG);
    assert_int_equal(ct_verifier_begin(verifier, take, r), CT_OK);
    assert_int_equal(ct_watcher_new(r->ctx, watches, &watcher), CT_OK);
    for (uint32_t batch = 0; batch < BATCHES; batch++) {
        if (exchange && batch == AT) {
            assert_int_equal(ct_verifier_exchange(verifier, SPECS, other, "other", NULL, 0), CT_ERR_ARG);
            assert_int_equal(ct_verifier_exchange(verifier, 3, wrong, "wrong", NULL, 0), CT_ERR_NOT_FOUND);
            assert_int_equal(ct_verifier_exchange(verifier, EXCHANGED, other, "other", NULL, 0), CT_OK);
            assert_int_equal(ct_watcher_renew(watcher), CT_OK);
        }
        feed(watcher, verifier, graph, edges, batch);
    }
    assert_int_equal(ct_verifier_finish(verifier), CT_OK);
    assert_int_equal(ct_verifier_feed(verifier, &early, 1), CT_ERR_ARG); /* the run has ended */
    ct_watcher_free(watcher);
    ct_verifier_free(verifier);
    for (uint32_t i = 0; i < SPECS; i++)
        ct_monitor_spec_free(specs[i]);
    ct_monitor_spec_free(other);
    ct_monitor_spec_free(wrong);
    ct_watches_free(watches);
    ct_graph_free(graph);
    ct_ctx_free(r->ctx);
}

/* Runs two specifications about node 7: one from the start, the other added before batch AT and removed
 * before batch GONE. */
enum {
    GONE = 31
};

struct comings {
    uint64_t last[3]; /* last result, by specification */
    uint32_t results[3];
};

static void take_last(void *user, const struct ct_verify_result *result)
{
    struct comings *c = user;
    c->last[result->spec] = strtoull(result->value, NULL, 10);
    c->results[result->spec]++;
}

TEST(added_and_removed_in_a_run)
{
    struct comings c = {{0}, {0}};
    struct ct_verify_options o = {.size = sizeof o};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_watches *watches;
    struct ct_verifier *verifier;
    struct ct_watcher *watcher;
    uint32_t edges[NODES];
    uint64_t all = 0, between = 0;
    struct ct_graph *graph = make_graph(ctx, edges);
    struct ct_monitor_spec *spec =
        compile(ctx, "define e := onExecuting 0x400070\ndefine n := eventCount(e)\nout n\n");
    struct ct_monitor_spec *wrong = compile(ctx, "define e := function_call nowhere\nout e\n");
    assert_int_equal(ct_watches_new(ctx, NULL, &watches), CT_OK);
    assert_int_equal(ct_verifier_new(ctx, &o, watches, &verifier), CT_OK);
    assert_int_equal(ct_verifier_add(verifier, spec, "stays", NULL, 0), CT_OK);
    assert_int_equal(ct_verifier_begin(verifier, take_last, &c), CT_OK);
    assert_int_equal(ct_watcher_new(ctx, watches, &watcher), CT_OK);
    uint32_t watched, then;
    for (uint32_t batch = 0; batch < BATCHES; batch++) {
        if (batch == AT) {
            assert_int_equal(ct_verifier_add(verifier, wrong, "wrong", NULL, 0), CT_ERR_NOT_FOUND);
            assert_int_equal(ct_verifier_add(verifier, spec, "comes", NULL, 0), CT_OK);
            assert_int_equal(ct_watcher_renew(watcher), CT_OK);
        }
        if (batch == GONE) {
            ct_watches_all(watches, &watched);
            assert_int_equal(ct_verifier_remove(verifier, 1), CT_OK);
            assert_int_equal(ct_verifier_remove(verifier, 1), CT_ERR_ARG);
            /* Its number is free for the next one, and its place is already watched. */
            for (uint32_t i = 0; i < 100; i++) {
                assert_int_equal(ct_verifier_add(verifier, spec, "again", NULL, 0), CT_OK);
                assert_int_equal(ct_verifier_remove(verifier, 1), CT_OK);
            }
            ct_watches_all(watches, &then);
            assert_int_equal(watched, then);
        }
        feed(watcher, verifier, graph, edges, batch);
        for (uint32_t i = batch * STEPS; i < (batch + 1) * STEPS; i++) {
            all += node_at(i) == 7;
            between += node_at(i) == 7 && batch >= AT && batch < GONE;
        }
    }
    assert_null(ct_verifier_failure(verifier, 0));
    assert_int_equal(ct_verifier_finish(verifier), CT_OK);
    assert_true(between > 5);
    assert_int_equal(c.last[0], all);
    assert_true(c.results[1] >= between); /* and one first result of 0 for each time that it began */
    assert_int_equal(c.results[2], 0);
    ct_watcher_free(watcher);
    ct_verifier_free(verifier);
    ct_monitor_spec_free(spec);
    ct_monitor_spec_free(wrong);
    ct_watches_free(watches);
    ct_graph_free(graph);
    ct_ctx_free(ctx);
}

/* A receiver that changes the specifications that it hears from. */
struct meddler {
    struct ct_verifier *verifier;
    const struct ct_monitor_spec *spec;
    uint32_t results;
};

static void meddle(void *user, const struct ct_verify_result *result)
{
    const struct ct_watch_event event = {0};
    struct meddler *m = user;
    m->results++;
    assert_int_equal(ct_verifier_remove(m->verifier, result->spec), CT_ERR_ARG);
    assert_int_equal(ct_verifier_exchange(m->verifier, result->spec, m->spec, "other", NULL, 0), CT_ERR_ARG);
    assert_int_equal(ct_verifier_add(m->verifier, m->spec, "more", NULL, 0), CT_ERR_ARG);
    assert_int_equal(ct_verifier_feed(m->verifier, &event, 1), CT_ERR_ARG);
    assert_int_equal(ct_verifier_begin(m->verifier, meddle, m), CT_ERR_ARG);
    assert_int_equal(ct_verifier_finish(m->verifier), CT_ERR_ARG);
    assert_true(strcmp(result->name, "n") == 0); /* nothing was freed */
}

/* Removing a specification from its own result freed what the run went on with. */
TEST(a_receiver_changes_nothing)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct meddler m = {0};
    struct ct_watches *watches;
    struct ct_watcher *watcher;
    uint32_t edges[NODES];
    struct ct_graph *graph = make_graph(ctx, edges);
    struct ct_monitor_spec *spec =
        compile(ctx, "define e := onExecuting 0x400070\ndefine n := eventCount(e)\nout n\n");
    m.spec = spec;
    assert_int_equal(ct_watches_new(ctx, NULL, &watches), CT_OK);
    assert_int_equal(ct_verifier_new(ctx, NULL, watches, &m.verifier), CT_OK);
    assert_int_equal(ct_verifier_add(m.verifier, spec, "one", NULL, 0), CT_OK);
    assert_int_equal(ct_verifier_begin(m.verifier, NULL, NULL), CT_ERR_ARG);
    assert_int_equal(ct_verifier_begin(m.verifier, meddle, &m), CT_OK);
    assert_int_equal(ct_watcher_new(ctx, watches, &watcher), CT_OK);
    for (uint32_t batch = 0; batch < 4; batch++)
        feed(watcher, m.verifier, graph, edges, batch);
    assert_int_equal(ct_verifier_finish(m.verifier), CT_OK);
    assert_true(m.results > 5);
    assert_int_equal(ct_verifier_remove(m.verifier, 0), CT_OK);
    ct_watcher_free(watcher);
    ct_verifier_free(m.verifier);
    ct_monitor_spec_free(spec);
    ct_watches_free(watches);
    ct_graph_free(graph);
    ct_ctx_free(ctx);
}

TEST(exchanged_in_a_run)
{
    static struct run plain, with;
    uint64_t seen = 0;
    run(&plain, false);
    run(&with, true);
    for (uint32_t i = 0; i < SPECS; i++) {
        assert_true(plain.counts[i] > 0);
        if (i != EXCHANGED)
            assert_true(plain.counts[i] == with.counts[i] && plain.sums[i] == with.sums[i]);
    }
    for (uint32_t i = AT * STEPS; i < BATCHES * STEPS; i++)
        seen += node_at(i) == 7;
    assert_true(seen > 10);
    assert_int_equal(with.last, seen);
}
