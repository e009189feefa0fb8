/* SPDX-License-Identifier: Apache-2.0 */
/* coretap FRACTAL report: one event log along its time axis as tables, pictures, or CSV; and several logs as
 * tables.
 *
 *     struct ct_fractal_names_options named = {.size = sizeof named, .program = "canny"};
 *     struct ct_fractal_report_write_options how = {.size = sizeof how, .format = CT_FRACTAL_REPORT_HTML};
 *     ct_fractal_log_open(ctx, "monday.log", &log);
 *     ct_fractal_report_new(ctx, log, &named, &report);
 *     ct_fractal_report_write(report, &how, write, user);
 *     ct_fractal_report_free(report);
 *     ct_fractal_log_free(log);
 *
 *     ct_fractal_sums_new(ctx, &sums);
 *     ct_fractal_sums_add_log(ctx, sums, "monday.log", &named, NULL);
 *     ct_fractal_sums_add_log(ctx, sums, "tuesday.log", &named, NULL);
 *     ct_fractal_sums_write(ctx, sums, NULL, write, user); */
#ifndef CORETAP_FRACTAL_REPORT_H
#define CORETAP_FRACTAL_REPORT_H

#include "coretap/base.h"
#include "coretap/fractal.h"
#include "coretap/fractal_names.h"
#include "coretap/fractal_sums.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The contents of one log. Only one thread may use it at a time. */
struct ct_fractal_report;

/* Reads a log that was just opened, which must stay valid, and loads its names. The errors of
 * ct_fractal_log_name and ct_fractal_sums_take, CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_fractal_report_new(struct ct_ctx *ctx, struct ct_fractal_log *log,
                                 const struct ct_fractal_names_options *options,
                                 struct ct_fractal_report **out);
CT_API void ct_fractal_report_free(struct ct_fractal_report *report);

/* Returns the numbers of the report that do not depend on time; the report owns them. */
CT_API struct ct_fractal_sums *ct_fractal_report_sums(struct ct_fractal_report *report);

enum ct_fractal_report_format {
    CT_FRACTAL_REPORT_TEXT,         /* totals and tables */
    CT_FRACTAL_REPORT_CSV,          /* every event, as ct_fractal_csv_write writes it, after the header */
    CT_FRACTAL_REPORT_HTML,         /* a page with pictures and tables */
    CT_FRACTAL_REPORT_SVG_TIMELINE, /* functions over time */
    CT_FRACTAL_REPORT_SVG_PAGES,    /* pages over time */
    CT_FRACTAL_REPORT_SVG_LINES,    /* lines of the busiest page over time */
    CT_FRACTAL_REPORT_PERFETTO,     /* trace events, for the viewers of Chrome and Perfetto */
    CT_FRACTAL_REPORT_SVG_SETS,     /* sets of the last-level cache over time, by physical address */
};

struct ct_fractal_report_write_options {
    size_t size;    /* sizeof(struct ct_fractal_report_write_options) */
    uint64_t rows;  /* most rows in a table of TEXT, at most 256; 0: 15 */
    uint8_t format; /* enum ct_fractal_report_format */
    uint8_t pad[7]; /* 0 */
};

/* Writes a report in one of the formats. CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_fractal_report_write(struct ct_fractal_report *report,
                                   const struct ct_fractal_report_write_options *options, ct_write_fn *write,
                                   void *user);

/* ---- several logs ---- */

/* Adds a log to sums: opens it, reads it twice, since its regions are at its end, and loads its names. With
 * options->program all logs must be of one program, as far as they say. *damaged (may be NULL) receives the
 * number of damaged bytes. CT_ERR_CONFIG: a log of another program; the errors of ct_fractal_log_open,
 * ct_fractal_log_name and ct_fractal_sums_take; CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_fractal_sums_add_log(struct ct_ctx *ctx, struct ct_fractal_sums *sums, const char *path,
                                   const struct ct_fractal_names_options *options, uint64_t *damaged);

struct ct_fractal_sums_write_options {
    size_t size;   /* sizeof(struct ct_fractal_sums_write_options) */
    uint64_t rows; /* most rows in a table of names; 0: 15 */
};

/* Writes sums as tables: totals, functions, objects with sections and regions, pages, observation points.
 * CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_fractal_sums_write(struct ct_ctx *ctx, struct ct_fractal_sums *sums,
                                 const struct ct_fractal_sums_write_options *options, ct_write_fn *write,
                                 void *user);

/* ---- lines of values ---- */

/* The first line of a CSV file of events. */
#define CT_FRACTAL_CSV_HEADER "time,va,pa,op,initiator,kind,symbol\n"

/* Writes an event as a line of CSV. CT_ERR_ARG, what `write` returned. */
CT_API int ct_fractal_csv_write(const struct ct_fractal_names *names, const struct ct_fractal_event *event,
                                ct_write_fn *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
