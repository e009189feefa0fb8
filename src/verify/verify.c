/* SPDX-License-Identifier: Apache-2.0 */
/* Runs specifications along a trace: takes events of watchpoints, gives results with their places. */
#include "verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"

#define VALUE_MAX 500

/* ---- results ---- */

static bool is_violation(const struct ct_verify_output *out, const struct ct_monitor_result *result,
                         const char *value)
{
    switch (out->rule) {
    case CT_VERIFY_FALSE:
        return result->v.i == (out->stream.type == CT_MONITOR_VERDICT ? CT_MONITOR_FALSE : 0);
    case CT_VERIFY_TRUE:
        return result->v.i != 0;
    case CT_VERIFY_EACH:
        return true;
    case CT_VERIFY_TEXT:
        return strcmp(out->wanted, value) == 0;
    default:
        return false;
    }
}

/* Tells whether trace that is missing could have changed a result. */
static bool is_uncertain(const struct ct_verify_spec *s, const struct ct_monitor_result *result)
{
    const uint64_t forget = s->verifier->options.forget;
    if (!forget || !s->lost)
        return !ct_monitor_certain(result);
    const bool forgotten = result->time > s->lost_last && result->time - s->lost_last >= forget;
    return !ct_monitor_certain(result) && !forgotten;
}

/* Returns the value in "TIME: NAME = VALUE\n". */
static const char *value_text(const struct ct_verify_spec *s, const struct ct_monitor_result *result,
                              const struct ct_verify_output *out, char room[VALUE_MAX + 1])
{
    char line[VALUE_MAX + 320];
    size_t done;
    size_t size = ct_monitor_print(s->monitor, result, 1, line, sizeof line, &done);
    if (!done)
        return "(too long to be shown)";
    size_t skip = 0;
    if (!out->stream.raw) {
        const size_t name = strlen(out->stream.name);
        while (skip < size && line[skip] != ':')
            skip++;
        skip += 2 + name + 3;
    }
    size -= size && line[size - 1] == '\n';
    size = skip < size ? size - skip : 0;
    size = size < VALUE_MAX ? size : VALUE_MAX;
    memcpy(room, line + skip, size);
    room[size] = '\0';
    return room;
}

static void on_results(void *user, const struct ct_monitor_result *results, size_t count)
{
    struct ct_verify_spec *s = user;
    const struct ct_verifier *v = s->verifier;
    char room[VALUE_MAX + 1];
    for (size_t i = 0; i < count; i++) {
        const struct ct_verify_output *out = &s->outputs[results[i].output];
        while (s->cursor < s->place_count && s->places[s->cursor].time <= results[i].time)
            s->cursor++;
        const size_t before = s->cursor ? s->cursor - 1 : 0;
        const size_t told = before < v->options.history ? before : v->options.history;
        struct ct_verify_result result = {
            .time = results[i].time,
            .place = s->cursor ? &s->places[before] : NULL,
            .before = s->places + (before - told),
            .before_count = told,
            .name = out->stream.name,
            .value = value_text(s, &results[i], out, room),
            .spec = s->number,
            .output = results[i].output,
            .type = out->stream.type,
            .big = out->stream.type == CT_MONITOR_INT && ct_monitor_is_big(s->monitor, &results[i]),
            .number = results[i].v,
        };
        result.violation = is_violation(out, &results[i], result.value);
        result.uncertain = is_uncertain(s, &results[i]);
        v->fn(v->user, &result);
    }
}

/* ---- events ---- */

/* Notes why a specification failed. It takes no more events, and its memory is freed. */
static int failed(struct ct_verify_spec *s, int rc)
{
    snprintf(s->failure, sizeof s->failure, "%.120s: %.270s", s->name, ct_ctx_error(s->verifier->ctx));
    s->failed = true;
    ct_monitor_free(s->monitor);
    s->monitor = NULL;
    return ct_fail(s->verifier->ctx, rc, "%s", s->failure);
}

/* Feeds the events that wait, and keeps the places that later results may need. */
static int flush(struct ct_verify_spec *s)
{
    const int rc = ct_monitor_feed(s->monitor, s->waiting, s->waiting_count);
    const size_t keep = (size_t)s->verifier->options.history + 1;
    s->waiting_count = 0;
    if (s->place_count > keep) {
        const size_t drop = s->place_count - keep;
        memmove(s->places, s->places + drop, keep * sizeof *s->places);
        s->place_count = keep;
        s->cursor -= s->cursor < drop ? s->cursor : drop;
    }
    return rc ? failed(s, rc) : CT_OK;
}

static uint64_t clock_of(const struct ct_verifier *v, const struct ct_watch_event *e)
{
    const struct ct_verify_options *o = &v->options;
    const uint64_t tick = o->clock == CT_VERIFY_TIMESTAMPS ? (e->has_timestamp ? e->timestamp : 0) : e->cycle;
    if (!o->ticks || !o->ticks_to)
        return tick;
    const unsigned __int128 time = (unsigned __int128)tick * o->ticks_to / o->ticks;
    return time > INT64_MAX ? (uint64_t)INT64_MAX : (uint64_t)time;
}

/* Returns the time of an event: that of the current instant if it is of the same instruction, else a new
 * one. */
static uint64_t instant(struct ct_verify_spec *s, const struct ct_watch_event *e, uint32_t input)
{
    const uint64_t tick = clock_of(s->verifier, e);
    const bool same = s->number_of_instant && !s->broken && tick == s->tick && e->value == s->value &&
                      s->used[input] != s->number_of_instant;
    if (!same) {
        s->broken = false;
        s->time = s->number_of_instant && tick <= s->time ? s->time + 1 : tick;
        s->number_of_instant++;
        s->tick = tick;
        s->value = e->value;
    }
    s->used[input] = s->number_of_instant;
    return s->time;
}

static int64_t number_of(const struct ct_watch_event *e)
{
    const bool numbered =
        e->kind == CT_WATCH_EXCEPTION || e->kind == CT_WATCH_GAP || e->kind == CT_WATCH_OVERFLOW;
    return (int64_t)(numbered ? e->number : e->value);
}

static int take(struct ct_verify_spec *s, const struct ct_watch_event *e, uint32_t input)
{
    const int rc = s->waiting_count == CT_VERIFY_WAITING ? flush(s) : CT_OK;
    if (rc)
        return rc;
    const uint64_t time = instant(s, e, input);
    struct ct_monitor_event *to = &s->waiting[s->waiting_count++];
    *to = (struct ct_monitor_event){.time = time, .input = input};
    if (s->types[input] == CT_MONITOR_INT)
        to->v.i = number_of(e);
    s->places[s->place_count++] = (struct ct_verify_place){time, *e};
    return CT_OK;
}

/* Returns the first error of two. */
static int keep_first(int first, int rc)
{
    return first ? first : rc;
}

/* Ends the current instant, because events were lost here. */
static int lose_in(struct ct_verify_spec *s, uint64_t tick)
{
    int rc = flush(s);
    if (!rc && tick > s->time) /* the first instant, 0, has ended before too */
        rc = ct_monitor_advance(s->monitor, s->time + 1);
    if (!rc)
        rc = ct_monitor_lose(s->monitor, s->kept);
    if (rc && !s->failed)
        rc = failed(s, rc);
    s->lost_last = tick > s->time ? tick : s->time;
    s->lost = s->broken = true;
    return rc;
}

static int lose(struct ct_verifier *v, const struct ct_watch_event *e)
{
    int first = CT_OK;
    for (size_t i = 0; i < v->spec_count; i++) {
        struct ct_verify_spec *s = v->specs[i];
        const int rc = s && !s->failed ? lose_in(s, clock_of(v, e)) : CT_OK;
        first = keep_first(first, rc);
    }
    return first;
}

static bool is_loss(const struct ct_watch_event *e)
{
    return e->kind == CT_WATCH_GAP || e->kind == CT_WATCH_OVERFLOW || e->kind == CT_WATCH_NO_ACCESS;
}

/* Gives an event to the specifications that want it. After an error the others go on; the first error is
 * returned. */
static int give(struct ct_verifier *v, const struct ct_watch_event *e)
{
    int first = CT_OK;
    if (e->watch >= v->watch_count) /* watched for somebody else, since the specifications were bound */
        return CT_OK;
    for (uint32_t k = v->first[e->watch]; k < v->first[e->watch + 1]; k++) {
        struct ct_verify_spec *s = v->specs[v->links[k].spec];
        const int rc = s->failed ? CT_OK : take(s, e, v->links[k].input);
        first = keep_first(first, rc);
    }
    return first;
}

int ct_verifier_feed(struct ct_verifier *v, const struct ct_watch_event *events, size_t count)
{
    if (!v || (!events && count))
        return CT_ERR_ARG;
    int first = CT_OK;
    for (size_t i = 0; i < count; i++) {
        const bool loss = is_loss(&events[i]);
        if (loss) /* what is missing may lie on both sides of the event that tells of it */
            first = keep_first(first, lose(v, &events[i]));
        first = keep_first(first, give(v, &events[i]));
        if (loss)
            first = keep_first(first, lose(v, &events[i]));
    }
    for (size_t i = 0; i < v->spec_count; i++) {
        const int rc = v->specs[i] && !v->specs[i]->failed ? flush(v->specs[i]) : CT_OK;
        first = keep_first(first, rc);
    }
    return first;
}

const char *ct_verifier_failure(const struct ct_verifier *v, uint32_t number)
{
    if (!v)
        return NULL;
    const struct ct_verify_spec *s = number < v->spec_count ? v->specs[number] : NULL;
    return s && s->failed ? s->failure : NULL;
}

/* ---- begin and end ---- */

static int by_watch(const void *a, const void *b)
{
    const struct ct_verify_link *x = a;
    const struct ct_verify_link *y = b;
    return x->watch < y->watch ? -1 : x->watch > y->watch;
}

int ct_verify_reserve(struct ct_verifier *v)
{
    uint32_t watches;
    ct_watches_all(v->watches, &watches);
    if (v->first && watches <= v->watch_count)
        return CT_OK;
    uint32_t *first = realloc(v->first, ((size_t)watches + 1) * sizeof *first);
    if (!first)
        return ct_fail_nomem(v->ctx, "verifier");
    v->first = first;
    v->watch_count = watches;
    return CT_OK;
}

void ct_verify_index(struct ct_verifier *v)
{
    if (v->link_count)
        qsort(v->links, v->link_count, sizeof *v->links, by_watch);
    size_t link = 0;
    for (uint32_t watch = 0; watch <= v->watch_count; watch++) {
        while (link < v->link_count && v->links[link].watch < watch)
            link++;
        v->first[watch] = (uint32_t)link;
    }
}

int ct_verify_begin(struct ct_verify_spec *s)
{
    struct ct_ctx *ctx = s->verifier->ctx;
    ct_monitor_free(s->monitor);
    s->monitor = NULL;
    s->time = s->tick = s->value = s->number_of_instant = 0;
    s->lost = s->broken = s->failed = false;
    s->place_count = s->cursor = s->waiting_count = 0;
    memset(s->used, 0, s->input_count * sizeof *s->used);
    return ct_monitor_new(ctx, s->spec, s->verifier->options.limits, on_results, s, &s->monitor);
}

int ct_verifier_begin(struct ct_verifier *v, ct_verify_fn *fn, void *user)
{
    if (!v)
        return CT_ERR_ARG;
    int rc = ct_verify_reserve(v);
    if (!rc)
        ct_verify_index(v);
    v->fn = fn;
    v->user = user;
    for (size_t i = 0; !rc && i < v->spec_count; i++)
        rc = v->specs[i] ? ct_verify_begin(v->specs[i]) : CT_OK;
    v->running = !rc;
    return rc;
}

int ct_verify_end(struct ct_verify_spec *s)
{
    int rc = s->failed ? CT_OK : flush(s);
    if (!rc && !s->failed && (rc = ct_monitor_finish(s->monitor)) != CT_OK)
        rc = failed(s, rc);
    return rc;
}

int ct_verifier_finish(struct ct_verifier *v)
{
    if (!v)
        return CT_ERR_ARG;
    int first = CT_OK;
    v->running = false;
    for (size_t i = 0; i < v->spec_count; i++) {
        const int rc = v->specs[i] ? ct_verify_end(v->specs[i]) : CT_OK;
        first = keep_first(first, rc);
    }
    return first;
}
