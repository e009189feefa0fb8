/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a log as a page: its pictures, and a table of names. */
#include "fractal_log/report.h"

#include "fractal_log/each.h"

/* Prints the names of kinds `first` to `last` with the most events as an HTML table. */
static void html_names(const struct ct_fractal_report *r, FILE *out, unsigned first, unsigned last)
{
    size_t top[REPORT_ROWS_MAX], count;
    const size_t n = ct_fractal_report_top(r, first, last, top, REPORT_ROWS_MAX);
    const struct ct_fractal_name *all = ct_fractal_names_all(r->names, &count);
    if (!n) {
        fputs("<p>none</p>\n", out);
        return;
    }
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

static void html_functions(const struct ct_fractal_report *r, FILE *out)
{
    html_names(r, out, CT_FRACTAL_FUNCTION, CT_FRACTAL_FUNCTION);
}

static void html_objects(const struct ct_fractal_report *r, FILE *out)
{
    html_names(r, out, CT_FRACTAL_OBJECT, CT_FRACTAL_ELSEWHERE);
}

/* Prints a table of the observation points. */
static void html_points(const struct ct_fractal_report *r, FILE *out)
{
    struct ct_fractal_point_row p;
    unsigned rows = 0;
    for (unsigned i = 0; i < CT_FRACTAL_LOG_POINTS; i++) {
        if (!ct_fractal_report_point(r, i, &p))
            continue;
        if (!rows++)
            fputs("<table><tr><th>address</th><th>hits</th><th>first</th><th>shortest</th><th>mean</th>"
                  "<th>longest</th><th>name</th></tr>\n",
                  out);
        fprintf(out,
                "<tr><td>0x%llx</td><td>%llu</td><td>%.4f</td><td>%.4f</td><td>%.4f</td><td>%.4f</td><td>",
                (unsigned long long)p.va, (unsigned long long)p.hits, p.first, p.shortest, p.mean, p.longest);
        ct_fractal_put_xml(out, p.name);
        fputs("</td></tr>\n", out);
    }
    fputs(rows ? "</table>\n" : "<p>none was hit</p>\n", out);
}

void ct_fractal_report_html(const struct ct_fractal_report *r, FILE *out)
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
          "border:1px solid #8884}table{"
          "border-collapse:collapse}td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #8884;"
          "white-space:nowrap}td:last-child,th:last-child{text-align:left;white-space:normal;"
          "overflow-wrap:anywhere;min-width:11ch}@media(max-width:640px){td,th{padding:2px 6px;font-size:"
          "13px}}@media(prefers-color-scheme:dark){body{color:#e5e8ed;"
          "background:#101317}}</style></head><body>\n<h1>Last-level misses, as FRACTAL saw them</h1>\n",
          out);
    fprintf(
        out,
        "<p>%llu events in %.4f %s, %llu of them instruction fetches; range 0x%llx..0x%llx; mode %s; %llu "
        "dropped; %llu bytes damaged%s.</p>\n",
        (unsigned long long)r->events, ct_fractal_report_ms(r, r->end), r->info->clock_hz ? "ms" : "cycles",
        (unsigned long long)ct_fractal_sums_totals(r->sums)->insns, (unsigned long long)r->info->range_lo,
        (unsigned long long)r->info->range_hi, ct_fractal_report_mode(r), (unsigned long long)r->dropped,
        (unsigned long long)r->damaged, alone);
    if (r->runs > 1)
        fprintf(out, "<p>The same functions appear in %u separate phases: %u runs.</p>\n", r->runs, r->runs);
    static const struct {
        const char *title;
        void (*print)(const struct ct_fractal_report *r, FILE *out);
    } parts[] = {{"Functions over time", ct_fractal_report_svg_timeline},
                 {"Pages over time", ct_fractal_report_svg_heat},
                 {"Cache sets over time", ct_fractal_report_svg_sets},
                 {"Lines of the busiest page", ct_fractal_report_svg_lines},
                 {"Functions", html_functions},
                 {"Objects, sections and regions", html_objects},
                 {"Milestones (observation points)", html_points}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        fprintf(out, "<h2>%s</h2>\n<div class=\"scroll\" tabindex=\"0\">\n", parts[i].title);
        parts[i].print(r, out);
        fputs("</div>\n", out);
    }
    fputs("</body></html>\n", out);
}
