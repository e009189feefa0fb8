/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/state.h"

#include "monitor/certain.h"

/* Meaning of a stamp between events: outside the open instant it is only "once". */
enum stamp {
    STAMP_NEVER,
    STAMP_ONCE,
    STAMP_NOW,
};

static enum stamp stamp_of(const struct ct_monitor *run, const struct ct_mon_cell *c)
{
    if (!c->stamp)
        return STAMP_NEVER;
    return run->open && c->stamp == run->stamp ? STAMP_NOW : STAMP_ONCE;
}

static const struct ct_mon_node *node_of(const struct ct_mon_place *p)
{
    return p->run->spec->order.nodes[p->number];
}

static const struct ct_mon_cell *cell_of(const struct ct_mon_place *p)
{
    return &p->run->cells[p->run->p->node_cells[p->number]];
}

static bool same_cell(const struct ct_monitor *a, const struct ct_mon_cell *x, const struct ct_monitor *b,
                      const struct ct_mon_cell *y)
{
    const enum stamp stamp = stamp_of(a, x);
    if (stamp != stamp_of(b, y))
        return false;
    if (stamp == STAMP_NEVER || (x->meta == y->meta && x->v.i == y->v.i))
        return true;
    struct ct_mon_heap payer;
    ct_mon_heap_init(&payer, 0, false);
    return x->meta == y->meta && (x->meta & META_PTR) && ct_mon_value_compare(&payer, x, y) == 0;
}

/* Returns whether a loss leaves the stream equally certain in both runs. */
static bool same_shade(const struct ct_mon_place *a, const struct ct_mon_place *b)
{
    const struct ct_mon_certain *x = a->run->certain;
    const struct ct_mon_certain *y = b->run->certain;
    if (!x && !y)
        return true;
    if (!x || !y)
        return ct_mon_certain_stream_sure(x ? x : y, x ? a->number : b->number);
    return ct_mon_certain_stream_same(x, a->number, y, b->number);
}

bool ct_mon_state_same(const struct ct_mon_place *a, const struct ct_mon_place *b)
{
    if (!a->run || !b->run)
        return a->run == b->run;
    if (a->run == b->run && a->number == b->number)
        return true;
    const struct ct_mon_node *s = node_of(a);
    if (s->kind == N_MONITOR &&
        ct_mon_bank_state(a->run, s->index) != ct_mon_bank_state(b->run, node_of(b)->index))
        return false;
    return same_cell(a->run, cell_of(a), b->run, cell_of(b)) && same_shade(a, b);
}

static const struct ct_mon_cell *cell_before(const struct ct_mon_place *input)
{
    const uint32_t prev = input->run->p->inputs[input->number].prev;
    return prev == NO_CELL ? NULL : &input->run->cells[prev];
}

bool ct_mon_state_same_before(const struct ct_mon_place *a, const struct ct_mon_place *b)
{
    if (!a->run || !b->run)
        return a->run == b->run;
    const struct ct_mon_cell *x = cell_before(a);
    const struct ct_mon_cell *y = cell_before(b);
    return !x || !y || !a->run->open || same_cell(a->run, x, b->run, y);
}

bool ct_mon_state_agree(const struct ct_monitor *a, const struct ct_monitor *b)
{
    const bool losing = a->certain && a->certain->losing;
    return a->begun == b->begun && a->now == b->now && a->floor == b->floor && a->open == b->open &&
           (!a->open || a->sources == b->sources) && losing == (b->certain && b->certain->losing);
}

/* stamp of a run that takes over a state; 1 is "once" */
#define TAKEN_STAMP 2

static struct ct_mon_cell take_cell(struct ct_monitor *to, const struct ct_monitor *from,
                                    const struct ct_mon_cell *c)
{
    static const uint32_t stamps[] = {[STAMP_NEVER] = 0, [STAMP_ONCE] = 1, [STAMP_NOW] = TAKEN_STAMP};
    const enum stamp stamp = stamp_of(from, c);
    struct ct_mon_cell copy = stamp == STAMP_NEVER ? *c : ct_mon_value_copy(&to->heap, *c);
    copy.stamp = stamps[stamp];
    return copy;
}

static void take_streams(struct ct_monitor *to, const struct ct_mon_place *streams)
{
    const struct ct_mon_order *order = &to->spec->order;
    to->timer_next = INT64_MAX;
    ct_mon_banks_leave(to);
    for (size_t i = 0; i < order->n; i++) {
        const struct ct_mon_node *s = order->nodes[i];
        const struct ct_mon_place *from = &streams[i];
        to->cells[to->p->node_cells[i]] = take_cell(to, from->run, cell_of(from));
        if (s->kind == N_MONITOR)
            to->states[s->index] = ct_mon_bank_state(from->run, node_of(from)->index);
        if (s->kind != N_DELAY)
            continue;
        const int64_t due = from->run->timers[node_of(from)->index];
        to->timers[s->index] = due;
        to->timer_next = due >= 0 && due < to->timer_next ? due : to->timer_next;
    }
}

static void take_inputs(struct ct_monitor *to, const struct ct_mon_place *inputs,
                        const struct ct_monitor *clock)
{
    to->sources = 0;
    for (uint32_t i = 0; i < to->p->ninputs; i++) {
        const struct ct_monitor *from = inputs[i].run;
        const bool seen = clock->open && from->seen[inputs[i].number] == from->stamp;
        to->seen[i] = seen ? TAKEN_STAMP : 0;
        to->only = seen ? i : to->only;
        to->sources += seen;
        const struct ct_mon_cell *before = cell_before(&inputs[i]);
        if (before && to->p->inputs[i].prev != NO_CELL)
            to->cells[to->p->inputs[i].prev] = take_cell(to, from, before);
    }
}

static bool take_certain(struct ct_monitor *to, const struct ct_mon_place *streams,
                         const struct ct_mon_place *inputs, const struct ct_monitor *clock)
{
    bool any = clock->certain != NULL;
    for (size_t i = 0; i < to->spec->order.n && !any; i++)
        any = streams[i].run->certain != NULL;
    ct_mon_certain_over(to);
    if (!any)
        return true;
    to->certain = ct_mon_certain_new(to);
    if (!to->certain)
        return false;
    for (uint32_t i = 0; i < to->spec->order.n; i++)
        if (streams[i].run->certain)
            ct_mon_certain_stream_copy(to->certain, i, streams[i].run->certain, streams[i].number);
    const struct ct_mon_certain *of = clock->certain;
    to->certain->losing = of && of->losing;
    for (uint32_t i = 0; i < to->p->ninputs; i++)
        to->certain->kept[i] = inputs[i].run->certain && inputs[i].run->certain->kept[inputs[i].number];
    return true;
}

bool ct_mon_state_take(struct ct_monitor *to, const struct ct_mon_place *streams,
                       const struct ct_mon_place *inputs, const struct ct_monitor *clock)
{
    ct_mon_heap_empty(&to->heap);
    to->begun = clock->begun;
    to->open = clock->open;
    to->now = clock->now;
    to->floor = clock->floor;
    to->stamp = TAKEN_STAMP;
    take_streams(to, streams);
    take_inputs(to, inputs, clock);
    return !to->heap.exhausted && take_certain(to, streams, inputs, clock);
}
