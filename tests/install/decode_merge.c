/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the same as 'coretap decode --merge CAPTURE', with the installed library. */
#include <coretap/format.h>
#include <coretap/merge.h>

#include "with_capture.h"

static int print(struct ct_merge *merge, struct ct_event_writer *writer)
{
    struct ct_merge_batch batch;
    int rc;
    while ((rc = ct_merge_next(merge, &batch)) == CT_OK && batch.count) {
        const struct ct_event_origin origin = {.buffer = batch.source->buffer->name,
                                               .source = batch.source->source,
                                               .id = batch.source->id,
                                               .timed = batch.source->timed};
        rc = ct_event_writer_add_timed(writer, &origin, batch.events, batch.count);
        if (rc)
            break;
    }
    return rc ? rc : ct_event_writer_flush(writer);
}

static int use(struct ct_ctx *ctx, const struct ct_capture *capture, struct ct_programs *programs)
{
    const struct ct_event_write_options options = {
        .size = sizeof options, .merged = 1, .programs = programs, .capture = capture};
    struct ct_merge *merge = NULL;
    struct ct_event_writer *writer = NULL;
    int rc = ct_merge_new(ctx, capture->buffers, capture->buffer_count, NULL, &merge);
    if (!rc)
        rc = ct_event_writer_new(ctx, &options, put, stdout, &writer);
    if (!rc)
        rc = print(merge, writer);
    ct_event_writer_free(writer);
    ct_merge_free(merge);
    return rc;
}

int main(int argc, char **argv)
{
    return print_capture(argc, argv, NULL, use);
}
