/* Frames that lie side by side, quickly: one body for every processor. A file that includes this has defined
 *   vec                  the 16 bytes of a frame
 *   vec_load, vec_store  from and to anywhere
 *   vec_ids              one bit for each pair that begins with an ID byte, the first pair lowest …
 *   VEC_ID_SHIFT         … bit number >> this is the place of the ID byte in the frame
 *   vec_has_ff           whether an even byte is ff: ID 0x7f, a synchronisation word or somebody else's business
 *   vec_restore          with bit 0 of the even bytes in its place; ID bytes are of no use any more
 *   vec_skip             without the first n bytes, n from 0 to 15
 * and makes its `struct ct_frame_ops` of the two functions at the end. frame.c says the same in a plain way. */
#ifndef CT_FRAME_KERNEL_H
#define CT_FRAME_KERNEL_H

#include "base/bytes.h"
#include "frame/demux.h"

/* Frames without an ID byte in a row after which the other loop is the quicker one. */
#define PURE_ROW 8u

/* Bytes that two frames may add to a stream, and a wide store behind them; spans: each ID byte makes three at most. */
#define FRAME_ROOM  (2u * CT_FRAME_SIZE + CT_STREAM_WIDE)
#define FRAME_SPANS 48u

/* The last byte of a TPIU frame may begin an FSYNC; three bytes more are there to tell. */
static inline int cut_by_fsync(const struct ct_demux *demux, const uint8_t *frame)
{
    return frame[15] == 0xff && demux->framing != CT_FRAMING_FRAMES && ct_load32(frame + 15) == CT_FSYNC;
}

/* The end of the stream that bytes go to, in registers. */
struct cursor {
    struct ct_stream *stream; /* that of `id`, or the sink */
    uint8_t *data;
    struct ct_span *spans;
    size_t end, span_end;
    size_t begin;  /* `end` as it was, for what is counted */
    uint64_t base; /* stream position of data[0] */
    unsigned id;
    unsigned row; /* pure frames since the last ID byte: the last span has their stride and goes on */
};

static inline int is_full(const struct cursor *c)
{
    const struct ct_stream *stream = c->stream;
    return (stream->cap - c->end < FRAME_ROOM) | (stream->span_cap - c->span_end < FRAME_SPANS);
}

static inline void put_back(struct ct_demux *demux, const struct cursor *c)
{
    c->stream->end = c->end;
    c->stream->span_end = c->span_end;
    demux->counts[c->id] += c->end - c->begin;
}

static inline void take_up(struct ct_demux *demux, struct cursor *c, unsigned id)
{
    c->id = id;
    c->stream = demux->streams[id].dropped ? &demux->sink : &demux->streams[id];
    c->end = c->stream->end;
    c->span_end = c->stream->span_end;
    if (is_full(c) && !ct_stream_make_room(c->stream, demux, FRAME_ROOM, FRAME_SPANS))
        demux->failed = 1;
    c->end = c->begin = c->stream->end;
    c->span_end = c->stream->span_end;
    c->data = c->stream->data;
    c->spans = c->stream->spans;
    c->base = c->stream->pos - c->stream->begin;
}

static inline void put_span(struct cursor *c, uint64_t offset, uint32_t stride, unsigned wanted)
{
    c->spans[c->span_end] = (struct ct_span){.pos = c->base + c->end, .offset = offset, .stride = stride};
    c->span_end += wanted;
}

/* Whole frames; those behind the first of a row need no span. */
static inline void take_whole(struct ct_demux *demux, struct cursor *c, vec v, uint64_t offset)
{
    if (is_full(c)) {
        put_back(demux, c);
        take_up(demux, c, c->id);
        if (demux->failed)
            return;
    }
    vec_store(c->data + c->end, vec_restore(v));
    put_span(c, offset, CT_FRAME_DATA, c->row == 0);
    c->end += CT_FRAME_DATA;
    c->row++;
}

/* An ID byte at `at`; the bytes from `start` up to there are of the ID before it, and if the bit says so the byte behind
 * it. Result: where the bytes of the new ID begin, which may be behind the frame. */
static inline unsigned take_id(struct ct_demux *demux, struct cursor *c, const uint8_t *frame, vec data,
                               unsigned start, unsigned at, uint64_t offset)
{
    unsigned late = (frame[15] >> (at / 2) & 1u) & (at < 14);
    vec_store(c->data + c->end, vec_skip(data, start));
    put_span(c, offset + start, 0, (at > start) & (c->row == 0));
    c->end += at - start;
    c->data[c->end] = frame[at + 1];
    put_span(c, offset + at + 1, 0, late);
    c->end += late;
    c->row = 0;
    unsigned id = frame[at] >> 1;
    if (id != c->id || is_full(c)) {
        put_back(demux, c);
        take_up(demux, c, id);
    }
    return at + 1 + late;
}

/* A frame with ID bytes. Almost always it is one. */
static inline void take_ids(struct ct_demux *demux, struct cursor *c, const uint8_t *frame, vec v,
                            uint64_t ids, uint64_t offset)
{
    vec data = vec_restore(v);
    unsigned start = 0;
    do {
        start = take_id(demux, c, frame, data, start, (unsigned)__builtin_ctzll(ids) >> VEC_ID_SHIFT, offset);
        ids &= ids - 1;
        if (demux->failed)
            return;
    } while (ids);
    vec_store(c->data + c->end, vec_skip(data, start));
    put_span(c, offset + start, 0, start < CT_FRAME_DATA);
    c->end += CT_FRAME_DATA - start;
}

/* Struct ct_frame_ops: mixed. */
static size_t take_mixed(struct ct_demux *demux, const uint8_t *frame, size_t count, uint64_t offset)
{
    struct cursor c = {0};
    size_t n = 0;
    take_up(demux, &c, demux->id);
    for (; n < count && !demux->failed && c.row < PURE_ROW; n++) {
        vec v = vec_load(frame);
        uint64_t ids = vec_ids(v);
        if ((ids && vec_has_ff(v)) || cut_by_fsync(demux, frame))
            break;
        if (ids)
            take_ids(demux, &c, frame, v, ids, offset);
        else
            take_whole(demux, &c, v, offset);
        frame += CT_FRAME_SIZE;
        offset += CT_FRAME_SIZE;
    }
    put_back(demux, &c);
    c.stream->stride = c.row ? CT_FRAME_DATA : 0;
    c.stream->next = c.row ? offset : UINT64_MAX; /* a frame with an ID byte is over: a new span */
    demux->id = (uint8_t)c.id;
    demux->stats.frames += n;
    return n;
}

/* Struct ct_frame_ops: pure. */
static size_t take_pure(const struct ct_demux *demux, const uint8_t *frame, size_t count, uint8_t *to)
{
    size_t n = 0;
    for (; n < count; n++, frame += CT_FRAME_SIZE) {
        vec v = vec_load(frame);
        if (vec_ids(v) || cut_by_fsync(demux, frame))
            break;
        if (to) {
            vec_store(to, vec_restore(v));
            to += CT_FRAME_DATA;
        }
    }
    return n;
}

#endif
