/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates specifications over streams, each stream separately and in order. When a stream ends, the results
 * of its outputs are added to the sums. */
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/path.h"
#include "base/require.h"
#include "base/room.h"
#include "base/saturate.h"
#include "verify/sums.h"
#include "verify/verify.h"

enum {
    EVENTS = 256, /* events taken at a time */
};

/* State of an output in a stream. */
struct output {
    struct ct_verify_sum sum; /* its names are empty */
    bool is_certain;          /* the last event is certain: no missing trace could have changed it */
    uint8_t verdict;          /* enum ct_monitor_verdict of the last event */
};

/* Where a source's trace comes from. */
struct place {
    char *run;
    char *buffer;
    uint8_t id;
};

struct ct_verify_sums_stream {
    uint32_t lane;
    struct place *sources; /* one source, or the sources on an axis */
    size_t source_count;
    struct ct_verify_sums *sums;
    struct ct_watches *watches;
    struct ct_verifier *verifier;
    struct ct_watcher *watcher;
    struct output *outputs; /* by instance and output: all outputs of a specification's instances in a row */
    size_t *first;          /* by specification: its first entry in `outputs`; one more entry at the end */
    uint64_t *keys;         /* hash, by specification */
    size_t spec_count;      /* number of specifications when the stream began */
    int result;             /* enum ct_error of processing results */
};

static int no_memory(const struct ct_verify_sums_stream *s)
{
    return ct_fail_nomem(s->sums->analysis.ctx, "monitors");
}

static void free_place(const struct place *p)
{
    free(p->run);
    free(p->buffer);
}

static void free_stream(struct ct_verify_sums_stream *s)
{
    for (size_t i = 0; s->outputs && i < s->first[s->spec_count]; i++)
        free((void *)(uintptr_t)s->outputs[i].sum.first);
    ct_watcher_free(s->watcher);
    ct_verifier_free(s->verifier);
    ct_watches_free(s->watches);
    free(s->outputs);
    free(s->first);
    free(s->keys);
    for (size_t i = 0; s->sources && i < s->source_count; i++)
        free_place(&s->sources[i]);
    free(s->sources);
    free(s);
}

void ct_verify_streams_free(struct ct_verify_sums *sums)
{
    for (size_t i = 0; i < sums->stream_count; i++)
        free_stream(sums->streams[i]);
    free(sums->streams);
}

/* ---- results ---- */

/* Finds where in the program an event happened. */
static void find_place(const struct ct_verify_sums_stream *s, const struct ct_watch_event *event,
                       struct ct_verify_violation *v)
{
    uint32_t count;
    struct ct_program_where where = {0};
    v->watch = ct_watches_all(s->watches, &count)[event->watch].name;
    if (event->kind > CT_WATCH_EXCEPTION)
        return;
    v->addr = event->value;
    if (!v->addr || !s->sums->programs || ct_programs_where(s->sums->programs, v->addr, &where) ||
        !where.program)
        return;
    v->function = where.function ? where.function : "";
    v->file = where.file ? where.file : "";
    v->line = where.line;
}

static int keep_violation(const struct ct_verify_sums_stream *s, struct ct_verify_sum *sum,
                          const struct ct_verify_result *result)
{
    const size_t source = result->place ? result->place->event.source : 0;
    const struct place *from = &s->sources[source < s->source_count ? source : 0];
    struct ct_verify_violation v = {.run = from->run,
                                    .buffer = from->buffer,
                                    .value = result->value,
                                    .watch = "",
                                    .function = "",
                                    .file = "",
                                    .time = result->time,
                                    .id = from->id,
                                    .uncertain = result->uncertain};
    if (result->place)
        find_place(s, &result->place->event, &v);
    return ct_verify_sum_first(sum, &v) ? no_memory(s) : CT_OK;
}

static void on_result(void *user, const struct ct_verify_result *result)
{
    struct ct_verify_sums_stream *s = user;
    const size_t outputs = ct_monitor_output_count(s->sums->specs[result->spec].spec);
    struct output *out = &s->outputs[s->first[result->spec] + result->instance * outputs + result->output];
    struct ct_verify_sum *sum = &out->sum;
    ct_add_up(&sum->events, 1);
    ct_add_up(&sum->violations, result->violation);
    ct_add_up(&sum->uncertain, result->violation && result->uncertain);
    out->is_certain = !result->uncertain;
    if (sum->type == CT_MONITOR_VERDICT || sum->type == CT_MONITOR_BOOL) {
        out->verdict = sum->type == CT_MONITOR_VERDICT ? (uint8_t)result->number.i
                       : result->number.i              ? CT_MONITOR_TRUE
                                                       : CT_MONITOR_FALSE;
        if (out->verdict < sizeof sum->values / sizeof *sum->values)
            ct_add_up(&sum->values[out->verdict], 1);
    } else if (result->big) {
        ct_add_up(&sum->others, 1);
    } else if (sum->type == CT_MONITOR_INT || sum->type == CT_MONITOR_FLOAT) {
        ct_verify_sum_number(sum, result->number);
    }
    if (result->violation && !s->result)
        s->result = keep_violation(s, sum, result);
}

/* ---- creation ---- */

static int number_outputs(struct ct_verify_sums_stream *s)
{
    const struct ct_verify_sums *sums = s->sums;
    s->first = calloc(s->spec_count + 1, sizeof *s->first);
    s->keys = calloc(s->spec_count + 1, sizeof *s->keys);
    if (!s->first || !s->keys)
        return no_memory(s);
    for (size_t i = 0; i < s->spec_count; i++)
        s->keys[i] = ct_verify_sums_key(sums, i);
    for (size_t i = 0; i < s->spec_count; i++) {
        s->first[i + 1] = s->first[i];
        for (const struct ct_verify_spec *spec = s->verifier->specs[i]; spec; spec = spec->next)
            s->first[i + 1] += spec->output_count;
    }
    s->outputs = calloc(s->first[s->spec_count] + 1, sizeof *s->outputs);
    if (!s->outputs)
        return no_memory(s);
    for (size_t i = 0; i < s->spec_count; i++) {
        struct output *out = &s->outputs[s->first[i]];
        for (const struct ct_verify_spec *spec = s->verifier->specs[i]; spec; spec = spec->next)
            for (size_t k = 0; k < spec->output_count; k++)
                out++->sum.type = spec->outputs[k].stream.type;
    }
    return CT_OK;
}

static int bind_specs(struct ct_verify_sums_stream *s)
{
    const struct ct_verify_sums *sums = s->sums;
    int rc = CT_OK;
    for (size_t i = 0; i < s->spec_count && !rc; i++)
        rc = ct_verifier_add(s->verifier, sums->specs[i].spec, sums->specs[i].name, sums->specs[i].binds,
                             sums->specs[i].bind_count);
    for (size_t i = 0; i < sums->rule_count && !rc; i++)
        rc = ct_verifier_violation(s->verifier, sums->rules[i].input, sums->rules[i].place);
    return rc;
}

/* The sources of a stream: one, or several with the names of their cores. */
struct origins {
    const struct ct_stream_origin *all; /* NULL: nothing is known of the one source */
    const char *const *cores;           /* NULL: there is one source */
    size_t count;
};

static int copy_origins(struct ct_verify_sums_stream *s, const struct origins *from)
{
    bool fine = true;
    s->sources = calloc(from->count + 1, sizeof *s->sources);
    for (; s->sources && s->source_count < from->count; s->source_count++) {
        const struct ct_stream_origin *origin = from->all ? &from->all[s->source_count] : NULL;
        struct place *to = &s->sources[s->source_count];
        to->run = strdup(origin && origin->run ? origin->run : "");
        to->buffer = strdup(origin && origin->buffer ? origin->buffer : "");
        to->id = origin ? origin->id : 0;
        fine &= to->buffer && to->run;
    }
    return fine && s->sources ? CT_OK : no_memory(s);
}

static int begin(struct ct_verify_sums_stream *s, const struct origins *from)
{
    struct ct_verify_sums *sums = s->sums;
    struct ct_ctx *ctx = sums->analysis.ctx;
    s->spec_count = sums->spec_count;
    int rc = copy_origins(s, from)
             ?: ct_watches_new(ctx, sums->programs, &s->watches)
             ?: ct_verifier_new(ctx, &sums->options, s->watches, &s->verifier);
    if (!rc && from->cores)
        rc = ct_verifier_sources(s->verifier, from->cores, from->count);
    else if (!rc && from->all && from->all->core)
        rc = ct_verifier_core(s->verifier, from->all->core);
    if (!rc)
        rc = bind_specs(s);
    if (!rc)
        rc = number_outputs(s);
    if (!rc)
        rc = ct_watcher_new(ctx, s->watches, &s->watcher);
    return rc ? rc : ct_verifier_begin(s->verifier, on_result, s);
}

static int make_stream(struct ct_verify_sums *sums, uint32_t lane, const struct origins *from)
{
    struct ct_verify_sums_stream *s =
        CT_PUSH_ROOM(sums->streams, sums->stream_count) ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return ct_fail_nomem(sums->analysis.ctx, "monitors");
    *s = (struct ct_verify_sums_stream){.lane = lane, .sums = sums};
    const int rc = begin(s, from);
    if (rc)
        free_stream(s);
    else
        sums->streams[sums->stream_count++] = s;
    return rc;
}

/* Returns the stream of a lane, or NULL. */
static struct ct_verify_sums_stream *find_stream(const struct ct_verify_sums *sums, uint32_t lane)
{
    for (size_t i = sums->stream_count; i-- > 0;)
        if (sums->streams[i]->lane == lane)
            return sums->streams[i];
    return NULL;
}

/* ---- events ---- */

/* Handles the result of feeding. Reports a failed specification once; the others continue. Returns an error
 * only when out of memory, or from processing results. */
static int tell_failures(struct ct_verify_sums_stream *s, int rc)
{
    uint32_t spec;
    for (const char *why; rc && rc != CT_ERR_NOMEM && (why = ct_verifier_next_failure(s->verifier, &spec));)
        ct_log(s->sums->analysis.ctx, CT_LOG_WARNING,
               "%s; the specification takes no more events of the "
               "stream",
               why);
    return rc == CT_ERR_NOMEM ? rc : s->result;
}

static int take(struct ct_verify_sums_stream *s, const struct ct_step_batch *steps)
{
    struct ct_watch_event events[EVENTS];
    int rc = CT_OK;
    int more = 1;
    while (!rc && more) {
        size_t count;
        rc = ct_watcher_run(s->watcher, steps, events, EVENTS, &count, &more);
        const int fed = tell_failures(s, ct_verifier_feed(s->verifier, events, count));
        rc = rc ? rc : fed;
    }
    return rc;
}

int ct_verify_streams_take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch)
{
    struct ct_verify_sums *sums = (struct ct_verify_sums *)analysis;
    struct ct_verify_sums_stream *s = find_stream(sums, batch->lane);
    if (s)
        return take(s, batch->steps);
    const int rc = make_stream(sums, batch->lane, &(struct origins){.all = batch->origin, .count = 1});
    return rc ? rc : take(sums->streams[sums->stream_count - 1], batch->steps);
}

int ct_verify_sums_begin(struct ct_verify_sums *sums, uint32_t lane, const struct ct_stream_origin *origin,
                         struct ct_watches **watches)
{
    CT_REQUIRE_OUT(sums ? sums->analysis.ctx : NULL, watches, sums, !find_stream(sums, lane));
    const int rc = make_stream(sums, lane, &(struct origins){.all = origin, .count = 1});
    if (!rc)
        *watches = sums->streams[sums->stream_count - 1]->watches;
    return rc;
}

int ct_verify_sums_begin_axis(struct ct_verify_sums *sums, uint32_t lane,
                              const struct ct_stream_origin *origins, const char *const *cores, size_t count,
                              struct ct_verifier **verifier, struct ct_watches **watches)
{
    if (watches)
        *watches = NULL;
    CT_REQUIRE_OUT(sums ? sums->analysis.ctx : NULL, verifier, sums, origins, cores, count, watches,
                   !find_stream(sums, lane));
    const struct origins from = {origins, cores, count};
    const int rc = make_stream(sums, lane, &from);
    if (rc)
        return rc;
    *verifier = sums->streams[sums->stream_count - 1]->verifier;
    *watches = sums->streams[sums->stream_count - 1]->watches;
    return CT_OK;
}

int ct_verify_sums_feed(struct ct_verify_sums *sums, uint32_t lane, const struct ct_watch_event *events,
                        size_t count)
{
    struct ct_verify_sums_stream *s = sums ? find_stream(sums, lane) : NULL;
    CT_REQUIRE(NULL, s, events || !count);
    return tell_failures(s, ct_verifier_feed(s->verifier, events, count));
}

/* ---- end ---- */

/* Determines how an output ended over the whole stream. */
static void judge(const struct ct_verify_spec *spec, size_t number, struct output *out)
{
    struct ct_verify_sum *sum = &out->sum;
    const bool is_true = sum->type == CT_MONITOR_VERDICT && out->verdict == CT_MONITOR_TRUE;
    sum->streams = 1;
    sum->failed = spec->failed;
    if (spec->outputs[number].rule == CT_VERIFY_NEVER)
        return;
    const bool unseen = ct_verify_is_unseen(spec);
    if (sum->violations > sum->uncertain)
        sum->violated = 1;
    else if (sum->violations || (unseen && !(is_true && out->is_certain)))
        sum->doubtful = 1;
    else if (spec->failed || (sum->type == CT_MONITOR_VERDICT && !is_true))
        sum->undecided = 1;
    else
        sum->satisfied = 1;
}

/* Adds the results of an instance of a specification, whose outputs begin at `out`. */
static int put_instance(struct ct_verify_sums_stream *s, size_t number, const struct ct_verify_spec *spec,
                        struct output *out)
{
    const char *name = s->sums->specs[number].name;
    int rc = CT_OK;
    for (size_t k = 0; k < spec->output_count && !rc; k++) {
        struct ct_verify_sum *sum = &out[k].sum;
        sum->spec = spec->name + (ct_base_name(name) - name); /* includes the core of the instance */
        sum->output = spec->outputs[k].stream.name;
        sum->sum = s->keys[number];
        judge(spec, k, &out[k]);
        rc = ct_verify_sums_put(s->sums, sum);
    }
    return rc;
}

static int put(struct ct_verify_sums_stream *s)
{
    int rc = CT_OK;
    for (size_t i = 0; i < s->spec_count; i++) {
        struct output *out = &s->outputs[s->first[i]];
        for (const struct ct_verify_spec *spec = s->verifier->specs[i]; spec && !rc; spec = spec->next) {
            rc = put_instance(s, i, spec, out);
            out += spec->output_count;
        }
    }
    return rc;
}

int ct_verify_streams_end(struct ct_analysis *analysis, uint32_t lane)
{
    struct ct_verify_sums *sums = (struct ct_verify_sums *)analysis;
    for (size_t i = 0; i < sums->stream_count; i++) {
        struct ct_verify_sums_stream *s = sums->streams[i];
        if (s->lane != lane)
            continue;
        sums->streams[i] = sums->streams[--sums->stream_count];
        ct_verifier_finish(s->verifier);
        int rc = tell_failures(s, CT_ERR_FORMAT); /* also reports earlier failures */
        if (!rc)
            rc = put(s);
        free_stream(s);
        return rc;
    }
    return CT_OK;
}
