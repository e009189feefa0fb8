/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files into memory. */
#include "base/archive.h"
#include "base/ctx.h"
#include "base/whole_file.h"
#include "program/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_whole(struct ct_ctx *ctx, int fd, const char *path, const struct ct_archived *where,
                      struct ct_mapped_file **out)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be examined: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return ct_fail(ctx, CT_ERR_IO, "%s: not a regular file, so there is no memory image in it", path);
    const size_t size = where->inside ? (size_t)where->size : (size_t)st.st_size;
    if (size == 0)
        return ct_fail(ctx, CT_ERR_FORMAT, "%s: the file is empty; there is no memory image in it", path);
    size_t length = strlen(path) + 1;
    struct ct_mapped_file *file = malloc(sizeof *file + length);
    if (!file)
        return ct_fail_nomem(ctx, path);
    void *bytes = NULL;
    const int result = where->inside ? ct_whole_file_read_part(ctx, fd, path, where->offset, size, &bytes)
                                     : ct_whole_file_read(ctx, fd, path, size, &bytes);
    if (result != CT_OK) {
        free(file);
        return result;
    }
    *file = (struct ct_mapped_file){
        .dev = st.st_dev, .ino = st.st_ino, .offset = where->offset, .bytes = bytes, .size = size};
    memcpy(file->path, path, length);
    *out = file;
    return CT_OK;
}

int ct_mapped_file_open(struct ct_ctx *ctx, const char *path, struct ct_mapped_file **out)
{
    struct ct_archived where;
    int fd = ct_archive_open(path, &where);
    if (fd < 0 && errno == ENOTSUP && ct_archive_entry(path))
        return ct_fail(ctx, CT_ERR_IO, "%s: is compressed in the archive; take it out and name the file",
                       path);
    if (fd < 0)
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    int result = read_whole(ctx, fd, path, &where, out);
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
