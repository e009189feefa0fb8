/* SPDX-License-Identifier: Apache-2.0 */
/* Sums that stop at their largest value, so that the order of additions does not matter. */
#pragma once

#include <stdint.h>

static inline void ct_add_up(uint64_t *sum, uint64_t more)
{
    *sum = more > UINT64_MAX - *sum ? UINT64_MAX : *sum + more;
}
