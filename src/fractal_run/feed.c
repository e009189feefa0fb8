/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include "fractal_run/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ctx.h"
#include "coretap/record.h"

#define PIPE_BYTES (1 << 20) /* more than by default, which only makes it faster */

int ct_fractal_feed_start(struct ct_ctx *ctx, struct ct_fractal_feed *feed, char *const *argv)
{
    struct ct_qemu qemu;
    int ends[2];
    char option[32];
    feed->fd = feed->child = -1;
    feed->at = feed->count = 0;
    int rc = ct_qemu_find(ctx, argv[0], 0, "coretap-access.so", "CORETAP_ACCESS_PLUGIN", &qemu);
    if (rc)
        return rc;
    if (pipe(ends))
        return ct_fail(ctx, CT_ERR_IO, "no pipe to %s: %s", qemu.command, strerror(errno));
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES);
    snprintf(option, sizeof option, "fd=%d", ends[1]);
    rc = ct_qemu_start(ctx, &qemu, option, argv, &feed->child);
    close(ends[1]);
    if (rc)
        close(ends[0]);
    else
        feed->fd = ends[0];
    return rc;
}

/* Reads whole words: a read may end inside of one. Returns how many bytes they have. */
static size_t read_words(struct ct_fractal_feed *feed)
{
    size_t bytes = 0;
    ssize_t n;
    while ((n = read(feed->fd, (char *)feed->words + bytes, sizeof feed->words - bytes)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        bytes += (size_t)n;
        if (bytes % sizeof feed->words[0] == 0)
            break;
    }
    return bytes;
}

bool ct_fractal_feed_next(struct ct_fractal_feed *feed, uint64_t *word)
{
    if (feed->at == feed->count) {
        feed->at = 0;
        feed->count = read_words(feed) / sizeof feed->words[0];
        if (!feed->count)
            return false;
    }
    *word = feed->words[feed->at++];
    return true;
}

/* Closes the pipe and waits for the program. Returns its status, of waitpid. */
static int wait_for(struct ct_fractal_feed *feed)
{
    int status = 0;
    if (feed->fd >= 0)
        close(feed->fd);
    feed->fd = -1;
    while (feed->child > 0 && waitpid(feed->child, &status, 0) < 0 && errno == EINTR) {
    }
    feed->child = -1;
    return status;
}

void ct_fractal_feed_finish(struct ct_fractal_feed *feed, struct ct_fractal_ended *ended)
{
    ended->exit_code = -1;
    if (feed->child <= 0)
        return;
    const int status = wait_for(feed);
    if (!WIFEXITED(status))
        ended->signal = (uint32_t)WTERMSIG(status);
    else if (WEXITSTATUS(status) != CT_QEMU_CANNOT_RUN)
        ended->exit_code = WEXITSTATUS(status);
}

bool ct_fractal_feed_stop(struct ct_fractal_feed *feed)
{
    if (feed->child > 0)
        kill(feed->child, SIGKILL);
    const int status = wait_for(feed);
    return !WIFEXITED(status) || WEXITSTATUS(status) != CT_QEMU_CANNOT_RUN;
}
