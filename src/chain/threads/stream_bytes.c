/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/threads/stream_bytes.h"

#include "base/read_at.h"
#include "base/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ct_stream_bytes_free(struct ct_stream_bytes *bytes)
{
    free(bytes->data);
    free(bytes->spans);
    *bytes = (struct ct_stream_bytes){0};
}

void ct_stream_bytes_clear(struct ct_stream_bytes *bytes)
{
    bytes->size = bytes->span_count = 0;
    bytes->in_file = false;
}

void ct_stream_bytes_in_file(struct ct_stream_bytes *bytes, int fd, uint64_t pos, size_t size)
{
    bytes->in_file = true;
    bytes->fd = fd;
    bytes->pos = pos;
    bytes->size = size;
    bytes->error = 0;
    bytes->held_from = bytes->held_to = 0;
}

void ct_stream_bytes_extend(struct ct_stream_bytes *bytes, size_t size)
{
    bytes->pos -= size;
    bytes->size += size;
    bytes->held_from = bytes->held_to = 0;
}

static bool append_spans(struct ct_stream_bytes *bytes, const struct ct_run *run)
{
    size_t first = ct_run_span(run, run->pos);
    /* The last span may cover the beginning of the run. */
    const struct ct_span *last = bytes->span_count ? &bytes->spans[bytes->span_count - 1] : NULL;
    const struct ct_span *next = &run->spans[first];
    if (last && last->pos == next->pos && last->place == next->place)
        first++;
    const size_t count = run->span_count - first;
    if (!CT_MAKE_ROOM(bytes->spans, bytes->span_cap, bytes->span_count + count))
        return false;
    if (count) /* else there may be no array */
        memcpy(bytes->spans + bytes->span_count, run->spans + first, count * sizeof *bytes->spans);
    bytes->span_count += count;
    return true;
}

bool ct_stream_bytes_append(struct ct_stream_bytes *bytes, const struct ct_run *run)
{
    if (!run->size)
        return true;
    if (!CT_MAKE_ROOM(bytes->data, bytes->cap, bytes->size + run->size) || !append_spans(bytes, run))
        return false;
    if (!bytes->size)
        bytes->pos = run->pos;
    memcpy(bytes->data + bytes->size, run->data, run->size);
    bytes->size += run->size;
    return true;
}

/* Reads bytes [from, to) of the file, except those in memory already. */
static int hold(struct ct_stream_bytes *bytes, size_t from, size_t to)
{
    const bool overlaps = from >= bytes->held_from && from < bytes->held_to;
    const size_t kept = overlaps ? bytes->held_to - from : 0;
    if (overlaps && to <= bytes->held_to)
        return CT_OK;
    if (kept)
        memmove(bytes->data, bytes->data + (from - bytes->held_from), kept);
    bytes->held_from = from;
    bytes->held_to = from + kept;
    if (!CT_MAKE_ROOM(bytes->data, bytes->cap, to - from))
        return CT_ERR_NOMEM;
    const size_t more = to - from - kept;
    const ssize_t got = ct_read_at(bytes->fd, bytes->data + kept, more, bytes->pos + from + kept);
    if (got != (ssize_t)more) {
        bytes->error = got < 0 ? errno : 0;
        return CT_ERR_IO;
    }
    bytes->held_to = to;
    return CT_OK;
}

static int run_of_file(struct ct_stream_bytes *bytes, size_t from, size_t to, struct ct_run *out)
{
    static const struct ct_span whole = {0};
    const int rc = hold(bytes, from, to);
    if (!rc)
        *out = (struct ct_run){.data = bytes->data + (from - bytes->held_from),
                               .size = to - from,
                               .pos = bytes->pos + from,
                               .spans = &whole,
                               .span_count = 1};
    return rc;
}

int ct_stream_bytes_run(struct ct_stream_bytes *bytes, size_t from, size_t to, struct ct_run *out)
{
    if (bytes->in_file)
        return run_of_file(bytes, from, to, out);
    *out = (struct ct_run){
        .data = bytes->data ? bytes->data + from : NULL, .size = to - from, .pos = bytes->pos + from};
    if (!bytes->span_count)
        return CT_OK;
    out->spans = bytes->spans;
    out->span_count = bytes->span_count;
    const size_t first = ct_run_span(out, out->pos);
    out->spans += first;
    out->span_count -= first;
    return CT_OK;
}
