/* Frames that lie side by side, quickly: eight bytes at a time, a piece of one ID by one wide copy. frame.c says the
 * same in a plain way. */
#include "frame/demux.h"

#include "base/bytes.h"

#include <string.h>

#define ID_BITS UINT64_C(0x0001000100010001)

/* Bits 3..0 of x to bits 48, 32, 16, 0: where bit 0 of every second byte is. */
static uint64_t spread(uint64_t x)
{
    return (x & 15) * UINT64_C(0x0000200040008001) & ID_BITS;
}

/* The inverse. */
static unsigned gather(uint64_t x)
{
    return (unsigned)((x & ID_BITS) * UINT64_C(0x0001000200040008) >> 48) & 15;
}

struct halves {
    uint64_t low, high;
};

static struct halves load(const uint8_t *frame)
{
    struct halves h;
    memcpy(&h.low, frame, 8);
    memcpy(&h.high, frame + 8, 8);
    h.low = ct_le64(h.low);
    h.high = ct_le64(h.high);
    return h;
}

/* With bit 0 of the even bytes in its place; ID bytes are of no use any more. */
static void store_data(uint8_t *to, struct halves h)
{
    uint64_t bits = h.high >> 56;
    uint64_t low = ct_le64(h.low | spread(bits));
    uint64_t high = ct_le64(h.high | spread(bits >> 4));
    memcpy(to, &low, 8);
    memcpy(to + 8, &high, 8);
}

size_t ct_frame_take_pure(struct ct_demux *demux, const uint8_t *frames, size_t count, uint64_t offset)
{
    struct ct_stream *stream = ct_frame_stream(demux, demux->id);
    if (stream && !ct_stream_reserve(stream, count * CT_FRAME_DATA)) {
        demux->failed = 1;
        return 0;
    }
    uint8_t *to = stream ? stream->data + stream->end : NULL;
    size_t n = 0;
    for (; n < count; n++, frames += CT_FRAME_SIZE) {
        struct halves h = load(frames);
        if ((h.low | h.high) & ID_BITS)
            break;
        if (to) {
            store_data(to, h);
            to += CT_FRAME_DATA;
        }
    }
    if (!n)
        return 0;
    if (stream && !ct_stream_map(stream, offset, CT_FRAME_DATA))
        demux->failed = 1;
    else if (stream)
        stream->end += n * CT_FRAME_DATA;
    ct_frame_count(demux, demux->id, n * CT_FRAME_DATA);
    demux->stats.frames += n;
    demux->fsync_run = 0;
    return n;
}

/* `size` bytes, at most 15, for `id`; 16 can be read. */
static void append(struct ct_demux *demux, unsigned id, const uint8_t *data, size_t size, uint64_t offset)
{
    ct_frame_count(demux, id, size);
    struct ct_stream *stream = ct_frame_stream(demux, id);
    if (!stream)
        return;
    if (!ct_stream_reserve(stream, CT_FRAME_SIZE) || !ct_stream_map(stream, offset, 0)) {
        demux->failed = 1;
        return;
    }
    memcpy(stream->data + stream->end, data, CT_FRAME_SIZE);
    stream->end += size;
}

/* A frame with an ID byte at least: from one to the next all bytes are of one ID. */
static void take_mixed(struct ct_demux *demux, const uint8_t *frame, struct halves h, uint64_t offset)
{
    uint8_t data[2 * CT_FRAME_SIZE] = {0};
    unsigned ids = gather(h.low) | gather(h.high) << 4;
    unsigned start = 0;
    store_data(data, h);
    demux->stats.frames++;
    demux->fsync_run = 0;
    for (; ids; ids &= ids - 1) {
        unsigned pair = (unsigned)__builtin_ctz(ids);
        unsigned at = 2 * pair;
        if (at > start)
            append(demux, demux->id, data + start, at - start, offset + start);
        start = at + 1;
        if (frame[15] >> pair & 1 && start < CT_FRAME_DATA) {
            append(demux, demux->id, data + start, 1, offset + start);
            start++;
        }
        demux->id = frame[at] >> 1;
    }
    if (start < CT_FRAME_DATA)
        append(demux, demux->id, data + start, CT_FRAME_DATA - start, offset + start);
}

void ct_frame_take(struct ct_demux *demux, const uint8_t *frame, uint64_t offset)
{
    if (demux->plain) {
        uint64_t at[CT_FRAME_SIZE];
        for (unsigned i = 0; i < CT_FRAME_SIZE; i++)
            at[i] = offset + i;
        ct_frame_plain(demux, frame, at);
        return;
    }
    struct halves h = load(frame);
    if ((h.low | h.high) & ID_BITS)
        take_mixed(demux, frame, h, offset);
    else
        ct_frame_take_pure(demux, frame, 1, offset);
}
