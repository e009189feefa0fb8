/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates, joins and frees what is known of streams after a loss. */
#include "monitor/certain.h"
#include "monitor/doubt.h"

#include <stdlib.h>
#include <string.h>

/* Notes that in every run the stream holds what it holds in this run. */
static void hold(struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    const struct ct_mon_cell *cell = certain_cell(c, s);
    struct ct_mon_shade *h = &c->held[s->order];
    *h = (struct ct_mon_shade){.sure = true, .never = cell->stamp == 0, .ever = cell->stamp != 0};
    h->value = h->ever ? ct_mon_guess_cell(s->type, *cell) : ct_mon_guess_range(0, 0);
    h->value.known = false;
    if (s->kind == N_MONITOR)
        *h = ct_mon_certain_verdict(c, s);
    c->before[s->order] = *h;
    c->now[s->order] = certain_no_event();
}

void ct_mon_certain_hold(struct ct_mon_certain *c, uint32_t stream)
{
    const struct ct_mon_node *s = c->order->nodes[stream];
    if (s->kind == N_MONITOR)
        ct_mon_certain_states_hold(c, s);
    if (s->kind == N_DELAY)
        c->timers[s->index] = (struct ct_mon_shade_timer){.sure = true, .due = c->m->timers[s->index]};
    hold(c, s);
}

static struct ct_mon_certain *make(struct ct_monitor *m)
{
    const struct ct_mon_program *p = m->p;
    struct ct_mon_certain *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->m = m;
    c->order = &m->spec->order;
    c->kept = calloc(p->ninputs + 1, sizeof *c->kept);
    c->held = calloc(c->order->n + 1, sizeof *c->held);
    c->before = calloc(c->order->n + 1, sizeof *c->before);
    c->now = calloc(c->order->n + 1, sizeof *c->now);
    c->states = calloc(p->nmachines + 1, sizeof *c->states);
    c->timers = calloc(p->ntimers + 1, sizeof *c->timers);
    bool fine = c->kept && c->held && c->before && c->now && c->states && c->timers &&
                ct_mon_formulas_init(c) && ct_mon_track_init(c) &&
                (c->quick = ct_mon_quick_new(c->order)) != NULL;
    for (size_t i = 0; fine && i < c->order->n; i++)
        if (c->order->nodes[i]->kind == N_MONITOR)
            fine = ct_mon_certain_states_init(c, c->order->nodes[i]);
    if (fine)
        return c;
    ct_mon_certain_free(c);
    return NULL;
}

struct ct_mon_certain *ct_mon_certain_new(struct ct_monitor *m)
{
    struct ct_mon_certain *c = m->spare ? m->spare : make(m);
    m->spare = NULL;
    if (!c)
        return NULL;
    c->losing = c->maybe = c->unseen = false;
    c->from = m->now;
    memset(c->kept, 0, m->p->ninputs * sizeof *c->kept);
    ct_mon_track_begin(c);
    for (uint32_t i = 0; i < c->order->n; i++)
        ct_mon_certain_hold(c, i);
    return c;
}

void ct_mon_certain_over(struct ct_monitor *m)
{
    if (m->spare)
        ct_mon_certain_free(m->certain);
    else
        m->spare = m->certain;
    m->certain = NULL;
}

/* Adds what a stream holds in another run, `b`, whose cell is in the monitor. */
static void join_held(const struct ct_mon_certain *c, const struct ct_mon_node *s,
                      const struct ct_mon_shade *b, const struct ct_mon_cell *mine)
{
    struct ct_mon_shade *a = &c->held[s->order];
    const bool same = a->ever == b->ever && a->never == b->never &&
                      (!a->ever || ct_mon_value_compare(&c->m->heap, mine, certain_cell(c, s)) == 0);
    a->sure &= same;
    if (a->ever && b->ever)
        a->value = ct_mon_guess_join(&a->value, &b->value);
    else if (b->ever)
        a->value = b->value;
    a->value.known = false;
    a->ever |= b->ever;
    a->never |= b->never;
}

static void join_timer(struct ct_mon_shade_timer *a, const struct ct_mon_shade_timer *b)
{
    if (a->sure && a->due == b->due)
        return;
    const int64_t until = a->sure ? a->due : a->until;
    a->until = until > b->due ? until : b->due;
    a->sure = false;
}

bool ct_mon_certain_join(struct ct_mon_certain *c, const struct ct_mon_world *run)
{
    const struct ct_mon_program *p = c->m->p;
    struct ct_mon_certain *other = ct_mon_certain_new(c->m);
    if (!other)
        return false;
    ct_mon_track_all(c);
    c->track.settled = true;
    for (size_t i = 0; i < c->order->n; i++) {
        const struct ct_mon_node *s = c->order->nodes[i];
        const uint32_t cell = p->node_cells[s->order];
        if (s->kind == N_MONITOR) {
            ct_mon_certain_states_join(c, other, s);
            c->held[i] = ct_mon_certain_verdict(c, s);
        } else {
            join_held(c, s, &other->held[i],
                      cell < p->roots_from ? &c->m->cells[cell] : &run->cells[cell - p->roots_from]);
        }
        c->before[i] = c->held[i];
    }
    for (size_t i = 0; i < p->ntimers; i++)
        join_timer(&c->timers[i], &other->timers[i]);
    ct_mon_certain_free(other);
    return true;
}

void ct_mon_certain_lose(struct ct_mon_certain *c, const uint8_t *kept)
{
    ct_mon_track_all(c);
    for (size_t i = 0; i < c->m->p->ninputs; i++)
        c->kept[i] = kept && kept[i] && (!c->losing || c->kept[i]);
    c->losing = true;
}

void ct_mon_certain_free(struct ct_mon_certain *c)
{
    if (!c)
        return;
    ct_mon_formulas_free(c);
    free(c->kept);
    free(c->held);
    free(c->before);
    free(c->now);
    free(c->states);
    free(c->timers);
    ct_mon_track_free(&c->track);
    free(c->quick);
    free(c);
}
