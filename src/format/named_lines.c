/* SPDX-License-Identifier: Apache-2.0 */
#include "format/named_lines.h"

#include <stdlib.h>

#include "base/ctx.h"

int ct_named_lines_find(struct ct_named_lines *lines)
{
    const struct ct_program *of;
    const struct ct_program *other;
    const size_t count = ct_programs_count(lines->programs);
    if (lines->table || lines->known == count)
        return CT_OK;
    lines->known = count;
    const int rc = ct_programs_named(lines->programs, &lines->table, &of, &other);
    if (of)
        lines->shift = of->bias;
    if (rc || !of || !other)
        return rc;
    return ct_fail(
        lines->ctx, CT_ERR_UNSUPPORTED,
        "%s and %s: both programs define names of events with the same numbers; the names of %s are used, so "
        "events of the other program get wrong names; build only one of them with names",
        of->path, other->path, of->path);
}

static int make_source(struct ct_named_lines *lines, const struct ct_event_origin *origin,
                       struct ct_named_source **out)
{
    struct ct_named_source *made = calloc(1, sizeof *made);
    if (!made)
        return ct_fail_nomem(lines->ctx, "named events");
    const int rc = ct_named_reader_new(lines->ctx, lines->table, &made->reader);
    if (rc) {
        free(made);
        return rc;
    }
    made->source = origin->source;
    made->id = origin->id;
    made->next = lines->sources;
    lines->sources = *out = made;
    return CT_OK;
}

/* Finds the reader of a source, and makes it at the first write. Leaves *out NULL before that. */
static int find_source(struct ct_named_lines *lines, const struct ct_event_origin *origin,
                       const struct ct_event *event, struct ct_named_source **out)
{
    struct ct_named_source *source = lines->sources;
    while (source && (source->source != origin->source || source->id != origin->id))
        source = source->next;
    *out = source;
    return source || event->type != CT_EVENT_SW ? CT_OK : make_source(lines, origin, out);
}

int ct_named_lines_take(struct ct_named_lines *lines, const struct ct_event_origin *origin,
                        const struct ct_event *event, bool *taken, ct_named_fn *fn, void *user)
{
    struct ct_named_source *source;
    struct ct_named_event named;
    *taken = false;
    if (!lines->table ||
        (event->type != CT_EVENT_SW && event->type != CT_EVENT_GAP && event->type != CT_EVENT_END))
        return CT_OK;
    int rc = find_source(lines, origin, event, &source);
    if (rc || !source)
        return rc;
    if (event->type != CT_EVENT_SW) {
        while (!rc && ct_named_reader_cut(source->reader, &named))
            rc = fn(user, &named);
        return rc;
    }
    const int part = ct_named_reader_take(source->reader, event, &named);
    *taken = part != CT_NAMED_OTHER;
    return part == CT_NAMED_WHOLE ? fn(user, &named) : CT_OK;
}

void ct_named_lines_free(struct ct_named_lines *lines)
{
    while (lines->sources) {
        struct ct_named_source *source = lines->sources;
        lines->sources = source->next;
        ct_named_reader_free(source->reader);
        free(source);
    }
}

double ct_named_number(const struct ct_named_event *e, unsigned argument)
{
    const union ct_named_argument *a = &e->arguments[argument];
    switch (e->entry->types[argument]) {
    case CT_NAMED_FLOAT:
    case CT_NAMED_DOUBLE:
        return a->f;
    case CT_NAMED_INT:
    case CT_NAMED_LONG:
        return (double)a->i;
    default:
        return (double)a->u;
    }
}
