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
static struct halves restore(struct halves h)
{
    uint64_t bits = h.high >> 56;
    return (struct halves){h.low | spread(bits), h.high | spread(bits >> 4)};
}

/* Without the first n bytes, n from 0 to 15. In registers: memory that was just written in two halves could not be
 * read across them without a stall. */
static struct halves skip(struct halves h, unsigned n)
{
    if (n >= 8)
        return (struct halves){h.high >> 8 * (n - 8), 0};
    return (struct halves){h.low >> 8 * n | h.high << 1 << (63 - 8 * n), h.high >> 8 * n};
}

static void store(uint8_t *to, struct halves h)
{
    uint64_t low = ct_le64(h.low);
    uint64_t high = ct_le64(h.high);
    memcpy(to, &low, 8);
    memcpy(to + 8, &high, 8);
}

size_t ct_frame_take_pure(struct ct_demux *demux, const uint8_t *frames, size_t count, uint64_t offset)
{
    struct ct_stream *stream = &demux->streams[demux->id];
    if (!stream->dropped && !ct_stream_reserve(stream, count * CT_FRAME_DATA)) {
        demux->failed = 1;
        return 0;
    }
    uint8_t *to = stream->dropped ? NULL : stream->data + stream->end;
    size_t n = 0;
    for (; n < count; n++, frames += CT_FRAME_SIZE) {
        struct halves h = load(frames);
        if ((h.low | h.high) & ID_BITS)
            break;
        if (to) {
            store(to, restore(h));
            to += CT_FRAME_DATA;
        }
    }
    if (!n)
        return 0;
    if (to && !ct_stream_map(stream, offset, CT_FRAME_DATA, offset + n * CT_FRAME_SIZE))
        demux->failed = 1;
    else if (to)
        stream->end += n * CT_FRAME_DATA;
    demux->counts[demux->id] += n * CT_FRAME_DATA;
    demux->stats.frames += n;
    demux->fsync_run = 0;
    return n;
}

/* Bytes start to end - 1 of the frame at `offset`, for `id`. */
static void append(struct ct_demux *demux, unsigned id, struct halves data, unsigned start, unsigned end,
                   uint64_t offset)
{
    struct ct_stream *stream = &demux->streams[id];
    demux->counts[id] += end - start;
    if (stream->dropped)
        return;
    if (!ct_stream_reserve(stream, CT_FRAME_SIZE) ||
        !ct_stream_map(stream, offset + start, 0, offset + end)) {
        demux->failed = 1;
        return;
    }
    store(stream->data + stream->end, skip(data, start));
    stream->end += end - start;
}

/* A frame with an ID byte at least: from one to the next all bytes are of one ID. */
static void take_mixed(struct ct_demux *demux, const uint8_t *frame, struct halves h, uint64_t offset)
{
    struct halves data = restore(h);
    unsigned ids = gather(h.low) | gather(h.high) << 4;
    unsigned start = 0;
    demux->stats.frames++;
    demux->fsync_run = 0;
    for (; ids; ids &= ids - 1) {
        unsigned pair = (unsigned)__builtin_ctz(ids);
        unsigned at = 2 * pair;
        if (at > start)
            append(demux, demux->id, data, start, at, offset);
        start = at + 1;
        if (frame[15] >> pair & 1 && start < CT_FRAME_DATA) {
            append(demux, demux->id, data, start, start + 1, offset);
            start++;
        }
        demux->id = frame[at] >> 1;
    }
    if (start < CT_FRAME_DATA)
        append(demux, demux->id, data, start, CT_FRAME_DATA, offset);
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
