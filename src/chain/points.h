/* SPDX-License-Identifier: Apache-2.0 */
/* A chain at synchronisation points: it tells where they are and what state it is in there, and it may begin
 * at one. */
#ifndef CT_CHAIN_POINTS_H
#define CT_CHAIN_POINTS_H

#include "coretap/decode.h"

struct ct_chain_point {
    uint64_t offset; /* of its first byte in the capture */
    uint64_t state;  /* a sum over the state of decoder and resolver: of equal states it is equal */
};

struct ct_chain_points {
    void *user;
    uint64_t apart; /* bytes of a stream between two points at least */
    /* Called when all before a point was decoded and given. A result other than 0 ends the chain, which
     * returns it. Points that two calls of ct_chain_push share are left out. */
    int (*reach)(void *user, const struct ct_stream *stream, const struct ct_chain_point *point);
};

/* Has points told of all streams of a protocol that knows them (not owned). Before the first byte, and not
 * with threads. */
void ct_chain_tell_points(struct ct_chain *chain, const struct ct_chain_points *points);

/* Says that the first bytes are not those that the trace begins with: what comes before the first
 * synchronisation point of each stream is left out, and is not lost. ct_chain_run reads from the offset
 * `begin` on. Before the first byte; the framing must be known. */
void ct_chain_begin_inside(struct ct_chain *chain, uint64_t begin);

/* Returns the last offset in a capture with frames, up to `offset`, that is a multiple of `align` bytes of
 * the file; of DSTREAM, where a block begins there or before. */
uint64_t ct_chain_align(enum ct_framing framing, uint64_t offset, uint64_t align);

#endif
