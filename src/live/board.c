/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* mempcpy */
#include "live/board.h"

#include "base/room.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A part of the published JSON, and the status in which it last changed. */
struct part {
    struct ct_live_part at;
    uint64_t changed;
};

/* The request of one kind. */
struct slot {
    struct ct_live_command *asked;
    uint64_t answered;    /* number of answered requests */
    pthread_mutex_t turn; /* serialises requests */
};

struct ct_live_board {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct ct_live_ring *ring; /* ring that requests wake, or NULL */
    const struct ct_live_say *say;
    char *text[2]; /* by enum ct_live_form */
    size_t size[2], room[2];
    uint64_t serial;                                 /* number of the status; 0: none was published */
    struct part parts[LIVE_PARTS], news[LIVE_PARTS]; /* parts of the published status, and of the next one */
    size_t part_count;
    struct slot slots[LIVE_KINDS];
    bool closed;
};

struct ct_live_board *ct_live_board_new(const struct ct_live_say *say)
{
    struct ct_live_board *b = calloc(1, sizeof *b);
    pthread_condattr_t attributes;
    if (!b)
        return NULL;
    b->say = say;
    pthread_mutex_init(&b->lock, NULL);
    for (size_t i = 0; i < LIVE_KINDS; i++)
        pthread_mutex_init(&b->slots[i].turn, NULL);
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
    for (size_t i = 0; i < LIVE_KINDS; i++)
        pthread_mutex_destroy(&b->slots[i].turn);
    pthread_cond_destroy(&b->changed);
    free(b->text[CT_LIVE_JSON]);
    free(b->text[CT_LIVE_TEXT]);
    free(b);
}

void ct_live_board_wakes(struct ct_live_board *b, struct ct_live_ring *ring)
{
    pthread_mutex_lock(&b->lock);
    b->ring = ring;
    for (size_t i = 0; i < LIVE_KINDS; i++)
        if (b->slots[i].asked)
            ct_live_ring_wake(ring);
    pthread_mutex_unlock(&b->lock);
}

/* Makes room for a text of this size. Room only grows, and seldom, which avoids fragmentation. */
static bool make_room(struct ct_live_board *b, enum ct_live_form form, size_t size)
{
    return CT_MAKE_ROOM(b->text[form], b->room[form], size + 1);
}

static void keep(struct ct_live_board *b, enum ct_live_form form, const char *text, size_t size)
{
    memcpy(b->text[form], text, size);
    b->text[form][size] = '\0';
    b->size[form] = size;
}

/* Finds the old part with a key; starts at number `from`, wraps around. NULL: there is none. */
static const struct part *find_part(const struct ct_live_board *b, uint64_t key, size_t from)
{
    for (size_t i = 0; i < b->part_count; i++) {
        const struct part *part = &b->parts[(from + i) % b->part_count];
        if (part->at.key == key)
            return part;
    }
    return NULL;
}

/* Notes which parts of the new JSON differ from the published JSON. */
static void compare_parts(struct ct_live_board *b, const char *json, const struct ct_live_parts *parts)
{
    for (size_t i = 0, from = 0; i < parts->count; i++) {
        const struct ct_live_part *at = &parts->all[i];
        const struct part *old = find_part(b, at->key, from);
        const bool same = old && old->at.size == at->size &&
                          memcmp(b->text[CT_LIVE_JSON] + old->at.begin, json + at->begin, at->size) == 0;
        b->news[i] = (struct part){*at, same ? old->changed : b->serial + 1};
        from = old ? (size_t)(old - b->parts) + 1 : from;
    }
    memcpy(b->parts, b->news, parts->count * sizeof *b->parts);
    b->part_count = parts->count;
}

bool ct_live_board_publish(struct ct_live_board *b, const struct ct_live_text *json,
                           const struct ct_live_parts *parts, const struct ct_live_text *words)
{
    size_t size = json->size;
    while (size && json->text[size - 1] == '\n') /* an event contains no newline */
        size--;
    pthread_mutex_lock(&b->lock);
    const bool fits = make_room(b, CT_LIVE_JSON, size) && make_room(b, CT_LIVE_TEXT, words->size);
    if (fits) {
        compare_parts(b, json->text, parts);
        keep(b, CT_LIVE_JSON, json->text, size);
        keep(b, CT_LIVE_TEXT, words->text, words->size);
        b->serial++;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return fits;
}

struct ct_live_command *ct_live_board_asked(struct ct_live_board *b, enum ct_live_kind kind)
{
    pthread_mutex_lock(&b->lock);
    struct ct_live_command *command = b->slots[kind].asked;
    pthread_mutex_unlock(&b->lock);
    return command;
}

/* Removes the request of a slot and wakes its thread. */
static void answer(struct ct_live_board *b, struct slot *slot)
{
    slot->asked = NULL;
    slot->answered++;
    pthread_cond_broadcast(&b->changed);
}

void ct_live_board_answer(struct ct_live_board *b, enum ct_live_kind kind)
{
    pthread_mutex_lock(&b->lock);
    answer(b, &b->slots[kind]);
    pthread_mutex_unlock(&b->lock);
}

static void refuse(struct ct_live_command *command)
{
    command->fine = false;
    command->late = true;
    snprintf(command->text, sizeof command->text, "the run is over");
}

void ct_live_board_close(struct ct_live_board *b)
{
    pthread_mutex_lock(&b->lock);
    b->closed = true;
    for (size_t i = 0; i < LIVE_KINDS; i++) {
        if (b->slots[i].asked)
            refuse(b->slots[i].asked);
        answer(b, &b->slots[i]);
    }
    pthread_mutex_unlock(&b->lock);
}

/* Waits, with the lock held, for a status after number `serial`. Returns whether there is one. */
static bool wait_for_status(struct ct_live_board *b, uint64_t serial, unsigned milliseconds, bool *over)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(milliseconds / 1000);
    while (b->serial <= serial && !b->closed)
        if (pthread_cond_timedwait(&b->changed, &b->lock, &until) != 0)
            break;
    *over = b->closed && b->serial <= serial;
    return b->serial > serial;
}

char *ct_live_board_read(struct ct_live_board *b, enum ct_live_form form, uint64_t *serial,
                         unsigned milliseconds, size_t *size, bool *over)
{
    char *copy = NULL;
    pthread_mutex_lock(&b->lock);
    const bool there = wait_for_status(b, *serial, milliseconds, over);
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

/* Appends the parts that changed after a status: those of monitors, or all others. Returns the end. */
static char *put_parts(const struct ct_live_board *b, uint64_t serial, bool monitors, char *to)
{
    bool first = true;
    for (size_t i = 0; i < b->part_count; i++) {
        const struct part *part = &b->parts[i];
        if (part->changed <= serial || (part->at.key >= LIVE_PART_MONITOR) != monitors)
            continue;
        if (!first)
            *to++ = ',';
        first = false;
        to = mempcpy(to, b->text[CT_LIVE_JSON] + part->at.begin, part->at.size);
    }
    return to;
}

/* Makes the object, with the lock held. NULL: out of memory. */
static char *make_changes(const struct ct_live_board *b, uint64_t serial, size_t *size)
{
    /* at most as long as the whole text, plus commas and the name of the list */
    char *text = malloc(b->size[CT_LIVE_JSON] + b->part_count + 32);
    if (!text)
        return NULL;
    char *at = text, *before;
    *at++ = '{';
    before = at;
    at = put_parts(b, serial, false, at);
    at = stpcpy(at, at == before ? "\"changed\":[" : ",\"changed\":[");
    at = put_parts(b, serial, true, at);
    at = stpcpy(at, "]}");
    *size = (size_t)(at - text);
    return text;
}

char *ct_live_board_changes(struct ct_live_board *b, uint64_t *serial, unsigned milliseconds, size_t *size,
                            bool *over)
{
    char *text = NULL;
    pthread_mutex_lock(&b->lock);
    const bool there = wait_for_status(b, *serial, milliseconds, over);
    if (there && (text = make_changes(b, *serial, size)) != NULL)
        *serial = b->serial;
    pthread_mutex_unlock(&b->lock);
    if (there && !text)
        ct_live_lack(b->say);
    return text;
}

void ct_live_board_ask(struct ct_live_board *b, struct ct_live_command *command)
{
    struct slot *slot = &b->slots[ct_live_kind(command->action)];
    pthread_mutex_lock(&slot->turn);
    pthread_mutex_lock(&b->lock);
    if (b->closed) {
        refuse(command);
    } else {
        const uint64_t before = slot->answered;
        slot->asked = command;
        if (b->ring)
            ct_live_ring_wake(b->ring);
        while (slot->answered == before)
            pthread_cond_wait(&b->changed, &b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    pthread_mutex_unlock(&slot->turn);
}
