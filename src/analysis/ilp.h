/* SPDX-License-Identifier: Apache-2.0 */
/* Integer linear programs: columns with whole values of at least 0, rows that bound sums of columns, and one
 * sum to maximise. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "coretap/base.h"

enum ct_ilp_sense {
    CT_ILP_LE,
    CT_ILP_EQ,
    CT_ILP_GE,
};

struct ct_ilp_term {
    uint32_t column;
    int32_t pad;
    int64_t factor;
};

struct ct_ilp_row {
    size_t first; /* index of the first term */
    size_t count;
    int64_t right;
    uint8_t sense; /* enum ct_ilp_sense */
    char name[31];
};

struct ct_ilp_column {
    uint64_t gain;
    size_t newest; /* index of its newest term, plus one; 0: the column is in no row */
    char name[32];
};

/* An integer linear program. All zeros is an empty one. */
struct ct_ilp {
    struct ct_ilp_column *columns;
    size_t column_count, column_room;
    struct ct_ilp_row *rows;
    size_t row_count, row_room;
    struct ct_ilp_term *terms;
    size_t term_count, term_room;
};

/* Add a column, whose number becomes *column; a row; and a term to the last row. Names consist of letters,
 * digits and _. CT_ERR_NOMEM. */
int ct_ilp_column(struct ct_ilp *ilp, const char *name, uint64_t gain, uint32_t *column);
int ct_ilp_row(struct ct_ilp *ilp, const char *name, enum ct_ilp_sense sense, int64_t right);
int ct_ilp_term(struct ct_ilp *ilp, uint32_t column, int64_t factor);
void ct_ilp_free(struct ct_ilp *ilp);

/* Writes the program in CPLEX LP format, which CBC and GLPK read. */
void ct_ilp_write(const struct ct_ilp *ilp, FILE *out);

/* Returns whether the sum of a row equals its right side. */
bool ct_ilp_reaches(const struct ct_ilp *ilp, uint32_t row, const uint64_t *values);

/* Finds the largest gain and, in values[0 … columns), values that reach it. Checks every number of the
 * solver's answer in whole numbers. A large program may have its largest gain outside of the whole numbers:
 * then *relaxed is true, *gain is rounded up to a bound that no whole numbers exceed, and the values are
 * rounded, so that they may break rows. The search takes at most about `seconds` of processor time.
 * CT_ERR_NOT_FOUND: no values fulfil all rows. CT_ERR_LIMIT: the gain has no limit or, with *too_long and
 * without a text, the search took too long. CT_ERR_UNSUPPORTED: CBC is missing. CT_ERR_NOMEM. The context
 * says more. */
int ct_ilp_solve(struct ct_ctx *ctx, const struct ct_ilp *ilp, unsigned seconds, uint64_t *values,
                 uint64_t *gain, bool *relaxed, bool *too_long);
