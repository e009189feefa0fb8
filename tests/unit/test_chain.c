/* SPDX-License-Identifier: Apache-2.0 */
/* Checks calls of a chain in an impossible order, and invalid options. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/chain_tune.h"
#include "coretap/decode.h"
#include "coretap/input.h"
#include "coretap/programs.h"
#include "support/unit.h"

struct fixture {
    struct ct_ctx *ctx;
    struct ct_capture *capture;
    struct ct_chain *chain;
    unsigned calls;
    int result;  /* result of a receiver */
    int entered; /* result of the chain to a receiver that called it */
};

/* size of a segment, so that threads have several */
#define SEGMENT 64

static struct fixture *open_capture(void)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->ctx = ct_ctx_new();
    assert_int_equal(ct_capture_open(f->ctx, SOURCE_ROOT "/examples/quickstart", &f->capture), CT_OK);
    return f;
}

static void make(struct fixture *f, const struct ct_chain_options *options, const struct ct_chain_sink *sink)
{
    assert_int_equal(ct_chain_new(f->ctx, f->capture->buffers, options, sink, &f->chain), CT_OK);
    ct_chain_tune(f->chain, SEGMENT);
}

static void done(struct fixture *f)
{
    ct_capture_free(f->capture);
    ct_ctx_free(f->ctx);
    free(f);
}

static const uint8_t nothing[16];

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct fixture *f = user;
    size_t count;
    (void)stream;
    (void)batch;
    f->calls++;
    assert_non_null(ct_chain_streams(f->chain, &count));
    f->entered = ct_chain_push(f->chain, nothing, sizeof nothing);
    assert_int_equal(ct_chain_finish(f->chain), CT_ERR_ARG);
    return f->result;
}

TEST(receivers_give_no_bytes)
{
    struct fixture *f = open_capture();
    const struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_ELEMENT};
    const struct ct_chain_sink sink = {.user = f, .elems = on_elems};
    make(f, &options, &sink);
    assert_int_equal(ct_chain_run(f->chain), CT_OK);
    assert_true(f->calls > 0);
    assert_int_equal(f->entered, CT_ERR_ARG);
    ct_chain_free(f->chain);
    done(f);
}

TEST(nothing_comes_behind_the_end)
{
    struct fixture *f = open_capture();
    const struct ct_piece piece = {.size = UINT64_MAX};
    const struct ct_chain_sink sink = {0};
    make(f, NULL, &sink);
    assert_int_equal(ct_chain_run(f->chain), CT_OK);
    const uint64_t bytes = ct_chain_frame_stats(f->chain)->input_bytes;
    assert_int_equal(ct_chain_push(f->chain, nothing, sizeof nothing), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(f->ctx), "the trace has ended"));
    assert_int_equal(ct_chain_push(f->chain, NULL, 1), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(f->ctx), "ct_chain_push: wrong argument; nothing was done; 'data"));
    assert_int_equal(ct_chain_begin_piece(f->chain, &piece), CT_ERR_ARG);
    assert_int_equal(ct_chain_finish(f->chain), CT_ERR_ARG);
    assert_int_equal(ct_chain_run(f->chain), CT_ERR_ARG);
    assert_int_equal(ct_chain_frame_stats(f->chain)->input_bytes, bytes);
    ct_chain_free(f->chain);
    done(f);
}

/* Pushes the capture without the bytes of [from, to), as ct_chain_begin_piece describes it. */
static struct ct_losses push_without(struct fixture *f, size_t from, size_t to)
{
    static uint8_t bytes[1 << 16];
    FILE *file = fopen(f->capture->buffers->path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_in_range(size, to, sizeof bytes - 1);
    struct ct_piece piece = {.offset = from, .joins = 1, .cut = 1, .time = CT_NO_TIME, .tid = CT_NO_THREAD};
    assert_int_equal(ct_chain_push(f->chain, bytes, from), CT_OK);
    assert_int_equal(ct_chain_begin_piece(f->chain, &piece), CT_OK);
    piece = (struct ct_piece){.offset = to, .time = CT_NO_TIME, .tid = CT_NO_THREAD};
    assert_int_equal(ct_chain_begin_piece(f->chain, &piece), CT_OK);
    assert_int_equal(ct_chain_push(f->chain, bytes + to, size - to), CT_OK);
    assert_int_equal(ct_chain_finish(f->chain), CT_OK);
    return ct_chain_losses(f->chain);
}

/* Bytes that the caller lost are a gap in each stream, whose packet before the loss may be cut. */
TEST(lost_bytes_are_a_gap)
{
    struct fixture *f = open_capture();
    const struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_ELEMENT};
    const struct ct_chain_sink sink = {0};
    make(f, &options, &sink);
    const struct ct_losses losses = push_without(f, 1000, 1600);
    size_t streams;
    ct_chain_streams(f->chain, &streams);
    assert_int_equal(losses.gaps, streams);
    assert_in_range(losses.bad_packets, 0, streams);
    ct_chain_free(f->chain);
    done(f);
}

TEST(an_error_is_for_good)
{
    struct fixture *f = open_capture();
    struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_ELEMENT};
    const struct ct_chain_sink sink = {.user = f, .elems = on_elems};
    f->result = -1000;
    for (; options.threads < 3; options.threads += 2) {
        f->calls = 0;
        make(f, &options, &sink);
        assert_int_equal(ct_chain_run(f->chain), f->result);
        assert_int_equal(ct_chain_push(f->chain, nothing, sizeof nothing), f->result);
        assert_int_equal(ct_chain_finish(f->chain), f->result);
        assert_int_equal(f->calls, 1);
        ct_chain_free(f->chain);
    }
    done(f);
}

static int on_events(void *user, const struct ct_stream *stream, const struct ct_event_batch *batch)
{
    struct fixture *f = user;
    (void)stream;
    (void)batch;
    f->calls++;
    return 0;
}

/* A receiver gets nothing of a level above that of the chain. */
TEST(packets_make_no_events)
{
    struct fixture *f = open_capture();
    struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_PACKET};
    const struct ct_chain_sink sink = {.user = f, .events = on_events};
    for (; options.threads < 3; options.threads += 2) {
        make(f, &options, &sink);
        assert_int_equal(ct_chain_run(f->chain), CT_OK);
        assert_int_equal(f->calls, 0);
        ct_chain_free(f->chain);
    }
    done(f);
}

TEST(unknown_choices_are_refused)
{
    struct fixture *f = open_capture();
    const struct ct_chain_sink sink = {0};
    const struct ct_chain_options wrong[] = {
        {.size = sizeof *wrong, .level = CT_LEVEL_STEPS + 1},
        {.size = sizeof *wrong, .level = CT_LEVEL_STEPS, .edges = CT_EDGES_COUNTS + 1},
        {.size = sizeof *wrong, .level = CT_LEVEL_STEPS, .engine = CT_ENGINE_FAST + 1},
        {.size = sizeof *wrong, .framing = CT_FRAMING_DSTREAM + 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(ct_chain_new(f->ctx, f->capture->buffers, &wrong[i], &sink, &f->chain), CT_ERR_ARG);
    done(f);
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    (void)user;
    (void)stream;
    (void)batch;
    return 0;
}

/* Adds up the bytes of all streams, and those that are lost, with so many threads. */
static void count_bytes(const struct fixture *f, const struct ct_buffer *buffer, uint16_t threads,
                        uint64_t *bytes, uint64_t *lost)
{
    const struct ct_chain_options options = {
        .size = sizeof options, .level = CT_LEVEL_FLOW, .threads = threads};
    const struct ct_chain_sink sink = {.flow = on_flow};
    struct ct_chain *chain;
    size_t count;
    assert_int_equal(ct_chain_new(f->ctx, buffer, &options, &sink, &chain), CT_OK);
    ct_chain_tune(chain, SEGMENT);
    assert_int_equal(ct_chain_run(chain), CT_OK);
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    *bytes = 0;
    for (size_t i = 0; i < count; i++)
        *bytes += streams[i].stats.bytes;
    *lost = ct_chain_losses(chain).lost_bytes;
    ct_chain_free(chain);
}

/* A stream of a processor whose loads and stores are atoms, too, is not followed along the program: all of it
 * is lost, also where threads decode the other one. */
TEST(what_is_not_followed_is_lost)
{
    struct fixture *f = open_capture();
    const uint32_t loads_and_stores = 3u << 1; /* TRCIDR0.INSTP0, TRCCONFIGR.INSTP0 */
    struct ct_buffer buffer = f->capture->buffers[0];
    struct ct_source sources[2];
    uint64_t bytes, lost, bytes_of_threads, lost_of_threads;
    assert_int_equal(buffer.source_count, 2);
    memcpy(sources, buffer.sources, sizeof sources);
    sources[0].regs.idr0 |= loads_and_stores;
    sources[0].regs.configr |= loads_and_stores;
    buffer.sources = sources;
    count_bytes(f, &buffer, 1, &bytes, &lost);
    count_bytes(f, &buffer, 2, &bytes_of_threads, &lost_of_threads);
    assert_true(lost > 0 && lost < bytes);
    assert_int_equal(bytes_of_threads, bytes);
    assert_int_equal(lost_of_threads, lost);
    done(f);
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    (void)user;
    (void)stream;
    (void)batch;
    return 0;
}

/* The thread of the test, and what parts in other threads found. */
struct helpers {
    pthread_t caller;
    atomic_uint parts, interruptible;
};

static void *part_new(void *user, const struct ct_stream *stream)
{
    struct helpers *h = user;
    sigset_t blocked;
    (void)stream;
    if (!pthread_equal(pthread_self(), h->caller)) {
        pthread_sigmask(SIG_SETMASK, NULL, &blocked);
        h->parts++;
        h->interruptible += !sigismember(&blocked, SIGINT);
    }
    return user;
}

static int part_end(void *user, const struct ct_stream *stream, void *part, int keep)
{
    (void)user;
    (void)stream;
    (void)part;
    (void)keep;
    return 0;
}

/* Signals of the program come in its own threads. */
TEST(helpers_take_no_signals)
{
    struct fixture *f = open_capture();
    struct helpers h = {.caller = pthread_self()};
    const struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_FLOW, .threads = 3};
    const struct ct_chain_sink sink = {
        .user = &h, .flow = on_flow, .part_new = part_new, .part_end = part_end};
    for (unsigned i = 0; i < 50 && !h.parts; i++) {
        make(f, &options, &sink);
        assert_int_equal(ct_chain_run(f->chain), CT_OK);
        ct_chain_free(f->chain);
    }
    assert_true(h.parts > 0);
    assert_int_equal(h.interruptible, 0);
    done(f);
}

/* A chain whose IDs have no source has no stream, and so no thread to decode one. */
TEST(no_stream_has_no_thread)
{
    struct fixture *f = open_capture();
    const struct ct_chain_options options = {
        .size = sizeof options, .level = CT_LEVEL_STEPS, .stream_threads = 4, .ids = {UINT64_C(1) << 0x2a}};
    const struct ct_chain_sink sink = {.steps = on_steps};
    make(f, &options, &sink);
    assert_int_equal(ct_chain_run(f->chain), CT_OK);
    ct_chain_free(f->chain);
    done(f);
}

/* A buffer that a caller describes needs a path only to be read from it: its bytes may be pushed. */
TEST(pushed_bytes_need_no_path)
{
    struct fixture *f = open_capture();
    const struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_ELEMENT};
    const struct ct_chain_sink sink = {0};
    struct ct_buffer buffer = f->capture->buffers[0];
    buffer.path = NULL;
    assert_int_equal(ct_chain_new(f->ctx, &buffer, &options, &sink, &f->chain), CT_OK);
    assert_int_equal(ct_chain_run(f->chain), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(f->ctx), "the buffer has no path"));
    assert_int_equal(ct_chain_push(f->chain, nothing, sizeof nothing), CT_OK);
    assert_int_equal(ct_chain_finish(f->chain), CT_OK);
    ct_chain_free(f->chain);
    done(f);
}

/* Texts and lists that everyone uses are checked before they are used. */
TEST(described_buffers_are_complete)
{
    struct fixture *f = open_capture();
    const struct ct_chain_sink sink = {0};
    struct ct_source source = f->capture->buffers[0].sources[0];
    struct ct_image image = f->capture->buffers[0].images[0];
    struct ct_buffer whole = f->capture->buffers[0], buffers[5];
    source.name = NULL;
    image.path = NULL;
    for (size_t i = 0; i < 5; i++)
        buffers[i] = whole;
    buffers[0].name = NULL;
    buffers[1].sources = NULL;
    buffers[2].sources = &source;
    buffers[3].images = NULL;
    buffers[4].images = &image;
    buffers[2].source_count = buffers[4].image_count = 1;
    for (size_t i = 0; i < 5; i++) {
        const struct ct_capture capture = {.buffer_count = 1, .buffers = &buffers[i]};
        struct ct_programs *programs;
        assert_int_equal(ct_chain_new(f->ctx, &buffers[i], NULL, &sink, &f->chain), CT_ERR_ARG);
        assert_null(f->chain);
        assert_non_null(strstr(ct_ctx_error(f->ctx), "ct_chain_new: "));
        assert_int_equal(ct_programs_new(f->ctx, NULL, &programs), CT_OK);
        assert_int_equal(ct_programs_add_capture(programs, &capture), CT_ERR_ARG);
        ct_programs_free(programs);
    }
    done(f);
}
