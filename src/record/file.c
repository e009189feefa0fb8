/* SPDX-License-Identifier: Apache-2.0 */
#include "record/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/room.h"

#define GRACE 2  /* seconds that the reader of a pipe has after a signal */
#define LOOK  50 /* milliseconds between two checks for the signal */

/* Opens a named pipe once it has a reader. -1, with errno EINTR after a signal. */
static int open_pipe(const char *path, const volatile int *signal)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    for (;;) {
        const int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 || errno != ENXIO)
            return fd;
        if (signal && *signal) {
            errno = EINTR;
            return -1;
        }
        nanosleep(&pause, NULL);
    }
}

static FILE *create(const char *path, const volatile int *signal, bool *is_pipe)
{
    struct stat st;
    *is_pipe = stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
    if (!*is_pipe)
        return fopen(path, "w");
    const int fd = open_pipe(path, signal);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

int ct_record_file_open(struct ct_ctx *ctx, struct ct_record_file *t, const char *path,
                        const volatile int *signal)
{
    *t = (struct ct_record_file){.signal = signal};
    t->file = create(path, signal, &t->is_pipe);
    if (!t->file && errno == EINTR)
        return ct_fail(ctx, CT_ERR_IO,
                       "%s: a signal came before the pipe had a reader, so nothing was "
                       "recorded; start the reader first",
                       path);
    if (!t->file)
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be created: %s", path, strerror(errno));
    setvbuf(t->file, NULL, _IONBF, 0); /* unwritten bytes are held here anyway */
    return CT_OK;
}

int ct_record_file_add(struct ct_record_file *t, const uint8_t *bytes, size_t size)
{
    if (!CT_MAKE_ROOM(t->bytes, t->room, t->size + size))
        return CT_ERR_NOMEM;
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
    return CT_OK;
}

/* Returns whether a signal came more than GRACE seconds ago. *since becomes the time when it was noticed; 0
 * before. */
static bool is_over(const struct ct_record_file *t, time_t *since)
{
    struct timespec now;
    if (!t->signal || !*t->signal)
        return false;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!*since)
        *since = now.tv_sec;
    return now.tv_sec - *since > GRACE;
}

/* Writes to a pipe without blocking. Returns how many bytes its reader took: fewer after an error (errno), or
 * when writing was given up. */
static size_t write_pipe(struct ct_record_file *t)
{
    struct pollfd room = {.fd = fileno(t->file), .events = POLLOUT};
    time_t since = 0;
    size_t done = 0;
    while (done < t->size && !t->left) {
        const ssize_t n = write(room.fd, t->bytes + done, t->size - done);
        if (n >= 0) {
            done += (size_t)n;
            since = 0;
            continue;
        }
        if (errno != EAGAIN && errno != EINTR)
            return done;
        poll(&room, 1, LOOK);
        t->left = is_over(t, &since);
    }
    return done;
}

int ct_record_file_release(struct ct_ctx *ctx, struct ct_record_file *t, const char *dir, const char *name)
{
    if (!t->file || !t->size)
        return CT_OK;
    const size_t done = t->is_pipe ? write_pipe(t) : fwrite(t->bytes, 1, t->size, t->file);
    const size_t lost = t->size - done;
    t->size = 0;
    if (!lost)
        return CT_OK;
    if (t->left)
        return ct_fail(
            ctx, CT_ERR_IO,
            "%s%s%s: its reader read nothing for %d seconds after a signal, so the capture ends there; %zu "
            "bytes of trace and all later ones are lost",
            dir ? dir : "", dir ? "/" : "", name, GRACE, lost);
    return ct_fail(ctx, CT_ERR_IO, "%s%s%s: cannot be written: %s; the capture ends there", dir ? dir : "",
                   dir ? "/" : "", name, strerror(errno));
}

void ct_record_file_close(struct ct_record_file *t)
{
    if (t->file)
        fclose(t->file);
    free(t->bytes);
    *t = (struct ct_record_file){0};
}
