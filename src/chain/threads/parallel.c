/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/threads/parallel_own.h"

#include <stdlib.h>

#include "base/ctx.h"

/* The minimal size of a task, in bytes. A task that counts is larger, because its table of counts must be
 * added to that of the stream. */
#define SEGMENT         ((size_t)256 << 10)
#define SEGMENT_COUNTED ((size_t)8 << 20)

size_t ct_parallel_lane_of(const struct ct_parallel *p, const struct ct_stream *stream)
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
    const size_t i = ct_parallel_lane_of(p, stream);
    const struct ct_stream_chain *chain = &p->how.streams[i];
    int rc = sink->elems ? sink->elems(sink->user, stream, batch) : 0;
    if (!rc && chain->events && !chain->follow)
        rc = ct_stream_events_add(chain->events, &p->lanes[i].total, batch, sink);
    if (!rc && chain->follow)
        rc = ct_follow_run(chain->follow, &p->lanes[i].total, batch->elems, batch->count, batch->end, sink);
    return rc;
}

static void set_goal(struct ct_parallel *p)
{
    const struct ct_chain_options *o = p->how.options;
    const bool records = o->level == CT_LEVEL_FLOW && o->engine != CT_ENGINE_FAST && !p->how.memories_change;
    p->counts = o->level >= CT_LEVEL_FLOW && !p->how.memories_change && !p->how.sink->events &&
                p->how.count && ct_follow_only_counts(p->how.streams[0].follow) && !p->how.sink->steps;
    p->gives_steps = ct_parallel_can_give_steps(&p->how);
    p->follows = (o->level >= CT_LEVEL_FLOW && !records && !p->counts && !p->gives_steps) ||
                 (o->level >= CT_LEVEL_ELEMENT && p->how.sink->events);
    p->task_options = *o;
    if (p->gives_steps) /* edges are counted when steps are delivered */
        p->task_options.edges = CT_EDGES_NONE;
    p->steps_sink = (struct ct_chain_sink){.user = p, .steps = ct_parallel_take_steps};
    p->goal = (struct ct_task_goal){.level = (enum ct_level)o->level,
                                    .sink = p->gives_steps ? &p->steps_sink : p->how.sink};
    if (!p->follows)
        return;
    p->task_options.level = CT_LEVEL_ELEMENT;
    p->follow_sink = (struct ct_chain_sink){
        .user = p, .packets = p->how.sink->packets ? follow_packets : NULL, .elems = follow_elems};
    p->goal = (struct ct_task_goal){.level = CT_LEVEL_ELEMENT, .sink = &p->follow_sink};
}

static int init_lanes(struct ct_parallel *p)
{
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < p->how.count; i++) {
        struct ct_stream_chain *stream = &p->how.streams[i];
        struct ct_parallel_lane *lane = &p->lanes[i];
        const bool split = stream->ops->find_sync != NULL;
        const bool apart = p->follows || p->gives_steps || (p->counts && split);
        const size_t segment = p->counts ? SEGMENT_COUNTED : SEGMENT;
        *lane = (struct ct_parallel_lane){.live = apart ? NULL : stream,
                                          .split = split,
                                          .apart = apart,
                                          .total = stream->stream,
                                          .segment = p->how.segment ? p->how.segment : segment};
        struct ct_parallel_object *o = !rc && apart ? ct_parallel_get_object(p, lane, &rc) : NULL;
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
    p->keeps = p->goal.sink->packets || p->goal.sink->elems || p->goal.sink->flow || p->gives_steps ||
               p->goal.sink->part_new;
    p->end = &p->first;
    p->most = 2 * (size_t)how->options->threads;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    p->batches = malloc(sizeof *p->batches);
    p->step_edges = malloc(CT_STEP_BATCH * sizeof *p->step_edges);
    p->lanes = calloc(how->count + 1, sizeof *p->lanes);
    p->ids = calloc(how->options->threads, sizeof *p->ids);
    if (!p->batches || !p->step_edges || !p->lanes || !p->ids) {
        p->how.count = 0;
        ct_parallel_free(p);
        return ct_fail_nomem(how->ctx, "threads");
    }
    const int rc = init_lanes(p);
    if (rc) {
        ct_parallel_free(p);
        return rc;
    }
    ct_parallel_start_threads(p, how->options->threads - 1u);
    *out = p;
    return CT_OK;
}

static void free_lane(struct ct_parallel_lane *lane)
{
    while (lane->objects) {
        struct ct_parallel_object *next = lane->objects->next;
        ct_stream_chain_deinit(&lane->objects->chain);
        free(lane->objects);
        lane->objects = next;
    }
    ct_stream_bytes_free(&lane->left);
    ct_task_free(lane->filling);
    ct_task_free(lane->before);
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
    ct_parallel_stop_threads(p);
    free_tasks(p, p->first);
    free_tasks(p, p->spare);
    for (size_t i = 0; i < p->how.count; i++)
        free_lane(&p->lanes[i]);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    free(p->batches);
    free(p->step_edges);
    free(p->lanes);
    free(p->ids);
    free(p);
}

bool ct_parallel_decodes_with(const struct ct_parallel *p, size_t index)
{
    return !p->lanes[index].apart;
}

void ct_parallel_reset(struct ct_parallel *p, bool whole)
{
    for (size_t i = 0; i < p->how.count; i++) {
        ct_stream_chain_reset(p->lanes[i].live, whole);
        ct_stream_bytes_clear(&p->lanes[i].left);
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
        stream.stats.losses.no_access = followed->losses.no_access;
        stream.stats.losses.contradictions = followed->losses.contradictions;
        stream.stats.holes = followed->holes;
    }
    return stream;
}
