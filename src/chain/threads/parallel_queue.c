/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of tasks, and the threads that decode them. */
#include "chain/threads/parallel_own.h"

#include <stdlib.h>
#include <time.h>

#include "base/threads.h"

/* Nanoseconds that the caller's thread waits at least before it decodes tasks of steps. */
#define SPARE_LEAST UINT64_C(10000000)

/* Gives an object to a task that is about to run; NULL when out of memory. The lock must be held. */
static void choose_object(struct ct_parallel *p, struct ct_task *t)
{
    int rc;
    struct ct_parallel_object *o = ct_parallel_get_object(p, &p->lanes[t->lane], &rc);
    t->object = o ? &o->chain : NULL;
    t->owner = o;
    if (o)
        o->busy = true;
}

static bool is_runnable(const struct ct_task *t)
{
    const bool waits = t->after && (t->after->state != CT_TASK_DONE || t->after->paused || t->after->rc);
    return t->state == CT_TASK_QUEUED && !waits;
}

/* Takes the next task that can run from the queue. It gets its object only here, so that there are not more
 * objects than running tasks. The lock must be held. */
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
    else
        t->whole = p->lanes[t->lane].left.size; /* which it puts before its own bytes */
    return t;
}

static void set_done(struct ct_parallel *p, struct ct_task *t)
{
    t->state = CT_TASK_DONE;
    pthread_cond_signal(&p->done);
    if (t->next) /* the next task may have waited for this one */
        pthread_cond_broadcast(&p->work);
}

static void run_task(struct ct_parallel *p, struct ct_task *t, struct ct_batches *batches)
{
    struct ct_parallel_lane *lane = &p->lanes[t->lane];
    int rc = t->speculative || ct_task_prepend(t, &lane->left) ? CT_OK : CT_ERR_NOMEM;
    if (!rc)
        ct_task_run(t, &p->goal, batches);
    if (!rc && p->gives_steps)
        ct_parallel_leave_object(p, t);
    if (!rc && !lane->split && !t->paused)
        rc = ct_parallel_keep_left(lane, t);
    if (rc)
        t->rc = rc;
}

static void put_back(struct ct_parallel *p, struct ct_task *t)
{
    t->next = p->spare;
    p->spare = t;
}

/* Delivers the oldest task, which is done. The lock must be held; it is released meanwhile. */
static int hand_on_oldest(struct ct_parallel *p, struct ct_batches *batches)
{
    struct ct_task *t = p->first;
    struct ct_parallel_lane *lane = &p->lanes[t->lane];
    pthread_mutex_unlock(&p->lock);
    const int rc = ct_parallel_hand_on(p, t, batches);
    pthread_mutex_lock(&p->lock);
    if (t->owner && t->speculative && !t->left_object)
        t->owner->busy = false;
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
    if (lane->before)
        put_back(p, lane->before);
    lane->before = lane->live ? NULL : t;
    if (!lane->before)
        put_back(p, t);
    pthread_cond_broadcast(&p->work);
    return rc;
}

static uint64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns whether the caller's thread decodes tasks, too. Steps need a part of the program of its own for
 * that. Making it pays when the receiver leaves this thread a third of its time. */
static bool has_time(const struct ct_parallel *p)
{
    return !p->gives_steps || !p->threads || p->spare_ns > p->busy_ns / 2 + SPARE_LEAST;
}

/* Decodes a task in the caller's thread, or waits until one is done. The lock must be held; it is released
 * meanwhile. */
static int lend_a_hand(struct ct_parallel *p)
{
    struct ct_task *t = has_time(p) ? take_runnable(p) : NULL;
    if (!t && ct_parallel_split(p))
        return p->rc;
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

int ct_parallel_join(struct ct_parallel *p, size_t outstanding)
{
    int rc = 0;
    pthread_mutex_lock(&p->lock);
    while (!rc && p->outstanding > outstanding) {
        const bool done = p->first->state == CT_TASK_DONE;
        const uint64_t begin = nanoseconds();
        rc = done ? hand_on_oldest(p, p->batches) : lend_a_hand(p);
        *(done ? &p->busy_ns : &p->spare_ns) += nanoseconds() - begin;
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

struct helper {
    struct ct_parallel *parallel;
    struct ct_batches batches;
};

/* Delivers tasks instead of the caller's thread while that decodes and no receiver gets anything, so that
 * objects become free sooner. */
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
        if (!t && ct_parallel_split(p))
            continue;
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

void ct_parallel_start_threads(struct ct_parallel *p, size_t count)
{
    while (p->threads < count) {
        struct helper *helper = malloc(sizeof *helper);
        if (!helper)
            return;
        helper->parallel = p;
        if (!ct_threads_start(&p->ids[p->threads], 1, work, helper)) {
            free(helper);
            return;
        }
        p->threads++;
    }
}

void ct_parallel_stop_threads(struct ct_parallel *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < p->threads; i++)
        pthread_join(p->ids[i], NULL);
    p->threads = 0;
}
