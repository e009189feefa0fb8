/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes a snapshot directory whose files are pieces of the input: each piece begins with a line "=== NAME".
 * Other files exist when their name begins with 'i', with 4096 bytes that nobody reads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "input/reader.h"

struct input {
    const char *text;
    size_t size;
};

/* Returns the piece called `name`, which has no NUL after it in the input. */
static const char *find(const struct input *input, const char *name, size_t *size)
{
    const char *end = input->text + input->size;
    size_t length = strlen(name);
    for (const char *line = input->text; line < end;) {
        const char *lf = memchr(line, '\n', (size_t)(end - line));
        const char *next = lf ? lf + 1 : end;
        if ((size_t)(next - line) >= 4 + length && memcmp(line, "=== ", 4) == 0 &&
            memcmp(line + 4, name, length) == 0 &&
            (size_t)(next - line) <= 6 + length) { /* perhaps with a CR */
            const char *stop = next;
            while (stop < end && !((size_t)(end - stop) >= 4 && memcmp(stop, "=== ", 4) == 0)) {
                lf = memchr(stop, '\n', (size_t)(end - stop));
                stop = lf ? lf + 1 : end;
            }
            *size = (size_t)(stop - next);
            return next;
        }
        line = next;
    }
    return NULL;
}

static enum ct_file_kind look(void *user, const char *path, uint64_t *size)
{
    size_t piece = 0;
    *size = 0;
    if (strcmp(path, "d") == 0)
        return CT_FILE_DIR;
    const char *name = strncmp(path, "d/", 2) == 0 ? path + 2 : path;
    if (find(user, name, &piece)) {
        *size = piece;
        return CT_FILE_REGULAR;
    }
    errno = ENOENT;
    *size = 4096;
    return name[0] == 'i' ? CT_FILE_REGULAR : CT_FILE_NONE;
}

static ssize_t read_piece(void *user, const char *path, char *buf, size_t cap)
{
    size_t size = 0;
    const char *text = find(user, strncmp(path, "d/", 2) == 0 ? path + 2 : path, &size);
    if (!text)
        return 0;
    size = size < cap ? size : cap;
    memcpy(buf, text, size);
    return (ssize_t)size;
}

static void touch(const struct ct_capture *capture)
{
    volatile size_t sum = 0;
    for (size_t i = 0; i < capture->buffer_count; i++) {
        const struct ct_buffer *buffer = &capture->buffers[i];
        sum += strlen(buffer->name) + strlen(buffer->path);
        for (size_t k = 0; k < buffer->source_count; k++)
            sum += strlen(buffer->sources[k].name) + buffer->sources[k].trace_id;
        for (size_t k = 0; k < buffer->image_count; k++) {
            if (buffer->images[k].offset > 4096 || buffer->images[k].size > 1 << 20)
                abort();
            sum += strlen(buffer->images[k].path);
        }
    }
    for (size_t i = 0; i < capture->buffer_count; i++) {
        const struct ct_buffer *buffer = &capture->buffers[i];
        for (size_t k = 0; k < buffer->piece_count; k++)
            if (!buffer->maps || buffer->pieces[k].time >= buffer->maps->processes[0].generation_count ||
                (k && buffer->pieces[k].offset != buffer->pieces[k - 1].offset + buffer->pieces[k - 1].size))
                abort();
    }
    for (size_t i = 0; i < capture->missing_count; i++)
        sum += strlen(capture->missing[i]);
    if (sum == SIZE_MAX)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1 << 18)
        return 0;
    struct input input = {(const char *)data, size};
    struct ct_files files = {.user = &input, .look = look, .read = read_piece};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture;
    if (!ctx)
        return 0;
    int status = ct_capture_open_files(ctx, &files, "d", NULL, &capture);
    if (status ? capture != NULL || !*ct_ctx_error(ctx) : !capture)
        abort();
    if (capture)
        touch(capture);
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return 0;
}
