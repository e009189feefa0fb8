/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes a shard of a buffer: for each stream the trace from one synchronisation point to another. Shards
 * are decoded independently. When the state at the end of one equals that at the beginning of the next, the
 * sum of their counts equals that of decoding without a cut, as with threads (threads/parallel.h). */
#pragma once

#include <stdbool.h>

#include "base/seam.h"
#include "coretap/decode.h"

/* Result of ct_chain_run and ct_chain_push when all streams have ended. */
#define CT_CHAIN_OVER 0x6f766572

/* A shard, given by cuts, which are offsets in the capture. A stream is cut at its first synchronisation
 * point after a cut, if one is near; else it continues to the next cut. */
struct ct_chain_shard {
    uint64_t warm_up;    /* where reading starts, at most `begin` */
    uint64_t begin, end; /* its first and last cut. 0: start of the trace; UINT64_MAX: its end */
    uint64_t step;       /* distance between cuts */
    uint64_t near;       /* maximal distance of a point after its cut */
    void *user;
    /* Called when a stream reaches its first point, and then its last one (`is_end`), with the offset of the
     * point and the state there. A result other than 0 ends the chain and becomes its result. */
    int (*reach)(void *user, const struct ct_stream *stream, bool is_end, uint64_t offset,
                 const struct ct_seam *seam);
};

/* Returns true when the streams of a buffer can be cut at synchronisation points. */
bool ct_chain_can_shard(const struct ct_buffer *buffer);

/* Makes a chain of level PACKET or more decode a shard (not owned), with one thread. Statistics and edges are
 * those of the shard only. To be called before the first byte. */
void ct_chain_begin_shard(struct ct_chain *chain, const struct ct_chain_shard *shard);
