/* SPDX-License-Identifier: Apache-2.0 */
#include "live/guests.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/threads.h"

#define ALL_MOST  48   /* most guests */
#define PEER_MOST 16   /* most guests of one address */
#define WAIT_MS   5000 /* milliseconds that a guest may take to show the token */
#define LOOK_MS   250  /* milliseconds between two checks */

struct ct_live_guest {
    struct ct_live_guest *next, *before;
    int fd;
    bool admitted;
    uint64_t since; /* arrival time, milliseconds */
    unsigned char peer[16];
};

struct ct_live_guests {
    pthread_mutex_t lock;
    pthread_cond_t ends;
    pthread_t thread;
    bool over;
    struct ct_live_guest *first; /* the oldest guest */
    struct ct_live_guest *last;
};

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Removes a guest from the list. Its owner still holds it. */
static void unlink_guest(struct ct_live_guests *g, struct ct_live_guest *one)
{
    if (one->admitted)
        return;
    one->admitted = true;
    *(one->before ? &one->before->next : &g->first) = one->next;
    *(one->next ? &one->next->before : &g->last) = one->before;
}

/* Shuts down a guest's socket. Its thread wakes up, sees the end of input, and closes the socket. */
static void turn_out(struct ct_live_guests *g, struct ct_live_guest *one)
{
    shutdown(one->fd, SHUT_RDWR);
    unlink_guest(g, one);
}

static void *watch(void *user)
{
    struct ct_live_guests *g = user;
    pthread_mutex_lock(&g->lock);
    while (!g->over) {
        const uint64_t now = now_ms();
        while (g->first && now - g->first->since >= WAIT_MS)
            turn_out(g, g->first);
        const uint64_t until = now + LOOK_MS;
        const struct timespec at = {(time_t)(until / 1000), (long)(until % 1000) * 1000000};
        pthread_cond_timedwait(&g->ends, &g->lock, &at);
    }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

struct ct_live_guests *ct_live_guests_new(void)
{
    struct ct_live_guests *g = calloc(1, sizeof *g);
    pthread_condattr_t clock;
    if (!g)
        return NULL;
    pthread_mutex_init(&g->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&g->ends, &clock);
    pthread_condattr_destroy(&clock);
    if (ct_threads_start(&g->thread, 1, watch, g))
        return g;
    pthread_cond_destroy(&g->ends);
    pthread_mutex_destroy(&g->lock);
    free(g);
    return NULL;
}

void ct_live_guests_free(struct ct_live_guests *g)
{
    if (!g)
        return;
    pthread_mutex_lock(&g->lock);
    g->over = true;
    pthread_cond_signal(&g->ends);
    pthread_mutex_unlock(&g->lock);
    pthread_join(g->thread, NULL);
    pthread_cond_destroy(&g->ends);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

static void note_peer(struct ct_live_guest *one, const struct sockaddr *peer)
{
    if (peer && peer->sa_family == AF_INET)
        memcpy(one->peer, &((const struct sockaddr_in *)peer)->sin_addr, 4);
    else if (peer && peer->sa_family == AF_INET6)
        memcpy(one->peer, &((const struct sockaddr_in6 *)peer)->sin6_addr, 16);
}

/* Evicts the oldest guest of this peer when the peer has too many, or the oldest of all when there are too
 * many. */
static void make_room(struct ct_live_guests *g, const struct ct_live_guest *newest)
{
    struct ct_live_guest *oldest = NULL;
    unsigned same = 0, all = 0;
    for (struct ct_live_guest *one = g->first; one; one = one->next) {
        const bool is_same = memcmp(one->peer, newest->peer, sizeof one->peer) == 0;
        oldest = is_same && !oldest ? one : oldest;
        same += is_same;
        all++;
    }
    if (same > PEER_MOST)
        turn_out(g, oldest);
    else if (all > ALL_MOST)
        turn_out(g, g->first);
}

struct ct_live_guest *ct_live_guests_add(struct ct_live_guests *g, int fd, const struct sockaddr *peer)
{
    struct ct_live_guest *one = calloc(1, sizeof *one);
    if (!one)
        return NULL;
    one->fd = fd;
    one->since = now_ms();
    note_peer(one, peer);
    pthread_mutex_lock(&g->lock);
    one->before = g->last;
    *(g->last ? &g->last->next : &g->first) = one;
    g->last = one;
    make_room(g, one);
    pthread_mutex_unlock(&g->lock);
    return one;
}

void ct_live_guests_admit(struct ct_live_guests *g, struct ct_live_guest *guest)
{
    if (!guest)
        return;
    pthread_mutex_lock(&g->lock);
    unlink_guest(g, guest);
    pthread_mutex_unlock(&g->lock);
}

void ct_live_guests_remove(struct ct_live_guests *g, struct ct_live_guest *guest)
{
    ct_live_guests_admit(g, guest);
    free(guest);
}
