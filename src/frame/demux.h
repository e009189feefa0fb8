/* Inside of the demultiplexer. */
#ifndef CT_FRAME_DEMUX_H
#define CT_FRAME_DEMUX_H

#include "base/ctx.h"
#include "coretap/frame.h"

#define CT_FRAME_SIZE   16u
#define CT_FRAME_DATA   15u         /* data bytes of a frame without an ID byte */
#define CT_FSYNC        0x7fffffffu /* little-endian: ff ff ff 7f */
#define CT_ID_COUNT     0x70u       /* IDs from here on are no trace sources */
#define CT_ID_NONE      0x80u       /* no ID yet: where these bytes belong is not known */
#define CT_ID_ALL       0x81u
#define CT_BLOCK_SIZE   512u /* DSTREAM: a block with its footer */
#define CT_BLOCK_FOOTER 8u
#define CT_BLOCK_DATA   (CT_BLOCK_SIZE - CT_BLOCK_FOOTER)

/* Bytes of one ID and where they came from: a queue in one piece of memory. */
struct ct_stream {
    uint8_t *data;
    size_t begin, end, cap;
    uint64_t pos; /* stream position of data[begin] */
    struct ct_span *spans;
    size_t span_begin, span_end, span_cap;
    uint64_t next;   /* offset with which the last span goes on */
    uint32_t stride; /* of the last span */
    uint8_t dropped; /* bytes are only counted */
};

struct ct_demux {
    struct ct_ctx *ctx;
    uint8_t framing;
    uint8_t no_fsync_reset;
    uint8_t plain;  /* the reference only, no fast path: for tests */
    uint8_t failed; /* there was no memory */
    uint8_t synced; /* TPIU: an FSYNC was seen */
    uint8_t id;     /* current one, or CT_ID_NONE */
    uint32_t fsync_run;
    uint32_t window;     /* TPIU before the first FSYNC: the last four bytes */
    uint32_t block_fill; /* DSTREAM: bytes of the current block taken */
    uint64_t offset;     /* in the capture, of the next byte */
    /* The frame that is being put together. A whole one waits here while its last bytes could
     * still be the beginning of an FSYNC, which is at most three bytes more. */
    uint8_t frame[CT_FRAME_SIZE + 4];
    uint64_t frame_at[CT_FRAME_SIZE + 4]; /* offset of each byte: HSYNC makes holes */
    uint32_t frame_fill;
    size_t mark_count;
    struct ct_frame_mark mark;
    struct ct_frame_stats stats; /* what is counted per ID enters at the end of each push */
    uint64_t counts[CT_ID_ALL];  /* data bytes */
    struct ct_stream streams[CT_ID_ALL];
};

/* ---- stream.c ---- */

/* Stores may go this far past the bytes that are counted. */
#define CT_STREAM_WIDE 16u

/* Slow ways of the two functions below. */
int ct_stream_grow(struct ct_stream *stream, size_t size);
int ct_stream_new_span(struct ct_stream *stream, uint64_t offset, uint32_t stride);

/* Room for `size` more bytes; 0 without memory. */
static inline int ct_stream_reserve(struct ct_stream *stream, size_t size)
{
    return stream->cap - stream->end >= size + CT_STREAM_WIDE || ct_stream_grow(stream, size);
}

/* The bytes that are appended next come from `offset` on, with this stride, and those after them would come from
 * `next` on. Continues the last span if that says the same. 0 without memory. */
static inline int ct_stream_map(struct ct_stream *stream, uint64_t offset, uint32_t stride, uint64_t next)
{
    int same = offset == stream->next && stride == stream->stride && stream->span_end > stream->span_begin;
    stream->next = next;
    stream->stride = stride;
    return same || ct_stream_new_span(stream, offset, stride);
}

void ct_stream_consume(struct ct_stream *stream, size_t count);
void ct_stream_free(struct ct_stream *stream);

/* ---- frame.c ---- */

/* Takes apart one frame. `at`: the offset of each of its bytes. The plain reference. */
void ct_frame_plain(struct ct_demux *demux, const uint8_t *frame, const uint64_t *at);

/* The bytes from `offset` on could not be used: a mark, counted, and the ID is not known any more. */
void ct_frame_trouble(struct ct_demux *demux, enum ct_frame_trouble kind, uint64_t offset, uint64_t lost);

/* FSYNC words were met, `count` in a row; the last one ends at `offset`. Makes the reset mark at the fourth. */
void ct_frame_fsync(struct ct_demux *demux, uint32_t count);

/* ---- fast.c ---- */

/* Takes apart one frame whose bytes lie side by side from `offset` on. */
void ct_frame_take(struct ct_demux *demux, const uint8_t *frame, uint64_t offset);

/* Takes up to `count` frames that lie side by side from `offset` on, as long as they have no ID byte: their
 * number. */
size_t ct_frame_take_pure(struct ct_demux *demux, const uint8_t *frames, size_t count, uint64_t offset);

/* ---- the framings: each takes bytes until there is a mark; result: bytes taken ---- */

size_t ct_aligned_push(struct ct_demux *demux, const uint8_t *data, size_t size);
size_t ct_tpiu_push(struct ct_demux *demux, const uint8_t *data, size_t size);
/* Nothing follows: a whole frame that waited is one. */
void ct_tpiu_finish(struct ct_demux *demux);
size_t ct_dstream_push(struct ct_demux *demux, const uint8_t *data, size_t size);

#endif
