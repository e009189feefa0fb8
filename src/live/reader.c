/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that reads trace into the ring. */
#include "live/reader.h"
#include "base/threads.h"
#include "live/live.h"
#include "live/tee.h"

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define FULL_MS    100   /* milliseconds between two checks of a full ring and of signals */
#define CONNECT_MS 10000 /* milliseconds to wait for an address that does not answer */
#define PAUSE_MS   250   /* milliseconds before the first attempt to reconnect */
#define PAUSE_MAX  10000 /* longest pause in milliseconds; each pause is twice the one before */

/* A run in a hurry ends within two seconds: waiting input is analysed for PATIENCE_MS, then slow
 * specifications are stopped, and STOP_MS later all of them. */
#define PATIENCE_MS 700
#define STOP_MS     400

struct ct_live_reader {
    struct ct_live_source *source;
    struct ct_live_ring *ring;
    struct ct_live_tee *tee; /* NULL: the trace is not kept */
    pthread_t thread;
    const struct ct_live_say *say;
    int ends, hurries; /* eventfds of the run */
    int done;          /* eventfd that ends the thread */
    struct ct_live_intake intake;
    uint64_t got; /* bytes of the current connection */
    int pause;    /* milliseconds before the next attempt to connect */
    bool told;    /* a message said that there is no connection */
    int *stop;    /* enum ct_monitor_stop, read by the specifications */
};

enum ready {
    READY,
    NOT_YET,
    STOPPED,
};

/* Waits for `events` on a descriptor (-1: none), for at most `milliseconds` (-1: no limit), or until the run
 * is stopped. */
static enum ready wait_for(struct ct_live_reader *r, int fd, short events, int milliseconds)
{
    struct pollfd fds[] = {{.fd = r->hurries, .events = POLLIN},
                           {.fd = r->ends, .events = POLLIN},
                           {.fd = fd, .events = events}};
    if (poll(fds, 3, milliseconds) < 0)
        return NOT_YET;
    if (fds[0].revents || fds[1].revents)
        return STOPPED;
    return fds[2].revents ? READY : NOT_YET;
}

/* ---- connections ---- */

static void tell_intake(struct ct_live_reader *r)
{
    if (r->tee)
        ct_live_tee_look(r->tee, &r->intake);
    ct_live_ring_tell(r->ring, &r->intake);
}

static enum ready begin_connection(struct ct_live_reader *r)
{
    r->intake.waits = false;
    r->intake.connections++;
    r->got = 0;
    return READY;
}

/* Tries one address. Sets *error to why there is no connection. */
static enum ready try_address(struct ct_live_reader *r, const struct addrinfo *address, int *error)
{
    const int fd = ct_live_source_begin(address);
    if (fd < 0) {
        *error = errno;
        return NOT_YET;
    }
    const enum ready ready = wait_for(r, fd, POLLOUT, CONNECT_MS);
    *error = ready == READY ? ct_live_source_connected(r->source, fd) : ETIMEDOUT;
    if (*error)
        close(fd);
    return ready == READY && *error ? NOT_YET : ready;
}

static void say_tries(struct ct_live_reader *r, int error)
{
    if (!r->told)
        ct_live_say(r->say, CT_LOG_NOTE,
                    "%s: no connection: %s; coretap tries again, at first after %g s and later every %g s",
                    r->source->name, strerror(error), PAUSE_MS / 1e3, PAUSE_MAX / 1e3);
    r->told = true;
}

static enum ready connect_again(struct ct_live_reader *r)
{
    int error = 0;
    if (r->pause && wait_for(r, -1, 0, r->pause) == STOPPED)
        return STOPPED;
    r->pause = r->pause ? r->pause * 2 : PAUSE_MS;
    if (r->pause > PAUSE_MAX)
        r->pause = PAUSE_MAX;
    r->intake.tries++;
    for (const struct addrinfo *at = r->source->addresses; at; at = at->ai_next) {
        const enum ready ready = try_address(r, at, &error);
        if (ready != NOT_YET)
            return ready == READY ? begin_connection(r) : ready;
    }
    say_tries(r, error);
    return NOT_YET;
}

static enum ready next_connection(struct ct_live_reader *r)
{
    if (r->source->listener < 0)
        return connect_again(r);
    const enum ready ready = wait_for(r, r->source->listener, POLLIN, -1);
    if (ready != READY)
        return ready;
    return ct_live_source_accept(r->source) ? begin_connection(r) : NOT_YET;
}

/* Ends the connection because of `error`, an errno value or 0. */
static void end_connection(struct ct_live_reader *r, int error)
{
    close(r->source->fd);
    r->source->fd = -1;
    ct_live_ring_break(r->ring);
    if (r->tee)
        ct_live_tee_break(r->tee);
    if (r->got)
        ct_live_say(r->say, CT_LOG_NOTE,
                    "%s: the connection %s%s after %" PRIu64 " bytes; coretap waits for the next one",
                    r->source->name, error ? "broke: " : "ended", error ? strerror(error) : "", r->got);
    r->told |= r->got != 0;
    r->intake.waits = true;
    r->intake.since = ct_live_now();
    r->intake.tries = 0;
}

/* ---- bytes ---- */

static void take(struct ct_live_reader *r, const uint8_t *data, size_t size)
{
    if (!r->got && r->told)
        ct_live_say(r->say, CT_LOG_NOTE, "%s: trace arrives again, after %.1f s", r->source->name,
                    ct_live_now() - r->intake.since);
    if (!r->got)
        r->intake.since = ct_live_now();
    r->told = false;
    r->pause = PAUSE_MS;
    r->got += size;
    if (r->tee)
        ct_live_tee_write(r->tee, data, size);
    ct_live_ring_put(r->ring, size);
    tell_intake(r);
}

/* Reads available bytes, once. Returns false at the end, or on an error, with the reason in *trouble. */
static bool read_once(struct ct_live_reader *r, const char **trouble)
{
    uint8_t *data;
    const size_t room = ct_live_ring_room(r->ring, &data);
    const enum ready ready = room ? wait_for(r, r->source->fd, POLLIN, -1) : wait_for(r, -1, 0, 0);
    if (ready == STOPPED)
        return false;
    if (!room)
        ct_live_ring_wait_room(r->ring, FULL_MS);
    if (ready == NOT_YET)
        return true;
    const ssize_t got = read(r->source->fd, data, room);
    const int error = got < 0 ? errno : 0;
    if (got > 0)
        take(r, data, (size_t)got);
    else if (error == EINTR || error == EAGAIN)
        return true;
    else if (r->source->again)
        end_connection(r, error);
    else if (error)
        *trouble = strerror(error);
    return got > 0 || r->source->again;
}

/* Waits up to `milliseconds` (negative: no limit) for the end of the run. Returns whether it ended. */
static bool is_over(struct ct_live_reader *r, int milliseconds)
{
    struct pollfd over = {.fd = r->done, .events = POLLIN};
    int rc;
    do
        rc = poll(&over, 1, milliseconds);
    while (rc < 0 && errno == EINTR);
    return rc > 0;
}

/* Waits until the run is over, or is in a hurry. Returns true if it is in a hurry. */
static bool wait_hurry(struct ct_live_reader *r)
{
    struct pollfd fds[] = {{.fd = r->hurries, .events = POLLIN}, {.fd = r->done, .events = POLLIN}};
    while (!fds[0].revents && !fds[1].revents)
        if (poll(fds, 2, -1) < 0)
            fds[0].revents = fds[1].revents = 0;
    return fds[0].revents;
}

/* Watches a run whose input has ended, and makes it end soon when it is in a hurry, whatever its
 * specifications do. */
static void guard_end(struct ct_live_reader *r)
{
    if (!wait_hurry(r) || is_over(r, PATIENCE_MS))
        return;
    __atomic_store_n(r->stop, CT_MONITOR_STOP_SLOW, __ATOMIC_RELAXED);
    if (is_over(r, STOP_MS))
        return;
    __atomic_store_n(r->stop, CT_MONITOR_STOP, __ATOMIC_RELAXED);
    is_over(r, -1);
}

static void *read_all(void *user)
{
    struct ct_live_reader *r = user;
    const char *trouble = NULL;
    bool goes_on = true;
    while (goes_on) {
        if (r->source->fd >= 0) {
            goes_on = read_once(r, &trouble);
        } else {
            goes_on = next_connection(r) != STOPPED;
            tell_intake(r);
        }
    }
    ct_live_ring_end(r->ring, trouble);
    guard_end(r);
    return NULL;
}

int ct_live_reader_start(struct ct_live *l, struct ct_live_reader **out)
{
    struct ct_live_reader *r = calloc(1, sizeof *r);
    if (!r)
        return ct_fail_nomem(l->ctx, "live: the thread that reads");
    *r = (struct ct_live_reader){
        .source = &l->source,
        .ring = l->ring,
        .tee = l->tee,
        .say = &l->say,
        .stop = &l->stop,
        .ends = l->ends,
        .hurries = l->hurries,
        .intake = {.connects = l->source.again, .waits = l->source.fd < 0, .since = ct_live_now()},
        .done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    tell_intake(r);
    if (r->done >= 0 && ct_threads_start(&r->thread, 1, read_all, r)) {
        *out = r;
        return CT_OK;
    }
    const int error = errno;
    if (r->done >= 0)
        close(r->done);
    free(r);
    return ct_fail(l->ctx, CT_ERR_IO, "the thread that reads the input cannot be started: %s",
                   strerror(error));
}

void ct_live_reader_free(struct ct_live_reader *r)
{
    const uint64_t one = 1;
    if (!r)
        return;
    if (write(r->done, &one, sizeof one) == sizeof one)
        pthread_join(r->thread, NULL);
    close(r->done);
    free(r);
}
