/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of the demultiplexer, and the footers of DSTREAM captures. */
#include "frame/demux.h"

#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/require.h"
#include "frame/demux_skip.h"
#include "base/ctx.h"

#define ID_FLUSH   0x7bu
#define ID_TRIGGER 0x7du

#define JOINED_BLOCKS 16u /* DSTREAM: blocks whose frames are handled together */

/* Returns whether data of this ID can be trace. */
static int is_source(const struct ct_demux *demux, unsigned id)
{
    return demux->framing == CT_FRAMING_NONE ? id == 0 : id > 0 && id < CT_ID_COUNT;
}

int ct_demux_new(struct ct_ctx *ctx, const struct ct_demux_options *options, struct ct_demux **out)
{
    CT_REQUIRE_OUT(ctx, out);
    struct ct_demux_options o;
    const int rc = ct_options_read(ctx, "ct_demux_new", options, &o, sizeof o);
    if (rc)
        return rc;
    if (o.framing < CT_FRAMING_NONE || o.framing > CT_FRAMING_DSTREAM)
        return ct_fail(ctx, CT_ERR_ARG,
                       "demultiplexer: framing %d is unknown; expected none, frames, tpiu "
                       "or dstream",
                       o.framing);
    struct ct_demux *demux = aligned_alloc(_Alignof(struct ct_demux), sizeof *demux);
    if (!demux)
        return ct_fail_nomem(ctx, "demultiplexer");
    memset(demux, 0, sizeof *demux);
    demux->ctx = ctx;
    demux->framing = o.framing;
    demux->no_fsync_reset = o.no_fsync_reset;
    demux->id = CT_ID_NONE;
    demux->ops = ct_frame_ops_at(0);
    for (unsigned id = 0; id < CT_ID_ALL; id++)
        demux->streams[id].dropped = !is_source(demux, id);
    *out = demux;
    return CT_OK;
}

void ct_demux_free(struct ct_demux *demux)
{
    if (!demux)
        return;
    for (size_t i = 0; i < CT_ID_ALL; i++)
        ct_stream_free(&demux->streams[i]);
    free(demux);
}

void ct_demux_keep(struct ct_demux *demux, uint8_t id, int keep)
{
    if (!demux)
        return;
    if (is_source(demux, id))
        demux->streams[id].dropped = !keep;
}

static size_t unframed_push(struct ct_demux *demux, const uint8_t *data, size_t size)
{
    struct ct_demux_stream *stream = &demux->streams[0];
    demux->counts[0] += size;
    demux->offset += size;
    if (stream->dropped)
        return size;
    if (!ct_stream_reserve(stream, size) || !ct_stream_map(stream, demux->offset - size, 0, demux->offset)) {
        demux->failed = 1;
        return 0;
    }
    memcpy(stream->data + stream->end, data, size);
    stream->end += size;
    return size;
}

/* Copies up to `cap` bytes of the blocks, without their footers, to a contiguous buffer. Returns their
 * number. */
static size_t join_blocks(const struct ct_demux *demux, const uint8_t *data, size_t size, uint8_t *to,
                          size_t cap)
{
    size_t fill = demux->block_fill, used = 0, joined = 0;
    while (used < size && joined < cap) {
        const size_t room = fill < CT_BLOCK_DATA ? CT_BLOCK_DATA - fill : CT_BLOCK_SIZE - fill;
        const size_t left = fill < CT_BLOCK_DATA && cap - joined < size - used ? cap - joined : size - used;
        const size_t n = left < room ? left : room;
        if (fill < CT_BLOCK_DATA) {
            memcpy(to + joined, data + used, n);
            joined += n;
        }
        fill = (fill + n) % CT_BLOCK_SIZE;
        used += n;
    }
    return joined;
}

/* Advances in the blocks by `taken` bytes outside of footers, and past the footer after them as far as it is
 * present. Returns how many of the `size` bytes that is. */
static size_t pass_blocks(struct ct_demux *demux, size_t taken, size_t size)
{
    size_t passed = 0;
    while (passed < size && (taken || demux->block_fill >= CT_BLOCK_DATA)) {
        const int footer = demux->block_fill >= CT_BLOCK_DATA;
        const size_t room = (footer ? CT_BLOCK_SIZE : CT_BLOCK_DATA) - demux->block_fill;
        const size_t left = footer ? size - passed : taken;
        const size_t n = left < room ? left : room;
        if (footer)
            demux->stats.footer_bytes += n;
        else
            taken -= n;
        demux->block_fill = (uint32_t)((demux->block_fill + n) % CT_BLOCK_SIZE);
        passed += n;
    }
    return passed;
}

static size_t dstream_push(struct ct_demux *demux, const uint8_t *data, size_t size)
{
    uint8_t joined[JOINED_BLOCKS * CT_BLOCK_DATA];
    size_t used = 0;
    while (used < size && !demux->mark_count && !demux->failed) {
        const size_t there = join_blocks(demux, data + used, size - used, joined, sizeof joined);
        const size_t taken = ct_tpiu_push(demux, joined, there);
        used += pass_blocks(demux, taken, size - used);
    }
    return used;
}

static void sum_up(struct ct_demux *demux)
{
    struct ct_frame_stats *stats = &demux->stats;
    const uint64_t *counts = demux->counts;
    memcpy(stats->id_bytes, counts, sizeof stats->id_bytes);
    stats->null_bytes = demux->framing == CT_FRAMING_NONE ? 0 : counts[0];
    stats->trigger_bytes = counts[ID_TRIGGER] + counts[ID_FLUSH];
    stats->no_id_bytes = counts[CT_ID_NONE];
    stats->reserved_bytes = 0;
    for (unsigned id = CT_ID_COUNT; id < CT_ID_NONE; id++)
        stats->reserved_bytes += counts[id];
    stats->reserved_bytes -= stats->trigger_bytes;
}

int ct_demux_push(struct ct_demux *demux, const uint8_t *data, size_t size, size_t *used)
{
    CT_REQUIRE_OF(demux, data || !size, used);
    size_t n = 0;
    demux->mark_count = 0;
    if (size == 0 || demux->failed)
        n = 0;
    else if (demux->framing == CT_FRAMING_NONE)
        n = unframed_push(demux, data, size);
    else if (demux->framing == CT_FRAMING_FRAMES)
        n = ct_aligned_push(demux, data, size);
    else if (demux->framing == CT_FRAMING_TPIU)
        n = ct_tpiu_push(demux, data, size);
    else
        n = dstream_push(demux, data, size);
    demux->stats.input_bytes += n;
    sum_up(demux);
    *used = n;
    return demux->failed ? ct_fail_nomem(demux->ctx, "demultiplexer: runs") : CT_OK;
}

void ct_demux_skip(struct ct_demux *demux, size_t size)
{
    demux->counts[0] += size;
    demux->offset += size;
    demux->streams[0].pos += size;
    demux->stats.input_bytes += size;
    sum_up(demux);
}

void ct_demux_take_back(struct ct_demux *demux, size_t size)
{
    demux->counts[0] -= size;
    demux->offset -= size;
    demux->streams[0].end -= size;
    demux->streams[0].next -= size;
    demux->stats.input_bytes -= size;
    sum_up(demux);
}

void ct_demux_begin_inside(struct ct_demux *demux)
{
    demux->inside = 1;
}

uint8_t ct_frames_last_id(const uint8_t *frames, size_t count)
{
    while (count--)
        for (unsigned i = CT_FRAME_SIZE; i; i -= 2)
            if (frames[count * CT_FRAME_SIZE + i - 2] & 1)
                return frames[count * CT_FRAME_SIZE + i - 2] >> 1;
    return 0;
}

void ct_demux_set_id(struct ct_demux *demux, uint8_t id)
{
    demux->id = id ? id : CT_ID_NONE;
}

uint64_t ct_demux_offset(const struct ct_demux *demux)
{
    return demux->offset;
}

int ct_demux_finish(struct ct_demux *demux)
{
    CT_REQUIRE(NULL, demux);
    uint64_t lost_inside = demux->stats.lost_bytes - demux->stats.edge_bytes;
    demux->mark_count = 0;
    if (demux->framing == CT_FRAMING_TPIU || demux->framing == CT_FRAMING_DSTREAM) {
        if (!demux->synced && !demux->inside && demux->offset > demux->start)
            ct_frame_trouble(demux, CT_FRAME_NO_SYNC, demux->start, demux->offset - demux->start);
        demux->synced = 1;
        ct_tpiu_finish(demux);
    }
    if (demux->frame_fill) {
        uint64_t offset = demux->framing == CT_FRAMING_FRAMES ? demux->offset : demux->frame_at[0];
        ct_frame_trouble(demux, CT_FRAME_CUT, offset, demux->frame_fill);
    }
    demux->frame_fill = 0;
    /* aligned frames come from a memory that holds complete ones, where a cut frame is damage */
    if (demux->framing != CT_FRAMING_FRAMES)
        demux->stats.edge_bytes = demux->stats.lost_bytes - lost_inside;
    sum_up(demux);
    return demux->failed ? ct_fail_nomem(demux->ctx, "demultiplexer: runs") : CT_OK;
}

void ct_demux_restart(struct ct_demux *demux, uint64_t offset)
{
    if (!demux)
        return;
    demux->offset = demux->start = offset;
    demux->id = CT_ID_NONE;
    demux->synced = 0;
    demux->fsync_run = demux->window = demux->block_fill = demux->frame_fill = 0;
    demux->mark_count = 0;
}

void ct_demux_move(struct ct_demux *demux, uint64_t offset)
{
    if (!demux)
        return;
    /* the offset of an aligned frame is that of its last byte minus 15 */
    demux->offset = demux->framing == CT_FRAMING_FRAMES ? offset - demux->frame_fill : offset;
}

void ct_demux_run(const struct ct_demux *demux, uint8_t id, struct ct_run *out)
{
    if (!demux || !out)
        return;
    *out = (struct ct_run){0};
    if (id >= CT_ID_COUNT)
        return;
    const struct ct_demux_stream *stream = &demux->streams[id];
    out->data = stream->data ? stream->data + stream->begin : NULL;
    out->size = stream->end - stream->begin;
    out->pos = stream->pos;
    out->spans = stream->spans ? stream->spans + stream->span_begin : NULL;
    out->span_count = stream->span_end - stream->span_begin;
}

void ct_demux_consume(struct ct_demux *demux, uint8_t id, size_t count)
{
    if (!demux)
        return;
    if (id < CT_ID_COUNT)
        ct_stream_consume(&demux->streams[id], count);
}

const struct ct_frame_mark *ct_demux_marks(const struct ct_demux *demux, size_t *count)
{
    if (ct_no_array(demux, count))
        return NULL;
    *count = demux->mark_count;
    return &demux->mark;
}

const struct ct_frame_stats *ct_demux_stats(const struct ct_demux *demux)
{
    if (!demux)
        return NULL;
    return &demux->stats;
}

uint64_t ct_framing_file_offset(enum ct_framing framing, uint64_t offset)
{
    if (framing != CT_FRAMING_DSTREAM)
        return offset;
    return offset / CT_BLOCK_DATA * CT_BLOCK_SIZE + offset % CT_BLOCK_DATA;
}

uint64_t ct_framing_block_offset(enum ct_framing framing, uint64_t file_offset)
{
    return framing == CT_FRAMING_DSTREAM ? file_offset / CT_BLOCK_SIZE * CT_BLOCK_DATA : file_offset;
}
