/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a numeric output, in memory that does not grow: over time, and how often each came. */
#ifndef CT_LIVE_PLOT_H
#define CT_LIVE_PLOT_H

#include <stdint.h>

#include "coretap/json.h"

#define PLOT_POINTS  120                /* columns over time; with more, two become one */
#define PLOT_LINEAR  64                 /* bars of one width */
#define PLOT_OCTAVES 96                 /* powers of two of the logarithmic bars, from 2^-32 on */
#define PLOT_LOG     (2 * PLOT_OCTAVES) /* logarithmic bars: two for each power of two */

/* What came in a span of time. */
struct ct_live_point {
    double low, high, sum;
    uint64_t count;
};

/* All zero is an empty one. */
struct ct_live_plot {
    uint64_t count; /* values */
    double low, high, sum;
    uint64_t begin; /* time of the first column */
    unsigned shift; /* each column lasts 1 << shift */
    struct ct_live_point points[PLOT_POINTS];
    double bar_low, bar_width; /* of the bars of one width */
    uint64_t linear[PLOT_LINEAR];
    uint64_t zeros, logarithmic[PLOT_LOG]; /* of values from 0 on */
};

/* Adds a finite value. What comes from before the first one counts as of its time. */
void ct_live_plot_add(struct ct_live_plot *plot, uint64_t time, double value);

/* Writes it as an object: with logarithmic bars where no value is negative and the largest one is more than
 * a hundred times the smallest one above 0. */
void ct_live_plot_json(struct ct_json *json, const char *key, const struct ct_live_plot *plot);

#endif
