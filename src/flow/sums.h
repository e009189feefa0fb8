/* SPDX-License-Identifier: Apache-2.0 */
/* What records of the walk add up to. */
#ifndef CT_FLOW_SUMS_H
#define CT_FLOW_SUMS_H

#include "coretap/flow.h"
#include "coretap/losses.h"

struct ct_flow_sums {
    uint64_t ranges;       /* stale ones do not count */
    uint64_t instructions; /* in them */
    uint64_t branches;     /* ranges that end with an executed branch */
    uint64_t no_access;    /* stale ones do not count */
    uint64_t bad_images;   /* gaps that the walk found */
    struct ct_holes holes; /* where no_access was */
};

void ct_flow_add_up(struct ct_flow_sums *sums, const struct ct_flow *records, size_t count);

#endif
