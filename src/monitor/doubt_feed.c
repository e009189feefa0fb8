/* SPDX-License-Identifier: Apache-2.0 */
/* Events that carry the interval in which they happened. */
#include "monitor/doubt.h"

#include "base/require.h"

static int refuse(struct ct_monitor *m, size_t index, const char *why)
{
    return ct_fail(m->ctx, CT_ERR_ARG, "monitor: event %zu with uncertain order %s; the event was not taken",
                   index, why);
}

static bool is_plain(const struct ct_mon_type *type)
{
    return type->kind == TY_INT || type->kind == TY_BOOL || type->kind == TY_FLOAT ||
           type->kind == TY_STRING || (type->kind == TY_RECORD && !type->n);
}

/* Checks an event. Its span may not begin before `begin`. */
static int check(struct ct_monitor *m, const struct ct_monitor_event *e, const struct ct_monitor_span *span,
                 size_t index, uint64_t begin)
{
    if (e->input >= m->p->ninputs || e->time > INT64_MAX)
        return refuse(m, index, "names an input that does not exist, or its time is beyond 2^63-1");
    if (!is_plain(m->p->inputs[e->input].type))
        return refuse(m, index,
                      "belongs to an input whose values are neither Unit, Int, Bool, Float nor String");
    if (span->end < span->begin || span->begin < begin)
        return refuse(m, index,
                      "has a time span that ends before it begins, or that begins before the span of the "
                      "previous event");
    return CT_OK;
}

static uint64_t last_begin(const struct ct_monitor *m)
{
    const struct ct_mon_doubt *d = m->doubt;
    return d && d->count ? d->window[d->count - 1].span.begin : 0;
}

int ct_monitor_feed_doubtful(struct ct_monitor *m, const struct ct_monitor_event *events,
                             const struct ct_monitor_span *spans, size_t count)
{
    CT_REQUIRE_OF(m, (events && spans) || !count);
    uint64_t begin = last_begin(m);
    int rc = ct_mon_run_usable(m);
    for (size_t i = 0; i < count && !rc; i++) {
        rc = check(m, &events[i], &spans[i], i, begin);
        begin = spans[i].begin;
    }
    for (size_t first = 0, end; first < count && !rc; first = end) {
        for (end = first + 1; end < count && events[end].time == events[first].time;)
            end++;
        rc = ct_mon_doubt_take(m, events + first, end - first, &spans[first]);
    }
    if (!rc)
        ct_mon_run_deliver(m);
    return rc;
}

int ct_monitor_seal(struct ct_monitor *m, uint64_t begin)
{
    CT_REQUIRE(NULL, m);
    if (m->doubt && !m->over)
        ct_mon_doubt_seal(m, begin);
    return CT_OK;
}

int ct_monitor_possible(const struct ct_monitor_result *result)
{
    return result && (result->form & CERTAIN_POSSIBLE) != 0;
}

int ct_monitor_doubted(const struct ct_monitor *m, const struct ct_monitor_result *result, uint64_t tags[2])
{
    CT_REQUIRE_OF(m, result, tags);
    const struct ct_mon_doubt *d = m->doubt;
    if (!d || ct_monitor_certain(result))
        return CT_ERR_NOT_FOUND;
    const struct ct_mon_doubt_pair *pair = d->given.named ? &d->given : &d->blurred;
    tags[0] = pair->tags[0];
    tags[1] = pair->tags[1];
    return pair->named ? CT_OK : CT_ERR_NOT_FOUND;
}

int ct_monitor_followed(const struct ct_monitor *m)
{
    return m && !(m->doubt && m->doubt->unfollowed);
}

static bool has(const struct ct_mon_doubt_pair *pair, uint64_t tag)
{
    return pair->named && (pair->tags[0] == tag || pair->tags[1] == tag);
}

int ct_monitor_remembers(const struct ct_monitor *m, uint64_t tag)
{
    if (!m || !m->doubt)
        return 0;
    const struct ct_mon_doubt *d = m->doubt;
    bool found = has(&d->blurred, tag);
    for (size_t i = 0; i < d->count && !found; i++)
        found = d->window[i].span.tag == tag;
    for (size_t i = 0; i < d->world_count && !found; i++)
        found = has(&d->worlds[i].pair, tag);
    for (size_t i = 0; i < d->count && !found; i++)
        for (size_t k = 0; k < d->window[i].results.count && !found; k++)
            found = has(&d->window[i].results.all[k].pair, tag);
    return found;
}
