/* SPDX-License-Identifier: Apache-2.0 */
/* Streams after a loss. For every stream this file tracks which value it may hold, and whether it may have an
 * event now and with which value, over all runs that got the same events as this run plus, where events were
 * lost, any others. Operators apply their definitions (docs/tessla-language.md A.2, A.3) to these
 * possibilities. A stream is certain again as soon as everything its event was computed from is certain. Runs
 * that end in a runtime error are ignored. */
#include "monitor/certain.h"
#include "monitor/doubt.h"

/* rounds of unseen instants that are evaluated; a stream that still changes after them may hold anything */
enum {
    ROUNDS = 4,
    STREAM_WORK = 60, /* units of work for one stream at one instant */
};

/* Returns whether the run itself has an event of the stream at this instant. */
static bool in_run(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    return !c->unseen && certain_cell(c, s)->stamp == c->m->stamp;
}

/* Returns the run's event at this instant, marked as one that every other run has, too. */
static struct ct_mon_shade_event as_in_run(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    if (!in_run(c, s))
        return certain_no_event();
    return (struct ct_mon_shade_event){
        .occurs = OCCURS, .sure = true, .value = ct_mon_guess_cell(s->type, *certain_cell(c, s))};
}

static struct ct_mon_shade_event event(const struct ct_mon_certain *c, const struct ct_mon_node *s,
                                       enum ct_mon_occurs occurs, struct ct_mon_guess value)
{
    if (occurs == OCCURS_NOT)
        return certain_no_event();
    const bool sure = !c->unseen && occurs == OCCURS && ct_mon_guess_single(s->type, &value);
    return (struct ct_mon_shade_event){.occurs = (uint8_t)occurs, .sure = sure, .value = value};
}

static const struct ct_mon_shade_event *now(const struct ct_mon_certain *c, const struct ct_mon_node *s,
                                            uint32_t arg)
{
    return &c->now[s->args[arg]->order];
}

static const struct ct_mon_shade *held(const struct ct_mon_certain *c, const struct ct_mon_node *s,
                                       uint32_t arg)
{
    return &c->held[s->args[arg]->order];
}

static struct ct_mon_guess held_value(const struct ct_mon_certain *c, const struct ct_mon_node *s,
                                      uint32_t arg)
{
    const struct ct_mon_shade *h = held(c, s, arg);
    return h->sure && h->ever && !c->unseen
               ? ct_mon_guess_cell(s->args[arg]->type, *certain_cell(c, s->args[arg]))
               : h->value;
}

/* ---- operators ---- */

static struct ct_mon_shade_event source(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    if (in_run(c, s) && c->maybe)
        return event(c, s, OCCURS_MAYBE, ct_mon_guess_cell(s->type, *certain_cell(c, s)));
    if (in_run(c, s))
        return as_in_run(c, s);
    const bool lost = c->losing && !c->kept[s->index];
    return lost ? event(c, s, OCCURS_MAYBE, ct_mon_guess_any(s->type, false)) : certain_no_event();
}

static struct ct_mon_shade_event expiry(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    const struct ct_mon_shade_timer *t = &c->timers[s->index];
    if (t->sure || (!c->unseen && t->until < c->to))
        return as_in_run(c, s);
    return event(c, s, OCCURS_MAYBE, ct_mon_guess_range(0, 0));
}

/* Returns a's event, or `other` where a has none. Either may be uncertain. */
static struct ct_mon_shade_event either(const struct ct_mon_certain *c, const struct ct_mon_node *s,
                                        const struct ct_mon_shade_event *a,
                                        const struct ct_mon_shade_event *other)
{
    if (a->occurs == OCCURS || other->occurs == OCCURS_NOT)
        return *a;
    if (a->occurs == OCCURS_NOT)
        return *other;
    return event(c, s, other->occurs, ct_mon_guess_join(&a->value, &other->value));
}

static struct ct_mon_shade_event with_default(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    if (c->to > 0 || c->unseen)
        return *now(c, s, 0);
    const struct ct_mon_shade_event value = event(c, s, OCCURS, ct_mon_guess_cell(s->type, s->value));
    return either(c, s, now(c, s, 0), &value);
}

static struct ct_mon_shade_event default_from(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    const enum ct_mon_occurs first = certain_exists(&c->held[s->order]);
    struct ct_mon_shade_event other = *now(c, s, 1);
    if (first == OCCURS)
        other = certain_no_event();
    else if (first == OCCURS_MAYBE)
        other.occurs = (uint8_t)certain_both(other.occurs, OCCURS_MAYBE);
    return either(c, s, now(c, s, 0), &other);
}

static struct ct_mon_shade_event last(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    const struct ct_mon_shade *v = &c->before[s->args[0]->order];
    return event(c, s, certain_both(now(c, s, 1)->occurs, certain_exists(v)), v->value);
}

static struct ct_mon_shade_event lift(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    struct ct_mon_guess params[8];
    enum ct_mon_occurs called = OCCURS_NOT;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct ct_mon_shade_event *e = now(c, s, i);
        called = e->occurs > called ? e->occurs : called;
        params[i] = ct_mon_guess_option(&e->value, e->occurs != OCCURS, e->occurs != OCCURS_NOT);
    }
    if (called == OCCURS_NOT)
        return certain_no_event();
    struct ct_mon_guess result = ct_mon_guess_eval(&c->m->heap, s->kernel, params);
    const enum ct_mon_occurs given = !result.some                  ? OCCURS_NOT
                                     : result.none || result.error ? OCCURS_MAYBE
                                                                   : OCCURS;
    result.none = false;
    return event(c, s, certain_both(called, given), ct_mon_guess_payload(s->type, &result));
}

static struct ct_mon_shade_event signal_lift(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    struct ct_mon_guess params[8];
    enum ct_mon_occurs occurs = OCCURS_NOT;
    for (uint32_t i = 0; i < s->n; i++)
        occurs = now(c, s, i)->occurs > occurs ? now(c, s, i)->occurs : occurs;
    for (uint32_t i = 0; i < s->n; i++) {
        occurs = certain_both(occurs, certain_exists(held(c, s, i)));
        params[i] = held_value(c, s, i);
    }
    return occurs == OCCURS_NOT ? certain_no_event()
                                : event(c, s, occurs, ct_mon_guess_eval(&c->m->heap, s->kernel, params));
}

static struct ct_mon_shade_event filter(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    const struct ct_mon_shade *condition = held(c, s, 1);
    enum ct_mon_occurs passes = certain_exists(condition);
    if (passes != OCCURS_NOT && condition->value.lo == 0)
        passes = condition->value.hi == 0 ? OCCURS_NOT : OCCURS_MAYBE;
    return event(c, s, certain_both(now(c, s, 0)->occurs, passes), now(c, s, 0)->value);
}

static struct ct_mon_shade_event folded(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    const struct ct_mon_shade_event *x = now(c, s, 0);
    const struct ct_mon_shade *before = &c->held[s->order];
    const bool zero = c->to == 0 && !c->unseen;
    const struct ct_mon_guess init = s->kind == N_FOLD ? ct_mon_guess_cell(s->type, s->value) : x->value;
    if (x->occurs == OCCURS_NOT)
        return s->kind == N_FOLD && zero ? event(c, s, OCCURS, init) : certain_no_event();
    struct ct_mon_guess value = init;
    const struct ct_mon_guess params[] = {s->kind == N_FOLD && zero ? init : before->value, x->value};
    if (before->ever || (s->kind == N_FOLD && zero))
        value = ct_mon_guess_eval(&c->m->heap, s->kernel, params);
    if (s->kind == N_REDUCE && before->ever && before->never)
        value = ct_mon_guess_join(&value, &init);
    if (s->kind == N_FOLD && zero && x->occurs == OCCURS_MAYBE)
        value = ct_mon_guess_join(&value, &init);
    return event(c, s, s->kind == N_FOLD && zero ? OCCURS : x->occurs, value);
}

static struct ct_mon_shade_event pure(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    const struct ct_mon_shade_event *x = now(c, s, 0);
    const struct ct_mon_shade *before = &c->held[s->order];
    enum ct_mon_occurs changes = !before->ever ? OCCURS : OCCURS_MAYBE;
    if (ct_mon_guess_single(s->type, &x->value) && ct_mon_guess_single(s->type, &before->value) &&
        !before->never)
        changes = x->value.lo == before->value.lo ? OCCURS_NOT : OCCURS;
    return event(c, s, certain_both(x->occurs, changes), x->value);
}

static struct ct_mon_shade_event instant_of(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    return event(c, s, now(c, s, 0)->occurs, ct_mon_guess_range(c->unseen ? c->from : c->to, c->to));
}

/* Returns whether the run computed this event only from values that every other run had, too. */
static bool made_of_sure(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    if (c->unseen)
        return false;
    for (uint32_t i = s->kind == N_LAST; i < s->n; i++) {
        if (!now(c, s, i)->sure)
            return false;
        if ((s->kind == N_SLIFT || i > 0) && (s->kind == N_SLIFT || s->kind == N_ON || s->kind == N_FILTER) &&
            !held(c, s, i)->sure)
            return false;
    }
    if (s->kind == N_LAST)
        return c->before[s->args[0]->order].sure;
    return s->kind == N_TIME || s->kind == N_LIFT || s->kind == N_SLIFT || s->kind == N_MERGE ||
           s->kind == N_FILTER || s->kind == N_ON || s->kind == N_DEFAULT || c->held[s->order].sure;
}

static struct ct_mon_shade_event operator_event(struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    switch (s->kind) {
    case N_INPUT:
        return source(c, s);
    case N_DELAY:
        return expiry(c, s);
    case N_MONITOR:
        return ct_mon_certain_step(c, s);
    case N_NIL:
    case N_REF:
    case N_OPAQUE:
        return certain_no_event();
    case N_TICK:
        return c->unseen || c->maybe ? event(c, s, OCCURS_MAYBE, ct_mon_guess_range(0, 0)) : as_in_run(c, s);
    default:
        break;
    }
    if (made_of_sure(c, s))
        return as_in_run(c, s);
    switch (s->kind) {
    case N_DEFAULT:
        return with_default(c, s);
    case N_DEFAULT_FROM:
        return default_from(c, s);
    case N_TIME:
        return instant_of(c, s);
    case N_LAST:
        return last(c, s);
    case N_LIFT:
        return lift(c, s);
    case N_SLIFT:
        return signal_lift(c, s);
    case N_MERGE:
        return either(c, s, now(c, s, 0), now(c, s, 1));
    case N_FILTER:
        return filter(c, s);
    case N_ON:
        return event(c, s, certain_both(now(c, s, 0)->occurs, certain_exists(held(c, s, 1))),
                     held(c, s, 1)->value);
    case N_PURE:
        return pure(c, s);
    default:
        return folded(c, s);
    }
}

/* ---- instants ---- */

static struct ct_mon_shade joined(const struct ct_mon_node *s, const struct ct_mon_shade *before,
                                  const struct ct_mon_shade_event *e)
{
    struct ct_mon_shade h = *before;
    h.value = before->ever ? ct_mon_guess_join(&before->value, &e->value) : e->value;
    h.value.known = false;
    h.ever = true;
    h.sure = !h.never && ct_mon_guess_single(s->type, &h.value);
    return h;
}

/* Returns what the stream may hold after this instant. */
static struct ct_mon_shade held_after(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    const struct ct_mon_shade_event *e = &c->now[s->order];
    const struct ct_mon_shade *before = &c->held[s->order];
    if (s->kind == N_MONITOR)
        return ct_mon_certain_verdict(c, s);
    if (s->kind == N_PURE && !c->unseen) /* also when nothing changed and there is no event */
        e = now(c, s, 0);
    if (e->occurs == OCCURS_NOT)
        return *before;
    if (e->occurs == OCCURS_MAYBE || c->unseen)
        return joined(s, before, e);
    struct ct_mon_shade h = {
        .sure = e->sure || ct_mon_guess_single(s->type, &e->value), .ever = true, .value = e->value};
    h.value.known = false; /* the garbage collector may move its object before the next instant */
    return h;
}

static void timer_after(struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    struct ct_mon_shade_timer *t = &c->timers[s->index];
    const struct ct_mon_shade_event *amount = now(c, s, 0);
    const int64_t due = c->m->timers[s->index];
    enum ct_mon_occurs set = now(c, s, 1)->occurs;
    set = c->now[s->order].occurs > set ? c->now[s->order].occurs : set;
    if (set == OCCURS && amount->sure && !c->unseen) {
        t->sure = true;
    } else if (set != OCCURS_NOT) {
        int64_t until = c->to;
        if (amount->occurs != OCCURS_NOT && __builtin_add_overflow(c->to, amount->value.hi, &until))
            until = INT64_MAX;
        until = until > t->due ? until : t->due;
        until = until > due ? until : due;
        t->until = t->sure || until > t->until ? until : t->until;
        t->sure = false;
    }
    if (!c->unseen) {
        t->sure |= t->until < c->to && due < 0;
        t->due = due;
    }
}

/* Evaluates a stream from the values that streams held and from the events of this instant. */
static void evaluate(struct ct_mon_certain *c, uint32_t stream)
{
    const struct ct_mon_node *s = c->order->nodes[stream];
    struct ct_mon_shade *held = &c->held[stream];
    const bool was_sure = held->sure;
    if (c->track.roles[stream] == TRACK_RUN && !c->unseen) {
        c->now[stream] = as_in_run(c, s);
        if (s->kind == N_MONITOR)
            ct_mon_certain_states_hold(c, s);
        else if (c->now[stream].occurs == OCCURS_NOT)
            return;
    } else {
        c->now[stream] = operator_event(c, s);
    }
    *held = held_after(c, s);
    c->track.settled |= held->sure && !was_sure;
}

/* Evaluates the tracked streams in `list`: all of them, or those that an event of one input can reach. */
static void step(struct ct_mon_certain *c, const uint32_t *list, size_t count)
{
    if (!heap_spend(&c->m->heap, STREAM_WORK * count))
        return;
    for (size_t i = 0; i < count; i++)
        if ((c->maybe && !c->unseen) || !ct_mon_quick_step(c, list[i]))
            evaluate(c, list[i]);
    for (size_t i = 0; i < count && c->m->p->ntimers; i++)
        if (c->order->nodes[list[i]]->kind == N_DELAY)
            timer_after(c, c->order->nodes[list[i]]);
}

/* Ends an instant: no stream has an event any more, and `before` becomes what each stream holds. */
static void end_step(struct ct_mon_certain *c, const uint32_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        c->now[list[i]].occurs = OCCURS_NOT;
        c->now[list[i]].sure = true;
        if (c->track.before_read[list[i]])
            c->before[list[i]] = c->held[list[i]];
    }
}

static bool same(const struct ct_mon_shade *a, const struct ct_mon_shade *b)
{
    return a->sure == b->sure && a->never == b->never && a->ever == b->ever &&
           a->value.error == b->value.error && a->value.none == b->value.none &&
           a->value.some == b->value.some && a->value.lo == b->value.lo && a->value.hi == b->value.hi;
}

/* Evaluates instants that the run did not see, until one more would change nothing. */
static void unseen_instants(struct ct_mon_certain *c)
{
    const struct ct_mon_track *t = &c->track;
    bool changed = true;
    c->unseen = true;
    if (c->losing)
        ct_mon_formulas_step(c);
    for (unsigned round = 0; changed && !c->m->heap.exhausted; round++) {
        for (size_t i = 0; i < t->count; i++)
            c->before[t->list[i]] = c->held[t->list[i]];
        c->states_changed = false;
        step(c, t->list, t->count);
        changed = c->states_changed;
        for (size_t i = 0; i < t->count; i++) {
            const uint32_t stream = t->list[i];
            if (same(&c->held[stream], &c->before[stream]))
                continue;
            changed = true;
            if (round < ROUNDS || c->order->nodes[stream]->kind == N_MONITOR)
                continue;
            c->held[stream].value = ct_mon_guess_any(c->order->nodes[stream]->type, true);
            c->held[stream].sure = false;
        }
        end_step(c, t->list, t->count);
    }
    c->unseen = false;
}

static bool timers_sure(const struct ct_mon_certain *c)
{
    for (size_t i = 0; i < c->m->p->ntimers; i++)
        if (!c->timers[i].sure)
            return false;
    return true;
}

bool ct_mon_certain_stream_sure(const struct ct_mon_certain *c, uint32_t stream)
{
    const struct ct_mon_node *s = c->order->nodes[stream];
    if (!ct_mon_certain_follows(c, stream))
        return true;
    if (s->kind == N_DELAY && !c->timers[s->index].sure)
        return false;
    return s->kind == N_MONITOR ? ct_mon_certain_states_sure(c, s) : c->held[stream].sure;
}

bool ct_mon_certain_stream_same(const struct ct_mon_certain *a, uint32_t x, const struct ct_mon_certain *b,
                                uint32_t y)
{
    const struct ct_mon_node *s = a->order->nodes[x];
    const struct ct_mon_node *t = b->order->nodes[y];
    if (!ct_mon_certain_follows(a, x) || !ct_mon_certain_follows(b, y))
        return ct_mon_certain_stream_sure(a, x) && ct_mon_certain_stream_sure(b, y);
    return s->kind == N_MONITOR ? ct_mon_certain_states_same(a, s, b, t) : same(&a->held[x], &b->held[y]);
}

void ct_mon_certain_stream_copy(struct ct_mon_certain *to, uint32_t stream, const struct ct_mon_certain *from,
                                uint32_t number)
{
    const struct ct_mon_node *s = to->order->nodes[stream];
    const struct ct_mon_node *t = from->order->nodes[number];
    to->track.settled = true;
    to->from = from->from < to->from ? from->from : to->from;
    if (!ct_mon_certain_follows(from, number))
        return;
    to->held[stream] = from->held[number];
    if (s->kind == N_DELAY)
        to->timers[s->index] = from->timers[t->index];
    if (s->kind == N_MONITOR) {
        ct_mon_certain_states_copy(to, s, from, t);
        to->held[stream] = ct_mon_certain_verdict(to, s);
    }
    to->before[stream] = to->held[stream];
}

/* Returns whether a result is certain: that the event certain_exists or, for a signal, that it has this value
 * from now on. */
static bool result_sure(const struct ct_mon_certain *c, const struct ct_mon_node *s)
{
    const bool signal = s->kind == N_PURE || (s->kind == N_MONITOR && s->changes_only);
    if (c->formulas.is_one[s->order])
        return ct_mon_certain_verdict(c, s).sure && (signal || !c->maybe);
    return signal ? c->held[s->order].sure : c->now[s->order].sure;
}

static void mark_results(const struct ct_mon_certain *c)
{
    struct ct_monitor *m = c->m;
    for (size_t i = m->instant_first; i < m->nresults; i++) {
        const struct ct_mon_node *s = m->spec->elab.outputs[m->results[i].output].node;
        const bool unsure =
            c->formulas.is_one[s->order] ? c->formulas.followed : c->track.roles[s->order] == TRACK_UNSURE;
        if (unsure && !result_sure(c, s))
            m->results[i].form |= CERTAIN_NOT;
    }
}

bool ct_mon_certain_instant(struct ct_mon_certain *c)
{
    struct ct_monitor *m = c->m;
    const struct ct_mon_track *t = &c->track;
    const uint32_t *list = t->list;
    size_t count = t->count;
    c->to = m->now;
    const bool lost = c->losing;
    if (c->to > 0 && (c->losing || !timers_sure(c)))
        unseen_instants(c);
    /* a loss lasts until an input has an event; timer events fall within it */
    for (size_t i = 0; i < m->p->ninputs && c->losing; i++)
        c->losing = m->seen[i] != m->stamp;
    if (c->to > 0 && !m->p->ntimers && m->sources == 1 && !m->plain_losses && !c->maybe) {
        list = t->lists + t->first[m->only];
        count = t->first[m->only + 1] - t->first[m->only];
    }
    step(c, list, count);
    ct_mon_formulas_step(c);
    mark_results(c);
    end_step(c, list, count);
    c->from = c->to;
    c->track.settled |= lost && !c->losing;
    return !c->track.settled || c->losing || ct_mon_track_less(c, lost);
}
