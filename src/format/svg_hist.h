/* SPDX-License-Identifier: Apache-2.0 */
/* Plots of times, for an HTML page or as separate files. Colours are CSS variables with values for light and
 * dark. */
#pragma once

#include <stdio.h>

#include "coretap/timing.h"

/* Begin and end a file of `count` histograms, one below the other. */
void ct_svg_histograms_begin(FILE *out, size_t count);
void ct_svg_histograms_end(FILE *out);

/* Writes a histogram of such a file: a bar for each bucket, with its count as height, and minimum, mean,
 * maximum and deviation below. The axis of cycles is logarithmic when the largest value is more than four
 * times the smallest. Escapes `title` and `core`, which is NULL for times of several cores. */
void ct_svg_histogram(FILE *out, size_t row, const char *title, const char *core, const struct ct_dist *dist);

/* Writes a smaller histogram without style, for a page with ct_page_css. Bars have tooltips of ct_page_js. */
void ct_svg_histogram_inside(FILE *out, const char *title, const struct ct_dist *dist);
