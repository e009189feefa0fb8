/* SPDX-License-Identifier: Apache-2.0 */
#include "record/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/room.h"

/* Opens a named pipe when somebody reads it. -1, with errno EINTR once there is a signal. */
static int open_pipe(const char *path, const volatile int *signal)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    for (;;) {
        const int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0)
            fcntl(fd, F_SETFL, O_WRONLY);
        if (fd >= 0 || errno != ENXIO)
            return fd;
        if (signal && *signal) {
            errno = EINTR;
            return -1;
        }
        nanosleep(&pause, NULL);
    }
}

static FILE *create(const char *path, const volatile int *signal)
{
    struct stat st;
    if (stat(path, &st) || !S_ISFIFO(st.st_mode))
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
    *t = (struct ct_record_file){.file = create(path, signal)};
    if (!t->file && errno == EINTR)
        return ct_fail(ctx, CT_ERR_IO, "%s: nobody read it before a signal came; nothing was recorded", path);
    if (!t->file)
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be created: %s", path, strerror(errno));
    setvbuf(t->file, NULL, _IONBF, 0); /* all of it is held here */
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

int ct_record_file_release(struct ct_ctx *ctx, struct ct_record_file *t, const char *dir, const char *name)
{
    if (!t->file || !t->size)
        return CT_OK;
    const int fine = fwrite(t->bytes, 1, t->size, t->file) == t->size;
    t->size = 0;
    return fine ? CT_OK
                : ct_fail(ctx, CT_ERR_IO, "%s%s%s: cannot be written: %s; the capture ends there",
                          dir ? dir : "", dir ? "/" : "", name, strerror(errno));
}

void ct_record_file_close(struct ct_record_file *t)
{
    if (t->file)
        fclose(t->file);
    free(t->bytes);
    *t = (struct ct_record_file){0};
}
