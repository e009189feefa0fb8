/* SPDX-License-Identifier: Apache-2.0 */
#include "live/ring.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define LOSSES                                                                                               \
    256 /* most losses that wait to be reported; while there are as many, incoming bytes are lost or wait,   \
         * too */

/* A loss of bytes before position `at` of the bytes put into the ring. */
struct loss {
    uint64_t at, count;
    bool apart; /* another connection begins there */
};

struct ct_live_ring {
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    uint8_t *data, *waste;
    size_t size;
    bool drop;
    bool losing; /* the ring was full, and is not half empty yet */
    bool apart;  /* the next bytes belong to another connection */
    bool woken, ended;
    const char *trouble;
    struct ct_live_intake intake;
    uint64_t origin;     /* bytes that came before the current connection */
    uint64_t put, taken; /* bytes */
    uint64_t losing_now; /* bytes lost since the last byte put into the ring */
    uint64_t lost, losses, breaks;
    uint64_t lost_taken; /* lost bytes reported to the analysing thread */
    struct loss waiting[LOSSES];
    size_t first_loss, loss_count;
};

static void make_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct ct_live_ring *ct_live_ring_new(size_t size, bool drop)
{
    struct ct_live_ring *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->data = malloc(size);
    r->waste = drop ? malloc(LIVE_PIECE) : NULL;
    r->size = size;
    r->drop = drop;
    pthread_mutex_init(&r->lock, NULL);
    make_condition(&r->filled);
    make_condition(&r->emptied);
    if (r->data && (r->waste || !drop))
        return r;
    ct_live_ring_free(r);
    return NULL;
}

void ct_live_ring_free(struct ct_live_ring *r)
{
    if (!r)
        return;
    pthread_cond_destroy(&r->filled);
    pthread_cond_destroy(&r->emptied);
    pthread_mutex_destroy(&r->lock);
    free(r->data);
    free(r->waste);
    free(r);
}

static void wait_for(struct ct_live_ring *r, pthread_cond_t *condition, unsigned milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(condition, &r->lock, &until);
}

/* ---- the reading thread ---- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns how many of the next bytes must be dropped, at least; 0: none. */
static size_t to_be_lost(struct ct_live_ring *r)
{
    const size_t room = r->size - (size_t)(r->put - r->taken);
    if (!r->drop)
        return 0;
    if (room == 0 || (r->apart && r->loss_count == LOSSES))
        r->losing = true;
    if (r->losing && (room < r->size / 2 || r->loss_count == LOSSES))
        return LIVE_PIECE;
    const size_t beyond = (size_t)((r->put + r->lost - r->origin) % LIVE_BLOCK);
    if (r->losing && beyond) /* drops the rest of a block whose start was lost */
        return LIVE_BLOCK - beyond;
    return 0;
}

/* Records a loss before incoming bytes. */
static void note_loss(struct ct_live_ring *r)
{
    if (!r->losing_now && !r->apart)
        return;
    const size_t last = (r->first_loss + r->loss_count++) % LOSSES;
    r->waiting[last] = (struct loss){r->put, r->losing_now, r->apart};
    r->losses += r->losing_now != 0;
    r->breaks += r->apart;
    r->losing_now = 0;
    r->apart = false;
}

size_t ct_live_ring_room(struct ct_live_ring *r, uint8_t **data)
{
    pthread_mutex_lock(&r->lock);
    size_t room = to_be_lost(r);
    *data = r->waste;
    if (!room && !(r->apart && r->loss_count == LOSSES)) {
        const size_t at = (size_t)(r->put % r->size);
        r->losing = false;
        room = least(least(r->size - (size_t)(r->put - r->taken), r->size - at), LIVE_PIECE);
        *data = r->data + at;
    }
    pthread_mutex_unlock(&r->lock);
    return room;
}

void ct_live_ring_put(struct ct_live_ring *r, size_t size)
{
    pthread_mutex_lock(&r->lock);
    if (r->losing) {
        r->lost += size;
        r->losing_now += size;
    } else {
        note_loss(r);
        r->put += size;
        pthread_cond_signal(&r->filled);
    }
    pthread_mutex_unlock(&r->lock);
}

void ct_live_ring_break(struct ct_live_ring *r)
{
    pthread_mutex_lock(&r->lock);
    r->apart |= r->put + r->lost != r->origin;
    r->origin = r->put + r->lost;
    pthread_mutex_unlock(&r->lock);
}

void ct_live_ring_tell(struct ct_live_ring *r, const struct ct_live_intake *intake)
{
    pthread_mutex_lock(&r->lock);
    r->intake = *intake;
    pthread_mutex_unlock(&r->lock);
}

void ct_live_ring_wait_room(struct ct_live_ring *r, unsigned milliseconds)
{
    pthread_mutex_lock(&r->lock);
    if (r->put - r->taken == r->size || (r->apart && r->loss_count == LOSSES))
        wait_for(r, &r->emptied, milliseconds);
    pthread_mutex_unlock(&r->lock);
}

void ct_live_ring_end(struct ct_live_ring *r, const char *trouble)
{
    pthread_mutex_lock(&r->lock);
    r->losses += r->losing_now != 0;
    r->ended = true;
    r->trouble = trouble;
    pthread_cond_signal(&r->filled);
    pthread_mutex_unlock(&r->lock);
}

/* ---- the analysing thread ---- */

/* Returns the oldest waiting loss, or NULL. */
static const struct loss *next_loss(const struct ct_live_ring *r)
{
    return r->loss_count ? &r->waiting[r->first_loss] : NULL;
}

bool ct_live_ring_get(struct ct_live_ring *r, unsigned milliseconds, struct ct_live_piece *piece)
{
    pthread_mutex_lock(&r->lock);
    if (r->put == r->taken && !r->ended && !r->woken)
        wait_for(r, &r->filled, milliseconds);
    r->woken = false;
    const size_t at = (size_t)(r->taken % r->size);
    const struct loss *loss = next_loss(r);
    *piece = (struct ct_live_piece){.data = r->data + at};
    uint64_t end = r->put;
    if (loss && loss->at == r->taken && end > r->taken) {
        piece->lost = loss->count;
        piece->apart = loss->apart;
        loss = r->loss_count > 1 ? &r->waiting[(r->first_loss + 1) % LOSSES] : NULL;
    }
    if (loss && loss->at < end)
        end = loss->at;
    piece->size = least(least((size_t)(end - r->taken), r->size - at), LIVE_PIECE);
    piece->more = r->put - r->taken > piece->size;
    piece->offset = r->taken + r->lost_taken + piece->lost;
    pthread_mutex_unlock(&r->lock);
    return piece->size > 0;
}

void ct_live_ring_done(struct ct_live_ring *r, size_t size)
{
    pthread_mutex_lock(&r->lock);
    const struct loss *loss = next_loss(r);
    if (loss && loss->at == r->taken && size) {
        r->lost_taken += loss->count;
        r->first_loss = (r->first_loss + 1) % LOSSES;
        r->loss_count--;
    }
    r->taken += size;
    pthread_cond_signal(&r->emptied);
    pthread_mutex_unlock(&r->lock);
}

/* ---- any thread ---- */

void ct_live_ring_wake(struct ct_live_ring *r)
{
    pthread_mutex_lock(&r->lock);
    r->woken = true;
    pthread_cond_signal(&r->filled);
    pthread_mutex_unlock(&r->lock);
}

struct ct_live_ring_state ct_live_ring_look(struct ct_live_ring *r)
{
    pthread_mutex_lock(&r->lock);
    const struct ct_live_ring_state state = {.read = r->put + r->lost,
                                             .lost = r->lost,
                                             .losses = r->losses + (r->losing_now && !r->ended),
                                             .taken = r->taken,
                                             .breaks = r->breaks,
                                             .intake = r->intake,
                                             .size = r->size,
                                             .fill = (size_t)(r->put - r->taken),
                                             .ended = r->ended,
                                             .trouble = r->trouble};
    pthread_mutex_unlock(&r->lock);
    return state;
}
