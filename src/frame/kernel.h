/* SPDX-License-Identifier: Apache-2.0 */
/* Splits contiguous frames quickly: one body for every processor. It passes over a row of frames twice. The
 * first pass copies all bytes except byte 15 of each frame to one place and lists the positions of ID bytes.
 * The second pass copies each segment, which is what lies between two ID bytes, to the stream of its ID, one
 * ID after the other. So there are no unpredictable branches for a frame, and few for a segment. A file that
 * includes this has defined
 *   restore_eight  copies the bytes of eight frames, or of as many as there are, to `to`, without byte 15
 *                  (and writes up to CT_STREAM_WIDE more), with bit 0 of the even bytes restored. An ID byte
 *                  is replaced by the byte after it if that belongs to the ID before; else its value does not
 *                  matter. Returns what it found
 *   list_ids       lists the ID bytes of these eight frames; true when one of them is ff, ID 0x7f: a
 *                  synchronisation word or a reserved ID
 *   pick           moves the segments of an ID from a row to a list
 *   copy_32, copy_64  copy so many bytes, unaligned
 * and makes its `struct ct_frame_ops` from the two functions at the end. frame.c has the plain version. */
#pragma once

#include <string.h>

#include "base/bytes.h"
#include "frame/demux.h"

/* Returns true when an FSYNC begins in the last byte of a TPIU frame; the three bytes after it can be
 * read. */
static inline int cut_by_fsync(const struct ct_demux *demux, const uint8_t *frame)
{
    return frame[15] == 0xff && demux->framing != CT_FRAMING_FRAMES && ct_load32(frame + 15) == CT_FSYNC;
}

/* Ends the row before the first frame with ID 0x7f in it, and before one that an FSYNC cuts. */
static inline void cut_row(const struct ct_demux *demux, struct ct_frame_row *row, const uint8_t *frames,
                           int has_ff)
{
    const uint8_t *ff = has_ff ? memchr(row->ids, 0xff, row->count) : NULL;
    if (ff)
        row->frames = row->at[ff - row->ids] / CT_FRAME_SIZE;
    if (row->frames && cut_by_fsync(demux, frames + (row->frames - 1) * CT_FRAME_SIZE))
        row->frames--;
    while (row->count && row->at[row->count - 1] >= row->frames * CT_FRAME_SIZE)
        row->count--;
}

static inline void scan(const struct ct_demux *demux, const uint8_t *frames, size_t count,
                        struct ct_frame_row *row)
{
    size_t n = 0;
    int has_ff = 0;
    row->count = 0;
    for (; n < count && !has_ff; n += 8) {
        const uint8_t *eight = frames + n * CT_FRAME_SIZE;
        const struct ct_frame_found found = restore_eight(eight, count - n, row->data + n * CT_FRAME_DATA);
        has_ff = list_ids(row, eight, n, count - n, &found);
    }
    row->frames = n < count ? n : count;
    cut_row(demux, row, frames, has_ff);
    row->at[row->count] = (uint16_t)(row->frames * CT_FRAME_SIZE);
}

/* Copies a segment. `small`: it has at most 32 bytes. */
static inline void copy(uint8_t *to, const uint8_t *from, size_t size, int small)
{
    if (small) {
        copy_32(to, from);
        return;
    }
    copy_64(to, from);
    for (size_t i = 64; i < size; i += 64)
        copy_64(to + i, from + i);
}

/* Computes where segments begin in the bytes of the row, and their sizes; also for a few entries after the
 * last one. */
static inline void measure(struct ct_frame_list *list)
{
    int16_t most = 0;
    for (size_t i = 0; i < list->count; i += 32)
        for (size_t k = i; k < i + 32; k++) {
            list->begin[k] = (uint16_t)(ct_frame_row_end(list->at[k]) + 1);
            list->size[k] = (uint16_t)(ct_frame_row_end(list->next[k]) - list->begin[k]);
            most = (int16_t)list->size[k] > most ? (int16_t)list->size[k] : most;
        }
    list->most = (size_t)most;
}

static inline void count_list(struct ct_demux *demux, unsigned id, const struct ct_frame_list *list)
{
    size_t size = 0;
    for (size_t i = 0; i < list->count; i++)
        size += list->size[i];
    demux->counts[id] += size;
}

/* Appends the segments of an ID to its stream, each with its span, and the byte after the final ID byte if it
 * still belongs to this ID. Returns 0 when out of memory. */
static inline int append_list(struct ct_demux *demux, unsigned id, const struct ct_frame_row *row,
                              const struct ct_frame_list *list, uint64_t offset, int small)
{
    struct ct_demux_stream *stream = &demux->streams[id];
    if (!ct_stream_make_room(stream, row->frames * CT_FRAME_DATA, 2 * list->count))
        return 0;
    uint8_t *to = stream->data + stream->end;
    struct ct_span *span = stream->spans + stream->span_end;
    const uint64_t base = stream->pos + (stream->end - stream->begin) - (uintptr_t)to;
    const uint64_t first = ((offset + 1) << CT_SPAN_BITS) + CT_SPAN_FRAMES + 1, late = offset << CT_SPAN_BITS;
    for (size_t i = 0; i < list->count; i++) {
        const uint32_t at = list->at[i], next = list->next[i];
        span[0].pos = base + (uintptr_t)to;
        span[0].place = first + ((at << CT_SPAN_BITS) + at % CT_FRAME_SIZE);
        copy(to, row->data + list->begin[i], list->size[i], small);
        to += list->size[i];
        span[1].pos = base + (uintptr_t)to - 1;
        span[1].place = late + ((next | 1) << CT_SPAN_BITS);
        span += 1 + next % 2;
    }
    demux->counts[id] += (size_t)(to - stream->data) - stream->end;
    stream->end = (size_t)(to - stream->data);
    stream->span_end = (size_t)(span - stream->spans);
    stream->next = UINT64_MAX;
    return 1;
}

/* Appends the bytes before the first ID byte, which belong to the ID at the start of the row. Returns 0 when
 * out of memory. */
static inline int append_first(struct ct_demux *demux, const struct ct_frame_row *row, uint64_t offset)
{
    struct ct_demux_stream *stream = &demux->streams[demux->id];
    const size_t size = ct_frame_row_end(row->at[0]);
    demux->counts[demux->id] += size;
    if (stream->dropped)
        return 1;
    if (!ct_stream_map(stream, offset, CT_FRAME_DATA, UINT64_MAX) || !ct_stream_make_room(stream, size, 1))
        return 0;
    copy(stream->data + stream->end, row->data, size, 0);
    stream->end += size;
    if (row->at[0] % 2)
        stream->spans[stream->span_end++] =
            (struct ct_span){.pos = stream->pos + (stream->end - stream->begin) - 1,
                             .place = (offset + row->at[0]) << CT_SPAN_BITS};
    return 1;
}

/* Appends the bytes after ID bytes. Returns 0 when out of memory. */
static inline int append_rest(struct ct_demux *demux, const struct ct_frame_row *row, uint64_t offset)
{
    uint64_t left[CT_FRAME_IDS / 64]; /* remaining segments, in groups of 64 */
    const size_t groups = (row->count + 63) / 64;
    struct ct_frame_list *list = &demux->list;
    memset(left, -1, groups * sizeof *left);
    left[groups - 1] >>= -row->count % 64;
    for (size_t group = 0; group < groups;) {
        if (!left[group]) {
            group++;
            continue;
        }
        const uint8_t byte = row->ids[group * 64 + (size_t)__builtin_ctzll(left[group])];
        pick(row, left, group, groups, byte, list);
        measure(list);
        if (demux->streams[byte >> 1].dropped)
            count_list(demux, byte >> 1, list);
        else if (!(list->most <= 32 ? append_list(demux, byte >> 1, row, list, offset, 1)
                                    : append_list(demux, byte >> 1, row, list, offset, 0)))
            return 0;
    }
    return 1;
}

/* Implements `mixed` of struct ct_frame_ops. */
static size_t take_mixed(struct ct_demux *demux, const uint8_t *frames, size_t count, uint64_t offset)
{
    struct ct_frame_row *row = &demux->row;
    scan(demux, frames, count, row);
    if (!row->count)
        return 0;
    if (!append_first(demux, row, offset) || !append_rest(demux, row, offset)) {
        demux->failed = 1;
        return 0;
    }
    demux->id = row->ids[row->count - 1] >> 1;
    demux->streams[demux->id].stride = CT_FRAME_DATA;
    demux->streams[demux->id].next = offset + row->frames * CT_FRAME_SIZE;
    demux->stats.frames += row->frames;
    return row->frames;
}

/* Implements `pure` of struct ct_frame_ops. */
static size_t take_pure(const struct ct_demux *demux, const uint8_t *frames, size_t count, uint8_t *to)
{
    uint8_t nowhere[8 * CT_FRAME_DATA + CT_STREAM_WIDE] = {0};
    struct ct_frame_found found = {0};
    size_t n = 0;
    for (; n < count && !found.ids; n += 8)
        found = restore_eight(frames + n * CT_FRAME_SIZE, count - n, to ? to + n * CT_FRAME_DATA : nowhere);
    if (found.ids)
        n -= 8 - (size_t)__builtin_ctzll(found.ids) / 8;
    n = n < count ? n : count;
    return n && cut_by_fsync(demux, frames + (n - 1) * CT_FRAME_SIZE) ? n - 1 : n;
}
