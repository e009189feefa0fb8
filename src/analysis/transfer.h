/* SPDX-License-Identifier: Apache-2.0 */
/* How control leaves a node of the program graph: the rules that stacks, timing and counts of loops share. */
#ifndef CT_ANALYSIS_TRANSFER_H
#define CT_ANALYSIS_TRANSFER_H

#include <stdbool.h>

#include "coretap/elem.h"
#include "coretap/graph.h"
#include "coretap/program.h"

enum ct_transfer {
    CT_TRANSFER_NONE,   /* straight on */
    CT_TRANSFER_BRANCH, /* a direct branch */
    CT_TRANSFER_JUMP,   /* a branch through a register, which may be a return */
    CT_TRANSFER_CALL,
    CT_TRANSFER_RETURN,
    CT_TRANSFER_ERET, /* a return from an exception */
};

/* Returns how control left `node` by `edge`. Where that led is not looked at. */
static inline enum ct_transfer ct_transfer_of(const struct ct_node *node, const struct ct_edge *edge)
{
    const bool branch =
        (node->type == CT_INSN_BR || node->type == CT_INSN_IBR) && !(node->flags & CT_NODE_CUT);
    if (!branch || !edge->exec)
        return CT_TRANSFER_NONE;
    switch (node->sub) {
    case CT_INSN_SUB_LINK:
        return CT_TRANSFER_CALL;
    case CT_INSN_SUB_NONE:
        return node->type == CT_INSN_IBR ? CT_TRANSFER_JUMP : CT_TRANSFER_BRANCH;
    case CT_INSN_SUB_ERET:
        return CT_TRANSFER_ERET;
    default:
        return CT_TRANSFER_RETURN;
    }
}

/* Returns true when `addr`, where execution goes on behind an exception, may be that of a handler: the
 * exception level is higher than before, or a function begins there, or nobody knows what lies there, or it
 * may be an entry of the vector table, which are 128 bytes apart and never at EL0. The child of `clone`, for
 * example, goes on in the middle of a function. */
static inline bool ct_transfer_may_be_handler(uint8_t level, uint8_t level_before, uint64_t addr, bool known,
                                              bool begins)
{
    return level > level_before || begins || !known || (level && addr % 128 == 0);
}

/* Returns true for what a handler of the M profile has in the place of a return address (EXC_RETURN). An
 * exception that returns there is tail-chained: it was taken at the end of another one's handler. */
static inline bool ct_transfer_is_exc_return(uint64_t addr)
{
    return addr >= 0xffffff80 && addr <= 0xffffffff;
}

/* Returns where an exception returns to; 0 when the trace does not say it. One that is tail-chained has what
 * ct_transfer_is_exc_return knows, also where that is not given out as a return address. */
static inline uint64_t ct_transfer_resumes_at(const struct ct_elem *elem)
{
    const bool is_told = elem->n & (CT_EXCEPTION_HAS_RET | CT_EXCEPTION_HERE);
    return is_told || ct_transfer_is_exc_return(elem->v) ? elem->v : 0;
}

#endif
