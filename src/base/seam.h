/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a layer between two bytes of a stream, as numbers: equal states say equal things of all that
 * follows. What can be of no consequence any more (caches, numbers of a mode that is over) is left out. */
#ifndef CT_BASE_SEAM_H
#define CT_BASE_SEAM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Numbers; a state with more is not compared but taken for different. */
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

#endif
