/* SPDX-License-Identifier: Apache-2.0 */
/* A program under QEMU user emulation, with the access plugin, at the other end of a pipe. */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <coretap/record.h>

#include "cli/fractal.h"

int cli_feed_start(struct ct_ctx *ctx, struct cli_feed *feed, char *const *argv)
{
    struct ct_qemu qemu;
    int ends[2];
    *feed = (struct cli_feed){.fd = -1, .child = -1};
    if (ct_qemu_find(ctx, argv[0], 0, "coretap-access.so", "CORETAP_ACCESS_PLUGIN", &qemu))
        return cli_library_error(ctx);
    if (pipe(ends)) {
        cli_say("no pipe to %s: %s", qemu.command, strerror(errno));
        return CLI_FAILED;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETPIPE_SZ, 1 << 20); /* only makes it faster */
    fflush(NULL);
    feed->child = fork();
    if (!feed->child) {
        char option[32];
        snprintf(option, sizeof option, "fd=%d", ends[1]);
        ct_qemu_run(ctx, &qemu, option, argv);
        cli_say("%s", ct_ctx_error(ctx));
        _exit(127);
    }
    close(ends[1]);
    feed->fd = ends[0];
    if (feed->child > 0)
        return CLI_CLEAN;
    cli_say("%s cannot be started: %s", qemu.command, strerror(errno));
    close(feed->fd);
    return CLI_FAILED;
}

bool cli_feed_next(struct cli_feed *feed, uint64_t *word)
{
    if (feed->at == feed->count) {
        size_t bytes = 0;
        ssize_t n = 1;
        /* Whole words: a read may end inside one. */
        while ((n = read(feed->fd, (char *)feed->words + bytes, sizeof feed->words - bytes)) != 0) {
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0)
                break;
            bytes += (size_t)n;
            if (bytes % sizeof feed->words[0] == 0)
                break;
        }
        feed->at = 0;
        feed->count = bytes / sizeof feed->words[0];
        if (!feed->count)
            return false;
    }
    *word = feed->words[feed->at++];
    return true;
}

int cli_feed_finish(struct cli_feed *feed)
{
    int status = 0;
    if (feed->fd >= 0)
        close(feed->fd);
    feed->fd = -1;
    if (feed->child <= 0)
        return -1;
    while (waitpid(feed->child, &status, 0) < 0 && errno == EINTR) {
    }
    feed->child = -1;
    if (WIFEXITED(status))
        return WEXITSTATUS(status) == 127 ? -1 : WEXITSTATUS(status);
    cli_say("the traced program was ended by signal %d", WTERMSIG(status));
    return -1;
}

void cli_feed_quiet(struct cli_feed *feed)
{
    close(feed->fd);
    feed->fd = -1;
    while (feed->child > 0 && waitpid(feed->child, NULL, 0) < 0 && errno == EINTR) {
    }
    feed->child = -1;
}
