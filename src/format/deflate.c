/* SPDX-License-Identifier: Apache-2.0 */
#include "format/deflate.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/ctx.h"

#define WINDOW_BITS 15 /* the largest window */
#define WRAP_GZIP   16 /* added to the bits, selects a gzip header in zlib */
#define MEM_LEVEL   8  /* zlib's default */
#define PIECE       16384u

struct ct_deflate {
    z_stream stream;
};

int ct_deflate_new(struct ct_ctx *ctx, enum ct_deflate_wrap wrap, struct ct_deflate **out)
{
    struct ct_deflate *deflate = calloc(1, sizeof *deflate);
    const bool is_file = wrap == CT_DEFLATE_GZIP;
    const int bits = WINDOW_BITS + (is_file ? WRAP_GZIP : 0);
    const int level = is_file ? Z_DEFAULT_COMPRESSION : Z_BEST_SPEED;
    if (!deflate ||
        deflateInit2(&deflate->stream, level, Z_DEFLATED, bits, MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(deflate);
        return ct_fail_nomem(ctx, "compression");
    }
    *out = deflate;
    return CT_OK;
}

void ct_deflate_free(struct ct_deflate *deflate)
{
    if (deflate)
        deflateEnd(&deflate->stream);
    free(deflate);
}

/* Compresses the pending input until zlib needs more, or until everything is written. */
static void drain(z_stream *stream, int flush, struct ct_grown *to)
{
    do {
        uint8_t *room = ct_grown_add(to, PIECE);
        if (!room)
            return;
        stream->next_out = room;
        stream->avail_out = PIECE;
        (void)deflate(stream, flush); /* cannot fail: there is room, and the stream is valid */
        to->size -= stream->avail_out;
    } while (stream->avail_out == 0);
}

void ct_deflate_run(struct ct_deflate *deflate, const void *bytes, size_t size, bool last,
                    struct ct_grown *to)
{
    z_stream *stream = &deflate->stream;
    const uint8_t *next = bytes;
    do {
        const size_t part = size < UINT_MAX ? size : UINT_MAX;
        stream->next_in = (uint8_t *)(uintptr_t)next; /* zlib only reads it */
        stream->avail_in = (uInt)part;
        next += part;
        size -= part;
        drain(stream, last && !size ? Z_FINISH : Z_NO_FLUSH, to);
    } while (size);
    if (last)
        deflateReset(stream);
}
