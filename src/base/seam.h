/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a layer between two bytes of a stream, as numbers. Equal states give equal results for all
 * that follows, so values that no longer matter (caches, numbers of a previous mode) are left out. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Maximal number of numbers; a larger state is treated as different from all others. */
#define CT_SEAM_MAX 4096u

struct ct_seam {
    uint32_t count;
    bool overflow;
    uint64_t numbers[CT_SEAM_MAX];
};

static inline void ct_seam_put(struct ct_seam *seam, uint64_t number)
{
    if (seam->count < CT_SEAM_MAX)
        seam->numbers[seam->count++] = number;
    else
        seam->overflow = true;
}

static inline bool ct_seam_equal(const struct ct_seam *a, const struct ct_seam *b)
{
    return !a->overflow && !b->overflow && a->count == b->count &&
           !memcmp(a->numbers, b->numbers, a->count * sizeof *a->numbers);
}
