/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of sums of logs: tables by name (sums.c), saved files (sums_file.c), and the log that
 * is read (sums_take.c). */
#ifndef CT_FRACTAL_SUMS_SUMS_H
#define CT_FRACTAL_SUMS_SUMS_H

#include <stdbool.h>

#include "base/arena.h"
#include "coretap/fractal_sums.h"

/* An index over rows of a table: numbers of rows + 1 by a hash over their keys; 0 is a free slot. */
struct ct_fractal_index {
    uint32_t *slots;
    size_t room; /* a power of two */
};

/* What is known of a point of the log that is read. */
struct ct_fractal_hit {
    uint64_t last; /* time of the last hit */
    bool hit;      /* there was a hit */
};

struct ct_fractal_sums {
    struct ct_analysis analysis; /* has to be the first member */
    struct ct_arena texts;
    struct ct_fractal_totals totals;
    struct ct_fractal_sum *all;
    size_t count, room;
    struct ct_fractal_index index;
    struct ct_fractal_point_sum *points;
    size_t point_count, point_room;
    struct ct_fractal_index point_index;
    bool sorted;               /* both tables are in order, and the indexes are of that */
    const char *first_program; /* of the logs that were begun; NULL: none had one */

    /* Of the log that is read. */
    bool open;
    const char *program;
    uint64_t clock_hz;
    struct ct_fractal_hit *hits; /* by number of the point */
    size_t hit_count;
};

/* Adds to the row with the same key, which is made, with copies of all texts, when it is missing.
 * CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_fractal_sums_put(struct ct_fractal_sums *sums, const struct ct_fractal_sum *more);
int ct_fractal_sums_put_point(struct ct_fractal_sums *sums, const struct ct_fractal_point_sum *more);

/* Sorts the tables. CT_ERR_NOMEM. */
int ct_fractal_sums_sort(struct ct_fractal_sums *sums);

/* Adds up what is counted without a name. */
void ct_fractal_totals_add(struct ct_fractal_totals *sum, const struct ct_fractal_totals *more);

/* Saves and loads the sums of logs (sums_file.c). */
int ct_fractal_sums_save(struct ct_analysis *analysis, struct ct_save *to);
int ct_fractal_sums_load(struct ct_analysis *part, struct ct_load *from);

#endif
