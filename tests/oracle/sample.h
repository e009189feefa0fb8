/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are inlined into functions of another file. */
#pragma once

static inline __attribute__((always_inline)) int sample_clamp(int value, int low, int high)
{
    if (value < low)
        return low;
    return value > high ? high : value;
}

static inline __attribute__((always_inline)) int sample_mix(int a, int b)
{
    return sample_clamp(a * 3 - b, -100, 100) ^ sample_clamp(b, 0, 7);
}
