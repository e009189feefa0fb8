/* SPDX-License-Identifier: Apache-2.0 */
/* Maps the cycles or instructions of a stream to the axis of its timestamps, which cores share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coretap/steps.h"

/* A timestamp, and the cycles or instructions of steps before it. */
struct ct_report_anchor {
    uint64_t at, time;
};

/* Starts as all zeros. */
struct ct_report_clock {
    /* sorted by time and `at`; two with the same `at` are before and after a pause */
    struct ct_report_anchor *anchors;
    size_t count, room;
    uint64_t at;      /* cycles or instructions of all steps so far */
    uint32_t stride;  /* one of so many timestamps is kept */
    uint32_t skipped; /* timestamps dropped since the last kept one */
};

/* Takes the timestamps of a batch of one stream. `cycles`: steps are measured in cycles, else in
 * instructions. CT_ERR_NOMEM. */
int ct_report_clock_take(struct ct_report_clock *clock, const struct ct_step_batch *batch, bool cycles);
void ct_report_clock_free(struct ct_report_clock *clock);

/* Returns whether times can be computed: something ran between two timestamps. */
static inline bool ct_report_clock_is_known(const struct ct_report_clock *clock)
{
    return clock->count > 1 && clock->anchors[0].at != clock->anchors[clock->count - 1].at;
}

/* Returns the time at which a stream with a known clock had executed `at` cycles or instructions.
 * Interpolates between two timestamps, and extrapolates at the rate of the nearest two. At a pause of
 * execution returns the time before it if `ends`, for something that ended; else the time after it. */
uint64_t ct_report_clock_time(const struct ct_report_clock *clock, uint64_t at, bool ends);
