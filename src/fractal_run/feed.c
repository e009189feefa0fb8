/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* F_SETPIPE_SZ, memfd_create */
#include "fractal_run/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"
#include "coretap/record.h"
#include "recorder/plugin_note.h"

#define PIPE_BYTES  (1 << 20) /* larger than the default, for speed */
#define ASIDE_BYTES (1 << 16) /* bytes spooled at a time */
#define SIGNAL_MS   20        /* milliseconds between two checks for signals */

/* Maps the ring in a file, and closes the file. NULL: that failed. */
static const struct access_ring *take_ring(int fd)
{
    const size_t size = sizeof(struct access_ring);
    struct stat st;
    const bool fits = fd >= 0 && !fstat(fd, &st) && st.st_size >= (off_t)size;
    void *ring = fits ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    return ring == MAP_FAILED ? NULL : ring;
}

static void close_pipe(struct ct_fractal_pipe *pipe)
{
    if (pipe->fd >= 0)
        close(pipe->fd);
    if (pipe->aside)
        fclose(pipe->aside);
    if (pipe->ring)
        munmap((void *)(uintptr_t)pipe->ring, sizeof *pipe->ring);
    *pipe = (struct ct_fractal_pipe){.fd = -1};
}

/* Creates the pipe and the ring of a program. `of_program`: the descriptors that the program inherits. Error:
 * CT_ERR_IO. */
static int make_pipe(struct ct_ctx *ctx, const char *command, struct ct_fractal_pipe *made, int of_program[2])
{
    int ends[2];
    if (pipe(ends))
        return ct_fail(ctx, CT_ERR_IO, "no pipe to %s: %s", command, strerror(errno));
    *made = (struct ct_fractal_pipe){.fd = ends[0]};
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES);
    of_program[0] = ends[1];
    of_program[1] = memfd_create("coretap-access", 0);
    if (of_program[1] >= 0 && !ftruncate(of_program[1], sizeof *made->ring))
        made->ring = take_ring(fcntl(of_program[1], F_DUPFD_CLOEXEC, 0));
    if (made->ring)
        return CT_OK;
    const int rc = ct_fail(ctx, CT_ERR_IO, "no memory to share with %s: %s", command, strerror(errno));
    close_pipe(made);
    close(of_program[0]);
    if (of_program[1] >= 0)
        close(of_program[1]);
    return rc;
}

int ct_fractal_feed_start(struct ct_ctx *ctx, struct ct_fractal_feed *feed, char *const *argv, int forks)
{
    struct ct_qemu qemu;
    int of_program[2] = {-1, -1};
    char option[96];
    feed->pipe = (struct ct_fractal_pipe){.fd = -1};
    feed->child = -1;
    feed->forked = 0;
    feed->at = feed->count = 0;
    int rc = ct_qemu_find(ctx, argv[0], 0, "coretap-access.so", "CORETAP_ACCESS_PLUGIN", &qemu);
    qemu.accesses = 1;
    if (!rc)
        rc = make_pipe(ctx, qemu.command, &feed->pipe, of_program);
    if (rc)
        return rc;
    const int n = snprintf(option, sizeof option, "layout=%x,fd=%d,ring=%d", PLUGIN_ACCESS_LAYOUT,
                           of_program[0], of_program[1]);
    if (forks >= 0)
        snprintf(option + n, sizeof option - (size_t)n, ",forks=%d", forks);
    rc = ct_qemu_start(ctx, &qemu, option, argv, &feed->child);
    close(of_program[0]);
    close(of_program[1]);
    if (rc)
        close_pipe(&feed->pipe);
    return rc;
}

/* Reads spooled bytes. Returns how many. */
static size_t read_aside(struct ct_fractal_feed *feed)
{
    const off_t left = feed->pipe.aside_end - feed->pipe.aside_at;
    const size_t wanted = left < (off_t)sizeof feed->words ? (size_t)left : sizeof feed->words;
    const ssize_t n = wanted ? pread(fileno(feed->pipe.aside), feed->words, wanted, feed->pipe.aside_at) : 0;
    feed->pipe.aside_at += n > 0 ? n : 0;
    return n > 0 ? (size_t)n : 0;
}

/* Closes a pipe that has ended. */
static void end_pipe(struct ct_fractal_pipe *pipe)
{
    close(pipe->fd);
    pipe->fd = -1;
}

/* Reads whole words, because a read may end inside one. Returns the number of bytes. */
static size_t read_words(struct ct_fractal_feed *feed)
{
    size_t bytes = read_aside(feed);
    ssize_t n;
    if (bytes && bytes % sizeof feed->words[0] == 0)
        return bytes;
    while (feed->pipe.fd >= 0) {
        n = read(feed->pipe.fd, (char *)feed->words + bytes, sizeof feed->words - bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            end_pipe(&feed->pipe);
            break;
        }
        bytes += (size_t)n;
        if (bytes % sizeof feed->words[0] == 0)
            break;
    }
    return bytes;
}

/* Reads from the ring the words that a killed process did not write to its pipe. Returns how many. */
static size_t read_ring(struct ct_fractal_feed *feed)
{
    const struct ct_fractal_pipe *pipe = &feed->pipe;
    const uint64_t end = pipe->ring ? atomic_load_explicit(&pipe->ring->end, memory_order_acquire) : 0;
    const uint64_t left = end > pipe->words ? end - pipe->words : 0;
    const size_t most = sizeof feed->words / sizeof feed->words[0];
    const size_t count = left < most ? (size_t)left : most;
    for (size_t i = 0; i < count; i++)
        feed->words[i] = pipe->ring->words[(pipe->words + i) % ACCESS_RING_WORDS];
    return count;
}

bool ct_fractal_feed_next(struct ct_fractal_feed *feed, uint64_t *word)
{
    if (feed->at == feed->count) {
        feed->at = 0;
        feed->count = read_words(feed) / sizeof feed->words[0];
        if (!feed->count)
            feed->count = read_ring(feed);
        feed->pipe.words += feed->count;
        if (!feed->count)
            return false;
    }
    *word = feed->words[feed->at++];
    return true;
}

/* Appends bytes to the spool file of a pipe: a process may write much while another one waits for it. Returns
 * false on an error. */
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

/* Spools what can be read from a pipe. Error: CT_ERR_IO when it cannot be stored. */
static int take_aside(struct ct_ctx *ctx, struct ct_fractal_pipe *pipe)
{
    char bytes[ASIDE_BYTES];
    const ssize_t n = read(pipe->fd, bytes, sizeof bytes);
    if (n == 0)
        end_pipe(pipe);
    if (n <= 0 || write_aside(pipe, bytes, (size_t)n))
        return CT_OK;
    return ct_fail(ctx, CT_ERR_IO,
                   "the accesses of a waiting process cannot be written to a temporary file: %s; the run "
                   "ends here; free some space in TMPDIR or /tmp",
                   strerror(errno));
}

int ct_fractal_feeds_follow(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds, int *of_program)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends))
        return ct_fail(
            ctx, CT_ERR_IO,
            "--follow-forks: a socket for forked children cannot be created: %s; the program was not run",
            strerror(errno));
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    feeds->forks = ends[0];
    *of_program = ends[1];
    return CT_OK;
}

/* Receives a pipe and a ring. Returns false when none was sent. */
static bool receive(int from, int64_t *child, struct ct_fractal_pipe *pipe)
{
    int files[2] = {-1, -1};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof files)];
    } control;
    struct iovec data = {child, sizeof *child};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    const ssize_t n = recvmsg(from, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    const struct cmsghdr *c = n == (ssize_t)sizeof *child ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof files))
        memcpy(files, CMSG_DATA(c), sizeof files);
    *pipe = (struct ct_fractal_pipe){.fd = files[0], .ring = take_ring(files[1])};
    return files[0] >= 0;
}

/* Receives the pipes of children created so far. Error: CT_ERR_LIMIT when too many wait for their notes. */
static int receive_early(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds)
{
    struct ct_fractal_early early;
    while (receive(feeds->forks, &early.child, &early.pipe)) {
        if (feeds->early_count == FEEDS_MAX) {
            close_pipe(&early.pipe);
            return ct_fail(ctx, CT_ERR_LIMIT,
                           "more than %d processes were forked, which is the limit; the run ends here; trace "
                           "a part that starts fewer, or omit --follow-forks",
                           FEEDS_MAX);
        }
        fcntl(early.pipe.fd, F_SETPIPE_SZ, PIPE_BYTES);
        feeds->early[feeds->early_count++] = early;
    }
    return CT_OK;
}

/* The pipes of all processes to poll, then the socket for further pipes, then the descriptors that wake the
 * caller. */
struct polled {
    struct ct_fractal_pipe *pipe[2 * FEEDS_MAX];
    struct pollfd of[2 * FEEDS_MAX + 3];
    nfds_t pipes, count;
};

/* Lists the pipes to read. After a signal that is all of them, because a program with a full pipe could not
 * end. */
static void list_pipes(struct ct_fractal_feeds *feeds, struct ct_fractal_feed *feed, const int wakes[2],
                       struct polled *all)
{
    all->pipes = 0;
    const bool only = feeds->forks < 0 && !feeds->signal.told;
    if (only)
        all->pipe[all->pipes++] = &feed->pipe;
    for (unsigned i = 0; i < feeds->count && !only; i++)
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

/* Waits until a pipe is readable. Spools other pipes than that of `feed`. Sets *come when `feed` is readable
 * or the caller has to be woken. `killed`: the process of `feed` was killed, so a timeout means its end. */
static int wait_once(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds, struct ct_fractal_feed *feed,
                     const int wakes[2], bool killed, bool *come)
{
    struct polled all;
    int rc = CT_OK;
    list_pipes(feeds, feed, wakes, &all);
    const int ready = poll(all.of, all.count, feeds->signal.number ? SIGNAL_MS : -1);
    *come = ready < 0 && errno != EINTR;
    if (ready < 0)
        return CT_OK;
    if (!ready && killed) /* a process that is not followed may still hold the pipe open */
        end_pipe(&feed->pipe);
    *come = feed->pipe.fd < 0 || all.of[all.pipes + 1].revents || all.of[all.pipes + 2].revents;
    for (nfds_t i = 0; i < all.pipes && !rc; i++) {
        if (all.pipe[i] == &feed->pipe)
            *come |= all.of[i].revents != 0;
        else if (all.of[i].revents)
            rc = take_aside(ctx, all.pipe[i]);
    }
    return rc || !all.of[all.pipes].revents ? rc : receive_early(ctx, feeds);
}

/* Sends a signal to a process created by the program. The process exists as long as its pipe has a writer. */
static void signal_forked(const struct ct_fractal_pipe *pipe, pid_t process, int number)
{
    struct pollfd at = {.fd = pipe->fd};
    if (process > 0 && pipe->fd >= 0 && poll(&at, 1, 0) == 0)
        kill(process, number);
}

/* Sends a signal to all processes created by the program. */
static void signal_all_forked(struct ct_fractal_feeds *feeds, int number)
{
    for (unsigned i = 0; i < feeds->count; i++)
        signal_forked(&feeds->feed[i].pipe, feeds->feed[i].forked, number);
    for (unsigned i = 0; i < feeds->early_count; i++)
        signal_forked(&feeds->early[i].pipe, (pid_t)feeds->early[i].child, number);
}

/* Returns whether the program has ended. */
static bool has_ended(const struct ct_fractal_feed *program)
{
    siginfo_t info = {0};
    return program->child <= 0 ||
           (!waitid(P_PID, (id_t)program->child, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid);
}

/* Passes a signal to the program, and to children that outlive it. Kills all of them, and the programs beside
 * it, when that takes too long. Returns whether it did. */
static bool pass_signal(struct ct_fractal_feeds *feeds)
{
    const bool over = ct_signal_pass(&feeds->signal, feeds->feed[0].child);
    if (feeds->signal.told && !feeds->told && has_ended(&feeds->feed[0])) {
        feeds->told = true;
        signal_all_forked(feeds, *feeds->signal.number);
    }
    if (over) {
        for (unsigned i = 1; i < feeds->count; i++)
            if (feeds->feed[i].child > 0)
                kill(feeds->feed[i].child, SIGKILL);
        signal_all_forked(feeds, SIGKILL);
    }
    return over;
}

bool ct_fractal_feed_ready(const struct ct_fractal_feed *feed)
{
    struct pollfd come = {.fd = feed->pipe.fd, .events = POLLIN};
    return feed->at < feed->count || feed->pipe.fd < 0 ||
           feed->pipe.aside_end - feed->pipe.aside_at >= (off_t)sizeof feed->words[0] ||
           poll(&come, 1, 0) != 0;
}

int ct_fractal_feeds_wait(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds, struct ct_fractal_feed *feed,
                          const int wakes[2])
{
    bool killed = pass_signal(feeds), come = ct_fractal_feed_ready(feed);
    int rc = CT_OK;
    while (!rc && !come) {
        rc = wait_once(ctx, feeds, feed, wakes, killed, &come);
        killed = pass_signal(feeds);
    }
    return rc;
}

/* Takes the pipe of a child. Returns false when it was not received. */
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
    feed->forked = (pid_t)child;
    const int rc = receive_early(ctx, feeds);
    if (rc || take_pipe(feeds, (int64_t)child, &feed->pipe))
        return rc;
    return ct_fail(ctx, CT_ERR_IO,
                   "the accesses of the forked process %llu did not arrive; the run ends here",
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

/* Closes the pipe and waits for the program. Returns its waitpid status. */
static int wait_for(struct ct_fractal_feed *feed)
{
    int status = 0;
    close_pipe(&feed->pipe);
    while (feed->child > 0 && waitpid(feed->child, &status, 0) < 0 && errno == EINTR) {
    }
    feed->child = -1;
    return status;
}

void ct_fractal_feeds_finish(struct ct_fractal_feeds *feeds, struct ct_fractal_ended *ended)
{
    struct ct_fractal_feed *program = &feeds->feed[0];
    const struct timespec pause = {.tv_nsec = 2 * 1000 * 1000};
    ended->exit_code = -1;
    if (program->child <= 0)
        return;
    close_pipe(&program->pipe);
    while (feeds->signal.number && !has_ended(program)) {
        pass_signal(feeds);
        nanosleep(&pause, NULL);
    }
    const int status = wait_for(program);
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
