/* SPDX-License-Identifier: Apache-2.0 */
/* Delivers the results of a task, or has the task decoded again. */
#include "chain/threads/parallel_own.h"

#include <string.h>

#include "base/ctx.h"
#include "base/whole_file.h"

int ct_parallel_keep_left(struct ct_parallel_lane *lane, struct ct_task *t)
{
    struct ct_run run;
    const int rc = ct_stream_bytes_run(&t->piece, t->used, t->end, &run);
    ct_stream_bytes_clear(&lane->left);
    if (rc)
        return rc;
    return ct_stream_bytes_append(&lane->left, &run) ? CT_OK : CT_ERR_NOMEM;
}

int ct_parallel_fail_task(const struct ct_parallel *p, const struct ct_task *t, int rc)
{
    if (rc == CT_ERR_NOMEM)
        return ct_fail_nomem(p->how.ctx, "threads");
    if (rc != CT_ERR_IO || !t->piece.in_file)
        return rc;
    if (!t->piece.error)
        return ct_fail_shorter(p->how.ctx, p->file.fd, p->file.path, p->file.size);
    return ct_fail(p->how.ctx, CT_ERR_IO, "%s: cannot be read: %s", p->file.path, strerror(t->piece.error));
}

static void add_stats(struct ct_stream_stats *sum, const struct ct_stream_stats *s)
{
    struct ct_holes holes = sum->holes;
    ct_holes_merge(&holes, &s->holes);
    /* all other members are counts */
    uint64_t to[sizeof *sum / sizeof(uint64_t)];
    uint64_t from[sizeof *sum / sizeof(uint64_t)];
    memcpy(to, sum, sizeof *sum);
    memcpy(from, s, sizeof *s);
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
    memcpy(sum, to, sizeof *sum);
    sum->holes = holes;
}

/* Returns whether the task began in the state in which the one before it ended. */
static bool begins_right(const struct ct_parallel *p, const struct ct_parallel_lane *lane,
                         const struct ct_task *t)
{
    if (!t->speculative || t->confirmed)
        return true;
    if (!t->ready || lane->left.size)
        return false;
    if (!lane->live)
        return ct_seam_equal(&lane->before->rest, &t->seam);
    struct ct_seam seam;
    ct_stream_chain_seam(lane->live, &seam);
    return ct_seam_equal(&seam, &t->seam) &&
           (!p->counts || ct_follow_knows(p->how.streams[t->lane].follow, t->object->follow));
}

static int hand_on_kept(struct ct_parallel *p, struct ct_parallel_lane *lane, struct ct_task *t)
{
    const struct ct_chain_sink *sink = p->goal.sink;
    int rc = 0;
    p->steps_from = t->object ? t->object->follow : NULL;
    if (t->part)
        rc = sink->part_end(sink->user, &lane->total, t->part, 1);
    else
        rc = ct_batch_queue_deliver(&t->batches, sink, &lane->total);
    t->part = NULL;
    return rc ? rc : ct_parallel_fail_task(p, t, t->rc);
}

/* Adds the counts of the object to those of the stream. */
static int take_counts(const struct ct_parallel *p, const struct ct_parallel_lane *lane,
                       const struct ct_task *t, const struct ct_stream_chain *object)
{
    return p->counts && lane->split ? ct_follow_take(p->how.streams[t->lane].follow, object->follow) : 0;
}

/* Decodes the rest of a task, or all of it, straight to the receivers. */
static int finish(struct ct_parallel *p, struct ct_parallel_lane *lane, struct ct_task *t,
                  struct ct_stream_chain *object, struct ct_batches *batches)
{
    bool more;
    int rc;
    p->steps_from = object->follow;
    do {
        rc = ct_task_finish(t, object, &p->goal, batches, &more);
        if (!rc)
            rc = take_counts(p, lane, t, object);
    } while (!rc && more);
    return rc;
}

/* Makes the object of a task the live one: it has the state after the last task. */
static void go_on_with(struct ct_parallel *p, struct ct_parallel_lane *lane, struct ct_task *t)
{
    if (!t->speculative)
        lane->start_offset = t->object->start_offset;
    else if (lane->live)
        lane->start_offset = lane->live->start_offset;
    t->start_offset = lane->start_offset;
    pthread_mutex_lock(&p->lock); /* from here on the previous live object is free */
    lane->live = t->left_object ? NULL : t->object;
    pthread_mutex_unlock(&p->lock);
}

/* Makes the object of a wrong task again if it counts: its graph has nodes that the stream did not reach, so
 * that its numbers would differ from those of the stream. */
static int renew_counting(struct ct_parallel *p, struct ct_parallel_lane *lane, const struct ct_task *t)
{
    pthread_mutex_lock(&p->lock);
    struct ct_parallel_object *o = ct_parallel_object_of(lane, t->object);
    pthread_mutex_unlock(&p->lock);
    if (!p->counts || !o)
        return CT_OK;
    ct_stream_chain_deinit(&o->chain);
    return ct_parallel_init_object(p, lane, o);
}

/* Decodes the task again, from the right state. */
static int decode_again(struct ct_parallel *p, struct ct_parallel_lane *lane, struct ct_task *t,
                        struct ct_batches *batches)
{
    int rc = renew_counting(p, lane, t);
    if (!rc)
        rc = ct_parallel_restore(p, lane, batches);
    if (rc)
        return rc;
    if (t->part)
        p->goal.sink->part_end(p->goal.sink->user, &lane->total, t->part, 0);
    t->part = NULL;
    if (!ct_task_prepend(t, &lane->left))
        return ct_fail_nomem(p->how.ctx, "threads");
    t->used = t->begin;
    ct_task_clear_stats(lane->live);
    return finish(p, lane, t, lane->live, batches);
}

/* Returns the task that continues where `t` ended, if it is running and its warm-up is done; else NULL. */
static struct ct_task *next_that_is_warm(struct ct_parallel *p, const struct ct_task *t)
{
    pthread_mutex_lock(&p->lock);
    struct ct_task *next = t->next;
    while (next && next->lane != t->lane)
        next = next->next;
    if (next && !(next->speculative && next->warm))
        next = NULL;
    pthread_mutex_unlock(&p->lock);
    return next;
}

/* Confirms the next task if it began in the right state and is running. The state at the end of `t` is not
 * needed then: its object is free for another task, with all that it knows of the program. */
static void confirm_next(struct ct_parallel *p, struct ct_parallel_lane *lane, const struct ct_task *t)
{
    struct ct_task *next = p->counts && lane->split ? next_that_is_warm(p, t) : NULL;
    if (!next || !begins_right(p, lane, next))
        return;
    next->confirmed = true;
    go_on_with(p, lane, next);
}

int ct_parallel_hand_on(struct ct_parallel *p, struct ct_task *t, struct ct_batches *batches)
{
    struct ct_parallel_lane *lane = &p->lanes[t->lane];
    const bool right = begins_right(p, lane, t);
    int rc = 0;
    if (right) {
        if (!t->confirmed)
            go_on_with(p, lane, t);
        if (t->speculative && !t->left_object) /* not earlier: until now a thread used the object */
            t->object->start_offset = t->start_offset;
        rc = hand_on_kept(p, lane, t);
        if (!rc)
            rc = take_counts(p, lane, t, t->object);
        if (!rc && t->paused)
            rc = finish(p, lane, t, t->object, batches);
    } else {
        p->again++;
        rc = decode_again(p, lane, t, batches);
    }
    p->tasks++;
    if (!rc && p->how.streams[t->lane].follow && p->follows)
        rc = ct_follow_flush(p->how.streams[t->lane].follow, &lane->total, p->how.sink);
    add_stats(&lane->total.stats, &t->stats);
    lane->falters = t->paused || !right;
    if (!rc && (lane->split || t->paused))
        rc = ct_parallel_keep_left(lane, t);
    if (!rc)
        confirm_next(p, lane, t);
    return ct_parallel_fail_task(p, t, rc);
}
