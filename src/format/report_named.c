/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what the report shows of named events. */
#include "format/report_named.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"

/* numbers of events are below this */
#define NUMBERS 65536u

/* most spans that are drawn, the longest ones */
#define SPANS 5000

/* most bytes of a text that are shown */
#define TEXT 300

/* The context of an event being taken. */
struct taking {
    struct ct_report_named *named;
    uint64_t time;
};

/* ---- rows ---- */

/* Returns the row of a name, and makes it if necessary. Returns NULL when out of memory. */
static struct ct_report_named_row *row_of(struct ct_report_named *n, const struct ct_named_event *e)
{
    const uint8_t kind = e->entry->kind == CT_NAMED_VALUE ? CT_NAMED_VALUE : CT_NAMED_BEGIN;
    if (!n->row_of && !(n->row_of = calloc(NUMBERS, sizeof *n->row_of)))
        return NULL;
    uint32_t *known = &n->row_of[e->entry->number];
    for (size_t i = 0; i < n->row_count && !*known; i++)
        if (n->rows[i].kind == kind && strcmp(n->rows[i].name, e->entry->text) == 0)
            *known = (uint32_t)i + 1;
    if (!*known) {
        struct ct_report_named_row *rows = ct_arena_push(&n->arena, n->rows, &n->row_count, sizeof *rows);
        if (!rows)
            return NULL;
        n->rows = rows;
        rows[n->row_count - 1] =
            (struct ct_report_named_row){.name = e->entry->text, .port = e->port, .kind = kind};
        *known = (uint32_t)n->row_count;
    }
    struct ct_report_named_row *row = &n->rows[*known - 1];
    row->more_ports |= row->port != e->port;
    return row;
}

static void add_up(struct ct_report_named_row *row, double value)
{
    row->least = !row->count || value < row->least ? value : row->least;
    row->most = !row->count || value > row->most ? value : row->most;
    row->sum += value;
    row->last = value;
    row->count++;
}

/* ---- values over time ---- */

/* Merges points in pairs, to make room for as many again. */
static void halve(struct ct_report_named_row *row)
{
    struct ct_report_point *p = row->points;
    for (size_t i = 0; i < CT_REPORT_POINTS / 2; i++) {
        const struct ct_report_point a = p[2 * i];
        const struct ct_report_point b = p[2 * i + 1];
        p[i] = (struct ct_report_point){a.from, b.to, a.least < b.least ? a.least : b.least,
                                        a.most > b.most ? a.most : b.most};
    }
    row->point_count = CT_REPORT_POINTS / 2;
    row->each *= 2;
}

static bool add_point(struct ct_report_named *n, struct ct_report_named_row *row, uint64_t time, double value)
{
    if (!row->points && !(row->points = ct_arena_alloc(&n->arena, CT_REPORT_POINTS * sizeof *row->points)))
        return false;
    if (!row->point_count || row->in_last == row->each) {
        if (row->point_count == CT_REPORT_POINTS)
            halve(row);
        row->each = row->each ? row->each : 1;
        row->points[row->point_count++] = (struct ct_report_point){time, time, value, value};
        row->in_last = 1;
        return true;
    }
    struct ct_report_point *last = &row->points[row->point_count - 1];
    last->to = time;
    last->least = value < last->least ? value : last->least;
    last->most = value > last->most ? value : last->most;
    row->in_last++;
    return true;
}

static bool take_value(const struct taking *t, const struct ct_named_event *e)
{
    struct ct_report_named_row *row = row_of(t->named, e);
    const double value = ct_named_number(e, 0);
    if (!row)
        return false;
    if (value != value) /* NaN has no place on an axis */
        return true;
    add_up(row, value);
    return add_point(t->named, row, t->time, value);
}

/* ---- spans ---- */

/* Returns the lane of a port, or CT_REPORT_PORTS when there is none left. */
static uint32_t lane_of(struct ct_report_named *n, uint64_t port)
{
    size_t i = 0;
    while (i < n->port_count && n->ports[i] != port)
        i++;
    if (i == n->port_count && i < CT_REPORT_PORTS)
        n->ports[n->port_count++] = port;
    return (uint32_t)i;
}

static bool begin_span(const struct taking *t, const struct ct_named_event *e)
{
    struct ct_report_named *n = t->named;
    const struct ct_report_named_row *row = row_of(n, e);
    if (!row)
        return false;
    if (n->open_count == CT_REPORT_SPANS_OPEN) {
        n->orphans++;
        return true;
    }
    n->open[n->open_count++] = (struct ct_report_span){
        .row = (uint32_t)(row - n->rows), .lane = lane_of(n, e->port), .port = e->port, .from = t->time};
    return true;
}

/* Removes an open span from the list, and draws it. CT_ERR_NOMEM. */
static int close_span(struct ct_report_named *n, size_t at, uint64_t time)
{
    const struct ct_report_span span = n->open[at];
    uint32_t depth = 0;
    for (size_t i = 0; i < at; i++)
        depth += n->open[i].port == span.port;
    n->open_count--;
    memmove(&n->open[at], &n->open[at + 1], (n->open_count - at) * sizeof *n->open);
    const struct ct_slice slice = {.lane = span.lane,
                                   .function = span.row,
                                   .depth = depth,
                                   .from = span.from,
                                   .to = time > span.from ? time : span.from + 1};
    return span.lane < CT_REPORT_PORTS ? ct_slices_add(&n->spans, &slice) : CT_OK;
}

static bool end_span(const struct taking *t, const struct ct_named_event *e)
{
    struct ct_report_named *n = t->named;
    struct ct_report_named_row *row = row_of(n, e);
    if (!row)
        return false;
    size_t at = n->open_count;
    while (at && (n->open[at - 1].port != e->port || &n->rows[n->open[at - 1].row] != row))
        at--;
    if (!at) {
        n->orphans++;
        return true;
    }
    add_up(row, (double)(t->time - n->open[at - 1].from));
    return close_span(n, at - 1, t->time) == CT_OK;
}

/* ---- texts ---- */

static bool take_text(const struct taking *t, const struct ct_named_event *e)
{
    struct ct_report_named *n = t->named;
    char text[TEXT + 1];
    if (n->text_count == CT_REPORT_TEXTS) {
        n->texts_left_out++;
        return true;
    }
    (void)ct_named_event_text(e, n->lines.table, n->lines.shift, text, sizeof text);
    struct ct_report_named_text *texts = ct_arena_push(&n->arena, n->texts, &n->text_count, sizeof *texts);
    const char *kept = texts ? ct_arena_strdup(&n->arena, text) : NULL;
    if (!kept)
        return false;
    n->texts = texts;
    texts[n->text_count - 1] = (struct ct_report_named_text){t->time, e->port, kept};
    return true;
}

/* ---- events of any kind ---- */

static int take(void *user, const struct ct_named_event *e)
{
    const struct taking *t = user;
    bool fine;
    t->named->end = t->time > t->named->end ? t->time : t->named->end;
    t->named->cut += e->cut;
    if (e->entry->kind == CT_NAMED_TEXT)
        fine = take_text(t, e);
    else if (e->cut)
        fine = true; /* without its value there is nothing to add up */
    else if (e->entry->kind == CT_NAMED_VALUE)
        fine = take_value(t, e);
    else
        fine = e->entry->kind == CT_NAMED_BEGIN ? begin_span(t, e) : end_span(t, e);
    return fine ? CT_OK : ct_fail_nomem(t->named->ctx, "named events");
}

int ct_report_named_add(struct ct_report_named *n, const struct ct_event_origin *origin,
                        const struct ct_timed_event *events, size_t count)
{
    struct taking taking = {.named = n};
    const int found = count ? ct_named_lines_find(&n->lines) : CT_OK;
    int rc = found == CT_ERR_NOMEM ? found : CT_OK;
    n->spans.most = SPANS;
    n->spans.end = UINT64_MAX;
    for (size_t i = 0; i < count && !rc; i++) {
        bool taken;
        taking.time = origin->timed ? events[i].time : events[i].event.cycle;
        rc = ct_named_lines_take(&n->lines, origin, &events[i].event, &taken, take, &taking);
        n->untimed |= taken && !origin->timed;
    }
    return rc ? rc : found;
}

int ct_report_named_end(struct ct_report_named *n)
{
    int rc = CT_OK;
    n->orphans += n->open_count;
    while (n->open_count && !rc)
        rc = close_span(n, n->open_count - 1, n->end);
    ct_slices_end(&n->spans);
    return rc;
}

void ct_report_named_free(struct ct_report_named *n)
{
    ct_named_lines_free(&n->lines);
    ct_slices_free(&n->spans);
    ct_arena_free(&n->arena);
    free(n->row_of);
}
