/* SPDX-License-Identifier: Apache-2.0 */
/* Passes the events of all sources to the specifications, ordered by the beginning of their intervals.
 * Continues without sources that are not waited for. */
#include "verify/axis_own.h"

#include "base/require.h"

enum {
    ROUND = 256,      /* events between two turns of the specifications */
    ROUND_YIELD = 32, /* the same when another thread may wait for the end of a turn */
};

/* Returns the time before which all events of a source have their intervals. */
static uint64_t known_time(const struct ct_axis_source *s)
{
    /* an event of a core may have happened before the timestamps since its last step */
    const struct ct_axis_anchor *known = s->is_software ? &s->last : &s->before;
    return known->known ? known->time : 0;
}

/* What comes next from a source, or from all of them. */
struct next {
    size_t source;
    uint64_t begin; /* earliest beginning of the next event; UINT64_MAX: there is none */
    uint32_t epoch; /* of `begin` */
    bool ready;     /* that event exists */
};

static struct next next_of(const struct ct_verify_axis *axis, size_t source)
{
    const struct ct_axis_source *s = &axis->sources[source];
    if (s->first < s->placed)
        return (struct next){source, s->all[s->first].item.begin, s->all[s->first].epoch, true};
    if (s->over)
        return (struct next){.source = source, .begin = UINT64_MAX};
    if (!s->begun)
        return (struct next){source, axis->presumed, axis->presumed_epoch, false};
    return (struct next){source,
                         axis_at_least(known_time(s), s->epoch == s->presumed_epoch ? s->presumed : 0),
                         s->epoch, false};
}

/* Returns whether `a` comes before `b`. Among equals, prefers one that has to be waited for. */
static bool is_before(const struct next *a, const struct next *b)
{
    if (b->begin == UINT64_MAX || a->begin == UINT64_MAX)
        return a->begin < b->begin;
    if (a->epoch != b->epoch)
        return a->epoch < b->epoch;
    return a->begin < b->begin || (a->begin == b->begin && b->ready && !a->ready);
}

/* Finds the source whose next event begins first. */
static struct next find_first(const struct ct_verify_axis *axis)
{
    struct next best = {.begin = UINT64_MAX, .ready = true};
    for (size_t i = 0; i < axis->count; i++) {
        const struct ct_axis_source *s = &axis->sources[i];
        const struct next next = next_of(axis, i);
        if ((next.ready || !(s->over || s->absent || s->unheard)) && is_before(&next, &best))
            best = next;
    }
    return best;
}

/* Returns whether all sources are at their end. */
static bool is_over(const struct ct_verify_axis *axis)
{
    bool over = true;
    for (size_t i = 0; i < axis->count && over; i++)
        over = axis->sources[i].over;
    return over;
}

/* Gives all specifications their turn. No later event begins before the next one. */
static int turn(struct ct_verify_axis *axis, const struct next *next)
{
    axis->taken = 0;
    if (next->begin == UINT64_MAX)
        return ct_verify_due_run(axis->verifier, UINT64_MAX);
    if (next->epoch > axis->epoch)
        return ct_verify_due_run(axis->verifier, axis->most + 1);
    axis->floor = axis_at_least(axis->floor, next->begin);
    return ct_verify_due_run(axis->verifier, axis->floor + axis->offset);
}

/* Goes to the epoch of the next event. Its times continue those of the last one. What happened while the
 * clocks started again is lost, of all sources. A source that is not waited for stays lost. */
static int begin_epoch(struct ct_verify_axis *axis, const struct next *next)
{
    const uint64_t begin = axis->most + 1;
    int rc = CT_OK;
    axis->epoch = next->epoch;
    axis->floor = next->begin;
    axis->offset = begin - next->begin;
    axis->most = begin;
    ct_verify_due_limit(axis->verifier, begin);
    for (size_t i = 0; i < axis->count && !rc; i++) {
        const struct ct_axis_source *s = &axis->sources[i];
        const struct ct_verify_item loss = ct_verify_axis_loss(i, begin, s->open_loss ? UINT64_MAX : begin);
        rc = s->unheard ? CT_OK : ct_verify_due_take(axis->verifier, &loss);
    }
    return rc;
}

/* Passes on the next event of a source, on the clock of the specifications. */
static int pass_on(struct ct_verify_axis *axis, struct ct_axis_source *s)
{
    struct ct_verify_item item = s->all[s->first++].item;
    item.begin += axis->offset;
    axis->most = axis_at_least(axis->most, item.begin);
    if (item.end < UINT64_MAX)
        axis->most = axis_at_least(axis->most, item.end += axis->offset);
    axis->taken++;
    return ct_verify_due_take(axis->verifier, &item);
}

int ct_verify_axis_run(struct ct_verify_axis *axis)
{
    CT_REQUIRE(NULL, axis);
    int rc = CT_OK;
    for (;;) {
        const struct next next = find_first(axis);
        const bool none = next.begin == UINT64_MAX;
        /* turns depend on the events alone, not on how they came in, so that the order of results does,
         * too */
        const bool turns =
            none ? is_over(axis) : next.ready && axis->taken >= (axis->yield ? ROUND_YIELD : ROUND);
        if (turns)
            rc = turn(axis, &next);
        if (rc || none || !next.ready || (turns && axis->yield && axis->yield(axis->yield_user)))
            break;
        if (next.epoch > axis->epoch)
            rc = begin_epoch(axis, &next);
        axis->floor = axis_at_least(axis->floor, next.begin);
        rc = rc ? rc : pass_on(axis, &axis->sources[next.source]);
    }
    return rc;
}

int ct_verify_axis_settle(struct ct_verify_axis *axis)
{
    const int rc = ct_verify_axis_run(axis);
    if (rc)
        return rc;
    const struct next next = find_first(axis);
    return next.begin == UINT64_MAX ? CT_OK : turn(axis, &next);
}

/* ---- sources that are not waited for ---- */

size_t ct_verify_axis_held(const struct ct_verify_axis *axis)
{
    size_t held = 0;
    for (size_t i = 0; axis && i < axis->count; i++)
        held += axis->sources[i].end - axis->sources[i].first;
    return held;
}

int ct_verify_axis_pass(struct ct_verify_axis *axis)
{
    CT_REQUIRE(NULL, axis);
    const struct next next = find_first(axis);
    struct ct_axis_source *s = &axis->sources[next.source];
    if (next.ready)
        return CT_OK;
    s->passed.late += s->end - s->placed;
    s->end = s->open = s->placed;
    s->held.anchor.known = false;
    s->absent = true;
    s->passed.times++;
    if (!s->seen || axis->idle)
        return CT_OK;
    s->open_loss = true;
    const uint64_t floor = s->epoch == axis->epoch ? axis->floor : 0;
    return ct_verify_axis_append_loss(axis, s, axis_at_least(next.begin, floor), UINT64_MAX);
}

int ct_verify_axis_presume(struct ct_verify_axis *axis)
{
    struct next reached = {.begin = UINT64_MAX, .ready = true};
    CT_REQUIRE(NULL, axis);
    for (size_t i = 0; i < axis->count; i++) {
        const struct ct_axis_source *s = &axis->sources[i];
        const struct next known = {i, known_time(s), s->epoch, true};
        if (s->begun && !s->over && !s->absent && !s->unheard && is_before(&known, &reached))
            reached = known;
    }
    if (axis->reached_epoch > axis->presumed_epoch)
        axis->presumed = axis->reached;
    else if (axis->reached_epoch == axis->presumed_epoch)
        axis->presumed = axis_at_least(axis->presumed, axis->reached);
    if (axis->reached_epoch > axis->presumed_epoch)
        axis->presumed_epoch = axis->reached_epoch;
    if (reached.begin < UINT64_MAX) {
        axis->reached = reached.begin;
        axis->reached_epoch = reached.epoch;
    }
    return CT_OK;
}

int ct_verify_axis_passed_of(const struct ct_verify_axis *axis, size_t source,
                             struct ct_verify_axis_passed *out)
{
    CT_REQUIRE_OF(axis, out, source < axis->count);
    *out = axis->sources[source].passed;
    out->came = axis->sources[source].seen;
    return CT_OK;
}

int ct_verify_axis_restarts_of(const struct ct_verify_axis *axis, size_t source,
                               struct ct_verify_axis_restarts *out)
{
    CT_REQUIRE_OF(axis, out, source < axis->count);
    *out = axis->sources[source].restarts;
    return CT_OK;
}

int ct_verify_axis_next(const struct ct_verify_axis *axis)
{
    CT_REQUIRE(NULL, axis);
    const struct next next = find_first(axis);
    return next.ready ? -1 : (int)next.source;
}
