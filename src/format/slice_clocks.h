/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of the streams of a capture, by which slices are put on the axis of timestamps. */
#ifndef CT_FORMAT_SLICE_CLOCKS_H
#define CT_FORMAT_SLICE_CLOCKS_H

#include "coretap/format.h"
#include "format/report_clock.h"

struct ct_slice_clocks {
    struct ct_ctx *ctx;
    bool cycles;                   /* the clock of a stream is its cycles; else instructions */
    struct ct_report_clock *lanes; /* by number of the stream */
    size_t count;
};

/* Returns the ticks of the timestamps at which a stream had so many cycles or instructions behind it, as
 * ct_report_clock_time does. */
uint64_t ct_slice_clocks_time(const struct ct_slice_clocks *clocks, uint32_t lane, uint64_t at, bool ends);

#endif
