/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of one trace ID, appended at the end and consumed at the front, always contiguous. */
#include "frame/demux.h"

#include <stdlib.h>
#include <string.h>

int ct_stream_grow(struct ct_demux_stream *stream, size_t size)
{
    size_t live = stream->end - stream->begin;
    /* Moving costs no more than the bytes consumed since the last move. */
    if (stream->begin >= live && stream->cap - live >= size + CT_STREAM_WIDE && stream->data) {
        memmove(stream->data, stream->data + stream->begin, live);
    } else {
        size_t cap = stream->cap ? stream->cap : 4096;
        while (cap - live < size + CT_STREAM_WIDE) {
            if (cap > SIZE_MAX / 2)
                return 0;
            cap *= 2;
        }
        uint8_t *data = malloc(cap);
        if (!data)
            return 0;
        if (live && stream->data)
            memcpy(data, stream->data + stream->begin, live);
        free(stream->data);
        stream->data = data;
        stream->cap = cap;
    }
    stream->begin = 0;
    stream->end = live;
    return 1;
}

static int reserve_spans(struct ct_demux_stream *stream, size_t count)
{
    size_t live = stream->span_end - stream->span_begin;
    if (stream->span_cap - stream->span_end >= count)
        return 1;
    if (stream->span_begin > live && stream->span_cap - live >= count) { /* moving pays, as above */
        memmove(stream->spans, stream->spans + stream->span_begin, live * sizeof *stream->spans);
    } else {
        size_t cap = stream->span_cap ? 2 * stream->span_cap : 64;
        while (cap - live < count)
            cap *= 2;
        struct ct_span *spans = malloc(cap * sizeof *spans);
        if (!spans)
            return 0;
        if (live)
            memcpy(spans, stream->spans + stream->span_begin, live * sizeof *spans);
        free(stream->spans);
        stream->spans = spans;
        stream->span_cap = cap;
    }
    stream->span_begin = 0;
    stream->span_end = live;
    return 1;
}

int ct_stream_new_span(struct ct_demux_stream *stream, uint64_t offset, uint32_t stride)
{
    uint64_t pos = stream->pos + (stream->end - stream->begin);
    if (!reserve_spans(stream, 1))
        return 0;
    stream->spans[stream->span_end++] =
        (struct ct_span){.pos = pos, .place = offset << CT_SPAN_BITS | (stride ? CT_SPAN_FRAMES : 0)};
    return 1;
}

int ct_stream_make_room(struct ct_demux_stream *stream, size_t size, size_t spans)
{
    return ct_stream_reserve(stream, size) && reserve_spans(stream, spans);
}

void ct_stream_consume(struct ct_demux_stream *stream, size_t count)
{
    size_t live = stream->end - stream->begin;
    if (count > live)
        count = live;
    stream->begin += count;
    stream->pos += count;
    if (stream->begin == stream->end)
        stream->begin = stream->end = 0;
    if (stream->begin == stream->end && stream->span_end > stream->span_begin) { /* the last span may be
                                                                                    continued */
        stream->spans[0] = stream->spans[stream->span_end - 1];
        stream->span_begin = 0;
        stream->span_end = 1;
    }
    while (stream->span_end - stream->span_begin > 1 &&
           stream->spans[stream->span_begin + 1].pos <= stream->pos)
        stream->span_begin++;
}

void ct_stream_free(struct ct_demux_stream *stream)
{
    free(stream->data);
    free(stream->spans);
}

/* Returns the span that would contain a position if all spans had one size, which is nearly true when IDs
 * take turns. There must be at least two. */
static size_t guess_span(const struct ct_span *spans, size_t count, uint64_t pos)
{
    const uint64_t first = spans[0].pos, width = spans[count - 1].pos - first;
    if (pos <= first || !width)
        return 0;
    const uint64_t from_first = pos - first;
    return from_first >= width ? count - 1 : (size_t)(from_first * (count - 1) / width);
}

size_t ct_run_span(const struct ct_run *run, uint64_t pos)
{
    if (!run || run->span_count < 2)
        return 0;
    const struct ct_span *spans = run->spans;
    size_t low = guess_span(spans, run->span_count, pos), high = low + 1, step = 1;
    for (; low && spans[low].pos > pos; step *= 2) { /* it is before the guess */
        high = low;
        low -= step < low ? step : low;
    }
    for (step = 1; high < run->span_count && spans[high].pos <= pos; step *= 2) { /* or after it */
        low = high;
        high = step < run->span_count - high ? high + step : run->span_count;
    }
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (spans[middle].pos <= pos)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint64_t ct_run_offset(const struct ct_run *run, uint64_t pos)
{
    if (!run)
        return 0;
    return run->span_count ? ct_span_offset(&run->spans[ct_run_span(run, pos)], pos) : 0;
}
