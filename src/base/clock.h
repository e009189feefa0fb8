/* SPDX-License-Identifier: Apache-2.0 */
/* Converts timestamps to nanoseconds, with the clock of a capture. */
#pragma once

#include "coretap/input.h"

/* Returns the nanoseconds of a timestamp on a known clock. */
static inline uint64_t ct_clock_nanoseconds(const struct ct_clock *clock, uint64_t ticks)
{
    return clock->zero + (uint64_t)((unsigned __int128)ticks * clock->mult >> clock->shift);
}

/* Returns the nanoseconds of a number of ticks at a frequency in Hz. Frequency 0 stands for that of the
 * clock, or for one nanosecond a tick when the clock is unknown. */
static inline uint64_t ct_clock_nanoseconds_at(const struct ct_clock *clock, uint64_t frequency,
                                               uint64_t ticks)
{
    if (frequency)
        return (uint64_t)((unsigned __int128)ticks * 1000000000 / frequency);
    return clock->known ? ct_clock_nanoseconds(clock, ticks) : ticks;
}
