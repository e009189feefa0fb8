/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the fast paths run once for each version of them. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "base/simd.h"

/* Returns whether $CORETAP_SIMD names the version that this processor takes without it, and says in TAP that
 * the test without that variable checks it. */
static inline int best_simd_is_named(void)
{
    char *named = getenv("CORETAP_SIMD");
    if (!named)
        return 0;
    const enum ct_simd now = ct_simd();
    unsetenv("CORETAP_SIMD");
    const enum ct_simd best = ct_simd();
    if (now == best)
        printf("1..0 # SKIP this processor has no better version, which the test of that name checks\n");
    return now == best;
}
