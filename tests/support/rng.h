/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers for tests: seeded, the same on every machine. */
#ifndef CT_TEST_RNG_H
#define CT_TEST_RNG_H

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

/* 0 to n - 1; n at least 1. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
    return (uint32_t)((rng_next(r) >> 32) * n >> 32);
}

/* True n times out of 256. */
static inline int rng_chance(struct rng *r, uint32_t n)
{
    return rng_below(r, 256) < n;
}

/* A number of random width, so that small ones and large ones are equally likely. */
static inline uint64_t rng_wide(struct rng *r, unsigned most_bits)
{
    unsigned bits = rng_below(r, most_bits + 1);
    return bits ? rng_next(r) >> (64 - bits) : 0;
}

/* A number from the environment, or `otherwise`. */
static inline uint64_t test_number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* How many random cases a test has: $CT_COUNT; else `few`, or in the long tier `many` divided by $CT_LONG.
 * `make check-long` runs all of them (1) in the plain build, and a tenth (10) under the sanitizers, which are
 * as much slower. Of `few` these have a fifth. */
static inline uint64_t test_count(uint64_t few, uint64_t many)
{
    const uint64_t divisor = test_number("CT_LONG", 0);
    return test_number("CT_COUNT", divisor ? many / divisor : HAVE_ASAN ? (few + 4) / 5 : few);
}

#endif
