/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/live_board.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct cli_live_board {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct cli_live_ring *ring;
    char *text[2]; /* by enum cli_live_form */
    size_t size[2], room[2];
    uint64_t serial; /* of the status; 0: there is none yet */
    struct cli_live_command *asked;
    uint64_t answered; /* requests */
    bool closed;
    pthread_mutex_t turn; /* requests come one after the other */
};

struct cli_live_board *cli_live_board_new(struct cli_live_ring *ring)
{
    struct cli_live_board *b = calloc(1, sizeof *b);
    pthread_condattr_t attributes;
    if (!b)
        return NULL;
    b->ring = ring;
    pthread_mutex_init(&b->lock, NULL);
    pthread_mutex_init(&b->turn, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&b->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return b;
}

void cli_live_board_free(struct cli_live_board *b)
{
    if (!b)
        return;
    pthread_mutex_destroy(&b->lock);
    pthread_mutex_destroy(&b->turn);
    pthread_cond_destroy(&b->changed);
    free(b->text[LIVE_JSON]);
    free(b->text[LIVE_TEXT]);
    free(b);
}

/* Makes room for a text of this size. Room only grows, and seldom: memory stays in one piece. */
static bool make_room(struct cli_live_board *b, enum cli_live_form form, size_t size)
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

static void keep(struct cli_live_board *b, enum cli_live_form form, const char *text, size_t size)
{
    memcpy(b->text[form], text, size);
    b->text[form][size] = '\0';
    b->size[form] = size;
}

bool cli_live_board_publish(struct cli_live_board *b, const char *json, size_t json_size, const char *text,
                            size_t text_size)
{
    while (json_size && json[json_size - 1] == '\n') /* an event has no newline in it */
        json_size--;
    pthread_mutex_lock(&b->lock);
    const bool fits = make_room(b, LIVE_JSON, json_size) && make_room(b, LIVE_TEXT, text_size);
    if (fits) {
        keep(b, LIVE_JSON, json, json_size);
        keep(b, LIVE_TEXT, text, text_size);
        b->serial++;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return fits;
}

struct cli_live_command *cli_live_board_asked(struct cli_live_board *b)
{
    pthread_mutex_lock(&b->lock);
    struct cli_live_command *command = b->asked;
    pthread_mutex_unlock(&b->lock);
    return command;
}

void cli_live_board_answer(struct cli_live_board *b)
{
    pthread_mutex_lock(&b->lock);
    b->asked = NULL;
    b->answered++;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

static void refuse(struct cli_live_command *command)
{
    command->fine = false;
    snprintf(command->text, sizeof command->text, "the run is over");
}

void cli_live_board_close(struct cli_live_board *b)
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

char *cli_live_board_read(struct cli_live_board *b, enum cli_live_form form, uint64_t *serial,
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
        cli_no_memory();
    return copy;
}

void cli_live_board_ask(struct cli_live_board *b, struct cli_live_command *command)
{
    pthread_mutex_lock(&b->turn);
    pthread_mutex_lock(&b->lock);
    if (b->closed) {
        refuse(command);
    } else {
        const uint64_t before = b->answered;
        b->asked = command;
        cli_live_ring_wake(b->ring);
        while (b->answered == before)
            pthread_cond_wait(&b->changed, &b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    pthread_mutex_unlock(&b->turn);
}
