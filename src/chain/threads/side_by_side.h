/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the streams of a chain side by side, for a receiver of steps. Streams take turns, a slice of each.
 * While the receiver gets the steps of one slice, in the caller's thread, other threads make elements of the
 * next ones, also of the same stream, and follow those of other streams along the program. What the receiver
 * gets, and in which order, depends on no thread. */
#ifndef CT_CHAIN_THREADS_SIDE_BY_SIDE_H
#define CT_CHAIN_THREADS_SIDE_BY_SIDE_H

#include "chain/stream.h"

struct ct_side_by_side;

/* What a stream has to decode. */
struct ct_side_run {
    struct ct_stream_chain *stream;
    struct ct_run run;
    size_t used; /* set: how many of its bytes are done with */
};

struct ct_side_how {
    struct ct_ctx *ctx;
    const struct ct_chain_sink *sink;
    size_t streams; /* the most that are at work */
    size_t helpers; /* threads beside the caller's */
    size_t slice;   /* bytes of a slice, as tests set it; 0: as is best */
};

/* Makes the object and starts threads; fewer when some cannot be started. CT_ERR_NOMEM. */
int ct_side_by_side_new(const struct ct_side_how *how, struct ct_side_by_side **out);
void ct_side_by_side_free(struct ct_side_by_side *side);

/* Returns the array that runs are put into before ct_side_by_side_run, with room for all streams. */
struct ct_side_run *ct_side_by_side_runs(struct ct_side_by_side *side);

/* Decodes the first `count` runs of the array, behind which `behind` follows. Result: 0, CT_ERR_NOMEM, or
 * what the receiver returned; no thread is at work any more. */
int ct_side_by_side_run(struct ct_side_by_side *side, size_t count, enum ct_behind behind);

#endif
