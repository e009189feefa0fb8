/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the report of a log in each of its formats; here are those that list all events. */
#include "fractal_log/report.h"

#include "base/c_locale.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/out.h"
#include "base/printable.h"
#include "base/require.h"
#include "coretap/format.h"
#include "fractal_log/each.h"
#include "fractal_log/names.h"

#define ROWS 15 /* rows of a table */

/* Prints an event as a CSV line. */
static int csv_event(void *user, const struct ct_fractal_event *e)
{
    const struct ct_fractal_report *r = user;
    return ct_fractal_csv_write(ct_fractal_log_names_of(r->log, e), e, ct_write_file, r->out);
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

const char *ct_fractal_report_mode(const struct ct_fractal_report *r)
{
    static const char *const modes[] = {"passive", "points", "active"}; /* by enum ct_fractal_mode */
    return r->info->mode < sizeof modes / sizeof *modes ? modes[r->info->mode] : "?";
}

/* Prints a format that consists of pictures. */
static int write_picture(struct ct_fractal_report *r, unsigned format, FILE *out)
{
    const int rc = ct_fractal_report_draw(r);
    if (rc != CT_OK)
        return rc;
    if (format == CT_FRACTAL_REPORT_HTML)
        ct_fractal_report_html(r, out);
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
        ct_fractal_report_text(r, out, how->rows ? how->rows : ROWS);
        return CT_OK;
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
    CT_C_LOCALE;
    struct ct_fractal_report_write_options own;
    struct ct_out out;
    CT_REQUIRE_OF(r, write);
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
