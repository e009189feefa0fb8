/* Files in memory. */
#include "base/ctx.h"
#include "program/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map(struct ct_ctx *ctx, int fd, const char *path, struct ct_mapped_file **out)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be examined: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return ct_fail(ctx, CT_ERR_IO, "%s: not a regular file, so it cannot be mapped as a memory image",
                       path);
    if (st.st_size == 0)
        return ct_fail(ctx, CT_ERR_FORMAT, "%s: the file is empty; there is no memory image in it", path);
    size_t length = strlen(path) + 1;
    struct ct_mapped_file *file = malloc(sizeof *file + length);
    if (!file)
        return ct_fail_nomem(ctx, path);
    void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        free(file);
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be mapped: %s", path, strerror(errno));
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
    int result = map(ctx, fd, path, out);
    close(fd);
    return result;
}

void ct_mapped_file_close(struct ct_mapped_file *file)
{
    if (!file)
        return;
    munmap((void *)file->bytes, file->size);
    free(file);
}
