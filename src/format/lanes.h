/* SPDX-License-Identifier: Apache-2.0 */
/* Charts of stacked bars along an axis: calls over time, or stacks by weight. The page holds the numbers;
 * lanes.js draws, zooms, and shows details of bars. */
#pragma once

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
    const char *core, *thread;      /* for readers to select lanes by; NULL for none */
    const struct ct_lane_bar *bars; /* sorted by `from` */
    size_t count;
    uint64_t weight; /* for charts of weights: total of the lane */
};

struct ct_lanes {
    const char *label; /* describes the chart to readers who cannot see it */
    const char *unit;  /* of the axis */
    const char *kind; /* "time": bars show begin and length; "weight": they show their share of the whole, and
                         the first lane sums up all others */
    const char *const *names; /* the first ones have their own colours */
    size_t name_count;
    bool functions; /* the names are the report's functions, in order */
    const struct ct_chart_lane *lanes;
    size_t lane_count;
};

/* Writes a chart. CT_ERR_NOMEM: the chart is missing. */
int ct_lanes_html(FILE *out, const struct ct_lanes *lanes);
