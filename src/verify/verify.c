/* SPDX-License-Identifier: Apache-2.0 */
/* Runs specifications along a trace: takes watchpoint events, from the beginning of a run to its end. */
#include "verify/due.h"
#include "base/require.h"
#include "verify/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/room.h"

/* ---- events ---- */

int ct_verify_failed(struct ct_verify_spec *s, int rc)
{
    snprintf(s->failure, sizeof s->failure, "%.120s: %.270s", s->name, ct_ctx_error(s->verifier->ctx));
    s->failed = true;
    ct_monitor_free(s->monitor);
    s->monitor = NULL;
    return ct_fail(s->verifier->ctx, rc, "%s", s->failure);
}

bool ct_verify_is_unseen(const struct ct_verify_spec *s)
{
    const bool followed = !s->unfollowed && (s->group || ct_monitor_followed(s->monitor));
    return s->lost || (s->group && ct_verify_group_lead(s->group)->lost) || (s->doubted && !followed);
}

void ct_verify_keep_places(struct ct_verify_spec *s)
{
    const size_t keep = s->kept_places;
    if (s->place_count <= keep + CT_VERIFY_WAITING) /* not at every call, which may be every event */
        return;
    const size_t drop = s->place_count - keep;
    memmove(s->places, s->places + drop, keep * sizeof *s->places);
    s->place_count = keep;
    s->cursor -= s->cursor < drop ? s->cursor : drop;
}

int ct_verify_flush(struct ct_verify_spec *s)
{
    if (s->group)
        return ct_verify_group_flush(s->group);
    const int rc = s->doubtful ? ct_monitor_feed_doubtful(s->monitor, s->waiting, s->spans, s->waiting_count)
                               : ct_monitor_feed(s->monitor, s->waiting, s->waiting_count);
    s->waiting_count = 0;
    ct_verify_keep_places(s);
    return rc ? ct_verify_failed(s, rc) : CT_OK;
}

/* Returns the tick of an event when there is one source. */
static uint64_t tick_of(const struct ct_verifier *v, const struct ct_watch_event *e)
{
    if (v->options.clock == CT_VERIFY_TIMESTAMPS)
        return e->has_timestamp ? e->timestamp + v->offset : 0;
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

/* Returns the time of an event when there is one source. */
static uint64_t clock_of(const struct ct_verifier *v, const struct ct_watch_event *e)
{
    return time_of(v, tick_of(v, e));
}

/* Returns whether two data trace events belong to one access: the variables of a LOAD or STORE, or the PC,
 * address and data that a DWT reports. */
static bool is_same_access(const struct ct_verify_spec *s, const struct ct_watch_event *e)
{
    if (e->kind != s->kind)
        return false;
    return e->kind == CT_WATCH_DWT || ((e->kind == CT_WATCH_LOAD || e->kind == CT_WATCH_STORE) &&
                                       (e->number | CT_WATCH_BITS) == (s->number_of_event | CT_WATCH_BITS));
}

/* Returns whether an event belongs to the same instruction as the events of the current instant. */
static bool is_same_instant(const struct ct_verify_spec *s, const struct ct_watch_event *e, uint64_t tick,
                            uint32_t input)
{
    const bool is_variable = e->kind == CT_WATCH_LOAD || e->kind == CT_WATCH_STORE;
    return s->number_of_instant && !s->broken && tick == s->tick &&
           (is_same_access(s, e) || (!is_variable && e->value == s->value)) && e->source == s->source &&
           s->used[input] != s->number_of_instant;
}

/* Returns the time of an event: that of the current instant if it belongs to the same instruction, else a new
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
        s->kind = e->kind;
        s->number_of_event = e->number;
    }
    s->used[input] = s->number_of_instant;
    return s->time;
}

/* Appends an event to the waiting ones. If the input cannot take it, the specification ends with
 * CT_ERR_LIMIT. */
static int wait(struct ct_verify_spec *s, const struct ct_verify_place *place, uint32_t input)
{
    struct ct_monitor_event event = {.time = place->time, .input = input};
    if (!ct_verify_value(s, &place->event, input, &event)) {
        return ct_verify_flush(s) ?: ct_verify_misfit(s, &place->event, input);
    }
    s->waiting[s->waiting_count++] = event;
    s->places[s->place_count++] = *place;
    s->place_total++;
    return CT_OK;
}

int ct_verify_take(struct ct_verify_spec *s, const struct ct_watch_event *e, uint32_t input)
{
    if (ct_verify_lacks_value(s, e, input))
        return CT_OK;
    int rc = !s->failed && s->waiting_count == CT_VERIFY_WAITING ? ct_verify_flush(s) : CT_OK;
    if (s->failed && s->group)
        rc = ct_verify_first(rc, ct_verify_group_pass(s->group, e, input));
    if (s->failed)
        return rc;
    const struct ct_verify_place place = {instant(s, e, clock_of(s->verifier, e), input), *e};
    return wait(s, &place, input);
}

/* Notes an event in doubt, which later results may name. */
static int note_doubt(struct ct_verify_spec *s, const struct ct_verify_place *place)
{
    if (s->doubt_count >= s->doubt_most) {
        size_t kept = 0;
        for (size_t i = 0; i < s->doubt_count; i++) /* the monitor does not know waiting events yet */
            if (s->doubts[i].tag + s->waiting_count > s->tag ||
                ct_monitor_remembers(s->monitor, s->doubts[i].tag))
                s->doubts[kept++] = s->doubts[i];
        s->doubt_count = kept;
        s->doubt_most = 2 * kept + CT_VERIFY_WAITING;
    }
    if (!CT_MAKE_ROOM(s->doubts, s->doubt_cap, s->doubt_count + 1))
        return ct_fail_nomem(s->verifier->ctx, "verifier");
    s->doubts[s->doubt_count++] = (struct ct_verify_doubted){++s->tag, *place};
    return CT_OK;
}

/* Makes room for an event. Waiting events are all in doubt or all not, and an instant is not divided. */
static int make_way(struct ct_verify_spec *s, bool doubtful, bool same)
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
    if (ct_verify_lacks_value(s, e, input))
        return CT_OK;
    const uint64_t scaled = time_of(s->verifier, tick);
    int rc = make_way(s, span != NULL, is_same_instant(s, e, scaled, input));
    if (rc || s->failed) /* after a failure of a group, its members continue */
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
    return wait(s, &place, input);
}

void ct_verify_lost(struct ct_verify_spec *s, uint64_t tick)
{
    s->lost_last = tick > s->time ? tick : s->time;
    s->lost = s->broken = true;
}

int ct_verify_end_instant(struct ct_verify_spec *s, uint64_t tick)
{
    int rc = CT_OK;
    if (tick > s->time) /* instant 0 has also ended before */
        rc = ct_monitor_advance(s->monitor, s->time + 1);
    return rc ? rc : ct_monitor_lose(s->monitor, s->kept);
}

int ct_verify_lose(struct ct_verify_spec *s, uint64_t tick)
{
    if (s->group)
        return ct_verify_group_lose(s->group, tick);
    int rc = ct_verify_flush(s);
    if (!rc && (rc = ct_verify_end_instant(s, tick)) != CT_OK)
        rc = ct_verify_failed(s, rc);
    ct_verify_lost(s, tick);
    return rc;
}

int ct_verify_lose_before(struct ct_verify_spec *s, uint64_t tick, uint64_t begin)
{
    int rc = ct_verify_flush(s);
    if (rc || s->failed) /* of a group, its members go on */
        return rc;
    rc = ct_monitor_seal(s->monitor, begin) ?: ct_monitor_lose(s->monitor, s->kept);
    if (rc)
        return s->group ? ct_verify_group_split(s->group) : ct_verify_failed(s, rc);
    ct_verify_lost(s, time_of(s->verifier, tick));
    return s->group ? ct_verify_group_lost(s->group, 0) : CT_OK;
}

/* Updates the index after changes of the specifications to feed. */
static inline void update(struct ct_verifier *v)
{
    if (__builtin_expect(v->changed, 0))
        ct_verify_index(v);
}

static int lose(struct ct_verifier *v, const struct ct_watch_event *e)
{
    int first = CT_OK;
    for (size_t i = 0; i < v->fed_count; i++) {
        struct ct_verify_spec *s = v->fed[i];
        const int rc = s->failed ? CT_OK : ct_verify_lose(s, clock_of(v, e));
        first = ct_verify_first(first, rc);
    }
    update(v);
    return first;
}

bool ct_verify_is_loss(const struct ct_watch_event *e)
{
    return e->kind == CT_WATCH_GAP || e->kind == CT_WATCH_OVERFLOW || e->kind == CT_WATCH_NO_ACCESS;
}

/* Passes an event to the specifications that take it. If one fails, the others continue. Returns the first
 * error. */
static int give(struct ct_verifier *v, const struct ct_watch_event *e)
{
    int first = CT_OK;
    if (e->watch >= v->watch_count) /* a watchpoint of another user, added after the specifications were
                                     * bound */
        return CT_OK;
    for (uint32_t k = v->first[e->watch]; k < v->first[e->watch + 1]; k++) {
        const int rc = ct_verify_take(v->targets[k].spec, e, v->targets[k].input);
        first = ct_verify_first(first, rc);
        v->came[e->watch] = 1;
    }
    update(v);
    return first;
}

/* Lets times go on when the timestamps of the one source go back, as when the target starts again. What
 * happened in between is lost. */
static int follow_clock(struct ct_verifier *v, const struct ct_watch_event *e)
{
    if (v->options.clock != CT_VERIFY_TIMESTAMPS || !e->has_timestamp)
        return CT_OK;
    const uint64_t before = v->stamp;
    v->stamp = e->timestamp;
    if (e->timestamp >= before)
        return CT_OK;
    v->offset += before - e->timestamp + 1;
    return lose(v, e);
}

int ct_verifier_feed(struct ct_verifier *v, const struct ct_watch_event *events, size_t count)
{
    CT_REQUIRE_OF(v, events || !count);
    if (ct_verify_not_in_result(v, __func__))
        return CT_ERR_ARG;
    if (count && !v->running)
        return ct_fail(
            v->ctx, CT_ERR_ARG,
            "specifications: %zu events came outside of a run, so no specification took them; call "
            "ct_verifier_begin first",
            count);
    int first = CT_OK;
    for (size_t i = 0; i < count; i++) {
        const bool loss = ct_verify_is_loss(&events[i]);
        first = ct_verify_first(first, follow_clock(v, &events[i]));
        if (loss) /* trace may be missing on both sides of the event that reports it */
            first = ct_verify_first(first, lose(v, &events[i]));
        first = ct_verify_first(first, give(v, &events[i]));
        if (loss)
            first = ct_verify_first(first, lose(v, &events[i]));
    }
    for (size_t i = 0; i < v->fed_count; i++) {
        const int rc = v->fed[i]->failed ? CT_OK : ct_verify_flush(v->fed[i]);
        first = ct_verify_first(first, rc);
    }
    update(v);
    return ct_verify_first(first, ct_verify_regroup(v, count));
}

const char *ct_verifier_failure(const struct ct_verifier *v, uint32_t number)
{
    if (!v)
        return NULL;
    const struct ct_verify_spec *s = number < v->spec_count ? v->specs[number] : NULL;
    while (s && !s->failed)
        s = s->next;
    return s ? s->failure : NULL;
}

const char *ct_verifier_next_failure(struct ct_verifier *v, uint32_t *number)
{
    if (!v || !number)
        return NULL;
    for (uint32_t i = 0; i < v->spec_count; i++) {
        for (struct ct_verify_spec *s = v->specs[i]; s; s = s->next) {
            if (!s->failed || s->told_failure)
                continue;
            s->told_failure = true;
            *number = i;
            return s->failure;
        }
    }
    return NULL;
}

/* ---- begin and end ---- */

/* Counts the watchpoints that feed a specification, once per input of each instance. */
static size_t target_count(const struct ct_verify_spec *s)
{
    size_t count = 0;
    for (; s; s = s->next)
        for (size_t i = 0; i < s->input_count; i++)
            count += s->feeds[i].count;
    return count;
}

static size_t instance_count(const struct ct_verify_spec *s)
{
    size_t count = 0;
    for (; s; s = s->next)
        count++;
    return count;
}

int ct_verify_reserve(struct ct_verifier *v, const struct ct_verify_spec *more)
{
    uint32_t watches;
    size_t targets = 1 + target_count(more);
    size_t instances = 1 + instance_count(more);
    ct_watches_all(v->watches, &watches);
    for (size_t i = 0; i < v->spec_count; i++) { /* a group has no more targets than its members */
        targets += target_count(v->specs[i]);
        instances += instance_count(v->specs[i]);
    }
    if (!CT_MAKE_ROOM(v->targets, v->targets_cap, targets) || !CT_MAKE_ROOM(v->fed, v->fed_cap, instances))
        return ct_fail_nomem(v->ctx, "verifier");
    if (v->first && watches <= v->watch_count)
        return CT_OK;
    uint32_t *first = realloc(v->first, ((size_t)watches + 2) * sizeof *first);
    v->first = first ? first : v->first;
    uint8_t *came = first ? realloc(v->came, (size_t)watches + 1) : NULL;
    if (!came)
        return ct_fail_nomem(v->ctx, "verifier");
    memset(came + v->watch_count, 0, (size_t)watches + 1 - v->watch_count);
    v->came = came;
    v->watch_count = watches;
    return CT_OK;
}

/* Lists the specifications to feed: those in no group, and the lead of each group in the place of its first
 * member. */
static void list_fed(struct ct_verifier *v)
{
    v->fed_count = 0;
    for (size_t i = 0; i < v->spec_count; i++) {
        for (struct ct_verify_spec *s = v->specs[i]; s; s = s->next) {
            if (!s->group)
                v->fed[v->fed_count++] = s;
            else if (ct_verify_group_first(s))
                v->fed[v->fed_count++] = ct_verify_group_lead(s->group);
        }
    }
}

/* Counts the targets of each watchpoint, stored two entries further on. */
static void count_targets(struct ct_verifier *v)
{
    memset(v->first, 0, ((size_t)v->watch_count + 2) * sizeof *v->first);
    for (size_t i = 0; i < v->fed_count; i++)
        for (uint32_t input = 0; input < v->fed[i]->input_count; input++)
            for (uint32_t k = 0; k < v->fed[i]->feeds[input].count; k++)
                v->first[v->fed[i]->feeds[input].first + k + 2]++;
}

void ct_verify_index(struct ct_verifier *v)
{
    v->changed = false;
    ct_verify_groups_sweep(v);
    list_fed(v);
    count_targets(v);
    for (uint32_t watch = 0; watch <= v->watch_count; watch++)
        v->first[watch + 1] += v->first[watch];
    for (size_t i = 0; i < v->fed_count; i++) { /* advances each entry to the beginning of the next one */
        struct ct_verify_spec *s = v->fed[i];
        for (uint32_t input = 0; input < s->input_count; input++)
            for (uint32_t k = 0; k < s->feeds[input].count; k++)
                v->targets[v->first[s->feeds[input].first + k + 1]++] =
                    (struct ct_verify_target){s, input, s->feeds[input].core};
    }
}

void ct_verify_reset(struct ct_verify_spec *s)
{
    ct_monitor_free(s->monitor);
    s->monitor = NULL;
    s->time = s->tick = s->value = s->number_of_instant = s->lost_last = 0;
    s->lost = s->doubted = s->unfollowed = s->broken = s->failed = s->told_failure = s->doubtful = false;
    s->place_count = s->cursor = s->waiting_count = 0;
    s->place_total = s->born = s->told = s->skip = 0;
    s->doubt_count = s->doubt_most = s->tag = 0;
    s->source = 0;
    ct_verify_due_clear(s);
    memset(s->used, 0, s->input_count * sizeof *s->used);
}

int ct_verifier_begin(struct ct_verifier *v, ct_verify_fn *fn, void *user)
{
    CT_REQUIRE_OF(v, fn);
    if (ct_verify_not_in_result(v, __func__))
        return CT_ERR_ARG;
    v->fn = fn;
    v->user = user;
    v->running = false;
    v->stamp = v->offset = 0;
    if (v->source_count)
        memset(v->lost_until, 0, v->source_count * sizeof *v->lost_until);
    for (size_t i = 0; i < v->spec_count; i++)
        for (struct ct_verify_spec *s = v->specs[i]; s; s = s->next)
            ct_verify_reset(s);
    int rc = ct_verify_groups_begin(v) ?: ct_verify_reserve(v, NULL);
    if (!rc)
        ct_verify_index(v);
    for (size_t i = 0; !rc && i < v->fed_count; i++)
        rc = ct_verify_monitor(v->fed[i]);
    v->running = !rc;
    return rc;
}

int ct_verify_end(struct ct_verify_spec *s)
{
    if (ct_verify_is_awaited(s))
        return CT_OK;
    int rc = ct_verify_due_end(s);
    if (s->group)
        return ct_verify_first(rc, ct_verify_group_end(s->group));
    rc = rc          ? rc
         : s->failed ? CT_OK
         : s->lossy  ? ct_verify_lose_before(s, s->tick, UINT64_MAX)
                     : ct_verify_flush(s);
    if (!rc && !s->failed && (rc = ct_monitor_finish(s->monitor)) != CT_OK)
        rc = ct_verify_failed(s, rc);
    return rc;
}

int ct_verifier_finish(struct ct_verifier *v)
{
    CT_REQUIRE(NULL, v);
    int first = CT_OK;
    if (ct_verify_not_in_result(v, __func__))
        return CT_ERR_ARG;
    v->running = false;
    for (size_t i = 0; i < v->fed_count; i++)
        first = ct_verify_first(first, ct_verify_end(v->fed[i]));
    update(v);
    return first;
}
