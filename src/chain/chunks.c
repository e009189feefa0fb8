/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/chunks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/whole_file.h"

/* bytes that ct_framing_probe needs */
#define FIRST_SIZE 4096

int ct_chunks_open(struct ct_chunks *c, struct ct_ctx *ctx, const char *path)
{
    *c = (struct ct_chunks){.ctx = ctx, .path = path, .fd = -1, .least = FIRST_SIZE, .left = UINT64_MAX};
    struct stat st;
    const int standard = strcmp(path, "-") == 0;
    c->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (c->fd < 0)
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    if (!standard && (fstat(c->fd, &st) != 0 || !S_ISREG(st.st_mode)))
        return ct_fail(ctx, CT_ERR_IO,
                       "%s: this is not a regular file, so no trace is read from it; pass the contents of a "
                       "pipe or device "
                       "as standard input",
                       path);
    c->end = standard ? 0 : (uint64_t)st.st_size;
    c->maps = !standard && ctx && ctx->maps_files;
    return CT_OK;
}

int ct_chunks_seek(struct ct_chunks *c, uint64_t offset, uint64_t size)
{
    c->left = size;
    if (size && size <= INT64_MAX && offset <= INT64_MAX && offset + size > c->end && c->fd != STDIN_FILENO)
        c->end = offset + size;
    const uint64_t at = c->at;
    c->at = offset;
    if (at != offset && lseek(c->fd, (off_t)offset, SEEK_SET) < 0)
        return ct_fail(c->ctx, CT_ERR_IO, "%s: cannot be read at offset %llu: %s", c->path,
                       (unsigned long long)offset, strerror(errno));
    return CT_OK;
}

uint64_t ct_chunks_file_size(const struct ct_chunks *c)
{
    struct stat st;
    return c->fd == STDIN_FILENO || fstat(c->fd, &st) || !S_ISREG(st.st_mode) ? 0 : (uint64_t)st.st_size;
}

/* Maps the next piece, at most `most` bytes. False: it must be read. */
static bool map_piece(struct ct_chunks *c, size_t most, size_t *size)
{
    const uint64_t end = ct_chunks_file_size(c);
    const uint64_t left = c->at < end ? end - c->at : 0;
    *size = left < most ? (size_t)left : most;
    c->data = *size ? ct_file_window_at(&c->window, c->fd, c->at, *size) : NULL;
    if (c->data || !*size)
        return true;
    *size = 0;
    c->maps = false;
    return false;
}

/* Reads the next piece, at most `most` bytes, from the current position. */
static int read_piece(struct ct_chunks *c, size_t most, size_t *size)
{
    if (!c->buffer)
        c->buffer = malloc(CT_CHUNK_SIZE);
    if (!c->buffer)
        return ct_fail_nomem(c->ctx, c->path);
    c->data = c->buffer;
    while (*size < most) {
        ssize_t got = read(c->fd, c->buffer + *size, most - *size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ct_fail(c->ctx, CT_ERR_IO, "%s: cannot be read: %s", c->path, strerror(errno));
        if (got == 0)
            break;
        *size += (size_t)got;
        /* A read of a pipe returns what has arrived. Once the first chunk is large enough to detect its
         * framing, it is decoded before waiting for more. */
        if (c->fd == STDIN_FILENO && *size >= c->least)
            break;
    }
    c->least = 1;
    return CT_OK;
}

int ct_chunks_next(struct ct_chunks *c, size_t *size)
{
    const size_t most = c->left < CT_CHUNK_SIZE ? (size_t)c->left : CT_CHUNK_SIZE;
    const bool mapped = c->maps;
    *size = 0;
    /* The last chunk ended in zeros if the file was truncated after it had been mapped. */
    if (c->window.map && ct_chunks_file_size(c) < c->end)
        return ct_fail_shorter(c->ctx, c->fd, c->path, c->end);
    if (!mapped || !map_piece(c, most, size)) {
        const uint64_t at = c->at;
        c->at = mapped ? UINT64_MAX : at; /* the file was not read up to there */
        int rc = mapped ? ct_chunks_seek(c, at, c->left) : CT_OK;
        if (!rc)
            rc = read_piece(c, most, size);
        if (rc)
            return rc;
    }
    c->at += *size;
    if (*size < most && c->at < c->end)
        return ct_fail_shorter(c->ctx, c->fd, c->path, c->end);
    if (c->left != UINT64_MAX)
        c->left -= *size;
    return CT_OK;
}

void ct_chunks_close(struct ct_chunks *c)
{
    if (c->fd > STDIN_FILENO)
        close(c->fd);
    free(c->buffer);
    ct_file_window_close(&c->window);
    *c = (struct ct_chunks){.fd = -1};
}
