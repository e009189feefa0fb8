/* SPDX-License-Identifier: Apache-2.0 */
/* What the report holds of named events: sums by name, values over time, spans, and the first texts. */
#pragma once

#include "base/arena.h"
#include "format/named_lines.h"
#include "format/slices.h"

/* most points of a value over time */
#define CT_REPORT_POINTS 512

/* most ports whose spans are drawn, and most texts that are shown */
#define CT_REPORT_PORTS 32
#define CT_REPORT_TEXTS 300

/* most spans that are open at a time */
#define CT_REPORT_SPANS_OPEN 256

/* The range of values during an interval. */
struct ct_report_point {
    uint64_t from, to;
    double least, most;
};

/* All events with one name, of a value or of spans. */
struct ct_report_named_row {
    const char *name;
    uint64_t port;                  /* CT_SW_PORT of the first event */
    uint8_t kind;                   /* CT_NAMED_VALUE, or CT_NAMED_BEGIN for spans */
    bool more_ports;                /* there were other ports, too */
    uint64_t count;                 /* values, or ended spans */
    double least, most, sum, last;  /* of values, or of the lengths of spans */
    struct ct_report_point *points; /* for values: CT_REPORT_POINTS of them */
    size_t point_count;
    uint64_t each;    /* values in a full point */
    uint64_t in_last; /* values in the last point */
};

struct ct_report_named_text {
    uint64_t time, port;
    const char *text;
};

/* An open span. */
struct ct_report_span {
    uint32_t row;
    uint32_t lane;
    uint64_t port, from;
};

struct ct_report_named {
    struct ct_ctx *ctx;
    struct ct_named_lines lines;
    struct ct_arena arena; /* for points and texts */
    struct ct_report_named_row *rows;
    size_t row_count;
    uint32_t *row_of; /* by event number: its row, plus one */
    struct ct_report_span open[CT_REPORT_SPANS_OPEN];
    size_t open_count;
    uint64_t ports[CT_REPORT_PORTS]; /* ports with a lane of spans */
    size_t port_count;
    struct ct_slices spans;
    struct ct_report_named_text *texts;
    size_t text_count;
    uint64_t texts_left_out;
    uint64_t cut;     /* events cut by missing trace */
    uint64_t orphans; /* ends of spans without a begin, and begins without an end */
    uint64_t end;     /* time of the last event */
    bool untimed;     /* a source had no timestamps: times are its cycles */
};

/* Takes events of a source, in order. CT_ERR_NOMEM. Other errors when names cannot be used: ct_ctx_error has
 * the reason, and the writes are ignored. */
int ct_report_named_add(struct ct_report_named *named, const struct ct_event_origin *origin,
                        const struct ct_timed_event *events, size_t count);

/* Ends the open spans. CT_ERR_NOMEM. */
int ct_report_named_end(struct ct_report_named *named);

void ct_report_named_free(struct ct_report_named *named);
