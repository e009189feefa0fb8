/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers for tests: from a seed, the same on every machine. */
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include "sanitizer.h"

struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *r) /* splitmix64 */
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Returns a number from 0 to n - 1. `n` is at least 1. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
    return (uint32_t)((rng_next(r) >> 32) * n >> 32);
}

/* Returns 1 in n of 256 cases. */
static inline int rng_chance(struct rng *r, uint32_t n)
{
    return rng_below(r, 256) < n;
}

/* Returns a number of random width, so that small and large ones are equally likely. */
static inline uint64_t rng_wide(struct rng *r, unsigned most_bits)
{
    unsigned bits = rng_below(r, most_bits + 1);
    return bits ? rng_next(r) >> (64 - bits) : 0;
}

/* Returns the number in the environment variable `name`, or `otherwise` when it is not set. */
static inline uint64_t test_number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* Returns how many random cases a test runs: $CT_COUNT if that is set; in the long tier `many` divided by
 * $CT_LONG; else `few`, or a fifth of them under AddressSanitizer. `make check-long` sets CT_LONG to 1 in the
 * plain build, and to 10 under the sanitizers, which are about ten times slower. */
static inline uint64_t test_count(uint64_t few, uint64_t many)
{
    const uint64_t divisor = test_number("CT_LONG", 0);
    return test_number("CT_COUNT", divisor ? many / divisor : HAVE_ASAN ? (few + 4) / 5 : few);
}
