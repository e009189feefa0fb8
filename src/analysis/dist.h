/* SPDX-License-Identifier: Apache-2.0 */
/* Adds values to distributions. */
#ifndef CT_ANALYSIS_DIST_H
#define CT_ANALYSIS_DIST_H

#include <stdbool.h>

#include "coretap/timing.h"

/* Adds a value and, with `histogram`, counts it in its bucket, for which the first value needs memory.
 * CT_ERR_NOMEM. */
int ct_dist_add(struct ct_dist *dist, uint64_t value, bool histogram);

#endif
