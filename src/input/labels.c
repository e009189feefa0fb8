/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the names in a capture printable, because from here on they are only shown and compared. Paths do not
 * change, because files are opened by them. */
#include "base/printable.h"
#include "input/reader.h"

static int make_printable(struct ct_opening *opening, const char **text)
{
    if (!*text)
        return CT_OK;
    *text = ct_printable(opening->arena, *text);
    return *text ? CT_OK : ct_fail_nomem(opening->ctx, "names of the capture");
}

static int source_labels(struct ct_opening *opening, struct ct_source *source)
{
    return make_printable(opening, &source->name)
           ?: make_printable(opening, &source->core)
           ?: make_printable(opening, &source->model);
}

/* Makes the names of a buffer and its sources printable. The capture's arrays are const for readers, but are
 * in its arena and may be written until it is returned. */
static int buffer_labels(struct ct_opening *opening, struct ct_buffer *buffer)
{
    struct ct_source *sources = (struct ct_source *)buffer->sources;
    int rc = make_printable(opening, &buffer->name);
    for (size_t i = 0; !rc && i < buffer->source_count; i++)
        rc = source_labels(opening, &sources[i]);
    return rc;
}

static int context_labels(struct ct_opening *opening, const struct ct_buffer *buffer)
{
    struct ct_context_name *names = (struct ct_context_name *)buffer->names;
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < buffer->name_count; i++)
        rc = make_printable(opening, &names[i].name);
    return rc;
}

static int process_labels(struct ct_opening *opening, const struct ct_process *process)
{
    struct ct_generation *generations = (struct ct_generation *)process->generations;
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < process->generation_count; i++)
        rc = make_printable(opening, &generations[i].name);
    return rc;
}

static int text_labels(struct ct_opening *opening, const char *const *texts, size_t count)
{
    const char **all = (const char **)texts;
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < count; i++)
        rc = make_printable(opening, &all[i]);
    return rc;
}

int ct_capture_labels(struct ct_opening *opening)
{
    const struct ct_capture *capture = opening->capture;
    struct ct_buffer *buffers = (struct ct_buffer *)capture->buffers;
    int rc = text_labels(opening, capture->missing, capture->missing_count);
    if (!rc)
        rc = text_labels(opening, capture->damage, capture->damage_count);
    for (size_t i = 0; !rc && i < capture->buffer_count; i++)
        rc = buffer_labels(opening, &buffers[i]);
    for (size_t i = 0; !rc && i < capture->buffer_count; i++)
        if (!i || buffers[i].names != buffers[i - 1].names) /* not shared with the buffer before */
            rc = context_labels(opening, &buffers[i]);
    struct ct_image *gone = (struct ct_image *)capture->gone; /* their paths are not opened */
    for (size_t i = 0; !rc && i < capture->gone_count; i++)
        rc = make_printable(opening, &gone[i].path);
    for (size_t i = 0; !rc && capture->maps && i < capture->maps->process_count; i++)
        rc = process_labels(opening, &capture->maps->processes[i]);
    return rc;
}
