/* SPDX-License-Identifier: Apache-2.0 */
/* A session gives each analysis what it takes, of each stream by itself, whatever the number of threads; it
 * can be ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "coretap/session.h"

enum {
    LANES = 1024,
    STOP = 17,
};

/* Counts what comes. */
struct counter {
    struct ct_analysis analysis;
    uint64_t steps[LANES];  /* that came as steps, by lane */
    uint64_t counts[LANES]; /* that came as counts */
};

static int take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch)
{
    struct counter *c = (struct counter *)analysis;
    assert_true(batch->lane < LANES);
    if (batch->input == CT_INPUT_STEPS)
        c->steps[batch->lane] += batch->steps->count;
    else
        c->counts[batch->lane] += ct_edges_totals(batch->edges).steps;
    return CT_OK;
}

static const struct ct_analysis_kind both = {.size = sizeof both,
                                             .name = "both",
                                             .version = 1,
                                             .inputs = CT_INPUT_STEPS | CT_INPUT_CYCLES,
                                             .take = take};
static const struct ct_analysis_kind counts = {
    .size = sizeof counts, .name = "counts", .version = 1, .inputs = CT_INPUT_COUNTS, .take = take};

static struct ct_capture *quickstart(struct ct_ctx *ctx)
{
    struct ct_capture *capture;
    assert_int_equal(ct_capture_open(ctx, SOURCE_ROOT "/examples/quickstart", &capture), CT_OK);
    return capture;
}

static void run(struct ct_ctx *ctx, struct counter *counter, uint16_t threads, unsigned times)
{
    const struct ct_session_options options = {.size = sizeof options, .threads = threads};
    struct ct_capture *capture = quickstart(ctx);
    struct ct_session *session;
    assert_int_equal(ct_session_new(ctx, &options, &session), CT_OK);
    assert_int_equal(ct_session_add(session, &counter->analysis), CT_OK);
    for (unsigned i = 0; i < times; i++)
        assert_int_equal(ct_session_run(session, capture, capture->buffers, capture->buffer_count), CT_OK);
    assert_int_equal(ct_session_seen(session)->instructions, 939 + 3671);
    assert_true(ct_session_seen(session)->ran && ct_session_seen(session)->has_trace);
    assert_int_equal(counter->analysis.captures.known, times);
    ct_analysis_free(&counter->analysis);
    ct_session_free(session);
    ct_capture_free(capture);
}

static unsigned lanes_of(const uint64_t *steps)
{
    unsigned count = 0;
    for (unsigned i = 0; i < LANES; i++)
        count += steps[i] != 0;
    return count;
}

static void streams_are_told_apart(void **state)
{
    (void)state;
    struct ct_ctx *ctx = ct_ctx_new();
    struct counter one = {.analysis = {.kind = &both, .ctx = ctx}}, many = one, twice = one;
    run(ctx, &one, 1, 1);
    run(ctx, &many, 3, 1);
    run(ctx, &twice, 1, 2);
    assert_int_equal(lanes_of(one.steps), 2); /* the trace IDs of the example */
    assert_memory_equal(one.steps, one.counts, sizeof one.steps);
    assert_memory_equal(one.steps, many.steps, sizeof one.steps);
    assert_memory_equal(one.counts, many.counts, sizeof one.counts);
    assert_int_equal(lanes_of(twice.steps), 4);
    ct_ctx_free(ctx);
}

static void counts_alone_come_once(void **state)
{
    (void)state;
    struct ct_ctx *ctx = ct_ctx_new();
    struct counter counter = {.analysis = {.kind = &counts, .ctx = ctx}},
                   other = {.analysis = {.kind = &both, .ctx = ctx}};
    run(ctx, &counter, 1, 1);
    run(ctx, &other, 1, 1);
    assert_int_equal(lanes_of(counter.steps), 0);
    assert_memory_equal(counter.counts, other.counts, sizeof counter.counts);
    ct_ctx_free(ctx);
}

static int stop(void *user, uint64_t bytes)
{
    (void)bytes;
    return ++*(int *)user > 0 ? STOP : 0;
}

static void ends_when_it_is_told(void **state)
{
    (void)state;
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture = quickstart(ctx);
    struct counter counter = {.analysis = {.kind = &counts, .ctx = ctx}};
    struct ct_session *session;
    int calls = 0;
    const struct ct_session_options options = {.size = sizeof options, .user = &calls, .progress = stop};
    assert_int_equal(ct_session_new(ctx, &options, &session), CT_OK);
    assert_int_equal(ct_session_add(session, &counter.analysis), CT_OK);
    assert_int_equal(ct_session_run(session, capture, capture->buffers, capture->buffer_count), STOP);
    assert_int_equal(calls, 1);
    assert_int_equal(counter.analysis.captures.known, 0);
    ct_session_free(session);
    ct_capture_free(capture);
    ct_ctx_free(ctx);
}

/* A table without its size may be one of an older header: nothing is read behind what it has. */
static void kinds_have_their_size(void **state)
{
    static const struct ct_analysis_kind older = {.size = sizeof older - 1, .name = "older", .take = take};
    struct ct_ctx *ctx = ct_ctx_new();
    const struct ct_analysis_captures none = {0};
    struct counter counter = {.analysis = {.kind = &older, .ctx = ctx}};
    (void)state;
    assert_int_equal(ct_analysis_add_captures(&counter.analysis, &none), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(ctx), "size"));
    assert_int_equal(ct_analysis_end(&counter.analysis, 0), CT_ERR_ARG);
    ct_ctx_free(ctx);
}

/* Of options that are shorter, as an older program has them, the rest is zero. */
static void arguments_are_checked(void **state)
{
    (void)state;
    struct ct_session *session;
    const struct ct_session_options older = {.size = offsetof(struct ct_session_options, user),
                                             .progress = stop};
    const struct ct_session_options none = {.size = 0};
    assert_int_equal(ct_session_new(NULL, NULL, NULL), CT_ERR_ARG);
    assert_int_equal(ct_session_new(NULL, &none, &session), CT_ERR_ARG);
    assert_int_equal(ct_session_new(NULL, &older, &session), CT_OK);
    assert_int_equal(ct_session_add(session, NULL), CT_ERR_ARG);
    assert_int_equal(ct_session_run(session, NULL, NULL, 0), CT_ERR_ARG);
    struct ct_capture *capture = quickstart(NULL);
    assert_int_equal(ct_session_run(session, capture, capture->buffers, capture->buffer_count), CT_OK);
    ct_capture_free(capture);
    ct_session_free(session);
    ct_session_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_told_apart), cmocka_unit_test(counts_alone_come_once),
        cmocka_unit_test(ends_when_it_is_told),   cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(kinds_have_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
