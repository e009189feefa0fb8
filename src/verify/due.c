/* SPDX-License-Identifier: Apache-2.0 */
/* Finds which events of a specification are in doubt: those whose interval overlaps that of an event from
 * another source that the same specification takes. A loss overlaps all events that it may precede or
 * follow. */
#include "verify/due.h"

#include <string.h>

#include "base/ctx.h"
#include "base/room.h"
#include "verify/group_run.h"

/* A pending item of a specification: an event for one of its inputs, or a loss. */
struct ct_verify_due {
    struct ct_verify_item item;
    uint32_t input;
    bool lost;
};

static uint64_t behind(uint64_t time)
{
    return time < UINT64_MAX ? time + 1 : UINT64_MAX;
}

#define MOST_AWAITED ((size_t)1 << 16) /* most events kept for a core that may have no trace */

/* Drops the older half of the events kept for a core without steps. They then count as lost. */
static void leave_out(struct ct_verify_spec *s)
{
    const size_t half = (s->due_count - s->due_first) / 2;
    s->due_first += half;
    const struct ct_verify_item *next = &s->due[s->due_first].item;
    s->due[s->due_first] = (struct ct_verify_due){*next, 0, true};
    s->due[s->due_first].item.end = next->begin;
}

static int add(struct ct_verify_spec *s, const struct ct_verify_item *item, uint32_t input, bool lost)
{
    if (s->due_count - s->due_first >= MOST_AWAITED && ct_verify_is_awaited(s))
        leave_out(s);
    if (s->due_count == s->due_cap && s->due_first) {
        memmove(s->due, s->due + s->due_first, (s->due_count - s->due_first) * sizeof *s->due);
        s->due_count -= s->due_first;
        s->due_other -= s->due_other < s->due_first ? s->due_other : s->due_first;
        s->due_first = 0;
    }
    if (!CT_MAKE_ROOM(s->due, s->due_cap, s->due_count + 1))
        return ct_fail_nomem(s->verifier->ctx, "verifier");
    s->due[s->due_count++] = (struct ct_verify_due){*item, input, lost};
    return CT_OK;
}

static int add_losses(struct ct_verifier *v, const struct ct_verify_item *item)
{
    int rc = CT_OK;
    for (size_t i = 0; i < v->fed_count && !rc; i++)
        if (!v->fed[i]->failed && ct_verify_hears(v->fed[i], item->event.source))
            rc = add(v->fed[i], item, 0, true);
    return rc;
}

int ct_verify_due_take(struct ct_verifier *v, const struct ct_verify_item *item)
{
    const struct ct_watch_event *e = &item->event;
    const bool loss = ct_verify_is_loss(e);
    if (loss)
        v->lost_until[e->source] = behind(item->end);
    int rc = loss ? add_losses(v, item) : CT_OK;
    v->due_events++;
    for (uint32_t k = e->watch < v->watch_count ? v->first[e->watch] : 0;
         e->watch < v->watch_count && k < v->first[e->watch + 1] && !rc; k++) {
        const struct ct_verify_target *to = &v->targets[k];
        if (!to->spec->failed && (to->core == CT_VERIFY_ANY_CORE || to->core == v->core_of[e->source])) {
            rc = add(to->spec, item, to->input, false);
            v->came[e->watch] = 1;
        }
    }
    return rc || !loss ? rc : add_losses(v, item);
}

void ct_verify_due_clear(struct ct_verify_spec *s)
{
    s->due_first = s->due_count = 0;
    s->lossy = false;
    s->due_other = s->due_other_source = 0;
    memset(s->events_until, 0, s->verifier->source_count * sizeof *s->events_until);
    for (size_t i = 0; i < s->verifier->source_count; i++) /* a core may have been silent since before the
                                                            * specification began */
        s->lost_until[i] = ct_verify_hears(s, i) ? s->verifier->lost_until[i] : 0;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

static void limit_spec(struct ct_verify_spec *s, uint64_t end)
{
    for (size_t i = s->due_first; i < s->due_count; i++)
        s->due[i].item.end = at_most(s->due[i].item.end, end);
    for (size_t i = 0; i < s->verifier->source_count; i++) {
        s->events_until[i] = at_most(s->events_until[i], end);
        s->lost_until[i] = at_most(s->lost_until[i], end);
    }
}

void ct_verify_due_limit(struct ct_verifier *v, uint64_t end)
{
    for (size_t i = 0; i < v->fed_count; i++)
        limit_spec(v->fed[i], end);
    for (size_t i = 0; i < v->source_count; i++)
        v->lost_until[i] = at_most(v->lost_until[i], end);
}

/* ---- overlaps ---- */

/* Which kinds of items of other sources an event overlaps. */
struct overlaps {
    bool events, losses; /* of other sources */
};

static struct overlaps overlaps_before(const struct ct_verify_spec *s, const struct ct_verify_item *x)
{
    struct overlaps o = {0};
    for (size_t i = 0; i < s->verifier->source_count; i++) {
        if (i == x->event.source)
            continue;
        o.events |= s->events_until[i] > x->begin;
        o.losses |= s->lost_until[i] > x->begin;
    }
    return o;
}

static struct overlaps overlaps_of(struct ct_verify_spec *s, const struct ct_verify_item *x)
{
    struct overlaps o = overlaps_before(s, x);
    /* skips the items of the event's own source up to the first other one, only once */
    if (s->due_other <= s->due_first || s->due_other_source != x->event.source)
        s->due_other = s->due_first + 1;
    s->due_other_source = x->event.source;
    while (s->due_other < s->due_count && s->due[s->due_other].item.event.source == x->event.source)
        s->due_other++;
    for (size_t i = s->due_other; i < s->due_count && !(o.events && o.losses); i++) {
        const struct ct_verify_due *other = &s->due[i];
        if (other->item.begin > x->end)
            break;
        if (other->item.event.source == x->event.source)
            continue;
        o.events |= !other->lost;
        o.losses |= other->lost;
    }
    return o;
}

/* ---- passing on ---- */

/* Passes on an event whose overlaps are known. */
static int give(struct ct_verify_spec *s, const struct ct_verify_due *x, struct overlaps o)
{
    const struct ct_watch_event *e = &x->item.event;
    const struct ct_monitor_span span = {.begin = x->item.begin, .end = x->item.end, .source = e->source};
    const bool same = s->lossy && ct_verify_is_same(s, e, x->item.begin, x->input); /* same instruction */
    int rc = (s->lossy || o.losses) && !same ? ct_verify_lose_before(s, x->item.begin, x->item.begin) : CT_OK;
    if (!rc && !s->failed)
        rc = ct_verify_give(s, e, x->item.begin, x->input, o.events ? &span : NULL);
    if (!s->failed)
        s->lossy = o.losses;
    return rc;
}

/* Returns whether all items that overlap x have come. The end of a loss does not matter: what it means to
 * later events depends on these events. */
static bool is_due(const struct ct_verify_due *x, uint64_t floor)
{
    return floor == UINT64_MAX || (x->lost ? x->item.begin : x->item.end) < floor;
}

/* Passes on the first item; for an event, with its overlaps. If the lead of a group fails, the item was not
 * taken and its members will get it. */
static int give_first(struct ct_verify_spec *s, struct overlaps o)
{
    const struct ct_verify_due x = s->due[s->due_first];
    const size_t source = x.item.event.source;
    const int rc = x.lost ? ct_verify_lose_before(s, x.item.begin, x.item.begin) : give(s, &x, o);
    if (s->failed)
        return rc;
    if (x.lost) {
        s->lossy = false;
        s->lost_until[source] = behind(x.item.end);
    } else {
        s->events_until[source] = behind(x.item.end);
    }
    s->due_first++;
    return rc;
}

static struct overlaps overlaps_of_first(struct ct_verify_spec *s)
{
    const struct ct_verify_due *x = &s->due[s->due_first];
    const struct overlaps none = {0};
    return x->lost ? none : overlaps_of(s, &x->item);
}

/* Returns whether an item is due. */
static bool has_due(const struct ct_verify_spec *s, uint64_t floor)
{
    return s->due_first < s->due_count && is_due(&s->due[s->due_first], floor);
}

static int run_spec(struct ct_verify_spec *s, uint64_t floor)
{
    int rc = CT_OK;
    while (!s->failed && !rc && has_due(s, floor))
        rc = give_first(s, overlaps_of_first(s));
    if (!rc && !s->failed)
        rc = ct_verify_flush(s);
    if (s->failed)
        s->due_first = s->due_count;
    return rc;
}

/* ---- groups ---- */

/* Returns whether to follow the orders of an event in doubt. They are not followed if trace is missing right
 * before it, or before other events in doubt right before it: then everything that the event could change is
 * uncertain anyway, in every specification that takes the same events. */
static bool is_followed(const struct ct_verify_spec *s, const struct ct_verify_due *x, struct overlaps o)
{
    const bool lossy = s->lossy || o.losses;
    return !s->doubtful &&
           !(lossy && !(s->lossy && ct_verify_is_same(s, &x->item.event, x->item.begin, x->input)));
}

/* Passes due items to a group as long as no orders have to be followed. At the first event that requires it,
 * or when the joint run fails, the members continue separately. */
static int run_joint(struct ct_verify_group *g, uint64_t floor)
{
    struct ct_verify_spec *lead = g->lead;
    int rc = CT_OK;
    while (!g->ended && has_due(lead, floor)) {
        const struct overlaps o = overlaps_of_first(lead);
        if (o.events && is_followed(lead, &lead->due[lead->due_first], o))
            return ct_verify_first(rc, ct_verify_group_part(g));
        rc = ct_verify_first(rc, give_first(lead, o));
    }
    return g->ended ? rc : ct_verify_first(rc, ct_verify_group_flush(g));
}

static int run_fed(struct ct_verify_spec *s, uint64_t floor)
{
    struct ct_verify_group *g = s->group;
    int rc = g ? run_joint(g, floor) : run_spec(s, floor);
    for (size_t i = 0; g && g->ended && i < g->member_count; i++)
        if (g->members[i] && !g->members[i]->failed)
            rc = ct_verify_first(rc, run_spec(g->members[i], floor));
    return rc;
}

int ct_verify_due_hand_on(struct ct_verify_spec *s, const struct ct_verify_spec *lead)
{
    const size_t sources = s->verifier->source_count;
    int rc = CT_OK;
    ct_verify_due_clear(s);
    for (size_t i = lead->due_first; i < lead->due_count && !rc; i++) {
        const struct ct_verify_due *x = &lead->due[i];
        for (uint32_t k = 0; k < s->input_count && !x->lost && !rc; k++)
            rc = s->inputs[k] == x->input ? add(s, &x->item, k, false) : CT_OK;
        if (x->lost)
            rc = add(s, &x->item, 0, true);
    }
    s->lossy = lead->lossy;
    memcpy(s->events_until, lead->events_until, sources * sizeof *s->events_until);
    memcpy(s->lost_until, lead->lost_until, sources * sizeof *s->lost_until);
    return rc;
}

int ct_verify_due_take_over(struct ct_verify_spec *lead, const struct ct_verify_spec *s,
                            const uint32_t *inputs)
{
    const size_t sources = s->verifier->source_count;
    int rc = CT_OK;
    ct_verify_due_clear(lead);
    for (size_t i = s->due_first; i < s->due_count && !rc; i++)
        rc = add(lead, &s->due[i].item, s->due[i].lost ? 0 : inputs[s->due[i].input], s->due[i].lost);
    lead->lossy = s->lossy;
    memcpy(lead->events_until, s->events_until, sources * sizeof *s->events_until);
    memcpy(lead->lost_until, s->lost_until, sources * sizeof *s->lost_until);
    return rc;
}

/* Returns whether the pending items of two specifications come from the same events, in the same order. */
static bool same_items(const struct ct_verify_spec *a, const struct ct_verify_spec *b)
{
    const size_t count = a->due_count - a->due_first;
    bool same = b->due_count - b->due_first == count;
    for (size_t i = 0; same && i < count; i++) {
        const struct ct_verify_due *x = &a->due[a->due_first + i];
        const struct ct_verify_due *y = &b->due[b->due_first + i];
        same = x->lost == y->lost && x->item.begin == y->item.begin && x->item.end == y->item.end &&
               x->item.event.source == y->item.event.source && x->item.event.watch == y->item.event.watch &&
               x->item.event.cycle == y->item.event.cycle;
    }
    return same;
}

/* Returns whether two times are equivalent for all later items, none of which begins before `floor`. */
static bool same_until(uint64_t x, uint64_t y, uint64_t floor)
{
    return x == y || (x <= floor && y <= floor);
}

bool ct_verify_due_same(const struct ct_verify_spec *a, const struct ct_verify_spec *b)
{
    if (a == b)
        return true;
    uint64_t floor = a->verifier->due_floor;
    if (a->due_first < a->due_count && a->due[a->due_first].item.begin < floor)
        floor = a->due[a->due_first].item.begin;
    bool same = a->lossy == b->lossy && same_items(a, b);
    for (size_t i = 0; same && i < a->verifier->source_count; i++)
        same = same_until(a->events_until[i], b->events_until[i], floor) &&
               same_until(a->lost_until[i], b->lost_until[i], floor);
    return same;
}

int ct_verify_due_run(struct ct_verifier *v, uint64_t floor)
{
    int first = CT_OK;
    v->due_floor = floor;
    for (size_t i = 0; i < v->fed_count; i++)
        if (!v->fed[i]->failed && !ct_verify_is_awaited(v->fed[i]))
            first = ct_verify_first(first, run_fed(v->fed[i], floor));
    if (v->changed)
        ct_verify_index(v);
    const int rc = first ? CT_OK : ct_verify_regroup(v, v->due_events);
    v->due_events = 0;
    return ct_verify_first(first, rc);
}

int ct_verify_due_end(struct ct_verify_spec *s)
{
    return s->failed || s->due_first == s->due_count ? CT_OK : run_fed(s, UINT64_MAX);
}
