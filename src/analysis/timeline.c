/* SPDX-License-Identifier: Apache-2.0 */
#include "coretap/timeline.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/require.h"

/* A point with a known position on both axes. */
struct anchor {
    uint64_t time;
    uint64_t cycle;
};

struct ct_timeline {
    struct ct_timed_event *ring; /* ring buffer of CT_TIMELINE_WAITING events */
    uint32_t first;              /* number of the oldest event; its index is that number modulo the size */
    uint32_t stamped;            /* number of the first event without a time */
    uint32_t end;
    struct anchor last;
    bool anchored;
    uint64_t rate_time;   /* ticks between the last two timestamps */
    uint64_t rate_cycles; /* cycles between the last two timestamps; 0 when not known */
    uint64_t newest;      /* latest time given to an event */
};

int ct_timeline_new(struct ct_ctx *ctx, struct ct_timeline **out)
{
    CT_REQUIRE_OUT(ctx, out);
    struct ct_timeline *t = calloc(1, sizeof *t);
    if (t)
        t->ring = malloc(CT_TIMELINE_WAITING * sizeof *t->ring);
    if (!t || !t->ring) {
        free(t);
        return ct_fail_nomem(ctx, "timeline");
    }
    *out = t;
    return CT_OK;
}

void ct_timeline_free(struct ct_timeline *t)
{
    if (!t)
        return;
    free(t->ring);
    free(t);
}

static struct ct_timed_event *at(const struct ct_timeline *t, uint32_t i)
{
    return &t->ring[i % CT_TIMELINE_WAITING];
}

/* Returns `ticks` × `part` / `whole` without overflow, if part <= whole or the result fits. */
static uint64_t share(uint64_t ticks, uint64_t part, uint64_t whole)
{
    return (uint64_t)((unsigned __int128)ticks * part / whole);
}

static void set_time(struct ct_timeline *t, struct ct_timed_event *event, uint64_t time)
{
    if (time < t->newest)
        time = t->newest;
    t->newest = time;
    event->time = time;
}

/* Takes a timestamp. All waiting events lie before it. */
static void stamp(struct ct_timeline *t, struct anchor now)
{
    bool rated = t->anchored && now.cycle > t->last.cycle && now.time >= t->last.time;
    uint64_t ticks = rated ? now.time - t->last.time : 0;
    uint64_t cycles = rated ? now.cycle - t->last.cycle : 0;
    for (; t->stamped != t->end; t->stamped++) {
        struct ct_timed_event *event = at(t, t->stamped);
        /* A timestamp may include cycles that the events behind it have no count for yet. */
        uint64_t cycle = event->event.cycle > t->last.cycle ? event->event.cycle : t->last.cycle;
        uint64_t before = cycle < now.cycle ? now.cycle - cycle : 0;
        set_time(t, event, rated ? now.time - share(ticks, before, cycles) : now.time);
    }
    if (rated) {
        t->rate_time = ticks;
        t->rate_cycles = cycles;
    }
    t->last = now;
    t->anchored = true;
}

/* Computes times from the last timestamp and the last rate, because the next timestamp is too far away or
 * never comes. */
static void stamp_behind(struct ct_timeline *t, uint32_t count)
{
    for (; count && t->stamped != t->end; count--, t->stamped++) {
        struct ct_timed_event *event = at(t, t->stamped);
        uint64_t cycle = event->event.cycle;
        uint64_t since = cycle > t->last.cycle ? cycle - t->last.cycle : 0;
        uint64_t ticks = t->rate_cycles ? share(t->rate_time, since, t->rate_cycles) : 0;
        set_time(t, event, t->last.time + ticks);
    }
}

size_t ct_timeline_push(struct ct_timeline *t, const struct ct_event *events, size_t size)
{
    size_t taken;
    if (!t || !events)
        return 0;
    for (taken = 0; taken < size; taken++) {
        const struct ct_event *event = &events[taken];
        if (t->end - t->first == CT_TIMELINE_WAITING) {
            if (t->stamped == t->first)
                stamp_behind(t, CT_TIMELINE_WAITING / 2);
            break;
        }
        struct ct_timed_event *timed = at(t, t->end++);
        *timed = (struct ct_timed_event){.event = *event};
        if (event->type == CT_EVENT_END) {
            stamp_behind(t, UINT32_MAX);
        } else if (event->type == CT_EVENT_TIMESTAMP) {
            stamp(t, (struct anchor){.time = event->value, .cycle = event->cycle});
        }
    }
    return taken;
}

size_t ct_timeline_fetch(struct ct_timeline *t, struct ct_timed_event *out, size_t cap)
{
    size_t count = 0;
    if (!t || !out)
        return 0;
    while (count < cap && t->first != t->stamped)
        out[count++] = *at(t, t->first++);
    return count;
}
