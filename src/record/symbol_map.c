/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symbol_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ctx.h"

void ct_record_process_begin(struct ct_record_process *process)
{
    clock_gettime(CLOCK_REALTIME_COARSE, &process->began);
}

/* Returns whether a file is older than the program: that of an earlier one with the same process ID. */
static bool is_older(const struct stat *about, const struct ct_record_process *process)
{
    const struct timespec *changed = &about->st_mtim, *began = &process->began;
    return changed->tv_sec != began->tv_sec ? changed->tv_sec < began->tv_sec
                                            : changed->tv_nsec < began->tv_nsec;
}

static int copy(int from, int to)
{
    char bytes[1 << 16];
    ssize_t n, written;
    while ((n = read(from, bytes, sizeof bytes)) > 0)
        for (ssize_t at = 0; at < n; at += written)
            if ((written = write(to, bytes + at, (size_t)(n - at))) < 0)
                return errno;
    return n < 0 ? errno : 0;
}

int ct_record_copy(int from, int to)
{
    const int why = copy(from, to);
    return close(to) && !why ? errno : why;
}

static int copy_to(struct ct_ctx *ctx, int from, const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    const int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const int why = to < 0 ? errno : ct_record_copy(from, to);
    return why ? ct_fail(ctx, CT_ERR_IO, "%s: cannot be written: %s; generated code has no names", path,
                         strerror(why))
               : CT_OK;
}

/* Copies the file at `path` to `name` in the directory, if the program has written it. */
static int take(struct ct_ctx *ctx, const struct ct_record_process *process, const char *path,
                const char *directory, const char *name, bool *taken)
{
    struct stat about;
    *taken = false;
    if (lstat(path, &about) != 0 || is_older(&about, process))
        return CT_OK;
    const int from = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (from < 0 || fstat(from, &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != geteuid()) {
        ct_log(ctx, CT_LOG_WARNING,
               "%s: this is not a readable file of the program's user, so it is not part of the capture, and "
               "generated code has no names; remove it, and record again",
               path);
        if (from >= 0)
            close(from);
        return CT_OK;
    }
    const int rc = copy_to(ctx, from, directory, name);
    close(from);
    *taken = !rc;
    return rc;
}

int ct_record_symbol_map(struct ct_ctx *ctx, const struct ct_record_process *process, const char *directory,
                         struct ct_record_names *taken)
{
    char path[64];
    *taken = (struct ct_record_names){0};
    if (!process->id)
        return CT_OK;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", process->id);
    const int rc = take(ctx, process, path, directory, CT_RECORD_SYMBOL_MAP, &taken->symbol_map);
    return rc || !process->jitdump || !*process->jitdump
               ? rc
               : take(ctx, process, process->jitdump, directory, CT_RECORD_JITDUMP, &taken->jitdump);
}
