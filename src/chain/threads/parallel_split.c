/* SPDX-License-Identifier: Apache-2.0 */
/* Gives an idle thread the last part of another thread's task. So tasks of a file are few and large, and yet
 * all threads end at the same time. */
#include "chain/threads/parallel_own.h"

#include "chain/threads/cuts.h"

/* Minimal remaining size of a task that is cut, as a fraction of the size of a task. */
#define LEAST(segment) ((segment) / 16)

/* The same when a new object must be made for the other part, which has to explore the program. */
#define LEAST_FOR_NEW(segment) ((segment)*8)

/* Returns how much of its rest the task keeps: less than half, so that it ends before the other part, and its
 * object is free then. */
static size_t kept_of(size_t left)
{
    return left / 16 * 7;
}

/* Returns the running task of a file with the largest rest. The lock must be held. */
static struct ct_task *longest(const struct ct_parallel *p)
{
    struct ct_task *most = NULL;
    for (struct ct_task *t = p->first; t; t = t->next) {
        const bool can_be_cut =
            t->state == CT_TASK_RUNNING && !t->whole && t->piece.in_file && p->lanes[t->lane].split;
        if (can_be_cut && (!most || t->end - t->claimed > most->end - most->claimed))
            most = t;
    }
    return most;
}

static bool is_worth_it(const struct ct_parallel *p, const struct ct_task *t)
{
    const struct ct_parallel_lane *lane = &p->lanes[t->lane];
    const size_t left = t->end - t->claimed;
    const size_t least = ct_parallel_has_object(lane) ? LEAST(lane->segment) : LEAST_FOR_NEW(lane->segment);
    return left > least;
}

/* Moves the start of `other`, which has the bytes of the file from the start of a task on, to the first
 * synchronisation point at or after `from`. *cut is SIZE_MAX when there is none. CT_ERR_NOMEM, CT_ERR_IO. */
static int find_begin(const struct ct_parallel *p, struct ct_task *other, size_t from, size_t segment,
                      size_t *cut)
{
    struct ct_stream_bytes *piece = &other->piece;
    const size_t to = piece->size - from > CT_UNSPLIT_MOST ? from + CT_UNSPLIT_MOST : piece->size;
    size_t warm_up = 0;
    int rc = ct_cuts_first(piece, p->how.streams[other->lane].ops, from, to, cut);
    if (!rc && *cut != SIZE_MAX)
        rc = ct_parallel_find_warm_up(p, other->lane, piece, 0, *cut, segment, &warm_up);
    if (rc || *cut == SIZE_MAX)
        return rc;
    ct_stream_bytes_in_file(piece, piece->fd, piece->pos + warm_up, piece->size - warm_up);
    other->begin = *cut - warm_up;
    other->end = piece->size;
    return CT_OK;
}

/* Returns true when a task that was running still is. The lock must be held. */
static bool still_runs(const struct ct_parallel *p, const struct ct_task *task, uint64_t serial)
{
    const struct ct_task *t = p->first;
    while (t && t != task)
        t = t->next;
    return t && t->serial == serial && t->state == CT_TASK_RUNNING;
}

/* Ends a running task at byte `cut` of its piece, and queues the part after it as another task. */
static void cut_running(struct ct_parallel *p, struct ct_task *t, size_t cut, struct ct_task *other)
{
    struct ct_parallel_lane *lane = &p->lanes[t->lane];
    other->speculative = true;
    other->object = NULL;
    other->after = NULL;
    other->claimed = other->begin;
    other->behind = t->behind;
    other->state = CT_TASK_QUEUED;
    other->next = t->next;
    t->next = other;
    t->end = cut;
    t->behind = CT_BEHIND_MORE;
    if (p->end == &t->next)
        p->end = &other->next;
    if (lane->last == t)
        lane->last = other;
    p->outstanding++;
}

bool ct_parallel_split(struct ct_parallel *p)
{
    struct ct_task *t = p->counts && !p->keeps ? longest(p) : NULL;
    struct ct_task *other = t && is_worth_it(p, t) ? ct_parallel_new_task(p, t->lane) : NULL;
    if (!other)
        return false;
    const uint64_t serial = t->serial;
    const size_t begin = t->begin;
    const size_t from = t->claimed + kept_of(t->end - t->claimed) - begin;
    const size_t segment = p->lanes[t->lane].segment;
    size_t cut;
    ct_stream_bytes_in_file(&other->piece, t->piece.fd, t->piece.pos + begin, t->end - begin);
    pthread_mutex_unlock(&p->lock);
    const int rc = find_begin(p, other, from, segment, &cut);
    pthread_mutex_lock(&p->lock);
    if (still_runs(p, t, serial)) {
        if (!rc && cut != SIZE_MAX && begin + cut > t->claimed && begin + cut < t->end) {
            cut_running(p, t, begin + cut, other);
            return true;
        }
        t->whole = rc || cut == SIZE_MAX;
    }
    other->next = p->spare;
    p->spare = other;
    return true;
}
