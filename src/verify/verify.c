/* SPDX-License-Identifier: Apache-2.0 */
/* Runs specifications along a trace: takes events of watchpoints, gives results with their places. */
#include "verify/due.h"

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
    if (!forget || !(s->lost || s->doubted))
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

static const struct ct_verify_place *doubt_of(const struct ct_verify_spec *s, uint64_t tag)
{
    for (size_t i = 0; i < s->doubt_count; i++)
        if (s->doubts[i].tag == tag)
            return &s->doubts[i].place;
    return NULL;
}

/* Finds the two events, the earlier one first, because of whose order a result is uncertain. */
static bool find_doubt(const struct ct_verify_spec *s, const struct ct_monitor_result *result,
                       const struct ct_verify_place *doubt[2])
{
    uint64_t tags[2];
    if (ct_monitor_doubted(s->monitor, result, tags) != CT_OK)
        return false;
    const bool turned = tags[0] > tags[1];
    doubt[0] = doubt_of(s, tags[turned]);
    doubt[1] = doubt_of(s, tags[!turned]);
    return doubt[0] && doubt[1];
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
        const struct ct_verify_place *doubt[2];
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
        if (result.uncertain && find_doubt(s, &results[i], doubt))
            memcpy(result.doubt, doubt, sizeof doubt);
        if (result.violation || !ct_monitor_possible(&results[i]))
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

int ct_verify_flush(struct ct_verify_spec *s)
{
    const int rc = s->doubtful ? ct_monitor_feed_doubtful(s->monitor, s->waiting, s->spans, s->waiting_count)
                               : ct_monitor_feed(s->monitor, s->waiting, s->waiting_count);
    const size_t keep = s->kept_places;
    s->waiting_count = 0;
    if (s->place_count > keep) {
        const size_t drop = s->place_count - keep;
        memmove(s->places, s->places + drop, keep * sizeof *s->places);
        s->place_count = keep;
        s->cursor -= s->cursor < drop ? s->cursor : drop;
    }
    return rc ? failed(s, rc) : CT_OK;
}

/* Returns the tick of an event of the only source. */
static uint64_t tick_of(const struct ct_verifier *v, const struct ct_watch_event *e)
{
    if (v->options.clock == CT_VERIFY_TIMESTAMPS)
        return e->has_timestamp ? e->timestamp : 0;
    return e->cycle;
}

static uint64_t time_of(const struct ct_verifier *v, uint64_t tick)
{
    const struct ct_verify_options *o = &v->options;
    if (!o->ticks || !o->ticks_to)
        return tick;
    const unsigned __int128 time = (unsigned __int128)tick * o->ticks_to / o->ticks;
    return time > INT64_MAX ? (uint64_t)INT64_MAX : (uint64_t)time;
}

/* Tells whether an event is of the same instruction as those of the current instant. */
static bool is_same_instant(const struct ct_verify_spec *s, const struct ct_watch_event *e, uint64_t tick,
                            uint32_t input)
{
    return s->number_of_instant && !s->broken && tick == s->tick && e->value == s->value &&
           e->source == s->source && s->used[input] != s->number_of_instant;
}

/* Returns the time of an event: that of the current instant if it is of the same instruction, else a new
 * one. */
static uint64_t instant(struct ct_verify_spec *s, const struct ct_watch_event *e, uint64_t tick,
                        uint32_t input)
{
    if (!is_same_instant(s, e, tick, input)) {
        s->broken = false;
        s->time = s->number_of_instant && tick <= s->time ? s->time + 1 : tick;
        s->number_of_instant++;
        s->tick = tick;
        s->value = e->value;
        s->source = e->source;
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

/* Notes an event that later results may name. */
static int note_doubt(struct ct_verify_spec *s, const struct ct_verify_place *place)
{
    if (s->doubt_count >= s->doubt_most) {
        size_t kept = 0;
        for (size_t i = 0; i < s->doubt_count; i++) /* those that wait are not known to the monitor yet */
            if (s->doubts[i].tag + s->waiting_count > s->tag ||
                ct_monitor_remembers(s->monitor, s->doubts[i].tag))
                s->doubts[kept++] = s->doubts[i];
        s->doubt_count = kept;
        s->doubt_most = 2 * kept + CT_VERIFY_WAITING;
    }
    if (s->doubt_cap < s->doubt_most) {
        struct ct_verify_doubted *more = realloc(s->doubts, s->doubt_most * sizeof *more);
        if (!more)
            return ct_fail_nomem(s->verifier->ctx, "verifier");
        s->doubts = more;
        s->doubt_cap = s->doubt_most;
    }
    s->doubts[s->doubt_count++] = (struct ct_verify_doubted){++s->tag, *place};
    return CT_OK;
}

/* Makes room for an event, in doubt or not: events that wait are of one kind, and an instant is not cut. */
static int make_room(struct ct_verify_spec *s, bool doubtful, bool same)
{
    const bool full = s->waiting_count >= CT_VERIFY_WAITING && !same;
    const int rc = full || doubtful != s->doubtful ? ct_verify_flush(s) : CT_OK;
    s->doubtful = doubtful;
    return rc;
}

bool ct_verify_is_same(const struct ct_verify_spec *s, const struct ct_watch_event *e, uint64_t tick,
                       uint32_t input)
{
    return is_same_instant(s, e, time_of(s->verifier, tick), input);
}

int ct_verify_give(struct ct_verify_spec *s, const struct ct_watch_event *e, uint64_t tick, uint32_t input,
                   const struct ct_monitor_span *span)
{
    const uint64_t scaled = time_of(s->verifier, tick);
    int rc = make_room(s, span != NULL, is_same_instant(s, e, scaled, input));
    if (rc)
        return rc;
    const struct ct_verify_place place = {instant(s, e, scaled, input), *e};
    if (span) {
        if ((rc = note_doubt(s, &place)) != CT_OK)
            return rc;
        s->spans[s->waiting_count] = *span;
        s->spans[s->waiting_count].tag = s->tag;
        s->lost_last = place.time;
        s->doubted = true;
    }
    struct ct_monitor_event *to = &s->waiting[s->waiting_count++];
    *to = (struct ct_monitor_event){.time = place.time, .input = input};
    if (s->types[input] == CT_MONITOR_INT)
        to->v.i = number_of(e);
    s->places[s->place_count++] = place;
    return CT_OK;
}

int ct_verify_lose(struct ct_verify_spec *s, uint64_t tick, uint64_t begin)
{
    const uint64_t time = time_of(s->verifier, tick);
    int rc = ct_verify_flush(s);
    if (!rc)
        rc = ct_monitor_seal(s->monitor, begin);
    if (!rc)
        rc = ct_monitor_lose(s->monitor, s->kept);
    if (rc && !s->failed)
        rc = failed(s, rc);
    s->lost_last = time > s->time ? time : s->time;
    s->lost = s->broken = true;
    return rc;
}

/* Ends the current instant, because events were lost here. */
static int lose_in(struct ct_verify_spec *s, uint64_t tick)
{
    int rc = ct_verify_flush(s);
    if (!rc && time_of(s->verifier, tick) > s->time) { /* the first instant, 0, has ended before too */
        rc = ct_monitor_advance(s->monitor, s->time + 1);
        rc = rc ? failed(s, rc) : CT_OK;
    }
    return rc ? rc : ct_verify_lose(s, tick, UINT64_MAX);
}

static int lose(struct ct_verifier *v, const struct ct_watch_event *e)
{
    int first = CT_OK;
    for (size_t i = 0; i < v->spec_count; i++) {
        struct ct_verify_spec *s = v->specs[i];
        const int rc = s && !s->failed ? lose_in(s, tick_of(v, e)) : CT_OK;
        first = ct_verify_first_error(first, rc);
    }
    return first;
}

bool ct_verify_is_loss(const struct ct_watch_event *e)
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
        const int rc = s->failed ? CT_OK : ct_verify_give(s, e, tick_of(v, e), v->links[k].input, NULL);
        first = ct_verify_first_error(first, rc);
    }
    return first;
}

int ct_verifier_feed(struct ct_verifier *v, const struct ct_watch_event *events, size_t count)
{
    if (!v || (!events && count))
        return CT_ERR_ARG;
    int first = CT_OK;
    for (size_t i = 0; i < count; i++) {
        const bool loss = ct_verify_is_loss(&events[i]);
        if (loss) /* what is missing may lie on both sides of the event that tells of it */
            first = ct_verify_first_error(first, lose(v, &events[i]));
        first = ct_verify_first_error(first, give(v, &events[i]));
        if (loss)
            first = ct_verify_first_error(first, lose(v, &events[i]));
    }
    for (size_t i = 0; i < v->spec_count; i++) {
        const int rc = v->specs[i] && !v->specs[i]->failed ? ct_verify_flush(v->specs[i]) : CT_OK;
        first = ct_verify_first_error(first, rc);
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
    s->lost = s->doubted = s->broken = s->failed = false;
    s->place_count = s->cursor = s->waiting_count = 0;
    s->doubtful = false;
    s->doubt_count = s->doubt_most = s->tag = 0;
    ct_verify_due_clear(s);
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
    int rc = s->failed ? CT_OK : s->lossy ? ct_verify_lose(s, s->tick, UINT64_MAX) : ct_verify_flush(s);
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
        first = ct_verify_first_error(first, rc);
    }
    return first;
}
