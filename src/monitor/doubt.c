/* SPDX-License-Identifier: Apache-2.0 */
/* Follows every possible order of instants whose order is in doubt. Each state records which instants of the
 * window it has taken; equal states that took the same instants are merged. So the cost grows with the number
 * of such sets, not of orders. When there are too many states, certain.h takes over: then any event may have
 * happened. */
#include "monitor/doubt.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "monitor/certain.h"

static uint64_t bit(size_t i)
{
    return UINT64_C(1) << i;
}

/* Returns the set of the first `count` instants. */
static uint64_t first_ones(size_t count)
{
    return count < DOUBT_WINDOW ? bit(count) - 1 : UINT64_MAX;
}

static int no_memory(struct ct_monitor *m)
{
    return ct_fail_nomem(m->ctx, "monitor");
}

/* ---- states ---- */

static void drop_world(struct ct_mon_doubt *d, size_t i)
{
    const struct ct_mon_world gone = d->worlds[i];
    d->worlds[i] = d->worlds[--d->world_count];
    d->worlds[d->world_count] = gone; /* keeps its memory */
}

/* Drops the states that lack one of these instants. */
static void drop_lacking(struct ct_mon_doubt *d, uint64_t instants)
{
    for (size_t i = d->world_count; i-- > 0;)
        if (instants & ~d->worlds[i].taken)
            drop_world(d, i);
}

/* Returns whether a state differs from the run's and from every other state that took the same instants. */
static bool is_new(struct ct_monitor *m, const struct ct_mon_world *w, uint64_t all)
{
    const struct ct_mon_doubt *d = m->doubt;
    if (w->taken == all && ct_mon_world_same(m, w, &d->run))
        return false;
    for (size_t i = 0; i < d->world_count; i++)
        if (d->worlds[i].taken == w->taken && ct_mon_world_same(m, w, &d->worlds[i]))
            return false;
    return true;
}

/* Returns an unused state after the others. NULL: there are too many, or out of memory. */
static struct ct_mon_world *free_world(struct ct_monitor *m)
{
    struct ct_mon_doubt *d = m->doubt;
    struct ct_mon_world *w = d->world_count < d->most ? &d->worlds[d->world_count] : NULL;
    if (w && !w->cells && !ct_mon_world_init(w, m->p)) {
        d->no_memory = true;
        return NULL;
    }
    return w;
}

/* What happened to the state of another order. */
enum outcome {
    WENT_ON,
    ENDED,    /* the state ended in a runtime error: such runs do not count */
    TOO_MUCH, /* the state exceeded the work or memory that is left */
};

/* Resets the monitor after another state than the run's failed, and returns what happened. */
static enum outcome outcome_of(struct ct_monitor *m, int rc)
{
    if (!rc)
        return WENT_ON;
    const enum ct_mon_value_error why = m->error ? m->error : m->heap.exhausted;
    const bool spent = rc != CT_ERR_FORMAT || why == E_BUDGET || why == E_MEMORY || why == E_STOPPED;
    m->over = false;
    m->error = E_NONE;
    if (m->heap.exhausted == E_BUDGET)
        m->heap.exhausted = E_NONE;
    return spent ? TOO_MUCH : ENDED;
}

static struct ct_mon_doubt *doubt_of(struct ct_monitor *m)
{
    if (m->doubt)
        return m->doubt;
    struct ct_mon_doubt *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    const size_t fit = DOUBT_BYTES / (ct_mon_world_size(m->p) + 1);
    d->most = fit > DOUBT_WORLDS ? DOUBT_WORLDS : fit + 2;
    d->worlds = calloc(d->most, sizeof *d->worlds);
    if (!d->worlds || !ct_mon_world_init(&d->run, m->p)) {
        free(d->worlds);
        free(d);
        return NULL;
    }
    m->doubt = d;
    return d;
}

void ct_mon_doubt_free(struct ct_monitor *m)
{
    struct ct_mon_doubt *d = m->doubt;
    if (!d)
        return;
    for (size_t i = 0; i < d->most; i++)
        free(d->worlds[i].cells);
    for (size_t i = 0; i < DOUBT_WINDOW; i++) {
        free(d->window[i].events);
        free(d->window[i].results.all);
    }
    free(d->fresh.all);
    free(d->run.cells);
    free(d->worlds);
    free(d);
    m->doubt = NULL;
}

static void result_roots(struct ct_mon_heap_gc *gc, struct ct_mon_doubt_results *list)
{
    for (size_t i = 0; i < list->count; i++)
        ct_mon_heap_roots(gc, &list->all[i].value, 1);
}

void ct_mon_doubt_roots(struct ct_mon_heap_gc *gc, struct ct_mon_doubt *d)
{
    const size_t size = (size_t)((char *)d->run.timers - (char *)d->run.cells);
    const size_t count = size / sizeof *d->run.cells;
    for (size_t i = 0; i < d->world_count; i++)
        ct_mon_heap_roots(gc, d->worlds[i].cells, count);
    if (d->away)
        ct_mon_heap_roots(gc, d->run.cells, count);
    for (size_t i = 0; i < d->count; i++)
        result_roots(gc, &d->window[i].results);
    result_roots(gc, &d->fresh);
    ct_mon_heap_roots(gc, &d->value, 1);
}

/* ---- too many orders ---- */

/* Empties the window: returns all pending results as they are. */
static void clear_window(struct ct_monitor *m)
{
    struct ct_mon_doubt *d = m->doubt;
    for (size_t i = 0; i < d->count; i++)
        ct_mon_doubt_give_settled(m, &d->window[i].results);
    d->count = 0;
}

/* Merges all states into one, in which only what they share is certain. */
static int join(struct ct_monitor *m)
{
    struct ct_mon_doubt *d = m->doubt;
    if (!d || !d->world_count)
        return CT_OK;
    if (!m->certain && !(m->certain = ct_mon_certain_new(m)))
        return no_memory(m);
    bool fine = true;
    ct_mon_doubt_leave_run(m);
    for (size_t i = 0; fine && i < d->world_count; i++) {
        ct_mon_world_load(&d->worlds[i], m);
        fine = ct_mon_certain_join(m->certain, &d->run);
    }
    ct_mon_doubt_back_to_run(m);
    d->blurred = d->worlds[0].pair;
    d->world_count = 0;
    return fine ? CT_OK : no_memory(m);
}

/* Marks the pending results of the window as uncertain and returns them. */
static void give_uncertain(struct ct_monitor *m, const struct ct_mon_doubt_pair *pair)
{
    struct ct_mon_doubt *d = m->doubt;
    for (size_t i = 0; i < d->count; i++) {
        struct ct_mon_doubt_results *list = &d->window[i].results;
        for (size_t k = 0; k < list->count; k++) {
            list->all[k].pair = list->all[k].uncertain ? list->all[k].pair : *pair;
            list->all[k].uncertain = true;
        }
        ct_mon_doubt_give(m, list);
    }
    d->count = 0;
}

/* Stops following orders: pending results of the window become uncertain, and so do later ones. */
static int blur(struct ct_monitor *m)
{
    struct ct_mon_doubt *d = m->doubt;
    struct ct_mon_doubt_pair pair = {.named = d->count > 1};
    if (pair.named) {
        pair.tags[0] = d->window[0].span.tag;
        pair.tags[1] = d->window[1].span.tag;
    } else if (d->world_count) {
        pair = d->worlds[0].pair;
    }
    give_uncertain(m, &pair);
    d->blurred = pair;
    d->unfollowed = true;
    const int rc = join(m);
    if (!rc && !m->certain && !(m->certain = ct_mon_certain_new(m)))
        return no_memory(m);
    if (!rc)
        ct_mon_certain_lose(m->certain, NULL);
    return rc;
}

/* ---- instants ---- */

static struct ct_mon_cell value_of(struct ct_monitor *m, const struct ct_monitor_event *e)
{
    switch (m->p->inputs[e->input].type->kind) {
    case TY_INT:
        return cell_int(e->v.i);
    case TY_BOOL:
        return cell_int(e->v.i != 0);
    case TY_FLOAT:
        return cell_float(e->v.f);
    case TY_STRING:
        return ct_mon_value_string(&m->heap, e->v.s, e->size);
    default:
        return cell_int(0);
    }
}

/* Takes the events of an instant and evaluates it in the monitor's current state. */
static int evaluate(struct ct_monitor *m, const struct ct_monitor_event *events, size_t count, int64_t time)
{
    int rc = CT_OK;
    m->instants = 0;
    for (size_t i = 0; i < count && !rc; i++) {
        m->event_begun = true;
        rc = ct_mon_run_event(m, time, events[i].input, value_of(m, &events[i]));
    }
    m->event_begun = false;
    return rc ? rc : ct_mon_run_close(m);
}

/* Evaluates the events of a stored instant. The results go to `fresh`. */
static int evaluate_kept(struct ct_monitor *m, const struct ct_mon_doubt_instant *instant, int64_t time)
{
    struct ct_mon_doubt *d = m->doubt;
    d->fresh.count = 0;
    d->keeping = true;
    const int rc = evaluate(m, instant->events, instant->event_count, time);
    ct_mon_doubt_keep(m);
    d->keeping = false;
    for (size_t i = 0; i < d->fresh.count; i++)
        d->fresh.all[i].timed = d->fresh.all[i].time != time;
    return rc;
}

static bool comes_before(const struct ct_monitor_span *a, const struct ct_monitor_span *b)
{
    return a->source == b->source || a->end < b->begin;
}

void ct_mon_doubt_seal(struct ct_monitor *m, uint64_t begin)
{
    struct ct_mon_doubt *d = m->doubt;
    uint64_t sealed = 0;
    size_t first = 0;
    for (size_t i = 0; i < d->count; i++)
        sealed |= d->window[i].span.end < begin ? bit(i) : 0;
    drop_lacking(d, sealed);
    while (first < d->count && sealed >> first & 1)
        ct_mon_doubt_give_settled(m, &d->window[first++].results);
    if (!first)
        return;
    for (size_t i = first; i < d->count; i++) {
        const struct ct_mon_doubt_instant empty = d->window[i - first];
        d->window[i - first] = d->window[i];
        d->window[i - first].before >>= first;
        d->window[i] = empty;
    }
    for (size_t i = 0; i < d->world_count; i++)
        d->worlds[i].taken = first < DOUBT_WINDOW ? d->worlds[i].taken >> first : 0;
    d->count -= first;
}

static bool open_instant(struct ct_mon_doubt *d, const struct ct_monitor_event *events, size_t count,
                         const struct ct_monitor_span *span)
{
    struct ct_mon_doubt_instant *x = &d->window[d->count];
    if (!CT_MAKE_ROOM(x->events, x->event_cap, count))
        return false;
    memcpy(x->events, events, count * sizeof *events);
    x->event_count = count;
    x->span = *span;
    x->time = (int64_t)events[0].time;
    x->before = 0;
    for (size_t i = 0; i < d->count; i++)
        x->before |= comes_before(&d->window[i].span, span) ? bit(i) : 0;
    x->results.count = 0;
    d->count++;
    return true;
}

/* Returns the pair of events whose order makes a state differ when it takes instant `i` next. */
static struct ct_mon_doubt_pair pair_of(const struct ct_mon_doubt *d, const struct ct_mon_world *w, size_t i)
{
    const uint64_t other = w->taken ^ first_ones(i);
    if (w->pair.named || !other)
        return w->pair;
    const size_t k = (size_t)__builtin_ctzll(other);
    return (struct ct_mon_doubt_pair){.named = true, .tags = {d->window[i].span.tag, d->window[k].span.tag}};
}

/* Lets a state take instant `i`, and adds the new state unless an equal one exists. */
static enum outcome branch(struct ct_monitor *m, const struct ct_mon_world *from, size_t i)
{
    struct ct_mon_doubt *d = m->doubt;
    const struct ct_mon_doubt_pair pair = pair_of(d, from, i);
    const uint64_t taken = from->taken | bit(i);
    const int64_t time = d->window[__builtin_popcountll(from->taken)].time;
    ct_mon_world_load(from, m);
    const enum outcome outcome = outcome_of(m, evaluate_kept(m, &d->window[i], time));
    if (outcome != WENT_ON)
        return outcome;
    ct_mon_doubt_compare(m, &d->window[i].results, d->window[i].time, &pair);
    struct ct_mon_world *w = free_world(m);
    if (!w)
        return TOO_MUCH;
    ct_mon_world_save(w, m);
    w->taken = taken;
    w->pair = pair;
    d->world_count += is_new(m, w, first_ones(d->count));
    return m->heap.exhausted ? TOO_MUCH : WENT_ON;
}

/* Lets a state take each instant that may come next: only the last one, or any other if it has taken the last
 * one already. */
static enum outcome branch_all(struct ct_monitor *m, size_t number)
{
    const struct ct_mon_doubt *d = m->doubt;
    const size_t last = d->count - 1;
    enum outcome outcome = WENT_ON;
    const struct ct_mon_world *from = &d->worlds[number];
    const bool has_last = from->taken >> last & 1;
    if (!from->pair.named && from->taken == first_ones(last)) /* the run itself took these instants */
        return outcome;
    for (size_t i = has_last ? 0 : last; i < d->count && outcome != TOO_MUCH; i++)
        if (!(from->taken >> i & 1) && !(d->window[i].before & ~from->taken))
            outcome = branch(m, from, i);
    return outcome;
}

/* Creates the states of all orders that include the last instant of the window, from those that do not. */
static enum outcome branch_out(struct ct_monitor *m)
{
    struct ct_mon_doubt *d = m->doubt;
    enum outcome outcome = WENT_ON;
    heap_allow(&m->heap, m->budget);
    for (int taken = 0; taken < (int)d->count && outcome != TOO_MUCH; taken++)
        for (size_t i = 0; i < d->world_count && outcome != TOO_MUCH; i++)
            if (__builtin_popcountll(d->worlds[i].taken) == taken)
                outcome = branch_all(m, i);
    return outcome;
}

/* Takes an instant when orders are no longer followed: it may come here, and others may come before and after
 * it. */
static int take_blurred(struct ct_monitor *m, const struct ct_monitor_event *events, size_t count)
{
    m->doubt->unfollowed = true;
    ct_mon_certain_lose(m->certain, NULL);
    m->certain->maybe = true;
    heap_allow(&m->heap, m->budget);
    const int rc = evaluate(m, events, count, (int64_t)events[0].time);
    if (!rc && !m->certain && !(m->certain = ct_mon_certain_new(m)))
        return no_memory(m);
    if (!rc) {
        m->certain->maybe = false;
        ct_mon_certain_lose(m->certain, NULL);
    }
    return rc;
}

int ct_mon_doubt_settle(struct ct_monitor *m)
{
    struct ct_mon_doubt *d = m->doubt;
    if (!d || !d->count)
        return CT_OK;
    drop_lacking(d, first_ones(d->count));
    clear_window(m);
    for (size_t i = 0; i < d->world_count; i++)
        d->worlds[i].taken = 0;
    return CT_OK;
}

/* Moves the results in `fresh` to `results`, as the run's results at an instant. After a failure of the run
 * they are its last ones. */
static int keep_results(struct ct_monitor *m, struct ct_mon_doubt_results *results, int rc)
{
    struct ct_mon_doubt *d = m->doubt;
    results->count = 0;
    for (size_t i = 0; i < d->fresh.count; i++)
        d->no_memory |= !ct_mon_doubt_add(results, &d->fresh.all[i]);
    d->fresh.count = 0;
    if (rc) {
        drop_lacking(d, UINT64_MAX);
        clear_window(m);
    }
    return rc;
}

/* ---- events whose order is known, while states of other orders remain ---- */

/* Something to do in each state. */
struct act {
    enum {
        TAKE_EVENT,
        CLOSE,
        ADVANCE,
    } kind;
    int64_t time;
    uint32_t input;
};

static int act_kept(struct ct_monitor *m, const struct act *act)
{
    struct ct_mon_doubt *d = m->doubt;
    int rc = CT_OK;
    d->fresh.count = 0;
    d->keeping = true;
    m->instants = 0;
    m->event_begun = true;
    if (act->kind == TAKE_EVENT)
        rc = ct_mon_run_event(m, act->time, act->input, d->value);
    else
        rc = act->kind == CLOSE ? ct_mon_run_close(m) : ct_mon_run_advance(m, act->time);
    m->event_begun = false;
    ct_mon_doubt_keep(m);
    d->keeping = false;
    for (size_t i = 0; i < d->fresh.count; i++)
        d->fresh.all[i].timed = true;
    return rc;
}

/* Drops states that equal the run's or an earlier state. */
static void drop_same(struct ct_monitor *m)
{
    struct ct_mon_doubt *d = m->doubt;
    for (size_t i = d->world_count; i-- > 0;) {
        bool same = ct_mon_world_same(m, &d->worlds[i], &d->run);
        for (size_t k = 0; k < i && !same; k++)
            same = ct_mon_world_same(m, &d->worlds[i], &d->worlds[k]);
        if (same)
            drop_world(d, i);
    }
}

/* Performs an act in the run and in all other states, and returns the results. */
static int act_all(struct ct_monitor *m, const struct act *act)
{
    struct ct_mon_doubt *d = m->doubt;
    struct ct_mon_doubt_results *results = &d->window[0].results;
    enum outcome outcome = WENT_ON;
    d->count = 1; /* makes its results roots of the garbage collector */
    results->count = 0;
    heap_allow(&m->heap, m->budget);
    const int rc = keep_results(m, results, act_kept(m, act));
    if (rc)
        return rc;
    ct_mon_doubt_leave_run(m);
    heap_allow(&m->heap, m->budget);
    for (size_t i = d->world_count; i-- > 0 && outcome != TOO_MUCH;) {
        ct_mon_world_load(&d->worlds[i], m);
        outcome = outcome_of(m, act_kept(m, act));
        if (outcome == WENT_ON)
            ct_mon_doubt_compare(m, results, INT64_MAX, &d->worlds[i].pair);
        ct_mon_world_save(&d->worlds[i], m);
        if (outcome == ENDED)
            drop_world(d, i);
    }
    drop_same(m);
    ct_mon_doubt_back_to_run(m);
    if (d->no_memory)
        return no_memory(m);
    if (outcome == TOO_MUCH || m->heap.exhausted)
        return blur(m);
    d->count = 0;
    ct_mon_doubt_give_settled(m, results);
    return CT_OK;
}

int ct_mon_doubt_event(struct ct_monitor *m, int64_t time, uint32_t input, struct ct_mon_cell value)
{
    m->doubt->value = value;
    const int rc = act_all(m, &(struct act){.kind = TAKE_EVENT, .time = time, .input = input});
    m->doubt->value = (struct ct_mon_cell){0};
    return rc;
}

int ct_mon_doubt_close(struct ct_monitor *m)
{
    return act_all(m, &(struct act){.kind = CLOSE});
}

int ct_mon_doubt_advance(struct ct_monitor *m, int64_t time)
{
    return act_all(m, &(struct act){.kind = ADVANCE, .time = time});
}

int ct_mon_doubt_join(struct ct_monitor *m)
{
    struct ct_mon_doubt *d = m->doubt;
    if (!d || (!d->count && !d->world_count))
        return CT_OK;
    const int rc = m->open ? ct_mon_doubt_close(m) : CT_OK;
    return rc ? rc : d->count ? blur(m) : join(m);
}

/* ---- instants in doubt ---- */

/* Saves the state of the run before the last instant, as one in which other instants may come first. */
static void keep_before(struct ct_monitor *m, struct ct_mon_world *before, uint64_t taken)
{
    struct ct_mon_doubt *d = m->doubt;
    ct_mon_world_save(before, m);
    before->taken = taken;
    before->pair = (struct ct_mon_doubt_pair){0};
    bool known = false;
    for (size_t i = 0; i < d->world_count && !known; i++)
        known = d->worlds[i].taken == taken && ct_mon_world_same(m, before, &d->worlds[i]);
    d->world_count += !known;
}

/* Takes an instant in the run, then in all states that may take it, before or after others. */
static int take_followed(struct ct_monitor *m, const struct ct_monitor_event *events, size_t count,
                         const struct ct_monitor_span *span)
{
    struct ct_mon_doubt *d = m->doubt;
    struct ct_mon_world *before = free_world(m);
    if (!before || !open_instant(d, events, count, span))
        return no_memory(m);
    keep_before(m, before, first_ones(d->count - 1));
    struct ct_mon_doubt_instant *instant = &d->window[d->count - 1];
    heap_allow(&m->heap, m->budget);
    const int rc = keep_results(m, &instant->results, evaluate_kept(m, instant, instant->time));
    if (rc)
        return rc;
    ct_mon_doubt_leave_run(m);
    const enum outcome outcome = branch_out(m);
    ct_mon_doubt_back_to_run(m);
    if (d->no_memory)
        return no_memory(m);
    return outcome == TOO_MUCH ? blur(m) : CT_OK;
}

int ct_mon_doubt_take(struct ct_monitor *m, const struct ct_monitor_event *events, size_t count,
                      const struct ct_monitor_span *span)
{
    struct ct_mon_doubt *d = doubt_of(m);
    if (!d)
        return no_memory(m);
    int rc = CT_OK;
    if (m->open) /* it belongs to an event whose order is known, so the window is empty */
        rc = d->world_count ? ct_mon_doubt_close(m) : ct_mon_run_close_before_mistake(m);
    if (rc)
        return rc;
    ct_mon_run_deliver(m);
    ct_mon_doubt_seal(m, span->begin);
    if (!d->count) /* timers that expire before the instant do so in every order */
        rc = ct_monitor_advance(m, events[0].time);
    if (rc)
        return rc;
    if (m->certain && !m->certain->losing && !ct_mon_track_less(m->certain, true))
        ct_mon_certain_over(m);
    if (!m->certain && (d->count == DOUBT_WINDOW || d->world_count == d->most))
        rc = blur(m);
    if (rc || m->certain)
        return rc ? rc : take_blurred(m, events, count);
    return take_followed(m, events, count, span);
}
