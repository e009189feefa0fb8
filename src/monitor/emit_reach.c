/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the streams that may have an event when one source has one. So emitting a program for each source
 * takes time by what the sources reach, and not by their number times the size of the specification. */
#include <stdlib.h>

#include "monitor/emit.h"

enum {
    STREAM_STEPS = 8, /* work of finding and sorting a stream */
};

/* Lists the streams that read each stream, by node id. */
static void find_users(struct ct_mon_emit *m, const struct ct_mon_order *order)
{
    struct ct_mon_arena *arena = m->e->arena;
    struct ct_mon_reach *r = &m->reach;
    size_t edges = 0;
    r->first = ARENA_ARRAY(arena, uint32_t, m->e->graph.count + 2);
    for (size_t i = 0; i < order->n; i++)
        for (uint32_t k = 0; k < order->nodes[i]->n; k++, edges++)
            r->first[order->nodes[i]->args[k]->id + 2]++;
    for (size_t i = 0; i < m->e->graph.count; i++)
        r->first[i + 2] += r->first[i + 1];
    r->users = ARENA_ARRAY(arena, uint32_t, edges + 1);
    for (uint32_t i = 0; i < order->n; i++)
        for (uint32_t k = 0; k < order->nodes[i]->n; k++)
            r->users[r->first[order->nodes[i]->args[k]->id + 1]++] = i;
}

/* Lists the streams of each source, and those that have an event at every instant. */
static void find_sources(struct ct_mon_emit *m, const struct ct_mon_order *order)
{
    struct ct_mon_arena *arena = m->e->arena;
    struct ct_mon_reach *r = &m->reach;
    r->inputs = ARENA_ARRAY(arena, uint32_t, m->e->ninputs + 1);
    r->timers = ARENA_ARRAY(arena, uint32_t, m->e->graph.ndelays + 1);
    r->next = ARENA_ARRAY(arena, uint32_t, order->n + 1);
    for (uint32_t i = 0; i < order->n; i++) {
        const struct ct_mon_node *s = order->nodes[i];
        uint32_t *list = s->kind == N_INPUT   ? &r->inputs[s->index]
                         : s->kind == N_DELAY ? &r->timers[s->index]
                         : s->kind == N_TICK  ? &r->ticks
                                              : NULL;
        if (!list)
            continue;
        r->next[i] = *list;
        *list = i + 1;
    }
}

void ct_mon_emit_reach_begin(struct ct_mon_emit *m, const struct ct_mon_order *order)
{
    struct ct_mon_arena *arena = m->e->arena;
    struct ct_mon_reach *r = &m->reach;
    find_users(m, order);
    find_sources(m, order);
    r->output = ARENA_ARRAY(arena, uint32_t, m->e->graph.count + 1);
    for (uint32_t i = 0; i < m->e->noutputs; i++)
        if (m->p->outputs[i].count)
            r->output[m->e->outputs[i].node->id] = i + 1;
    r->found = ARENA_ARRAY(arena, bool, order->n + 1);
    r->streams = ARENA_ARRAY(arena, uint32_t, order->n + 1);
    r->outputs = ARENA_ARRAY(arena, uint32_t, m->e->noutputs + 1);
}

static void add(struct ct_mon_reach *r, uint32_t stream)
{
    if (!r->found[stream])
        r->streams[r->nstreams++] = stream;
    r->found[stream] = true;
}

static void add_list(struct ct_mon_reach *r, uint32_t list)
{
    for (; list; list = r->next[list - 1])
        add(r, list - 1);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void find_outputs(struct ct_mon_reach *r, const struct ct_mon_order *order)
{
    r->noutputs = 0;
    for (size_t i = 0; i < r->nstreams; i++) {
        const uint32_t output = r->output[order->nodes[r->streams[i]]->id];
        if (output)
            r->outputs[r->noutputs++] = output - 1;
    }
    qsort(r->outputs, r->noutputs, sizeof *r->outputs, by_number);
}

void ct_mon_emit_reach_all(struct ct_mon_emit *m, const struct ct_mon_order *order)
{
    struct ct_mon_reach *r = &m->reach;
    r->nstreams = 0;
    for (uint32_t i = 0; i < order->n; i++)
        r->streams[r->nstreams++] = i;
    find_outputs(r, order);
}

void ct_mon_emit_reach_of(struct ct_mon_emit *m, const struct ct_mon_order *order, uint32_t source)
{
    struct ct_mon_reach *r = &m->reach;
    r->nstreams = 0;
    add_list(r, r->ticks);
    add_list(r, source);
    const size_t sources = r->nstreams;
    for (size_t i = 0; i < r->nstreams; i++) {
        const struct ct_mon_node *s = order->nodes[r->streams[i]];
        if (s->kind == N_DELAY && i >= sources) /* its timer is set; its event comes later */
            continue;
        for (uint32_t k = r->first[s->id]; k < r->first[s->id + 1]; k++)
            add(r, r->users[k]);
    }
    arena_spend(m->e->arena, r->nstreams * STREAM_STEPS);
    for (size_t i = 0; i < r->nstreams; i++)
        r->found[r->streams[i]] = false;
    qsort(r->streams, r->nstreams, sizeof *r->streams, by_number);
    find_outputs(r, order);
}
