/* SPDX-License-Identifier: Apache-2.0 */
/* The window of a filter. Each of its two ends is reached once. */
#include "session/sieve.h"

#include "base/ctx.h"

#include <string.h>

enum {
    EVENTS = 64, /* events of a place that are handled at a time */
};

static int init_end(struct ct_ctx *ctx, struct ct_sieve_end *end, const struct ct_filter_point *point,
                    struct ct_programs *programs)
{
    *end = (struct ct_sieve_end){.point = *point};
    if (point->kind == CT_POINT_TIME || point->kind > CT_POINT_PLACE)
        return ct_fail(ctx, CT_ERR_ARG,
                       "ct_sieve_new: the filter has a time that was not converted to "
                       "ticks; call ct_filter_settle first");
    if (point->kind != CT_POINT_PLACE)
        return CT_OK;
    return ct_watches_new(ctx, programs, &end->watches)
           ?: ct_watches_add(end->watches, point->place, NULL, NULL)
           ?: ct_watcher_new(ctx, end->watches, &end->watcher);
}

int ct_sieve_window_init(struct ct_ctx *ctx, struct ct_sieve_window *w, const struct ct_filter *filter,
                         struct ct_programs *programs)
{
    int rc = init_end(ctx, &w->from, &filter->from, programs);
    w->from.reached = filter->from.kind == CT_POINT_NONE;
    return rc ? rc : init_end(ctx, &w->to, &filter->to, programs);
}

void ct_sieve_window_free(struct ct_sieve_window *w)
{
    ct_watcher_free(w->from.watcher);
    ct_watcher_free(w->to.watcher);
    ct_watches_free(w->from.watches);
    ct_watches_free(w->to.watches);
}

/* Returns whether an event means that execution reached the place. The return of a function counts only if
 * the place asks for it. */
static bool is_coming(const struct ct_sieve_end *end, const struct ct_watch_event *event)
{
    return event->kind != CT_WATCH_RETURN || strncmp(end->point.place, "return:", 7) == 0;
}

/* Counts how often the item reaches the place of an end; a negative error. */
static int comings(struct ct_sieve_end *end, const struct ct_step_batch *item)
{
    struct ct_watch_event events[EVENTS];
    int result = 0;
    int rc, more;
    do {
        size_t count;
        rc = ct_watcher_run(end->watcher, item, events, EVENTS, &count, &more);
        for (size_t i = 0; i < count; i++)
            result += is_coming(end, &events[i]);
    } while (!rc && more);
    return rc ? rc : result;
}

/* Advances one end by an item. `first`: a place without a number is reached by the first arrival. */
static int move(struct ct_sieve_end *end, const struct ct_sieve_clock *clock,
                const struct ct_step_batch *item, bool first)
{
    const uint64_t value = end->point.value;
    int n;
    switch ((enum ct_filter_point_kind)end->point.kind) {
    case CT_POINT_TICKS:
        end->reached |= clock->ticks >= value;
        break;
    case CT_POINT_CYCLES:
        end->reached |= clock->cycles >= value;
        break;
    case CT_POINT_INSTRUCTIONS:
        end->reached |= clock->instructions >= value;
        break;
    case CT_POINT_PLACE:
        n = comings(end, item);
        if (n < 0)
            return n;
        end->times += (unsigned)n;
        end->reached |= end->point.times ? end->times >= end->point.times : n && first;
        break;
    case CT_POINT_NONE:
    case CT_POINT_TIME:
        break;
    }
    return CT_OK;
}

int ct_sieve_window_has(struct ct_sieve_window *w, const struct ct_sieve_clock *clock,
                        const struct ct_step_batch *item)
{
    const bool had_begun = w->from.reached;
    int rc = move(&w->from, clock, item, true);
    if (!rc)
        rc = move(&w->to, clock, item, had_begun);
    return rc ? rc : w->from.reached && !w->to.reached;
}
