/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the same as 'coretap timing CAPTURE', for bytes in pieces of 1000, with the installed library. */
#include <coretap/format.h>
#include <coretap/live.h>

#include "with_capture.h"

static int push(struct ct_ctx *ctx, struct ct_live *live, const struct ct_buffer *buffer)
{
    unsigned char data[1000];
    size_t size = 1;
    FILE *file = fopen(buffer->path, "rb");
    int rc = file ? CT_OK : ct_ctx_fail(ctx, CT_ERR_IO, buffer->path);
    while (!rc && (size = fread(data, 1, sizeof data, file)) > 0)
        rc = ct_live_push(live, data, size, 0);
    if (file)
        fclose(file);
    return rc ? rc : ct_live_finish(live);
}

static int print(struct ct_ctx *ctx, struct ct_live *live, struct ct_programs *programs,
                 const struct ct_buffer *buffer)
{
    const struct ct_timing_write_options options = {.size = sizeof options, .programs = programs};
    struct ct_timing_writer *writer = NULL;
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(ct_live_chain(live), &count);
    int rc = ct_timing_writer_new(ctx, &options, put, stdout, &writer);
    for (size_t i = 0; i < count && !rc; i++) {
        const struct ct_timing *timing = ct_live_timing(live, streams[i].id);
        const struct ct_timing_origin origin = {.buffer = buffer->name,
                                                .core = streams[i].source->core,
                                                .losses = streams[i].stats.losses,
                                                .id = streams[i].id};
        if (timing)
            rc = ct_timing_writer_stream(writer, timing, &origin);
    }
    if (!rc)
        rc = ct_timing_writer_end(writer);
    ct_timing_writer_free(writer);
    return rc;
}

static int use(struct ct_ctx *ctx, const struct ct_capture *capture, struct ct_programs *programs)
{
    const struct ct_live_options options = {
        .size = sizeof options, .timing = 1, .programs = programs, .buffer = &capture->buffers[0]};
    struct ct_live *live = NULL;
    int rc = ct_live_new(ctx, &options, &live);
    if (!rc)
        rc = push(ctx, live, options.buffer);
    if (!rc)
        rc = print(ctx, live, programs, options.buffer);
    ct_live_free(live);
    return rc;
}

int main(int argc, char **argv)
{
    const struct ct_programs_options moved = {.size = sizeof moved, .moved = 1};
    return print_capture(argc, argv, &moved, use);
}
