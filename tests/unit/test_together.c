/* SPDX-License-Identifier: Apache-2.0 */
/* Checks runs of specifications over captures of one system. */
#include <string.h>

#include "coretap/monitor.h"
#include "coretap/together.h"
#include "support/ctx_fixture.h"

#define SPEC "in x: Events[Int]\ndef c := count(x)\nout c\n"

enum {
    STOP = 17,
};

/* A run over the example, and all that it needs. */
struct bench {
    struct ct_ctx *ctx;
    struct ct_capture *capture;
    struct ct_programs *programs;
    struct ct_watches *watches;
    struct ct_monitor_spec *spec;
    struct ct_verifier *verifier;
    struct ct_together *together;
    unsigned results;
    uint64_t bytes; /* of progress */
    int stop;       /* what progress returns */
};

static int on_progress(void *user, size_t capture, uint64_t bytes)
{
    struct bench *b = user;
    assert_true(capture < 2);
    b->bytes = bytes;
    return b->stop;
}

static void on_result(void *user, const struct ct_verify_result *result)
{
    struct bench *b = user;
    (void)result;
    b->results++;
}

static struct bench open_bench(struct ct_ctx *ctx)
{
    struct bench b = {.ctx = ctx};
    assert_int_equal(ct_capture_open(ctx, SOURCE_ROOT "/examples/quickstart", &b.capture), CT_OK);
    assert_int_equal(ct_programs_new(ctx, NULL, &b.programs), CT_OK);
    assert_int_equal(ct_programs_add_capture(b.programs, b.capture), CT_OK);
    assert_int_equal(ct_watches_new(ctx, b.programs, &b.watches), CT_OK);
    assert_int_equal(ct_verifier_new(ctx, NULL, b.watches, &b.verifier), CT_OK);
    assert_int_equal(ct_monitor_compile(ctx, "spec", SPEC, strlen(SPEC), NULL, &b.spec), CT_OK);
    return b;
}

static void make(struct bench *b)
{
    const struct ct_together_options options = {
        .size = sizeof options, .programs = b->programs, .user = b, .progress = on_progress};
    assert_int_equal(ct_together_new(b->ctx, &options, &b->together), CT_OK);
    assert_int_equal(
        ct_together_add(b->together, b->capture, b->capture->buffers, b->capture->buffer_count, NULL), CT_OK);
}

static void begin(struct bench *b)
{
    const struct ct_verify_bind bind = {.input = "x", .place = "0x80500"};
    assert_int_equal(ct_together_describe(b->together, b->verifier), CT_OK);
    assert_int_equal(ct_verifier_add(b->verifier, b->spec, "spec", &bind, 1), CT_OK);
    assert_int_equal(ct_verifier_begin(b->verifier, on_result, b), CT_OK);
}

/* Frees the objects in the opposite of the usual order, which the run must bear. */
static void done(struct bench *b)
{
    ct_verifier_free(b->verifier);
    ct_watches_free(b->watches);
    ct_together_free(b->together);
    ct_monitor_spec_free(b->spec);
    ct_programs_free(b->programs);
    ct_capture_free(b->capture);
}

TEST_WITH(all_sources_are_one_run, ctx)
{
    struct bench b = open_bench(ctx);
    enum ct_together_trouble trouble;
    size_t count;
    make(&b);
    const struct ct_together_source *sources = ct_together_sources(b.together, &count);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(sources[i].capture, b.capture);
        assert_true(sources[i].timed && sources[i].core);
        assert_int_equal(sources[i].protocol, sources[i].source->protocol);
    }
    assert_int_equal(ct_together_check(b.together, &trouble), CT_OK);
    assert_int_equal(trouble, CT_TOGETHER_FINE);
    assert_null(ct_together_axis(b.together));
    begin(&b);
    assert_int_equal(ct_together_run(b.together, b.verifier, b.watches), CT_OK);
    assert_int_equal(ct_verifier_finish(b.verifier), CT_OK);
    assert_true(b.results > 0 && b.bytes > 0);
    assert_int_equal(ct_merge_seen(ct_together_merge(b.together, 0))->instructions, 939 + 3671);
    assert_null(ct_together_merge(b.together, 1));
    /* it is over */
    assert_int_equal(ct_together_run(b.together, b.verifier, b.watches), CT_ERR_ARG);
    assert_int_equal(
        ct_together_add(b.together, b.capture, b.capture->buffers, b.capture->buffer_count, NULL),
        CT_ERR_ARG);
    done(&b);
}

TEST_WITH(a_core_is_in_one_capture_only, ctx)
{
    struct bench b = open_bench(ctx);
    enum ct_together_trouble trouble;
    make(&b);
    assert_int_equal(
        ct_together_add(b.together, b.capture, b.capture->buffers, b.capture->buffer_count, NULL), CT_OK);
    assert_int_equal(ct_together_check(b.together, &trouble), CT_ERR_UNSUPPORTED);
    assert_int_equal(trouble, CT_TOGETHER_SAME_CORE);
    assert_non_null(strstr(ct_ctx_error(ctx), "cannot be parts of the same run"));
    assert_int_equal(ct_together_check(b.together, NULL), CT_ERR_UNSUPPORTED);
    done(&b);
}

TEST_WITH(a_receiver_ends_the_run, ctx)
{
    struct bench b = open_bench(ctx);
    make(&b);
    begin(&b);
    b.stop = STOP;
    assert_int_equal(ct_together_run(b.together, b.verifier, b.watches), STOP);
    assert_int_equal(ct_together_run(b.together, b.verifier, b.watches), CT_ERR_ARG);
    assert_int_equal(
        ct_together_add(b.together, b.capture, b.capture->buffers, b.capture->buffer_count, NULL),
        CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(ctx), "the end came before"));
    done(&b);
}

TEST_WITH(nothing_is_a_run, ctx)
{
    struct ct_together *together;
    size_t count = 1;
    assert_int_equal(ct_together_new(ctx, NULL, &together), CT_OK);
    assert_null(ct_together_sources(together, &count));
    assert_int_equal(count, 0);
    assert_int_equal(ct_together_check(together, NULL), CT_OK);
    /* without a capture there is nothing to decode, and no result of it may pass for one */
    struct ct_watches *watches;
    struct ct_verifier *verifier;
    assert_int_equal(ct_watches_new(ctx, NULL, &watches), CT_OK);
    assert_int_equal(ct_verifier_new(ctx, NULL, watches, &verifier), CT_OK);
    assert_int_equal(ct_together_run(together, verifier, watches), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(ctx), "there is no capture"));
    ct_verifier_free(verifier);
    ct_watches_free(watches);
    ct_together_free(together);
    assert_null(ct_together_sources(NULL, NULL));
}
