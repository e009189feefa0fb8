/* SPDX-License-Identifier: Apache-2.0 */
/* TPIU streams: an FSYNC (ff ff ff 7f) comes before frames, an HSYNC (ff 7f) at any halfword of a frame. ff
 * as the first byte of a pair would be ID 0x7f, which no source may have, so neither can be mistaken for
 * data. An FSYNC inside a frame, at any byte, means that the rest of the frame is missing. */
#include "frame/demux.h"

#include "base/bytes.h"

#include <stdbool.h>
#include <string.h>

#define FSYNC_REST 3u /* bytes of an FSYNC after its first one */

/* Returns the length of the longest prefix of an FSYNC in the last bytes. A byte followed by an HSYNC does
 * not count, because the four bytes of an FSYNC are contiguous. */
static unsigned fsync_prefix(const struct ct_demux *demux)
{
    unsigned n = 0;
    for (uint32_t i = demux->frame_fill; i && n < FSYNC_REST; n++) {
        i--;
        if (demux->frame[i] != 0xff || demux->frame_at[i] + n + 1 != demux->offset)
            break;
    }
    return n;
}

static bool ends_in_fsync(const struct ct_demux *demux)
{
    uint32_t n = demux->frame_fill;
    return n >= 4 && ct_load32(demux->frame + n - 4) == CT_FSYNC &&
           demux->frame_at[n - 1] - demux->frame_at[n - 4] == FSYNC_REST;
}

static void emit(struct ct_demux *demux)
{
    ct_frame_plain(demux, demux->frame, demux->frame_at);
    demux->frame_fill -= CT_FRAME_SIZE;
    memmove(demux->frame, demux->frame + CT_FRAME_SIZE, demux->frame_fill);
    memmove(demux->frame_at, demux->frame_at + CT_FRAME_SIZE, demux->frame_fill * sizeof *demux->frame_at);
}

/* Ends the frame, because the last four bytes of the frame buffer are an FSYNC. */
static void end_by_fsync(struct ct_demux *demux)
{
    demux->frame_fill -= 4;
    if (demux->frame_fill == CT_FRAME_SIZE)
        emit(demux);
    uint32_t cut = demux->frame_fill;
    demux->frame_fill = 0;
    if (cut) {
        demux->fsync_run = 0;
        ct_frame_trouble(demux, CT_FRAME_CUT, demux->frame_at[0], cut);
    }
    ct_frame_fsync(demux, 1);
}

static void take_byte(struct ct_demux *demux, uint8_t byte)
{
    uint8_t *frame = demux->frame;
    uint32_t n = demux->frame_fill;
    frame[n] = byte;
    demux->frame_at[n] = demux->offset++;
    demux->frame_fill = ++n;
    if (byte == 0x7f) {
        if (ends_in_fsync(demux)) {
            end_by_fsync(demux);
            return;
        }
        if (n % 2 == 0 && frame[n - 2] == 0xff) {
            demux->stats.hsyncs++;
            demux->fsync_run = 0;
            demux->frame_fill = n -= 2;
        }
    }
    if (n >= CT_FRAME_SIZE) {
        unsigned prefix = fsync_prefix(demux);
        if (!prefix || n - prefix >= CT_FRAME_SIZE)
            emit(demux);
    }
}

void ct_tpiu_finish(struct ct_demux *demux)
{
    if (demux->frame_fill >= CT_FRAME_SIZE)
        emit(demux);
}

static size_t hunt(struct ct_demux *demux, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        demux->window = demux->window << 8 | data[i];
        demux->offset++;
        if (demux->window == 0xffffff7f) {
            const uint64_t lost = demux->inside ? 0 : demux->offset - demux->start - 4;
            demux->synced = 1;
            demux->inside = 0;
            if (lost)
                ct_frame_trouble(demux, CT_FRAME_NO_SYNC, demux->start, lost);
            ct_frame_fsync(demux, 1);
            return i + 1;
        }
    }
    return size;
}

/* Handles a complete frame, with or without HSYNC halfwords, that no FSYNC can cut at any position: neither
 * another even byte nor the last one is ff. Returns the number of bytes used; 0 when there is no such
 * frame. */
static size_t take_frame(struct ct_demux *demux, const uint8_t *data, size_t size)
{
    uint8_t frame[CT_FRAME_SIZE];
    uint64_t at[CT_FRAME_SIZE];
    size_t used = 0, fill = 0;
    for (; fill < CT_FRAME_SIZE && used + 2 <= size; used += 2) {
        const uint8_t *pair = data + used;
        if (pair[0] == 0xff && pair[1] != 0x7f)
            return 0;
        if (pair[0] == 0xff)
            continue;
        memcpy(frame + fill, pair, 2);
        at[fill] = demux->offset + used;
        at[fill + 1] = at[fill] + 1;
        fill += 2;
    }
    if (fill < CT_FRAME_SIZE || frame[CT_FRAME_SIZE - 1] == 0xff)
        return 0;
    ct_frame_plain(demux, frame, at);
    demux->stats.hsyncs += (used - fill) / 2;
    demux->offset += used;
    return used;
}

/* Handles complete frames; the bytes after them show whether an FSYNC cuts the last one. Returns the number
 * of bytes used. */
static size_t take_row(struct ct_demux *demux, const uint8_t *data, size_t size)
{
    size_t count = size < FSYNC_REST ? 0 : (size - FSYNC_REST) / CT_FRAME_SIZE;
    if (count > CT_FRAME_ROW)
        count = CT_FRAME_ROW;
    size_t taken = count ? ct_frame_take_row(demux, data, count, demux->offset) * CT_FRAME_SIZE : 0;
    demux->offset += taken;
    return taken;
}

size_t ct_tpiu_push(struct ct_demux *demux, const uint8_t *data, size_t size)
{
    size_t used = demux->synced ? 0 : hunt(demux, data, size);
    while (used < size && !demux->mark_count && !demux->failed) {
        const uint8_t *p = data + used;
        size_t n;
        if (!demux->ops || demux->frame_fill) {
            take_byte(demux, *p);
            used++;
        } else if (size - used >= 4 && ct_load32(p) == CT_FSYNC) {
            demux->offset += 4;
            used += 4;
            ct_frame_fsync(demux, 1);
        } else {
            n = take_row(demux, p, size - used);
            if (!n && !demux->failed)
                n = take_frame(demux, p, size - used);
            if (!n && !demux->failed) {
                take_byte(demux, *p);
                n = 1;
            }
            used += n;
        }
    }
    return used;
}
