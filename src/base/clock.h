/* SPDX-License-Identifier: Apache-2.0 */
/* What the clock of a capture makes of the ticks of its timestamps. */
#ifndef CT_BASE_CLOCK_H
#define CT_BASE_CLOCK_H

#include "coretap/input.h"

/* Returns the nanoseconds of a tick on a clock that is known. */
static inline uint64_t ct_clock_nanoseconds(const struct ct_clock *clock, uint64_t ticks)
{
    return clock->zero + (uint64_t)((unsigned __int128)ticks * clock->mult >> clock->shift);
}

/* Returns the nanoseconds of ticks at a frequency in Hz. With 0 it is that of the clock, or one nanosecond a
 * tick when that is not known. */
static inline uint64_t ct_clock_nanoseconds_at(const struct ct_clock *clock, uint64_t frequency,
                                               uint64_t ticks)
{
    if (frequency)
        return (uint64_t)((unsigned __int128)ticks * 1000000000 / frequency);
    return clock->known ? ct_clock_nanoseconds(clock, ticks) : ticks;
}

#endif
