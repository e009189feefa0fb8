/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the section of the report about named events. */
#include <inttypes.h>
#include <stdlib.h>

#include "format/lanes.h"
#include "format/number.h"
#include "format/page.h"
#include "format/report_page.h"
#include "format/svg_line.h"
#include "format/xml.h"

/* most names in a table, and most values that are drawn */
#define NAMES 500
#define PLOTS 24

static const char *unit_of(const struct ct_report_named *n)
{
    return n->untimed ? "cycles" : "ticks";
}

static void put_port(FILE *out, uint64_t port)
{
    if (port == CT_SW_PORT_UNKNOWN)
        fputs("not known", out);
    else if (port >> 16)
        fprintf(out, "%" PRIu64 ":%" PRIu64, port >> 16, port & 0xffff);
    else
        fprintf(out, "%" PRIu64, port);
}

static void number_cell(FILE *out, double value)
{
    fprintf(out, "<td class=\"num\" data-v=\"%.17g\">%.6g</td>", value, value);
}

static void row(FILE *out, const struct ct_report_named_row *r)
{
    const bool spans = r->kind == CT_NAMED_BEGIN;
    fputs("<tr><td class=\"name keep\">", out);
    ct_xml_text(out, r->name);
    fputs("</td><td>", out);
    put_port(out, r->port);
    fputs(r->more_ports ? " and others</td>" : "</td>", out);
    ct_page_count_cell(out, r->count);
    number_cell(out, r->least);
    number_cell(out, r->count ? r->sum / (double)r->count : 0);
    number_cell(out, r->most);
    number_cell(out, spans ? r->sum : r->last);
    fputs("<td class=\"wide\"></td></tr>\n", out);
}

static size_t count_of(const struct ct_report_named *n, uint8_t kind)
{
    size_t count = 0;
    for (size_t i = 0; i < n->row_count; i++)
        count += n->rows[i].kind == kind;
    return count;
}

/* Writes the names of a kind with their sums. */
static void table(FILE *out, const struct ct_report_named *n, uint8_t kind)
{
    const bool spans = kind == CT_NAMED_BEGIN;
    size_t count = 0;
    fprintf(out,
            "<div class=\"panel scroll\"><table class=\"list\"><thead><tr><th scope=\"col\">%s</th><th "
            "scope=\"col\">Port</th><th scope=\"col\" class=\"num\">Count</th><th scope=\"col\" "
            "class=\"num\">%s</th><th scope=\"col\" class=\"num\">Mean</th><th scope=\"col\" "
            "class=\"num\">%s</th><th scope=\"col\" class=\"num\">%s</th><th></th></tr></thead><tbody>\n",
            spans ? "Span" : "Value", spans ? "Shortest" : "Least", spans ? "Longest" : "Most",
            spans ? "Together" : "Last");
    for (size_t i = 0; i < n->row_count; i++)
        if (n->rows[i].kind == kind && count++ < NAMES)
            row(out, &n->rows[i]);
    fputs("</tbody></table></div>\n", out);
    if (count > NAMES)
        fprintf(out, "<p class=\"more\">%zu more are left out.</p>\n", count - NAMES);
}

static void plots(FILE *out, const struct ct_report_named *n)
{
    size_t count = 0;
    uint64_t begin = UINT64_MAX;
    for (size_t i = 0; i < n->row_count; i++)
        if (n->rows[i].point_count && n->rows[i].points[0].from < begin)
            begin = n->rows[i].points[0].from;
    fputs("<div class=\"plots\">\n", out);
    for (size_t i = 0; i < n->row_count; i++) {
        const struct ct_report_named_row *r = &n->rows[i];
        char note[CT_NUMBER_SIZE + 8];
        char text[CT_NUMBER_SIZE];
        if (!r->point_count || ++count > PLOTS)
            continue;
        snprintf(note, sizeof note, "%s values", ct_number_count(text, r->count));
        const struct ct_svg_line line = {.title = r->name,
                                         .note = note,
                                         .unit = unit_of(n),
                                         .points = r->points,
                                         .count = r->point_count,
                                         .begin = begin,
                                         .end = n->end};
        fputs("<figure class=\"panel\">\n", out);
        ct_svg_line(out, &line);
        fputs("</figure>\n", out);
    }
    fputs("</div>\n", out);
    if (count > PLOTS)
        fprintf(out, "<p class=\"more\">%zu more values are not drawn.</p>\n", count - PLOTS);
}

/* Writes the spans over time, with a lane for each port. CT_ERR_NOMEM. */
static int chart(FILE *out, const struct ct_report_named *n)
{
    const struct ct_slices *s = &n->spans;
    const char **names = calloc(n->row_count, sizeof *names);
    struct ct_lane_bar *bars = calloc(s->count, sizeof *bars);
    struct ct_chart_lane lanes[CT_REPORT_PORTS] = {0};
    char titles[CT_REPORT_PORTS][48];
    char text[CT_NUMBER_SIZE];
    int rc = names && bars ? CT_OK : CT_ERR_NOMEM;
    for (size_t i = 0; i < n->row_count && !rc; i++)
        names[i] = n->rows[i].name;
    for (size_t i = 0; i < s->count && !rc; i++) {
        const struct ct_slice *slice = &s->slices[i];
        struct ct_chart_lane *lane = &lanes[slice->lane];
        bars[i] = (struct ct_lane_bar){slice->function, slice->depth, slice->from, slice->to};
        lane->bars = lane->count++ ? lane->bars : &bars[i];
    }
    size_t used = 0;
    for (size_t i = 0; i < n->port_count && !rc; i++) {
        const uint64_t port = n->ports[i];
        if (!lanes[i].count)
            continue;
        if (port >> 16)
            snprintf(titles[used], sizeof titles[used], "master %" PRIu64 ", channel %" PRIu64, port >> 16,
                     port & 0xffff);
        else
            snprintf(titles[used], sizeof titles[used], "port %" PRIu64, port);
        lanes[used] = lanes[i];
        lanes[used].title = titles[used];
        used++;
    }
    const struct ct_lanes all = {.label = "Spans over time",
                                 .unit = unit_of(n),
                                 .kind = "time",
                                 .names = names,
                                 .name_count = n->row_count,
                                 .lanes = lanes,
                                 .lane_count = used};
    fputs("<div class=\"panel\">\n", out);
    rc = rc ? rc : ct_lanes_html(out, &all);
    fputs("</div>\n", out);
    if (s->left_out)
        fprintf(out, "<p class=\"more\">%s shorter spans are not drawn.</p>\n",
                ct_number_count(text, s->left_out));
    free(bars);
    free(names);
    return rc;
}

static void texts(FILE *out, const struct ct_report_named *n)
{
    char text[CT_NUMBER_SIZE];
    fprintf(out,
            "<div class=\"panel scroll tall\"><table class=\"list\"><thead><tr><th scope=\"col\" "
            "class=\"num\">Time in %s</th><th scope=\"col\">Port</th><th "
            "scope=\"col\">Text</th></tr></thead><tbody>\n",
            unit_of(n));
    for (size_t i = 0; i < n->text_count; i++) {
        const struct ct_report_named_text *t = &n->texts[i];
        fputs("<tr>", out);
        ct_page_count_cell(out, t->time);
        fputs("<td>", out);
        put_port(out, t->port);
        fputs("</td><td class=\"name wide\">", out);
        ct_xml_text(out, t->text);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
    if (n->texts_left_out)
        fprintf(out,
                "<p class=\"more\">%s"
                " more texts are left out; <code>coretap decode --merge</code> has "
                "all of them.</p>\n",
                ct_number_count(text, n->texts_left_out));
}

/* Notes what could not be added up. */
static void told(FILE *out, const struct ct_report_named *n)
{
    if (n->cut)
        fprintf(out, "<p>%" PRIu64 " events are incomplete, because trace is missing.</p>\n", n->cut);
    if (n->orphans)
        fprintf(out,
                "<p>%" PRIu64
                " beginnings or ends of spans have no counterpart and are not in the lengths.</p>\n",
                n->orphans);
    if (n->untimed)
        fputs("<p>The trace has no global timestamps: times are cycles counted by the source itself.</p>\n",
              out);
}

int ct_report_named_html(FILE *out, const struct ct_report_page *r)
{
    const struct ct_report_named *n = r->named;
    int rc = CT_OK;
    fputs("<p>Text, values and spans that the program wrote with <code>coretap/itm.h</code>.</p>\n", out);
    told(out, n);
    if (n->spans.count)
        rc = chart(out, n);
    if (count_of(n, CT_NAMED_BEGIN))
        table(out, n, CT_NAMED_BEGIN);
    if (count_of(n, CT_NAMED_VALUE)) {
        plots(out, n);
        table(out, n, CT_NAMED_VALUE);
    }
    if (n->text_count)
        texts(out, n);
    return rc;
}
