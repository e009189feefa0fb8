/* SPDX-License-Identifier: Apache-2.0 */
/* Determines whether a trace unit counts cycles. */
#pragma once

#include <stdbool.h>

#include "coretap/input.h"

struct ct_cycle_counts {
    bool there;
    bool timestamps_add; /* the count of a timestamp is added to the others (PTM, ETMv3) */
};

/* Reads the registers of a source. CT_ERR_CONFIG for registers with impossible values. */
int ct_cycle_counts_of(struct ct_ctx *ctx, const struct ct_source *source, struct ct_cycle_counts *out);
