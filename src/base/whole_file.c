/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* SEEK_DATA */
#include "base/whole_file.h"
#include "base/ctx.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int ct_fail_shorter(struct ct_ctx *ctx, int fd, const char *path, uint64_t size)
{
    struct stat st;
    const uint64_t left = fstat(fd, &st) || st.st_size < 0 ? 0 : (uint64_t)st.st_size;
    const unsigned long long lost = left < size ? size - left : 0;
    return ct_fail(
        ctx, CT_ERR_IO,
        "%s: became shorter while it was read: %llu of its %llu bytes are lost; read a copy, or wait until "
        "no other program writes it",
        path, lost, (unsigned long long)size);
}

/* Reads [at, end) of the file, or of the part of it that begins at `from`. */
static int read_part(struct ct_ctx *ctx, int fd, const char *path, uint64_t from, char *bytes, size_t at,
                     size_t end)
{
    while (at < end) {
        const ssize_t n = pread(fd, bytes + at, end - at, (off_t)(from + at));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ct_fail(ctx, CT_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
        if (n == 0)
            return ct_fail_shorter(ctx, fd, path, from + end);
        at += (size_t)n;
    }
    return CT_OK;
}

/* The usual size of a large page. */
#define LARGE_PAGE ((size_t)2 << 20)

/* all page sizes are multiples of it */
#define SMALL_PAGE ((size_t)4 << 10)

/* Prepares the pages of [at, end) for writing with fewer faults than one a page: all at once, or as large
 * pages where they are filled completely. */
static void ready_pages(char *bytes, size_t at, size_t end)
{
    const uintptr_t from = ((uintptr_t)bytes + at + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
    const uintptr_t to = ((uintptr_t)bytes + end) & ~(LARGE_PAGE - 1);
    const int error = errno; /* a refusal by the kernel only makes it slower */
#ifdef MADV_HUGEPAGE
    if (from < to)
        madvise((void *)from, to - from, MADV_HUGEPAGE);
#endif
#ifdef MADV_POPULATE_WRITE
    const size_t in_page = ((uintptr_t)bytes + at) & (SMALL_PAGE - 1);
    if (from >= to && end > at)
        madvise(bytes + at - in_page, end - at + in_page, MADV_POPULATE_WRITE);
#endif
    errno = error;
}

/* Reads everything except holes. A file system without holes reports that all is data. */
static int read_data(struct ct_ctx *ctx, int fd, const char *path, char *bytes, size_t size)
{
    int rc = CT_OK;
    for (size_t at = 0; at < size && !rc;) {
        const off_t data = lseek(fd, (off_t)at, SEEK_DATA);
        if (data < 0 && errno == ENXIO) /* a hole up to the end, if the file did not become shorter */
            return lseek(fd, 0, SEEK_END) >= (off_t)size ? CT_OK
                                                         : read_part(ctx, fd, path, 0, bytes, size - 1, size);
        const off_t hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);
        const size_t from = hole < 0 ? at : (size_t)data;
        const size_t to = hole < 0 || (size_t)hole > size ? size : (size_t)hole;
        const size_t end = to > from ? to : size;
        ready_pages(bytes, from, end);
        if (from < size)
            rc = read_part(ctx, fd, path, 0, bytes, from, end);
        at = end;
    }
    return rc;
}

/* Makes anonymous pages: those of holes are never allocated. */
static void *make_room(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int ct_whole_file_read(struct ct_ctx *ctx, int fd, const char *path, size_t size, void **bytes)
{
    void *room = make_room(size);
    if (room == MAP_FAILED)
        return ct_fail_nomem(ctx, path);
    const int rc = read_data(ctx, fd, path, room, size);
    if (rc)
        munmap(room, size);
    else
        *bytes = room;
    return rc;
}

int ct_whole_file_read_part(struct ct_ctx *ctx, int fd, const char *path, uint64_t from, size_t size,
                            void **bytes)
{
    void *room = make_room(size);
    if (room == MAP_FAILED)
        return ct_fail_nomem(ctx, path);
    const int rc = read_part(ctx, fd, path, from, room, 0, size);
    if (rc)
        munmap(room, size);
    else
        *bytes = room;
    return rc;
}

int ct_whole_file_read_to(struct ct_ctx *ctx, int fd, const char *path, uint64_t from, size_t size,
                          void *room)
{
    return read_part(ctx, fd, path, from, room, 0, size);
}

int ct_whole_file_copy(struct ct_ctx *ctx, const char *path, const void *from, size_t size, void **bytes)
{
    void *room = make_room(size);
    if (room == MAP_FAILED)
        return ct_fail_nomem(ctx, path);
    *bytes = memcpy(room, from, size);
    return CT_OK;
}

void ct_whole_file_free(const void *bytes, size_t size)
{
    if (bytes)
        munmap((void *)bytes, size);
}
