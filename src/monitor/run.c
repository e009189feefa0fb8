/* SPDX-License-Identifier: Apache-2.0 */
/* Instants: decides which programs run when (docs/tessla-language.md A.1). */
#include "monitor/certain.h"
#include "base/require.h"
#include "monitor/doubt.h"
#include "monitor/native_kinds.h"
#include "monitor/run.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/ctx.h"

/* units of work, in addition to the instructions */
enum {
    INSTANT_WORK = 20,
    RESULT_WORK = 200, /* formatting a result */
};

enum {
    FEW_RESULTS = 32,
    BATCH_MOST = 4096, /* most events between two checks whether the run has to end */
    BATCH_LEAST = 16,  /* fewest events per call for which machine code is worth loading and storing all
                        * cells */
    BATCH_REST = 64,   /* events that the bytecode takes after a call with fewer */
};

void ct_mon_run_give(struct ct_monitor *m, const struct ct_monitor_result *results, size_t count)
{
    m->giving = true;
    if (m->fn)
        m->fn(m->user, results, count);
    m->giving = false;
}

void ct_mon_run_deliver(struct ct_monitor *m)
{
    if (m->doubt && m->doubt->keeping)
        ct_mon_doubt_keep(m);
    else if (m->nresults)
        ct_mon_run_give(m, m->results, m->nresults);
    m->nresults = m->instant_first = 0;
}

/* Renumbers the stamps long before their 32 bits overflow. Only "never", "once" and "now" have to stay
 * distinct. */
static void renumber(struct ct_monitor *m)
{
    for (uint32_t i = m->p->roots_from; i < m->p->ncells; i++)
        m->cells[i].stamp = m->cells[i].stamp != 0;
    for (size_t i = 0; i < m->p->ninputs; i++)
        m->seen[i] = 0;
    m->stamp = 1;
}

static void collect(struct ct_monitor *m)
{
    struct ct_mon_heap_gc gc;
    ct_mon_run_deliver(m);
    ct_mon_heap_gc_begin(&gc, &m->heap);
    ct_mon_heap_roots(&gc, m->cells + m->p->roots_from, m->p->roots_to - m->p->roots_from);
    ct_mon_heap_roots(&gc, &m->incoming, 1);
    if (m->doubt)
        ct_mon_doubt_roots(&gc, m->doubt);
    ct_mon_heap_gc_end(&gc);
}

static int by_output(const void *a, const void *b)
{
    const struct ct_monitor_result *x = a;
    const struct ct_monitor_result *y = b;
    return (x->output > y->output) - (x->output < y->output);
}

/* Sorts the instant's results by output, because machines that write their output directly do so in their own
 * order. */
static void sort_instant(struct ct_monitor *m)
{
    struct ct_monitor_result *r = m->results + m->instant_first;
    size_t n = m->nresults - m->instant_first;
    m->unsorted = false;
    if (n > FEW_RESULTS) {
        qsort(r, n, sizeof *r, by_output);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        struct ct_monitor_result x = r[i];
        size_t k = i;
        for (; k && r[k - 1].output > x.output; k--)
            r[k] = r[k - 1];
        r[k] = x;
    }
}

static void new_stamp(struct ct_monitor *m)
{
    if (m->stamp == UINT32_MAX)
        renumber(m);
    m->stamp++;
}

/* Allows the work of one event, which covers all instants that the event causes. */
static inline void begin_event(struct ct_monitor *m)
{
    heap_allow(&m->heap, m->budget);
    m->instants = 0;
}

/* Makes room for the results of a program and charges its work. Returns false when too little work is
 * left. */
static inline bool before_program(struct ct_monitor *m, uint32_t code)
{
    if (m->results_cap - m->nresults < m->p->noutputs)
        ct_mon_run_deliver(m);
    m->instant_first = m->nresults;
    return heap_spend(&m->heap, INSTANT_WORK + m->p->costs[code]);
}

static inline int after_program(struct ct_monitor *m, bool fine)
{
    if (m->nresults != m->instant_first)
        fine = fine && heap_spend(&m->heap, RESULT_WORK * (m->nresults - m->instant_first));
    if (!fine)
        return ct_mon_run_fail_value(m);
    if (m->unsorted)
        sort_instant(m);
    if (m->certain && !ct_mon_certain_instant(m->certain))
        ct_mon_certain_over(m);
    if (m->heap.exhausted)
        return ct_mon_run_fail_value(m);
    m->instant_first = m->nresults;
    if (heap_full(&m->heap)) {
        collect(m);
        if (m->heap.exhausted)
            return ct_mon_run_fail_value(m);
    }
    return CT_OK;
}

static inline int run_native(struct ct_monitor *m, native_fn *fn, uint32_t code)
{
    return after_program(m, before_program(m, code) && fn(m, m->cells, m->stamp));
}

static int evaluate(struct ct_monitor *m, uint32_t code)
{
    if (code == NO_CODE) { /* held values changed nevertheless */
        m->instant_first = m->nresults;
        return m->certain ? after_program(m, true) : CT_OK;
    }
    native_fn *native = m->native ? m->native->table[code] : NULL;
    if (native)
        return run_native(m, native, code);
    return after_program(m, before_program(m, code) && ct_mon_vm_run(m, code));
}

/* Marks the timers that expire now. Returns how many; *which is one of them. */
static uint32_t fire(struct ct_monitor *m, size_t *which)
{
    uint32_t n = 0;
    for (size_t i = 0; i < m->p->ntimers; i++) {
        if (m->timers[i] != m->now)
            continue;
        const struct ct_mon_timer_info *t = &m->p->timers[i];
        struct ct_mon_cell *c = &m->cells[t->cell];
        if (t->prev != NO_CELL)
            m->cells[t->prev] = *c;
        *c = (struct ct_mon_cell){.stamp = m->stamp};
        *which = i;
        n++;
    }
    return n;
}

_Static_assert(CT_MONITOR_STOP_SLOW == 1 && CT_MONITOR_STOP == 2, "the heap knows them as numbers");

static int timer_instant(struct ct_monitor *m)
{
    size_t which = 0;
    if (m->instants_limit && ++m->instants > m->instants_limit)
        return ct_mon_run_fail(m, CT_ERR_LIMIT, "Timers created more points in time than the limit allows");
    m->now = m->timer_next;
    if (!heap_spend(&m->heap, m->p->ntimers + INSTANT_WORK))
        return ct_mon_run_fail_value(m);
    new_stamp(m);
    uint32_t n = fire(m, &which);
    return evaluate(m, n == 1 ? m->p->timers[which].code : m->p->code_all);
}

/* Evaluates all instants before `time`. */
static int run_until(struct ct_monitor *m, int64_t time)
{
    if (!m->begun) {
        m->begun = true;
        new_stamp(m);
        int r = evaluate(m, m->p->code_zero);
        if (r)
            return r;
    }
    while (m->timer_next < time) {
        int r = timer_instant(m);
        if (r)
            return r;
    }
    return CT_OK;
}

int ct_mon_run_close(struct ct_monitor *m)
{
    size_t which;
    if (!m->open)
        return CT_OK;
    m->open = false;
    if (!m->begun) { /* the first instant was instant 0 */
        m->begun = true;
        return evaluate(m, m->p->code_zero);
    }
    bool timers = m->timer_next == m->now && fire(m, &which) > 0;
    return evaluate(m, timers || m->sources > 1 ? m->p->code_all : m->p->inputs[m->only].code);
}

int ct_mon_run_close_before_mistake(struct ct_monitor *m)
{
    begin_event(m);
    return ct_mon_run_close(m);
}

static int decreasing(struct ct_monitor *m, int64_t time)
{
    char text[120];
    int r = ct_mon_run_close_before_mistake(m);
    if (r)
        return r;
    snprintf(text, sizeof text,
             "Decreasing time stamps: first = %lld, second = %lld; sort the events by their times",
             (long long)m->floor, (long long)time);
    return ct_mon_run_fail(m, CT_ERR_FORMAT, text);
}

static int repeated(struct ct_monitor *m, uint32_t input)
{
    char text[400];
    snprintf(text, sizeof text, "Multiple events %.300s at timestamp %lld", m->p->inputs[input].name,
             (long long)m->now);
    return ct_mon_run_fail(m, CT_ERR_FORMAT, text);
}

int ct_mon_run_event(struct ct_monitor *m, int64_t time, uint32_t input, struct ct_mon_cell value)
{
    if (!m->open || time != m->now) {
        if (time < m->floor)
            return decreasing(m, time);
        if (!m->event_begun)
            begin_event(m);
        m->event_begun = false;
        m->incoming = value;
        int r = ct_mon_run_close(m);
        if (!r && (m->timer_next < time || (!m->begun && time > 0)))
            r = run_until(m, time);
        if (r)
            return r;
        value = m->incoming;
        m->now = m->floor = time;
        new_stamp(m);
        m->open = true;
        m->sources = 0;
        m->only = input;
    }
    if (m->seen[input] == m->stamp)
        return repeated(m, input);
    m->seen[input] = m->stamp;
    m->sources++;
    const struct ct_mon_input_info *in = &m->p->inputs[input];
    if (in->cell != NO_CELL) {
        if (in->prev != NO_CELL)
            m->cells[in->prev] = m->cells[in->cell];
        value.stamp = m->stamp;
        m->cells[in->cell] = value;
    }
    return CT_OK;
}

static int event_value(struct ct_monitor *m, const struct ct_monitor_event *e, const struct ct_mon_type *type,
                       struct ct_mon_cell *c)
{
    switch (type->kind) {
    case TY_INT:
        *c = cell_int(e->v.i);
        return CT_OK;
    case TY_BOOL:
        *c = cell_int(e->v.i != 0);
        return CT_OK;
    case TY_FLOAT:
        *c = cell_float(e->v.f);
        return CT_OK;
    case TY_STRING:
        begin_event(m); /* the value's work belongs to this event, not to the one before */
        *c = ct_mon_value_string(&m->heap, e->v.s, e->size);
        if (m->heap.exhausted) {
            m->error = E_MEMORY;
            return ct_mon_run_fail_value(m);
        }
        return CT_OK;
    default:
        if (type->n == 0) {
            *c = cell_int(0);
            return CT_OK;
        }
        return ct_fail(m->ctx, CT_ERR_ARG, "input %s: values of its type can be given only as text",
                       m->p->inputs[e->input].name);
    }
}

int ct_mon_run_usable(const struct ct_monitor *m)
{
    if (m->giving)
        return ct_fail(m->ctx, CT_ERR_ARG,
                       "monitor: the function was called from its own result callback, so nothing was done; "
                       "call it after the callback has returned");
    return m->over ? ct_fail(m->ctx, CT_ERR_ARG,
                             "monitor: the run has ended; create a new monitor with ct_monitor_new")
                   : CT_OK;
}

static inline int64_t quick_value(const struct ct_mon_quick_input *in, const struct ct_monitor_event *e)
{
    if (in->kind == TY_INT)
        return e->v.i;
    return in->kind == TY_BOOL && e->v.i != 0;
}

/* Takes events as ct_mon_run_event does. Stops at an event that shares its instant with another, follows a
 * timer, or belongs to an input without machine code. Sets *taken to the number taken. The instant of the
 * last one stays open. */
static int take_quick(struct ct_monitor *m, const struct ct_monitor_event *events, size_t count,
                      size_t *taken)
{
    size_t i = 0;
    int r = CT_OK;
    if (!m->quick || !m->open || !m->begun || m->sources != 1 || ct_mon_doubt_lasts(m))
        count = 0;
    for (; i < count && !r; i++) {
        const struct ct_monitor_event *e = &events[i];
        const struct ct_mon_quick_input *closes = &m->quick[m->only];
        if (e->input >= m->p->ninputs || e->time <= (uint64_t)m->now || e->time > (uint64_t)m->timer_next ||
            m->stamp == UINT32_MAX)
            break;
        const struct ct_mon_quick_input *in = &m->quick[e->input];
        if (!closes->fn || !in->fn)
            break;
        begin_event(m);
        r = run_native(m, closes->fn, closes->code);
        m->open = !r && m->timer_next >= (int64_t)e->time;
        m->event_begun = !r && !m->open;
        if (!m->open) /* the instant set a timer, which ct_mon_run_event handles first */
            break;
        m->stamp++;
        m->now = m->floor = (int64_t)e->time;
        m->only = e->input;
        m->seen[e->input] = m->stamp;
        if (in->prev != NO_CELL)
            m->cells[in->prev] = m->cells[in->cell];
        m->cells[in->cell] = (struct ct_mon_cell){.v.i = quick_value(in, e), .stamp = m->stamp};
    }
    *taken = i;
    return r;
}

/* Returns whether all cells hold values of the kinds that the batch function assumes. */
static bool has_plain_cells(const struct ct_monitor *m)
{
    for (uint32_t i = m->p->roots_from; i < m->p->ncells; i++) {
        const struct ct_mon_cell *c = &m->cells[i];
        const uint8_t kind = c->stamp ? m->native->kinds[i] : KIND_UNUSED;
        if ((kind == KIND_INT && c->meta) || (kind == KIND_FLOAT && c->meta != META_FLOAT))
            return false;
    }
    return true;
}

static bool can_take_batch(struct ct_monitor *m)
{
    const uint64_t work = INSTANT_WORK + RESULT_WORK * (uint64_t)m->p->noutputs;
    if (!m->native || !m->native->batch || !m->open || !m->begun || m->sources != 1 || m->certain ||
        ct_mon_doubt_lasts(m))
        return false;
    if (m->batch_rest) {
        m->batch_rest--;
        return false;
    }
    return m->budget >= work + m->native->batch_cost && !heap_is_stopped(&m->heap) && m->stamp > 1 &&
           m->stamp < UINT32_MAX - BATCH_MOST && has_plain_cells(m);
}

/* Lets the bytecode do the rest of the open instant, starting at instruction `at`. */
static int end_instant(struct ct_monitor *m, uint32_t at)
{
    const uint32_t code = m->p->inputs[m->only].code;
    begin_event(m);
    m->open = false;
    m->event_begun = true;
    return after_program(m, heap_spend(&m->heap, INSTANT_WORK + m->p->costs[code]) && ct_mon_vm_run(m, at));
}

/* Returns how many of the next events to take at once, and makes room for their results. */
static size_t batch_size(struct ct_monitor *m, size_t count)
{
    size_t most = count < BATCH_MOST ? count : BATCH_MOST;
    const size_t each = m->p->noutputs ? m->p->noutputs : 1;
    if ((m->results_cap - m->nresults) / each < (most < BATCH_LEAST ? most : BATCH_LEAST))
        ct_mon_run_deliver(m);
    if (most > (m->results_cap - m->nresults) / each)
        most = (m->results_cap - m->nresults) / each;
    return most;
}

/* Takes events as take_quick does, by the batch function. */
static int take_batch(struct ct_monitor *m, const struct ct_monitor_event *events, size_t count,
                      size_t *taken)
{
    *taken = 0;
    while (*taken < count && can_take_batch(m)) {
        const size_t most = batch_size(m, count - *taken);
        uint64_t n;
        const uint32_t at = m->native->batch(m, m->cells, events + *taken, most, &n);
        *taken += n;
        m->floor = m->now;
        m->seen[m->only] = m->stamp;
        if (n < BATCH_LEAST)
            m->batch_rest = BATCH_REST;
        if (at != NO_CODE)
            return end_instant(m, at);
        if (n < most)
            break;
    }
    return CT_OK;
}

int ct_monitor_feed(struct ct_monitor *m, const struct ct_monitor_event *events, size_t count)
{
    CT_REQUIRE_OF(m, events || !count);
    int r = ct_mon_run_usable(m);
    if (r)
        return r;
    if (m->doubt)
        r = ct_mon_doubt_settle(m);
    ct_mon_run_adopt(m);
    for (size_t i = 0; i < count && !r; i++) {
        size_t taken;
        r = take_batch(m, events + i, count - i, &taken);
        i += taken;
        if (!r)
            r = take_quick(m, events + i, count - i, &taken);
        i += taken;
        if (r || i == count)
            break;
        struct ct_mon_cell c;
        const struct ct_monitor_event *e = &events[i];
        if (e->input >= m->p->ninputs || e->time > INT64_MAX)
            return ct_fail(m->ctx, CT_ERR_ARG,
                           "monitor: event %zu: its input does not exist, or its time is beyond 2^63-1; the "
                           "event was not taken",
                           i);
        r = event_value(m, e, m->p->inputs[e->input].type, &c);
        if (!r)
            r = ct_mon_doubt_lasts(m) ? ct_mon_doubt_event(m, (int64_t)e->time, e->input, c)
                                      : ct_mon_run_event(m, (int64_t)e->time, e->input, c);
    }
    if (!r)
        ct_mon_run_deliver(m);
    return r;
}

int ct_mon_run_advance(struct ct_monitor *m, int64_t time)
{
    int r = CT_OK;
    if (time > m->floor)
        m->floor = time;
    if (m->open && m->now < time)
        r = ct_mon_run_close(m);
    if (!r && !m->open && time > 0)
        r = run_until(m, time);
    return r;
}

int ct_monitor_advance(struct ct_monitor *m, uint64_t time)
{
    CT_REQUIRE(NULL, m);
    int r = ct_mon_run_usable(m);
    if (r)
        return r;
    if (time > INT64_MAX)
        return ct_fail(m->ctx, CT_ERR_ARG, "monitor: the time is beyond 2^63-1, so it was not taken");
    if ((r = ct_mon_doubt_settle(m)) != CT_OK)
        return r;
    if (ct_mon_doubt_lasts(m))
        return ct_mon_doubt_advance(m, (int64_t)time);
    begin_event(m);
    r = ct_mon_run_advance(m, (int64_t)time);
    if (!r)
        ct_mon_run_deliver(m);
    return r;
}

int ct_monitor_lose(struct ct_monitor *m, const uint8_t *kept)
{
    CT_REQUIRE(NULL, m);
    int r = ct_mon_run_usable(m);
    if (r)
        return r;
    r = ct_mon_doubt_join(m);
    begin_event(m);
    if (!r)
        r = ct_mon_run_close(m);
    if (r)
        return r;
    if (m->doubt) /* from here on, uncertainty is due to the loss */
        m->doubt->blurred = (struct ct_mon_doubt_pair){0};
    if (m->begun && m->floor == m->now && m->now < INT64_MAX)
        m->floor++;
    if (!m->certain && !(m->certain = ct_mon_certain_new(m)))
        return ct_fail_nomem(m->ctx, "monitor");
    ct_mon_certain_lose(m->certain, kept);
    return CT_OK;
}

int ct_monitor_certain(const struct ct_monitor_result *result)
{
    if (!result)
        return 0;
    return !(result->form & CERTAIN_NOT);
}

int ct_monitor_is_big(const struct ct_monitor *m, const struct ct_monitor_result *result)
{
    if (!m || !result)
        return 0;
    return m->p->outputs[result->output].type->kind == TY_INT && (result->form & META_PTR);
}

int ct_monitor_finish(struct ct_monitor *m)
{
    CT_REQUIRE(NULL, m);
    int r = ct_mon_run_usable(m);
    if (r)
        return r;
    r = ct_mon_doubt_settle(m);
    begin_event(m);
    if (!r && !m->begun && !m->open)
        r = run_until(m, 0);
    if (!r)
        r = ct_mon_doubt_lasts(m) ? ct_mon_doubt_close(m) : ct_mon_run_close(m);
    if (!r)
        ct_mon_run_deliver(m);
    m->over = true;
    return r;
}
