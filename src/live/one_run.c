/* SPDX-License-Identifier: Apache-2.0 */
#include "live/one_run.h"

#include "live/board.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/axis.h"

struct ct_live_one {
    struct ct_verify_axis *axis;
    struct ct_verdict_source sources[128];
    const char *cores[128];
    uint8_t protocols[128];
    size_t count;
    uint8_t number_of[128]; /* by trace ID: number of its source, or UINT8_MAX */
    const char *names[LIVE_SPECS];
    bool begun;     /* the first step was taken */
    bool ends;      /* at the end: results no longer wait for any source */
    bool came[128]; /* by source: one of its steps was taken */
    size_t came_count;
    bool told[128];       /* by source: a message said that the others do not wait for it */
    bool restarted[128];  /* by source: a message said that its timestamps went back */
    int waits_for;        /* source that the others wait for, or -1 */
    uint64_t waits_since; /* input bytes analysed when that wait began */
};

/* ---- sources ---- */

static bool is_asked_for(const struct ct_live *l, uint8_t id)
{
    const uint64_t *ids = l->options.ids;
    return !(ids[0] | ids[1]) || ids[id / 64] >> id % 64 & 1;
}

int ct_live_one_new(struct ct_live *l)
{
    const struct ct_buffer *buffer = l->options.buffer;
    struct ct_live_one *one = calloc(1, sizeof *one);
    if (!one)
        return ct_fail_nomem(l->ctx, "live");
    l->one = one;
    one->waits_for = -1;
    memset(one->number_of, 0xff, sizeof one->number_of);
    for (size_t i = 0; i < buffer->source_count && one->count < 128; i++) {
        const struct ct_source *source = &buffer->sources[i];
        const uint8_t id = buffer->framing == CT_FRAMING_NONE ? 0 : source->trace_id & 127;
        if (one->number_of[id] != UINT8_MAX || !is_asked_for(l, id))
            continue;
        one->number_of[id] = (uint8_t)one->count;
        one->cores[one->count] = ct_source_core(source) ?: "";
        one->protocols[one->count] = source->protocol;
        one->sources[one->count++] =
            (struct ct_verdict_source){.buffer = buffer->name, .source = source, .id = id};
    }
    int rc = one->count ? ct_verifier_sources(l->verifier, one->cores, one->count)
                        : ct_fail(l->ctx, CT_ERR_ARG,
                                  "%s: the capture has no described source with trace, so "
                                  "specifications get no events; describe its sources, "
                                  "or use --per-core",
                                  buffer->name);
    return rc ? rc : ct_verifier_protocols(l->verifier, one->protocols, one->count);
}

void ct_live_one_free(struct ct_live_one *one)
{
    if (one)
        ct_verify_axis_free(one->axis);
    free(one);
}

uint8_t ct_live_one_id(const struct ct_live *l, const struct ct_watch_event *event, uint8_t id)
{
    return l->one && event->source < l->one->count ? l->one->sources[event->source].id : id;
}

/* ---- results ---- */

static struct ct_verdict_origin origin_of(const struct ct_live *l)
{
    size_t specs = 0;
    for (size_t i = 0; i < l->spec_count; i++) {
        l->one->names[i] = l->specs[i].name;
        specs += l->specs[i].name != NULL;
    }
    return (struct ct_verdict_origin){.buffer = l->options.buffer->name,
                                      .watches = l->watches,
                                      .programs = l->options.programs,
                                      .specs = l->one->names,
                                      .named = specs > 1,
                                      .several = 1,
                                      .sources = l->one->sources,
                                      .source_count = l->one->count};
}

/* Tells the sink once that the run begins. */
static int tell_begin(struct ct_live *l)
{
    const struct ct_verdict_origin origin = origin_of(l);
    if (l->one->begun)
        return CT_OK;
    l->one->begun = true;
    return l->sink.begin ? l->sink.begin(l->sink.user, &origin) : CT_OK;
}

static void on_result(void *user, const struct ct_verify_result *result)
{
    struct ct_live *l = user;
    const struct ct_verdict_origin origin = origin_of(l);
    ct_live_note(l, tell_begin(l)); /* in case a specification is removed before the first step */
    ct_live_result_came(l, &l->specs[result->spec], &origin, result);
}

/* Reports which specifications failed; the others continue. */
static void tell_failures(struct ct_live *l)
{
    uint32_t number;
    for (const char *why; (why = ct_verifier_next_failure(l->verifier, &number));) {
        const struct ct_verdict_origin origin = origin_of(l);
        ct_live_spec_failed(l, &l->specs[number], &origin, number, why);
    }
}

/* ---- events ---- */

/* Returns whether an exchange request waits. It then comes before passing on held events. */
static int is_asked(void *user)
{
    const struct ct_live *l = user;
    return l->board && !l->one->ends && ct_live_board_asked(l->board, LIVE_EXCHANGES);
}

static int passes(void *user, size_t source, const struct ct_watch_event *event)
{
    const struct ct_live *l = user;
    return ct_live_passes(&l->filter, event, l->one->sources[source].id);
}

int ct_live_one_begin(struct ct_live *l)
{
    int rc = ct_verifier_begin(l->verifier, on_result, l);
    if (!rc)
        rc = ct_verify_axis_new(l->ctx, l->verifier, l->watches, l->one->count, &l->one->axis);
    for (size_t i = 0; i < l->one->count && !rc; i++)
        rc = ct_verify_axis_source(l->one->axis, i, l->one->sources[i].source);
    if (!rc)
        rc = ct_verify_axis_await_cores(l->one->axis);
    if (!rc && l->options.idle)
        rc = ct_verify_axis_assume_idle(l->one->axis);
    if (!rc)
        rc = ct_verify_axis_filter(l->one->axis, passes, l);
    if (!rc)
        rc = ct_verify_axis_yield(l->one->axis, is_asked, l);
    return rc ? rc : ct_live_one_renew(l);
}

int ct_live_one_renew(struct ct_live *l)
{
    return l->one ? ct_verify_axis_renew(l->one->axis) : CT_OK;
}

int ct_live_one_filter(struct ct_live *l)
{
    const uint64_t *ids = l->filter.ids;
    int rc = CT_OK;
    for (size_t i = 0; l->one && i < l->one->count && !rc; i++) {
        const uint8_t id = l->one->sources[i].id;
        rc = ct_verify_axis_mute(l->one->axis, i, (ids[0] | ids[1]) && !(ids[id / 64] >> (id % 64) & 1));
    }
    return rc;
}

int ct_live_one_take(struct ct_live *l, uint8_t id, const struct ct_step_batch *batch)
{
    struct ct_live_one *one = l->one;
    const uint8_t number = id < 128 ? one->number_of[id] : UINT8_MAX;
    int rc = tell_begin(l);
    if (!rc && !is_asked(l)) /* meanwhile, threads decode the piece */
        rc = ct_live_settle(l);
    if (rc || number == UINT8_MAX)
        return rc;
    if (batch->count || batch->mark_count) {
        one->came_count += !one->came[number];
        one->came[number] = true;
    }
    return ct_verify_axis_take(one->axis, number, batch);
}

size_t ct_live_one_part(const struct ct_live *l, uint64_t offset, size_t size)
{
    const size_t part = LIVE_PRESUME - offset % LIVE_PRESUME;
    return l->one && l->one->came_count < l->one->count && part < size ? part : size;
}

int ct_live_one_presume(struct ct_live *l, uint64_t offset)
{
    return l->one && offset % LIVE_PRESUME == 0 ? ct_verify_axis_presume(l->one->axis) : CT_OK;
}

/* Repeats a step of the axis as long as it stops at failing specifications. */
static int go_on(struct ct_live *l, int (*step)(struct ct_verify_axis *axis))
{
    int rc;
    while ((rc = step(l->one->axis)) == CT_ERR_FORMAT || rc == CT_ERR_LIMIT)
        tell_failures(l);
    return rc;
}

/* ---- sources that delay the others ---- */

/* Warns once per source that the others do not wait for it, unless its absence loses nothing. */
static void tell_passed(struct ct_live *l, int number, size_t held)
{
    struct ct_live_one *one = l->one;
    struct ct_verify_axis_passed passed;
    const bool missed = !l->options.idle &&
                        ct_verify_axis_passed_of(one->axis, (size_t)number, &passed) == CT_OK && passed.came;
    if (one->told[number] || !missed)
        return;
    one->told[number] = true;
    ct_live_say(
        &l->say, CT_LOG_WARNING,
        "ID %02x (%s): sends no timestamp, and %zu events of other sources waited for it; they are evaluated "
        "without it, so results are uncertain; use --assume-idle if this source is idle, --per-core to "
        "evaluate each source separately, or --id to exclude it",
        one->sources[number].id, one->cores[number], held);
}

/* Warns once per source that its timestamps went back. */
static void tell_restarts(struct ct_live *l)
{
    struct ct_live_one *one = l->one;
    for (size_t i = 0; i < one->count; i++) {
        struct ct_verify_axis_restarts restarts;
        if (one->restarted[i] || ct_verify_axis_restarts_of(one->axis, i, &restarts) != CT_OK ||
            !restarts.times)
            continue;
        one->restarted[i] = true;
        ct_live_say(&l->say, CT_LOG_WARNING,
                    "ID %02x (%s): its timestamps went back from %" PRIu64 " to %" PRIu64
                    ", as when the target starts again; times of the specifications go on from there, and "
                    "results that look back beyond it are uncertain",
                    one->sources[i].id, one->cores[i], restarts.from, restarts.to);
    }
}

int ct_live_one_settle(struct ct_live *l)
{
    struct ct_live_one *one = l->one;
    int rc = go_on(l, ct_verify_axis_settle);
    tell_restarts(l);
    size_t held = 0;
    int number = -1;
    while (!rc && !(l->unsettled = is_asked(l)) && (held = ct_verify_axis_held(one->axis)) &&
           (number = ct_verify_axis_next(one->axis)) >= 0) {
        if (number != one->waits_for)
            one->waits_since = l->analysed;
        one->waits_for = number;
        if (held <= LIVE_HELD && l->analysed - one->waits_since < LIVE_PATIENCE)
            return CT_OK;
        tell_passed(l, number, held);
        rc = ct_verify_axis_pass(one->axis) ?: go_on(l, ct_verify_axis_settle);
    }
    if (!l->unsettled)
        one->waits_for = -1;
    return rc;
}

/* Reports how many events of a source came too late. */
static void tell_late(struct ct_live *l, size_t number, const struct ct_verify_axis_passed *passed)
{
    const struct ct_live_one *one = l->one;
    if (passed->late > passed->unforeseen)
        ct_live_say(&l->say, CT_LOG_WARNING,
                    "ID %02x (%s): %" PRIu64 " of its events arrived after later events of other sources had "
                    "been evaluated; no specification took them, so results that may depend on them are "
                    "uncertain",
                    one->sources[number].id, one->cores[number], passed->late);
    if (passed->unforeseen)
        ct_live_say(&l->say, CT_LOG_WARNING,
                    "ID %02x (%s): its trace began with %" PRIu64 " events and losses that are older than "
                    "what had been evaluated; no specification took them, so earlier results lack them and "
                    "later ones may be uncertain; keep the trace with --tee and run 'coretap monitor' on it, "
                    "which takes all events",
                    one->sources[number].id, one->cores[number], passed->unforeseen);
}

int ct_live_one_finish(struct ct_live *l)
{
    struct ct_live_one *one = l->one;
    int rc = CT_OK;
    one->ends = true;
    for (size_t i = 0; i < one->count && !rc; i++)
        rc = ct_verify_axis_end(one->axis, i);
    if (!rc)
        rc = go_on(l, ct_verify_axis_run);
    if (ct_verifier_finish(l->verifier) != CT_OK)
        tell_failures(l);
    const struct ct_verdict_origin origin = origin_of(l);
    if (one->begun && l->sink.end)
        ct_live_note(l, l->sink.end(l->sink.user, &origin));
    tell_restarts(l);
    for (size_t i = 0; i < one->count; i++) {
        struct ct_verify_axis_passed passed;
        struct ct_verify_axis_restarts restarts;
        if (ct_verify_axis_restarts_of(one->axis, i, &restarts) == CT_OK && restarts.times > 1)
            ct_live_say(&l->say, CT_LOG_WARNING, "ID %02x (%s): its timestamps went back %" PRIu64 " times",
                        one->sources[i].id, one->cores[i], restarts.times);
        if (ct_verify_axis_passed_of(one->axis, i, &passed) == CT_OK)
            tell_late(l, i, &passed);
    }
    return rc ? rc : ct_live_refusal(l);
}

/* Begins an object about a source. */
static void put_source(const struct ct_live *l, struct ct_json *j, size_t number)
{
    ct_json_object(j, NULL);
    ct_live_put_hex(j, "id", l->one->sources[number].id, 2);
    ct_json_text(j, "core", l->one->cores[number]);
}

void ct_live_one_json(const struct ct_live *l, struct ct_json *j)
{
    ct_json_bool(j, "one_run", l->one != NULL);
    ct_json_array(j, "not_waited_for");
    for (size_t i = 0; l->one && i < l->one->count; i++) {
        struct ct_verify_axis_passed passed;
        if (ct_verify_axis_passed_of(l->one->axis, i, &passed) != CT_OK ||
            !(passed.times | passed.late | passed.unforeseen))
            continue;
        put_source(l, j, i);
        ct_json_number(j, "times", passed.times);
        ct_json_number(j, "late", passed.late);
        ct_json_number(j, "unforeseen", passed.unforeseen);
        ct_json_object_end(j);
    }
    ct_json_array_end(j);
    ct_json_array(j, "restarts");
    for (size_t i = 0; l->one && i < l->one->count; i++) {
        struct ct_verify_axis_restarts restarts;
        if (ct_verify_axis_restarts_of(l->one->axis, i, &restarts) != CT_OK || !restarts.times)
            continue;
        put_source(l, j, i);
        ct_json_number(j, "times", restarts.times);
        ct_json_number(j, "from", restarts.from);
        ct_json_number(j, "to", restarts.to);
        ct_json_object_end(j);
    }
    ct_json_array_end(j);
}
