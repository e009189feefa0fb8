/* SPDX-License-Identifier: Apache-2.0 */
/* Distributions that are filled. */
#ifndef CT_ANALYSIS_DIST_H
#define CT_ANALYSIS_DIST_H

#include <stdbool.h>

#include "coretap/timing.h"

/* Adds a value; with `histogram` also to its bucket, which needs memory the first time. CT_ERR_NOMEM. */
int ct_dist_add(struct ct_dist *dist, uint64_t value, bool histogram);

#endif
