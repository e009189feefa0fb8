/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the contents and amounts of a capture are written to any receiver, and in their order only. */
#include <pthread.h>
#include <unistd.h>

#include "coretap/info.h"
#include "coretap/session.h"
#include "support/ctx_fixture.h"
#include "support/output.h"

struct decoded {
    struct ct_capture *capture;
    struct ct_chain *chain;
};

static struct decoded decode(struct ct_ctx *ctx, enum ct_level level)
{
    const struct ct_chain_options options = {.size = sizeof options, .level = (uint8_t)level};
    struct decoded d;
    assert_int_equal(ct_capture_open(ctx, SOURCE_ROOT "/examples/quickstart", &d.capture), CT_OK);
    assert_int_equal(ct_chain_new(ctx, d.capture->buffers, &options, NULL, &d.chain), CT_OK);
    assert_int_equal(ct_chain_run(d.chain), CT_OK);
    return d;
}

static void done(const struct decoded *d)
{
    ct_chain_free(d->chain);
    ct_capture_free(d->capture);
}

static void write_info(struct ct_ctx *ctx, const struct decoded *d, enum ct_info_format format,
                       struct output *text)
{
    const struct ct_info_write_options how = {.size = sizeof how, .format = (uint8_t)format};
    struct ct_amounts amounts = {0};
    struct ct_info_writer *info;
    ct_amounts_add(&amounts, d->chain, 1);
    assert_int_equal(ct_info_writer_new(ctx, &how, output_append, text, &info), CT_OK);
    assert_int_equal(ct_info_writer_capture(info, d->capture), CT_OK);
    assert_int_equal(ct_info_writer_buffer(info, d->capture->buffers, d->chain), CT_OK);
    assert_int_equal(ct_info_writer_end(info, &amounts.losses), CT_OK);
    ct_info_writer_free(info);
}

TEST_WITH(both_formats_describe_the_capture, ctx)
{
    const struct decoded d = decode(ctx, CT_LEVEL_FLOW);
    struct output text = {0}, json = {0};
    write_info(ctx, &d, CT_INFO_FORMAT_TEXT, &text);
    write_info(ctx, &d, CT_INFO_FORMAT_JSON, &json);
    assert_non_null(strstr(text.text, ", 1 trace buffer\n"));
    assert_non_null(strstr(text.text, "    instructions             939, "));
    assert_non_null(strstr(text.text, "\nlosses: none\n"));
    assert_non_null(strstr(json.text, "\"instructions\": 939,"));
    assert_string_equal(json.text + json.size - 4, "}\n}\n");
    output_free(&text);
    output_free(&json);
    done(&d);
}

/* A program may have no path for trace that it describes itself. */
TEST_WITH(names_may_be_missing, ctx)
{
    const struct decoded d = decode(ctx, CT_LEVEL_FRAME);
    const struct ct_capture bare = {0};
    const struct ct_buffer buffer = {0};
    struct output text = {0};
    for (uint8_t format = 0; format <= CT_INFO_FORMAT_JSON; format++) {
        const struct ct_info_write_options how = {.size = sizeof how, .format = format};
        struct ct_info_writer *info;
        assert_int_equal(ct_info_writer_new(NULL, &how, output_append, &text, &info), CT_OK);
        assert_int_equal(ct_info_writer_capture(info, &bare), CT_OK);
        assert_int_equal(ct_info_writer_buffer(info, &buffer, d.chain), CT_OK);
        ct_info_writer_free(info);
    }
    assert_non_null(strstr(text.text, "-: trace, 0 trace buffers\n"));
    output_free(&text);
    done(&d);
}

static size_t times(const char *text, const char *word)
{
    size_t n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

/* Cores that run one program have a buffer each, and one memory. */
TEST_WITH(images_of_several_buffers_are_listed_once, ctx)
{
    const struct decoded d = decode(ctx, CT_LEVEL_FLOW);
    struct ct_image images[] = {{.path = "one.bin"}, {.path = "two.bin"}}, others[] = {images[0], images[0]};
    struct ct_buffer buffers[3] = {d.capture->buffers[0], d.capture->buffers[0], d.capture->buffers[0]};
    struct ct_info_writer *info;
    struct output text = {0};
    for (size_t i = 0; i < 3; i++) {
        buffers[i].images = i < 2 ? images : others;
        buffers[i].image_count = 2;
    }
    assert_int_equal(ct_info_writer_new(ctx, NULL, output_append, &text, &info), CT_OK);
    assert_int_equal(ct_info_writer_capture(info, d.capture), CT_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(ct_info_writer_buffer(info, &buffers[i], d.chain), CT_OK);
    ct_info_writer_free(info);
    assert_int_equal(times(text.text, "two.bin"), 1);
    assert_int_equal(times(text.text, "one.bin"), 3);
    assert_int_equal(times(text.text, "\n  images: those of buffer "), 1);
    output_free(&text);
    done(&d);
}

TEST_WITH(calls_have_an_order, ctx)
{
    const struct decoded d = decode(ctx, CT_LEVEL_FRAME);
    const struct ct_losses none = {0};
    struct ct_info_writer *info;
    assert_int_equal(ct_info_writer_new(ctx, NULL, output_drop, NULL, &info), CT_OK);
    assert_int_equal(ct_info_writer_buffer(info, d.capture->buffers, d.chain), CT_ERR_ARG);
    assert_int_equal(ct_info_writer_end(info, &none), CT_ERR_ARG);
    assert_int_equal(ct_info_writer_capture(info, d.capture), CT_OK);
    assert_int_equal(ct_info_writer_capture(info, d.capture), CT_ERR_ARG);
    assert_int_equal(ct_info_writer_end(info, &none), CT_OK);
    assert_int_equal(ct_info_writer_buffer(info, d.capture->buffers, d.chain), CT_ERR_ARG);
    ct_info_writer_free(info);
    done(&d);
}

/* What the receiver returns comes from the same call, and from each later one. */
TEST_WITH(errors_of_the_receiver_come_back, ctx)
{
    const struct decoded d = decode(ctx, CT_LEVEL_FRAME);
    const struct ct_losses none = {0};
    for (uint8_t format = 0; format <= CT_INFO_FORMAT_JSON; format++) {
        const struct ct_info_write_options how = {.size = sizeof how, .format = format};
        const struct ct_amounts_write_options of_amounts = {.size = sizeof of_amounts, .format = format};
        const struct ct_amounts amounts = {0};
        struct ct_info_writer *info;
        assert_int_equal(ct_info_writer_new(ctx, &how, output_refuse, NULL, &info), CT_OK);
        assert_int_equal(ct_info_writer_capture(info, d.capture), CT_ERR_LIMIT);
        assert_int_equal(ct_info_writer_buffer(info, d.capture->buffers, d.chain), CT_ERR_LIMIT);
        assert_int_equal(ct_info_writer_end(info, &none), CT_ERR_LIMIT);
        ct_info_writer_free(info);
        assert_int_equal(ct_amounts_write(NULL, &amounts, &of_amounts, output_refuse, NULL), CT_ERR_LIMIT);
    }
    done(&d);
}

static void expect_amounts(const struct ct_amounts *amounts, const struct ct_amounts_write_options *how,
                           const char *begin)
{
    struct output text = {0};
    assert_int_equal(ct_amounts_write(NULL, amounts, how, output_append, &text), CT_OK);
    assert_int_equal(strncmp(text.text, begin, strlen(begin)), 0);
    assert_int_equal(strstr(text.text, "seconds") != NULL, how->seconds > 0);
    output_free(&text);
}

TEST_WITH(amounts_are_those_of_the_level, ctx)
{
    const struct decoded d = decode(ctx, CT_LEVEL_FLOW);
    struct ct_amounts amounts = {0}, twice = {0};
    struct ct_amounts_write_options how = {.size = sizeof how};
    ct_amounts_add(&amounts, d.chain, 1);
    ct_amounts_add(&twice, d.chain, 1);
    ct_amounts_add(&twice, d.chain, 0);
    ct_amounts_add(NULL, d.chain, 1);
    ct_amounts_add(&amounts, NULL, 1);
    assert_int_equal(amounts.instructions, 939 + 3671);
    assert_int_equal(twice.instructions, 2 * amounts.instructions);
    assert_int_equal(twice.bytes, amounts.bytes);
    expect_amounts(&(struct ct_amounts){.bytes = 7}, &how, "bytes=7\nlost_bytes=0\n");
    how.level = CT_LEVEL_FLOW;
    how.part = 1;
    how.seconds = 0.5;
    expect_amounts(&(struct ct_amounts){.bytes = 7, .instructions = 9}, &how,
                   "bytes=7\ninstructions=9\ngaps=0\n");
    how.format = CT_INFO_FORMAT_JSON;
    expect_amounts(&(struct ct_amounts){.bytes = 7}, &how, "{\n  \"bytes\": 7,\n  \"instructions\": 0,");
    how.format = CT_INFO_FORMAT_JSON + 1;
    assert_int_equal(ct_amounts_write(NULL, &amounts, &how, output_drop, NULL), CT_ERR_ARG);
    done(&d);
}

struct seen_run {
    unsigned chains, frames;
    uint64_t bytes;
    int rc;
};

static int on_bytes(void *user, uint64_t bytes)
{
    struct seen_run *seen = user;
    seen->bytes = bytes;
    return CT_OK;
}

static int on_chain(void *user, const struct ct_chain *chain, int frames)
{
    struct seen_run *seen = user;
    seen->chains += chain != NULL;
    seen->frames += frames != 0;
    return seen->rc;
}

/* Threads share the trace IDs, and the sums are those of one thread. */
TEST_WITH(amounts_of_threads_are_those_of_one, ctx)
{
    static const uint8_t levels[][2] = {{CT_LEVEL_FLOW, CT_EDGES_NONE}, {CT_LEVEL_STEPS, CT_EDGES_CYCLES}};
    struct ct_capture *capture;
    assert_int_equal(ct_capture_open(ctx, SOURCE_ROOT "/examples/quickstart", &capture), CT_OK);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        struct ct_amounts one = {0}, three = {0}, none = {0};
        struct seen_run seen = {0};
        struct ct_amounts_options how = {.size = sizeof how,
                                         .level = levels[i][0],
                                         .edges = levels[i][1],
                                         .user = &seen,
                                         .progress = on_bytes,
                                         .decoded = on_chain};
        assert_int_equal(ct_amounts_run(ctx, capture->buffers, capture->buffer_count, &how, &one), CT_OK);
        assert_int_equal(one.instructions, 939 + 3671);
        assert_int_equal(seen.frames, capture->buffer_count);
        assert_int_equal(seen.bytes, one.bytes);
        seen = (struct seen_run){0};
        how.threads = 3;
        assert_int_equal(ct_amounts_run(ctx, capture->buffers, capture->buffer_count, &how, &three), CT_OK);
        assert_memory_equal(&one, &three, sizeof one);
        assert_true(seen.chains > seen.frames); /* a chain for each trace ID */
        seen.rc = 42;
        assert_int_equal(ct_amounts_run(ctx, capture->buffers, capture->buffer_count, &how, &none), 42);
    }
    ct_capture_free(capture);
}

TEST_WITH(amounts_of_a_missing_file_are_an_error, ctx)
{
    const struct ct_source source = {.name = "source", .protocol = CT_PROTOCOL_ETM4};
    const struct ct_buffer buffer = {.name = "buffer",
                                     .path = "/nowhere/trace.bin",
                                     .framing = CT_FRAMING_NONE,
                                     .source_count = 1,
                                     .sources = &source};
    struct ct_amounts amounts = {0};
    assert_int_equal(ct_amounts_run(ctx, &buffer, 1, NULL, &amounts), CT_ERR_IO);
    assert_non_null(strstr(ct_ctx_error(ctx), "/nowhere/trace.bin"));
    assert_int_equal(ct_amounts_run(ctx, NULL, 1, NULL, &amounts), CT_ERR_ARG);
    assert_int_equal(ct_amounts_run(ctx, &buffer, 1, NULL, NULL), CT_ERR_ARG);
}

/* Ends the input of the first buffer, after the second one has probably failed. */
static void *end_input(void *user)
{
    usleep(50000);
    close(*(int *)user);
    return NULL;
}

/* Of two buffers with an error, threads return that of the first, also when it comes later. */
TEST_WITH(the_first_buffer_tells_the_error, ctx)
{
    const struct ct_source source = {.name = "source", .protocol = CT_PROTOCOL_ETM4};
    struct seen_run seen = {.rc = 42};
    const struct ct_amounts_options how = {
        .size = sizeof how, .threads = 2, .user = &seen, .decoded = on_chain};
    struct ct_buffer buffers[2] = {
        {.name = "slow", .path = "-", .framing = CT_FRAMING_NONE},
        {.name = "missing", .path = "/nowhere/trace.bin", .framing = CT_FRAMING_NONE},
    };
    struct ct_amounts amounts = {0};
    int ends[2];
    pthread_t thread;
    assert_int_equal(pipe(ends), 0);
    const int input = dup(STDIN_FILENO);
    assert_true(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
    for (size_t i = 0; i < 2; i++) {
        buffers[i].source_count = 1;
        buffers[i].sources = &source;
    }
    assert_int_equal(pthread_create(&thread, NULL, end_input, &ends[1]), 0);
    assert_int_equal(ct_amounts_run(ctx, buffers, 2, &how, &amounts), 42);
    pthread_join(thread, NULL);
    if (input >= 0)
        dup2(input, STDIN_FILENO);
    close(input);
    close(ends[0]);
}
