/* SPDX-License-Identifier: Apache-2.0 */
/* Charts of bars above each other along an axis: calls over time, or stacks by their share. The page holds
 * the numbers; lanes.js draws and zooms, and tells what a bar is. */
#ifndef CT_FORMAT_LANES_H
#define CT_FORMAT_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

extern const char ct_lanes_js[]; /* needs ct_page_js */
extern const size_t ct_lanes_js_size;

struct ct_lane_bar {
    uint32_t name; /* index in `names` */
    uint32_t depth;
    uint64_t from, to;
};

struct ct_chart_lane {
    const char *title;              /* NULL for none */
    const char *core, *thread;      /* what readers choose lanes by; NULL for none */
    const struct ct_lane_bar *bars; /* sorted by `from` */
    size_t count;
    uint64_t weight; /* of charts of weights: all that the lane is of */
};

struct ct_lanes {
    const char *label;        /* describes the chart to those who do not see it */
    const char *unit;         /* of the axis */
    const char *kind;         /* "time": bars are told by begin and length; "weight": by their part of the
                                 whole, and the first lane is of all others together */
    const char *const *names; /* the first ones have colours of their own */
    size_t name_count;
    bool functions; /* the names are those of the report's functions, in their order */
    const struct ct_chart_lane *lanes;
    size_t lane_count;
};

/* Writes a chart. CT_ERR_NOMEM: the chart is missing. */
int ct_lanes_html(FILE *out, const struct ct_lanes *lanes);

#endif
