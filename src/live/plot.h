/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a numeric output over time, and as a histogram, in fixed memory. */
#pragma once

#include <stdint.h>

#include "coretap/json.h"

#define PLOT_POINTS  120                /* columns over time; when full, pairs are merged */
#define PLOT_LINEAR  64                 /* linear bars, all of one width */
#define PLOT_OCTAVES 96                 /* powers of two covered by logarithmic bars, from 2^-32 on */
#define PLOT_LOG     (2 * PLOT_OCTAVES) /* logarithmic bars: two per power of two */

/* The values in a span of time. */
struct ct_live_point {
    double low, high, sum;
    uint64_t count;
};

/* A plot. All zero: an empty one. */
struct ct_live_plot {
    uint64_t count; /* number of values */
    double low, high, sum;
    uint64_t begin; /* time of the first column */
    unsigned shift; /* each column lasts 1 << shift */
    struct ct_live_point points[PLOT_POINTS];
    double bar_low, bar_width; /* range of the linear bars */
    uint64_t linear[PLOT_LINEAR];
    uint64_t zeros, logarithmic[PLOT_LOG]; /* counts of values >= 0 */
};

/* Adds a finite value. A time before the first value's counts as that time. */
void ct_live_plot_add(struct ct_live_plot *plot, uint64_t time, double value);

/* Writes the plot as an object. Bars are logarithmic if no value is negative and the largest is more than a
 * hundred times the smallest positive one. */
void ct_live_plot_json(struct ct_json *json, const char *key, const struct ct_live_plot *plot);
