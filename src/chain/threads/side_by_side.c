/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/threads/side_by_side.h"

#include <stdlib.h>

#include "base/ctx.h"
#include "base/threads.h"
#include "chain/threads/batch_queue.h"

/* Bytes of a slice: small, so that threads wait less for each other at the end of runs; large enough to make
 * the cost of locking negligible. */
#define SLICE ((size_t)8 << 10)

/* Slices of a stream that may be decoded to elements before they are followed. */
#define AHEAD 4

/* A stream at work. Each slice is decoded to elements, then followed to steps, then its steps are delivered,
 * all in the order of slices. A slice is followed only after the steps of the one before were delivered,
 * because the receiver reads the graph that following extends. */
struct lane {
    struct ct_batch_queue elems[AHEAD]; /* slice i is in elems[i % AHEAD] */
    struct ct_batch_queue steps;        /* of the slice followed last */
    size_t slices;                      /* of the run */
    size_t decoded, followed, given;    /* number of slices that are finished */
    bool decoding, following;           /* a thread works on the next one */
    int rc;                             /* the first error of both */
};

struct ct_side_by_side {
    struct ct_side_how how;
    struct ct_side_run *runs;
    struct lane *lanes; /* of the runs */
    size_t count;       /* number of runs at work; 0 between two calls */
    enum ct_behind behind;
    struct ct_batches *batches; /* of the caller's thread */
    pthread_t *ids;
    size_t helpers; /* number of threads started */
    pthread_mutex_t lock;
    pthread_cond_t work; /* there may be work for a helper, or the object ends */
    pthread_cond_t done; /* a slice was decoded or followed */
    bool stop;
};

/* ---- slices ---- */

/* Receives the elements of a stream, and passes on their steps. */
struct follower {
    struct ct_stream_chain *stream;
    const struct ct_chain_sink *sink;
};

static int keep_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    (void)stream;
    return ct_batch_queue_add_elems(user, batch);
}

static int keep_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    (void)stream;
    return ct_batch_queue_add_steps(user, batch);
}

static int follow_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    const struct follower *f = user;
    (void)stream;
    return ct_stream_chain_follow(f->stream, batch, f->sink);
}

/* Returns the unfinished part of a run up to the end of a slice. */
static struct ct_run part_of(const struct ct_side_run *side, size_t end)
{
    struct ct_run part = side->run;
    part.size = end - side->used;
    if (side->used) {
        part.data += side->used;
        part.pos += side->used;
    }
    return part;
}

/* Decodes a slice of a run. Returns as ct_stream_chain_run. */
static int decode_slice(const struct ct_side_by_side *s, const struct lane *lane, struct ct_batches *batches,
                        const struct ct_chain_sink *sink)
{
    struct ct_side_run *side = &s->runs[lane - s->lanes];
    const bool last = lane->decoded + 1 == lane->slices;
    const struct ct_run part = part_of(side, last ? side->run.size : (lane->decoded + 1) * s->how.slice);
    size_t used = 0;
    const int rc = ct_stream_chain_run(side->stream, &part, last ? s->behind : CT_BEHIND_MORE, CT_LEVEL_STEPS,
                                       batches, sink, &used);
    side->used += used;
    return rc;
}

/* Decodes the next slice to elements. The lock must be held; it is released meanwhile. */
static void decode(struct ct_side_by_side *s, struct lane *lane, struct ct_batches *batches)
{
    struct ct_batch_queue *queue = &lane->elems[lane->decoded % AHEAD];
    const struct ct_chain_sink sink = {.user = queue, .elems = keep_elems};
    lane->decoding = true;
    pthread_mutex_unlock(&s->lock);
    queue->size = 0;
    const int rc = decode_slice(s, lane, batches, &sink);
    pthread_mutex_lock(&s->lock);
    lane->decoding = false;
    lane->decoded++;
    lane->rc = lane->rc ? lane->rc : rc;
    pthread_cond_signal(&s->done);
    pthread_cond_signal(&s->work); /* the next slice can be decoded while this one is followed */
}

/* Follows the next slice, with its steps to a receiver. The lock must be held; it is released meanwhile. */
static void follow(struct ct_side_by_side *s, struct lane *lane, const struct ct_chain_sink *sink)
{
    const struct ct_batch_queue *queue = &lane->elems[lane->followed % AHEAD];
    struct follower follower = {.stream = s->runs[lane - s->lanes].stream, .sink = sink};
    const struct ct_chain_sink elems = {.user = &follower, .elems = follow_elems};
    const struct ct_stream *stream = &follower.stream->stream;
    lane->following = true;
    pthread_mutex_unlock(&s->lock);
    int rc = ct_batch_queue_deliver(queue, &elems, stream);
    if (!rc)
        rc = ct_follow_flush(follower.stream->follow, stream, sink);
    pthread_mutex_lock(&s->lock);
    lane->following = false;
    lane->followed++;
    lane->rc = lane->rc ? lane->rc : rc;
    pthread_cond_signal(&s->done);
}

static void follow_beside(struct ct_side_by_side *s, struct lane *lane)
{
    const struct ct_chain_sink sink = {.user = &lane->steps, .steps = keep_steps};
    lane->steps.size = 0;
    follow(s, lane, &sink);
}

static bool may_decode(const struct lane *lane)
{
    return !lane->decoding && lane->decoded < lane->slices && lane->decoded - lane->followed < AHEAD;
}

static bool may_follow(const struct lane *lane)
{
    return !lane->following && lane->followed < lane->decoded && lane->followed == lane->given;
}

/* ---- turns ---- */

/* Decodes the slice whose turn comes first. Returns false when there is none. */
static bool decode_some(struct ct_side_by_side *s, struct ct_batches *batches)
{
    struct lane *best = NULL;
    for (struct lane *l = s->lanes; l < s->lanes + s->count; l++)
        if (may_decode(l) && (!best || l->decoded < best->decoded))
            best = l;
    if (best)
        decode(s, best, batches);
    return best;
}

/* Follows the slice whose turn comes first. Returns false when there is none. */
static bool follow_some(struct ct_side_by_side *s)
{
    struct lane *best = NULL;
    for (struct lane *l = s->lanes; l < s->lanes + s->count; l++)
        if (may_follow(l) && (!best || l->followed < best->followed))
            best = l;
    if (best)
        follow_beside(s, best);
    return best;
}

/* Returns the lane whose steps are delivered next, or NULL when all were. */
static struct lane *next_to_give(const struct ct_side_by_side *s)
{
    struct lane *best = NULL;
    for (struct lane *l = s->lanes; l < s->lanes + s->count; l++)
        if (l->given < l->slices && (!best || l->given < best->given))
            best = l;
    return best;
}

/* Delivers the steps of a slice that was followed. The lock must be held; it is released meanwhile. */
static int give(struct ct_side_by_side *s, struct lane *lane)
{
    pthread_mutex_unlock(&s->lock);
    const int rc =
        ct_batch_queue_deliver(&lane->steps, s->how.sink, &s->runs[lane - s->lanes].stream->stream);
    pthread_mutex_lock(&s->lock);
    lane->given++;
    pthread_cond_signal(&s->work);
    return rc ? rc : lane->rc;
}

/* Advances the slice whose turn it is, or helps with others. */
static int go_on(struct ct_side_by_side *s, struct lane *lane)
{
    if (lane->followed > lane->given)
        return give(s, lane);
    if (may_follow(lane)) {
        follow(s, lane, s->how.sink);
        lane->given++;
        pthread_cond_signal(&s->work);
        return lane->rc;
    }
    if (may_decode(lane))
        decode(s, lane, s->batches);
    else if (!decode_some(s, s->batches) && !follow_some(s))
        pthread_cond_wait(&s->done, &s->lock);
    return 0;
}

static void begin(struct ct_side_by_side *s, size_t count, enum ct_behind behind)
{
    for (size_t i = 0; i < count; i++) {
        struct lane *lane = &s->lanes[i];
        const size_t slices = (s->runs[i].run.size + s->how.slice - 1) / s->how.slice;
        lane->slices = slices ? slices : 1;
        lane->decoded = lane->followed = lane->given = 0;
        lane->rc = 0;
        s->runs[i].used = 0;
        s->runs[i].stream->apart = s->helpers > 0;
    }
    s->behind = behind;
    s->count = count;
}

/* Waits until no thread works on the first `count` lanes. */
static void settle(struct ct_side_by_side *s, size_t count)
{
    s->count = 0;
    for (size_t i = 0; i < count; i++)
        while (s->lanes[i].decoding || s->lanes[i].following)
            pthread_cond_wait(&s->done, &s->lock);
}

int ct_side_by_side_run(struct ct_side_by_side *s, size_t count, enum ct_behind behind)
{
    struct lane *lane;
    int rc = 0;
    pthread_mutex_lock(&s->lock);
    begin(s, count, behind);
    pthread_cond_broadcast(&s->work);
    while (!rc && s->helpers && (lane = next_to_give(s)) != NULL)
        rc = go_on(s, lane);
    while (!rc && !s->helpers && (lane = next_to_give(s)) != NULL) {
        rc = decode_slice(s, lane, s->batches, s->how.sink);
        lane->decoded = ++lane->given;
    }
    settle(s, count);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

struct ct_side_run *ct_side_by_side_runs(struct ct_side_by_side *s)
{
    return s->runs;
}

/* ---- threads ---- */

/* Decodes as far ahead as allowed, and follows when there are enough elements. */
static void *help(void *user)
{
    struct ct_side_by_side *s = user;
    struct ct_batches *batches = malloc(sizeof *batches);
    pthread_mutex_lock(&s->lock);
    while (batches && !s->stop)
        if (!decode_some(s, batches) && !follow_some(s))
            pthread_cond_wait(&s->work, &s->lock);
    pthread_mutex_unlock(&s->lock);
    free(batches);
    return NULL;
}

int ct_side_by_side_new(const struct ct_side_how *how, struct ct_side_by_side **out)
{
    struct ct_side_by_side *s = calloc(1, sizeof *s);
    if (!s)
        return ct_fail_nomem(how->ctx, "threads");
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->work, NULL);
    pthread_cond_init(&s->done, NULL);
    s->how = *how;
    s->how.slice = how->slice ? how->slice : SLICE;
    s->batches = malloc(sizeof *s->batches);
    s->runs = calloc(how->streams + 1, sizeof *s->runs);
    s->lanes = calloc(how->streams + 1, sizeof *s->lanes);
    s->ids = calloc(how->helpers + 1, sizeof *s->ids);
    if (!s->batches || !s->runs || !s->lanes || !s->ids) {
        ct_side_by_side_free(s);
        return ct_fail_nomem(how->ctx, "threads");
    }
    s->helpers = ct_threads_start(s->ids, how->helpers, help, s);
    *out = s;
    return CT_OK;
}

static void free_lane(struct lane *lane)
{
    for (size_t i = 0; i < AHEAD; i++)
        ct_batch_queue_free(&lane->elems[i]);
    ct_batch_queue_free(&lane->steps);
}

void ct_side_by_side_free(struct ct_side_by_side *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < s->helpers; i++)
        pthread_join(s->ids[i], NULL);
    for (size_t i = 0; s->lanes && i < s->how.streams; i++)
        free_lane(&s->lanes[i]);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->done);
    free(s->batches);
    free(s->runs);
    free(s->lanes);
    free(s->ids);
    free(s);
}
