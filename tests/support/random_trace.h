/* SPDX-License-Identifier: Apache-2.0 */
/* Random trace in a file, with or without frames, and the code that it traces. */
#pragma once

#include "support/rng.h"
#include "coretap/input.h"

enum {
    RANDOM_TRACE_ROOM = 60000, /* greatest number of bytes of a stream */
    RANDOM_TRACE_FRAMED = RANDOM_TRACE_ROOM * 3,
};

struct random_trace {
    struct ct_source sources[2];
    struct ct_buffer buffer;
    struct ct_image image;
    int is_file; /* 1: trace is read from the file of the buffer, not from `bytes` */
    uint8_t bytes[RANDOM_TRACE_FRAMED];
    size_t size;
};

/* Makes streams of one protocol for both sources, some of them damaged, and code for them. Overwrites the
 * files of the previous trace. */
void random_trace_fill(struct rng *rng, struct random_trace *trace);
