/* SPDX-License-Identifier: Apache-2.0 */
/* Random trace in a file, with or without frames, and the code that it is of. */
#ifndef CT_TEST_RANDOM_TRACE_H
#define CT_TEST_RANDOM_TRACE_H

#include "support/rng.h"
#include "coretap/input.h"

enum {
    RANDOM_TRACE_ROOM = 60000, /* bytes of a stream at most */
    RANDOM_TRACE_FRAMED = RANDOM_TRACE_ROOM * 3,
};

struct random_trace {
    struct ct_source sources[2];
    struct ct_buffer buffer;
    struct ct_image image;
    int is_file; /* the bytes are only where the buffer says */
    uint8_t bytes[RANDOM_TRACE_FRAMED];
    size_t size;
};

/* Makes streams of one protocol for both sources, some of them damaged, and code for them. The files are
 * those of the trace before. */
void random_trace_fill(struct rng *rng, struct random_trace *trace);

#endif
