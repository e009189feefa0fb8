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

/* Returns the earliest beginning of a source's next event. Sets *ready to whether that event exists. */
static uint64_t next_begin(const struct ct_verify_axis *axis, const struct ct_axis_source *s, bool *ready)
{
    *ready = s->first < s->placed;
    if (*ready)
        return s->all[s->first].item.begin;
    if (s->over)
        return UINT64_MAX;
    return axis_at_least(known_time(s), s->begun ? s->presumed : axis->presumed);
}

/* Finds the source whose next event begins first. Among equals, prefers one that has to be waited for. */
static size_t find_first(const struct ct_verify_axis *axis, uint64_t *begin, bool *ready)
{
    size_t best = 0;
    *begin = UINT64_MAX;
    *ready = true;
    for (size_t i = 0; i < axis->count; i++) {
        bool has;
        const struct ct_axis_source *s = &axis->sources[i];
        const uint64_t b = next_begin(axis, s, &has);
        if (!has && (s->over || s->absent || s->unheard))
            continue;
        if (b < *begin || (b == *begin && *ready && !has)) {
            *begin = b;
            *ready = has;
            best = i;
        }
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

/* Gives all specifications their turn. No later event begins before `floor`. */
static int turn(struct ct_verify_axis *axis, uint64_t floor)
{
    axis->taken = 0;
    axis->floor = floor < UINT64_MAX ? axis_at_least(axis->floor, floor) : axis->floor;
    return ct_verify_due_run(axis->verifier, floor);
}

int ct_verify_axis_run(struct ct_verify_axis *axis)
{
    CT_REQUIRE(NULL, axis);
    uint64_t begin;
    bool ready;
    int rc = CT_OK;
    for (;;) {
        struct ct_axis_source *s = &axis->sources[find_first(axis, &begin, &ready)];
        const bool none = begin == UINT64_MAX;
        /* turns depend on the events alone, not on how they came in, so that the order of results does,
         * too */
        const bool turns = none ? is_over(axis) : ready && axis->taken >= (axis->yield ? ROUND_YIELD : ROUND);
        if (turns)
            rc = turn(axis, begin);
        if (rc || none || !ready || (turns && axis->yield && axis->yield(axis->yield_user)))
            break;
        axis->floor = axis_at_least(axis->floor, begin);
        rc = ct_verify_due_take(axis->verifier, &s->all[s->first++].item);
        axis->taken++;
    }
    return rc;
}

int ct_verify_axis_settle(struct ct_verify_axis *axis)
{
    uint64_t begin;
    bool ready;
    const int rc = ct_verify_axis_run(axis);
    if (rc)
        return rc;
    find_first(axis, &begin, &ready);
    return begin == UINT64_MAX ? CT_OK : turn(axis, begin);
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
    uint64_t begin;
    bool ready;
    CT_REQUIRE(NULL, axis);
    struct ct_axis_source *s = &axis->sources[find_first(axis, &begin, &ready)];
    if (ready)
        return CT_OK;
    s->passed.late += s->end - s->placed;
    s->end = s->open = s->placed;
    s->absent = true;
    s->passed.times++;
    if (!s->seen || axis->idle)
        return CT_OK;
    s->open_loss = true;
    return ct_verify_axis_append_loss(axis, s, axis_at_least(begin, axis->floor), UINT64_MAX);
}

int ct_verify_axis_presume(struct ct_verify_axis *axis)
{
    uint64_t reached = UINT64_MAX;
    CT_REQUIRE(NULL, axis);
    for (size_t i = 0; i < axis->count; i++) {
        const struct ct_axis_source *s = &axis->sources[i];
        const uint64_t known = known_time(s);
        if (s->begun && !s->over && !s->absent && !s->unheard && known < reached)
            reached = known;
    }
    axis->presumed = axis_at_least(axis->presumed, axis->reached);
    axis->reached = reached < UINT64_MAX ? reached : axis->reached;
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

int ct_verify_axis_next(const struct ct_verify_axis *axis)
{
    uint64_t begin;
    bool ready;
    CT_REQUIRE(NULL, axis);
    const size_t source = find_first(axis, &begin, &ready);
    return ready ? -1 : (int)source;
}
