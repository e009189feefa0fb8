/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a buffer on their way into a chain: its file from end to end, or piece by piece. */
#ifndef CT_CHAIN_FEED_H
#define CT_CHAIN_FEED_H

#include <stdbool.h>

#include "chain/chunks.h"
#include "coretap/decode.h"

struct ct_feed {
    struct ct_chunks chunks;
    const struct ct_buffer *buffer;
    uint64_t begin;                 /* offset of the first byte that is read; 0: the first one of all */
    size_t piece_count, next_piece; /* none: the file from end to end */
    size_t size, done;              /* of the chunk in work */
    bool in_piece, ended;
};

/* Opens the file; bytes before the offset `begin` are left out. CT_ERR_IO, CT_ERR_NOMEM. The buffer must
 * stay. */
int ct_feed_open(struct ct_feed *feed, struct ct_ctx *ctx, const struct ct_buffer *buffer, uint64_t begin);

/* Returns the number of the piece that has the byte at an offset, or of the next one. The pieces must lie one
 * behind the other. */
size_t ct_feed_piece_at(const struct ct_buffer *buffer, uint64_t offset);

/* Pushes at most `most` bytes into the chain, and tells it where a piece begins; *pushed is how many. At the
 * end none are pushed and feed->ended is set; finishing the chain is the caller's. */
int ct_feed_push(struct ct_feed *feed, struct ct_chain *chain, size_t most, size_t *pushed);

void ct_feed_close(struct ct_feed *feed);

#endif
