/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what the input and frame layers make of a capture, for tests/golden/check_demux.py:
 *   buffer NAME FRAMING SOURCES IMAGES MARKS LOST
 *   ID OFFSET HEX          bytes of a trace ID that are adjacent in the capture
 *   missing N */
#include <stdio.h>
#include <stdlib.h>

#include "coretap/frame.h"
#include "coretap/input.h"

struct totals {
    size_t marks;
    unsigned long long lost;
};

static void print_run(unsigned id, const struct ct_run *run)
{
    for (size_t i = 0; i < run->size; i++) {
        uint64_t offset = ct_run_offset(run, run->pos + i);
        if (i == 0 || offset != ct_run_offset(run, run->pos + i - 1) + 1)
            printf("%s%02x %llu ", i ? "\n" : "", id, (unsigned long long)offset);
        printf("%02x", run->data[i]);
    }
    if (run->size)
        printf("\n");
}

static void drain(struct ct_demux *demux, struct totals *totals)
{
    size_t count;
    const struct ct_frame_mark *marks = ct_demux_marks(demux, &count);
    for (size_t i = 0; i < count; i++) {
        totals->marks++;
        totals->lost += marks[i].lost;
    }
    for (unsigned id = 0; id < 128; id++) {
        struct ct_run run;
        ct_demux_run(demux, (uint8_t)id, &run);
        print_run(id, &run);
        ct_demux_consume(demux, (uint8_t)id, run.size);
    }
}

static int dump(struct ct_ctx *ctx, const struct ct_buffer *buffer, size_t chunk)
{
    struct ct_demux_options options = {.size = sizeof options, .framing = buffer->framing};
    struct ct_demux *demux;
    struct totals totals = {0};
    static uint8_t data[1 << 22];
    FILE *file = fopen(buffer->path, "rb");
    if (!file)
        return 1;
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    if (options.framing == CT_FRAMING_AUTO)
        options.framing = (uint8_t)ct_framing_probe(data, size < 4096 ? size : 4096);
    if (ct_demux_new(ctx, &options, &demux))
        return 1;
    for (size_t at = 0, used; at < size; at += used) {
        if (ct_demux_push(demux, data + at, size - at < chunk ? size - at : chunk, &used))
            return 1;
        drain(demux, &totals);
    }
    ct_demux_finish(demux);
    drain(demux, &totals);
    ct_demux_free(demux);
    printf("buffer %s %s %zu %zu %zu %llu\n", buffer->name, ct_framing_name(options.framing),
           buffer->source_count, buffer->image_count, totals.marks, totals.lost);
    return 0;
}

static void say(void *user, enum ct_log_level level, const char *text)
{
    (void)user;
    fprintf(stderr, "%d: %s\n", (int)level, text);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture;
    int status = 0;
    ct_ctx_set_log(ctx, say, NULL, CT_LOG_DEBUG);
    if (ct_capture_open(ctx, argv[1], &capture)) {
        fprintf(stderr, "%s\n", ct_ctx_error(ctx));
        ct_ctx_free(ctx);
        return 1;
    }
    for (size_t i = 0; i < capture->buffer_count && !status; i++)
        status = dump(ctx, &capture->buffers[i], argc > 2 ? strtoul(argv[2], NULL, 0) : 65536);
    printf("missing %zu\n", capture->missing_count);
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return status;
}
