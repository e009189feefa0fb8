/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf, mkostemp, O_TMPFILE */
#include "fleet/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/path.h"
#include "base/read_at.h"
#include "base/table_memory.h"
#include "fleet/digest.h"

char *ct_state_path(const char *folder, const uint8_t key[CT_FLEET_DIGEST])
{
    char name[CT_DIGEST_TEXT];
    char *path;
    ct_digest_text(key, name);
    return asprintf(&path, "%s/%s-%s.piece", folder, name, ct_version_exact()) < 0 ? NULL : path;
}

static int read_open(struct ct_ctx *ctx, int fd, const char *path, char **data, size_t *size)
{
    struct stat st;
    if (fstat(fd, &st))
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return ct_fail(ctx, CT_ERR_IO,
                       "%s: is not a regular file, so the result of a capture cannot be kept there; the job "
                       "ends; remove it and start the job again",
                       path);
    *data = ct_table_of_records((size_t)st.st_size + 1, 1); /* in large pages: many pieces have megabytes */
    if (!*data)
        return ct_fail_nomem(ctx, path);
    *size = (size_t)st.st_size;
    const ssize_t got = ct_read_at(fd, *data, *size, 0);
    if (got == st.st_size)
        return CT_OK;
    free(*data);
    *data = NULL;
    return ct_fail(ctx, CT_ERR_IO, "%s: cannot be read: %s", path,
                   got < 0 ? strerror(errno) : "it became shorter");
}

int ct_state_read(struct ct_ctx *ctx, const char *path, char **data, size_t *size)
{
    /* without O_NONBLOCK, a named pipe instead of the piece would wait for a writer */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return CT_ERR_NOT_FOUND;
    if (fd < 0)
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    const int rc = read_open(ctx, fd, path, data, size);
    close(fd);
    return rc;
}

/* The parts of a piece, in this order. */
struct piece {
    struct ct_state_bytes parts[2];
};

/* Writes all bytes. It does not wait for the disk, which takes as long as decoding a small capture: a piece
 * ends with a checksum, and one that a power failure cut is made again. Returns 0 or an errno value. */
static int write_all(int fd, const struct piece *piece)
{
    const int error = ct_write_all(fd, piece->parts[0].data, piece->parts[0].size);
    return error ? error : ct_write_all(fd, piece->parts[1].data, piece->parts[1].size);
}

/* Writes a file without a name, and names it when it is whole, so that nothing remains if the process dies.
 * If the name exists already, another process has written the same piece. Returns 0 or an errno value;
 * ENOTSUP: the file system has no nameless files. */
static int write_nameless(const char *folder, const char *path, const struct piece *piece)
{
    char self[40];
    const int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0)
        return ENOTSUP; /* after another error, a file with a name fails as well */
    int error = write_all(fd, piece);
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    if (!error && linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW))
        error = errno == EEXIST ? 0 : errno == ENOENT ? ENOTSUP : errno; /* ENOENT: no /proc */
    if (close(fd) && !error) {
        error = errno;
        unlink(path);
    }
    return error;
}

/* The same with a temporary name, for file systems without nameless files. */
static int write_beside(const char *path, const struct piece *piece)
{
    char *beside;
    if (asprintf(&beside, "%s.XXXXXX", path) < 0)
        return ENOMEM;
    const int fd = mkostemp(beside, O_CLOEXEC);
    int error = fd < 0 ? errno : write_all(fd, piece);
    if (fd >= 0 && close(fd) && !error)
        error = errno;
    if (fd >= 0 && !error && rename(beside, path))
        error = errno;
    if (fd >= 0 && error)
        unlink(beside);
    free(beside);
    return error;
}

int ct_state_write(struct ct_ctx *ctx, const char *path, struct ct_state_bytes head,
                   struct ct_state_bytes data)
{
    const struct piece piece = {{head, data}};
    char *folder = strndup(path, (size_t)(ct_base_name(path) - path));
    if (!folder)
        return ct_fail_nomem(ctx, path);
    int error = write_nameless(folder, path, &piece);
    if (error == ENOTSUP)
        error = write_beside(path, &piece);
    free(folder);
    if (error == ENOMEM)
        return ct_fail_nomem(ctx, path);
    const bool is_full = error == ENOSPC || error == EDQUOT;
    return error ? ct_fail(ctx, CT_ERR_IO,
                           "%s: the result of a capture cannot be written: %s; the job ends; make %s, and "
                           "continue the job with --resume",
                           path, strerror(error), is_full ? "room on its disk" : "the folder writable")
                 : CT_OK;
}
