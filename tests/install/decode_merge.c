/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the same as 'coretap decode --merge CAPTURE', with the installed library. */
#include <stdio.h>

#include <coretap/format.h>
#include <coretap/merge.h>

static int put(void *user, const void *data, size_t size)
{
    return fwrite(data, 1, size, user) == size ? CT_OK : CT_ERR_IO;
}

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

int main(int argc, char **argv)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture = NULL;
    struct ct_programs *programs = NULL;
    struct ct_merge *merge = NULL;
    struct ct_event_writer *writer = NULL;
    struct ct_event_write_options options = {.size = sizeof options, .merged = 1};
    int rc = argc == 2 && ctx ? ct_capture_open(ctx, argv[1], &capture) : CT_ERR_ARG;
    if (!rc)
        rc = ct_programs_new(ctx, NULL, &programs);
    if (!rc)
        rc = ct_programs_add_capture(programs, capture);
    if (!rc)
        rc = ct_merge_new(ctx, capture->buffers, capture->buffer_count, NULL, &merge);
    options.programs = programs;
    options.capture = capture;
    if (!rc)
        rc = ct_event_writer_new(ctx, &options, put, stdout, &writer);
    if (!rc)
        rc = print(merge, writer);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ctx ? ct_ctx_error(ctx) : "");
    ct_event_writer_free(writer);
    ct_merge_free(merge);
    ct_programs_free(programs);
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}
