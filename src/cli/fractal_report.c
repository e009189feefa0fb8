/* SPDX-License-Identifier: Apache-2.0 */
/* coretap fractal report: a log as text, CSV, pictures, Perfetto JSON. */
#include "cli/fractal_report.h"
#include "cli/fractal_sums.h"

#include <stdlib.h>
#include <string.h>

enum {
    OPT_ELF,
    OPT_BIAS,
    OPT_CSV,
    OPT_HTML,
    OPT_SVG,
    OPT_PERFETTO,
    OPT_DATA,
    OPT_TOP,
    OPTS
};

enum {
    SVG_TIMELINE,
    SVG_PAGES,
    SVG_LINES
};

#define BATCH 4096

/* ---- first pass: totals ---- */

static struct cli_by_page *page_entry(struct cli_fractal_report *r, uint64_t page)
{
    if ((r->page_count + 1) * 2 > r->page_room) {
        const size_t room = r->page_room ? r->page_room * 2 : 4096;
        struct cli_by_page *bigger = calloc(room, sizeof *bigger);
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

static size_t name_index(const struct cli_fractal_report *r, uint64_t va)
{
    size_t count;
    return (size_t)(ct_fractal_names_at(r->names, va) - ct_fractal_names_all(r->names, &count));
}

static int count_event(struct cli_fractal_report *r, const struct ct_fractal_event *e)
{
    if (!r->events++)
        r->start = r->end = e->time;
    r->start = e->time < r->start ? e->time : r->start;
    r->end = e->time > r->end ? e->time : r->end;
    struct cli_by_point *point = e->point < CT_FRACTAL_LOG_POINTS ? &r->points[e->point] : NULL;
    if (point && !point->va)
        *point = (struct cli_by_point){e->va + 1, e->time};
    struct cli_by_page *page = page_entry(r, e->va >> 12);
    if (page)
        page->events++;
    return page != NULL;
}

static int for_each(struct cli_fractal_report *r,
                    int (*fn)(struct cli_fractal_report *, const struct ct_fractal_event *))
{
    static const char what[] = "no memory for the log's pages";
    struct ct_fractal_event *batch = malloc(BATCH * sizeof *batch);
    size_t n;
    int ok = batch != NULL;
    ct_fractal_reader_rewind(r->reader);
    while (ok && (n = ct_fractal_reader_next(r->reader, batch, BATCH)))
        for (size_t i = 0; i < n && ok; i++)
            ok = fn(r, &batch[i]);
    free(batch);
    if (!ok)
        cli_say("%s", what);
    return ok;
}

/* ---- second pass: names and pictures ---- */

static unsigned slot(const struct cli_fractal_report *r, uint64_t time, unsigned slots)
{
    const double span = (double)(r->end - r->start) + 1;
    const double place = (double)(time - r->start) / span * slots;
    return place < slots ? (unsigned)place : slots - 1; /* of a large span one more is no other number */
}

static int name_event(struct cli_fractal_report *r, const struct ct_fractal_event *e)
{
    struct cli_by_name *n = &r->by_name[name_index(r, e->va)];
    if (!n->events++)
        n->first = e->time;
    n->last = e->time;
    n->insns += e->kind == CT_FRACTAL_KIND_INSN;
    const unsigned bin = slot(r, e->time, REPORT_BINS);
    n->bin[bin / 8] |= (uint8_t)(1u << bin % 8);
    return 1;
}

static int draw_event(struct cli_fractal_report *r, const struct ct_fractal_event *e)
{
    const unsigned column = slot(r, e->time, REPORT_COLUMNS);
    const struct ct_fractal_name *name = ct_fractal_names_at(r->names, e->va);
    for (uint32_t i = 0; i < r->timeline.rows; i++)
        if (r->timeline.name[i] == name)
            r->timeline.cell[(size_t)i * REPORT_COLUMNS + column]++;
    const uint64_t page = e->va >> 12 << 12;
    for (uint32_t lo = 0, hi = r->heat.rows; lo < hi;) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (r->heat.page[mid] == page) {
            r->heat.cell[(size_t)mid * REPORT_COLUMNS + column]++;
            break;
        }
        if (r->heat.page[mid] < page)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (r->lines.rows && page == r->lines.page[0])
        r->lines.cell[(size_t)(e->va >> 6 & 63) * REPORT_COLUMNS + column]++;
    return 1;
}

static int by_events(const void *a, const void *b)
{
    const struct cli_by_page *x = a, *y = b;
    if (x->events != y->events)
        return x->events < y->events ? 1 : -1;
    return x->page < y->page ? -1 : x->page > y->page;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Indices of the names with the most events, at most `most`. */
static size_t top_names(const struct cli_fractal_report *r, size_t *out, size_t most)
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

static int choose_rows(struct cli_fractal_report *r)
{
    size_t top[REPORT_ROWS], count;
    const size_t rows = top_names(r, top, REPORT_ROWS);
    const struct ct_fractal_name *all = ct_fractal_names_all(r->names, &count);
    /* In the order in which they first ran: what the eye follows. */
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
    struct cli_map *maps[] = {&r->timeline, &r->heat, &r->lines};
    for (size_t i = 0; i < 3; i++)
        if (!(maps[i]->cell = calloc((size_t)(maps[i]->rows + 1) * REPORT_COLUMNS, sizeof *maps[i]->cell)))
            return 0;
    return 1;
}

/* ---- output ---- */

static int csv_event(struct cli_fractal_report *r, const struct ct_fractal_event *e)
{
    cli_fractal_csv_line(stdout, e, r->names);
    return !ferror(stdout);
}

#define TOP 15 /* lines of a table */

static uint64_t wanted_lines(const struct cli_args *args)
{
    return args->values[OPT_TOP].given ? args->values[OPT_TOP].number : TOP;
}

static void text_names(const struct cli_fractal_report *r, unsigned first, unsigned last, const char *title)
{
    size_t top[256], count, shown = 0;
    const uint64_t wanted = wanted_lines(r->args);
    const size_t n = top_names(r, top, 256);
    const struct ct_fractal_name *all = ct_fractal_names_all(r->names, &count);
    printf("\n%s\n%10s %7s %12s %12s  %s\n", title, "events", "share", "first", "last", "name");
    for (size_t i = 0; i < n && shown < wanted; i++) {
        const struct cli_by_name *b = &r->by_name[top[i]];
        const struct ct_fractal_name *name = &all[top[i]];
        if (name->kind < first || name->kind > last)
            continue;
        shown++;
        printf("%10llu %6.2f%% %12.4f %12.4f  %s\n", (unsigned long long)b->events,
               100.0 * (double)b->events / (double)r->events, cli_report_ms(r, b->first),
               cli_report_ms(r, b->last), name->text);
    }
    if (!shown)
        puts("      none");
}

/* What the sums say of a point of the log. */
static const struct ct_fractal_point_sum *point_sum(struct cli_fractal_report *r, uint32_t point)
{
    size_t count;
    const uint64_t va = r->points[point].va - 1;
    const struct ct_fractal_point_sum *all = ct_fractal_sums_points(r->sums, &count);
    const char *name = NULL;
    if (all && ct_fractal_log_point(r->log, point, va, &name) != CT_OK)
        cli_library_error(r->args->ctx);
    for (size_t i = 0; name && i < count; i++)
        if (all[i].offset == va - ct_fractal_log_bias(r->log) && strcmp(all[i].name, name) == 0)
            return &all[i];
    return NULL;
}

static void text_points(struct cli_fractal_report *r)
{
    bool any = false;
    for (unsigned i = 0; i < CT_FRACTAL_LOG_POINTS; i++) {
        const struct ct_fractal_point_sum *p = r->points[i].va ? point_sum(r, i) : NULL;
        if (!p)
            continue;
        if (!any)
            printf("\nMilestones (observation points)\n%5s %18s %10s %12s %12s %12s %12s  %s\n", "point",
                   "va", "hits", "first", "shortest", "mean", "longest", "name");
        any = true;
        const double mean = p->intervals ? (double)p->total / (double)p->intervals : 0;
        const double scale = r->info->clock_hz ? 1e3 / (double)r->info->clock_hz : 1;
        printf("%5u 0x%016llx %10llu %12.4f %12.4f %12.4f %12.4f  ", i,
               (unsigned long long)r->points[i].va - 1, (unsigned long long)p->hits,
               cli_report_ms(r, r->points[i].first), (double)p->shortest * scale, mean * scale,
               (double)p->longest * scale);
        cli_put_printable(stdout, p->name);
        putchar('\n');
    }
}

static void print_text(struct cli_fractal_report *r)
{
    const struct ct_fractal_totals *t = ct_fractal_sums_totals(r->sums);
    printf("range     0x%llx..0x%llx, mode %s, page of %u KiB\n", (unsigned long long)r->info->range_lo,
           (unsigned long long)r->info->range_hi, r->info->mode < 3 ? cli_fractal_modes[r->info->mode] : "?",
           1u << (r->info->granule & 31) >> 10);
    printf("events    %llu (%llu of instructions), %llu more for pages mapped twice; %llu dropped; %llu "
           "bytes damaged\n",
           (unsigned long long)t->events, (unsigned long long)t->insns, (unsigned long long)t->aliases,
           (unsigned long long)r->dropped, (unsigned long long)r->damaged);
    printf("time      %.4f %s; pages %zu\n", cli_report_ms(r, r->end), r->info->clock_hz ? "ms" : "cycles",
           r->page_count);
    for (unsigned i = 0; i < CT_FRACTAL_OP_COUNT; i++)
        if (t->by_op[i])
            printf("%-18s %llu\n", ct_fractal_op_name(i), (unsigned long long)t->by_op[i]);
    for (unsigned i = 0; i < 64; i++)
        if (t->by_initiator[i])
            printf("initiator %-8u %llu\n", i, (unsigned long long)t->by_initiator[i]);
    if (r->runs > 1) {
        printf("runs      %u, beginning at", r->runs);
        for (unsigned i = 0; i < r->runs; i++)
            printf(" %.4f", cli_report_ms(r, r->run_start[i]));
        puts("");
    }
    if (!r->events)
        return;
    text_names(r, CT_FRACTAL_FUNCTION, CT_FRACTAL_FUNCTION, "Functions");
    text_names(r, CT_FRACTAL_OBJECT, CT_FRACTAL_ELSEWHERE, "Objects, sections and regions");
    text_points(r);
}

static void html_table(const struct cli_fractal_report *r)
{
    size_t top[256], count;
    const size_t n = top_names(r, top, 256);
    const struct ct_fractal_name *all = ct_fractal_names_all(r->names, &count);
    puts("<table><tr><th>events</th><th>share</th><th>first</th><th>last</th><th>name</th></tr>");
    for (size_t i = 0; i < n; i++) {
        const struct cli_by_name *b = &r->by_name[top[i]];
        printf("<tr><td>%llu</td><td>%.2f %%</td><td>%.4f</td><td>%.4f</td><td>",
               (unsigned long long)b->events, 100.0 * (double)b->events / (double)r->events,
               cli_report_ms(r, b->first), cli_report_ms(r, b->last));
        cli_put_xml(stdout, all[top[i]].text);
        puts("</td></tr>");
    }
    puts("</table>");
}

static void print_html(const struct cli_fractal_report *r)
{
    puts(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>FRACTAL log</title>\n<style>"
        "body{font:14px sans-serif;margin:2em "
        "auto;max-width:900px;color:#222}h1{font-size:1.4em}h2{font-size:1.1em;"
        "margin-top:2em}svg{max-width:100%;height:auto;border:1px solid #ddd}table{border-collapse:collapse}"
        "td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #eee}td:last-child,th:last-child"
        "{text-align:left}</style></head><body>\n<h1>Last-level misses, as FRACTAL saw them</h1>");
    printf("<p>%llu events in %.4f %s, %llu of them instruction fetches; range 0x%llx..0x%llx; mode %s; %llu "
           "dropped.</p>\n",
           (unsigned long long)r->events, cli_report_ms(r, r->end), r->info->clock_hz ? "ms" : "cycles",
           (unsigned long long)ct_fractal_sums_totals(r->sums)->insns, (unsigned long long)r->info->range_lo,
           (unsigned long long)r->info->range_hi, r->info->mode < 3 ? cli_fractal_modes[r->info->mode] : "?",
           (unsigned long long)r->dropped);
    if (r->runs > 1)
        printf("<p>The same functions appear in %u separate phases: %u runs.</p>\n", r->runs, r->runs);
    puts("<h2>Functions over time</h2>");
    cli_report_svg_timeline(r, stdout);
    puts("<h2>Pages over time</h2>");
    cli_report_svg_heat(r, stdout);
    puts("<h2>Lines of the busiest page</h2>");
    cli_report_svg_lines(r, stdout);
    puts("<h2>Functions and objects</h2>");
    html_table(r);
    puts("</body></html>");
}

/* Chrome trace events: an instant for each event, on a track for each initiator, in microseconds. */
static int perfetto_event(struct cli_fractal_report *r, const struct ct_fractal_event *e)
{
    const double us = r->info->clock_hz ? (double)e->time * 1e6 / (double)r->info->clock_hz : (double)e->time;
    fputs(",\n{\"name\":\"", stdout);
    cli_put_json(stdout, ct_fractal_names_at(r->names, e->va)->text);
    printf("\",\"ph\":\"i\",\"s\":\"t\",\"pid\":%u,\"tid\":%u,\"ts\":%.4f,\"args\":{\"va\":"
           "\"0x%llx\","
           "\"pa\":\"0x%llx\",\"op\":\"%s\"}}",
           e->target, e->initiator, us, (unsigned long long)e->va, (unsigned long long)e->pa,
           ct_fractal_op_name(e->op));
    return !ferror(stdout);
}

static int print_perfetto(struct cli_fractal_report *r)
{
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,"
          "\"args\":"
          "{\"name\":\"FRACTAL\"}}",
          stdout);
    const int ok = for_each(r, perfetto_event);
    puts("\n]}");
    return ok;
}

/* ---- the command ---- */

/* All but what is on the axis of time. */
static int sum_event(struct cli_fractal_report *r, const struct ct_fractal_event *e)
{
    struct ct_fractal_place place;
    return name_event(r, e) && ct_fractal_log_place(r->log, e, &place) == CT_OK &&
           ct_fractal_sums_take(r->sums, e, &place) == CT_OK;
}

static int sum_log(struct cli_fractal_report *r)
{
    const struct ct_fractal_run run = {.size = sizeof run, .clock_hz = r->info->clock_hz};
    return ct_fractal_sums_new(r->args->ctx, &r->sums) == CT_OK &&
           ct_fractal_sums_begin(r->sums, &run) == CT_OK && for_each(r, sum_event) &&
           ct_fractal_sums_end(r->sums, r->dropped, r->damaged) == CT_OK;
}

static int open_log(struct cli_fractal_report *r)
{
    const struct cli_value *v = r->args->values;
    if (ct_fractal_log_open(r->args->ctx, r->args->operand, &r->log) != CT_OK)
        return cli_library_error(r->args->ctx);
    r->reader = ct_fractal_log_reader(r->log);
    r->info = ct_fractal_reader_info(r->reader);
    r->points = calloc(CT_FRACTAL_LOG_POINTS, sizeof *r->points);
    if (!r->points)
        cli_no_memory();
    if (!r->points || !for_each(r, count_event))
        return CLI_FAILED;
    ct_fractal_reader_losses(r->reader, &r->dropped, &r->damaged);
    const struct ct_fractal_names_options named =
        cli_fractal_names_options(r->args, v[OPT_ELF].text, v[OPT_BIAS].given ? &v[OPT_BIAS].number : NULL);
    if (ct_fractal_log_name(r->log, &named) != CT_OK)
        return cli_library_error(r->args->ctx);
    r->names = ct_fractal_log_names(r->log);
    ct_fractal_names_all(r->names, &r->name_count);
    r->by_name = calloc(r->name_count, sizeof *r->by_name);
    const bool fine = r->by_name && sum_log(r) && choose_rows(r);
    if (!fine) {
        cli_no_memory();
        return CLI_FAILED;
    }
    cli_report_find_runs(r);
    return CLI_CLEAN;
}

static int print(struct cli_fractal_report *r)
{
    const struct cli_value *v = r->args->values;
    const bool pictures = v[OPT_HTML].given || v[OPT_SVG].given;
    if (pictures && !for_each(r, draw_event))
        return CLI_FAILED;
    if (v[OPT_CSV].given) {
        fputs(FRACTAL_CSV_HEADER, stdout);
        if (!for_each(r, csv_event))
            return CLI_FAILED;
    } else if (v[OPT_PERFETTO].given) {
        if (!print_perfetto(r))
            return CLI_FAILED;
    } else if (v[OPT_HTML].given) {
        print_html(r);
    } else if (v[OPT_SVG].given) {
        void (*const draw[])(const struct cli_fractal_report *,
                             FILE *) = {cli_report_svg_timeline, cli_report_svg_heat, cli_report_svg_lines};
        draw[v[OPT_SVG].number](r, stdout);
    } else {
        print_text(r);
    }
    return CLI_CLEAN;
}

static int run_sums(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    const struct cli_fractal_sums_wishes wishes = {.elf = v[OPT_ELF].text,
                                                   .bias = v[OPT_BIAS].given ? &v[OPT_BIAS].number : NULL,
                                                   .most = wanted_lines(args),
                                                   .data = v[OPT_DATA].given};
    if (v[OPT_CSV].given + v[OPT_HTML].given + v[OPT_SVG].given + v[OPT_PERFETTO].given)
        return cli_usage_error(args->command,
                               "--csv, --html, --svg and --perfetto are about the times of one "
                               "log, which saved sums and several logs have not in common");
    return cli_fractal_sums_run(args, &wishes);
}

static int run(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    if (v[OPT_CSV].given + v[OPT_HTML].given + v[OPT_SVG].given + v[OPT_PERFETTO].given + v[OPT_DATA].given >
        1)
        return cli_usage_error(args->command, "--csv, --html, --svg, --perfetto and --data: one at a time");
    if (v[OPT_DATA].given || args->rest_count > 1 || cli_fractal_sums_is_file(args->operand))
        return run_sums(args);
    struct cli_fractal_report *r = calloc(1, sizeof *r);
    if (!r) {
        cli_no_memory();
        return CLI_FAILED;
    }
    r->args = args;
    int code = open_log(r);
    if (!code)
        code = print(r);
    if (!code && r->damaged) {
        cli_say("%s: %llu bytes are damaged; what is whole was read", args->operand,
                (unsigned long long)r->damaged);
        code = CLI_DAMAGED;
    }
    ct_fractal_log_free(r->log);
    ct_fractal_sums_free(r->sums);
    free(r->by_name);
    free(r->pages);
    free(r->points);
    free(r->timeline.cell);
    free(r->heat.cell);
    free(r->lines.cell);
    free(r);
    return code;
}

static const char *const svg_words[] = {"timeline", "pages", "lines", NULL};

static const struct cli_option options[OPTS] = {
    [OPT_ELF] = {.name = "elf",
                 .kind = CLI_TEXT,
                 .arg = "FILE",
                 .help = "The program, for names of functions and objects."},
    [OPT_BIAS] = {.name = "bias",
                  .kind = CLI_HEX,
                  .arg = "HEX",
                  .max = UINT64_C(0xffffffffffff),
                  .help = "Where it was loaded, when the log does not say."},
    [OPT_CSV] = {.name = "csv",
                 .help = "Every event as comma-separated values: time,va,pa,op,initiator,kind,symbol."},
    [OPT_HTML] = {.name = "html", .help = "One HTML page with the pictures and tables."},
    [OPT_SVG] = {.name = "svg",
                 .kind = CLI_CHOICE,
                 .choices = svg_words,
                 .help = "One picture: functions, pages, or lines of the busiest page, over time."},
    [OPT_PERFETTO] = {.name = "perfetto", .help = "JSON for ui.perfetto.dev and chrome://tracing."},
    [OPT_DATA] = {.name = "data",
                  .help =
                      "What the logs say, by names and offsets, for 'coretap merge' and for this command in "
                      "the place of the logs."},
    [OPT_TOP] = {.name = "top",
                 .kind = CLI_NUMBER,
                 .arg = "N",
                 .min = 1,
                 .max = 256,
                 .help = "Lines of the text's tables. Without: 15."},
};

const struct cli_command cli_fractal_report = {
    .name = "fractal report",
    .summary = "what an event log says: functions over time, heatmaps, milestones",
    .operand = "LOG...",
    .many = true,
    .about =
        "Prints what a log of FRACTAL holds: totals, the functions and objects with the most last-level "
        "misses, "
        "the runs that can be told apart, and for observation points how often and how regularly they were "
        "reached; or the events themselves, or pictures.\n"
        "Of several logs it adds up what does not depend on where things were in one of them: functions, "
        "objects, "
        "sections and regions by program and name, pages by their offsets in the program's file or a region, "
        "observation points with their times. A file that --data or 'coretap merge' wrote stands for its "
        "logs.",
    .options = options,
    .option_count = OPTS,
    .uses = CLI_USES_PROGRAMS | CLI_USES_NAMES,
    .run = run,
};
