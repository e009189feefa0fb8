/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of a report on a log, and its pictures. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "coretap/fractal_report.h"

#define REPORT_BINS     2000 /* parts of the log's time range, for finding runs */
#define REPORT_COLUMNS  600  /* columns of a picture */
#define REPORT_ROWS     40   /* most functions in a timeline */
#define REPORT_MAP_ROWS 96   /* most pages in a heatmap */
#define REPORT_SET_ROWS 64   /* most groups of cache sets */
#define REPORT_ROWS_MAX 256  /* most rows of a table */

struct ct_fractal_by_name {
    uint64_t events, first, last;
    uint8_t bin[REPORT_BINS / 8];
};

struct ct_fractal_by_page {
    uint64_t page, events; /* page number + 1, so that 0 is a free entry */
};

/* What hits of an observation point count for, and the time of the first hit. */
struct ct_fractal_by_point {
    uint64_t offset, first;
    const char *name; /* NULL: not hit */
    bool is_line;
};

/* A picture: rows × columns of counts. */
struct ct_fractal_map {
    uint32_t *cell;
    uint32_t rows;
    const struct ct_fractal_name *name[REPORT_ROWS]; /* rows of the timeline */
    uint64_t page[REPORT_MAP_ROWS];                  /* rows of the page heatmap; for lines: their
                                                      * addresses */
};

struct ct_fractal_report {
    struct ct_ctx *ctx;
    struct ct_fractal_log *log;       /* not owned */
    struct ct_fractal_reader *reader; /* reads the records of `log` */
    int only;                         /* process whose events count, or CT_FRACTAL_ALL */
    const struct ct_fractal_log_info *info;
    const struct ct_fractal_names *names;
    struct ct_fractal_sums *sums; /* all counts without time */
    struct ct_fractal_by_name *by_name;
    size_t name_count;
    struct ct_fractal_by_page *pages;
    size_t page_room, page_count;
    struct ct_fractal_by_point *points;
    uint64_t events, start, end;
    uint64_t dropped, damaged;
    bool drawn; /* the pictures are counted */
    FILE *out;  /* output while events are printed one by one */
    unsigned runs;
    uint64_t run_start[64];
    struct ct_fractal_map timeline, heat, lines, sets;
    uint32_t set_count; /* sets of the last-level cache, a power of two */
};

/* Returns a time relative to the report's start, in milliseconds; in cycles when the log has no clock. */
double ct_fractal_report_ms(const struct ct_fractal_report *r, uint64_t time);

/* Returns `part` of `all` equal parts of a time span of up to 64 bits. */
static inline uint64_t ct_fractal_part(uint64_t span, unsigned part, unsigned all)
{
    return (uint64_t)((unsigned __int128)span * part / all);
}

/* Returns the name of the log's mode, or "?". */
const char *ct_fractal_report_mode(const struct ct_fractal_report *r);

/* Writes the indices of the names of kinds `first` to `last` with the most events, at most `most`. Returns
 * how many. */
size_t ct_fractal_report_top(const struct ct_fractal_report *r, unsigned first, unsigned last, size_t *out,
                             size_t most);

/* What a table says about an observation point; times in milliseconds, or in cycles without a clock. */
struct ct_fractal_point_row {
    uint64_t va, hits;
    double first, shortest, mean, longest;
    const char *name;
    bool is_line; /* of several points in one line */
};

/* Fills in the row of an observation point. Returns false when it was not hit. */
bool ct_fractal_report_point(const struct ct_fractal_report *r, unsigned point,
                             struct ct_fractal_point_row *row);

/* Counts the cells of the pictures, once. */
int ct_fractal_report_draw(struct ct_fractal_report *r);

/* Prints totals, and tables of `wanted` rows at most. */
void ct_fractal_report_text(const struct ct_fractal_report *r, FILE *out, uint64_t wanted);

/* Prints a page with all pictures, which are counted. */
void ct_fractal_report_html(const struct ct_fractal_report *r, FILE *out);

/* Fills in runs and run_start from by_name. */
void ct_fractal_report_find_runs(struct ct_fractal_report *r);

/* Writes text, escaped for XML. */
void ct_fractal_put_xml(FILE *out, const char *text);

/* Write a picture as an <svg> element. */
void ct_fractal_report_svg_timeline(const struct ct_fractal_report *r, FILE *out);
void ct_fractal_report_svg_heat(const struct ct_fractal_report *r, FILE *out);
void ct_fractal_report_svg_sets(const struct ct_fractal_report *r, FILE *out);
void ct_fractal_report_svg_lines(const struct ct_fractal_report *r, FILE *out);
