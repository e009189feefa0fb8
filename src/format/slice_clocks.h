/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of a capture's streams, which map slices to the axis of timestamps. */
#pragma once

#include "coretap/format.h"
#include "format/report_clock.h"

struct ct_slice_clocks {
    struct ct_ctx *ctx;
    bool cycles;                   /* steps are measured in cycles, else in instructions */
    struct ct_report_clock *lanes; /* by stream number */
    size_t count;
};

/* Returns the ticks of the timestamps at which a stream had executed `at` cycles or instructions, as
 * ct_report_clock_time does. */
uint64_t ct_slice_clocks_time(const struct ct_slice_clocks *clocks, uint32_t lane, uint64_t at, bool ends);
