/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a log: as text, CSV, pictures, Perfetto JSON. */
#include "fractal_log/report.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/out.h"
#include "base/printable.h"
#include "base/search.h"
#include "coretap/format.h"
#include "fractal_log/each.h"
#include "fractal_log/names.h"

#define ROWS 15 /* rows of a table */

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
    if (x->events != y->events)
        return x->events < y->events ? 1 : -1;
    return x->page < y->page ? -1 : x->page > y->page;
}

/* Orders numbers. */
static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Writes the indices of the names with the most events, at most `most`. Returns how many. */
static size_t top_names(const struct ct_fractal_report *r, size_t *out, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < r->name_count; i++) {
        if (!r->by_name[i].events)
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

/* Chooses the rows of the pictures, and allocates their cells. */
static int choose_rows(struct ct_fractal_report *r)
{
    size_t top[REPORT_ROWS], count;
    const size_t rows = top_names(r, top, REPORT_ROWS);
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

/* ---- output ---- */

static const char *const modes[] = {"passive", "points", "active"}; /* by enum ct_fractal_mode */

/* Prints an event as a CSV line. */
static int csv_event(void *user, const struct ct_fractal_event *e)
{
    const struct ct_fractal_report *r = user;
    return ct_fractal_csv_write(ct_fractal_log_names_of(r->log, e), e, ct_write_file, r->out);
}

/* Prints a table of the names of kinds `first` to `last`. */
static void text_names(const struct ct_fractal_report *r, FILE *out, uint64_t wanted, unsigned first,
                       unsigned last, const char *title)
{
    size_t top[256], count, shown = 0;
    const size_t n = top_names(r, top, 256);
    const struct ct_fractal_name *all = ct_fractal_names_all(r->names, &count);
    fprintf(out, "\n%s\n%10s %7s %12s %12s  %s\n", title, "events", "share", "first", "last", "name");
    for (size_t i = 0; i < n && shown < wanted; i++) {
        const struct ct_fractal_by_name *b = &r->by_name[top[i]];
        const struct ct_fractal_name *name = &all[top[i]];
        if (name->kind < first || name->kind > last)
            continue;
        shown++;
        fprintf(out, "%10llu %6.2f%% %12.4f %12.4f  %s\n", (unsigned long long)b->events,
                100.0 * (double)b->events / (double)r->events, ct_fractal_report_ms(r, b->first),
                ct_fractal_report_ms(r, b->last), name->text);
    }
    if (!shown)
        fputs("      none\n", out);
}

/* Returns the sum of a point of the log, or NULL. */
static const struct ct_fractal_point_sum *point_sum(const struct ct_fractal_report *r, uint32_t point)
{
    size_t count;
    const struct ct_fractal_by_point *p = &r->points[point];
    const struct ct_fractal_point_sum *all = ct_fractal_sums_points(r->sums, &count);
    for (size_t i = 0; i < count; i++)
        if (all[i].offset == p->offset && strcmp(all[i].name, p->name) == 0)
            return &all[i];
    return NULL;
}

/* Prints a table of the observation points. */
static void text_points(const struct ct_fractal_report *r, FILE *out)
{
    bool any = false;
    for (unsigned i = 0; i < CT_FRACTAL_LOG_POINTS; i++) {
        const struct ct_fractal_point_sum *p = r->points[i].name ? point_sum(r, i) : NULL;
        if (!p)
            continue;
        if (!any)
            fprintf(out, "\nMilestones (observation points)\n%5s %18s %10s %12s %12s %12s %12s  %-8s %s\n",
                    "point", "va", "hits", "first", "shortest", "mean", "longest", "told by", "name");
        any = true;
        const unsigned long long va = r->points[i].offset + ct_fractal_log_bias(r->log);
        const double mean = p->intervals ? (double)p->total / (double)p->intervals : 0;
        const double scale = r->info->clock_hz ? 1e3 / (double)r->info->clock_hz : 1;
        fprintf(out, "%5u 0x%016llx %10llu %12.4f %12.4f %12.4f %12.4f  %-8s ", i, va,
                (unsigned long long)p->hits, ct_fractal_report_ms(r, r->points[i].first),
                (double)p->shortest * scale, mean * scale, (double)p->longest * scale,
                r->points[i].is_line ? "line" : "address");
        ct_put_printable(out, p->name);
        fputc('\n', out);
    }
}

/* Prints the ranges of the log if there are several, and what was changed during the run. */
static void text_ranges(const struct ct_fractal_report *r, FILE *out)
{
    for (const char *at = r->info->text; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL) {
        char text[1024];
        unsigned process, image;
        unsigned long long time;
        int n = 0;
        if (sscanf(at, "range=%u %n", &process, &n) == 1 && n) {
            snprintf(text, sizeof text, "%.*s", (int)strcspn(at + n, "\n"), at + n);
            const size_t ends = strcspn(text, " ");
            fprintf(out, "          %.*s  ", (int)ends, text);
            ct_put_printable(out, text + ends + (text[ends] == ' '));
            if (process)
                fprintf(out, " of process %u", process);
            fputc('\n', out);
        } else if (sscanf(at, "exec=%u %u %n", &process, &image, &n) == 2 && n) {
            snprintf(text, sizeof text, "%.*s", (int)strcspn(at + n, "\n"), at + n);
            fprintf(out, "          process %u became process %u: ", process, image);
            ct_put_printable(out, text);
            fputc('\n', out);
        } else if (sscanf(at, "left=%u %n", &process, &n) == 1 && n) {
            snprintf(text, sizeof text, "%.*s", (int)strcspn(at + n, "\n"), at + n);
            fprintf(out, "          process %u became a program that is not traced: ", process);
            ct_put_printable(out, text);
            fputc('\n', out);
        } else if (sscanf(at, "absent=%u %n", &process, &n) == 1 && n) {
            snprintf(text, sizeof text, "%.*s", (int)strcspn(at + n, "\n"), at + n);
            fprintf(out, "          process %u does not have ", process);
            ct_put_printable(out, text);
            fputc('\n', out);
        } else if (sscanf(at, "steer=%llu %n", &time, &n) == 1 && n) {
            snprintf(text, sizeof text, "%.*s", (int)strcspn(at + n, "\n"), at + n);
            fprintf(out, "          at %.4f: ", ct_fractal_report_ms(r, time));
            ct_put_printable(out, text);
            fputc('\n', out);
        }
    }
}

/* Prints totals and tables. */
static int print_text(struct ct_fractal_report *r, FILE *out, uint64_t wanted)
{
    const struct ct_fractal_totals *t = ct_fractal_sums_totals(r->sums);
    fprintf(out, "range     0x%llx..0x%llx, mode %s, page of %u KiB\n", (unsigned long long)r->info->range_lo,
            (unsigned long long)r->info->range_hi, r->info->mode < 3 ? modes[r->info->mode] : "?",
            1u << (r->info->granule & 31) >> 10);
    text_ranges(r, out);
    if (r->only != CT_FRACTAL_ALL)
        fprintf(out, "process   %d alone\n", r->only);
    fprintf(out,
            "events    %llu (%llu of instructions), %llu more for pages mapped twice; %llu dropped; %llu "
            "bytes damaged\n",
            (unsigned long long)t->events, (unsigned long long)t->insns, (unsigned long long)t->aliases,
            (unsigned long long)r->dropped, (unsigned long long)r->damaged);
    fprintf(out, "time      %.4f %s; pages %zu\n", ct_fractal_report_ms(r, r->end),
            r->info->clock_hz ? "ms" : "cycles", r->page_count);
    for (unsigned i = 0; i < CT_FRACTAL_OP_COUNT; i++)
        if (t->by_op[i])
            fprintf(out, "%-18s %llu\n", ct_fractal_op_name(i), (unsigned long long)t->by_op[i]);
    for (unsigned i = 0; i < 64; i++)
        if (t->by_initiator[i])
            fprintf(out, "initiator %-8u %llu\n", i, (unsigned long long)t->by_initiator[i]);
    if (r->runs > 1) {
        fprintf(out, "runs      %u, beginning at", r->runs);
        for (unsigned i = 0; i < r->runs; i++)
            fprintf(out, " %.4f", ct_fractal_report_ms(r, r->run_start[i]));
        fputs("\n", out);
    }
    if (!r->events)
        return CT_OK;
    text_names(r, out, wanted, CT_FRACTAL_FUNCTION, CT_FRACTAL_FUNCTION, "Functions");
    text_names(r, out, wanted, CT_FRACTAL_OBJECT, CT_FRACTAL_ELSEWHERE, "Objects, sections and regions");
    text_points(r, out);
    return CT_OK;
}

/* Prints the names with the most events as an HTML table. */
static void html_table(const struct ct_fractal_report *r, FILE *out)
{
    size_t top[256], count;
    const size_t n = top_names(r, top, 256);
    const struct ct_fractal_name *all = ct_fractal_names_all(r->names, &count);
    fputs("<table><tr><th>events</th><th>share</th><th>first</th><th>last</th><th>name</th></tr>\n", out);
    for (size_t i = 0; i < n; i++) {
        const struct ct_fractal_by_name *b = &r->by_name[top[i]];
        fprintf(out, "<tr><td>%llu</td><td>%.2f %%</td><td>%.4f</td><td>%.4f</td><td>",
                (unsigned long long)b->events, 100.0 * (double)b->events / (double)r->events,
                ct_fractal_report_ms(r, b->first), ct_fractal_report_ms(r, b->last));
        ct_fractal_put_xml(out, all[top[i]].text);
        fputs("</td></tr>\n", out);
    }
    fputs("</table>\n", out);
}

/* Prints a page with all pictures. */
static void print_html(const struct ct_fractal_report *r, FILE *out)
{
    char alone[40] = "";
    if (r->only != CT_FRACTAL_ALL)
        snprintf(alone, sizeof alone, "; of process %d alone", r->only);
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
          "content=\"width=device-width,initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">"
          "<title>FRACTAL log</title>\n<style>body{font:14px sans-serif;margin:2em "
          "auto;max-width:900px;padding:0 "
          "12px;color:#222;background:#fff}h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}.scroll{"
          "overflow-x:auto}svg{display:block;width:100%;min-width:850px;height:auto;box-sizing:border-box;"
          "border:1px "
          "solid #8884}table{"
          "border-collapse:collapse}td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #8884}"
          "td:last-child,th:last-child{text-align:left}@media(prefers-color-scheme:dark){body{color:#e5e8ed;"
          "background:#101317}}</style></head><body>\n<h1>Last-level misses, as FRACTAL saw them</h1>\n",
          out);
    fprintf(
        out,
        "<p>%llu events in %.4f %s, %llu of them instruction fetches; range 0x%llx..0x%llx; mode %s; %llu "
        "dropped%s.</p>\n",
        (unsigned long long)r->events, ct_fractal_report_ms(r, r->end), r->info->clock_hz ? "ms" : "cycles",
        (unsigned long long)ct_fractal_sums_totals(r->sums)->insns, (unsigned long long)r->info->range_lo,
        (unsigned long long)r->info->range_hi, r->info->mode < 3 ? modes[r->info->mode] : "?",
        (unsigned long long)r->dropped, alone);
    if (r->runs > 1)
        fprintf(out, "<p>The same functions appear in %u separate phases: %u runs.</p>\n", r->runs, r->runs);
    static const struct {
        const char *title;
        void (*print)(const struct ct_fractal_report *r, FILE *out);
    } parts[] = {{"Functions over time", ct_fractal_report_svg_timeline},
                 {"Pages over time", ct_fractal_report_svg_heat},
                 {"Cache sets over time", ct_fractal_report_svg_sets},
                 {"Lines of the busiest page", ct_fractal_report_svg_lines},
                 {"Functions and objects", html_table}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        fprintf(out, "<h2>%s</h2>\n<div class=\"scroll\" tabindex=\"0\">\n", parts[i].title);
        parts[i].print(r, out);
        fputs("</div>\n", out);
    }
    fputs("</body></html>\n", out);
}

/* Prints an event in Chrome's format: an instant, on a track per initiator, in microseconds. */
static int perfetto_event(void *user, const struct ct_fractal_event *e)
{
    const struct ct_fractal_report *r = user;
    FILE *out = r->out;
    const double us = r->info->clock_hz ? (double)e->time * 1e6 / (double)r->info->clock_hz : (double)e->time;
    fputs(",\n{\"name\":\"", out);
    (void)ct_text_write(ct_fractal_names_at(ct_fractal_log_names_of(r->log, e), e->va)->text, CT_TEXT_JSON,
                        ct_write_file, out);
    fprintf(out,
            "\",\"ph\":\"i\",\"s\":\"t\",\"pid\":%u,\"tid\":%u,\"ts\":%.4f,\"args\":{\"va\":"
            "\"0x%llx\","
            "\"pa\":\"0x%llx\",\"op\":\"%s\"}}",
            e->target, e->initiator, us, (unsigned long long)e->va, (unsigned long long)e->pa,
            ct_fractal_op_name(e->op));
    return ferror(out) ? CT_ERR_IO : CT_OK;
}

/* Prints all events for Perfetto. */
static int print_perfetto(struct ct_fractal_report *r, FILE *out)
{
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,"
          "\"args\":"
          "{\"name\":\"FRACTAL\"}}",
          out);
    const int rc = ct_fractal_each(r->ctx, r->reader, r->only, perfetto_event, r);
    fputs("\n]}\n", out);
    return rc;
}

/* ---- public functions ---- */

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
    if (!log || !out)
        return ct_fail_null(ctx, __func__);
    *out = NULL;
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

/* Counts the cells of the pictures, once. */
static int draw(struct ct_fractal_report *r)
{
    const int rc = r->drawn ? CT_OK : ct_fractal_each(r->ctx, r->reader, r->only, draw_event, r);
    r->drawn = rc == CT_OK;
    return rc;
}

/* Prints a format that consists of pictures. */
static int write_picture(struct ct_fractal_report *r, unsigned format, FILE *out)
{
    const int rc = draw(r);
    if (rc != CT_OK)
        return rc;
    if (format == CT_FRACTAL_REPORT_HTML)
        print_html(r, out);
    else if (format == CT_FRACTAL_REPORT_SVG_TIMELINE)
        ct_fractal_report_svg_timeline(r, out);
    else if (format == CT_FRACTAL_REPORT_SVG_PAGES)
        ct_fractal_report_svg_heat(r, out);
    else if (format == CT_FRACTAL_REPORT_SVG_SETS)
        ct_fractal_report_svg_sets(r, out);
    else
        ct_fractal_report_svg_lines(r, out);
    return CT_OK;
}

/* Prints the report in a format. */
static int write_as(struct ct_fractal_report *r, const struct ct_fractal_report_write_options *how, FILE *out)
{
    switch (how->format) {
    case CT_FRACTAL_REPORT_TEXT:
        return print_text(r, out, how->rows ? how->rows : ROWS);
    case CT_FRACTAL_REPORT_CSV:
        fputs(CT_FRACTAL_CSV_HEADER, out);
        return ct_fractal_each(r->ctx, r->reader, r->only, csv_event, r);
    case CT_FRACTAL_REPORT_PERFETTO:
        return print_perfetto(r, out);
    default:
        return write_picture(r, how->format, out);
    }
}

int ct_fractal_report_write(struct ct_fractal_report *r,
                            const struct ct_fractal_report_write_options *options, ct_write_fn *write,
                            void *user)
{
    struct ct_fractal_report_write_options own;
    struct ct_out out;
    if (!r || !write)
        return CT_ERR_ARG;
    int rc = ct_options_read(r->ctx, __func__, options, &own, sizeof own);
    if (rc == CT_OK && own.format > CT_FRACTAL_REPORT_SVG_SETS)
        rc = ct_fail(r->ctx, CT_ERR_ARG, "%s: format %u does not exist; nothing was written", __func__,
                     own.format);
    if (rc == CT_OK)
        rc = ct_out_open(&out, r->ctx, write, user);
    if (rc != CT_OK)
        return rc;
    r->out = out.file;
    rc = ct_out_close(&out, write_as(r, &own, out.file));
    r->out = NULL;
    return rc;
}
