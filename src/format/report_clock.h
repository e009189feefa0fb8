/* SPDX-License-Identifier: Apache-2.0 */
/* How the cycles or instructions of a stream lie on the axis of its timestamps, which cores share. */
#ifndef CT_FORMAT_REPORT_CLOCK_H
#define CT_FORMAT_REPORT_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coretap/steps.h"

/* A timestamp, and how many cycles or instructions of steps came before it. */
struct ct_report_anchor {
    uint64_t at, time;
};

/* All zero is the beginning. */
struct ct_report_clock {
    struct ct_report_anchor *anchors; /* by time, then `at`; two of one `at` are before and after a pause */
    size_t count, room;
    uint64_t at;      /* cycles or instructions of all steps so far */
    uint32_t stride;  /* one of so many timestamps is kept */
    uint32_t skipped; /* timestamps that were left out since the last one that is kept */
};

/* Takes the timestamps of a batch of one stream. `cycles`: the axis of steps is cycles; else instructions.
 * CT_ERR_NOMEM. */
int ct_report_clock_take(struct ct_report_clock *clock, const struct ct_step_batch *batch, bool cycles);
void ct_report_clock_free(struct ct_report_clock *clock);

/* Tells whether times can be worked out: something ran between two timestamps. */
static inline bool ct_report_clock_is_known(const struct ct_report_clock *clock)
{
    return clock->count > 1 && clock->anchors[0].at != clock->anchors[clock->count - 1].at;
}

/* Returns the time at which a stream with a known clock had `at` cycles or instructions behind it: between
 * two timestamps in proportion, outside of them at the rate of the nearest two. Where execution paused there,
 * it is the time before the pause if `ends`, when something ended; else the time after it. */
uint64_t ct_report_clock_time(const struct ct_report_clock *clock, uint64_t at, bool ends);

#endif
