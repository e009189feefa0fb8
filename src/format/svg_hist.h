/* SPDX-License-Identifier: Apache-2.0 */
/* Plots of times, to stand in an HTML page or alone. Colours are CSS variables
 * with a value for light and dark. */
#ifndef CT_FORMAT_SVG_HIST_H
#define CT_FORMAT_SVG_HIST_H

#include <stdio.h>

#include "coretap/timing.h"

/* A histogram: bars of buckets, their counts by height; minimum, mean, maximum and deviation are
 * written under it. The axis of cycles is logarithmic when the largest is more than four times
 * the smallest. `title` is escaped. */
void ct_svg_histogram(FILE *out, const char *title, const struct ct_dist *dist);

/* The same without a style of its own, smaller, in a page with ct_page_css;
 * bars have tooltips of ct_page_js. */
void ct_svg_histogram_inside(FILE *out, const char *title, const struct ct_dist *dist);

#endif
