/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "bench.h"

const char *const bench_level_names[BENCH_LEVELS] = {"frame", "packet",   "element", "events",
                                                     "flow",  "coverage", "timing"};

/* `size` bytes of a file from `offset` on. */
static uint8_t *load(const char *path, uint64_t offset, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = file ? malloc(size + 1) : NULL;
    const bool whole =
        bytes && fseek(file, (long)offset, SEEK_SET) == 0 && fread(bytes, 1, size, file) == size;
    if (file)
        fclose(file);
    if (whole)
        return bytes;
    fprintf(stderr, "bench: %s: cannot be read\n", path);
    free(bytes);
    return NULL;
}

static bool load_all(struct bench_input *in)
{
    const struct ct_buffer *b = in->buffer;
    struct stat st;
    if (stat(b->path, &st) || st.st_size <= 0)
        return false;
    in->size = (size_t)st.st_size;
    in->bytes = load(b->path, 0, in->size);
    in->images = calloc(b->image_count + 1, sizeof *in->images);
    bool loaded = in->bytes && in->images;
    for (size_t i = 0; loaded && i < b->image_count; i++) {
        in->images[i] = load(b->images[i].path, b->images[i].offset, b->images[i].size);
        loaded = in->images[i] != NULL;
    }
    return loaded;
}

bool bench_input_open(struct bench_input *in, const char *name, const char *path)
{
    *in = (struct bench_input){.name = name, .ctx = ct_ctx_new()};
    if (!in->ctx || ct_capture_open(in->ctx, path, &in->capture)) {
        fprintf(stderr, "bench: %s: %s\n", path, ct_ctx_error(in->ctx));
        return false;
    }
    in->buffer = &in->capture->buffers[0];
    const struct ct_source *source = &in->buffer->sources[0];
    const bool v7 = source->protocol == CT_PROTOCOL_PTM || source->protocol == CT_PROTOCOL_ETM3;
    in->branch_broadcast = v7 ? source->regs.etmcr >> 8 & 1 : source->regs.configr >> 3 & 1;
    in->cycles = v7 ? source->regs.etmcr >> 12 & 1 : source->regs.configr >> 4 & 1;
    return load_all(in);
}

void bench_input_close(struct bench_input *in)
{
    for (size_t i = 0; in->images && i < in->buffer->image_count; i++)
        free(in->images[i]);
    free(in->images);
    free(in->bytes);
    ct_capture_free(in->capture);
    ct_ctx_free(in->ctx);
}

bool bench_has_level(const struct bench_input *in, enum bench_level level)
{
    switch (level) {
    case BENCH_FRAME:
        return in->buffer->framing != CT_FRAMING_NONE;
    case BENCH_EVENTS:
        return in->branch_broadcast;
    case BENCH_TIMING:
        return in->cycles;
    default:
        return true;
    }
}
