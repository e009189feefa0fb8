/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a property with random input, one seed after the other, and prints the result as TAP. */
#pragma once

#include <inttypes.h>
#include <stdio.h>

#include "support/rng.h"

struct seeds {
    uint64_t first; /* CT_SEED */
    uint64_t cases; /* CT_COUNT, or what the tier of the tests has */
};

/* Determines the seeds, and prints the head of `results` results. `few` and `many`: see test_count. */
static inline struct seeds seeds_begin(unsigned results, uint64_t few, uint64_t many)
{
    const struct seeds seeds = {test_number("CT_SEED", 1), test_count(few, many)};
    printf("TAP version 13\n1..%u\n# CT_SEED=%" PRIu64 " CT_COUNT=%" PRIu64 "\n", results, seeds.first,
           seeds.cases);
    return seeds;
}

/* Checks seeds, each of which stands for `each` cases, up to the first one that fails. Prints the result and
 * returns it. */
static inline int seeds_hold(struct seeds seeds, uint64_t each, int (*check)(uint64_t seed), unsigned number,
                             const char *what)
{
    uint64_t seed = seeds.first;
    int ok = 1;
    for (uint64_t done = 0; done < seeds.cases && ok; done += each)
        ok = check(seed++);
    printf("%sok %u - %s", ok ? "" : "not ", number, what);
    printf(ok ? "\n" : " # CT_SEED=%" PRIu64 " CT_COUNT=1\n", seed - 1);
    return ok;
}

/* Prints a result and returns it. */
static inline int seeds_tell(int ok, unsigned number, const char *what)
{
    printf("%sok %u - %s\n", ok ? "" : "not ", number, what);
    return ok;
}
