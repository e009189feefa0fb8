/* SPDX-License-Identifier: Apache-2.0 */
/* Writes profiles in the formats of other tools. */
#ifndef CT_FORMAT_PROFILE_H
#define CT_FORMAT_PROFILE_H

#include "coretap/branch_list.h"
#include "coretap/cover.h"
#include "coretap/stacks.h"

#include <stdbool.h>
#include <stdio.h>

/* A program with its counts. */
struct ct_profile_view {
    const char *program;
    const char *target;             /* its path on the target */
    struct ct_cover_report *report; /* of all functions, for formats with lines */
    struct ct_cover_source source;  /* without load bias */
    struct ct_cover_item *items;    /* for formats with branches */
    size_t item_count;
    uint64_t text;   /* of a kernel module, for branch lists: where its .text begins; else 0 */
    uint32_t number; /* of the program in the sums of stacks; CT_STACK_NONE: nothing of it is in them */
};

/* Sums of stacks, for formats of them. */
struct ct_profile_stacks {
    struct ct_stack_sums *sums;
    struct ct_stack_found found;
    bool cycles; /* cycles are what is looked at first */
};

/* Each function counts in *entries what it wrote (struct ct_profile_written). CT_ERR_NOMEM. */

/* Write ranges and branches of all executed code of a program, whether it has symbols or not. */
int ct_profile_autofdo(FILE *out, const struct ct_profile_view *view, uint64_t *entries);
int ct_profile_bolt(FILE *out, const struct ct_profile_view *view, uint64_t *entries);

/* Lists the runs of a program, joined behind branches that were not taken. *runs is the caller's to free. */
int ct_profile_join(const struct ct_profile_view *view, struct ct_cover_item **runs, size_t *count);

/* Returns the instruction set of a run, and the address of its last instruction. */
enum ct_isa ct_profile_isa(const struct ct_profile_view *view, const struct ct_cover_item *run);
uint64_t ct_profile_last(const struct ct_profile_view *view, const struct ct_cover_item *run);

/* Adds what ran of a program to branch lists, a branch a list. *left_out counts instructions of runs that end
 * without one. */
int ct_profile_branch_list(struct ct_branch_list *list, const struct ct_profile_view *view, uint64_t *entries,
                           uint64_t *left_out);

int ct_profile_llvm(FILE *out, const struct ct_profile_view *view, uint64_t *entries);
int ct_profile_callgrind(FILE *out, const struct ct_profile_stacks *stacks,
                         const struct ct_profile_view *views, size_t count, uint64_t *entries);
int ct_profile_pprof(struct ct_ctx *ctx, FILE *out, const struct ct_profile_stacks *stacks,
                     const struct ct_profile_view *views, size_t count, uint64_t *entries);

#endif
