/* SPDX-License-Identifier: Apache-2.0 */
/* Decides where one task ends and the next one begins. */
#include "chain/threads/parallel_own.h"

#include <stdlib.h>

#include "base/ctx.h"
#include "chain/threads/cuts.h"

/* A task is at least this many times as large as its warm-up, but the warm-up makes it no larger than
 * SEGMENT_MOST. */
#define WARM_PARTS   32u
#define SEGMENT_MOST ((size_t)2 << 20)

/* A warm-up is at least this fraction of a task, so that the trace unit repeats in it what later packets
 * depend on. */
#define WARM_LEAST 128u

/* the largest task that is read from a file, when tasks make no records */
#define SEGMENT_FILE ((uint64_t)1024 << 20)

/* Of the last tasks of such a file the first is smaller than their mean by this fraction of it, and the last
 * one larger: tasks at earlier offsets should end first, because only then their objects are free. */
#define UNEQUAL 16u

struct ct_task *ct_parallel_new_task(struct ct_parallel *p, size_t lane)
{
    struct ct_task *t = p->spare;
    if (t)
        p->spare = t->next;
    else
        t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    ct_stream_bytes_clear(&t->piece);
    t->next = t->after = NULL;
    t->lane = lane;
    t->begin = t->end = 0;
    t->behind = CT_BEHIND_MORE;
    t->speculative = t->confirmed = t->warm = t->whole = t->cut = t->left_object = false;
    t->state = CT_TASK_FILLING;
    t->lock = &p->lock;
    t->serial = ++p->serial;
    return t;
}

/* Makes the next task to be filled. Returns NULL when out of memory. */
static struct ct_task *fill_task(struct ct_parallel *p, size_t lane)
{
    pthread_mutex_lock(&p->lock);
    struct ct_task *t = ct_parallel_new_task(p, lane);
    pthread_mutex_unlock(&p->lock);
    p->lanes[lane].searched = 0;
    return t;
}

/* Queues the task being filled for the threads; it ends at byte `end` of its piece. `cut`: the
 * next one is speculative. */
static void dispatch(struct ct_parallel *p, struct ct_parallel_lane *lane, size_t end, enum ct_behind behind,
                     bool cut)
{
    struct ct_task *t = lane->filling;
    t->end = end;
    t->behind = behind;
    t->claimed = t->begin;
    lane->filling = NULL;
    pthread_mutex_lock(&p->lock);
    t->object = t->speculative ? NULL : lane->live;
    t->owner = t->object ? ct_parallel_object_of(lane, t->object) : NULL;
    t->cut = cut;
    t->after = t->speculative ? NULL : lane->last;
    t->state = CT_TASK_QUEUED;
    *p->end = t;
    p->end = &t->next;
    lane->last = t;
    p->outstanding++;
    pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
}

int ct_parallel_find_warm_up(const struct ct_parallel *p, size_t lane, struct ct_stream_bytes *piece,
                             size_t begin, size_t cut, size_t segment, size_t *from)
{
    const size_t first = cut - begin > CT_UNSPLIT_MOST ? cut - CT_UNSPLIT_MOST : begin;
    return ct_cuts_warm_up(piece, p->how.streams[lane].ops, first, cut, segment / WARM_LEAST,
                           segment / WARM_PARTS, from);
}

/* Enlarges later tasks if warm-ups of `warm_up` bytes require it. */
static void adapt_segment(struct ct_parallel *p, struct ct_parallel_lane *lane, size_t warm_up)
{
    const size_t size = warm_up * WARM_PARTS;
    if (p->how.segment || size <= lane->segment)
        return;
    pthread_mutex_lock(&p->lock);
    lane->segment = size < SEGMENT_MOST ? size : SEGMENT_MOST;
    pthread_mutex_unlock(&p->lock);
}

/* Moves the bytes of `t` from `from` on to the next task. Returns false when out of memory. */
static bool give_rest(struct ct_task *t, size_t from, struct ct_task *next)
{
    struct ct_run run;
    if (t->piece.in_file) {
        ct_stream_bytes_in_file(&next->piece, t->piece.fd, t->piece.pos + from, 0);
        return true;
    }
    return !ct_stream_bytes_run(&t->piece, from, t->piece.size, &run) &&
           ct_stream_bytes_append(&next->piece, &run);
}

/* Ends the task at `cut` and begins the next one with the bytes after it, and with the warm-up before it. */
static int cut_task(struct ct_parallel *p, struct ct_parallel_lane *lane, size_t index, size_t cut)
{
    struct ct_task *t = lane->filling;
    size_t from;
    const int rc = ct_parallel_find_warm_up(p, index, &t->piece, t->begin, cut, lane->segment, &from);
    if (rc)
        return ct_parallel_fail_task(p, t, rc);
    adapt_segment(p, lane, cut - from);
    struct ct_task *next = fill_task(p, index);
    if (!next || !give_rest(t, from, next)) {
        ct_task_free(next);
        return ct_fail_nomem(p->how.ctx, "threads");
    }
    next->begin = cut - from;
    next->speculative = true;
    dispatch(p, lane, cut, CT_BEHIND_MORE, true);
    lane->filling = next;
    return ct_parallel_join(p, p->most);
}

/* Ends a task that is full and cannot be cut. */
static int end_task(struct ct_parallel *p, struct ct_parallel_lane *lane)
{
    dispatch(p, lane, lane->filling->piece.size, CT_BEHIND_MORE, false);
    return ct_parallel_join(p, lane->split ? 0 : p->most);
}

/* Cuts the stream as long as it has enough bytes. */
static int cut_lane(struct ct_parallel *p, size_t index)
{
    struct ct_parallel_lane *lane = &p->lanes[index];
    int rc = 0;
    while (!rc && lane->filling) {
        struct ct_task *t = lane->filling;
        const size_t size = t->piece.size - t->begin;
        if (size < lane->segment)
            return 0;
        if (!lane->split)
            return end_task(p, lane);
        size_t from = t->begin + lane->segment;
        if (lane->searched > from)
            from = lane->searched;
        size_t cut;
        rc = ct_cuts_first(&t->piece, p->how.streams[index].ops, from, t->piece.size, &cut);
        if (!rc && cut != SIZE_MAX) {
            rc = cut_task(p, lane, index, cut);
        } else if (size >= lane->segment + CT_UNSPLIT_MOST) {
            return end_task(p, lane);
        } else {
            /* A synchronisation point may begin in the last bytes. */
            lane->searched = t->piece.size > CT_SYNC_SIZE_MAX ? t->piece.size - CT_SYNC_SIZE_MAX : 0;
            return 0;
        }
    }
    return rc;
}

int ct_parallel_push(struct ct_parallel *p, size_t index, const struct ct_run *run)
{
    struct ct_parallel_lane *lane = &p->lanes[index];
    if (!lane->filling)
        lane->filling = fill_task(p, index);
    if (!lane->filling || !ct_stream_bytes_append(&lane->filling->piece, run))
        return ct_fail_nomem(p->how.ctx, "threads");
    return cut_lane(p, index);
}

void ct_parallel_skip(struct ct_parallel *p, size_t index, size_t size)
{
    p->lanes[index].total.stats.bytes += size; /* no other thread hands on while the caller reads */
}

/* Returns the size of the next task of a file that has `left` bytes. Tasks that make no records are large:
 * each thread gets one part of the file, because its object already knows the program, which another object
 * would have to explore again. A thread that is done first takes a part of what the others have left
 * (parallel_split.c). */
static uint64_t size_of_next(const struct ct_parallel *p, struct ct_parallel_lane *lane, uint64_t left)
{
    const unsigned threads = p->how.options->threads;
    if (p->keeps || lane->falters) {
        lane->last_tasks = 0;
        return lane->segment;
    }
    if (left > threads * SEGMENT_FILE)
        return SEGMENT_FILE;
    if (!lane->last_tasks)
        lane->last_bytes = left;
    const uint64_t mean = lane->last_bytes / threads;
    const uint64_t less = mean / UNEQUAL;
    const uint64_t more = threads > 1 ? 2 * less * lane->last_tasks / (threads - 1u) : less;
    const uint64_t size = mean - less + more;
    if (++lane->last_tasks >= threads)
        return left;
    return size > lane->segment ? size : lane->segment;
}

bool ct_parallel_takes_file(const struct ct_parallel *p)
{
    return p->how.count == 1 && p->lanes[0].split;
}

int ct_parallel_file(struct ct_parallel *p, const struct ct_parallel_file *file, uint64_t *at)
{
    struct ct_parallel_lane *lane = &p->lanes[0];
    if (!lane->filling) {
        lane->filling = fill_task(p, 0);
        if (!lane->filling)
            return ct_fail_nomem(p->how.ctx, "threads");
        ct_stream_bytes_in_file(&lane->filling->piece, file->fd, *at, 0);
    }
    struct ct_task *t = lane->filling;
    const uint64_t begin = *at;
    const uint64_t left = file->size - begin;
    const uint64_t most = size_of_next(p, lane, left) + CT_UNSPLIT_MOST;
    p->file = *file;
    t->piece.size = t->begin + (size_t)(left < most ? left : most);
    size_t cut = SIZE_MAX;
    int rc = CT_OK;
    if (left > most - CT_UNSPLIT_MOST)
        rc = ct_cuts_first(&t->piece, p->how.streams[0].ops, t->begin + (size_t)(most - CT_UNSPLIT_MOST),
                           t->piece.size, &cut);
    if (rc)
        return ct_parallel_fail_task(p, t, rc);
    *at = begin + ((cut == SIZE_MAX ? t->piece.size : cut) - t->begin);
    return cut == SIZE_MAX ? end_task(p, lane) : cut_task(p, lane, 0, cut);
}

int ct_parallel_flush(struct ct_parallel *p, enum ct_behind behind)
{
    for (size_t i = 0; i < p->how.count; i++) {
        struct ct_parallel_lane *lane = &p->lanes[i];
        if (p->how.streams[i].not_followed)
            continue;
        if (!lane->filling)
            lane->filling = fill_task(p, i);
        if (!lane->filling)
            return ct_fail_nomem(p->how.ctx, "threads");
        dispatch(p, lane, lane->filling->piece.size, behind, false);
    }
    return ct_parallel_join(p, 0);
}
