/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles in the formats of other tools. */
#ifndef CT_FORMAT_PROFILE_H
#define CT_FORMAT_PROFILE_H

#include "coretap/cover.h"
#include "coretap/stacks.h"

#include <stdbool.h>
#include <stdio.h>

/* One program and its counts. */
struct ct_profile_view {
    const char *program;
    const struct ct_cover_report *report; /* of all functions */
    const struct ct_lines *lines;
    const struct ct_symbols *symbols;
    const struct ct_memory *memory; /* without load bias, as the symbols */
    const struct ct_cover_item *items;
    size_t item_count;
    uint64_t bias;
};

/* Ranges and branches of all executed code of the program, whether it has symbols or not. CT_ERR_NOMEM. */
int ct_profile_autofdo(FILE *out, const struct ct_profile_view *view);
int ct_profile_bolt(FILE *out, const struct ct_profile_view *view);

/* *functions counts those that were written. CT_ERR_NOMEM. */
int ct_profile_llvm(FILE *out, const struct ct_profile_view *view, size_t *functions);
int ct_profile_callgrind(FILE *out, const struct ct_stacks *stacks, const struct ct_profile_view *views,
                         size_t count);

/* Slices as trace events. Times are cycles or instructions, written as microseconds; slices that are not in
 * [from, to) are left out, others cut to it. */
struct ct_profile_slices {
    FILE *out;
    bool cycles;
    bool any; /* something was written: before the first slice nothing is */
    uint64_t from, to;
};
void ct_profile_slices(struct ct_profile_slices *slices, const struct ct_stacks *stacks);
void ct_profile_slices_end(struct ct_profile_slices *slices);

#endif
