/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the events of one stream that a filter wants. */
#include "session/sieve.h"

#include "base/ctx.h"
#include "base/cycle_counts.h"
#include "base/require.h"

#include <stdlib.h>

struct ct_event_sieve {
    struct ct_filter filter;
    const struct ct_source *source;
    const struct ct_maps *maps;
    struct ct_sieve_window window;
    struct ct_sieve_clock clock;
    uint64_t first_cycle; /* clock cycle of the first event */
    struct ct_sieve_seen seen;
    bool is_wanted;      /* the current context is wanted */
    bool timestamps_add; /* the count of a timestamp is added to the others (struct ct_cycle_counts) */
};

static bool is_clock(const struct ct_filter_point *point)
{
    return point->kind != CT_POINT_INSTRUCTIONS && point->kind != CT_POINT_PLACE;
}

/* Refuses filters by instructions or places, which events do not show. */
static int check_kinds(struct ct_ctx *ctx, const struct ct_filter *f)
{
    const struct ct_filter_point *wrong = !is_clock(&f->from) ? &f->from : !is_clock(&f->to) ? &f->to : NULL;
    if (wrong && wrong->kind == CT_POINT_PLACE)
        return ct_fail(
            ctx, CT_ERR_ARG,
            "'%s' is read as a place, but a window of events cannot begin or end at one, because events do "
            "not contain every instruction; give a time (12.5s, 3ms, 20us, 700ns, 190327ticks) or a number "
            "of cycles (500000cyc)",
            wrong->place);
    if (wrong || f->module_count || f->function_count)
        return ct_fail(ctx, CT_ERR_ARG,
                       "the filter selects instructions, modules or functions; events do not contain every "
                       "instruction, so they cannot be filtered by these; give a window in time, ticks or "
                       "cycles");
    return CT_OK;
}

/* Refuses a window in cycles for a source without cycle counts: its clock would stand still, and the whole
 * stream would be before each point. */
static int check_cycles(struct ct_ctx *ctx, const struct ct_filter *f, const struct ct_source *source,
                        const struct ct_cycle_counts *counts)
{
    const bool needed = f->from.kind == CT_POINT_CYCLES || f->to.kind == CT_POINT_CYCLES;
    return needed && !counts->there ? ct_sieve_no_cycles(ctx, source) : CT_OK;
}

int ct_event_sieve_new(struct ct_ctx *ctx, const struct ct_sieve_options *options,
                       struct ct_event_sieve **out)
{
    struct ct_sieve_options o;
    struct ct_filter filter;
    struct ct_cycle_counts counts;
    CT_REQUIRE_OUT(ctx, out);
    int rc = ct_sieve_read_options(ctx, __func__, options, &o, &filter)
             ?: check_kinds(ctx, &filter)
             ?: ct_cycle_counts_of(ctx, o.source, &counts)
             ?: check_cycles(ctx, &filter, o.source, &counts);
    struct ct_event_sieve *s = rc ? NULL : calloc(1, sizeof *s);
    if (!s)
        return rc ? rc : ct_fail_nomem(ctx, "filter");
    *s = (struct ct_event_sieve){.filter = filter,
                                 .source = o.source,
                                 .maps = o.maps,
                                 .is_wanted = ct_sieve_wants_all(&filter),
                                 .timestamps_add = counts.timestamps_add};
    rc = ct_sieve_window_init(ctx, &s->window, &s->filter, NULL);
    if (rc) {
        ct_event_sieve_free(s);
        return rc;
    }
    *out = s;
    return CT_OK;
}

void ct_event_sieve_free(struct ct_event_sieve *s)
{
    if (!s)
        return;
    ct_sieve_window_free(&s->window);
    free(s);
}

void ct_event_sieve_begin_inside(struct ct_event_sieve *s, const struct ct_sieve_clock *clock)
{
    s->clock = *clock;
    s->first_cycle = clock->cycles;
    s->seen.inside = 1;
}

/* Updates time and context from an event. */
static void note(struct ct_event_sieve *s, const struct ct_event *event)
{
    const struct ct_elem context = {
        .kind = CT_ELEM_CONTEXT, .n = event->a, .aux = event->b, .v = event->value};
    const bool is_timestamp = event->type == CT_EVENT_TIMESTAMP;
    if (!is_timestamp || s->timestamps_add)
        s->clock.cycles = event->cycle;
    s->seen.has_cycles |= event->cycle > 0;
    s->seen.cycles = s->clock.cycles - s->first_cycle;
    if (is_timestamp)
        ct_sieve_note_ticks(&s->clock, &s->seen, event->value);
    if (event->type == CT_EVENT_CONTEXT)
        s->is_wanted = ct_sieve_wants(&s->filter, s->source, s->maps, &context, &s->seen);
}

int ct_event_sieve_run(struct ct_event_sieve *s, struct ct_event *events, size_t count, size_t *kept)
{
    static const struct ct_step_batch nothing; /* an event is no step, so no place can match */
    CT_REQUIRE(NULL, s, kept, events || !count);
    *kept = 0;
    for (size_t i = 0; i < count; i++) {
        note(s, &events[i]);
        if (ct_sieve_window_has(&s->window, &s->clock, &nothing) && s->is_wanted)
            events[(*kept)++] = events[i];
    }
    s->seen.steps += count;
    s->seen.kept += *kept;
    return CT_OK;
}

int ct_event_sieve_is_over(const struct ct_event_sieve *s)
{
    return s && s->window.to.reached;
}

const struct ct_sieve_seen *ct_event_sieve_seen(const struct ct_event_sieve *s)
{
    return s ? &s->seen : NULL;
}
