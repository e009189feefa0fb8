/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of log sums: tables by name (sums.c), saved files (sums_file.c), reading a log
 * (sums_take.c). */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "coretap/fractal_sums.h"

/* Rows by their keys, with a hash index over them. */
struct ct_fractal_table {
    void *rows;
    size_t count, room;
    uint32_t *slots;   /* a slot holds a row number + 1; 0 is a free slot */
    size_t slot_count; /* a power of two */
};

/* The last hit of an observation point in the log being read. */
struct ct_fractal_hit {
    uint64_t last; /* time of the last hit */
    bool hit;      /* the point has been hit */
};

struct ct_fractal_sums {
    struct ct_analysis analysis; /* has to be the first member */
    struct ct_arena texts;
    struct ct_fractal_totals totals;
    struct ct_fractal_table names;  /* of struct ct_fractal_sum */
    struct ct_fractal_table points; /* of struct ct_fractal_point_sum */
    bool sorted;                    /* both tables are sorted, and the indexes match that order */
    const char *first_program; /* program of the first log that was begun; NULL when that log names none */

    /* state of the log being read */
    bool open;
    const char *program;
    uint64_t clock_hz;
    struct ct_fractal_hit *hits; /* by point number */
    size_t hit_count;
};

/* Adds counts to the row with the same key. Creates the row, with copies of all texts, when it is missing.
 * Errors: CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_fractal_sums_put(struct ct_fractal_sums *sums, const struct ct_fractal_sum *more);
int ct_fractal_sums_put_point(struct ct_fractal_sums *sums, const struct ct_fractal_point_sum *more);

/* Sorts both tables. Error: CT_ERR_NOMEM. */
int ct_fractal_sums_sort(struct ct_fractal_sums *sums);

/* Adds the counts of `more`, which belong to no name, to `sum`. */
void ct_fractal_totals_add(struct ct_fractal_totals *sum, const struct ct_fractal_totals *more);

/* Save and load the sums of logs (sums_file.c). */
int ct_fractal_sums_save(struct ct_analysis *analysis, struct ct_save *to);
int ct_fractal_sums_load(struct ct_analysis *part, struct ct_load *from);
