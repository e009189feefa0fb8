/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files.h"
#include "base/archive.h"
#include "base/read_at.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Looks for a file inside of an archive. */
static enum ct_file_kind look_inside(const char *path, uint64_t *size)
{
    struct ct_archived where;
    const int fd = ct_archive_entry(path) ? ct_archive_open(path, &where) : -1;
    if (fd < 0)
        return CT_FILE_NONE;
    close(fd);
    *size = where.size;
    return CT_FILE_REGULAR;
}

static enum ct_file_kind look(void *user, const char *path, uint64_t *size)
{
    (void)user;
    struct stat st;
    *size = 0;
    if (stat(path, &st) != 0)
        return look_inside(path, size);
    if (S_ISDIR(st.st_mode))
        return CT_FILE_DIR;
    if (!S_ISREG(st.st_mode))
        return CT_FILE_OTHER;
    *size = (uint64_t)st.st_size;
    return CT_FILE_REGULAR;
}

static ssize_t read_at(void *user, const char *path, uint64_t offset, char *buf, size_t cap)
{
    (void)user;
    struct ct_archived where;
    int fd = ct_archive_open(path, &where);
    if (fd < 0)
        return -1;
    if (where.inside) {
        const uint64_t left = offset < where.size ? where.size - offset : 0;
        cap = cap < left ? cap : (size_t)left;
        offset += where.offset;
    }
    const ssize_t size = ct_read_at(fd, buf, cap, offset);
    const int error = errno;
    close(fd);
    errno = error;
    return size;
}

static ssize_t read_head(void *user, const char *path, char *buf, size_t cap)
{
    return read_at(user, path, 0, buf, cap);
}

const struct ct_files ct_files_system = {.look = look, .read = read_head, .read_at = read_at};
