/* SPDX-License-Identifier: Apache-2.0 */
/* Limits how much of deep stacks is written, so that the output stays of a readable size. */
#pragma once

#include "coretap/format.h"

#include <stdbool.h>

/* represents the omitted functions of a stack */
#define CT_STACK_LEFT_OUT "[...]"

struct ct_stack_cut {
    struct ct_stack_depth depth;
    uint32_t *outer; /* by place: itself, or its innermost caller, with a stack below `most` */
};

/* Finds what is written of each stack. CT_ERR_NOMEM. */
int ct_stack_cut_find(const struct ct_stack_found *found, struct ct_stack_cut *out);
void ct_stack_cut_free(struct ct_stack_cut *cut);

/* Returns whether functions of the stack of a place are omitted. What is written then is the stack of
 * `outer`, CT_STACK_LEFT_OUT and the function of the place. */
bool ct_stack_is_cut(const struct ct_stack_cut *cut, const struct ct_stack_found *found, uint32_t place);
