/* SPDX-License-Identifier: Apache-2.0 */
/* What a report has found in a log, and the pictures of it. */
#ifndef CT_FRACTAL_LOG_REPORT_H
#define CT_FRACTAL_LOG_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "coretap/fractal_report.h"

#define REPORT_BINS     2000 /* parts of the log's time in which runs are looked for */
#define REPORT_COLUMNS  600  /* of a picture */
#define REPORT_ROWS     40   /* functions of a timeline, at most */
#define REPORT_MAP_ROWS 96   /* pages of a heatmap, at most */
#define REPORT_SET_ROWS 64   /* groups of cache sets, at most */

struct ct_fractal_by_name {
    uint64_t events, first, last;
    uint8_t bin[REPORT_BINS / 8];
};

struct ct_fractal_by_page {
    uint64_t page, events; /* page + 1, so that 0 is empty */
};

/* What hits of observation points count for, and when it was first hit. */
struct ct_fractal_by_point {
    uint64_t offset, first;
    const char *name; /* NULL: it was not hit */
    bool is_line;
};

/* Rows × columns of counts. */
struct ct_fractal_map {
    uint32_t *cell;
    uint32_t rows;
    const struct ct_fractal_name *name[REPORT_ROWS]; /* timeline */
    uint64_t page[REPORT_MAP_ROWS];                  /* heatmap of pages; of lines: the line's address */
};

struct ct_fractal_report {
    struct ct_ctx *ctx;
    struct ct_fractal_log *log;       /* not owned */
    struct ct_fractal_reader *reader; /* reads the records of `log` */
    int only;                         /* the process whose events count, or CT_FRACTAL_ALL */
    const struct ct_fractal_log_info *info;
    const struct ct_fractal_names *names;
    struct ct_fractal_sums *sums; /* what is not on the log's axis of time */
    struct ct_fractal_by_name *by_name;
    size_t name_count;
    struct ct_fractal_by_page *pages;
    size_t page_room, page_count;
    struct ct_fractal_by_point *points;
    uint64_t events, start, end;
    uint64_t dropped, damaged;
    bool drawn; /* the pictures have their counts */
    FILE *out;  /* while events are printed one by one */
    unsigned runs;
    uint64_t run_start[64];
    struct ct_fractal_map timeline, heat, lines, sets;
    uint32_t set_count; /* of the last-level cache, a power of two */
};

/* Time as the log's clock says, in the unit that picture and text use. */
double ct_fractal_report_ms(const struct ct_fractal_report *r, uint64_t time);

/* `part` of `all` equal parts of a span of time, which may be as long as 64 bits can say. */
static inline uint64_t ct_fractal_part(uint64_t span, unsigned part, unsigned all)
{
    return (uint64_t)((unsigned __int128)span * part / all);
}

/* Fills runs and run_start from by_name. */
void ct_fractal_report_find_runs(struct ct_fractal_report *r);

/* Text between tags. */
void ct_fractal_put_xml(FILE *out, const char *text);

/* An <svg> element. */
void ct_fractal_report_svg_timeline(const struct ct_fractal_report *r, FILE *out);
void ct_fractal_report_svg_heat(const struct ct_fractal_report *r, FILE *out);
void ct_fractal_report_svg_sets(const struct ct_fractal_report *r, FILE *out);
void ct_fractal_report_svg_lines(const struct ct_fractal_report *r, FILE *out);

#endif
