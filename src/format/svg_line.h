/* SPDX-License-Identifier: Apache-2.0 */
/* Plots of a value over time, for an HTML page. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "format/report_named.h"

/* The content of a plot. */
struct ct_svg_line {
    const char *title; /* is escaped */
    const char *note;  /* above the plot, on the right */
    const char *unit;  /* of time */
    const struct ct_report_point *points;
    size_t count;
    uint64_t begin, end; /* of the axis of time */
};

/* Writes a step line through the values; a point with several spans from the least to the most of them. For a
 * page with ct_page_css. */
void ct_svg_line(FILE *out, const struct ct_svg_line *line);
