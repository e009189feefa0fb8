/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include "fractal_run/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ctx.h"
#include "coretap/record.h"

#define PIPE_BYTES  (1 << 20) /* more than by default, which only makes it faster */
#define ASIDE_BYTES (1 << 16) /* that are taken aside in one go */

int ct_fractal_feed_start(struct ct_ctx *ctx, struct ct_fractal_feed *feed, char *const *argv, int forks)
{
    struct ct_qemu qemu;
    int ends[2];
    char option[64];
    feed->fd = feed->child = -1;
    feed->at = feed->count = 0;
    int rc = ct_qemu_find(ctx, argv[0], 0, "coretap-access.so", "CORETAP_ACCESS_PLUGIN", &qemu);
    if (rc)
        return rc;
    if (pipe(ends))
        return ct_fail(ctx, CT_ERR_IO, "no pipe to %s: %s", qemu.command, strerror(errno));
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES);
    const int n = snprintf(option, sizeof option, "fd=%d", ends[1]);
    if (forks >= 0)
        snprintf(option + n, sizeof option - (size_t)n, ",forks=%d", forks);
    rc = ct_qemu_start(ctx, &qemu, option, argv, &feed->child);
    close(ends[1]);
    if (rc)
        close(ends[0]);
    else
        feed->fd = ends[0];
    return rc;
}

/* Reads what was taken aside. Returns how many bytes. */
static size_t read_aside(struct ct_fractal_feed *feed)
{
    const off_t left = feed->aside_end - feed->aside_at;
    const size_t wanted = left < (off_t)sizeof feed->words ? (size_t)left : sizeof feed->words;
    const ssize_t n = wanted ? pread(fileno(feed->aside), feed->words, wanted, feed->aside_at) : 0;
    feed->aside_at += n > 0 ? n : 0;
    return n > 0 ? (size_t)n : 0;
}

/* Reads whole words: a read may end inside of one. Returns how many bytes they have. */
static size_t read_words(struct ct_fractal_feed *feed)
{
    size_t bytes = read_aside(feed);
    ssize_t n;
    if (bytes && bytes % sizeof feed->words[0] == 0)
        return bytes;
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

/* Writes bytes behind those that a feed has aside, in a file, because a process may say much while another
 * one waits for it. Returns false when that cannot be. */
static bool write_aside(struct ct_fractal_feed *feed, const char *bytes, size_t size)
{
    if (!feed->aside)
        feed->aside = tmpfile();
    if (!feed->aside)
        return false;
    if (feed->aside_at == feed->aside_end)
        feed->aside_at = feed->aside_end = 0;
    while (size) {
        const ssize_t n = pwrite(fileno(feed->aside), bytes, size, feed->aside_end);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        feed->aside_end += n;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

/* Takes what a feed says now. Returns false when it cannot be kept. */
static bool take_aside(struct ct_fractal_feed *feed)
{
    char bytes[ASIDE_BYTES];
    const ssize_t n = read(feed->fd, bytes, sizeof bytes);
    if (n == 0) {
        close(feed->fd);
        feed->fd = -1;
    }
    return n <= 0 || write_aside(feed, bytes, (size_t)n);
}

int ct_fractal_feeds_wait(struct ct_ctx *ctx, const struct ct_fractal_feeds *feeds,
                          struct ct_fractal_feed *feed)
{
    while (feed->at == feed->count && feed->aside_end - feed->aside_at < (off_t)sizeof feed->words[0] &&
           feed->fd >= 0) {
        struct pollfd of[FEEDS_MAX];
        for (unsigned i = 0; i < feeds->count; i++)
            of[i] = (struct pollfd){.fd = feeds->feed[i].fd, .events = POLLIN};
        if (poll(of, feeds->count, -1) < 0 && errno != EINTR)
            return CT_OK;
        for (unsigned i = 0; i < feeds->count; i++) {
            if (&feeds->feed[i] == feed && of[i].revents)
                return CT_OK;
            if (of[i].revents && !take_aside(&feeds->feed[i]))
                return ct_fail(
                    ctx, CT_ERR_IO,
                    "accesses of a process that another one waits for have no place in a temporary "
                    "file: %s; the run ends here",
                    strerror(errno));
        }
    }
    return CT_OK;
}

int ct_fractal_feeds_follow(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds, int *of_program)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends))
        return ct_fail(ctx, CT_ERR_IO, "no socket for forked children: %s", strerror(errno));
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    feeds->forks = ends[0];
    *of_program = ends[1];
    return CT_OK;
}

/* Receives a pipe that was sent. Returns -1 when there is none. */
static int receive(int from, int64_t *child)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec data = {child, sizeof *child};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    int fd = -1;
    const ssize_t n = recvmsg(from, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    const struct cmsghdr *c = n == (ssize_t)sizeof *child ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

/* Takes the pipe of a child; other children may have been told of before. Returns -1 when it did not come. */
static int pipe_of(struct ct_fractal_feeds *feeds, int64_t child)
{
    for (unsigned i = 0; i < feeds->early_count; i++)
        if (feeds->early[i].child == child) {
            const int fd = feeds->early[i].fd;
            feeds->early[i] = feeds->early[--feeds->early_count];
            return fd;
        }
    for (;;) {
        int64_t number = -1;
        const int fd = receive(feeds->forks, &number);
        if (fd < 0 || number == child)
            return fd;
        if (feeds->early_count == FEEDS_MAX) {
            close(fd);
            return -1;
        }
        feeds->early[feeds->early_count].child = number;
        feeds->early[feeds->early_count++].fd = fd;
    }
}

int ct_fractal_feeds_child(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds, uint64_t child,
                           struct ct_fractal_feed *feed)
{
    feed->at = feed->count = 0;
    feed->child = -1;
    feed->fd = pipe_of(feeds, (int64_t)child);
    if (feed->fd < 0)
        return ct_fail(ctx, CT_ERR_IO, "the accesses of the forked process %llu did not come",
                       (unsigned long long)child);
    fcntl(feed->fd, F_SETPIPE_SZ, PIPE_BYTES);
    return CT_OK;
}

void ct_fractal_feeds_close(struct ct_fractal_feeds *feeds)
{
    while (feeds->early_count)
        close(feeds->early[--feeds->early_count].fd);
    if (feeds->forks >= 0)
        close(feeds->forks);
    feeds->forks = -1;
}

/* Closes the pipe and waits for the program. Returns its status, of waitpid. */
static int wait_for(struct ct_fractal_feed *feed)
{
    int status = 0;
    if (feed->fd >= 0)
        close(feed->fd);
    feed->fd = -1;
    if (feed->aside)
        fclose(feed->aside);
    feed->aside = NULL;
    feed->aside_at = feed->aside_end = 0;
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
