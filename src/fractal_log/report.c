/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what a report on a log shows: events by name, page and point, and the cells of its pictures. */
#include "fractal_log/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "base/search.h"
#include "fractal_log/each.h"
#include "fractal_log/names.h"

/* ---- first pass: totals ---- */

/* Finds the entry of a page, or creates it. The hash table uses open addressing and grows by powers of two.
 * NULL: out of memory. */
static struct ct_fractal_by_page *page_entry(struct ct_fractal_report *r, uint64_t page)
{
    if ((r->page_count + 1) * 2 > r->page_room) {
        const size_t room = r->page_room ? r->page_room * 2 : 4096;
        struct ct_fractal_by_page *bigger = calloc(room, sizeof *bigger);
        if (!bigger)
            return NULL;
        for (size_t i = 0; i < r->page_room; i++) {
            size_t at = r->pages[i].page * 0x9e3779b1u & (room - 1);
            while (r->pages[i].page && bigger[at].page)
                at = (at + 1) & (room - 1);
            if (r->pages[i].page)
                bigger[at] = r->pages[i];
        }
        free(r->pages);
        r->pages = bigger;
        r->page_room = room;
    }
    size_t at = (page + 1) * 0x9e3779b1u & (r->page_room - 1);
    while (r->pages[at].page && r->pages[at].page != page + 1)
        at = (at + 1) & (r->page_room - 1);
    r->page_count += !r->pages[at].page;
    r->pages[at].page = page + 1;
    return &r->pages[at];
}

/* Returns the name of an event's address. */
static const struct ct_fractal_name *name_of(const struct ct_fractal_report *r,
                                             const struct ct_fractal_event *e)
{
    return ct_fractal_names_at(r->names, ct_fractal_log_key(r->log, e));
}

/* Returns the index of the name of an event's address. */
static size_t name_index(const struct ct_fractal_report *r, const struct ct_fractal_event *e)
{
    size_t count;
    return (size_t)(name_of(r, e) - ct_fractal_names_all(r->names, &count));
}

/* Counts an event, and extends the time range of the log. */
static int count_event(void *user, const struct ct_fractal_event *e)
{
    struct ct_fractal_report *r = user;
    if (!r->events++)
        r->start = r->end = e->time;
    r->start = e->time < r->start ? e->time : r->start;
    r->end = e->time > r->end ? e->time : r->end;
    return CT_OK;
}

/* ---- second pass: names and pictures ---- */

/* Returns which of `slots` equal parts of the log's time range contains a time. */
static unsigned slot(const struct ct_fractal_report *r, uint64_t time, unsigned slots)
{
    const double span = (double)(r->end - r->start) + 1;
    const double place = (double)(time - r->start) / span * slots;
    return place < slots ? (unsigned)place : slots - 1; /* rounding can reach `slots` for a large time
                                                         * range */
}

/* Counts an event by its name. */
static void name_event(struct ct_fractal_report *r, const struct ct_fractal_event *e)
{
    struct ct_fractal_by_name *n = &r->by_name[name_index(r, e)];
    if (!n->events++)
        n->first = e->time;
    n->last = e->time;
    const unsigned bin = slot(r, e->time, REPORT_BINS);
    n->bin[bin / 8] |= (uint8_t)(1u << bin % 8);
}

/* Counts an event by its page. */
static int count_page(struct ct_fractal_report *r, const struct ct_fractal_event *e)
{
    struct ct_fractal_by_page *page = page_entry(r, ct_fractal_log_key(r->log, e) >> 12);
    if (page)
        page->events++;
    return page ? CT_OK : ct_fail_nomem(r->ctx, "the log's pages");
}

/* Counts an event in the cells of the pictures. */
static int draw_event(void *user, const struct ct_fractal_event *e)
{
    struct ct_fractal_report *r = user;
    const unsigned column = slot(r, e->time, REPORT_COLUMNS);
    const struct ct_fractal_name *name = name_of(r, e);
    for (uint32_t i = 0; i < r->timeline.rows; i++)
        if (r->timeline.name[i] == name)
            r->timeline.cell[(size_t)i * REPORT_COLUMNS + column]++;
    const uint64_t page = ct_fractal_log_key(r->log, e) >> 12 << 12;
    const size_t row = CT_COUNT_WHILE(r->heat.rows, i, r->heat.page[i] < page);
    if (row < r->heat.rows && r->heat.page[row] == page)
        r->heat.cell[row * REPORT_COLUMNS + column]++;
    if (r->lines.rows && page == r->lines.page[0])
        r->lines.cell[(size_t)(e->va >> 6 & 63) * REPORT_COLUMNS + column]++;
    const uint32_t set = (uint32_t)(e->pa / CT_FRACTAL_LINE) & (r->set_count - 1);
    r->sets.cell[(size_t)(set / (r->set_count / r->sets.rows)) * REPORT_COLUMNS + column]++;
    return CT_OK;
}

/* Returns the number of sets of the last-level cache. A log states it if it differs from a Kria's. */
static uint32_t sets_of(const struct ct_fractal_log_info *info)
{
    const char *at = info->text ? strstr(info->text, "\nsets=") : NULL;
    const unsigned long sets = at ? strtoul(strchr(at, '=') + 1, NULL, 10) : 1024;
    return sets && sets <= 1u << 24 && !(sets & (sets - 1)) ? (uint32_t)sets : 1024;
}

/* Orders pages by number of events, most first. */
static int by_events(const void *a, const void *b)
{
    const struct ct_fractal_by_page *x = a, *y = b;
    return ct_order(y->events, x->events) ?: ct_order(x->page, y->page);
}

/* Orders numbers. */
static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return ct_order(x, y);
}

size_t ct_fractal_report_top(const struct ct_fractal_report *r, unsigned first, unsigned last, size_t *out,
                             size_t most)
{
    size_t n = 0, count;
    const struct ct_fractal_name *all = ct_fractal_names_all(r->names, &count);
    for (size_t i = 0; i < r->name_count; i++) {
        if (!r->by_name[i].events || all[i].kind < first || all[i].kind > last)
            continue;
        size_t at = n < most ? n++ : most;
        while (at && r->by_name[out[at - 1]].events < r->by_name[i].events) {
            if (at < most)
                out[at] = out[at - 1];
            at--;
        }
        if (at < most)
            out[at] = i;
    }
    return n;
}

/* Returns the sum of a point of the log, or NULL. */
static const struct ct_fractal_point_sum *point_sum(const struct ct_fractal_report *r, unsigned point)
{
    size_t count;
    const struct ct_fractal_by_point *p = &r->points[point];
    const struct ct_fractal_point_sum *all = ct_fractal_sums_points(r->sums, &count);
    for (size_t i = 0; i < count && p->name; i++)
        if (all[i].offset == p->offset && strcmp(all[i].name, p->name) == 0)
            return &all[i];
    return NULL;
}

bool ct_fractal_report_point(const struct ct_fractal_report *r, unsigned point,
                             struct ct_fractal_point_row *row)
{
    const struct ct_fractal_by_point *p = &r->points[point];
    const struct ct_fractal_point_sum *sum = point_sum(r, point);
    const double scale = r->info->clock_hz ? 1e3 / (double)r->info->clock_hz : 1;
    if (!sum)
        return false;
    *row = (struct ct_fractal_point_row){
        .va = p->offset + ct_fractal_log_bias(r->log),
        .hits = sum->hits,
        .first = ct_fractal_report_ms(r, p->first),
        .shortest = (double)sum->shortest * scale,
        .mean = sum->intervals ? (double)sum->total / (double)sum->intervals * scale : 0,
        .longest = (double)sum->longest * scale,
        .name = sum->name,
        .is_line = p->is_line};
    return true;
}

/* Chooses the rows of the pictures, and allocates their cells. */
static int choose_rows(struct ct_fractal_report *r)
{
    size_t top[REPORT_ROWS], count;
    const size_t rows = ct_fractal_report_top(r, CT_FRACTAL_FUNCTION, CT_FRACTAL_ELSEWHERE, top, REPORT_ROWS);
    const struct ct_fractal_name *all = ct_fractal_names_all(r->names, &count);
    /* in the order of first execution, which the eye can follow */
    for (size_t i = 1; i < rows; i++)
        for (size_t j = i; j && r->by_name[top[j]].first < r->by_name[top[j - 1]].first; j--) {
            const size_t t = top[j];
            top[j] = top[j - 1];
            top[j - 1] = t;
        }
    for (size_t i = 0; i < rows; i++)
        r->timeline.name[i] = &all[top[i]];
    r->timeline.rows = (uint32_t)rows;
    if (r->page_room) /* a log without accesses has no pages */
        qsort(r->pages, r->page_room, sizeof *r->pages, by_events);
    while (r->heat.rows < REPORT_MAP_ROWS && r->heat.rows < r->page_room && r->pages[r->heat.rows].events) {
        r->heat.page[r->heat.rows] = (r->pages[r->heat.rows].page - 1) << 12;
        r->heat.rows++;
    }
    r->lines.rows = r->heat.rows ? 64 : 0;
    for (unsigned i = 0; i < r->lines.rows; i++)
        r->lines.page[i] = r->heat.page[0] + i * 64;
    qsort(r->heat.page, r->heat.rows, sizeof *r->heat.page, by_number);
    r->set_count = sets_of(r->info);
    r->sets.rows = r->set_count < REPORT_SET_ROWS ? r->set_count : REPORT_SET_ROWS;
    struct ct_fractal_map *maps[] = {&r->timeline, &r->heat, &r->lines, &r->sets};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (!(maps[i]->cell = calloc((size_t)(maps[i]->rows + 1) * REPORT_COLUMNS, sizeof *maps[i]->cell)))
            return ct_fail_nomem(r->ctx, "pictures of a log");
    return CT_OK;
}

/* Counts an event by its name and page, and in the sums. */
static int sum_event(void *user, const struct ct_fractal_event *e)
{
    struct ct_fractal_report *r = user;
    struct ct_fractal_place place;
    name_event(r, e);
    int rc = count_page(r, e);
    if (rc == CT_OK)
        rc = ct_fractal_log_place(r->log, e, &place);
    if (rc != CT_OK)
        return rc;
    struct ct_fractal_by_point *point = place.point && place.point_number <= CT_FRACTAL_LOG_POINTS
                                            ? &r->points[place.point_number - 1]
                                            : NULL;
    if (point && !point->name)
        *point = (struct ct_fractal_by_point){place.point_offset, e->time, place.point, place.point_is_line};
    return ct_fractal_sums_take(r->sums, e, &place);
}

/* Counts everything that needs names. */
static int sum_log(struct ct_fractal_report *r)
{
    const struct ct_fractal_run run = {.size = sizeof run, .clock_hz = r->info->clock_hz};
    int rc = ct_fractal_sums_new(r->ctx, &r->sums);
    if (rc == CT_OK)
        rc = ct_fractal_sums_begin(r->sums, &run);
    if (rc == CT_OK)
        rc = ct_fractal_each(r->ctx, r->reader, r->only, sum_event, r);
    return rc == CT_OK ? ct_fractal_sums_end(r->sums, r->dropped, r->damaged) : rc;
}

/* Reads the log twice, because it names its regions at its end. */
static int collect(struct ct_fractal_report *r, const struct ct_fractal_names_options *options)
{
    r->points = calloc(CT_FRACTAL_LOG_POINTS, sizeof *r->points);
    int rc = r->points ? ct_fractal_each(r->ctx, r->reader, r->only, count_event, r)
                       : ct_fail_nomem(r->ctx, "points of a log");
    ct_fractal_reader_losses(r->reader, &r->dropped, &r->damaged);
    if (rc == CT_OK)
        rc = ct_fractal_log_name(r->log, options);
    if (rc != CT_OK)
        return rc;
    r->names = ct_fractal_log_names(r->log);
    ct_fractal_names_all(r->names, &r->name_count);
    r->by_name = calloc(r->name_count, sizeof *r->by_name);
    if (!r->by_name)
        return ct_fail_nomem(r->ctx, "names of a log");
    rc = sum_log(r);
    if (rc == CT_OK)
        rc = choose_rows(r);
    if (rc == CT_OK)
        ct_fractal_report_find_runs(r);
    return rc;
}

int ct_fractal_report_new(struct ct_ctx *ctx, struct ct_fractal_log *log,
                          const struct ct_fractal_names_options *options, struct ct_fractal_report **out)
{
    CT_REQUIRE_OUT(ctx, out, log);
    struct ct_fractal_report *r = calloc(1, sizeof *r);
    if (!r)
        return ct_fail_nomem(ctx, "report of a log");
    r->ctx = ctx;
    r->log = log;
    r->reader = ct_fractal_log_reader(log);
    r->info = ct_fractal_reader_info(r->reader);
    struct ct_fractal_names_options own;
    int rc = ct_options_read(ctx, __func__, options, &own, sizeof own);
    r->only = ct_fractal_only(&own);
    if (rc == CT_OK)
        rc = collect(r, &own);
    if (rc == CT_OK)
        *out = r;
    else
        ct_fractal_report_free(r);
    return rc;
}

void ct_fractal_report_free(struct ct_fractal_report *r)
{
    if (!r)
        return;
    ct_fractal_sums_free(r->sums);
    free(r->by_name);
    free(r->pages);
    free(r->points);
    free(r->timeline.cell);
    free(r->heat.cell);
    free(r->lines.cell);
    free(r->sets.cell);
    free(r);
}

struct ct_fractal_sums *ct_fractal_report_sums(struct ct_fractal_report *r)
{
    return r ? r->sums : NULL;
}

int ct_fractal_report_draw(struct ct_fractal_report *r)
{
    const int rc = r->drawn ? CT_OK : ct_fractal_each(r->ctx, r->reader, r->only, draw_event, r);
    r->drawn = rc == CT_OK;
    return rc;
}
