/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the .ini of a raw trace. Every other file exists, with 4096 bytes, unless its name contains
 * "gone". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "input/reader.h"

struct input {
    const uint8_t *data;
    size_t size;
};

static enum ct_file_kind look(void *user, const char *path, uint64_t *size)
{
    const struct input *input = user;
    *size = strcmp(path, "d/t.ini") == 0 ? input->size : 4096;
    errno = ENOENT;
    return strstr(path, "gone") ? CT_FILE_NONE : CT_FILE_REGULAR;
}

static ssize_t read_input(void *user, const char *path, char *buf, size_t cap)
{
    const struct input *input = user;
    size_t size = strcmp(path, "d/t.ini") == 0 ? input->size : 0;
    size = size < cap ? size : cap;
    if (size)
        memcpy(buf, input->data, size);
    return (ssize_t)size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1 << 18)
        return 0;
    struct input input = {data, size};
    struct ct_files files = {.user = &input, .look = look, .read = read_input};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture;
    if (!ctx)
        return 0;
    int status = ct_capture_open_files(ctx, &files, "d/t.ini", NULL, &capture);
    if (status ? capture != NULL || !*ct_ctx_error(ctx) : !capture || capture->buffer_count != 1)
        abort();
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return 0;
}
