/* SPDX-License-Identifier: Apache-2.0 */
/* One trace ID of a live stream: its steps go to watchpoints, specifications and timing. */
#define _GNU_SOURCE /* asprintf */
#include "cli/live.h"

#include <stdlib.h>
#include <string.h>

/* ---- events ---- */

static bool is_loss(const struct ct_watch_event *e)
{
    return e->kind == CT_WATCH_GAP || e->kind == CT_WATCH_OVERFLOW || e->kind == CT_WATCH_NO_ACCESS;
}

static bool passes(const struct cli_live_filter *f, const struct ct_watch_event *e, uint8_t id)
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

static void count(struct cli_live_stream *s, const struct ct_watch_event *e)
{
    struct cli_live *l = s->live;
    const uint16_t number = e->watch < s->watch_count ? s->place_of[e->watch] : LIVE_NONE;
    struct cli_live_place *place = number == LIVE_NONE ? NULL : &l->places[number];
    if (!place || !place->on)
        return;
    if (!place->hits++)
        place->first = *e;
    place->last = *e;
    place->last_id = s->id;
    l->events[l->event_count++ % LIVE_RECENT] = (struct cli_live_event){*e, number, s->id};
}

/* Leaves out what does not pass; how many are left. */
static size_t sift(struct cli_live_stream *s, struct ct_watch_event *events, size_t size)
{
    size_t kept = 0;
    for (size_t i = 0; i < size; i++) {
        if (!passes(&s->live->filter, &events[i], s->id))
            continue;
        events[kept++] = events[i];
        count(s, &events[i]);
    }
    return kept;
}

/* ---- results ---- */

static void keep_result(struct cli_live_stream *s, const struct cli_live_spec *spec,
                        const struct ct_verify_result *from)
{
    struct cli_live_result *r = &s->live->results[s->live->result_count++ % LIVE_RECENT];
    *r = (struct cli_live_result){.time = from->time,
                                  .placed = from->place != NULL,
                                  .violation = from->violation,
                                  .uncertain = from->uncertain,
                                  .id = s->id};
    if (from->place)
        r->event = from->place->event;
    snprintf(r->spec, sizeof r->spec, "%s", spec->name);
    snprintf(r->output, sizeof r->output, "%s", from->name);
    snprintf(r->value, sizeof r->value, "%s", from->value);
}

/* Lines of several IDs in one text: says whose follow. */
static void tell_id(struct cli_live_stream *s)
{
    struct cli_live *l = s->live;
    if (s->path || l->told_id == s->id || l->wishes->format != CT_VERDICT_FORMAT_TEXT)
        return;
    if (l->told_id >= 0 || l->counts.read.capture.buffers[0].source_count > 1)
        (void)ct_verdict_writer_heading(s->writer, NULL, s->id);
    l->told_id = s->id;
}

/* Notes that a writer failed: the stream's own, or that of standard output. */
static void note(struct cli_live_stream *s, int rc)
{
    *(s->path ? &s->failed : &s->live->failed) |= rc != CT_OK;
}

static struct ct_verdict_origin origin_of(const struct cli_live_stream *s)
{
    const struct cli_live *l = s->live;
    size_t specs = 0;
    for (size_t i = 0; i < l->spec_count; i++)
        specs += l->specs[i].name != NULL;
    return (struct ct_verdict_origin){.buffer = l->counts.read.capture.buffers[0].name,
                                      .source = s->source,
                                      .watches = s->watches,
                                      .programs = l->programs,
                                      .specs = s->names,
                                      .id = s->id,
                                      .named = specs > 1};
}

static void on_result(void *user, const struct ct_verify_result *result)
{
    struct cli_live_stream *s = user;
    struct cli_live *l = s->live;
    struct cli_live_spec *spec = &l->specs[s->slot_of[result->spec]];
    spec->results++;
    spec->violations += result->violation;
    spec->uncertain += result->violation && result->uncertain;
    l->violations += result->violation;
    if (!result->violation && !l->args->values[CLI_MONITOR_ALL].given)
        return;
    keep_result(s, spec, result);
    const struct ct_verdict_origin origin = origin_of(s);
    tell_id(s);
    note(s, ct_verdict_writer_result(s->writer, &origin, result));
}

/* Says which specifications failed; the others go on. */
static void tell_failures(struct cli_live_stream *s)
{
    for (uint32_t i = 0; i < LIVE_SPECS; i++) {
        struct cli_live_spec *spec = s->slot_of[i] == LIVE_NONE ? NULL : &s->live->specs[s->slot_of[i]];
        const char *why = spec ? ct_verifier_failure(s->verifier, i) : NULL;
        if (!why || s->told[i])
            continue;
        s->told[i] = true;
        if (!spec->failure[0])
            snprintf(spec->failure, sizeof spec->failure, "%s", why);
        cli_say("%s; it takes no more events", why);
        const struct ct_verdict_origin origin = origin_of(s);
        tell_id(s);
        note(s, ct_verdict_writer_stopped(s->writer, &origin, i, why));
    }
}

static int watch(struct cli_live_stream *s, const struct ct_step_batch *batch)
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

/* ---- begin ---- */

int cli_live_stream_place(struct cli_live_stream *s, uint16_t place)
{
    uint32_t first, some, all;
    int rc = ct_watches_add(s->watches, s->live->places[place].text, &first, &some);
    if (rc)
        return rc;
    ct_watches_all(s->watches, &all);
    uint16_t *more = realloc(s->place_of, all * sizeof *more);
    if (!more)
        return cli_fail_nomem(s->live->ctx, "watchpoint");
    s->place_of = more;
    for (size_t i = s->watch_count; i < all; i++)
        more[i] = i >= first && i < first + some ? place : LIVE_NONE;
    s->watch_count = all;
    return ct_watcher_renew(s->watcher);
}

/* What --violation says holds for all specifications, those that come later too. An output that no
 * specification has by now counts for nothing. CT_ERR_NOMEM. */
static int set_violations(struct cli_live_stream *s)
{
    const struct cli_pairs *rules = &s->live->monitors.violations;
    int rc = CT_OK;
    for (size_t i = 0; rc != CT_ERR_NOMEM && i < rules->count; i++)
        rc = ct_verifier_violation(s->verifier, rules->pairs[i].input, rules->pairs[i].place);
    return rc == CT_ERR_NOMEM ? rc : CT_OK;
}

int cli_live_stream_spec(struct cli_live_stream *s, uint16_t slot)
{
    const struct cli_live_spec *spec = &s->live->specs[slot];
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
    s->told[number] = false;
    const int named = set_violations(s);
    return named ? named : ct_watcher_renew(s->watcher);
}

static int begin_timing(struct cli_live_stream *s)
{
    struct cli_live *l = s->live;
    struct ct_timing_options options = {.size = sizeof options};
    int rc = ct_programs_places(l->programs, &options.programs, &options.program_count);
    if (!rc)
        rc = ct_timing_new(l->ctx, &options, &s->timing);
    if (!rc)
        rc = ct_watches_new(l->ctx, l->programs, &s->pair_watches);
    if (!rc && !cli_timing_add_pairs(s->timing, s->pair_watches, l->args, l->wishes->pair_option))
        rc = CT_ERR_ARG;
    return rc;
}

int cli_live_writer(const struct cli_live *l, FILE *file, struct ct_verdict_writer **out)
{
    const struct ct_verdict_write_options how = {.size = sizeof how, .format = (uint8_t)l->wishes->format};
    return ct_verdict_writer_new(l->ctx, &how, cli_output_write, file, out);
}

/* Violations go to a file of the stream's own, or to standard output. */
static int begin_text(struct cli_live_stream *s)
{
    struct cli_live *l = s->live;
    if (!l->wishes->output) {
        s->writer = l->writer;
        return CT_OK;
    }
    if (asprintf(&s->path, "%s/monitor-%02x.txt", l->wishes->output, s->id) < 0) {
        s->path = NULL;
        return cli_fail_nomem(l->ctx, "violations");
    }
    FILE *file = cli_output_grow(&s->output, s->path);
    return file ? cli_live_writer(l, file, &s->writer)
                : cli_fail(l->ctx, CT_ERR_IO, "%s: there is no file for violations; the run ends", s->path);
}

static int begin(struct cli_live_stream *s)
{
    struct cli_live *l = s->live;
    int rc = ct_watches_new(l->ctx, l->programs, &s->watches);
    if (!rc)
        rc = ct_verifier_new(l->ctx, &l->monitors.verify, s->watches, &s->verifier);
    if (!rc)
        rc = ct_watcher_new(l->ctx, s->watches, &s->watcher);
    if (!rc)
        rc = ct_verifier_start(s->verifier, on_result, s);
    for (uint16_t i = 0; !rc && i < l->spec_count; i++)
        rc = l->specs[i].name ? cli_live_stream_spec(s, i) : CT_OK;
    for (uint16_t i = 0; !rc && i < l->place_count; i++)
        rc = cli_live_stream_place(s, i);
    if (!rc && l->wishes->timing)
        rc = begin_timing(s);
    return rc ? rc : begin_text(s);
}

static struct cli_live_stream *stream_of(struct cli_live *l, const struct ct_stream *stream, int *rc)
{
    struct cli_live_stream *s = l->streams[stream->id];
    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (!s) {
        *rc = cli_fail_nomem(l->ctx, "trace ID");
        return NULL;
    }
    s->live = l;
    s->id = stream->id;
    s->source = stream->source;
    memset(s->slot_of, 0xff, sizeof s->slot_of);
    l->streams[stream->id] = s;
    *rc = begin(s);
    if (*rc) { /* what is half made is none of the streams */
        cli_live_stream_free(s);
        l->streams[stream->id] = NULL;
    }
    return *rc ? NULL : s;
}

int cli_live_on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct cli_live *l = user;
    int rc = CT_OK;
    struct cli_live_stream *s = stream_of(l, stream, &rc);
    if (rc)
        return rc;
    s->graph = batch->graph;
    rc = watch(s, batch);
    if (!rc && s->timing)
        rc = ct_timing_add(s->timing, batch);
    if (!rc && (s->path ? s->failed : l->failed))
        rc = cli_fail(l->ctx, CT_ERR_IO, "%s: cannot be written any more; the run ends",
                      s->path ? s->path : "standard output");
    return rc;
}

/* ---- end ---- */

void cli_live_flush(struct cli_live *l)
{
    l->failed |= ct_verdict_writer_flush(l->writer) != CT_OK;
    fflush(stdout);
    for (size_t i = 0; i < 128; i++) {
        struct cli_live_stream *s = l->streams[i];
        if (!s || !s->output.file)
            continue;
        note(s, ct_verdict_writer_flush(s->writer));
        fflush(s->output.file);
    }
}

bool cli_live_stream_finish(struct cli_live_stream *s)
{
    if (ct_verifier_finish(s->verifier) != CT_OK)
        tell_failures(s);
    const bool printed = ct_verdict_writer_flush(s->writer) == CT_OK;
    return s->output.file ? cli_output_close(&s->output, printed) : printed;
}

void cli_live_stream_free(struct cli_live_stream *s)
{
    if (!s)
        return;
    ct_verifier_free(s->verifier);
    ct_watcher_free(s->watcher);
    ct_watches_free(s->watches);
    ct_timing_free(s->timing);
    ct_watches_free(s->pair_watches);
    free(s->place_of);
    if (s->path)
        ct_verdict_writer_free(s->writer);
    if (s->output.file)
        cli_output_close(&s->output, false);
    free(s->path);
    free(s);
}
