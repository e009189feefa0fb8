/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a frame in two words, for kernel.h on any processor. */
#pragma once

#include <string.h>

#include "base/bytes.h"
#include "frame/demux.h"

#define ID_BITS  UINT64_C(0x0001000100010001)
#define ALL_ONES UINT64_C(0x0101010101010101)

static inline void copy_32(uint8_t *to, const uint8_t *from)
{
    memcpy(to, from, 32);
}

static inline void copy_64(uint8_t *to, const uint8_t *from)
{
    memcpy(to, from, 64);
}

/* Returns bits 48, 32, 16, 0 of x as bits 3, 2, 1, 0. */
static inline uint64_t gather(uint64_t x)
{
    return (x & ID_BITS) * UINT64_C(0x0001000200040008) >> 48 & 15;
}

/* Returns bits 3..0 of x as bits 48, 32, 16, 0. */
static inline uint64_t spread(uint64_t x)
{
    return (x & 15) * UINT64_C(0x0000200040008001) & ID_BITS;
}

/* Stores bytes; where `late` is ff, stores the following byte instead. */
static inline void store(uint8_t *to, uint64_t data, uint64_t v, uint64_t late)
{
    const uint64_t bytes = ct_le64((data & ~late) | (v >> 8 & late));
    memcpy(to, &bytes, 8);
}

static inline uint64_t restore_one(const uint8_t *frame, uint8_t *to)
{
    const uint64_t low = ct_load64(frame), high = ct_load64(frame + 8);
    const uint64_t low_set = spread(high >> 56), high_set = spread(high >> 60);
    if (!((low | high) & ID_BITS)) {
        store(to, low | low_set, 0, 0);
        store(to + 8, high | high_set, 0, 0);
        return 0;
    }
    store(to, low | low_set, low, (low & low_set) * 0xff);
    store(to + 8, high | high_set, high, (high & high_set) * 0xff);
    return gather(low) | gather(high) << 4;
}

static inline uint64_t equal_64(const uint8_t *bytes, uint8_t byte)
{
    uint64_t equal = 0;
    for (unsigned i = 0; i < 64; i += 8) {
        const uint64_t x = ct_load64(bytes + i) ^ ALL_ONES * byte;
        const uint64_t zero = ~(((x & 0x7f * ALL_ONES) + 0x7f * ALL_ONES) | x) >> 7 & ALL_ONES;
        equal |= (zero * UINT64_C(0x0102040810204080) >> 56) << i;
    }
    return equal;
}

#include "frame/row_single.h"

#include "frame/row_bits.h"
