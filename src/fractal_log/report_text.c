/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a log as text: totals and tables. */
#include "fractal_log/report.h"

#include <string.h>

#include "base/printable.h"
#include "fractal_log/each.h"

/* Prints a table of the names of kinds `first` to `last`. */
static void text_names(const struct ct_fractal_report *r, FILE *out, uint64_t wanted, unsigned first,
                       unsigned last, const char *title)
{
    size_t top[REPORT_ROWS_MAX], count;
    const size_t n =
        ct_fractal_report_top(r, first, last, top, wanted < REPORT_ROWS_MAX ? wanted : REPORT_ROWS_MAX);
    const struct ct_fractal_name *all = ct_fractal_names_all(r->names, &count);
    fprintf(out, "\n%s\n%10s %7s %12s %12s  %s\n", title, "events", "share", "first", "last", "name");
    for (size_t i = 0; i < n; i++) {
        const struct ct_fractal_by_name *b = &r->by_name[top[i]];
        fprintf(out, "%10llu %6.2f%% %12.4f %12.4f  %s\n", (unsigned long long)b->events,
                100.0 * (double)b->events / (double)r->events, ct_fractal_report_ms(r, b->first),
                ct_fractal_report_ms(r, b->last), all[top[i]].text);
    }
    if (!n)
        fputs("      none\n", out);
}

/* Prints a table of the observation points. */
static void text_points(const struct ct_fractal_report *r, FILE *out)
{
    struct ct_fractal_point_row p;
    bool any = false;
    for (unsigned i = 0; i < CT_FRACTAL_LOG_POINTS; i++) {
        if (!ct_fractal_report_point(r, i, &p))
            continue;
        if (!any)
            fprintf(out, "\nMilestones (observation points)\n%5s %18s %10s %12s %12s %12s %12s  %-8s %s\n",
                    "point", "va", "hits", "first", "shortest", "mean", "longest", "told by", "name");
        any = true;
        fprintf(out, "%5u 0x%016llx %10llu %12.4f %12.4f %12.4f %12.4f  %-8s ", i, (unsigned long long)p.va,
                (unsigned long long)p.hits, p.first, p.shortest, p.mean, p.longest,
                p.is_line ? "line" : "address");
        ct_put_printable(out, p.name);
        fputc('\n', out);
    }
}

/* Prints the rest of a line of the log's text. */
static void put_rest(FILE *out, const char *rest)
{
    char text[1024];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(rest, "\n"), rest);
    ct_put_printable(out, text);
}

/* Prints what follows "range=": addresses, and after a space the range's name. */
static void put_range(FILE *out, const char *rest, unsigned process)
{
    const size_t ends = strcspn(rest, " \n");
    fprintf(out, "          %.*s  ", (int)ends, rest);
    put_rest(out, rest + ends + (rest[ends] == ' '));
    if (process)
        fprintf(out, " of process %u", process);
}

/* Prints a line of the log's text if it is about ranges, or about what was changed during the run. */
static void text_range(const struct ct_fractal_report *r, FILE *out, const char *at)
{
    unsigned process, image;
    unsigned long long time;
    int n = 0;
    if (sscanf(at, "range=%u %n", &process, &n) == 1 && n) {
        put_range(out, at + n, process);
        fputc('\n', out);
        return;
    }
    if (sscanf(at, "exec=%u %u %n", &process, &image, &n) == 2 && n)
        fprintf(out, "          process %u became process %u: ", process, image);
    else if (sscanf(at, "left=%u %n", &process, &n) == 1 && n)
        fprintf(out, "          process %u became a program that is not traced: ", process);
    else if (sscanf(at, "absent=%u %n", &process, &n) == 1 && n)
        fprintf(out, "          process %u does not have ", process);
    else if (sscanf(at, "steer=%llu %n", &time, &n) == 1 && n)
        fprintf(out, "          at %.4f: ", ct_fractal_report_ms(r, time));
    else
        return;
    put_rest(out, at + n);
    fputc('\n', out);
}

/* Prints the ranges of the log if there are several, and what was changed during the run. */
static void text_ranges(const struct ct_fractal_report *r, FILE *out)
{
    for (const char *at = r->info->text; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
        text_range(r, out, at);
}

void ct_fractal_report_text(const struct ct_fractal_report *r, FILE *out, uint64_t wanted)
{
    const struct ct_fractal_totals *t = ct_fractal_sums_totals(r->sums);
    fprintf(out, "range     0x%llx..0x%llx, mode %s, page of %u KiB\n", (unsigned long long)r->info->range_lo,
            (unsigned long long)r->info->range_hi, ct_fractal_report_mode(r),
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
        return;
    text_names(r, out, wanted, CT_FRACTAL_FUNCTION, CT_FRACTAL_FUNCTION, "Functions");
    text_names(r, out, wanted, CT_FRACTAL_OBJECT, CT_FRACTAL_ELSEWHERE, "Objects, sections and regions");
    text_points(r, out);
}
