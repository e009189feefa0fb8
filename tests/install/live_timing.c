/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the same as 'coretap timing CAPTURE', for bytes in pieces of 1000, with the installed library. */
#include <stdio.h>

#include <coretap/format.h>
#include <coretap/live.h>

static int put(void *user, const void *data, size_t size)
{
    return fwrite(data, 1, size, user) == size ? CT_OK : CT_ERR_IO;
}

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

int main(int argc, char **argv)
{
    const struct ct_programs_options moved = {.size = sizeof moved, .moved = 1};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture = NULL;
    struct ct_live_options options = {.size = sizeof options, .timing = 1};
    struct ct_live *live = NULL;
    int rc = argc == 2 && ctx ? ct_capture_open(ctx, argv[1], &capture) : CT_ERR_ARG;
    if (!rc)
        rc = ct_programs_new(ctx, &moved, &options.programs);
    if (!rc)
        rc = ct_programs_add_capture(options.programs, capture);
    options.buffer = capture ? &capture->buffers[0] : NULL;
    if (!rc)
        rc = ct_live_new(ctx, &options, &live);
    if (!rc)
        rc = push(ctx, live, options.buffer);
    if (!rc)
        rc = print(ctx, live, options.programs, options.buffer);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ctx ? ct_ctx_error(ctx) : "");
    ct_live_free(live);
    ct_programs_free(options.programs);
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}
