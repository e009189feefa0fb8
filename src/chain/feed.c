/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/feed.h"

#include "base/search.h"

int ct_feed_open(struct ct_feed *f, struct ct_ctx *ctx, const struct ct_buffer *buffer, uint64_t begin)
{
    *f = (struct ct_feed){.buffer = buffer, .begin = begin, .piece_count = buffer->piece_count};
    if (buffer->pieces)
        f->next_piece = ct_feed_piece_at(buffer, begin);
    else if (begin)
        f->piece_count = 1;
    return ct_chunks_open(&f->chunks, ctx, buffer->path);
}

size_t ct_feed_piece_at(const struct ct_buffer *buffer, uint64_t offset)
{
    const struct ct_piece *pieces = buffer->pieces;
    return CT_COUNT_WHILE(buffer->piece_count, i, pieces[i].offset + pieces[i].size <= offset);
}

/* Returns a piece; the first one is cut to the part to be read. A file without pieces is one piece. */
static struct ct_piece get_piece(const struct ct_feed *f, size_t number)
{
    struct ct_piece piece =
        f->buffer->pieces
            ? f->buffer->pieces[number]
            : (struct ct_piece){
                  .offset = f->begin, .size = INT64_MAX, .time = CT_NO_TIME, .tid = CT_NO_THREAD};
    if (f->begin > piece.offset) {
        piece.size -= f->begin - piece.offset;
        piece.offset = f->begin;
        piece.joins = 0;
    }
    return piece;
}

/* Reads the next chunk of the current piece, or the first one of the next piece. */
static int next_chunk(struct ct_feed *f, struct ct_chain *chain)
{
    f->done = 0;
    int rc = f->piece_count && !f->in_piece ? CT_OK : ct_chunks_next(&f->chunks, &f->size);
    while (!rc && !f->size && f->next_piece < f->piece_count) {
        const struct ct_piece piece = get_piece(f, f->next_piece++);
        f->in_piece = true;
        rc = ct_chunks_seek(&f->chunks, piece.offset, f->buffer->pieces ? piece.size : UINT64_MAX)
             ?: ct_chain_begin_piece(chain, &piece)
             ?: ct_chunks_next(&f->chunks, &f->size);
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
    ct_chunks_close(&f->chunks);
}
