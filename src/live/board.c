/* SPDX-License-Identifier: Apache-2.0 */
#include "live/board.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct ct_live_board {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct ct_live_ring *ring; /* the ring to be woken, or NULL */
    const struct ct_live_say *say;
    char *text[2]; /* by enum ct_live_form */
    size_t size[2], room[2];
    uint64_t serial; /* number of the status; 0 before the first one */
    struct ct_live_command *asked;
    uint64_t answered; /* how many requests were answered */
    bool closed;
    pthread_mutex_t turn; /* makes requests come one after the other */
};

struct ct_live_board *ct_live_board_new(const struct ct_live_say *say)
{
    struct ct_live_board *b = calloc(1, sizeof *b);
    pthread_condattr_t attributes;
    if (!b)
        return NULL;
    b->say = say;
    pthread_mutex_init(&b->lock, NULL);
    pthread_mutex_init(&b->turn, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&b->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return b;
}

void ct_live_board_free(struct ct_live_board *b)
{
    if (!b)
        return;
    pthread_mutex_destroy(&b->lock);
    pthread_mutex_destroy(&b->turn);
    pthread_cond_destroy(&b->changed);
    free(b->text[CT_LIVE_JSON]);
    free(b->text[CT_LIVE_TEXT]);
    free(b);
}

void ct_live_board_wakes(struct ct_live_board *b, struct ct_live_ring *ring)
{
    pthread_mutex_lock(&b->lock);
    b->ring = ring;
    if (b->asked)
        ct_live_ring_wake(ring);
    pthread_mutex_unlock(&b->lock);
}

/* Makes room for a text of this size. Room only grows, and seldom, so that memory stays in one piece. */
static bool make_room(struct ct_live_board *b, enum ct_live_form form, size_t size)
{
    if (size + 1 <= b->room[form])
        return true;
    const size_t room = (size + 1) * 2;
    char *more = realloc(b->text[form], room);
    if (!more)
        return false;
    b->text[form] = more;
    b->room[form] = room;
    return true;
}

static void keep(struct ct_live_board *b, enum ct_live_form form, const char *text, size_t size)
{
    memcpy(b->text[form], text, size);
    b->text[form][size] = '\0';
    b->size[form] = size;
}

bool ct_live_board_publish(struct ct_live_board *b, const char *json, size_t json_size, const char *text,
                           size_t text_size)
{
    while (json_size && json[json_size - 1] == '\n') /* an event has no newline in it */
        json_size--;
    pthread_mutex_lock(&b->lock);
    const bool fits = make_room(b, CT_LIVE_JSON, json_size) && make_room(b, CT_LIVE_TEXT, text_size);
    if (fits) {
        keep(b, CT_LIVE_JSON, json, json_size);
        keep(b, CT_LIVE_TEXT, text, text_size);
        b->serial++;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return fits;
}

struct ct_live_command *ct_live_board_asked(struct ct_live_board *b)
{
    pthread_mutex_lock(&b->lock);
    struct ct_live_command *command = b->asked;
    pthread_mutex_unlock(&b->lock);
    return command;
}

void ct_live_board_answer(struct ct_live_board *b)
{
    pthread_mutex_lock(&b->lock);
    b->asked = NULL;
    b->answered++;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

static void refuse(struct ct_live_command *command)
{
    command->fine = false;
    snprintf(command->text, sizeof command->text, "the run is over");
}

void ct_live_board_close(struct ct_live_board *b)
{
    pthread_mutex_lock(&b->lock);
    b->closed = true;
    if (b->asked)
        refuse(b->asked);
    b->asked = NULL;
    b->answered++;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

char *ct_live_board_read(struct ct_live_board *b, enum ct_live_form form, uint64_t *serial,
                         unsigned milliseconds, size_t *size, bool *over)
{
    struct timespec until;
    char *copy = NULL;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(milliseconds / 1000);
    pthread_mutex_lock(&b->lock);
    while (b->serial <= *serial && !b->closed)
        if (pthread_cond_timedwait(&b->changed, &b->lock, &until) != 0)
            break;
    *over = b->closed && b->serial <= *serial;
    const bool there = b->serial > *serial;
    if (there && (copy = malloc(b->size[form] + 1)) != NULL) {
        *size = b->size[form];
        memcpy(copy, b->text[form], *size + 1);
        *serial = b->serial;
    }
    pthread_mutex_unlock(&b->lock);
    if (there && !copy)
        ct_live_lack(b->say);
    return copy;
}

void ct_live_board_ask(struct ct_live_board *b, struct ct_live_command *command)
{
    pthread_mutex_lock(&b->turn);
    pthread_mutex_lock(&b->lock);
    if (b->closed) {
        refuse(command);
    } else {
        const uint64_t before = b->answered;
        b->asked = command;
        if (b->ring)
            ct_live_ring_wake(b->ring);
        while (b->answered == before)
            pthread_cond_wait(&b->changed, &b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    pthread_mutex_unlock(&b->turn);
}
