/* SPDX-License-Identifier: Apache-2.0 */
/* How control leaves a node of the program graph: the rules that stacks, timing and counts of loops share. */
#pragma once

#include <stdbool.h>

#include "coretap/elem.h"
#include "coretap/graph.h"
#include "coretap/program.h"

enum ct_transfer {
    CT_TRANSFER_NONE,   /* no branch */
    CT_TRANSFER_BRANCH, /* a direct branch */
    CT_TRANSFER_JUMP,   /* a branch through a register, which may be a return */
    CT_TRANSFER_CALL,
    CT_TRANSFER_RETURN,
    CT_TRANSFER_ERET, /* return from an exception */
};

/* Returns how control left `node` by `edge`. Does not look at the target. */
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

/* Returns whether `addr`, where execution continues after an exception, may be in a handler: the exception
 * level rose, or a function begins there, or no function is known there, or the address may be an entry of a
 * vector table, as these are 128 bytes apart and never at EL0. Without these rules the child of `clone`,
 * which continues in the middle of a function, would look like a handler. */
static inline bool ct_transfer_may_be_handler(uint8_t level, uint8_t level_before, uint64_t addr, bool known,
                                              bool begins)
{
    return level > level_before || begins || !known || (level && addr % 128 == 0);
}

/* Returns whether an address is an EXC_RETURN value, which a handler of the M profile has in place of a
 * return address. An exception that returns there is tail-chained: it was taken at the end of another
 * exception's handler. */
static inline bool ct_transfer_is_exc_return(uint64_t addr)
{
    return addr >= 0xffffff80 && addr <= 0xffffffff;
}

/* Returns the return address of an exception, or 0 when the trace does not give it. For a tail-chained
 * exception this is an EXC_RETURN value, even when the element does not mark it as a return address. */
static inline uint64_t ct_transfer_resumes_at(const struct ct_elem *elem)
{
    const bool is_told = elem->n & (CT_EXCEPTION_HAS_RET | CT_EXCEPTION_HERE);
    return is_told || ct_transfer_is_exc_return(elem->v) ? elem->v : 0;
}
