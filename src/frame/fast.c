/* SPDX-License-Identifier: Apache-2.0 */
/* Handles rows of frames with the functions that fit the processor, and contains those for every processor,
 * eight bytes at a time. */
#include "frame/kernel64.h"

#include "base/bytes.h"
#include "frame/kernel.h"

static const struct ct_frame_ops ops_64 = {.name = "64 bits", .pure = take_pure, .mixed = take_mixed};

const struct ct_frame_ops *ct_frame_ops_at(unsigned i)
{
#ifdef CT_FRAME_AVX512
    if (__builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("bmi2") && !i--)
        return &ct_frame_ops_avx512;
#endif
#ifdef CT_FRAME_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && !i--)
        return &ct_frame_ops_avx2;
#endif
#ifdef CT_FRAME_NEON
    if (!i--)
        return &ct_frame_ops_neon;
#endif
    return i ? NULL : &ops_64;
}

static size_t pure_row(struct ct_demux *demux, const uint8_t *frames, size_t count, uint64_t offset)
{
    struct ct_demux_stream *stream = &demux->streams[demux->id];
    if (!stream->dropped && !ct_stream_reserve(stream, count * CT_FRAME_DATA)) {
        demux->failed = 1;
        return 0;
    }
    size_t n = demux->ops->pure(demux, frames, count, stream->dropped ? NULL : stream->data + stream->end);
    if (!n)
        return 0;
    if (!stream->dropped) {
        if (!ct_stream_map(stream, offset, CT_FRAME_DATA, offset + n * CT_FRAME_SIZE)) {
            demux->failed = 1;
            return 0;
        }
        stream->end += n * CT_FRAME_DATA;
    }
    demux->counts[demux->id] += n * CT_FRAME_DATA;
    demux->stats.frames += n;
    return n;
}

/* Returns whether the frame has an ID byte. */
static int has_id(const uint8_t *frame)
{
    return ((ct_load64(frame) | ct_load64(frame + 8)) & UINT64_C(0x0001000100010001)) != 0;
}

size_t ct_frame_take_row(struct ct_demux *demux, const uint8_t *frames, size_t count, uint64_t offset)
{
    if (demux->id == CT_ID_NONE && count && !has_id(frames)) /* ct_frame_plain decides whether it is trace */
        return 0;
    size_t n = pure_row(demux, frames, count, offset);
    if (n < count && !demux->failed)
        n += demux->ops->mixed(demux, frames + n * CT_FRAME_SIZE, count - n, offset + n * CT_FRAME_SIZE);
    if (n)
        demux->fsync_run = 0;
    return n;
}

void ct_frame_take(struct ct_demux *demux, const uint8_t *frame, uint64_t offset)
{
    uint64_t at[CT_FRAME_SIZE];
    for (unsigned i = 0; i < CT_FRAME_SIZE; i++)
        at[i] = offset + i;
    ct_frame_plain(demux, frame, at);
}
