/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "chain/file_window.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Minimal and maximal size of a mapping, in bytes: for the first access, and for sequential reading. Offsets
 * are multiples of the minimum, which is a multiple of all page sizes. */
#define LEAST (UINT64_C(1) << 19)
#define MOST  (UINT64_C(1) << 23)

static bool holds(const struct ct_file_window *w, uint64_t offset, size_t size)
{
    return w->map && offset >= w->at && offset - w->at <= w->size && size <= w->size - (offset - w->at);
}

/* Maps bytes from `offset` on, more of them when the window continues where it ended. */
static int map(struct ct_file_window *w, int fd, uint64_t offset, size_t size, uint64_t file_size)
{
    const bool goes_on = w->map && offset > w->at && offset <= w->at + w->size;
    const uint64_t twice = goes_on ? 2 * (uint64_t)w->size : LEAST;
    const uint64_t begin = offset - offset % LEAST;
    uint64_t end = begin + (twice < LEAST ? LEAST : twice < MOST ? twice : MOST);
    end = end < offset + size ? offset + size : end;
    end = end < file_size ? end : file_size;
    ct_file_window_close(w);
    void *bytes = mmap(NULL, (size_t)(end - begin), PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, (off_t)begin);
    if (bytes == MAP_FAILED)
        return -1;
    *w = (struct ct_file_window){.map = bytes, .at = begin, .size = (size_t)(end - begin)};
    if (goes_on && end < file_size)
        posix_fadvise(fd, (off_t)end, (off_t)MOST, POSIX_FADV_WILLNEED);
    return 0;
}

const uint8_t *ct_file_window_at(struct ct_file_window *w, int fd, uint64_t offset, size_t size)
{
    struct stat st;
    errno = 0;
    if (fstat(fd, &st))
        return NULL;
    const uint64_t file_size = (uint64_t)st.st_size;
    if (offset > file_size || size > file_size - offset)
        return NULL;
    if (!holds(w, offset, size) && map(w, fd, offset, size, file_size))
        return NULL;
    return w->map + (offset - w->at);
}

void ct_file_window_close(struct ct_file_window *w)
{
    if (w->map)
        munmap(w->map, w->size);
    *w = (struct ct_file_window){0};
}
