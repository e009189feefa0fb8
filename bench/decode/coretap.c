/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"

/* As ct_chain_run reads a file. */
#define PIECE ((size_t)256 << 10)

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double bench_now(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

double bench_thread_now(void)
{
    return seconds(CLOCK_THREAD_CPUTIME_ID);
}

double bench_clock(void)
{
    return seconds(CLOCK_MONOTONIC);
}

static int take_events(void *user, const struct ct_stream *stream, const struct ct_event_batch *batch)
{
    (void)user, (void)stream, (void)batch;
    return 0;
}

static struct ct_chain_sink sink_of(enum bench_level level)
{
    return (struct ct_chain_sink){.events = level == BENCH_EVENTS ? take_events : NULL};
}

static struct ct_chain_options options_of(const struct bench_input *input, enum bench_level level,
                                          unsigned threads)
{
    static const uint8_t levels[BENCH_LEVELS] = {CT_LEVEL_FRAME,   CT_LEVEL_PACKET, CT_LEVEL_ELEMENT,
                                                 CT_LEVEL_ELEMENT, CT_LEVEL_FLOW,   CT_LEVEL_STEPS,
                                                 CT_LEVEL_STEPS};
    struct ct_chain_options o = {.size = sizeof o,
                                 .level = levels[level],
                                 .framing = input->buffer->framing,
                                 .threads = (uint16_t)threads};
    if (level == BENCH_COVERAGE)
        o.edges = CT_EDGES_COUNTS;
    if (level == BENCH_TIMING)
        o.edges = CT_EDGES_CYCLES;
    return o;
}

static void fail(const struct bench_input *input)
{
    fprintf(stderr, "bench: %s: %s\n", input->name, ct_ctx_error(input->ctx));
    exit(2);
}

static void push(const struct bench_input *input, struct ct_chain *chain)
{
    for (size_t at = 0; at < input->size; at += PIECE) {
        const size_t size = input->size - at < PIECE ? input->size - at : PIECE;
        if (ct_chain_push(chain, input->bytes + at, size))
            fail(input);
    }
}

/* Both passes end when all is decoded: asking for the streams brings what is counted up to date. */
static void read_stats(const struct ct_chain *chain, struct ct_stream_stats *sum)
{
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    *sum = (struct ct_stream_stats){0};
    for (size_t i = 0; i < count; i++) {
        const struct ct_stream_stats *s = &streams[i].stats;
        sum->packets += s->packets;
        sum->elements += s->elements;
        sum->atoms += s->atoms;
        sum->branches += s->branches;
        sum->instructions += s->instructions;
    }
}

void bench_coretap(const struct bench_input *input, enum bench_level level, struct bench_pass *pass)
{
    const struct ct_chain_sink sink = sink_of(level);
    const struct ct_chain_options options = options_of(input, level, 1);
    struct ct_chain *chain;
    struct ct_stream_stats all;
    const double begin = bench_now();
    if (ct_chain_new(input->ctx, input->buffer, &options, &sink, &chain))
        fail(input);
    push(input, chain);
    read_stats(chain, &pass->stats);
    const double middle = bench_now();
    push(input, chain);
    if (ct_chain_finish(chain))
        fail(input);
    read_stats(chain, &all);
    const double end = bench_now();
    ct_chain_free(chain);
    pass->cold = middle - begin;
    pass->warm = end - middle;
}

void bench_run(const struct bench_input *input, const struct ct_buffer *buffer, enum bench_level level,
               unsigned threads)
{
    const struct ct_chain_sink sink = sink_of(level);
    const struct ct_chain_options options = options_of(input, level, threads);
    struct ct_chain *chain;
    struct ct_stream_stats all;
    if (ct_chain_new(input->ctx, buffer, &options, &sink, &chain) || ct_chain_run(chain))
        fail(input);
    read_stats(chain, &all);
    ct_chain_free(chain);
}
