/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a perf.data file through a window, so that records are read in place and trace between them is
 * skipped. */
#include "input/perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_SIZE ((size_t)256 << 10)

int ct_perf_file_open(struct ct_perf_file *file, struct ct_ctx *ctx, const struct ct_files *files,
                      const char *path)
{
    *file = (struct ct_perf_file){.files = files, .path = path};
    if (files->look(files->user, path, &file->size) != CT_FILE_REGULAR)
        return ct_fail(ctx, CT_ERR_IO, "%s: this is not a regular file: %s", path, strerror(errno));
    file->window = malloc(WINDOW_SIZE);
    return file->window ? CT_OK : ct_fail_nomem(ctx, path);
}

void ct_perf_file_close(struct ct_perf_file *file)
{
    free(file->window);
    file->window = NULL;
}

const uint8_t *ct_perf_file_bytes(struct ct_perf_file *file, uint64_t offset, size_t size)
{
    if (offset > file->size || size > file->size - offset || size > WINDOW_SIZE)
        return NULL;
    bool here =
        offset >= file->at && offset - file->at <= file->have && size <= file->have - (offset - file->at);
    if (!here) {
        ssize_t n = file->files->read_at(file->files->user, file->path, offset, file->window, WINDOW_SIZE);
        file->at = offset;
        file->have = n < 0 ? 0 : (size_t)n;
        if (file->have < size)
            return NULL;
    }
    return (const uint8_t *)file->window + (offset - file->at);
}
