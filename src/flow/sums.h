/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over the records of the walk. */
#pragma once

#include "coretap/flow.h"
#include "coretap/losses.h"

struct ct_flow_sums {
    uint64_t ranges;       /* without stale ones */
    uint64_t instructions; /* of these ranges */
    uint64_t branches;     /* ranges that end with an executed branch */
    uint64_t no_access;    /* without stale ones */
    uint64_t bad_images;   /* gaps CT_GAP_BAD_IMAGE, which the walk found */
    struct ct_holes holes; /* the addresses where memory was missing */
};

void ct_flow_add_up(struct ct_flow_sums *sums, const struct ct_flow *records, size_t count);
