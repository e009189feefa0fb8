/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that make steps. The steps wait in the queue of their task, with the numbers that edges have in the
 * graph of its object. An edge gets its number in the stream when its first step is delivered, so the numbers
 * are those of one thread. A
 * task lets its object go when it is done, so that there are not more objects than threads, each of which has
 * to meet the program. What the object was needed for comes from the task: the state in which it ended, and
 * if the next task began in another one, its bytes, which lead there again. */
#include "chain/threads/parallel_own.h"

bool ct_parallel_can_give_steps(const struct ct_parallel_how *how)
{
    const struct ct_chain_sink *s = how->sink;
    bool gives = how->options->level == CT_LEVEL_STEPS && s->steps && !s->packets && !s->elems &&
                 !s->events && !s->flow && !s->part_new && !how->memories_change && how->count;
    for (size_t i = 0; gives && i < how->count; i++)
        gives = ct_follow_gives_steps(how->streams[i].follow);
    return gives;
}

int ct_parallel_take_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct ct_parallel *p = user;
    const size_t i = ct_parallel_lane_of(p, stream);
    struct ct_follow *whole = p->how.streams[i].follow;
    const int rc = ct_follow_take_edges(whole, p->steps_from, batch->edge, batch->count, p->step_edges);
    struct ct_step_batch taken = *batch;
    taken.graph = ct_follow_graph(whole);
    taken.edge = p->step_edges;
    return rc ? rc : ct_follow_give_steps(whole, &p->lanes[i].total, &taken, p->how.sink);
}

void ct_parallel_leave_object(struct ct_parallel *p, struct ct_task *t)
{
    if (!t->ready || t->rc || t->paused || !t->speculative || !t->cut)
        return;
    ct_stream_chain_seam(t->object, &t->rest);
    pthread_mutex_lock(&p->lock);
    t->left_object = true;
    t->owner->busy = false;
    pthread_mutex_unlock(&p->lock);
}

int ct_parallel_restore(struct ct_parallel *p, struct ct_parallel_lane *lane, struct ct_batches *batches)
{
    struct ct_task *t = lane->before;
    if (lane->live)
        return CT_OK;
    int rc = CT_OK;
    pthread_mutex_lock(&p->lock);
    t->owner = ct_parallel_get_object(p, lane, &rc);
    if (t->owner)
        t->owner->busy = true;
    pthread_mutex_unlock(&p->lock);
    if (!t->owner)
        return rc;
    const struct ct_chain_sink nobody = {0};
    const struct ct_task_goal goal = {.level = p->goal.level, .sink = &nobody};
    t->object = &t->owner->chain;
    ct_task_run(t, &goal, batches);
    if (!t->ready && !t->rc) /* its warm-up was right before */
        t->rc = CT_ERR_NOMEM;
    t->object->start_offset = lane->start_offset;
    pthread_mutex_lock(&p->lock);
    lane->live = t->object;
    t->owner->busy = false;
    pthread_mutex_unlock(&p->lock);
    return ct_parallel_fail_task(p, t, t->rc);
}
