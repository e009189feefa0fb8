/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a log into sums: its events, and the times between hits of its observation points. */
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "base/room.h"
#include "base/saturate.h"
#include "fractal_sums/sums.h"

/* Returns whether a text is short enough to be kept. */
static bool is_text(const char *text)
{
    return !text || strlen(text) <= CT_FRACTAL_SUMS_NAME;
}

int ct_fractal_sums_begin(struct ct_fractal_sums *s, const struct ct_fractal_run *run)
{
    struct ct_fractal_run mine;
    CT_REQUIRE(NULL, s);
    int rc = ct_options_read(s->analysis.ctx, __func__, run, &mine, sizeof mine);
    if (rc)
        return rc;
    if (s->open || !is_text(mine.name) || !is_text(mine.program))
        return ct_fail(s->analysis.ctx, CT_ERR_ARG,
                       "fractal: a log begins before the end of the previous one, or its names are too long; "
                       "it was not added");
    s->program = ct_arena_strdup(&s->texts, mine.program ? mine.program : "");
    if (!s->program)
        return ct_fail_nomem(s->analysis.ctx, "fractal");
    if (!s->first_program && *s->program)
        s->first_program = s->program;
    if (mine.name && *mine.name)
        rc = ct_analysis_add_run(&s->analysis, mine.name);
    s->clock_hz = mine.clock_hz;
    s->hit_count = 0;
    s->open = !rc;
    return rc;
}

const char *ct_fractal_sums_program(const struct ct_fractal_sums *s)
{
    return s ? s->first_program : NULL;
}

/* Returns the state of a point of the current log, and creates it when it is missing. NULL: out of memory. */
static struct ct_fractal_hit *hit_of(struct ct_fractal_sums *s, uint32_t point)
{
    const bool fits = CT_MAKE_ZEROED_ROOM(s->hits, s->hit_count, (size_t)point + 1);
    return fits ? &s->hits[point] : NULL;
}

/* Counts a hit of an observation point. A log knows a point by its number, the sums by its name. */
static int take_point(struct ct_fractal_sums *s, const struct ct_fractal_event *event,
                      const struct ct_fractal_place *place)
{
    struct ct_fractal_hit *hit = hit_of(s, place->point_number ? place->point_number - 1 : event->point);
    struct ct_fractal_point_sum once = {.program = s->program,
                                        .name = place->point,
                                        .offset = place->point_offset,
                                        .clock_hz = s->clock_hz,
                                        .hits = 1};
    if (!hit)
        return ct_fail_nomem(s->analysis.ctx, "fractal");
    if (hit->hit && event->time >= hit->last) { /* in a log of several runs, time may go back */
        once.intervals = 1;
        once.shortest = once.longest = once.total = event->time - hit->last;
    }
    hit->hit = true;
    hit->last = event->time;
    return ct_fractal_sums_put_point(s, &once);
}

/* Returns whether a caller's place is valid. */
static bool is_place(const struct ct_fractal_place *place)
{
    return place->name && place->kind < CT_FRACTAL_PAGE && is_text(place->name) && is_text(place->area) &&
           is_text(place->point);
}

/* Counts the totals, which need no name. */
static void count(struct ct_fractal_totals *t, const struct ct_fractal_event *e)
{
    ct_add_up(e->flags & CT_FRACTAL_ALIAS ? &t->aliases : &t->events, 1);
    ct_add_up(&t->insns, e->kind == CT_FRACTAL_KIND_INSN);
    ct_add_up(&t->by_op[e->op < CT_FRACTAL_OP_COUNT ? e->op : 0], 1);
    ct_add_up(&t->by_initiator[e->initiator & 63], 1);
}

int ct_fractal_sums_take(struct ct_fractal_sums *s, const struct ct_fractal_event *event,
                         const struct ct_fractal_place *place)
{
    CT_REQUIRE(NULL, s, event, place, s->open, is_place(place));
    struct ct_fractal_sum once = {.program = s->program,
                                  .name = place->name,
                                  .kind = place->kind,
                                  .events = 1,
                                  .insns = event->kind == CT_FRACTAL_KIND_INSN};
    int rc = ct_fractal_sums_put(s, &once);
    if (!rc && place->area) {
        once.name = place->area;
        once.offset = place->offset >> 12 << 12;
        once.kind = CT_FRACTAL_PAGE;
        rc = ct_fractal_sums_put(s, &once);
    }
    if (!rc && place->point && event->point < CT_FRACTAL_SUMS_MOST)
        rc = take_point(s, event, place);
    if (!rc)
        count(&s->totals, event);
    return rc;
}

int ct_fractal_sums_end(struct ct_fractal_sums *s, uint64_t dropped, uint64_t damaged)
{
    CT_REQUIRE(NULL, s, s->open);
    const struct ct_analysis_captures one = {
        .known = 1, .damaged = damaged != 0, .losses = {.overflows = dropped, .lost_bytes = damaged}};
    s->open = false;
    free(s->hits);
    s->hits = NULL;
    s->hit_count = 0;
    return ct_analysis_add_captures(&s->analysis, &one);
}
