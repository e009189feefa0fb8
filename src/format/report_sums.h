/* SPDX-License-Identifier: Apache-2.0 */
/* What several captures of a report say of functions and their stacks, added up. */
#ifndef CT_FORMAT_REPORT_SUMS_H
#define CT_FORMAT_REPORT_SUMS_H

#include "base/arena.h"
#include "format/report_page.h"

/* Which function it is, whatever address it had in a capture. */
struct ct_report_key {
    const char *program; /* path; "": code that is in none */
    uint64_t addr;       /* of the symbol in the file; 0 without one */
    const char *name;
};

/* Start with all zero. All but the places is in `arena`. */
struct ct_report_sums {
    struct ct_arena arena;
    struct ct_report_function *functions; /* the number of one is its index */
    struct ct_report_key *keys;           /* of each */
    size_t function_count;
    uint32_t *order; /* functions by key */
    struct ct_stack_place *places;
    size_t place_count;
};

/* Keeps the strings of a place, which may go with a capture. CT_ERR_NOMEM. */
int ct_report_keep_place(struct ct_arena *arena, struct ct_report_place *place);

/* Adds what one capture says of a function and gives its number in the sums. What `from` has of distributions
 * is copied. CT_ERR_NOMEM. */
int ct_report_sums_function(struct ct_report_sums *sums, const struct ct_report_key *key,
                            const struct ct_report_function *from, uint32_t *number);

/* Adds the tree of one capture, whose functions have the numbers `numbers` in the sums. CT_ERR_NOMEM. */
int ct_report_sums_places(struct ct_report_sums *sums, const struct ct_stack_place *places, size_t count,
                          const uint32_t *numbers);
void ct_report_sums_free(struct ct_report_sums *sums);

#endif
