/* SPDX-License-Identifier: Apache-2.0 */
/* Adds values to distributions. */
#pragma once

#include <stdbool.h>

#include "coretap/timing.h"

/* Adds a value `count` times and, with `histogram`, counts it in its bucket. Allocates the buckets when the
 * value needs more of them. CT_ERR_NOMEM. */
int ct_dist_add_times(struct ct_dist *dist, uint64_t value, uint32_t count, bool histogram);

/* Adds a value once. CT_ERR_NOMEM. */
static inline int ct_dist_add(struct ct_dist *dist, uint64_t value, bool histogram)
{
    return ct_dist_add_times(dist, value, 1, histogram);
}

/* Allocates the buckets up to that of `value`, so that adding values up to it cannot fail. CT_ERR_NOMEM. */
int ct_dist_make_room(struct ct_dist *dist, uint64_t value);
