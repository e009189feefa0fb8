/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the demultiplexer, for its framings and frame kernels. */
#pragma once

#include "base/ctx.h"
#include "coretap/frame.h"
#include "frame/row.h"

#define CT_FSYNC        0x7fffffffu /* little-endian: ff ff ff 7f */
#define CT_ID_COUNT     0x70u       /* IDs from here on do not belong to trace sources */
#define CT_ID_NONE      0x80u       /* no ID yet: the source of the bytes is unknown */
#define CT_ID_ALL       0x81u
#define CT_BLOCK_SIZE   512u /* DSTREAM: a block with its footer */
#define CT_BLOCK_FOOTER 8u
#define CT_BLOCK_DATA   (CT_BLOCK_SIZE - CT_BLOCK_FOOTER)

/* The bytes of one ID and their offsets, as a contiguous queue. */
struct ct_demux_stream {
    uint8_t *data;
    size_t begin, end, cap;
    uint64_t pos; /* stream position of data[begin] */
    struct ct_span *spans;
    size_t span_begin, span_end, span_cap;
    uint64_t next;   /* the offset that would continue the last span */
    uint32_t stride; /* of the last span */
    uint8_t dropped; /* bytes are only counted */
};

struct ct_demux;

/* Functions for rows of frames, chosen by processor features (fast.c). */
struct ct_frame_ops {
    const char *name; /* name for messages */
    /* Handles frames as long as they have no ID byte, at most `count`, and copies their data to `to`, unless
     * that is NULL. `to` has room for that and CT_STREAM_WIDE more bytes. Returns the number of frames. */
    size_t (*pure)(const struct ct_demux *demux, const uint8_t *frames, size_t count, uint8_t *to);
    /* Handles `count` frames, at most CT_FRAME_ROW, if one of them has an ID byte. Returns the number of
     * frames: 0 when none has one, fewer before a frame with ID 0x7f, which may be a synchronisation word,
     * and when out of memory. */
    size_t (*mixed)(struct ct_demux *demux, const uint8_t *frames, size_t count, uint64_t offset);
};

#if defined __x86_64__ && defined __GNUC__
#define CT_FRAME_AVX2
#define CT_FRAME_AVX512
extern const struct ct_frame_ops ct_frame_ops_avx2, ct_frame_ops_avx512;
#elif defined __aarch64__ && defined __ARM_NEON && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CT_FRAME_NEON
extern const struct ct_frame_ops ct_frame_ops_neon;
#endif
/* Returns the functions that this processor can run, the best ones first; NULL after the last. */
const struct ct_frame_ops *ct_frame_ops_at(unsigned i);

struct ct_demux {
    struct ct_ctx *ctx;
    const struct ct_frame_ops *ops; /* NULL: only the plain reference, for tests */
    uint8_t framing;
    uint8_t no_fsync_reset;
    uint8_t failed; /* memory ran out */
    uint8_t synced; /* TPIU: an FSYNC was seen */
    uint8_t inside; /* TPIU: bytes before the first FSYNC are skipped, not lost */
    uint8_t id;     /* the current ID, or CT_ID_NONE */
    uint32_t fsync_run;
    uint32_t window;     /* TPIU before the first FSYNC: the last four bytes */
    uint32_t block_fill; /* DSTREAM: bytes of the current block handled so far */
    uint64_t offset;     /* offset of the next byte in the capture */
    uint64_t start;      /* offset of the first byte since the last ct_demux_restart */
    /* The current frame. A complete one waits here while its last bytes may be the beginning of an FSYNC,
     * which takes at most three more bytes. */
    uint8_t frame[CT_FRAME_SIZE + 4];
    uint64_t frame_at[CT_FRAME_SIZE + 4]; /* offset of each byte; an HSYNC leaves gaps */
    uint32_t frame_fill;
    size_t mark_count;
    struct ct_frame_mark mark;
    struct ct_frame_stats stats; /* counts by ID are added at the end of each push */
    uint64_t counts[CT_ID_ALL];  /* data bytes by ID */
    struct ct_demux_stream streams[CT_ID_ALL];
    struct ct_frame_row row; /* the current row of the mixed kernel */
    struct ct_frame_list list;
};

/* ---- stream.c ---- */

/* Make room for the inline functions below. Returns 0 when out of memory. */
int ct_stream_grow(struct ct_demux_stream *stream, size_t size);
int ct_stream_new_span(struct ct_demux_stream *stream, uint64_t offset, uint32_t stride);

/* Makes room for more bytes and spans. Returns 0 when out of memory. */
int ct_stream_make_room(struct ct_demux_stream *stream, size_t size, size_t spans);

/* Makes room for `size` more bytes. Returns 0 when out of memory. */
static inline int ct_stream_reserve(struct ct_demux_stream *stream, size_t size)
{
    return stream->cap - stream->end >= size + CT_STREAM_WIDE || ct_stream_grow(stream, size);
}

/* Adds a span: the next bytes come from `offset` on, with this stride, and those after them would come from
 * `next` on. Continues the last span if it is equal. Returns 0 when out of memory. */
static inline int ct_stream_map(struct ct_demux_stream *stream, uint64_t offset, uint32_t stride,
                                uint64_t next)
{
    int same = offset == stream->next && stride == stream->stride && stream->span_end > stream->span_begin;
    stream->next = next;
    stream->stride = stride;
    return same || ct_stream_new_span(stream, offset, stride);
}

void ct_stream_consume(struct ct_demux_stream *stream, size_t count);
void ct_stream_free(struct ct_demux_stream *stream);

/* ---- frame.c ---- */

/* Splits a frame; `at` is the offset of each of its bytes. This is the plain reference. */
void ct_frame_plain(struct ct_demux *demux, const uint8_t *frame, const uint64_t *at);

/* Records and counts that the bytes from `offset` on could not be used, and resets the ID. */
void ct_frame_trouble(struct ct_demux *demux, enum ct_frame_trouble kind, uint64_t offset, uint64_t lost);

/* Handles `count` FSYNC words in a row, the last of which ends at `offset`. The fourth makes the reset
 * mark. */
void ct_frame_fsync(struct ct_demux *demux, uint32_t count);

/* ---- fast.c ---- */

/* Splits a frame whose bytes are contiguous from `offset` on. */
void ct_frame_take(struct ct_demux *demux, const uint8_t *frame, uint64_t offset);

/* Handles contiguous frames from `offset` on, at most CT_FRAME_ROW. Returns their number, which is less than
 * `count` before one that may contain synchronisation words. In a TPIU stream it also reads three bytes after
 * the last frame. */
size_t ct_frame_take_row(struct ct_demux *demux, const uint8_t *frames, size_t count, uint64_t offset);

/* ---- the framings: each handles bytes until there is a mark, and returns their number ---- */

size_t ct_aligned_push(struct ct_demux *demux, const uint8_t *data, size_t size);
size_t ct_tpiu_push(struct ct_demux *demux, const uint8_t *data, size_t size);
/* Ends a TPIU stream: a complete frame that waited is handled. */
void ct_tpiu_finish(struct ct_demux *demux);
