/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/feed.h"

int ct_feed_open(struct ct_feed *f, struct ct_ctx *ctx, const struct ct_buffer *buffer)
{
    *f = (struct ct_feed){.buffer = buffer};
    return ct_chunks_open(&f->chunks, ctx, buffer->path);
}

/* The next chunk of the piece in work, or the first one of the next piece. */
static int next_chunk(struct ct_feed *f, struct ct_chain *chain)
{
    const struct ct_buffer *b = f->buffer;
    f->done = 0;
    int rc = b->pieces && !f->next_piece ? CT_OK : ct_chunks_next(&f->chunks, &f->size);
    while (!rc && !f->size && b->pieces && f->next_piece < b->piece_count) {
        const struct ct_piece *piece = &b->pieces[f->next_piece++];
        rc = ct_chunks_seek(&f->chunks, piece->offset, piece->size);
        if (!rc)
            rc = ct_chain_begin_piece(chain, piece);
        if (!rc)
            rc = ct_chunks_next(&f->chunks, &f->size);
    }
    f->ended = !f->size;
    return rc;
}

int ct_feed_push(struct ct_feed *f, struct ct_chain *chain, size_t most, size_t *pushed)
{
    *pushed = 0;
    if (f->done == f->size) {
        int rc = next_chunk(f, chain);
        if (rc || f->ended)
            return rc;
    }
    size_t left = f->size - f->done;
    size_t n = left < most ? left : most;
    int rc = ct_chain_push(chain, f->chunks.data + f->done, n);
    f->done += n;
    *pushed = n;
    return rc;
}

void ct_feed_close(struct ct_feed *f)
{
    if (f->chunks.data)
        ct_chunks_close(&f->chunks);
}
