/* SPDX-License-Identifier: Apache-2.0 */
/* Checks calls of a chain in an impossible order, and invalid options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/chain_tune.h"
#include "coretap/decode.h"
#include "coretap/input.h"
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
    ct_chain_tune(f->chain, SEGMENT, 16);
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
    ct_chain_tune(chain, SEGMENT, 16);
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
