/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/stretch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void ct_stretch_free(struct ct_stretch *p)
{
    free(p->data);
    free(p->spans);
    *p = (struct ct_stretch){0};
}

void ct_stretch_clear(struct ct_stretch *p)
{
    p->size = p->span_count = 0;
    p->in_file = false;
}

void ct_stretch_in_file(struct ct_stretch *p, int fd, uint64_t pos, size_t size)
{
    p->in_file = true;
    p->fd = fd;
    p->pos = pos;
    p->size = size;
    p->error = 0;
    p->held_from = p->held_to = 0;
}

void ct_stretch_extend(struct ct_stretch *p, size_t size)
{
    p->pos -= size;
    p->size += size;
    p->held_from = p->held_to = 0;
}

/* Room for `more` items behind `count`; NULL without memory, and then the array stays. */
static void *grow(void *array, size_t count, size_t more, size_t size, size_t *cap)
{
    if (array && *cap - count >= more)
        return array;
    size_t room = *cap ? *cap : 4096;
    while (room - count < more)
        room *= 2;
    void *larger = realloc(array, room * size);
    if (larger)
        *cap = room;
    return larger;
}

static bool append_spans(struct ct_stretch *p, const struct ct_run *run)
{
    size_t first = ct_run_span(run, run->pos);
    /* The span that the piece ends with may go on in the run. */
    const struct ct_span *last = p->span_count ? &p->spans[p->span_count - 1] : NULL;
    const struct ct_span *next = &run->spans[first];
    if (last && last->pos == next->pos && last->place == next->place)
        first++;
    struct ct_span *spans =
        grow(p->spans, p->span_count, run->span_count - first, sizeof *spans, &p->span_cap);
    if (!spans)
        return false;
    p->spans = spans;
    memcpy(spans + p->span_count, run->spans + first, (run->span_count - first) * sizeof *spans);
    p->span_count += run->span_count - first;
    return true;
}

bool ct_stretch_append(struct ct_stretch *p, const struct ct_run *run)
{
    if (!run->size)
        return true;
    uint8_t *data = grow(p->data, p->size, run->size, 1, &p->cap);
    if (!data)
        return false;
    p->data = data;
    if (!append_spans(p, run))
        return false;
    if (!p->size)
        p->pos = run->pos;
    memcpy(data + p->size, run->data, run->size);
    p->size += run->size;
    return true;
}

static bool read_all(struct ct_stretch *p, uint8_t *to, size_t size, uint64_t offset)
{
    while (size) {
        const ssize_t got = pread(p->fd, to, size, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            p->error = got ? errno : 0;
            return false;
        }
        to += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}

/* Bytes of the file, from to to - 1; those that are there already are not read again. */
static int hold(struct ct_stretch *p, size_t from, size_t to)
{
    const bool overlaps = from >= p->held_from && from < p->held_to;
    const size_t kept = overlaps ? p->held_to - from : 0;
    if (overlaps && to <= p->held_to)
        return CT_OK;
    if (kept)
        memmove(p->data, p->data + (from - p->held_from), kept);
    p->held_from = from;
    p->held_to = from + kept;
    uint8_t *data = grow(p->data, 0, to - from, 1, &p->cap);
    if (!data)
        return CT_ERR_NOMEM;
    p->data = data;
    if (!read_all(p, data + kept, to - from - kept, p->pos + from + kept))
        return CT_ERR_IO;
    p->held_to = to;
    return CT_OK;
}

static int run_of_file(struct ct_stretch *p, size_t from, size_t to, struct ct_run *out)
{
    static const struct ct_span whole = {0};
    const int rc = hold(p, from, to);
    if (!rc)
        *out = (struct ct_run){.data = p->data + (from - p->held_from),
                               .size = to - from,
                               .pos = p->pos + from,
                               .spans = &whole,
                               .span_count = 1};
    return rc;
}

int ct_stretch_run(struct ct_stretch *p, size_t from, size_t to, struct ct_run *out)
{
    if (p->in_file)
        return run_of_file(p, from, to, out);
    *out = (struct ct_run){.data = p->data ? p->data + from : NULL, .size = to - from, .pos = p->pos + from};
    if (!p->span_count)
        return CT_OK;
    out->spans = p->spans;
    out->span_count = p->span_count;
    const size_t first = ct_run_span(out, out->pos);
    out->spans += first;
    out->span_count -= first;
    return CT_OK;
}
