/* SPDX-License-Identifier: Apache-2.0 */
/* What the page shows of a specification: its text, the last results, and plots of its numbers. Its size does
 * not grow with the results. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "coretap/verify.h"
#include "live/plot.h"

#define LIVE_VALUE   64                /* bytes kept of a value, including the NUL */
#define VIEW_OUTPUTS 16                /* outputs shown, the first ones */
#define VIEW_PLOTS   8                 /* outputs with a plot, the first ones */
#define VIEW_LAST    64                /* latest results kept */
#define VIEW_BAD     16                /* latest violations kept */
#define VIEW_TEXT    ((size_t)1 << 20) /* longest text of a specification that is kept, in bytes */

/* Two events whose unknown order makes a result uncertain. */
struct ct_live_doubt {
    bool known;
    uint8_t kinds[2];    /* enum ct_watch_kind */
    uint16_t sources[2]; /* numbers of their sources on the axis */
    uint32_t watches[2]; /* numbers of their watchpoints */
    uint64_t times[2];
    uint64_t values[2];
};

/* A stored result. */
struct ct_live_kept {
    uint64_t serial; /* number of the result in the run, from 1 on */
    uint64_t time;
    uint16_t output;
    uint8_t id; /* trace ID */
    bool placed, violation, uncertain;
    char value[LIVE_VALUE];
    struct ct_watch_event event; /* where it happened, if `placed` */
    struct ct_live_doubt doubt;
    const char *core; /* core of the specification's instance, or NULL */
};

/* Stores the result with number `serial`, from a trace ID. */
void ct_live_keep(struct ct_live_kept *kept, const struct ct_verify_result *result, uint8_t id,
                  uint64_t serial);

/* One output. The fields that each result changes come first. */
struct ct_live_output {
    uint64_t count, violations;
    uint64_t time; /* time of the last value */
    uint64_t doubt_since;
    struct ct_live_plot *plot; /* NULL before the first number */
    uint8_t type;              /* enum ct_monitor_type */
    uint8_t id;                /* trace ID of the last value */
    bool doubtful;             /* all values since `doubt_since` are uncertain */
    char value[LIVE_VALUE];    /* the last value */
    char name[48], unit[16];
};

struct ct_live_view {
    char *text; /* text of the specification; NULL when unknown */
    struct ct_live_output outputs[VIEW_OUTPUTS];
    size_t output_count; /* outputs shown */
    size_t all_outputs;
    size_t plots;
    struct ct_live_kept last[VIEW_LAST], bad[VIEW_BAD];
    uint64_t last_count, bad_count; /* total counts; the last ones are kept */
    double looked;                  /* when the page last asked for it; 0: never */
    bool lacks;                     /* memory ran out for a plot */
};

/* Creates a view of a specification. NULL: out of memory. */
struct ct_live_view *ct_live_view_new(const struct ct_monitor_spec *spec);
void ct_live_view_free(struct ct_live_view *view);

/* Keeps a copy of the text, and finds the units of outputs in it: @unit("us") before "out". Returns false
 * when out of memory. */
bool ct_live_view_text(struct ct_live_view *view, const char *text, size_t size);

/* Takes the result with number `serial`, from a trace ID. Without a page, the last results and plots are not
 * kept. */
void ct_live_view_add(struct ct_live_view *view, const struct ct_verify_result *result, uint8_t id,
                      uint64_t serial, bool page);

/* Gets the earliest time since which some output has had only uncertain values. Returns false when no output
 * does. */
bool ct_live_view_doubt(const struct ct_live_view *view, uint64_t *since);
