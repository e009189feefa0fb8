/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the synchronisation points that a chain passes, with its state there, and lets a chain begin at one
 * of them. */
#pragma once

#include "coretap/decode.h"

struct ct_chain_point {
    uint64_t offset; /* of the point's first byte in the capture */
    uint64_t state;  /* hash of the state of decoder and resolver: equal states have equal hashes */
};

struct ct_chain_points {
    void *user;
    uint64_t apart; /* the least distance between two points of a stream, in bytes */
    /* Called when all trace before a point was decoded and delivered. A result other than 0 ends the chain
     * and becomes its result. A point that is split between two calls of ct_chain_push is skipped. */
    int (*reach)(void *user, const struct ct_stream *stream, const struct ct_chain_point *point);
};

/* Sets the receiver of points (not owned), for all streams whose protocol has a find_sync. To be called
 * before the first byte; not for chains with threads. */
void ct_chain_tell_points(struct ct_chain *chain, const struct ct_chain_points *points);

/* Begins inside of the trace: ct_chain_run reads from offset `begin` on, and skips the bytes before the first
 * synchronisation point of each stream without counting them as lost. To be called before the first byte; the
 * framing must be known. */
void ct_chain_begin_inside(struct ct_chain *chain, uint64_t begin);

/* Returns the last offset in a capture with frames, up to `offset`, that is a multiple of `align` bytes of
 * the file; for DSTREAM, the start of its block. */
uint64_t ct_chain_align(enum ct_framing framing, uint64_t offset, uint64_t align);
