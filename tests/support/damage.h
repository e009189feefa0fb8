/* SPDX-License-Identifier: Apache-2.0 */
/* Damage as it occurs in trace: flipped bits, lost pieces, foreign bytes, an early end. */
#pragma once

#include <string.h>

#include "support/rng.h"

/* Damages bytes[0..size) in 1 to 8 places and returns the new size. The array has `room` bytes. */
static inline size_t damage(struct rng *rng, uint8_t *bytes, size_t size, size_t room)
{
    for (unsigned places = 1 + rng_below(rng, 8); places && size > 64; places--) {
        size_t at = rng_below(rng, (uint32_t)size - 32), n = 1 + rng_below(rng, 31);
        switch (rng_below(rng, 4)) {
        case 0:
            bytes[at] ^= (uint8_t)(1u << rng_below(rng, 8));
            break;
        case 1:
            memmove(bytes + at, bytes + at + n, size - at - n);
            size -= n;
            break;
        case 2:
            if (size + n > room)
                break;
            memmove(bytes + at + n, bytes + at, size - at);
            for (size_t i = 0; i < n; i++)
                bytes[at + i] = (uint8_t)rng_next(rng);
            size += n;
            break;
        default:
            size -= rng_chance(rng, 32) ? n : 0;
            break;
        }
    }
    return size;
}
