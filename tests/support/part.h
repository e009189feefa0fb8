/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a long test runs in `make check`. */
#pragma once

#include "rng.h"

/* Returns how many of `few` random cases run, each of which takes long: all with CHECK=whole, which sets
 * CT_WHOLE, else a third. For the `few` of test_count and seeds_begin. */
static inline uint64_t test_part(uint64_t few)
{
    return test_number("CT_WHOLE", 0) ? few : (few + 2) / 3;
}
