/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and restores the state of a run. */
#include "monitor/doubt.h"

#include <stdlib.h>
#include <string.h>

static size_t root_count(const struct ct_mon_program *p)
{
    return p->roots_to - p->roots_from;
}

size_t ct_mon_world_size(const struct ct_mon_program *p)
{
    return root_count(p) * sizeof(struct ct_mon_cell) + p->ntimers * sizeof(int64_t) +
           p->ninputs * sizeof(uint32_t) + p->nmachines * sizeof(uint16_t);
}

bool ct_mon_world_init(struct ct_mon_world *w, const struct ct_mon_program *p)
{
    w->cells = malloc(ct_mon_world_size(p) + 1);
    if (!w->cells)
        return false;
    w->timers = (int64_t *)(w->cells + root_count(p));
    w->seen = (uint32_t *)(w->timers + p->ntimers);
    w->states = (uint16_t *)(w->seen + p->ninputs);
    return true;
}

void ct_mon_world_save(struct ct_mon_world *w, const struct ct_monitor *m)
{
    const struct ct_mon_program *p = m->p;
    memcpy(w->cells, m->cells + p->roots_from, root_count(p) * sizeof *w->cells);
    memcpy(w->timers, m->timers, p->ntimers * sizeof *w->timers);
    memcpy(w->seen, m->seen, p->ninputs * sizeof *w->seen);
    for (uint32_t k = 0; k < p->nmachines; k++)
        w->states[k] = ct_mon_bank_state(m, k);
    w->timer_next = m->timer_next;
    w->now = m->now;
    w->floor = m->floor;
    w->stamp = m->stamp;
    w->sources = m->sources;
    w->only = m->only;
    w->begun = m->begun;
    w->open = m->open;
}

void ct_mon_world_load(const struct ct_mon_world *w, struct ct_monitor *m)
{
    const struct ct_mon_program *p = m->p;
    memcpy(m->cells + p->roots_from, w->cells, root_count(p) * sizeof *w->cells);
    memcpy(m->timers, w->timers, p->ntimers * sizeof *w->timers);
    memcpy(m->seen, w->seen, p->ninputs * sizeof *w->seen);
    ct_mon_banks_leave(m);
    memcpy(m->states, w->states, p->nmachines * sizeof *w->states);
    m->timer_next = w->timer_next;
    m->now = w->now;
    m->floor = w->floor;
    m->stamp = w->stamp;
    m->sources = w->sources;
    m->only = w->only;
    m->begun = w->begun;
    m->open = w->open;
}

/* Compares a cell of two states. When an instant is open, the cell must belong to it in both states or in
 * neither. */
static bool same_cell(struct ct_monitor *m, const struct ct_mon_world *a, const struct ct_mon_world *b,
                      size_t i)
{
    const struct ct_mon_cell *x = &a->cells[i];
    const struct ct_mon_cell *y = &b->cells[i];
    const bool x_now = a->open && x->stamp == a->stamp;
    const bool y_now = b->open && y->stamp == b->stamp;
    return !x->stamp == !y->stamp && x_now == y_now &&
           (!x->stamp || ct_mon_value_compare(&m->heap, x, y) == 0);
}

bool ct_mon_world_same(struct ct_monitor *m, const struct ct_mon_world *a, const struct ct_mon_world *b)
{
    const struct ct_mon_program *p = m->p;
    if (a->begun != b->begun || a->open != b->open || a->now != b->now || a->timer_next != b->timer_next)
        return false;
    if (memcmp(a->timers, b->timers, p->ntimers * sizeof *a->timers) != 0 ||
        memcmp(a->states, b->states, p->nmachines * sizeof *a->states) != 0)
        return false;
    bool same = true;
    for (size_t i = 0; same && i < root_count(p); i++)
        same = same_cell(m, a, b, i);
    return same;
}

static const struct ct_mon_node *node_of(const struct ct_monitor *m, uint32_t output)
{
    return m->spec->elab.outputs[output].node;
}

bool ct_mon_world_is_signal(const struct ct_monitor *m, uint32_t output)
{
    const struct ct_mon_node *s = node_of(m, output);
    return s->kind == N_PURE || (s->kind == N_MONITOR && s->changes_only);
}

bool ct_mon_world_held(const struct ct_monitor *m, uint32_t output, struct ct_mon_cell *value)
{
    const struct ct_mon_node *s = node_of(m, output);
    if (s->kind == N_MONITOR) { /* its verdict may go straight to the output, not to a cell */
        *value = cell_int(ct_mon_bank_state(m, s->index) & 3);
        return value->v.i != VERDICT_NONE;
    }
    *value = m->cells[m->p->node_cells[s->order]];
    return value->stamp != 0;
}
