#include "decode/parallel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "decode/cuts.h"
#include "decode/task.h"

/* Bytes of a task at least, and how many times its warm-up it is at least, up to so many bytes. */
#define SEGMENT      ((size_t)256 << 10)
#define WARM_PARTS   32u
#define SEGMENT_MOST ((size_t)2 << 20)

/* The same for a task that counts, whose table has to be added to that of the stream. */
#define SEGMENT_COUNTED ((size_t)4 << 20)

/* A warm-up has at least this part of a task, in which a trace unit says again what it presupposes. */
#define WARM_LEAST 128u

/* Of a file, at most, where a task makes no records. */
#define SEGMENT_FILE ((uint64_t)64 << 20)

/* A stream without a synchronisation point in so many bytes is decoded by one thread. */
#define UNSPLIT_MOST ((size_t)8 << 20)

/* What can be decoded with: in the state that is right, or a task's, or nobody's. */
struct object {
    struct ct_stream_chain chain;
    struct object *next;
    bool busy; /* a task uses it that was not handed on */
};

struct lane {
    struct ct_stream_chain *live; /* in the state that is known to be right */
    bool split; /* at synchronisation points; else its tasks follow each other, with one object */
    struct ct_stream total;
    struct object *objects;
    struct ct_task *filling;
    struct ct_task *last;   /* the newest that was not handed on yet, or NULL */
    struct ct_stretch left; /* bytes that the live object was shown and left, for more behind them */
    size_t segment;
    bool falters;    /* tasks turned out wrong, or too large */
    size_t searched; /* of the filling piece: up to here there is no cut */
};

struct ct_parallel {
    struct ct_parallel_how how;
    struct ct_task_goal goal;
    bool follows;                         /* the tasks give elements, of which the streams make the rest */
    bool keeps;                           /* tasks make records, for which there is a limit */
    bool counts;                          /* the tasks count, and the streams take what they counted */
    struct ct_chain_sink follow_sink;     /* … and these receivers take */
    struct ct_chain_options task_options; /* of the objects */
    struct ct_batches *batches;           /* of the caller's thread */
    const char *path;                     /* of the file that tasks read */
    struct lane *lanes;
    struct ct_task *spare;
    size_t outstanding, most; /* tasks that were not handed on */
    uint64_t tasks, again;    /* that were handed on, and of these decoded again */
    size_t threads;           /* besides the caller's */
    pthread_t *ids;
    pthread_mutex_t lock; /* of the queue and the states of its tasks */
    pthread_cond_t work, done;
    struct ct_task *first, **end; /* in the order in which they are handed on */
    bool stop;
    bool away;    /* the caller's thread decodes, and others may hand on … */
    bool handing; /* … which one of them does */
    int rc;       /* of that */
};

/* ---- objects ---- */

static int init_object(const struct ct_parallel *p, const struct lane *lane, struct object *o)
{
    const int rc = ct_stream_chain_init(&o->chain, p->how.ctx, lane->total.source, lane->total.id,
                                        &p->task_options, false, p->how.memory);
    if (!rc && p->counts)
        ct_follow_make_part(o->chain.follow);
    return rc;
}

/* One that nobody uses, of the same kind as the live one. NULL: rc says why. */
static struct object *get_object(struct ct_parallel *p, struct lane *lane, int *rc)
{
    for (struct object *o = lane->objects; o; o = o->next) {
        if (!o->busy && &o->chain != lane->live)
            return o;
    }
    struct object *o = calloc(1, sizeof *o);
    if (!o) {
        *rc = ct_fail_nomem(p->how.ctx, "threads");
        return NULL;
    }
    *rc = init_object(p, lane, o);
    if (*rc) {
        ct_stream_chain_deinit(&o->chain);
        free(o);
        return NULL;
    }
    o->next = lane->objects;
    lane->objects = o;
    return o;
}

/* For a task that is about to run; with the lock held. Without memory it gets none. */
static void choose_object(struct ct_parallel *p, struct ct_task *t)
{
    int rc;
    struct object *o = get_object(p, &p->lanes[t->lane], &rc);
    t->object = o ? &o->chain : NULL;
    if (o)
        o->busy = true;
}

/* With the lock held. NULL: it is the chain's own. */
static struct object *object_of(const struct lane *lane, const struct ct_stream_chain *chain)
{
    struct object *o = lane->objects;
    while (o && &o->chain != chain)
        o = o->next;
    return o;
}

/* ---- the queue ---- */

static bool is_runnable(const struct ct_task *t)
{
    const bool waits = t->after && (t->after->state != CT_TASK_DONE || t->after->paused || t->after->rc);
    return t->state == CT_TASK_QUEUED && !waits;
}

/* With the lock held. A task gets its object as late as that, so that there are no more of them than are at work. */
static struct ct_task *take_runnable(struct ct_parallel *p)
{
    struct ct_task *t = p->first;
    while (t && !is_runnable(t))
        t = t->next;
    if (!t)
        return NULL;
    t->state = CT_TASK_RUNNING;
    if (t->speculative)
        choose_object(p, t);
    return t;
}

static void set_done(struct ct_parallel *p, struct ct_task *t)
{
    t->state = CT_TASK_DONE;
    pthread_cond_signal(&p->done);
    if (t->next) /* it may have waited for this one */
        pthread_cond_broadcast(&p->work);
}

/* What an object left of its task is for the next that it is given. CT_ERR_NOMEM, CT_ERR_IO. */
static int keep_left(struct lane *lane, struct ct_task *t)
{
    struct ct_run run;
    const int rc = ct_stretch_run(&t->piece, t->used, t->end, &run);
    ct_stretch_clear(&lane->left);
    if (rc)
        return rc;
    return ct_stretch_append(&lane->left, &run) ? CT_OK : CT_ERR_NOMEM;
}

static void run_task(struct ct_parallel *p, struct ct_task *t, struct ct_batches *batches)
{
    struct lane *lane = &p->lanes[t->lane];
    int rc = t->speculative || ct_task_prepend(t, &lane->left) ? CT_OK : CT_ERR_NOMEM;
    if (!rc)
        ct_task_run(t, &p->goal, batches);
    if (!rc && !lane->split && !t->paused)
        rc = keep_left(lane, t);
    if (rc)
        t->rc = rc;
}

/* ---- tasks ---- */

static struct ct_task *new_task(struct ct_parallel *p, size_t lane)
{
    struct ct_task *t = p->spare;
    if (t)
        p->spare = t->next;
    else
        t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    ct_stretch_clear(&t->piece);
    t->next = t->after = NULL;
    t->lane = lane;
    t->begin = t->end = 0;
    t->behind = CT_BEHIND_MORE;
    t->speculative = false;
    t->state = CT_TASK_FILLING;
    p->lanes[lane].searched = 0;
    return t;
}

static void put_back(struct ct_parallel *p, struct ct_task *t)
{
    t->next = p->spare;
    p->spare = t;
}

/* What a task failed with, in words where it is not known yet. */
static int fail_task(const struct ct_parallel *p, const struct ct_task *t, int rc)
{
    if (rc == CT_ERR_NOMEM)
        return ct_fail_nomem(p->how.ctx, "threads");
    if (rc == CT_ERR_IO && t->piece.in_file)
        return ct_fail(p->how.ctx, CT_ERR_IO, "%s: cannot be read: %s", p->path,
                       t->piece.error ? strerror(t->piece.error) : "it is shorter than it was");
    return rc;
}

/* Gives the filling task of a stream to the threads; it ends at `end` of its piece. */
static void dispatch(struct ct_parallel *p, struct lane *lane, size_t end, enum ct_behind behind)
{
    struct ct_task *t = lane->filling;
    t->end = end;
    t->behind = behind;
    t->object = t->speculative ? NULL : lane->live;
    lane->filling = NULL;
    pthread_mutex_lock(&p->lock);
    t->after = t->speculative ? NULL : lane->last;
    t->state = CT_TASK_QUEUED;
    *p->end = t;
    p->end = &t->next;
    pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
    lane->last = t;
    p->outstanding++;
}

static void add_stats(struct ct_stream_stats *sum, const struct ct_stream_stats *s)
{
    /* All members are counts. */
    uint64_t to[sizeof *sum / sizeof(uint64_t)];
    uint64_t from[sizeof *sum / sizeof(uint64_t)];
    memcpy(to, sum, sizeof *sum);
    memcpy(from, s, sizeof *s);
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
    memcpy(sum, to, sizeof *sum);
}

/* Whether the task began as the one before it ended. CT_ERR_NOMEM. */
static int look_at_start(const struct ct_parallel *p, const struct lane *lane, const struct ct_task *t,
                         bool *right)
{
    *right = !t->speculative;
    if (*right || !t->ready || lane->left.size)
        return CT_OK;
    struct ct_seam seam;
    ct_stream_chain_seam(lane->live, &seam);
    *right = ct_seam_equal(&seam, &t->seam);
    return *right && p->counts ? ct_follow_knows(p->how.streams[t->lane].follow, t->object->follow, right)
                               : CT_OK;
}

static int hand_on_kept(struct ct_parallel *p, struct lane *lane, struct ct_task *t)
{
    const struct ct_chain_sink *sink = p->goal.sink;
    int rc = 0;
    if (t->part)
        rc = sink->part_end(sink->user, &lane->total, t->part, 1);
    else
        rc = ct_tape_play(&t->tape, sink, &lane->total);
    t->part = NULL;
    return rc ? rc : fail_task(p, t, t->rc);
}

/* The stream takes what the object counted. */
static int take_counts(const struct ct_parallel *p, const struct lane *lane, const struct ct_task *t,
                       const struct ct_stream_chain *object)
{
    return p->counts && lane->split ? ct_follow_take(p->how.streams[t->lane].follow, object->follow) : 0;
}

/* The rest of a task, or all of it. */
static int finish(struct ct_parallel *p, struct lane *lane, struct ct_task *t, struct ct_stream_chain *object,
                  struct ct_batches *batches)
{
    bool more;
    int rc;
    do {
        rc = ct_task_finish(t, object, &p->goal, batches, &more);
        if (!rc)
            rc = take_counts(p, lane, t, object);
    } while (!rc && more);
    return rc;
}

/* What comes is right behind what the object decoded. */
static void go_on_with(struct ct_parallel *p, struct lane *lane, struct ct_stream_chain *object)
{
    object->start_offset = lane->live->start_offset;
    pthread_mutex_lock(&p->lock); /* another object is nobody's then */
    lane->live = object;
    pthread_mutex_unlock(&p->lock);
}

/* The object went through what the stream did not: the numbers of its graph would not be those of the stream. */
static int renew_counting(struct ct_parallel *p, struct lane *lane, const struct ct_task *t)
{
    pthread_mutex_lock(&p->lock);
    struct object *o = object_of(lane, t->object);
    pthread_mutex_unlock(&p->lock);
    if (!p->counts || !o)
        return CT_OK;
    ct_stream_chain_deinit(&o->chain);
    return init_object(p, lane, o);
}

/* The task once more, from the state that is right. */
static int decode_again(struct ct_parallel *p, struct lane *lane, struct ct_task *t,
                        struct ct_batches *batches)
{
    const int rc = renew_counting(p, lane, t);
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

/* A task that is done and whose turn it is. */
static int hand_on(struct ct_parallel *p, struct ct_task *t, struct ct_batches *batches)
{
    struct lane *lane = &p->lanes[t->lane];
    bool right;
    int rc = look_at_start(p, lane, t, &right);
    if (rc)
        return rc;
    if (right) {
        go_on_with(p, lane, t->object);
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
        rc = keep_left(lane, t);
    return fail_task(p, t, rc);
}

/* The oldest task, which is done. With the lock held, which is left meanwhile. */
static int hand_on_oldest(struct ct_parallel *p, struct ct_batches *batches)
{
    struct ct_task *t = p->first;
    struct lane *lane = &p->lanes[t->lane];
    pthread_mutex_unlock(&p->lock);
    const int rc = hand_on(p, t, batches);
    pthread_mutex_lock(&p->lock);
    struct object *o = object_of(lane, t->object);
    if (o && t->speculative)
        o->busy = false;
    p->first = t->next;
    if (!p->first)
        p->end = &p->first;
    for (struct ct_task *other = p->first; other; other = other->next) {
        if (other->after == t)
            other->after = NULL;
    }
    if (lane->last == t)
        lane->last = NULL;
    p->outstanding--;
    put_back(p, t);
    pthread_cond_broadcast(&p->work);
    return rc;
}

/* The caller's thread decodes a task, or waits for one; with the lock held, which is left meanwhile. */
static int lend_a_hand(struct ct_parallel *p)
{
    struct ct_task *t = take_runnable(p);
    p->away = !p->keeps;
    if (t) {
        pthread_mutex_unlock(&p->lock);
        run_task(p, t, p->batches);
        pthread_mutex_lock(&p->lock);
        set_done(p, t);
    } else {
        pthread_cond_wait(&p->done, &p->lock);
    }
    p->away = false;
    while (p->handing)
        pthread_cond_wait(&p->done, &p->lock);
    return p->rc;
}

static int join_down_to(struct ct_parallel *p, size_t outstanding)
{
    int rc = 0;
    pthread_mutex_lock(&p->lock);
    while (!rc && p->outstanding > outstanding)
        rc = p->first->state == CT_TASK_DONE ? hand_on_oldest(p, p->batches) : lend_a_hand(p);
    pthread_mutex_unlock(&p->lock);
    return rc;
}

/* ---- threads ---- */

struct helper {
    struct ct_parallel *parallel;
    struct ct_batches batches;
};

/* While the caller's thread decodes, another may hand on what gives nothing to receivers: objects are free sooner. */
static void stand_in(struct ct_parallel *p, struct ct_batches *batches)
{
    while (p->away && !p->handing && !p->rc && p->first && p->first->state == CT_TASK_DONE) {
        p->handing = true;
        p->rc = hand_on_oldest(p, batches);
        p->handing = false;
        pthread_cond_signal(&p->done);
    }
}

static void *work(void *user)
{
    struct helper *helper = user;
    struct ct_parallel *p = helper->parallel;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        struct ct_task *t = take_runnable(p);
        if (!t) {
            pthread_cond_wait(&p->work, &p->lock);
            continue;
        }
        pthread_mutex_unlock(&p->lock);
        run_task(p, t, &helper->batches);
        pthread_mutex_lock(&p->lock);
        set_done(p, t);
        stand_in(p, &helper->batches);
    }
    pthread_mutex_unlock(&p->lock);
    free(helper);
    return NULL;
}

static void start_threads(struct ct_parallel *p, size_t count)
{
    while (p->threads < count) {
        struct helper *helper = malloc(sizeof *helper);
        if (!helper)
            return;
        helper->parallel = p;
        if (pthread_create(&p->ids[p->threads], NULL, work, helper)) {
            free(helper);
            return;
        }
        p->threads++;
    }
}

static void stop_threads(struct ct_parallel *p)
{
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < p->threads; i++)
        pthread_join(p->ids[i], NULL);
}

/* ---- cuts ---- */

/* From where on an object is warmed up for what begins at `cut` of the filling task. */
static int find_warm_up(struct ct_parallel *p, struct lane *lane, size_t cut, size_t *from)
{
    struct ct_task *t = lane->filling;
    const size_t begin = cut - t->begin > UNSPLIT_MOST ? cut - UNSPLIT_MOST : t->begin;
    const int rc = ct_cuts_warm_up(&t->piece, lane->live->ops, begin, cut, lane->segment / WARM_LEAST,
                                   lane->segment / WARM_PARTS, from);
    const size_t size = (cut - *from) * WARM_PARTS;
    if (!p->how.segment && size > lane->segment)
        lane->segment = size < SEGMENT_MOST ? size : SEGMENT_MOST;
    return rc;
}

/* The bytes of `t` from `from` on begin another task. */
static bool give_rest(struct ct_task *t, size_t from, struct ct_task *next)
{
    struct ct_run run;
    if (t->piece.in_file) {
        ct_stretch_in_file(&next->piece, t->piece.fd, t->piece.pos + from, 0);
        return true;
    }
    return !ct_stretch_run(&t->piece, from, t->piece.size, &run) && ct_stretch_append(&next->piece, &run);
}

/* The task ends at `cut`, and the next one is begun with what is behind it and the warm-up before it. */
static int cut_task(struct ct_parallel *p, struct lane *lane, size_t index, size_t cut)
{
    struct ct_task *t = lane->filling;
    size_t from;
    int rc = find_warm_up(p, lane, cut, &from);
    if (rc)
        return fail_task(p, t, rc);
    struct ct_task *next = new_task(p, index);
    if (!next || !give_rest(t, from, next)) {
        ct_task_free(next);
        return ct_fail_nomem(p->how.ctx, "threads");
    }
    next->begin = cut - from;
    next->speculative = true;
    dispatch(p, lane, cut, CT_BEHIND_MORE);
    lane->filling = next;
    return join_down_to(p, p->most);
}

/* The filling task of a stream is full and there is no place to cut it. */
static int end_task(struct ct_parallel *p, struct lane *lane)
{
    dispatch(p, lane, lane->filling->piece.size, CT_BEHIND_MORE);
    return join_down_to(p, lane->split ? 0 : p->most);
}

/* Cuts as often as there is enough. */
static int cut_lane(struct ct_parallel *p, size_t index)
{
    struct lane *lane = &p->lanes[index];
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
        rc = ct_cuts_first(&t->piece, lane->live->ops, from, t->piece.size, &cut);
        if (!rc && cut != SIZE_MAX) {
            rc = cut_task(p, lane, index, cut);
        } else if (size >= UNSPLIT_MOST) {
            return end_task(p, lane);
        } else {
            /* A synchronisation point may have begun at the end. */
            lane->searched = t->piece.size > CT_SYNC_SIZE_MAX ? t->piece.size - CT_SYNC_SIZE_MAX : 0;
            return 0;
        }
    }
    return rc;
}

int ct_parallel_push(struct ct_parallel *p, size_t index, const struct ct_run *run)
{
    struct lane *lane = &p->lanes[index];
    if (!lane->filling)
        lane->filling = new_task(p, index);
    if (!lane->filling || !ct_stretch_append(&lane->filling->piece, run))
        return ct_fail_nomem(p->how.ctx, "threads");
    return cut_lane(p, index);
}

/* Bytes of the next task of a file, of which there are `left`. Where results need no room, each costs little when it is large,
 * and towards the end there is something left for every thread. */
static uint64_t size_of_next(const struct ct_parallel *p, const struct lane *lane, uint64_t left)
{
    const uint64_t size = left / (2 * (uint64_t)p->how.options->threads);
    if (p->keeps || p->how.segment || lane->falters || size < lane->segment)
        return lane->segment;
    return size < SEGMENT_FILE ? size : SEGMENT_FILE;
}

bool ct_parallel_takes_file(const struct ct_parallel *p)
{
    return p->how.count == 1 && p->lanes[0].split;
}

int ct_parallel_file(struct ct_parallel *p, const struct ct_parallel_file *file, uint64_t *at)
{
    struct lane *lane = &p->lanes[0];
    if (!lane->filling) {
        lane->filling = new_task(p, 0);
        if (!lane->filling)
            return ct_fail_nomem(p->how.ctx, "threads");
        ct_stretch_in_file(&lane->filling->piece, file->fd, *at, 0);
    }
    struct ct_task *t = lane->filling;
    const uint64_t begin = *at;
    const uint64_t left = file->size - begin;
    const uint64_t most = size_of_next(p, lane, left) + UNSPLIT_MOST;
    p->path = file->path;
    t->piece.size = t->begin + (size_t)(left < most ? left : most);
    size_t cut = SIZE_MAX;
    int rc = CT_OK;
    if (left > most - UNSPLIT_MOST)
        rc = ct_cuts_first(&t->piece, lane->live->ops, t->begin + (size_t)(most - UNSPLIT_MOST),
                           t->piece.size, &cut);
    if (rc)
        return fail_task(p, t, rc);
    *at = begin + ((cut == SIZE_MAX ? t->piece.size : cut) - t->begin);
    return cut == SIZE_MAX ? end_task(p, lane) : cut_task(p, lane, 0, cut);
}

int ct_parallel_flush(struct ct_parallel *p, enum ct_behind behind)
{
    for (size_t i = 0; i < p->how.count; i++) {
        struct lane *lane = &p->lanes[i];
        if (!lane->filling)
            lane->filling = new_task(p, i);
        if (!lane->filling)
            return ct_fail_nomem(p->how.ctx, "threads");
        dispatch(p, lane, lane->filling->piece.size, behind);
    }
    return join_down_to(p, 0);
}

void ct_parallel_reset(struct ct_parallel *p, bool whole)
{
    for (size_t i = 0; i < p->how.count; i++) {
        ct_stream_chain_reset(p->lanes[i].live, whole);
        ct_stretch_clear(&p->lanes[i].left);
    }
}

void ct_parallel_tasks(const struct ct_parallel *p, uint64_t *tasks, uint64_t *again)
{
    *tasks = p->tasks;
    *again = p->again;
}

struct ct_stream ct_parallel_stream(const struct ct_parallel *p, size_t index)
{
    struct ct_stream stream = p->lanes[index].total;
    if (p->follows && p->how.streams[index].follow) {
        const struct ct_stream_stats *followed = &p->how.streams[index].stream.stats;
        stream.stats.ranges = followed->ranges;
        stream.stats.instructions = followed->instructions;
        stream.stats.branches = followed->branches;
        stream.stats.no_access = followed->no_access;
        stream.stats.bad_images = followed->bad_images;
    }
    return stream;
}

/* ---- following what tasks give ---- */

static size_t lane_of(const struct ct_parallel *p, const struct ct_stream *stream)
{
    size_t i = 0;
    while (p->lanes[i].total.id != stream->id)
        i++;
    return i;
}

static int follow_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    const struct ct_parallel *p = user;
    return p->how.sink->packets(p->how.sink->user, stream, batch);
}

static int follow_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    const struct ct_parallel *p = user;
    const struct ct_chain_sink *sink = p->how.sink;
    const size_t i = lane_of(p, stream);
    const struct ct_stream_chain *chain = &p->how.streams[i];
    int rc = sink->elems ? sink->elems(sink->user, stream, batch) : 0;
    if (!rc && chain->events)
        rc = ct_stream_events_add(chain->events, &p->lanes[i].total, batch, sink);
    if (!rc && chain->follow)
        rc = ct_follow_run(chain->follow, &p->lanes[i].total, batch->elems, batch->count, batch->end, sink);
    return rc;
}

static void set_goal(struct ct_parallel *p)
{
    const struct ct_chain_options *o = p->how.options;
    const bool records = o->level == CT_LEVEL_FLOW && o->engine == CT_ENGINE_PLAIN && !p->how.memories_change;
    p->counts = o->level >= CT_LEVEL_FLOW && !p->how.memories_change && !p->how.sink->events &&
                p->how.count && ct_follow_only_counts(p->how.streams[0].follow) && !p->how.sink->steps;
    p->follows = (o->level >= CT_LEVEL_FLOW && !records && !p->counts) ||
                 (o->level >= CT_LEVEL_ELEMENT && p->how.sink->events);
    p->task_options = *o;
    p->goal = (struct ct_task_goal){.level = (enum ct_level)o->level, .sink = p->how.sink};
    if (!p->follows)
        return;
    p->task_options.level = CT_LEVEL_ELEMENT;
    p->follow_sink = (struct ct_chain_sink){
        .user = p, .packets = p->how.sink->packets ? follow_packets : NULL, .elems = follow_elems};
    p->goal = (struct ct_task_goal){.level = CT_LEVEL_ELEMENT, .sink = &p->follow_sink};
}

/* ---- life ---- */

static int init_lanes(struct ct_parallel *p)
{
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < p->how.count; i++) {
        struct ct_stream_chain *stream = &p->how.streams[i];
        struct lane *lane = &p->lanes[i];
        const bool split = stream->ops->find_sync != NULL;
        const bool apart = p->follows || (p->counts && split);
        const size_t segment = p->counts ? SEGMENT_COUNTED : SEGMENT;
        *lane = (struct lane){.live = apart ? NULL : stream,
                              .split = split,
                              .total = stream->stream,
                              .segment = p->how.segment ? p->how.segment : segment};
        struct object *o = apart ? get_object(p, lane, &rc) : NULL;
        if (o)
            lane->live = &o->chain;
    }
    return rc;
}

int ct_parallel_new(const struct ct_parallel_how *how, struct ct_parallel **out)
{
    struct ct_parallel *p = calloc(1, sizeof *p);
    if (!p)
        return ct_fail_nomem(how->ctx, "threads");
    p->how = *how;
    set_goal(p);
    p->keeps = p->goal.sink->packets || p->goal.sink->elems || p->goal.sink->flow || p->goal.sink->part_new;
    p->end = &p->first;
    p->most = 2 * (size_t)how->options->threads;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    p->batches = malloc(sizeof *p->batches);
    p->lanes = calloc(how->count + 1, sizeof *p->lanes);
    p->ids = calloc(how->options->threads, sizeof *p->ids);
    if (!p->batches || !p->lanes || !p->ids) {
        p->how.count = 0;
        ct_parallel_free(p);
        return ct_fail_nomem(how->ctx, "threads");
    }
    const int rc = init_lanes(p);
    if (rc) {
        ct_parallel_free(p);
        return rc;
    }
    start_threads(p, how->options->threads - 1u);
    *out = p;
    return CT_OK;
}

static void free_lane(struct lane *lane)
{
    while (lane->objects) {
        struct object *next = lane->objects->next;
        ct_stream_chain_deinit(&lane->objects->chain);
        free(lane->objects);
        lane->objects = next;
    }
    ct_stretch_free(&lane->left);
    ct_task_free(lane->filling);
}

static void free_tasks(const struct ct_parallel *p, struct ct_task *t)
{
    while (t) {
        struct ct_task *next = t->next;
        if (t->part)
            p->goal.sink->part_end(p->goal.sink->user, &p->lanes[t->lane].total, t->part, 0);
        ct_task_free(t);
        t = next;
    }
}

void ct_parallel_free(struct ct_parallel *p)
{
    if (!p)
        return;
    stop_threads(p);
    free_tasks(p, p->first);
    free_tasks(p, p->spare);
    for (size_t i = 0; i < p->how.count; i++)
        free_lane(&p->lanes[i]);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    free(p->batches);
    free(p->lanes);
    free(p->ids);
    free(p);
}
