/* SPDX-License-Identifier: Apache-2.0 */
/* Excludes parts of a stream while trace comes in, and finds where it is followed again. */
#pragma once

#include <stdbool.h>

#include "coretap/decode.h"
#include "coretap/elem.h"

#define CT_WANT_CONTEXTS 16

/* A copy of what is wanted (struct ct_chain_want). */
struct ct_want {
    uint64_t ids[2];
    uint32_t contexts[CT_WANT_CONTEXTS];
    size_t context_count;
    uint8_t levels;
    bool keep_clocks;
};

struct ct_stream_chain;

/* Narrows or widens streams to what is wanted. */
void ct_narrow_streams(struct ct_stream_chain *streams, size_t count, const struct ct_want *want);

/* The excluded part of one stream. */
struct ct_narrow {
    struct ct_want want; /* contexts and levels, if `by_context` */
    bool by_context;
    bool unwanted; /* the current context is not wanted */
    bool out;      /* elements are excluded until an address shows where wanted code continues */
    bool waits;    /* it was widened, and is not followed yet */
    bool resumed;  /* the program is followed again */
    uint64_t resumed_at;
    /* The clocks and the context of excluded elements. */
    struct ct_elem time, context;
    bool has_time, has_context;
    bool counts_time; /* the next count belongs to `time` */
    uint64_t cycles;
};

/* A range of elements that are followed: [from, to) of those given. */
struct ct_narrow_span {
    size_t from, to;
    size_t next;  /* where to continue the search */
    bool goes_on; /* something was excluded before; ct_narrow_before comes first */
};

/* Maximal number of elements before a span: cycles, timestamp, TRACE_ON, context. */
#define CT_NARROW_BEFORE 4

/* Returns true when elements must be sifted. */
static inline bool ct_narrow_sifts(const struct ct_narrow *n)
{
    return n->by_context || n->out || n->unwanted;
}

/* Finds the next elements from `at` on that are followed; none: from == to. */
struct ct_narrow_span ct_narrow_next(struct ct_narrow *narrow, const struct ct_elem *elems, size_t at,
                                     size_t size);

/* Makes the elements that replace what was excluded: its cycles and its last timestamp and, with `goes_on`, a
 * TRACE_ON and its last context. `pos` is that of the elements. Returns their number. */
size_t ct_narrow_before(struct ct_narrow *narrow, uint32_t pos, bool goes_on,
                        struct ct_elem out[CT_NARROW_BEFORE]);

/* Records that the stream is followed again from an offset on, if that is awaited. */
void ct_narrow_note(struct ct_narrow *narrow, uint64_t offset);
