/* SPDX-License-Identifier: Apache-2.0 */
/* What the page shows of a specification: its text, the last results, and plots of its numbers. Its size does
 * not grow with the results. */
#ifndef CT_LIVE_VIEW_H
#define CT_LIVE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "coretap/verify.h"
#include "live/plot.h"

#define LIVE_VALUE   64                /* bytes that are kept of a value, with the NUL */
#define VIEW_OUTPUTS 16                /* outputs that are shown; the first ones */
#define VIEW_PLOTS   8                 /* outputs with a plot; the first ones */
#define VIEW_LAST    64                /* latest results that are kept */
#define VIEW_BAD     16                /* latest violations that are kept */
#define VIEW_TEXT    ((size_t)1 << 20) /* bytes of the text of a specification; a longer one is not kept */

/* Two events because of whose order a result is uncertain. */
struct ct_live_doubt {
    bool known;
    uint8_t kinds[2];    /* enum ct_watch_kind */
    uint16_t sources[2]; /* numbers on the axis */
    uint32_t watches[2]; /* numbers of their watchpoints */
    uint64_t times[2];
    uint64_t values[2];
};

/* A result that is kept. */
struct ct_live_kept {
    uint64_t serial; /* number of the result in the run, from 1 on */
    uint64_t time;
    uint16_t output;
    uint8_t id; /* trace ID */
    bool placed, violation, uncertain;
    char value[LIVE_VALUE];
    struct ct_watch_event event; /* where it happened, if `placed` */
    struct ct_live_doubt doubt;
    const char *core; /* that the instance is for, or NULL */
};

/* Keeps the result with number `serial`, of a trace ID. */
void ct_live_keep(struct ct_live_kept *kept, const struct ct_verify_result *result, uint8_t id,
                  uint64_t serial);

/* One output; what each result changes stands first. */
struct ct_live_output {
    uint64_t count, violations;
    uint64_t time; /* of the last value */
    uint64_t doubt_since;
    struct ct_live_plot *plot; /* NULL before the first number */
    uint8_t type;              /* enum ct_monitor_type */
    uint8_t id;                /* trace ID of the last value */
    bool doubtful;             /* all values since `doubt_since` are uncertain */
    char value[LIVE_VALUE];    /* the last one */
    char name[48], unit[16];
};

struct ct_live_view {
    char *text; /* of the specification; NULL when it is not known */
    struct ct_live_output outputs[VIEW_OUTPUTS];
    size_t output_count; /* that are shown */
    size_t all_outputs;
    size_t plots;
    struct ct_live_kept last[VIEW_LAST], bad[VIEW_BAD];
    uint64_t last_count, bad_count; /* that came; the last ones are kept */
    double looked;                  /* when the page asked for it; 0: never */
    bool lacks;                     /* memory was missing for a plot */
};

/* Makes a view of a specification. NULL without memory. */
struct ct_live_view *ct_live_view_new(const struct ct_monitor_spec *spec);
void ct_live_view_free(struct ct_live_view *view);

/* Keeps a copy of the text, and finds the units of outputs in it: @unit("us") before "out". False without
 * memory. */
bool ct_live_view_text(struct ct_live_view *view, const char *text, size_t size);

/* Takes the result with number `serial`, of a trace ID. Without a page nobody sees the last results and the
 * plots, which are not kept then. */
void ct_live_view_add(struct ct_live_view *view, const struct ct_verify_result *result, uint8_t id,
                      uint64_t serial, bool page);

/* Returns since when an output has uncertain values alone: the earliest such time of all outputs. False:
 * there is none. */
bool ct_live_view_doubt(const struct ct_live_view *view, uint64_t *since);

#endif
