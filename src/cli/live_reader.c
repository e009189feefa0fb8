/* The thread that reads trace into the ring. */
#include "cli/cli.h"
#include "cli/live_ring.h"
#include "cli/live_source.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define FULL_MS 100 /* a full ring is looked at so often, so that a signal is not missed */

struct live_reader {
    struct live_source *source;
    struct live_ring *ring;
    pthread_t thread;
    int signals, stop; /* descriptors */
    int signal;        /* that came */
};

/* From now on a signal does what it does without us: whoever is in a hurry kills the final reports. */
static void release_signals(const sigset_t *set)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, set, NULL);
}

static void fill_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
}

enum ready {
    READY,
    NOT_YET,
    STOPPED,
};

/* Waits for input, or with `milliseconds` >= 0 only for that long and only for who stops it. */
static enum ready wait_input(struct live_reader *r, int milliseconds)
{
    struct signalfd_siginfo info;
    struct pollfd fds[] = {{.fd = r->signals, .events = POLLIN},
                           {.fd = r->stop, .events = POLLIN},
                           {.fd = r->source->fd, .events = POLLIN}};
    if (poll(fds, milliseconds < 0 ? 3 : 2, milliseconds) < 0)
        return NOT_YET;
    if (fds[0].revents && read(r->signals, &info, sizeof info) == sizeof info) {
        r->signal = (int)info.ssi_signo;
        return STOPPED;
    }
    if (fds[1].revents)
        return STOPPED;
    return fds[2].revents ? READY : NOT_YET;
}

/* The one connection takes the place of the socket that waits for it. */
static bool accept_one(struct live_reader *r)
{
    const int fd = accept(r->source->fd, NULL, NULL);
    if (fd < 0)
        return false;
    close(r->source->fd);
    r->source->fd = fd;
    r->source->listens = false;
    return true;
}

static void *read_all(void *user)
{
    struct live_reader *r = user;
    const char *trouble = NULL;
    for (;;) {
        uint8_t *data;
        const size_t room = live_ring_room(r->ring, &data);
        const enum ready ready = wait_input(r, room ? -1 : 0);
        if (ready == STOPPED)
            break;
        if (!room)
            live_ring_wait_room(r->ring, FULL_MS);
        if (ready == NOT_YET || (r->source->listens && accept_one(r)))
            continue;
        const ssize_t got = read(r->source->fd, data, room);
        if (got > 0)
            live_ring_put(r->ring, (size_t)got);
        else if (got == 0)
            break;
        else if (errno != EINTR && errno != EAGAIN) {
            trouble = strerror(errno);
            break;
        }
    }
    sigset_t set;
    fill_signals(&set);
    release_signals(&set);
    live_ring_end(r->ring, trouble);
    return NULL;
}

struct live_reader *live_reader_start(struct live_source *source, struct live_ring *ring)
{
    struct live_reader *r = calloc(1, sizeof *r);
    sigset_t set;
    if (!r) {
        cli_say("out of memory");
        return NULL;
    }
    fill_signals(&set);
    *r = (struct live_reader){.source = source,
                              .ring = ring,
                              .signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
                              .stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (r->signals >= 0 && r->stop >= 0 && pthread_create(&r->thread, NULL, read_all, r) == 0)
        return r;
    cli_say("no thread that reads the input: %s", strerror(errno));
    free(r);
    return NULL;
}

void live_reader_stop(struct live_reader *r)
{
    const uint64_t one = 1;
    if (write(r->stop, &one, sizeof one) < 0)
        cli_say("the input goes on: %s", strerror(errno));
}

int live_reader_free(struct live_reader *r)
{
    pthread_join(r->thread, NULL);
    const int signal = r->signal;
    close(r->signals);
    close(r->stop);
    free(r);
    return signal;
}
