/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns each event of a source the interval of time in which it happened: between the timestamps around it
 * or, if cycles are counted between these, between the counts around it, assuming that cycles pass at a
 * constant rate. */
#include "verify/axis_own.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"

#define UNKNOWN UINT64_MAX

enum {
    UNTIMED = 4096, /* most events without a timestamp kept for a source that the others do not wait for */
};

int ct_verify_axis_new(struct ct_ctx *ctx, struct ct_verifier *verifier, struct ct_watches *watches,
                       size_t count, struct ct_verify_axis **out)
{
    uint32_t timestamps;
    CT_REQUIRE_OUT(ctx, out, verifier, watches);
    if (count != verifier->source_count)
        return ct_fail(ctx, CT_ERR_ARG,
                       "%s: there are %zu sources, but the verifier has %zu; give both the "
                       "same",
                       __func__, count, verifier->source_count);
    int rc = ct_watches_add(watches, "timestamp", &timestamps, NULL);
    if (rc)
        return rc;
    struct ct_verify_axis *axis = calloc(1, sizeof *axis);
    if (axis)
        axis->sources = calloc(count + 1, sizeof *axis->sources);
    if (!axis || !axis->sources) {
        free(axis);
        return ct_fail_nomem(ctx, "axis");
    }
    axis->ctx = ctx;
    axis->verifier = verifier;
    axis->timestamps = timestamps;
    axis->count = count;
    for (size_t i = 0; i < count && !rc; i++) {
        rc = ct_watcher_new(ctx, watches, &axis->sources[i].watcher);
        if (!rc)
            rc = ct_watcher_fold_timestamps(axis->sources[i].watcher);
    }
    if (rc)
        ct_verify_axis_free(axis);
    else
        *out = axis;
    return rc;
}

void ct_verify_axis_free(struct ct_verify_axis *axis)
{
    if (!axis)
        return;
    for (size_t i = 0; i < axis->count; i++) {
        ct_watcher_free(axis->sources[i].watcher);
        free(axis->sources[i].all);
    }
    free(axis->sources);
    free(axis);
}

int ct_verify_axis_source(struct ct_verify_axis *axis, size_t source, const struct ct_source *description)
{
    CT_REQUIRE_OF(axis, description, source < axis->count);
    const struct ct_source *const is = description;
    axis->sources[source].is_software = ct_protocol_is_software(is->protocol);
    axis->sources[source].is_told = is->protocol == CT_PROTOCOL_STM ||
                                    (is->protocol == CT_PROTOCOL_ITM && (is->regs.itmtcr >> 10 & 3) == 3);
    return CT_OK;
}

int ct_verify_axis_await_cores(struct ct_verify_axis *axis)
{
    CT_REQUIRE(NULL, axis);
    struct ct_verifier *v = axis->verifier;
    bool *awaited = ct_arena_alloc(&v->arena, (axis->count + 1) * sizeof *awaited);
    if (!awaited)
        return ct_fail_nomem(axis->ctx, "axis");
    for (size_t i = 0; i < axis->count; i++)
        awaited[i] = true;
    v->awaited = awaited;
    return CT_OK;
}

int ct_verify_axis_assume_idle(struct ct_verify_axis *axis)
{
    CT_REQUIRE(NULL, axis);
    axis->idle = true;
    return CT_OK;
}

int ct_verify_axis_filter(struct ct_verify_axis *axis, ct_verify_axis_filter_fn *filter, void *user)
{
    CT_REQUIRE(NULL, axis);
    axis->filter = filter;
    axis->filter_user = user;
    return CT_OK;
}

int ct_verify_axis_yield(struct ct_verify_axis *axis, ct_verify_axis_yield_fn *yield, void *user)
{
    CT_REQUIRE(NULL, axis);
    axis->yield = yield;
    axis->yield_user = user;
    return CT_OK;
}

/* Sets `unheard` to whether no specification takes the events of a source. */
static void hear(const struct ct_verify_axis *axis, size_t source)
{
    const struct ct_verifier *v = axis->verifier;
    struct ct_axis_source *s = &axis->sources[source];
    s->unheard = true;
    for (size_t k = 0; k < v->fed_count && !s->muted; k++)
        s->unheard &= !ct_verify_hears(v->fed[k], source);
}

int ct_verify_axis_mute(struct ct_verify_axis *axis, size_t source, int mute)
{
    CT_REQUIRE_OF(axis, source < axis->count);
    axis->sources[source].muted = mute != 0;
    hear(axis, source);
    return CT_OK;
}

int ct_verify_axis_renew(struct ct_verify_axis *axis)
{
    int rc = CT_OK;
    CT_REQUIRE(NULL, axis);
    for (size_t i = 0; i < axis->count && !rc; i++) {
        hear(axis, i);
        rc = ct_watcher_renew(axis->sources[i].watcher);
    }
    return rc;
}

/* ---- counts ---- */

/* Moves by one step or mark. Returns whether a count began or ended at the cycle that the cursor has then. */
static bool move_on(struct ct_axis_cursor *c, const struct ct_step_batch *batch)
{
    const struct ct_step_mark *mark = c->mark < batch->mark_count ? &batch->marks[c->mark] : NULL;
    if (mark && mark->at <= c->step) {
        c->mark++;
        const bool is_local = mark->kind == CT_MARK_ELEM && mark->elem.kind == CT_ELEM_LOCAL_TIME;
        if (!is_local && (mark->kind != CT_MARK_ELEM || mark->elem.kind != CT_ELEM_CYCLES || mark->elem.aux))
            return false;
        c->cycle += is_local ? mark->elem.v << (mark->elem.aux & CT_SW_BITS) : mark->elem.v;
        c->shared = false;
        return true;
    }
    const uint32_t cycles = batch->cycles ? batch->cycles[c->step] : CT_STEP_NO_CYCLES;
    c->step++;
    if (cycles == CT_STEP_NO_CYCLES)
        return false;
    const bool shared = cycles & CT_STEP_SHARED;
    const bool ends = !shared || cycles & CT_STEP_ENDS;
    if (!shared && c->shared) /* the steps before belong to a count that was cut */
        c->count = c->cycle;
    c->shared = !ends;
    c->cycle += cycles & CT_STEP_CYCLES;
    return ends;
}

/* Notes for all waiting events that a count ended at this cycle. */
static void count_ends(struct ct_axis_source *s, uint64_t cycle)
{
    while (s->open < s->end && s->all[s->open].from < cycle && s->all[s->open].item.event.cycle < cycle)
        if (s->all[s->open++].to == UNKNOWN)
            s->all[s->open - 1].to = cycle;
    s->cursor.count = cycle;
    s->counted = true;
}

/* Skips steps inside a shared count, up to the next mark or up to `cycle`. */
static void skip_steps(struct ct_axis_cursor *c, const struct ct_step_batch *batch, uint64_t cycle)
{
    const size_t end = c->mark < batch->mark_count ? batch->marks[c->mark].at : batch->count;
    const uint32_t *cycles = batch->cycles;
    size_t step = c->step;
    uint64_t at = c->cycle;
    for (; step < end; step++) {
        const uint32_t part = cycles ? cycles[step] : CT_STEP_NO_CYCLES;
        if (part == CT_STEP_NO_CYCLES)
            continue;
        const uint64_t next = at + (part & CT_STEP_CYCLES);
        if ((part & (CT_STEP_SHARED | CT_STEP_ENDS)) != CT_STEP_SHARED || next > cycle)
            break;
        at = next;
        c->shared = true;
    }
    c->step = step;
    c->cycle = at;
}

/* Moves the cursor to the end of the last count that is not later than `cycle`. */
static void move_to(struct ct_axis_source *s, const struct ct_step_batch *batch, uint64_t cycle)
{
    for (;;) {
        skip_steps(&s->cursor, batch, cycle);
        if (s->cursor.step >= batch->count && s->cursor.mark >= batch->mark_count)
            break;
        struct ct_axis_cursor next = s->cursor;
        const bool ended = move_on(&next, batch);
        if (next.cycle > cycle)
            break;
        const bool began = next.count != s->cursor.count;
        s->cursor = next;
        if (began)
            count_ends(s, next.count);
        if (ended)
            count_ends(s, next.cycle);
    }
}

/* ---- intervals ---- */

/* Narrows the interval of an event by the fraction of the cycles between two timestamps that passed before
 * it. A timestamp is rounded down to whole ticks, so the upper end is one tick later. */
static void narrow(struct ct_axis_waiting *w, const struct ct_axis_anchor *a, const struct ct_axis_anchor *b)
{
    const uint64_t ticks = b->time - a->time;
    const uint64_t low = w->from > a->to ? w->from - a->to : 0;
    const uint64_t high = w->to != UNKNOWN && w->to > a->from ? w->to - a->from
                          : w->to == UNKNOWN                  ? UNKNOWN
                                                              : 0;
    const uint64_t most = b->to - a->from;
    const uint64_t least = b->from > a->to ? b->from - a->to : 0;
    if (low < most)
        w->item.begin = a->time + (uint64_t)((unsigned __int128)ticks * low / most);
    else
        w->item.begin = b->time;
    if (least && high < least) {
        const uint64_t end = a->time + (uint64_t)((unsigned __int128)ticks * high / least) + 1;
        w->item.end = end < b->time ? end : b->time;
    }
}

struct ct_verify_item ct_verify_axis_loss(size_t source, uint64_t begin, uint64_t end)
{
    return (struct ct_verify_item){
        .event = {.watch = UINT32_MAX, .kind = CT_WATCH_GAP, .source = (uint16_t)source},
        .begin = begin,
        .end = axis_at_least(end, begin)};
}

/* Turns an event that the specifications have already passed into a loss: it may have happened before or
 * after events that they took. */
static void be_late(const struct ct_verify_axis *axis, struct ct_axis_source *s, struct ct_axis_waiting *w,
                    uint64_t floor)
{
    s->passed.late += !ct_verify_is_loss(&w->item.event);
    if (s->epoch < axis->epoch) {
        w->epoch = axis->epoch;
        w->item.end = floor = axis->floor;
    }
    w->item = ct_verify_axis_loss(w->item.event.source, floor, w->item.end);
}

/* Returns the time before which events of a source come too late. This counts only after the others stopped
 * waiting; otherwise the result would depend on how the trace came in. */
static uint64_t late_before(const struct ct_verify_axis *axis, const struct ct_axis_source *s)
{
    if (!s->passed.times || s->epoch > axis->epoch)
        return 0;
    return s->epoch < axis->epoch ? UINT64_MAX : axis->floor;
}

/* Assigns intervals between two timestamps to the events that have none. `b`: NULL when there is no later
 * timestamp. `told`: for this many of the last events, `b` is their exact time. */
static void place(const struct ct_verify_axis *axis, struct ct_axis_source *s, const struct ct_axis_anchor *a,
                  const struct ct_axis_anchor *b, bool broken, uint64_t told)
{
    const uint64_t presumed = s->epoch == s->presumed_epoch ? s->presumed : 0;
    const uint64_t late = axis_at_least(presumed, late_before(axis, s));
    const bool rated = b && a->known && !broken && s->counted && b->time > a->time && b->to > a->from;
    for (; s->placed < s->end; s->placed++) {
        struct ct_axis_waiting *w = &s->all[s->placed];
        w->item.begin = a->known ? a->time : 0;
        w->item.end = b ? b->time : UINT64_MAX;
        if (b && s->end - s->placed <= told)
            w->item.begin = b->time;
        else if (rated)
            narrow(w, a, b);
        w->epoch = s->epoch;
        const bool is_late = w->item.begin < late;
        s->passed.unforeseen += w->item.begin < presumed;
        if (s->placed > s->first && w[-1].epoch == s->epoch) { /* events of a source keep their order */
            w->item.begin = axis_at_least(w->item.begin, w[-1].item.begin);
            w->item.end = axis_at_least(w->item.end, w[-1].item.end);
        }
        w->item.end = axis_at_least(w->item.end, w->item.begin);
        if (is_late)
            be_late(axis, s, w, late);
    }
    if (s->open < s->placed)
        s->open = s->placed;
}

/* Makes room for one more event. */
static int make_room(struct ct_verify_axis *axis, struct ct_axis_source *s)
{
    if (s->end == s->cap && s->first) {
        memmove(s->all, s->all + s->first, (s->end - s->first) * sizeof *s->all);
        s->placed -= s->first;
        s->open -= s->first;
        s->end -= s->first;
        s->held.end -= s->held.anchor.known ? s->first : 0;
        s->first = 0;
    }
    if (!CT_MAKE_ROOM(s->all, s->cap, s->end + 1))
        return ct_fail_nomem(axis->ctx, "axis");
    return CT_OK;
}

int ct_verify_axis_append_loss(struct ct_verify_axis *axis, struct ct_axis_source *s, uint64_t begin,
                               uint64_t end)
{
    if (make_room(axis, s))
        return CT_ERR_NOMEM;
    const struct ct_axis_waiting *before = s->placed > s->first ? &s->all[s->placed - 1] : NULL;
    const uint64_t least = before && before->epoch == s->epoch ? before->item.begin : 0;
    s->all[s->end] = (struct ct_axis_waiting){
        .item = ct_verify_axis_loss((size_t)(s - axis->sources), axis_at_least(begin, least), end),
        .to = UNKNOWN,
        .epoch = s->epoch};
    s->end++;
    s->placed = s->open = s->end;
    return CT_OK;
}

/* Returns whether a count ended at the cycle of the event, which is at the end of a step: execution reaches
 * the next step's first instruction when the branch before it is done. */
static bool is_exact(const struct ct_axis_source *s, const struct ct_watch_event *e)
{
    return s->counted && !s->cursor.shared && e->cycle == s->cursor.count;
}

/* ---- timestamps ---- */

static bool follows(const struct ct_axis_anchor *a, const struct ct_axis_anchor *b)
{
    return b->time >= a->time && b->time - a->time <= AXIS_LEAP;
}

/* Begins a new epoch of a source at a timestamp. What has no interval yet was before it, for an unknown time.
 */
static void begin_epoch(const struct ct_verify_axis *axis, struct ct_axis_source *s,
                        const struct ct_axis_anchor *at, uint32_t epoch)
{
    place(axis, s, &s->last, NULL, true, 0);
    if (s->last.known) {
        s->restarts.times++;
        s->restarts.from = s->last.time;
        s->restarts.to = at->time;
    }
    s->epoch = epoch;
    s->before = s->behind = *at;
    s->arrival = s->cursor.count;
    s->arrival_broken = true;
    s->arrival_exact = false;
    s->last = *at;
}

/* Takes the held timestamp, which another one confirmed or the end of the trace did not refute. */
static void accept_held(const struct ct_verify_axis *axis, struct ct_axis_source *s)
{
    const struct ct_axis_held h = s->held;
    const size_t end = s->end;
    s->held.anchor.known = false;
    s->end = h.end; /* only the events before it */
    if (h.anchor.time < s->last.time) {
        begin_epoch(axis, s, &h.anchor, s->epoch + 1);
    } else {
        place(axis, s, &s->last, &h.anchor, s->broken, h.told);
        if (h.first) {
            s->before = s->last;
            s->behind = h.anchor;
            s->arrival = h.arrival;
            s->arrival_broken = s->broken;
            s->arrival_exact = h.exact;
        }
        s->last = h.anchor;
    }
    s->end = end;
}

/* Holds a timestamp that does not follow the last one, until the next one tells which of them is wrong.
 * Returns whether it is held. */
static bool hold(const struct ct_verify_axis *axis, struct ct_axis_source *s, const struct ct_axis_anchor *b,
                 const struct ct_watch_event *e)
{
    if (s->absent && s->epoch < axis->epoch) { /* the clocks of the others started again meanwhile */
        s->held.anchor.known = false;
        begin_epoch(axis, s, b, axis->epoch);
    }
    if (!s->last.known)
        return false;
    const bool confirmed = s->held.anchor.known && follows(&s->held.anchor, b);
    if (follows(&s->last, b)) /* what is held was damaged */
        s->held.anchor.known = false;
    else if (confirmed)
        accept_held(axis, s);
    else
        s->held = (struct ct_axis_held){.anchor = *b,
                                        .end = s->end,
                                        .told = s->is_told ? e->value : 0,
                                        .arrival = s->cursor.count,
                                        .first = e->first != 0,
                                        .exact = is_exact(s, e)};
    return s->held.anchor.known;
}

static int stamp(struct ct_verify_axis *axis, struct ct_axis_source *s, const struct ct_watch_event *e)
{
    const struct ct_axis_cursor *c = &s->cursor;
    struct ct_axis_anchor b = {.known = true,
                               .time = e->timestamp,
                               .from = c->count + e->number,
                               .to = (c->shared ? e->cycle : c->count) + e->number};
    b.to = axis_at_least(b.to, b.from);
    if (hold(axis, s, &b, e))
        return CT_OK;
    place(axis, s, &s->last, &b, s->broken, s->is_told ? e->value : 0);
    if (e->first) {
        s->before = s->last;
        s->behind = b;
        s->arrival = s->cursor.count;
        s->arrival_broken = s->broken;
        s->arrival_exact = is_exact(s, e);
    }
    s->last = b;
    s->broken = s->absent = false;
    s->seen = true;
    if (!s->open_loss)
        return CT_OK;
    s->open_loss = false;
    return ct_verify_axis_append_loss(axis, s, s->epoch == axis->epoch ? axis->floor : 0, b.time);
}

/* ---- taking events ---- */

/* Returns whether a specification takes the event. */
static bool is_wanted(const struct ct_verify_axis *axis, const struct ct_axis_source *s,
                      const struct ct_watch_event *e)
{
    const struct ct_verifier *v = axis->verifier;
    if (s->unheard)
        return false;
    return ct_verify_is_loss(e) ||
           (e->watch < v->watch_count && v->first[e->watch] < v->first[e->watch + 1] &&
            (!axis->filter || axis->filter(axis->filter_user, (size_t)(s - axis->sources), e)));
}

static int keep(struct ct_verify_axis *axis, struct ct_axis_source *s, const struct ct_watch_event *e)
{
    s->seen = true;
    if (s->absent && s->end - s->placed >= UNTIMED) {
        s->passed.late += !ct_verify_is_loss(e);
        return CT_OK;
    }
    if (make_room(axis, s))
        return CT_ERR_NOMEM;
    const bool before = e->first == CT_WATCH_ARRIVAL_BEFORE && !s->held.anchor.known;
    const bool exact = before ? s->arrival_exact : e->first && is_exact(s, e);
    const uint64_t from = before ? s->arrival : s->cursor.count;
    s->all[s->end] = (struct ct_axis_waiting){.item.event = *e, .from = from, .to = exact ? from : UNKNOWN};
    s->all[s->end++].item.event.source = (uint16_t)(s - axis->sources);
    if (before)
        place(axis, s, &s->before, &s->behind, s->arrival_broken, 0);
    return CT_OK;
}

static int take_events(struct ct_verify_axis *axis, struct ct_axis_source *s,
                       const struct ct_step_batch *batch, size_t count)
{
    int rc = CT_OK;
    for (size_t i = 0; i < count && !rc; i++) {
        const struct ct_watch_event *e = &axis->events[i];
        move_to(s, batch, e->cycle);
        if (e->watch == axis->timestamps) {
            rc = stamp(axis, s, e);
            continue;
        }
        if (is_wanted(axis, s, e))
            rc = keep(axis, s, e);
        s->broken |= ct_verify_is_loss(e);
    }
    return rc;
}

int ct_verify_axis_take(struct ct_verify_axis *axis, size_t source, const struct ct_step_batch *batch)
{
    CT_REQUIRE_OF(axis, batch, source < axis->count);
    struct ct_axis_source *s = &axis->sources[source];
    const struct ct_verifier *v = axis->verifier;
    size_t count;
    int rc, more;
    if (!s->begun && (batch->count || batch->mark_count)) {
        s->begun = true;
        s->presumed = axis->presumed;
        s->epoch = s->presumed_epoch = axis->presumed_epoch;
        if (v->awaited)
            v->awaited[v->core_of[source]] = false;
    }
    do {
        rc = ct_watcher_run(s->watcher, batch, axis->events, AXIS_EVENTS, &count, &more);
        if (!rc)
            rc = take_events(axis, s, batch, count);
    } while (!rc && more);
    move_to(s, batch, UINT64_MAX);
    s->cursor.step = s->cursor.mark = 0;
    return rc;
}

int ct_verify_axis_end(struct ct_verify_axis *axis, size_t source)
{
    CT_REQUIRE_OF(axis, source < axis->count);
    struct ct_axis_source *s = &axis->sources[source];
    if (s->held.anchor.known)
        accept_held(axis, s);
    place(axis, s, &s->last, NULL, true, 0);
    s->over = true;
    return CT_OK;
}
