/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes a shard of a buffer: of each stream what lies from one synchronisation point to another. Shards are
 * decoded apart from each other. Where the state at the end of one is that at the beginning of the next, what
 * both counted adds up to what decoding without a cut counts, as with threads (threads/parallel.h). */
#ifndef CT_CHAIN_SHARD_H
#define CT_CHAIN_SHARD_H

#include <stdbool.h>

#include "base/seam.h"
#include "coretap/decode.h"

/* What ct_chain_run and ct_chain_push return when all streams are over. */
#define CT_CHAIN_OVER 0x6f766572

/* Cuts are places of a buffer, as offsets in the capture. A stream is cut at its first synchronisation point
 * from there on, if one is near: else it goes on to the next cut. */
struct ct_chain_shard {
    uint64_t warm_up;    /* from where trace is read, at most `begin` */
    uint64_t begin, end; /* the cuts at which it begins and ends. 0: with the trace; UINT64_MAX: the same */
    uint64_t step;       /* from each cut to the next one */
    uint64_t near;       /* so many bytes behind a cut a point may be */
    void *user;
    /* Called when a stream comes to its first point, and then to its last one (`is_end`), with the offset of
     * the point and the state there. A result other than 0 ends the chain, which returns it. */
    int (*reach)(void *user, const struct ct_stream *stream, bool is_end, uint64_t offset,
                 const struct ct_seam *seam);
};

/* Returns true when the streams of a buffer can be cut at synchronisation points. */
bool ct_chain_can_shard(const struct ct_buffer *buffer);

/* Lets a chain of level PACKET or more decode a shard (not owned), with one thread. Statistics and edges are
 * those of the shard alone. To be called before the first byte. */
void ct_chain_begin_shard(struct ct_chain *chain, const struct ct_chain_shard *shard);

#endif
