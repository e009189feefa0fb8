/* SPDX-License-Identifier: Apache-2.0 */
/* Splits frames of 16 bytes (ARM IHI 0029, "Frame formatter"): bytes 0, 2, … 14 are an ID (bit 0 set) or data
 * whose bit 0 is in byte 15; bytes 1, 3, … 13 are data. */
#include "frame/demux.h"

#include <string.h>

void ct_frame_trouble(struct ct_demux *demux, enum ct_frame_trouble kind, uint64_t offset, uint64_t lost)
{
    demux->mark = (struct ct_frame_mark){
        .offset = offset,
        .lost = lost > UINT32_MAX ? UINT32_MAX : (uint32_t)lost,
        .kind = (uint8_t)kind,
    };
    demux->mark_count = 1;
    demux->stats.lost_bytes += lost;
    if (kind == CT_FRAME_NO_SYNC)
        demux->stats.edge_bytes += lost;
    demux->id = CT_ID_NONE;
}

void ct_frame_fsync(struct ct_demux *demux, uint32_t count)
{
    uint32_t before = demux->fsync_run;
    demux->stats.fsyncs += count;
    demux->fsync_run = before < 4 ? before + count : before;
    if (before < 4 && demux->fsync_run >= 4 && !demux->no_fsync_reset) {
        demux->stats.resets++;
        ct_frame_trouble(demux, CT_FRAME_RESET, demux->offset, 0);
    }
}

static void put(struct ct_demux *demux, unsigned id, uint8_t byte, uint64_t offset)
{
    struct ct_demux_stream *stream = &demux->streams[id];
    demux->counts[id]++;
    if (stream->dropped)
        return;
    if (!ct_stream_reserve(stream, 1) || !ct_stream_map(stream, offset, 0, offset + 1)) {
        demux->failed = 1;
        return;
    }
    stream->data[stream->end++] = byte;
}

static int side_by_side(const uint64_t *at)
{
    return at[CT_FRAME_SIZE - 1] - at[0] == CT_FRAME_SIZE - 1;
}

/* Handles a frame without an ID byte and without gaps, the only kind that is mapped with a stride. */
static void plain_pure(struct ct_demux *demux, const uint8_t *frame, uint64_t offset)
{
    struct ct_demux_stream *stream = &demux->streams[demux->id];
    demux->counts[demux->id] += CT_FRAME_DATA;
    if (stream->dropped)
        return;
    if (!ct_stream_reserve(stream, CT_FRAME_DATA) ||
        !ct_stream_map(stream, offset, CT_FRAME_DATA, offset + CT_FRAME_SIZE)) {
        demux->failed = 1;
        return;
    }
    for (unsigned i = 0; i < CT_FRAME_DATA; i++)
        stream->data[stream->end++] = (uint8_t)(frame[i] | (i % 2 ? 0 : frame[15] >> (i / 2) & 1));
}

void ct_frame_plain(struct ct_demux *demux, const uint8_t *frame, const uint64_t *at)
{
    static const uint8_t nothing[CT_FRAME_SIZE];
    unsigned ids = 0;
    demux->stats.frames++;
    demux->fsync_run = 0;
    /* memory that the trace did not reach: no source writes that many zeros */
    if (demux->id == CT_ID_NONE && memcmp(frame, nothing, sizeof nothing) == 0) {
        demux->counts[0] += CT_FRAME_DATA;
        return;
    }
    for (unsigned i = 0; i < CT_FRAME_SIZE; i += 2)
        ids |= frame[i] & 1u;
    if (!ids && side_by_side(at)) {
        plain_pure(demux, frame, at[0]);
        return;
    }
    for (unsigned i = 0; i < CT_FRAME_SIZE; i += 2) {
        unsigned bit = frame[15] >> (i / 2) & 1u;
        unsigned data_id = demux->id; /* ID of the second byte of the pair */
        if (frame[i] & 1) {
            demux->id = frame[i] >> 1;
            if (!bit)
                data_id = demux->id;
        } else {
            put(demux, demux->id, (uint8_t)(frame[i] | bit), at[i]);
        }
        if (i + 1 < CT_FRAME_DATA)
            put(demux, data_id, frame[i + 1], at[i + 1]);
    }
}
