/* SPDX-License-Identifier: Apache-2.0 */
/* One trace ID of a live stream: passes its steps to watchpoints, specifications and timing. */
#include "live/fractal.h"
#include "live/hooks.h"
#include "live/live.h"
#include "live/one_run.h"
#include "live/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- events ---- */

static bool is_loss(const struct ct_watch_event *e)
{
    return e->kind == CT_WATCH_GAP || e->kind == CT_WATCH_OVERFLOW || e->kind == CT_WATCH_NO_ACCESS;
}

bool ct_live_passes(const struct ct_live_filter *f, const struct ct_watch_event *e, uint8_t id)
{
    if (is_loss(e))
        return true;
    if ((f->ids[0] | f->ids[1]) && !(f->ids[id / 64] >> (id % 64) & 1))
        return false;
    if (f->levels && !(e->known & CT_CONTEXT_EL && f->levels >> (e->el_sec & 3) & 1))
        return false;
    bool found = f->context_count == 0;
    for (size_t i = 0; !found && i < f->context_count; i++)
        found = e->known & CT_CONTEXT_CTXT && e->ctxt == f->contexts[i];
    return found;
}

static void count(struct ct_live_stream *s, const struct ct_watch_event *e)
{
    struct ct_live *l = s->live;
    const uint16_t number = e->watch < s->watch_count ? s->place_of[e->watch] : LIVE_NONE;
    struct ct_live_place *place = number == LIVE_NONE ? NULL : &l->places[number];
    if (place && l->milestone_count)
        ct_live_milestone_hit(l, number, e->cycle);
    if (!place || !place->on)
        return;
    if (!place->hits++)
        place->first = *e;
    place->returns += e->kind == CT_WATCH_RETURN;
    place->last = *e;
    place->last_id = s->id;
    l->events[l->event_count++ % LIVE_RECENT] = (struct ct_live_event){*e, number, s->id};
}

/* Drops the events that do not pass the filter. Returns how many are left. */
static size_t sift(struct ct_live_stream *s, struct ct_watch_event *events, size_t size)
{
    size_t kept = 0;
    for (size_t i = 0; i < size; i++) {
        if (!ct_live_passes(&s->live->filter, &events[i], s->id))
            continue;
        events[kept++] = events[i];
        count(s, &events[i]);
    }
    return kept;
}

/* ---- results ---- */

void ct_live_note(struct ct_live *l, int rc)
{
    if (l->refused || !rc)
        return;
    l->refused = rc;
    snprintf(l->why, sizeof l->why, "%s", ct_ctx_error(l->ctx));
}

int ct_live_refusal(const struct ct_live *l)
{
    return l->refused ? ct_fail(l->ctx, l->refused, "%s", l->why) : CT_OK;
}

static struct ct_verdict_origin origin_of(const struct ct_live_stream *s)
{
    const struct ct_live *l = s->live;
    size_t specs = 0;
    for (size_t i = 0; i < l->spec_count; i++)
        specs += l->specs[i].name != NULL;
    return (struct ct_verdict_origin){.buffer = l->options.buffer->name,
                                      .source = s->source,
                                      .watches = s->watches,
                                      .programs = l->options.programs,
                                      .specs = s->names,
                                      .id = s->id,
                                      .named = specs > 1};
}

void ct_live_result_came(struct ct_live *l, struct ct_live_spec *spec, const struct ct_verdict_origin *origin,
                         const struct ct_verify_result *result)
{
    const uint8_t id = result->place ? ct_live_one_id(l, &result->place->event, origin->id) : origin->id;
    spec->results++;
    spec->violations += result->violation;
    spec->uncertain += result->violation && result->uncertain;
    l->violations += result->violation;
    ct_live_view_add(spec->view, result, id, ++l->serial, l->board != NULL);
    if (!result->violation && !l->options.all)
        return;
    struct ct_live_result *r = &l->results[l->result_count++ % LIVE_RECENT];
    snprintf(r->spec, sizeof r->spec, "%s", spec->name);
    snprintf(r->output, sizeof r->output, "%s", result->name);
    ct_live_keep(&r->kept, result, id, l->serial);
    if (result->violation && l->hooks)
        ct_live_hooks_tell(l, origin, result);
    if (l->sink.result && !l->refused)
        ct_live_note(l, l->sink.result(l->sink.user, origin, result));
}

static void on_result(void *user, const struct ct_verify_result *result)
{
    struct ct_live_stream *s = user;
    const struct ct_verdict_origin origin = origin_of(s);
    ct_live_result_came(s->live, &s->live->specs[s->slot_of[result->spec]], &origin, result);
}

void ct_live_spec_failed(struct ct_live *l, struct ct_live_spec *spec, const struct ct_verdict_origin *origin,
                         uint32_t number, const char *why)
{
    if (!spec->failure[0])
        snprintf(spec->failure, sizeof spec->failure, "%s", why);
    ct_live_say(&l->say, CT_LOG_WARNING, "%s; the specification takes no more events", why);
    if (l->sink.stopped && !l->refused)
        ct_live_note(l, l->sink.stopped(l->sink.user, origin, number, why));
}

/* Reports which specifications failed; the others continue. */
static void tell_failures(struct ct_live_stream *s)
{
    uint32_t i;
    for (const char *why; (why = ct_verifier_next_failure(s->verifier, &i));) {
        struct ct_live_spec *spec = s->slot_of[i] == LIVE_NONE ? NULL : &s->live->specs[s->slot_of[i]];
        const struct ct_verdict_origin origin = origin_of(s);
        if (spec)
            ct_live_spec_failed(s->live, spec, &origin, i, why);
    }
}

static int watch(struct ct_live_stream *s, const struct ct_step_batch *batch)
{
    struct ct_watch_event *events = s->live->batch;
    size_t got;
    int rc, more;
    do {
        rc = ct_watcher_run(s->watcher, batch, events, sizeof s->live->batch / sizeof *events, &got, &more);
        if (ct_verifier_feed(s->verifier, events, sift(s, events, got)) != CT_OK)
            tell_failures(s);
    } while (!rc && more);
    return rc;
}

int ct_live_stream_log(struct ct_live_stream *s)
{
    struct ct_watch_event *events = s->live->batch;
    size_t got;
    int rc;
    do {
        rc = ct_fractal_watch_next(s->log, events, sizeof s->live->batch / sizeof *events, &got);
        if (ct_verifier_feed(s->verifier, events, sift(s, events, got)) != CT_OK)
            tell_failures(s);
    } while (!rc && got);
    return rc ? rc : ct_live_refusal(s->live);
}

/* ---- creation ---- */

int ct_live_stream_renew(struct ct_live_stream *s)
{
    const int rc = ct_watcher_renew(s->watcher);
    return rc || !s->log ? rc : ct_fractal_watch_renew(s->log);
}

int ct_live_stream_place(struct ct_live_stream *s, uint16_t place)
{
    uint32_t first, some, all;
    int rc = ct_watches_add(s->watches, s->live->places[place].text, &first, &some);
    if (rc)
        return rc;
    ct_watches_all(s->watches, &all);
    uint16_t *more = realloc(s->place_of, all * sizeof *more);
    if (!more)
        return ct_fail_nomem(s->live->ctx, "watchpoint");
    s->place_of = more;
    for (size_t i = s->watch_count; i < all; i++)
        more[i] = i >= first && i < first + some ? place : LIVE_NONE;
    s->watch_count = all;
    return ct_live_stream_renew(s);
}

int ct_live_set_violations(const struct ct_live *l, struct ct_verifier *verifier)
{
    const struct ct_live_options *o = &l->options;
    int rc = CT_OK;
    for (size_t i = 0; rc != CT_ERR_NOMEM && i < o->violation_count; i++)
        rc = ct_verifier_violation(verifier, o->violations[i].input, o->violations[i].place);
    return rc == CT_ERR_NOMEM ? rc : CT_OK;
}

int ct_live_stream_spec(struct ct_live_stream *s, uint16_t slot)
{
    const struct ct_live_spec *spec = &s->live->specs[slot];
    uint32_t number = 0;
    while (number < LIVE_SPECS && s->slot_of[number] != LIVE_NONE)
        number++;
    if (number == LIVE_SPECS)
        return CT_ERR_LIMIT;
    const int rc =
        ct_verifier_add(s->verifier, spec->spec, spec->name, spec->binds->pairs, spec->binds->count);
    if (rc)
        return rc;
    s->slot_of[number] = slot;
    s->names[number] = spec->name;
    const int named = ct_live_set_violations(s->live, s->verifier);
    return named ? named : ct_live_stream_renew(s);
}

static int begin_timing(struct ct_live_stream *s)
{
    struct ct_live *l = s->live;
    struct ct_timing_options options = {.size = sizeof options};
    int rc = ct_programs_places(l->options.programs, &options.programs, &options.program_count)
             ?: ct_timing_new(l->ctx, &options, &s->timing)
             ?: ct_live_watches_new(l, &s->pair_watches);
    for (size_t i = 0; !rc && i < l->pair_count; i++)
        rc = ct_timing_add_pair(s->timing, s->pair_watches, l->pairs[i].from, l->pairs[i].to);
    return rc;
}

/* Tells the sink that a stream begins, once it is complete. */
static int tell_begin(struct ct_live_stream *s)
{
    const struct ct_verdict_origin origin = origin_of(s);
    const struct ct_live_sink *sink = &s->live->sink;
    return sink->begin && !s->live->one ? sink->begin(sink->user, &origin) : CT_OK;
}

static int begin(struct ct_live_stream *s)
{
    struct ct_live *l = s->live;
    int rc = ct_live_watches_new(l, &s->watches)
             ?: ct_verifier_new(l->ctx, &l->verify, s->watches, &s->verifier)
             ?: ct_verifier_core(s->verifier, ct_source_core(s->source) ?: "")
             ?: ct_watcher_new(l->ctx, s->watches, &s->watcher);
    if (!rc && l->options.log)
        rc = ct_live_log_begin(s);
    if (!rc)
        rc = ct_verifier_begin(s->verifier, on_result, s);
    for (uint16_t i = 0; !rc && !l->one && i < l->spec_count; i++)
        rc = l->specs[i].name ? ct_live_stream_spec(s, i) : CT_OK;
    for (uint16_t i = 0; !rc && i < l->place_count; i++)
        rc = ct_live_stream_place(s, i);
    if (!rc && l->options.timing)
        rc = begin_timing(s);
    return rc ? rc : tell_begin(s);
}

struct ct_live_stream *ct_live_stream_of(struct ct_live *l, const struct ct_stream *stream, int *rc)
{
    struct ct_live_stream *s = l->streams[stream->id];
    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (!s) {
        *rc = ct_fail_nomem(l->ctx, "trace ID");
        return NULL;
    }
    s->live = l;
    s->id = stream->id;
    s->source = stream->source;
    memset(s->slot_of, 0xff, sizeof s->slot_of);
    l->streams[stream->id] = s;
    *rc = begin(s);
    if (*rc) { /* an incomplete stream is not kept */
        ct_live_stream_free(s);
        l->streams[stream->id] = NULL;
    }
    return *rc ? NULL : s;
}

int ct_live_on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct ct_live *l = user;
    int rc = CT_OK;
    struct ct_live_stream *s = ct_live_stream_of(l, stream, &rc);
    if (rc)
        return rc;
    s->graph = batch->graph;
    rc = watch(s, batch);
    if (!rc && l->one)
        rc = ct_live_one_take(l, s->id, batch);
    if (!rc && s->timing)
        rc = ct_timing_add(s->timing, batch);
    return rc ? rc : ct_live_refusal(l);
}

/* ---- end ---- */

int ct_live_stream_finish(struct ct_live_stream *s)
{
    const struct ct_live_sink *sink = &s->live->sink;
    if (s->live->one)
        return CT_OK;
    if (ct_verifier_finish(s->verifier) != CT_OK)
        tell_failures(s);
    const struct ct_verdict_origin origin = origin_of(s);
    if (sink->end)
        ct_live_note(s->live, sink->end(sink->user, &origin));
    return ct_live_refusal(s->live);
}

void ct_live_stream_free(struct ct_live_stream *s)
{
    if (!s)
        return;
    ct_verifier_free(s->verifier);
    ct_watcher_free(s->watcher);
    ct_fractal_watch_free(s->log);
    ct_watches_free(s->watches);
    ct_timing_free(s->timing);
    ct_watches_free(s->pair_watches);
    free(s->place_of);
    free(s);
}
