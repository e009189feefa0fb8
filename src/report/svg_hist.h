/* Plots of times, to stand in an HTML page or alone. Colours are CSS variables with a value for light and dark. */
#ifndef CT_REPORT_SVG_HIST_H
#define CT_REPORT_SVG_HIST_H

#include <stdio.h>

#include "coretap/timing.h"

/* A histogram with logarithmic axis of cycles: bars of buckets, their counts by height, minimum, mean and maximum
 * written under it. `title` is escaped. */
void ct_svg_histogram(FILE *out, const char *title, const struct ct_dist *dist);

#endif
