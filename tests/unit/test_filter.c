/* SPDX-License-Identifier: Apache-2.0 */
/* Checks filters: the text form of windows, which streams remain, and that the analyses of a session get what
 * is kept. */
#include <stdio.h>
#include <string.h>

#include "coretap/session.h"
#include "support/ctx_fixture.h"

/* ---- points ---- */

static const struct written {
    const char *text;
    uint8_t kind;
    uint64_t value;
    const char *place;
    uint32_t times;
} written[] = {
    {"12.5s", CT_POINT_TIME, UINT64_C(12500000000), NULL, 0},
    {"0s", CT_POINT_TIME, 0, NULL, 0},
    {"3ms", CT_POINT_TIME, 3000000, NULL, 0},
    {"0.000001ms", CT_POINT_TIME, 1, NULL, 0},
    {"20us", CT_POINT_TIME, 20000, NULL, 0},
    {"18446744073709551615ns", CT_POINT_TIME, UINT64_MAX, NULL, 0},
    {"190327ticks", CT_POINT_TICKS, 190327, NULL, 0},
    {"500000cyc", CT_POINT_CYCLES, 500000, NULL, 0},
    {"1000000insn", CT_POINT_INSTRUCTIONS, 1000000, NULL, 0},
    {"main", CT_POINT_PLACE, 0, "main", 0},
    {"main#2", CT_POINT_PLACE, 0, "main", 2},
    {"main.c:32#4294967295", CT_POINT_PLACE, 0, "main.c:32", UINT32_MAX},
    {"0x4010", CT_POINT_PLACE, 0, "0x4010", 0},
    {"2048.c:7", CT_POINT_PLACE, 0, "2048.c:7", 0},
};

TEST(points_are_read)
{
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        const struct written *w = &written[i];
        struct ct_filter_point point;
        char text[64];
        snprintf(text, sizeof text, "%s", w->text);
        assert_int_equal(ct_filter_point_parse(NULL, text, &point), CT_OK);
        assert_int_equal(point.kind, w->kind);
        assert_true(point.value == w->value);
        assert_int_equal(point.times, w->times);
        if (w->place)
            assert_string_equal(point.place, w->place);
        else
            assert_null(point.place);
    }
}

TEST_WITH(other_points_are_refused, ctx)
{
    static const char *const wrong[] = {"",
                                        "500",
                                        "5 s",
                                        "-1s",
                                        "+5ticks",
                                        ".5s",
                                        "5h",
                                        "1.s",
                                        "1.2.3s",
                                        "1.0000000001s",
                                        "0.5ns",
                                        "0.5cyc",
                                        "18446744073709551616ns",
                                        "18446744073709551615s",
                                        "main#",
                                        "main#0",
                                        "main#x",
                                        "main#4294967296",
                                        "#2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ct_filter_point point = {.kind = 77};
        char text[64];
        char start[70];
        snprintf(text, sizeof text, "%s", wrong[i]);
        snprintf(start, sizeof start, "'%s': ", wrong[i]);
        assert_int_equal(ct_filter_point_parse(ctx, text, &point), CT_ERR_FORMAT);
        assert_int_equal(point.kind, 77);
        assert_non_null(strstr(ct_ctx_error(ctx), start));
    }
    assert_int_equal(ct_filter_point_parse(ctx, NULL, NULL), CT_ERR_ARG);
}

/* ---- streams ---- */

TEST_WITH(cores_choose_ids, ctx)
{
    struct ct_capture *capture;
    struct ct_filter filter = {.size = sizeof filter};
    struct ct_filter settled;
    uint64_t ids[2];
    assert_int_equal(ct_capture_open(ctx, SOURCE_ROOT "/examples/quickstart", &capture), CT_OK);
    const struct ct_buffer *buffer = capture->buffers;
    assert_int_equal(ct_filter_ids(NULL, buffer, ids), 1);
    assert_true(ids[0] == 0 && ids[1] == 0);
    filter.core = "cpu_1";
    assert_int_equal(ct_filter_ids(&filter, buffer, ids), 1);
    assert_true(ids[0] == UINT64_C(1) << 0x11 && ids[1] == 0);
    filter.core = "0";
    assert_int_equal(ct_filter_ids(&filter, buffer, ids), 1);
    assert_true(ids[0] == UINT64_C(1) << 0x10);
    filter.ids[0] = UINT64_C(1) << 0x11;
    assert_int_equal(ct_filter_ids(&filter, buffer, ids), 0);
    assert_int_equal(ct_filter_settle(ctx, &filter, capture, buffer, 1, &settled), CT_ERR_NOT_FOUND);
    assert_non_null(strstr(ct_ctx_error(ctx), "cpu_0, cpu_1"));
    ct_capture_free(capture);
}

TEST_WITH(a_time_needs_a_frequency, ctx)
{
    struct ct_capture *capture;
    struct ct_filter settled;
    struct ct_filter filter = {.size = sizeof filter, .from = {.kind = CT_POINT_TIME, .value = 5}};
    assert_int_equal(ct_capture_open(ctx, SOURCE_ROOT "/examples/quickstart", &capture), CT_OK);
    const struct ct_buffer *buffer = capture->buffers;
    assert_int_equal(ct_filter_settle(ctx, &filter, capture, buffer, 1, &settled), CT_ERR_CONFIG);
    assert_non_null(strstr(ct_ctx_error(ctx), "--frequency"));
    filter.frequency = 1000000000;
    filter.to = (struct ct_filter_point){.kind = CT_POINT_TIME, .value = 9};
    assert_int_equal(ct_filter_settle(ctx, &filter, capture, buffer, 1, &settled), CT_OK);
    assert_int_equal(settled.from.kind, CT_POINT_TICKS);
    assert_true(settled.to.value - settled.from.value == 4);
    filter.frequency = 500000000; /* rounded up to the next tick */
    const uint64_t first = settled.from.value - 5;
    assert_int_equal(ct_filter_settle(ctx, &filter, capture, buffer, 1, &settled), CT_OK);
    assert_true(settled.from.value - first == 3 && settled.to.value - first == 5);
    filter.frequency = 0; /* three nanoseconds are two ticks */
    const struct ct_maps maps = {.clock = {.mult = 3, .shift = 1, .known = 1}};
    struct ct_capture timed = *capture;
    timed.maps = &maps;
    assert_int_equal(ct_filter_settle(ctx, &filter, &timed, buffer, 1, &settled), CT_OK);
    assert_true(settled.from.value - first == 4 && settled.to.value - first == 6);
    ct_capture_free(capture);
}

/* ---- a session ---- */

struct counter {
    struct ct_analysis analysis;
    uint64_t steps;
    uint64_t counts;
};

static int take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch)
{
    struct counter *c = (struct counter *)analysis;
    if (batch->input == CT_INPUT_STEPS)
        c->steps += batch->steps->count;
    else
        c->counts += ct_edges_totals(batch->edges).steps;
    return CT_OK;
}

static const struct ct_analysis_kind kind = {.size = sizeof kind,
                                             .name = "counter",
                                             .version = 1,
                                             .inputs = CT_INPUT_STEPS | CT_INPUT_COUNTS,
                                             .take = take};

/* Returns the number of steps of the example that a filter keeps. */
static uint64_t kept(const struct ct_filter *filter, uint16_t threads)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct counter counter = {.analysis = {.kind = &kind, .ctx = ctx}};
    const struct ct_session_options options = {.size = sizeof options, .threads = threads, .filter = filter};
    struct ct_capture *capture;
    struct ct_session *session;
    assert_int_equal(ct_capture_open(ctx, SOURCE_ROOT "/examples/quickstart", &capture), CT_OK);
    assert_int_equal(ct_session_new(ctx, &options, &session), CT_OK);
    assert_int_equal(ct_session_add(session, &counter.analysis), CT_OK);
    assert_int_equal(ct_session_run(session, capture, capture->buffers, capture->buffer_count), CT_OK);
    assert_int_equal(counter.steps, counter.counts);
    if (ct_filter_steps(filter))
        assert_int_equal(counter.steps, ct_session_sieved(session)->kept);
    ct_analysis_free(&counter.analysis);
    ct_session_free(session);
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return counter.steps;
}

TEST(a_session_counts_what_is_kept)
{
    struct ct_filter filter = {.size = sizeof filter};
    const uint64_t all = kept(NULL, 1);
    assert_int_equal(kept(&filter, 1), all);
    filter.core = "0";
    const uint64_t first = kept(&filter, 1);
    filter.core = "1";
    assert_int_equal(first + kept(&filter, 1), all);
    filter.core = NULL;
    filter.to = (struct ct_filter_point){.kind = CT_POINT_INSTRUCTIONS, .value = 500};
    const uint64_t before = kept(&filter, 1);
    assert_int_equal(kept(&filter, 3), before);
    filter.from = filter.to;
    filter.to.kind = CT_POINT_NONE;
    assert_true(before > 0 && before < all);
    assert_int_equal(before + kept(&filter, 1), all);
}

/* ---- events ---- */

/* Opens the example, whose first source counts cycles; the second does not. */
static struct ct_capture *open_example(void)
{
    struct ct_capture *capture;
    assert_int_equal(ct_capture_open(NULL, SOURCE_ROOT "/examples/quickstart", &capture), CT_OK);
    return capture;
}

static int sift(const struct ct_filter *filter, const struct ct_source *source, struct ct_event *events,
                size_t count, size_t *kept)
{
    const struct ct_sieve_options options = {.size = sizeof options, .filter = filter, .source = source};
    struct ct_event_sieve *sieve;
    const int rc = ct_event_sieve_new(NULL, &options, &sieve);
    if (rc)
        return rc;
    /* One at a time and all at once give the same. */
    size_t first = 0, rest = 0;
    assert_int_equal(ct_event_sieve_run(sieve, events, count ? 1 : 0, &first), CT_OK);
    assert_int_equal(ct_event_sieve_run(sieve, events + 1, count - 1, &rest), CT_OK);
    memmove(events + first, events + 1, rest * sizeof *events);
    *kept = first + rest;
    assert_int_equal(ct_event_sieve_seen(sieve)->steps, count);
    assert_int_equal(ct_event_sieve_seen(sieve)->kept, *kept);
    assert_int_equal(ct_event_sieve_is_over(sieve), filter->to.kind != CT_POINT_NONE);
    ct_event_sieve_free(sieve);
    return CT_OK;
}

TEST(events_are_filtered)
{
    static const struct ct_event all[] = {
        {.type = CT_EVENT_CONTEXT, .cycle = 5, .value = 7, .b = CT_CONTEXT_CTXT | CT_CONTEXT_EL},
        {.type = CT_EVENT_BRANCH, .cycle = 10, .value = 0x100},
        {.type = CT_EVENT_TIMESTAMP, .cycle = 12, .value = 900},
        {.type = CT_EVENT_BRANCH, .cycle = 12, .value = 0x200},
        {.type = CT_EVENT_CONTEXT, .cycle = 15, .value = 8, .a = 1, .b = CT_CONTEXT_CTXT | CT_CONTEXT_EL},
        {.type = CT_EVENT_BRANCH, .cycle = 20, .value = 0x300},
    };
    static const uint32_t seven = 7;
    const struct {
        struct ct_filter filter;
        size_t first, count; /* of `all` */
    } cases[] = {
        {{.size = sizeof(struct ct_filter), .from = {.kind = CT_POINT_CYCLES, .value = 10}}, 1, 5},
        /* The count of a timestamp is only its own, so it does not end the window. */
        {{.size = sizeof(struct ct_filter), .to = {.kind = CT_POINT_CYCLES, .value = 12}}, 0, 3},
        {{.size = sizeof(struct ct_filter), .from = {.kind = CT_POINT_TICKS, .value = 900}}, 2, 4},
        {{.size = sizeof(struct ct_filter), .to = {.kind = CT_POINT_TICKS, .value = 900}}, 0, 2},
        {{.size = sizeof(struct ct_filter), .contexts = &seven, .context_count = 1}, 0, 4},
        {{.size = sizeof(struct ct_filter), .levels = 2}, 4, 2},
    };
    struct ct_capture *capture = open_example();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ct_event events[6];
        size_t kept;
        memcpy(events, all, sizeof all);
        assert_int_equal(sift(&cases[i].filter, &capture->buffers[0].sources[0], events, 6, &kept), CT_OK);
        assert_int_equal(kept, cases[i].count);
        assert_memory_equal(events, all + cases[i].first, kept * sizeof *all);
    }
    ct_capture_free(capture);
}

TEST(what_events_do_not_tell_is_refused)
{
    static const char *const name = "main";
    const struct ct_filter wrong[] = {
        {.size = sizeof *wrong, .from = {.kind = CT_POINT_INSTRUCTIONS, .value = 1}},
        {.size = sizeof *wrong, .to = {.kind = CT_POINT_PLACE, .place = "main"}},
        {.size = sizeof *wrong, .modules = &name, .module_count = 1},
        {.size = sizeof *wrong, .functions = &name, .function_count = 1},
        {.size = sizeof *wrong, .from = {.kind = CT_POINT_TIME, .value = 1}},
    };
    const struct ct_filter cycles = {.size = sizeof cycles, .to = {.kind = CT_POINT_CYCLES, .value = 1}};
    struct ct_capture *capture = open_example();
    const struct ct_source *sources = capture->buffers[0].sources;
    struct ct_event none;
    size_t kept;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(sift(&wrong[i], &sources[0], &none, 0, &kept), CT_ERR_ARG);
    assert_int_equal(sift(&cycles, &sources[1], &none, 0, &kept), CT_ERR_NOT_FOUND);
    ct_capture_free(capture);
}

/* ---- what was seen ---- */

TEST(what_was_seen_adds_up)
{
    struct ct_sieve_seen sum = {0}, part = {.steps = 3,
                                            .kept = 2,
                                            .cycles = 90,
                                            .instructions = 7,
                                            .first_ticks = 50,
                                            .last_ticks = 60,
                                            .has_ticks = 1};
    ct_sieve_seen_add(&sum, &part);
    part = (struct ct_sieve_seen){.cycles = 40, .instructions = 9, .first_ticks = 20, .last_ticks = 30};
    ct_sieve_seen_add(&sum, &part); /* the sum has no timestamps yet */
    assert_int_equal(sum.first_ticks, 50);
    part.has_ticks = 1;
    ct_sieve_seen_add(&sum, &part);
    assert_int_equal(sum.steps, 3);
    assert_int_equal(sum.kept, 2);
    assert_int_equal(sum.cycles, 90);
    assert_int_equal(sum.instructions, 9);
    assert_int_equal(sum.first_ticks, 20);
    assert_int_equal(sum.last_ticks, 60);
}

TEST(contexts_are_kept_up_to_a_number)
{
    struct ct_sieve_seen sum = {0}, part = {0};
    for (uint32_t i = 0; i < CT_SIEVE_CONTEXTS + 2; i++) {
        part.contexts[0] = part.threads[0] = i;
        part.context_count = part.thread_count = 1;
        ct_sieve_seen_add(&sum, &part);
        ct_sieve_seen_add(&sum, &part);
    }
    assert_int_equal(sum.context_count, CT_SIEVE_CONTEXTS);
    assert_int_equal(sum.thread_count, CT_SIEVE_CONTEXTS);
    for (uint32_t i = 0; i < CT_SIEVE_CONTEXTS; i++)
        assert_true(sum.contexts[i] == i && sum.threads[i] == i);
}
