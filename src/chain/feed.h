/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the bytes of a buffer and pushes them into a chain: the whole file, or piece by piece. */
#pragma once

#include <stdbool.h>

#include "chain/chunks.h"
#include "coretap/decode.h"

struct ct_feed {
    struct ct_chunks chunks;
    const struct ct_buffer *buffer;
    uint64_t begin;                 /* offset of the first byte to read; 0 for the beginning */
    size_t piece_count, next_piece; /* piece_count is 0 when the whole file is read */
    size_t size, done;              /* size of the chunk in memory, and how much of it was pushed */
    bool in_piece, ended;
};

/* Opens the buffer's file and skips the bytes before offset `begin`. The buffer must outlive the feed.
 * CT_ERR_IO, CT_ERR_NOMEM. */
int ct_feed_open(struct ct_feed *feed, struct ct_ctx *ctx, const struct ct_buffer *buffer, uint64_t begin);

/* Returns the number of the piece that contains the byte at an offset, or of the next one. The pieces must be
 * in file order. */
size_t ct_feed_piece_at(const struct ct_buffer *buffer, uint64_t offset);

/* Pushes at most `most` bytes into the chain, and announces where pieces begin; *pushed receives the number
 * of bytes. At the end it pushes none and sets feed->ended. The caller finishes the chain. */
int ct_feed_push(struct ct_feed *feed, struct ct_chain *chain, size_t most, size_t *pushed);

void ct_feed_close(struct ct_feed *feed);
