/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of deep stacks is written, so that what is written stays of a size that can be read. */
#ifndef CT_FORMAT_STACK_CUT_H
#define CT_FORMAT_STACK_CUT_H

#include "coretap/format.h"

#include <stdbool.h>

/* Stands for the functions of a stack that are left out. */
#define CT_STACK_LEFT_OUT "[...]"

struct ct_stack_cut {
    struct ct_stack_depth depth;
    uint32_t *outer; /* by place: the innermost of its callers, or itself, whose stack is below `most` */
};

/* Finds what is written of each stack. CT_ERR_NOMEM. */
int ct_stack_cut_find(const struct ct_stack_found *found, struct ct_stack_cut *out);
void ct_stack_cut_free(struct ct_stack_cut *cut);

/* Tells whether functions of the stack of a place are left out: of it the stack of `outer`, CT_STACK_LEFT_OUT
 * and the function of the place are written. */
bool ct_stack_is_cut(const struct ct_stack_cut *cut, const struct ct_stack_found *found, uint32_t place);

#endif
