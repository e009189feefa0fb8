/* SPDX-License-Identifier: Apache-2.0 */
#include "base/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/read_at.h"

#define END_SIZE    22u /* of the record behind the directory, without its comment */
#define COMMENT_MAX 65535u
#define ROW_SIZE    46u /* of an entry in the directory, without its name */
#define LOCAL_SIZE  30u /* of the head in front of its bytes, without its name */

/* The 64-bit extension (ZIP64): */
#define END64_SIZE   56u        /* of its record after the directory, version 1 */
#define LOCATOR_SIZE 20u        /* of the locator of that record, before the 32-bit record */
#define EXTRA64      1u         /* number of the extra field with 64-bit numbers */
#define IN_EXTRA     UINT32_MAX /* value of a 32-bit number that is in the extra field instead */

static const uint8_t end_magic[4] = {'P', 'K', 5, 6};
static const uint8_t end64_magic[4] = {'P', 'K', 6, 6};
static const uint8_t locator_magic[4] = {'P', 'K', 6, 7};
static const uint8_t row_magic[4] = {'P', 'K', 1, 2};
static const uint8_t local_magic[4] = {'P', 'K', 3, 4};

/* The directory of an archive. */
struct directory {
    int fd;
    uint64_t file;  /* size of the archive */
    uint8_t *bytes; /* to be freed */
    size_t size;
};

/* One entry of a directory. */
struct entry {
    const char *name; /* not terminated by a zero */
    size_t length;
    bool stored;
    struct ct_archived where;
};

static bool read_whole(int fd, uint64_t offset, void *bytes, size_t size)
{
    return ct_read_at(fd, bytes, size, offset) == (ssize_t)size;
}

/* Finds the record at the end, in the last `size` bytes of the file. NULL: there is none. */
static const uint8_t *find_end(const uint8_t *tail, size_t size)
{
    for (size_t at = size < END_SIZE ? 0 : size - END_SIZE + 1; at > 0; at--)
        if (!memcmp(tail + at - 1, end_magic, sizeof end_magic))
            return tail + at - 1;
    return NULL;
}

/* Finds the offset and length of the directory, from the last `size` bytes of the file. Returns false when
 * they do not contain it. */
static bool find_directory(int fd, const uint8_t *tail, size_t size, uint64_t *offset, uint64_t *length)
{
    uint8_t end64[END64_SIZE];
    const uint8_t *end = find_end(tail, size);
    if (!end)
        return false;
    *length = ct_load32(end + 12);
    *offset = ct_load32(end + 16);
    const uint8_t *locator = end - tail >= (ptrdiff_t)LOCATOR_SIZE ? end - LOCATOR_SIZE : NULL;
    if (!locator || memcmp(locator, locator_magic, sizeof locator_magic) != 0)
        return true;
    const uint64_t at = ct_load64(locator + 8);
    if (at > INT64_MAX || !read_whole(fd, at, end64, sizeof end64) ||
        memcmp(end64, end64_magic, sizeof end64_magic) != 0)
        return false;
    *length = ct_load64(end64 + 40);
    *offset = ct_load64(end64 + 48);
    return true;
}

/* Reads the directory. Returns false when the file is no archive, or damaged. When out of memory, errno is
 * ENOMEM. */
static bool open_directory(int fd, struct directory *d)
{
    struct stat st;
    uint8_t magic[sizeof local_magic];
    *d = (struct directory){.fd = fd};
    errno = 0;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !read_whole(fd, 0, magic, sizeof magic) ||
        memcmp(magic, local_magic, sizeof magic) != 0)
        return false;
    const uint64_t file = (uint64_t)st.st_size;
    const size_t size = file < END_SIZE + COMMENT_MAX ? (size_t)file : END_SIZE + COMMENT_MAX;
    uint8_t *tail = malloc(size);
    uint64_t offset, length;
    const bool found =
        tail && read_whole(fd, file - size, tail, size) && find_directory(fd, tail, size, &offset, &length);
    free(tail);
    if (!found || !length || length > UINT32_MAX || offset > file || length > file - offset)
        return false;
    d->file = file;
    d->bytes = malloc(length);
    d->size = length;
    return d->bytes && read_whole(fd, offset, d->bytes, length);
}

/* Reads the numbers of an entry that do not fit into 32 bits, from its extra field. Returns false when one is
 * missing. */
static bool read_extra64(const uint8_t *extra, size_t size, uint64_t *const numbers[3])
{
    size_t at = 0, length = 0, used = 0;
    while (size - at >= 4 && ct_load16(extra + at) != EXTRA64 && ct_load16(extra + at + 2) <= size - at - 4)
        at += 4 + ct_load16(extra + at + 2);
    if (size - at >= 4 && ct_load16(extra + at) == EXTRA64)
        length = ct_load16(extra + at + 2) < size - at - 4 ? ct_load16(extra + at + 2) : size - at - 4;
    for (size_t i = 0; i < 3; i++) {
        if (*numbers[i] != IN_EXTRA)
            continue;
        if (length - used < 8)
            return false;
        *numbers[i] = ct_load64(extra + at + 4 + used);
        used += 8;
    }
    return true;
}

/* Reads the entry at *at, and advances *at past it. Returns false at the end of the directory. */
static bool next_entry(const struct directory *d, size_t *at, struct entry *e)
{
    const uint8_t *row = d->bytes + *at;
    if (d->size - *at < ROW_SIZE || memcmp(row, row_magic, sizeof row_magic) != 0)
        return false;
    const size_t length = ct_load16(row + 28);
    const size_t behind = ROW_SIZE + length + ct_load16(row + 30) + ct_load16(row + 32);
    if (behind > d->size - *at)
        return false;
    uint64_t size = ct_load32(row + 24), packed = ct_load32(row + 20), offset = ct_load32(row + 42);
    if (!read_extra64(row + ROW_SIZE + length, ct_load16(row + 30), (uint64_t *[]){&size, &packed, &offset}))
        return false;
    /* The offset is that of the local header, whose extra field may have another length: see place. */
    *e = (struct entry){.name = (const char *)row + ROW_SIZE,
                        .length = length,
                        .stored = ct_load16(row + 10) == 0 && packed == size,
                        .where = {.inside = true, .offset = offset, .size = size}};
    *at += behind;
    return true;
}

/* Moves the offset of an entry from its local header to its bytes. Returns false when they are not in the
 * archive. */
static bool place(const struct directory *d, struct entry *e)
{
    uint8_t head[LOCAL_SIZE];
    if (!read_whole(d->fd, e->where.offset, head, sizeof head) ||
        memcmp(head, local_magic, sizeof local_magic) != 0)
        return false;
    e->where.offset += LOCAL_SIZE + ct_load16(head + 26) + ct_load16(head + 28);
    return e->where.offset <= d->file && e->where.size <= d->file - e->where.offset;
}

const char *ct_archive_entry(const char *path)
{
    const char *mark = strstr(path, "!/");
    return mark && mark > path && mark[2] ? mark + 2 : NULL;
}

/* Finds an entry by its name. Returns 0 or an errno. */
static int find_name(int fd, const char *name, struct ct_archived *where)
{
    struct directory d;
    struct entry e;
    size_t at = 0;
    const bool is_open = open_directory(fd, &d);
    int error = !is_open && errno == ENOMEM ? ENOMEM : ENOENT;
    while (is_open && error == ENOENT && next_entry(&d, &at, &e)) {
        if (e.length != strlen(name) || memcmp(e.name, name, e.length) != 0)
            continue;
        error = !e.stored ? ENOTSUP : place(&d, &e) ? 0 : EIO;
        *where = e.where;
    }
    free(d.bytes);
    return error;
}

int ct_archive_open(const char *path, struct ct_archived *where)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
    const char *name = ct_archive_entry(path);
    int fd = open(path, flags);
    *where = (struct ct_archived){0};
    if (fd >= 0 || !name)
        return fd;
    char *archive = strndup(path, (size_t)(name - 2 - path));
    fd = archive ? open(archive, flags) : -1;
    free(archive);
    const int error = fd < 0 ? errno : find_name(fd, name, where);
    if (fd >= 0 && error)
        close(fd);
    errno = error;
    return error ? -1 : fd;
}

bool ct_archive_find(const char *path, uint64_t offset, char *name, struct ct_archived *where)
{
    struct directory d;
    struct entry e;
    size_t at = 0;
    bool found = false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    const bool is_open = open_directory(fd, &d);
    while (is_open && !found && next_entry(&d, &at, &e)) {
        found = e.stored && e.length < CT_ARCHIVE_NAME && !memchr(e.name, 0, e.length) &&
                e.where.offset <= offset && place(&d, &e) && offset >= e.where.offset &&
                offset - e.where.offset < e.where.size;
        if (!found)
            continue;
        memcpy(name, e.name, e.length);
        name[e.length] = '\0';
        *where = e.where;
    }
    const int error = !is_open && errno == ENOMEM ? ENOMEM : ENOENT;
    free(d.bytes);
    close(fd);
    errno = error;
    return found;
}
