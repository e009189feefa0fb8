/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that events of several sources come in one order, all of them, and that merging can be ended. */
#include <stdbool.h>
#include <string.h>

#include "coretap/merge.h"
#include "support/unit.h"

enum {
    STOP = 17,
};

struct bench {
    struct ct_ctx *ctx;
    struct ct_capture *capture;
};

static int set_up(void **state)
{
    static struct bench b;
    *state = &b;
    b.ctx = ct_ctx_new();
    return ct_capture_open(b.ctx, SOURCE_ROOT "/examples/quickstart", &b.capture);
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    ct_capture_free(b->capture);
    ct_ctx_free(b->ctx);
    return 0;
}

GROUP_FIXTURE(set_up, tear_down)

static struct ct_merge *merge_of(const struct bench *b, const struct ct_merge_options *options)
{
    struct ct_merge *merge = NULL;
    assert_int_equal(ct_merge_new(b->ctx, b->capture->buffers, b->capture->buffer_count, options, &merge),
                     CT_OK);
    return merge;
}

static struct ct_merge *merge_of_one(const struct bench *b, size_t source)
{
    const unsigned id = b->capture->buffers->sources[source].trace_id;
    struct ct_merge_options options = {.size = sizeof options};
    options.ids[id / 64] = UINT64_C(1) << id % 64;
    return merge_of(b, &options);
}

/* Events received from the merged sources, at most two. */
struct tally {
    size_t counts[2];
    size_t turns; /* number of changes from one source to the other */
};

static struct tally run(struct ct_merge *merge)
{
    struct tally tally = {0};
    struct ct_merge_batch batch;
    size_t count;
    uint64_t time = 0;
    const struct ct_merge_source *sources = ct_merge_sources(merge, &count), *last = NULL;
    assert_in_range(count, 1, 2);
    assert_int_equal(ct_merge_next(merge, &batch), CT_OK);
    for (; batch.count; assert_int_equal(ct_merge_next(merge, &batch), CT_OK)) {
        tally.turns += last != batch.source;
        last = batch.source;
        tally.counts[batch.source - sources] += batch.count;
        for (size_t i = 0; i < batch.count; i++) {
            assert_true(batch.events[i].time >= time);
            time = batch.events[i].time;
        }
    }
    return tally;
}

TEST(all_come_in_order)
{
    const struct bench *b = *state;
    struct ct_merge *merge = merge_of(b, NULL);
    size_t count;
    const struct ct_merge_source *sources = ct_merge_sources(merge, &count);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(sources[i].timed, 1);
        assert_int_equal(sources[i].has_trace, 1);
        assert_int_equal(sources[i].level, CT_LEVEL_FLOW);
        assert_null(sources[i].chain);
    }
    const struct tally both = run(merge);
    assert_true(both.turns > 2);
    ct_merge_free(merge);
    for (size_t i = 0; i < 2; i++) {
        merge = merge_of_one(b, i);
        assert_int_equal(run(merge).counts[0], both.counts[i]);
        ct_merge_free(merge);
    }
}

/* The statistics of two sources are the sum of those of each, except for the bytes of their common buffer. */
TEST(seen_is_the_sum)
{
    const struct bench *b = *state;
    struct ct_merge *merge = merge_of(b, NULL);
    run(merge);
    const struct ct_seen both = *ct_merge_seen(merge);
    ct_merge_free(merge);
    uint64_t instructions = 0;
    for (size_t i = 0; i < 2; i++) {
        merge = merge_of_one(b, i);
        assert_int_equal(ct_merge_seen(merge)->bytes, 0);
        run(merge);
        instructions += ct_merge_seen(merge)->instructions;
        assert_int_equal(ct_merge_seen(merge)->bytes, both.bytes);
        ct_merge_free(merge);
    }
    assert_true(instructions > 0);
    assert_int_equal(both.instructions, instructions);
}

TEST(comes_from_the_trace)
{
    const struct bench *b = *state;
    const struct ct_merge_options options = {.size = sizeof options, .from = CT_EVENTS_FROM_TRACE};
    struct ct_merge *along = merge_of(b, NULL), *trace = merge_of(b, &options);
    size_t count;
    assert_int_equal(ct_merge_sources(trace, &count)->level, CT_LEVEL_ELEMENT);
    assert_true(run(trace).counts[1] < run(along).counts[1]); /* it has no branch broadcast */
    ct_merge_free(along);
    ct_merge_free(trace);
}

/* Returns the time of an event in the middle, and the number of earlier events. */
static uint64_t middle_of(struct ct_merge *merge, size_t *before)
{
    static uint64_t times[100000];
    struct ct_merge_batch batch;
    size_t count = 0;
    assert_int_equal(ct_merge_next(merge, &batch), CT_OK);
    for (; batch.count; assert_int_equal(ct_merge_next(merge, &batch), CT_OK))
        for (size_t i = 0; i < batch.count; i++) {
            assert_in_range(count, 0, sizeof times / sizeof *times - 1);
            times[count++] = batch.events[i].time;
        }
    const uint64_t middle = times[count / 2];
    for (*before = 0; times[*before] < middle;)
        ++*before;
    return middle;
}

/* A window ends before the events at its end, and begins with those at its start. */
TEST(windows_end_before_their_end)
{
    const struct bench *b = *state;
    size_t before;
    struct ct_merge *merge = merge_of(b, NULL);
    const struct tally all = run(merge);
    ct_merge_free(merge);
    merge = merge_of(b, NULL);
    const struct ct_filter_point point = {.kind = CT_POINT_TICKS, .value = middle_of(merge, &before)};
    ct_merge_free(merge);
    const struct ct_filter ends = {.size = sizeof ends, .to = point};
    const struct ct_filter begins = {.size = sizeof begins, .from = point};
    struct ct_merge_options options = {.size = sizeof options, .filter = &ends};
    merge = merge_of(b, &options);
    struct tally part = run(merge);
    assert_int_equal(part.counts[0] + part.counts[1], before);
    ct_merge_free(merge);
    options.filter = &begins;
    merge = merge_of(b, &options);
    part = run(merge);
    assert_int_equal(part.counts[0] + part.counts[1], all.counts[0] + all.counts[1] - before);
    ct_merge_free(merge);
}

static int keep_last_time(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    uint64_t *last = user;
    (void)stream;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->elems[i].kind == CT_ELEM_TIMESTAMP)
            *last = batch->elems[i].v;
    return 0;
}

/* A timestamp is reached at exactly its time. */
TEST(reaches_its_timestamps)
{
    const struct bench *b = *state;
    struct ct_merge *merge = merge_of(b, NULL);
    size_t count;
    const struct ct_merge_source *sources = ct_merge_sources(merge, &count);
    for (size_t i = 0; i < count; i++) {
        struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_ELEMENT};
        uint64_t last = 0;
        const struct ct_chain_sink sink = {.user = &last, .elems = keep_last_time};
        struct ct_chain *chain;
        int reaches;
        options.ids[sources[i].id / 64] = UINT64_C(1) << sources[i].id % 64;
        assert_int_equal(ct_chain_new(b->ctx, b->capture->buffers, &options, &sink, &chain), CT_OK);
        assert_int_equal(ct_chain_run(chain), CT_OK);
        ct_chain_free(chain);
        assert_int_equal(ct_merge_reaches(merge, i, last, &reaches), CT_OK);
        assert_int_equal(reaches, 1);
        assert_int_equal(ct_merge_reaches(merge, i, last + 1, &reaches), CT_OK);
        assert_int_equal(reaches, 0);
    }
    ct_merge_free(merge);
}

static int stop(void *user, uint64_t bytes)
{
    uint64_t *last = user;
    *last = bytes;
    return STOP;
}

TEST(ends_when_it_is_told)
{
    const struct bench *b = *state;
    uint64_t bytes = 0;
    const struct ct_merge_options options = {.size = sizeof options, .user = &bytes, .progress = stop};
    struct ct_merge *merge = merge_of(b, &options);
    struct ct_merge_batch batch;
    assert_int_equal(ct_merge_next(merge, &batch), STOP);
    assert_int_equal(batch.count, 0);
    assert_true(bytes > 0);
    bytes = 0;
    assert_int_equal(ct_merge_next(merge, &batch), STOP);
    assert_int_equal(bytes, 0);
    ct_merge_free(merge);
}

/* A merge whose receivers call it. */
struct caller {
    struct ct_merge *merge;
    size_t calls;
    bool pulls;
};

static int call_back(void *user, uint64_t bytes)
{
    struct caller *c = user;
    struct ct_merge_batch batch;
    int more;
    (void)bytes;
    c->calls++;
    assert_int_equal(c->pulls ? ct_merge_pull(c->merge, 0, &more) : ct_merge_next(c->merge, &batch),
                     CT_ERR_ARG);
    return CT_OK;
}

static int call_back_with_steps(void *user, size_t source, const struct ct_step_batch *batch)
{
    (void)source;
    (void)batch;
    return call_back(user, 0);
}

/* A call from a receiver is refused, and what the merge gives is the same. */
TEST(receivers_cannot_decode)
{
    const struct bench *b = *state;
    struct caller caller = {0};
    struct ct_merge_options options = {.size = sizeof options, .user = &caller, .progress = call_back};
    struct ct_merge *plain = merge_of(b, NULL);
    const struct tally whole = run(plain);
    caller.merge = merge_of(b, &options);
    const struct tally same = run(caller.merge);
    assert_memory_equal(&whole, &same, sizeof whole);
    assert_true(caller.calls > 0);
    ct_merge_free(caller.merge);
    options.steps = call_back_with_steps;
    caller = (struct caller){.merge = merge_of(b, &options), .pulls = true};
    for (int more = 1; more;)
        assert_int_equal(ct_merge_pull(caller.merge, 0, &more), CT_OK);
    assert_true(caller.calls > 1);
    assert_true(ct_merge_seen(caller.merge)->instructions > 0);
    ct_merge_free(caller.merge);
    ct_merge_free(plain);
}

TEST(arguments_are_checked)
{
    const struct bench *b = *state;
    struct ct_merge_options options = {.size = sizeof options, .from = CT_EVENTS_FROM_TRACE + 1};
    struct ct_buffer buffer = b->capture->buffers[0];
    struct ct_merge *merge = NULL;
    assert_int_equal(ct_merge_new(b->ctx, &buffer, 1, &options, &merge), CT_ERR_ARG);
    buffer.path = "-";
    assert_int_equal(ct_merge_new(b->ctx, &buffer, 1, NULL, &merge), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(b->ctx), "standard input"));
    assert_int_equal(ct_merge_new(b->ctx, NULL, 1, NULL, &merge), CT_ERR_ARG);
    assert_null(merge);
    assert_int_equal(ct_merge_new(b->ctx, NULL, 0, NULL, &merge), CT_OK);
    struct ct_merge_batch batch;
    assert_int_equal(ct_merge_next(merge, &batch), CT_OK);
    assert_int_equal(batch.count, 0);
    ct_merge_free(merge);
}
