/* SPDX-License-Identifier: Apache-2.0 */
/* Writes profiles in the formats of other tools. */
#pragma once

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
    uint64_t text;   /* for branch lists: beginning of .text in a kernel module; else 0 */
    uint32_t number; /* number of the program in the sums of stacks; CT_STACK_NONE: it is not in them */
};

/* Sums of stacks, for formats of stacks. */
struct ct_profile_stacks {
    struct ct_stack_sums *sums;
    struct ct_stack_found found;
    bool cycles; /* cycles are the default value to show */
};

/* Each function adds the number of entries that it wrote to *entries (struct ct_profile_written).
 * CT_ERR_NOMEM. */

/* Write ranges and branches of all executed code of a program, with or without symbols. */
int ct_profile_autofdo(FILE *out, const struct ct_profile_view *view, uint64_t *entries);
int ct_profile_bolt(FILE *out, const struct ct_profile_view *view, uint64_t *entries);

/* Lists the runs of a program, joined behind branches that were not taken. The caller frees *runs. */
int ct_profile_join(const struct ct_profile_view *view, struct ct_cover_item **runs, size_t *count);

/* Return the instruction set of a run, and the address of its last instruction. */
enum ct_isa ct_profile_isa(const struct ct_profile_view *view, const struct ct_cover_item *run);
uint64_t ct_profile_last(const struct ct_profile_view *view, const struct ct_cover_item *run);

/* Adds what ran of a program to branch lists, one branch a list. Adds to *left_out the instructions of runs
 * that end without a branch. */
int ct_profile_branch_list(struct ct_branch_list *list, const struct ct_profile_view *view, uint64_t *entries,
                           uint64_t *left_out);

int ct_profile_llvm(FILE *out, const struct ct_profile_view *view, uint64_t *entries);
int ct_profile_callgrind(FILE *out, const struct ct_profile_stacks *stacks,
                         const struct ct_profile_view *views, size_t count, uint64_t *entries);
int ct_profile_pprof(struct ct_ctx *ctx, FILE *out, const struct ct_profile_stacks *stacks,
                     const struct ct_profile_view *views, size_t count, uint64_t *entries);
