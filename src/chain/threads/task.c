/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/threads/task.h"

#include <stdlib.h>
#include <string.h>

/* Bytes decoded between two checks whether the task has too many records, when it keeps them, or its part is
 * full. */
#define STEP_KEPT ((size_t)16 << 10)
#define STEP      ((size_t)64 << 10)

void ct_task_free(struct ct_task *t)
{
    if (!t)
        return;
    ct_stream_bytes_free(&t->piece);
    ct_batch_queue_free(&t->batches);
    free(t);
}

/* Prepends `left` bytes of the file to the task, which needs no copy. */
static void extend(struct ct_task *t, size_t left)
{
    const size_t more = left - t->begin;
    ct_stream_bytes_extend(&t->piece, more);
    t->begin = 0;
    t->end += more;
}

bool ct_task_prepend(struct ct_task *t, struct ct_stream_bytes *left)
{
    if (!left->size) /* another thread may cut such a task while it runs, and reads `begin` for that */
        return true;
    if (t->begin >= left->size) { /* they are before the task already */
        t->begin -= left->size;
        return true;
    }
    if (t->piece.in_file) {
        extend(t, left->size);
        return true;
    }
    struct ct_stream_bytes all = {0};
    struct ct_run run;
    bool fits = !ct_stream_bytes_run(left, 0, left->size, &run) && ct_stream_bytes_append(&all, &run);
    fits =
        fits && !ct_stream_bytes_run(&t->piece, t->begin, t->end, &run) && ct_stream_bytes_append(&all, &run);
    if (!fits) {
        ct_stream_bytes_free(&all);
        return false;
    }
    ct_stream_bytes_free(&t->piece);
    t->piece = all;
    t->begin = 0;
    t->end = all.size;
    return true;
}

static int on_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    (void)stream;
    return ct_batch_queue_add_packets(user, batch);
}

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    (void)stream;
    return ct_batch_queue_add_elems(user, batch);
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    (void)stream;
    return ct_batch_queue_add_flow(user, batch);
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    (void)stream;
    return ct_batch_queue_add_steps(user, batch);
}

/* Returns receivers that queue what the caller's receivers want, or the caller's own with its part. */
static struct ct_chain_sink sink_of(struct ct_task *t, const struct ct_chain_sink *wanted)
{
    if (t->part) {
        struct ct_chain_sink sink = *wanted;
        sink.user = t->part;
        return sink;
    }
    return (struct ct_chain_sink){.user = &t->batches,
                                  .packets = wanted->packets ? on_packets : NULL,
                                  .elems = wanted->elems ? on_elems : NULL,
                                  .flow = wanted->flow ? on_flow : NULL,
                                  .steps = wanted->steps ? on_steps : NULL};
}

/* Returns how many records the receivers of this level got from a stream so far. */
static uint64_t records(const struct ct_stream_stats *stats, enum ct_level level)
{
    return level == CT_LEVEL_PACKET    ? stats->packets
           : level == CT_LEVEL_ELEMENT ? stats->elements
                                       : stats->elements + stats->atoms;
}

void ct_task_clear_stats(struct ct_stream_chain *object)
{
    memset(&object->stream.stats, 0, sizeof object->stream.stats);
    if (object->follow)
        ct_follow_clear_sums(object->follow);
}

/* Ends the task, or what is decoded of it, and reads its statistics. After an error, receivers get nothing
 * more: the engine may hold a step without its edge. */
static int read_stats(struct ct_stream_chain *object, const struct ct_chain_sink *sink, bool failed,
                      struct ct_stream_stats *stats)
{
    static const struct ct_chain_sink nobody = {0};
    int rc = object->follow ? ct_follow_rest(object->follow, &object->stream, failed ? &nobody : sink) : 0;
    if (!rc)
        rc = ct_stream_chain_sync(object);
    *stats = object->stream.stats;
    return rc;
}

static bool is_full(const struct ct_stream_chain *object)
{
    return object->follow && ct_follow_part_is_full(object->follow);
}

static bool keeps(const struct ct_chain_sink *sink)
{
    return sink->packets || sink->elems || sink->flow || sink->steps;
}

/* Returns after how many records a task waits for its turn. */
static uint64_t most_records(const struct ct_chain_sink *sink)
{
    return sink->steps ? CT_TASK_STEPS : keeps(sink) ? CT_TASK_RECORDS : UINT64_MAX;
}

/* Returns the end of the step that begins at `from`, and what follows it. The end of the task may move closer
 * between steps, but not before what was claimed. */
static size_t claim(struct ct_task *t, size_t from, size_t step, enum ct_behind *behind, bool *last)
{
    pthread_mutex_lock(t->lock);
    *last = t->end - from <= step;
    *behind = *last ? t->behind : CT_BEHIND_MORE;
    t->claimed = *last ? t->end : from + step;
    const size_t to = t->claimed;
    pthread_mutex_unlock(t->lock);
    return to;
}

/* Decodes from t->used to the end of the task, or of its warm-up. Stops early, and sets *more, when there are
 * more than `most` records or a part is full. */
static int feed(struct ct_task *t, bool warm_up, struct ct_stream_chain *object, enum ct_level level,
                struct ct_batches *batches, const struct ct_chain_sink *sink, uint64_t most, bool *more)
{
    const size_t step = keeps(sink) ? STEP_KEPT : STEP;
    size_t shown = t->used;
    int rc = 0;
    *more = false;
    while (!rc && records(&object->stream.stats, level) < most && !is_full(object)) {
        enum ct_behind behind = CT_BEHIND_MORE;
        bool last = t->begin - shown <= step;
        struct ct_run run;
        size_t used;
        if (warm_up)
            shown = last ? t->begin : shown + step;
        else
            shown = claim(t, shown, step, &behind, &last);
        rc = ct_stream_bytes_run(&t->piece, t->used, shown, &run);
        if (!rc)
            rc = ct_stream_chain_run(object, &run, behind, level, batches, sink, &used);
        if (rc)
            break;
        t->used += used;
        object->stream.stats.bytes += used;
        if (last)
            return 0;
    }
    *more = true;
    return rc;
}

/* Loads all bytes of a task whose packets are queued: they are read when they are delivered, while a file
 * that is read piece by piece would be further on. CT_ERR_NOMEM, CT_ERR_IO. */
static int hold_packets(struct ct_task *t, const struct ct_chain_sink *sink)
{
    struct ct_run run;
    return t->part || !sink->packets ? CT_OK : ct_stream_bytes_run(&t->piece, t->begin, t->end, &run);
}

static int to_nobody(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    (void)user, (void)stream, (void)batch;
    return 0;
}

/* Brings the object to the state in which the task begins, as far as the trace before it shows the state. */
static void warm_up(struct ct_task *t, const struct ct_task_goal *goal, struct ct_batches *batches)
{
    /* The warm-up must take the same path as the task, which depends on whether packets are wanted. */
    const struct ct_chain_sink nobody = {.packets = goal->sink->packets ? to_nobody : NULL};
    ct_stream_chain_reset(t->object, false);
    if (t->object->follow)
        ct_follow_jump(t->object->follow);
    t->object->started = false;
    t->used = 0;
    bool more;
    t->ready =
        !feed(t, true, t->object, goal->level, batches, &nobody, UINT64_MAX, &more) && t->used == t->begin;
    if (t->ready && t->object->follow) {
        t->ready &= !ct_follow_rest(t->object->follow, &t->object->stream, &nobody);
        t->ready &= !ct_stream_chain_sync(t->object);
        ct_follow_drop(t->object->follow);
        ct_follow_note(t->object->follow);
    }
    if (t->ready) /* else the engine may hold a step without its edge */
        ct_stream_chain_seam(t->object, &t->seam);
    pthread_mutex_lock(t->lock);
    t->warm = t->ready;
    pthread_mutex_unlock(t->lock);
}

void ct_task_run(struct ct_task *t, const struct ct_task_goal *goal, struct ct_batches *batches)
{
    t->paused = false;
    t->rc = 0;
    t->batches.size = 0;
    t->ready = t->object;
    t->used = t->begin;
    if (t->speculative && t->ready)
        warm_up(t, goal, batches);
    if (!t->ready)
        return;
    ct_task_clear_stats(t->object);
    t->part = goal->sink->part_new ? goal->sink->part_new(goal->sink->user, &t->object->stream) : NULL;
    if (goal->sink->part_new && !t->part) {
        t->rc = CT_ERR_NOMEM;
        return;
    }
    const struct ct_chain_sink sink = sink_of(t, goal->sink);
    t->rc = hold_packets(t, &sink);
    if (!t->rc)
        t->rc = feed(t, false, t->object, goal->level, batches, &sink, most_records(&sink), &t->paused);
    const int rc = read_stats(t->object, &sink, t->rc != 0, &t->stats);
    t->rc = t->rc ? t->rc : rc;
}

int ct_task_finish(struct ct_task *t, struct ct_stream_chain *object, const struct ct_task_goal *goal,
                   struct ct_batches *batches, bool *more)
{
    const int rc = feed(t, false, object, goal->level, batches, goal->sink, UINT64_MAX, more);
    const int synced = read_stats(object, goal->sink, rc != 0, &t->stats);
    return rc ? rc : synced;
}
