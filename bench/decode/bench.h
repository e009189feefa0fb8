/* SPDX-License-Identifier: Apache-2.0 */
/* `make bench`: how fast captures are decoded, level by level, with
 * libopencsd on the same bytes beside it. */
#pragma once

#include <stdbool.h>

#include "coretap/decode.h"

/* Names as those of `coretap stats --level`; `events` are the events of paper
 * 1's Table I, made from elements. */
enum bench_level {
    BENCH_FRAME,
    BENCH_PACKET,
    BENCH_ELEMENT,
    BENCH_EVENTS,
    BENCH_FLOW,
    BENCH_COVERAGE,
    BENCH_TIMING,
    BENCH_LEVELS,
};

extern const char *const bench_level_names[BENCH_LEVELS];

/* A buffer of a capture with all that is in it in memory. */
struct bench_input {
    const char *name;
    struct ct_ctx *ctx;
    struct ct_capture *capture;
    const struct ct_buffer *buffer;
    uint8_t *bytes;
    size_t size;
    uint8_t **images; /* bytes of buffer->images */
    bool branch_broadcast, cycles;
};

/* False: said why. */
bool bench_input_open(struct bench_input *input, const char *name, const char *path);
void bench_input_close(struct bench_input *input);

/* Whether there is something to be measured. */
bool bench_has_level(const struct bench_input *input, enum bench_level level);

/* What one decoding was, in seconds of processor time, so that what else a machine does counts as little as
 * can be; a pass is over `input->size` bytes. */
struct bench_pass {
    double cold;                  /* the first pass of a new chain, making it included */
    double warm;                  /* a further pass of the same chain over the same bytes */
    struct ct_stream_stats stats; /* of all streams, of the first pass */
};

/* Seconds of the processor, of all threads and of this one; and of the clock. */
double bench_now(void);
double bench_thread_now(void);
double bench_clock(void);

void bench_coretap(const struct bench_input *input, enum bench_level level, struct bench_pass *pass);

/* Decodes all of a buffer as it is in its file. */
void bench_run(const struct bench_input *input, const struct ct_buffer *buffer, enum bench_level level,
               unsigned threads);

/* What two threads are to one, on a stream that one takes long for. */
struct bench_threads {
    double faster;  /* by the clock */
    double most;    /* … of two that have nothing to do with each other: what the machine lets two have */
    double work;    /* seconds of the processor over those of one */
    double longest; /* the same of the busier one of the two: what two idle processors need */
};

/* `rate`: bytes a second of one. */
void bench_threads(const struct bench_input *input, enum bench_level level, double rate,
                   struct bench_threads *result);

/* What libopencsd can do of it: seconds of a pass; 0 when it cannot, negative when it is not there. Behind
 * the packets it is its full decoding along the program. */
double bench_ocsd(const struct bench_input *input, enum bench_level level);

/* "" or why bench_ocsd is never more than 0. */
const char *bench_ocsd_missing(void);
