/* SPDX-License-Identifier: Apache-2.0 */
/* Little-endian loads and stores, and bit fields. Trace and Arm images are little-endian on every host. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t ct_load16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t ct_load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t ct_load64(const uint8_t *p)
{
    return (uint64_t)ct_load32(p) | (uint64_t)ct_load32(p + 4) << 32;
}

/* Converts a number between the byte order of the host and little-endian. */
static inline uint64_t ct_le64(uint64_t x)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? x : __builtin_bswap64(x);
}

/* Writes the low `size` bytes of a number, at most 8. */
static inline void ct_store(uint8_t *p, uint64_t value, size_t size)
{
    const uint64_t little = ct_le64(value);
    memcpy(p, &little, size);
}

/* Returns bits hi..lo of x, written as x[hi:lo] in the architecture; 31 >= hi >= lo. */
static inline uint32_t ct_bits(uint32_t x, unsigned hi, unsigned lo)
{
    return x >> lo & (0xffffffffu >> (31 - hi + lo));
}

/* Returns a number with the low n bits set; n from 0 to 64. */
static inline uint64_t ct_mask64(unsigned n)
{
    return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

/* Sign-extends x, a number of n bits; n from 1 to 64. */
static inline int64_t ct_sext(uint64_t x, unsigned n)
{
    return (int64_t)(x << (64 - n)) >> (64 - n);
}
