#include "decode/stretch.h"

#include <stdlib.h>
#include <string.h>

void ct_stretch_free(struct ct_stretch *p)
{
    free(p->data);
    free(p->spans);
    *p = (struct ct_stretch){0};
}

void ct_stretch_clear(struct ct_stretch *p)
{
    p->size = p->span_count = 0;
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

void ct_stretch_run(const struct ct_stretch *p, size_t from, size_t to, struct ct_run *out)
{
    *out = (struct ct_run){.data = p->data ? p->data + from : NULL, .size = to - from, .pos = p->pos + from};
    if (!p->span_count)
        return;
    out->spans = p->spans;
    out->span_count = p->span_count;
    const size_t first = ct_run_span(out, out->pos);
    out->spans += first;
    out->span_count -= first;
}
