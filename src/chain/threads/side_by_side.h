/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the streams of a chain side by side, for a receiver of steps. Streams take turns, a slice each.
 * While the receiver gets the steps of one slice, in the caller's thread, other threads decode the next
 * slices, also of the same stream, and follow those of other streams. What the receiver gets, and in which
 * order, does not depend on the threads. */
#pragma once

#include "chain/stream.h"

struct ct_side_by_side;

/* The bytes of a stream to decode. */
struct ct_side_run {
    struct ct_stream_chain *stream;
    struct ct_run run;
    size_t used; /* result: number of bytes consumed */
};

struct ct_side_how {
    struct ct_ctx *ctx;
    const struct ct_chain_sink *sink;
    size_t streams; /* maximal number of streams at work */
    size_t helpers; /* number of threads beside the caller's */
    size_t slice;   /* bytes of a slice, set by tests; 0: the default */
};

/* Makes the object and starts threads; fewer when some cannot be started. CT_ERR_NOMEM. */
int ct_side_by_side_new(const struct ct_side_how *how, struct ct_side_by_side **out);
void ct_side_by_side_free(struct ct_side_by_side *side);

/* Returns the array to fill with runs before ct_side_by_side_run, with room for all streams. */
struct ct_side_run *ct_side_by_side_runs(struct ct_side_by_side *side);

/* Decodes the first `count` runs of the array; `behind` says what follows them. Returns 0, CT_ERR_NOMEM, or
 * what the receiver returned. No thread works after the call. */
int ct_side_by_side_run(struct ct_side_by_side *side, size_t count, enum ct_behind behind);
