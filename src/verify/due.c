/* SPDX-License-Identifier: Apache-2.0 */
/* Tells which events of a specification are in doubt: those whose intervals overlap one of another source
 * that the same specification takes. A loss is one that overlaps all that it may have come before or behind.
 */
#include "verify/due.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"

/* What is to be given to a specification: an event for one of its inputs, or a loss. */
struct ct_verify_due {
    struct ct_verify_item item;
    uint32_t input;
    bool lost;
};

static int no_memory(const struct ct_verify_spec *s)
{
    return ct_fail_nomem(s->verifier->ctx, "verifier");
}

#define MOST_AWAITED ((size_t)1 << 16) /* events that are kept for a core that may have no trace */

/* Leaves out the older half of what is kept for a core that no step came of, which then counts as lost. */
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
        s->due_first = 0;
    }
    if (s->due_count == s->due_cap) {
        const size_t cap = 2 * s->due_cap + 64;
        struct ct_verify_due *more = realloc(s->due, cap * sizeof *more);
        if (!more)
            return no_memory(s);
        s->due = more;
        s->due_cap = cap;
    }
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
    int rc = loss ? add_losses(v, item) : CT_OK;
    for (uint32_t k = e->watch < v->watch_count ? v->first[e->watch] : 0;
         e->watch < v->watch_count && k < v->first[e->watch + 1] && !rc; k++) {
        const struct ct_verify_target *to = &v->targets[k];
        if (!to->spec->failed && (to->core == CT_VERIFY_ANY_CORE || to->core == v->core_of[e->source]))
            rc = add(to->spec, item, to->input, false);
    }
    return rc || !loss ? rc : add_losses(v, item);
}

void ct_verify_due_clear(struct ct_verify_spec *s)
{
    s->due_first = s->due_count = 0;
    s->lossy = false;
    s->due_other = s->due_other_source = 0;
    memset(s->events_until, 0, s->verifier->source_count * sizeof *s->events_until);
    memset(s->lost_until, 0, s->verifier->source_count * sizeof *s->lost_until);
}

/* ---- overlaps ---- */

/* What an event may have come before or behind. */
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
    /* those of its own source up to the first other one need to be passed over once only */
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

/* ---- giving ---- */

/* Gives an event of which it is known what it overlaps. */
static int give(struct ct_verify_spec *s, const struct ct_verify_due *x, struct overlaps o)
{
    const struct ct_watch_event *e = &x->item.event;
    const struct ct_monitor_span span = {.begin = x->item.begin, .end = x->item.end, .source = e->source};
    const bool same = s->lossy && ct_verify_is_same(s, e, x->item.begin, x->input); /* of one instruction */
    int rc = (s->lossy || o.losses) && !same ? ct_verify_lose_before(s, x->item.begin, x->item.begin) : CT_OK;
    if (!rc)
        rc = ct_verify_give(s, e, x->item.begin, x->input, o.events ? &span : NULL);
    s->lossy = o.losses;
    return rc;
}

static int run_spec(struct ct_verify_spec *s, uint64_t floor)
{
    int rc = CT_OK;
    while (s->due_first < s->due_count && !s->failed && !rc) {
        const struct ct_verify_due x = s->due[s->due_first];
        const size_t source = x.item.event.source;
        if (x.item.end >= floor && floor != UINT64_MAX)
            break;
        if (x.lost) {
            rc = ct_verify_lose_before(s, x.item.begin, x.item.begin);
            s->lossy = false;
            s->lost_until[source] = x.item.end < UINT64_MAX ? x.item.end + 1 : UINT64_MAX;
        } else {
            rc = give(s, &x, overlaps_of(s, &x.item));
            s->events_until[source] = x.item.end < UINT64_MAX ? x.item.end + 1 : UINT64_MAX;
        }
        s->due_first++;
    }
    if (!rc && !s->failed)
        rc = ct_verify_flush(s);
    if (s->failed)
        s->due_first = s->due_count;
    return rc;
}

int ct_verify_due_run(struct ct_verifier *v, uint64_t floor)
{
    int first = CT_OK;
    for (size_t i = 0; i < v->fed_count; i++)
        if (!v->fed[i]->failed && !ct_verify_is_awaited(v->fed[i]))
            first = ct_verify_first(first, run_spec(v->fed[i], floor));
    return first;
}

int ct_verify_due_end(struct ct_verify_spec *s)
{
    return s->failed || s->due_first == s->due_count ? CT_OK : run_spec(s, UINT64_MAX);
}
