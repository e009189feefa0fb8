/* SPDX-License-Identifier: Apache-2.0 */
/* Memory-aligned buffers (ETB, ETR), which contain frames from the first byte on. They have no
 * synchronisation words, but a driver may insert a frame of four of them where a new session begins. */
#include "frame/demux.h"

#include "base/bytes.h"

#include <string.h>

static unsigned fsync_words(const uint8_t *frame)
{
    unsigned count = 0;
    for (unsigned i = 0; i < CT_FRAME_SIZE; i += 4)
        count += ct_load32(frame + i) == CT_FSYNC;
    return count;
}

/* Handles one unit of 16 bytes at demux->offset. */
static void take_unit(struct ct_demux *demux, const uint8_t *unit)
{
    uint64_t offset = demux->offset;
    unsigned fsyncs = fsync_words(unit);
    demux->offset += CT_FRAME_SIZE;
    if (!fsyncs) {
        ct_frame_take(demux, unit, offset);
        return;
    }
    if (fsyncs < 4)
        ct_frame_trouble(demux, CT_FRAME_CUT, offset, CT_FRAME_SIZE - 4 * fsyncs);
    ct_frame_fsync(demux, fsyncs);
    if (fsyncs < 4)
        demux->fsync_run = 0;
}

/* Completes the unit that an earlier piece of input began. Returns the number of bytes used. */
static size_t fill_unit(struct ct_demux *demux, const uint8_t *data, size_t size)
{
    size_t room = CT_FRAME_SIZE - demux->frame_fill;
    size_t n = size < room ? size : room;
    memcpy(demux->frame + demux->frame_fill, data, n);
    demux->frame_fill += (uint32_t)n;
    if (demux->frame_fill == CT_FRAME_SIZE) {
        demux->frame_fill = 0;
        take_unit(demux, demux->frame);
    }
    return n;
}

size_t ct_aligned_push(struct ct_demux *demux, const uint8_t *data, size_t size)
{
    size_t used = 0;
    while (used < size && !demux->mark_count && !demux->failed) {
        size_t whole = (size - used) / CT_FRAME_SIZE;
        if (demux->frame_fill || !whole) {
            used += fill_unit(demux, data + used, size - used);
            continue;
        }
        if (whole > CT_FRAME_ROW)
            whole = CT_FRAME_ROW;
        size_t row = demux->ops ? ct_frame_take_row(demux, data + used, whole, demux->offset) : 0;
        demux->offset += row * CT_FRAME_SIZE;
        used += row * CT_FRAME_SIZE;
        if (row < whole && !demux->failed) {
            take_unit(demux, data + used);
            used += CT_FRAME_SIZE;
        }
    }
    return used;
}
