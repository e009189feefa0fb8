/* Frames that lie side by side, quickly: one body for every processor. A file that includes this has defined
 *   vec                  the 16 bytes of a frame
 *   vec_load, vec_store  from and to anywhere
 *   vec_four_ids         one bit for each of four frames that has an ID byte
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

/* Frames that are looked at together; the room that they may take in a stream, with a wide store behind it. */
#define ROW       64u
#define ROW_BYTES (ROW * CT_FRAME_DATA + 4 * CT_STREAM_WIDE)
#define ROW_SPANS (ROW * CT_FRAME_SIZE) /* each ID byte makes two */

/* Frames without an ID byte that are copied at once, few or many. */
#define FEW 3u

/* The last byte of a TPIU frame may begin an FSYNC; three bytes more are there to tell. */
static inline int cut_by_fsync(const struct ct_demux *demux, const uint8_t *frame)
{
    return frame[15] == 0xff && demux->framing != CT_FRAMING_FRAMES && ct_load32(frame + 15) == CT_FSYNC;
}

/* Room for a row in the stream of `id`; what is dropped goes to the sink. False without memory. */
static inline int open_cursor(struct ct_demux *demux, unsigned id)
{
    struct ct_cursor *c = &demux->cursors[id];
    struct ct_stream *stream = demux->streams[id].dropped ? &demux->sink : &demux->streams[id];
    if (c->to)
        return 1;
    if (!ct_stream_make_room(stream, demux, ROW_BYTES, ROW_SPANS)) {
        demux->failed = 1;
        return 0;
    }
    c->to = c->begin = stream->data + stream->end;
    c->span = stream->spans + stream->span_end;
    c->base = stream->pos + (stream->end - stream->begin) - (uintptr_t)c->to;
    demux->open[demux->open_count++] = (uint8_t)id;
    return 1;
}

/* The streams have what the cursors wrote. */
static inline void close_cursors(struct ct_demux *demux)
{
    for (unsigned i = 0; i < demux->open_count; i++) {
        const unsigned id = demux->open[i];
        struct ct_cursor *c = &demux->cursors[id];
        struct ct_stream *stream = &demux->streams[id];
        demux->counts[id] += (size_t)(c->to - c->begin);
        if (!stream->dropped) {
            stream->end = (size_t)(c->to - stream->data);
            stream->span_end = (size_t)(c->span - stream->spans);
            stream->next = UINT64_MAX;
        }
        c->to = NULL;
    }
    demux->open_count = 0;
}

/* Frames without an ID byte, where `there` are that may be read. Result: behind their bytes. */
static inline uint8_t *copy_pure(uint8_t *to, const uint8_t *frame, size_t count, size_t there)
{
    size_t n = 0;
    if (there >= FEW) { /* without a branch on how many there are */
        for (; n < FEW; n++)
            vec_store(to + n * CT_FRAME_DATA, vec_restore(vec_load(frame + n * CT_FRAME_SIZE)));
    }
    for (; n < count; n++)
        vec_store(to + n * CT_FRAME_DATA, vec_restore(vec_load(frame + n * CT_FRAME_SIZE)));
    return to + count * CT_FRAME_DATA;
}

/* A frame with ID bytes, at `offset`, whose first bytes are of `id`. Result: the ID behind it; CT_ID_NONE without memory. */
static inline unsigned take_ids(struct ct_demux *demux, unsigned id, struct ct_cursor *c,
                                const uint8_t *frame, uint64_t ids, vec data, uint64_t offset)
{
    uint8_t *to = c->to;
    struct ct_span *span = c->span;
    uint64_t base = c->base;
    unsigned start = 0;
    do {
        const unsigned at = (unsigned)__builtin_ctzll(ids) >> VEC_ID_SHIFT;
        const unsigned late = frame[15] >> (at / 2) & 1u & (at < 14);
        vec_store(to, start ? vec_skip(data, start) : data);
        to += at - start;
        /* The byte behind the ID byte may be of the ID before it. */
        *to = frame[at + 1];
        *span = (struct ct_span){.pos = base + (uintptr_t)to, .offset = offset + at + 1};
        demux->cursors[id].to = to + late;
        demux->cursors[id].span = span + late;
        start = at + 1 + late;
        id = frame[at] >> 1;
        if (!demux->cursors[id].to && !open_cursor(demux, id))
            return CT_ID_NONE;
        to = demux->cursors[id].to;
        span = demux->cursors[id].span;
        base = demux->cursors[id].base;
        *span++ = (struct ct_span){
            .pos = base + (uintptr_t)to, .offset = offset, .stride = CT_FRAME_DATA, .phase = start};
        ids &= ids - 1;
    } while (ids);
    vec_store(to, vec_skip(data, start));
    *c = (struct ct_cursor){.to = to + CT_FRAME_DATA - start, .span = span, .base = base};
    return id;
}

/* The frames of a row that have ID bytes, as bits; *count is cut before one that has to be looked at. */
static inline uint64_t find_ids(const struct ct_demux *demux, const uint8_t *frame, size_t *count)
{
    uint64_t with = 0;
    size_t n = 0;
    for (; demux->framing != CT_FRAMING_FRAMES && n < *count; n++)
        if (cut_by_fsync(demux, frame + n * CT_FRAME_SIZE))
            *count = n;
    for (n = 0; n + 4 <= *count; n += 4)
        with |= vec_four_ids(frame + n * CT_FRAME_SIZE) << n;
    for (; n < *count; n++)
        with |= (uint64_t)(vec_ids(vec_load(frame + n * CT_FRAME_SIZE)) != 0) << n;
    return with;
}

/* Struct ct_frame_ops: mixed. */
static size_t take_mixed(struct ct_demux *demux, const uint8_t *frames, size_t count, uint64_t offset)
{
    unsigned id = demux->id;
    size_t row = count < ROW ? count : ROW;
    size_t n = 0;
    uint64_t with = find_ids(demux, frames, &row);
    struct ct_stream *stream = &demux->streams[id];
    if (!with)
        return 0;
    if ((!stream->dropped && !ct_stream_map(stream, offset, CT_FRAME_DATA, offset)) ||
        !open_cursor(demux, id)) {
        demux->failed = 1;
        return 0;
    }
    struct ct_cursor c = demux->cursors[id];
    for (; with; with &= with - 1) {
        const size_t at = (size_t)__builtin_ctzll(with);
        c.to = copy_pure(c.to, frames + n * CT_FRAME_SIZE, at - n, row - n);
        n = at;
        const uint8_t *frame = frames + n * CT_FRAME_SIZE;
        const vec v = vec_load(frame);
        if (vec_has_ff(v))
            break;
        id = take_ids(demux, id, &c, frame, vec_ids(v), vec_restore(v), offset + n * CT_FRAME_SIZE);
        if (demux->failed)
            break;
        n++;
    }
    if (!with) {
        c.to = copy_pure(c.to, frames + n * CT_FRAME_SIZE, row - n, row - n);
        n = row;
    }
    demux->cursors[id].to = c.to;
    demux->cursors[id].span = c.span;
    close_cursors(demux);
    demux->streams[id].stride = CT_FRAME_DATA;
    demux->streams[id].next = offset + n * CT_FRAME_SIZE;
    demux->id = (uint8_t)id;
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
