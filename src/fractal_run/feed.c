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
    feed->pipe.fd = feed->child = -1;
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
        feed->pipe.fd = ends[0];
    return rc;
}

/* Reads what was taken aside. Returns how many bytes. */
static size_t read_aside(struct ct_fractal_feed *feed)
{
    const off_t left = feed->pipe.aside_end - feed->pipe.aside_at;
    const size_t wanted = left < (off_t)sizeof feed->words ? (size_t)left : sizeof feed->words;
    const ssize_t n = wanted ? pread(fileno(feed->pipe.aside), feed->words, wanted, feed->pipe.aside_at) : 0;
    feed->pipe.aside_at += n > 0 ? n : 0;
    return n > 0 ? (size_t)n : 0;
}

/* Reads whole words: a read may end inside of one. Returns how many bytes they have. */
static size_t read_words(struct ct_fractal_feed *feed)
{
    size_t bytes = read_aside(feed);
    ssize_t n;
    if (bytes && bytes % sizeof feed->words[0] == 0)
        return bytes;
    while ((n = read(feed->pipe.fd, (char *)feed->words + bytes, sizeof feed->words - bytes)) != 0) {
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

/* Writes bytes behind those that a pipe has aside, in a file, because a process may say much while another
 * one waits for it. Returns false when that cannot be. */
static bool write_aside(struct ct_fractal_pipe *pipe, const char *bytes, size_t size)
{
    if (!pipe->aside)
        pipe->aside = tmpfile();
    if (!pipe->aside)
        return false;
    if (pipe->aside_at == pipe->aside_end)
        pipe->aside_at = pipe->aside_end = 0;
    while (size) {
        const ssize_t n = pwrite(fileno(pipe->aside), bytes, size, pipe->aside_end);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        pipe->aside_end += n;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

/* Takes what a pipe says now. CT_ERR_IO: it cannot be kept. */
static int take_aside(struct ct_ctx *ctx, struct ct_fractal_pipe *pipe)
{
    char bytes[ASIDE_BYTES];
    const ssize_t n = read(pipe->fd, bytes, sizeof bytes);
    if (n == 0) {
        close(pipe->fd);
        pipe->fd = -1;
    }
    if (n <= 0 || write_aside(pipe, bytes, (size_t)n))
        return CT_OK;
    return ct_fail(ctx, CT_ERR_IO,
                   "accesses of a process that another one waits for have no place in a temporary file: %s; "
                   "the run ends here",
                   strerror(errno));
}

static void close_pipe(struct ct_fractal_pipe *pipe)
{
    if (pipe->fd >= 0)
        close(pipe->fd);
    if (pipe->aside)
        fclose(pipe->aside);
    *pipe = (struct ct_fractal_pipe){.fd = -1};
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

/* Receives the pipes of children that were made by now. CT_ERR_LIMIT: too many wait for their notes. */
static int receive_early(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds)
{
    int64_t child = -1;
    int fd;
    while ((fd = receive(feeds->forks, &child)) >= 0) {
        if (feeds->early_count == FEEDS_MAX) {
            close(fd);
            return ct_fail(ctx, CT_ERR_LIMIT,
                           "more than %d processes were forked; the run ends here. Trace a part of it that "
                           "starts fewer, or leave out --follow-forks",
                           FEEDS_MAX);
        }
        fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
        feeds->early[feeds->early_count++] = (struct ct_fractal_early){.child = child, .pipe = {.fd = fd}};
    }
    return CT_OK;
}

/* The pipes of all processes, and behind them the socket that brings further ones, and what else may wake. */
struct polled {
    struct ct_fractal_pipe *pipe[2 * FEEDS_MAX];
    struct pollfd of[2 * FEEDS_MAX + 3];
    nfds_t pipes, count;
};

static void list_pipes(struct ct_fractal_feeds *feeds, const int wakes[2], struct polled *all)
{
    all->pipes = 0;
    for (unsigned i = 0; i < feeds->count; i++)
        all->pipe[all->pipes++] = &feeds->feed[i].pipe;
    for (unsigned i = 0; i < feeds->early_count; i++)
        all->pipe[all->pipes++] = &feeds->early[i].pipe;
    for (nfds_t i = 0; i < all->pipes; i++)
        all->of[i] = (struct pollfd){.fd = all->pipe[i]->fd, .events = POLLIN};
    const int others[] = {feeds->forks, wakes[0], wakes[1]};
    all->count = all->pipes;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        all->of[all->count++] = (struct pollfd){.fd = others[i], .events = POLLIN};
}

/* Waits until a pipe says something, which is taken aside unless it is that of `feed`. *come becomes true
 * when it is, or when the caller is to be woken. */
static int wait_once(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds, const struct ct_fractal_feed *feed,
                     const int wakes[2], bool *come)
{
    struct polled all;
    int rc = CT_OK;
    list_pipes(feeds, wakes, &all);
    *come = poll(all.of, all.count, -1) < 0 && errno != EINTR;
    if (*come)
        return CT_OK;
    *come = all.of[all.pipes + 1].revents || all.of[all.pipes + 2].revents;
    for (nfds_t i = 0; i < all.pipes && !rc; i++) {
        if (all.pipe[i] == &feed->pipe)
            *come |= all.of[i].revents != 0;
        else if (all.of[i].revents)
            rc = take_aside(ctx, all.pipe[i]);
    }
    return rc || !all.of[all.pipes].revents ? rc : receive_early(ctx, feeds);
}

bool ct_fractal_feed_ready(const struct ct_fractal_feed *feed)
{
    return feed->at < feed->count || feed->pipe.fd < 0 ||
           feed->pipe.aside_end - feed->pipe.aside_at >= (off_t)sizeof feed->words[0];
}

int ct_fractal_feeds_wait(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds,
                          const struct ct_fractal_feed *feed, const int wakes[2])
{
    bool come = ct_fractal_feed_ready(feed);
    int rc = CT_OK;
    while (!rc && !come)
        rc = wait_once(ctx, feeds, feed, wakes, &come);
    return rc;
}

/* Takes the pipe of a child. Returns false when it did not come. */
static bool take_pipe(struct ct_fractal_feeds *feeds, int64_t child, struct ct_fractal_pipe *pipe)
{
    unsigned i = 0;
    while (i < feeds->early_count && feeds->early[i].child != child)
        i++;
    if (i == feeds->early_count)
        return false;
    *pipe = feeds->early[i].pipe;
    feeds->early_count--;
    memmove(&feeds->early[i], &feeds->early[i + 1], (feeds->early_count - i) * sizeof feeds->early[i]);
    return true;
}

int ct_fractal_feeds_child(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds, uint64_t child,
                           struct ct_fractal_feed *feed)
{
    feed->at = feed->count = 0;
    feed->child = -1;
    const int rc = receive_early(ctx, feeds);
    if (rc || take_pipe(feeds, (int64_t)child, &feed->pipe))
        return rc;
    return ct_fail(ctx, CT_ERR_IO, "the accesses of the forked process %llu did not come",
                   (unsigned long long)child);
}

void ct_fractal_feeds_close(struct ct_fractal_feeds *feeds)
{
    while (feeds->early_count)
        close_pipe(&feeds->early[--feeds->early_count].pipe);
    if (feeds->forks >= 0)
        close(feeds->forks);
    feeds->forks = -1;
}

/* Closes the pipe and waits for the program. Returns its status, of waitpid. */
static int wait_for(struct ct_fractal_feed *feed)
{
    int status = 0;
    close_pipe(&feed->pipe);
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
