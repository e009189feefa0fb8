/* SPDX-License-Identifier: Apache-2.0 */
/* Finds which streams to track after a loss: those that may be uncertain, and those that they read. All
 * others are as in the run and cost nothing. */
#include "monitor/certain.h"

#include <stdlib.h>
#include <string.h>

enum {
    WAIT_LEAST = 16,  /* fewest instants between two checks for certain streams */
    WAIT_STREAMS = 8, /* streams that delay the next check by one instant */
};

static uint64_t input_bit(uint32_t input)
{
    return UINT64_C(1) << (input & 63);
}

/* Returns the inputs whose events can cause one of the stream. */
static uint64_t reach_of(const struct ct_mon_track *t, const struct ct_mon_node *s)
{
    if (s->kind == N_INPUT)
        return input_bit(s->index);
    if (s->kind == N_TICK)
        return UINT64_MAX;
    uint64_t reach = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (node_reads_now(s, i) || s->kind == N_DELAY)
            reach |= t->reach[s->args[i]->order];
    return reach;
}

static void find_static(struct ct_mon_certain *c)
{
    struct ct_mon_track *t = &c->track;
    for (size_t i = 0; i < c->order->n; i++) {
        const struct ct_mon_node *s = c->order->nodes[i];
        t->reach[i] = reach_of(t, s);
        if (!c->formulas.is_one[i])
            t->all[t->all_count++] = (uint32_t)i;
        if (s->kind == N_LAST)
            t->before_read[s->args[0]->order] = true;
        t->held_read[i] |= s->kind != N_INPUT;
        for (uint32_t k = 0; k < s->n; k++)
            t->held_read[s->args[k]->order] |= ct_mon_node_reads_held(s, k);
    }
}

static void make_lists(struct ct_mon_certain *c)
{
    struct ct_mon_track *t = &c->track;
    size_t n = 0;
    t->count = 0;
    for (size_t i = 0; i < t->all_count; i++)
        if (t->roles[t->all[i]] != TRACK_NOT)
            t->list[t->count++] = t->all[i];
    for (uint32_t input = 0; input < c->m->p->ninputs; input++) {
        t->first[input] = n;
        for (size_t i = 0; i < t->count; i++)
            if (t->reach[t->list[i]] & input_bit(input))
                t->lists[n++] = t->list[i];
    }
    t->first[c->m->p->ninputs] = n;
}

bool ct_mon_track_init(struct ct_mon_certain *c)
{
    struct ct_mon_track *t = &c->track;
    const size_t n = c->order->n;
    const size_t inputs = c->m->p->ninputs;
    t->all = calloc(n + 1, sizeof *t->all);
    t->roles = calloc(n + 1, sizeof *t->roles);
    t->list = calloc(n + 1, sizeof *t->list);
    t->lists = calloc((n + 1) * (inputs + 1), sizeof *t->lists);
    t->first = calloc(inputs + 2, sizeof *t->first);
    t->reach = calloc(n + 1, sizeof *t->reach);
    t->before_read = calloc(n + 1, sizeof *t->before_read);
    t->held_read = calloc(n + 1, sizeof *t->held_read);
    if (!t->all || !t->roles || !t->list || !t->lists || !t->first || !t->reach || !t->before_read ||
        !t->held_read)
        return false;
    find_static(c);
    return true;
}

void ct_mon_track_begin(struct ct_mon_certain *c)
{
    struct ct_mon_track *t = &c->track;
    memset(t->roles, TRACK_UNSURE, c->order->n);
    c->formulas.followed = true;
    t->settled = false;
    t->wait = 0;
    if (!t->whole)
        make_lists(c);
    t->whole = true;
}

void ct_mon_track_free(struct ct_mon_track *t)
{
    free(t->all);
    free(t->roles);
    free(t->list);
    free(t->lists);
    free(t->first);
    free(t->reach);
    free(t->before_read);
    free(t->held_read);
}

void ct_mon_track_all(struct ct_mon_certain *c)
{
    struct ct_mon_track *t = &c->track;
    if (t->whole)
        return;
    for (size_t i = 0; i < t->all_count; i++)
        if (t->roles[t->all[i]] == TRACK_NOT)
            ct_mon_certain_hold(c, t->all[i]);
    for (size_t i = 0; i < c->formulas.count && !c->formulas.followed; i++)
        ct_mon_certain_hold(c, c->formulas.streams[i]);
    memset(t->roles, TRACK_UNSURE, c->order->n);
    t->whole = c->formulas.followed = true;
    make_lists(c);
}

/* Marks the streams that are uncertain, and all that read them, directly or not. Returns whether there are
 * any. */
static bool mark_unsure(const struct ct_mon_certain *c)
{
    const struct ct_mon_track *t = &c->track;
    uint8_t *roles = t->roles;
    bool any = false;
    for (size_t i = 0; i < t->all_count; i++) {
        const uint32_t stream = t->all[i];
        const bool sure = ct_mon_certain_stream_sure(c, stream) || !t->held_read[stream];
        roles[stream] = sure ? TRACK_NOT : TRACK_UNSURE;
        any |= !sure;
    }
    for (bool more = any; more;) { /* repeats, for a `last` that precedes the stream that it reads */
        more = false;
        for (size_t i = 0; i < t->all_count; i++) {
            const struct ct_mon_node *s = c->order->nodes[t->all[i]];
            bool unsure = false;
            for (uint32_t k = 0; k < s->n && roles[s->order] == TRACK_NOT; k++)
                unsure |= roles[s->args[k]->order] == TRACK_UNSURE;
            if (unsure)
                roles[s->order] = TRACK_UNSURE;
            more |= unsure;
        }
    }
    return any;
}

bool ct_mon_track_less(struct ct_mon_certain *c, bool at_once)
{
    struct ct_mon_track *t = &c->track;
    if (c->m->plain_losses)
        return true;
    if (!at_once && t->wait) {
        t->wait--;
        return true;
    }
    t->wait = WAIT_LEAST + (uint32_t)(c->order->n / WAIT_STREAMS);
    t->settled = t->whole = false;
    const bool any = mark_unsure(c);
    c->formulas.followed = c->formulas.followed && ct_mon_formulas_unsure(c);
    if (!any && !c->formulas.followed)
        return false;
    for (size_t i = 0; i < t->all_count; i++) {
        const struct ct_mon_node *s = c->order->nodes[t->all[i]];
        for (uint32_t k = 0; k < s->n && t->roles[s->order] == TRACK_UNSURE; k++) {
            uint8_t *role = &t->roles[s->args[k]->order];
            *role = *role == TRACK_NOT ? TRACK_RUN : *role;
        }
    }
    make_lists(c);
    return true;
}
