/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files into memory. */
#include "base/ctx.h"
#include "base/whole_file.h"
#include "program/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_whole(struct ct_ctx *ctx, int fd, const char *path, struct ct_mapped_file **out)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be examined: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return ct_fail(ctx, CT_ERR_IO, "%s: not a regular file, so there is no memory image in it", path);
    if (st.st_size == 0)
        return ct_fail(ctx, CT_ERR_FORMAT, "%s: the file is empty; there is no memory image in it", path);
    size_t length = strlen(path) + 1;
    struct ct_mapped_file *file = malloc(sizeof *file + length);
    if (!file)
        return ct_fail_nomem(ctx, path);
    void *bytes = NULL;
    const int result = ct_whole_file_read(ctx, fd, path, (size_t)st.st_size, &bytes);
    if (result != CT_OK) {
        free(file);
        return result;
    }
    *file = (struct ct_mapped_file){
        .dev = st.st_dev, .ino = st.st_ino, .bytes = bytes, .size = (size_t)st.st_size};
    memcpy(file->path, path, length);
    *out = file;
    return CT_OK;
}

int ct_mapped_file_open(struct ct_ctx *ctx, const char *path, struct ct_mapped_file **out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    int result = read_whole(ctx, fd, path, out);
    close(fd);
    return result;
}

void ct_mapped_file_close(struct ct_mapped_file *file)
{
    if (!file)
        return;
    ct_whole_file_free(file->bytes, file->size);
    free(file);
}
