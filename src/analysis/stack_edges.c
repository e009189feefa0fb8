/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of each edge of the program graph on a stack. */
#include "analysis/stacks.h"
#include "analysis/transfer.h"
#include "base/bytes.h"
#include "base/ctx.h"
#include "base/room.h"

#define A64_RET 0xd65f03c0u /* through X30, the link register */

/* Returns whether the call at the end of a node cannot return, because a RET of the same function follows.
 * The call has set the link register to that RET, which would then return to itself forever. LLVM emits tail
 * calls of GHC's calling convention, which keeps no return address, as such a BL or BLR. */
static bool never_returns(const struct ct_stacks *s, const struct ct_node *node)
{
    size_t size;
    const uint8_t *behind =
        node->isa == CT_ISA_A64 ? ct_stack_code_at(s, node->end, node->memory, &size) : NULL;
    return behind && size >= 4 && ct_load32(behind) == A64_RET &&
           !ct_stack_begins(s, ct_stack_function_at(s, node->end, node->memory), node->end);
}

static enum ct_stack_way way_of(const struct ct_stacks *s, const struct ct_node *node,
                                const struct ct_edge *edge)
{
    if (edge->kind == CT_EDGE_OPEN || node->flags & CT_NODE_NOPATH)
        return CT_WAY_UNKNOWN;
    switch (ct_transfer_of(node, edge)) {
    case CT_TRANSFER_CALL:
        return never_returns(s, node) ? CT_WAY_JUMP : CT_WAY_CALL;
    case CT_TRANSFER_RETURN:
        return CT_WAY_RETURN;
    case CT_TRANSFER_ERET:
        return CT_WAY_ERET;
    case CT_TRANSFER_JUMP:
        return CT_WAY_JUMP;
    case CT_TRANSFER_BRANCH: /* never a return, even to where a recursive call returns */
    case CT_TRANSFER_NONE:
        break;
    }
    return CT_WAY_NONE;
}

/* Makes room for what is known of edges up to `number`. CT_ERR_NOMEM. */
static int make_edges(struct ct_stacks *s, struct ct_stack_lane *lane, uint32_t number)
{
    const size_t needed = (size_t)number + 1;
    size_t turn_room = lane->edge_room;
    if (!CT_MAKE_ROOM(lane->turns, turn_room, needed) ||
        !CT_MAKE_ZEROED_ROOM(lane->edges, lane->edge_room, needed))
        return ct_fail_nomem(s->ctx, "stacks");
    return CT_OK;
}

int ct_stack_find_edge(struct ct_stacks *s, struct ct_stack_lane *lane, const struct ct_node *nodes,
                       const struct ct_edge *edges, uint32_t number)
{
    const int result = number >= lane->edge_room ? make_edges(s, lane, number) : CT_OK;
    if (result != CT_OK || lane->edges[number].function)
        return result;
    static const struct ct_stack_memo nothing = {.function = CT_STACK_NONE, .call = CT_STACK_NONE};
    const struct ct_edge *edge = &edges[number];
    const struct ct_node *node = &nodes[edge->from];
    const enum ct_stack_way way = way_of(s, node, edge);
    const bool interrupted = edge->kind == CT_EDGE_INTERRUPTED;
    const uint32_t function = ct_stack_function_at(s, node->start, node->memory);
    size_t size;
    lane->turns[number] =
        (struct ct_stack_turn){.start = node->start,
                               .last = node->last,
                               .end = node->end,
                               .insns = node->n,
                               .way = (uint8_t)way,
                               .interrupted = interrupted,
                               .begins = ct_stack_begins(s, function, node->start),
                               .starts = ct_stack_starts(s, function, node->start),
                               .generated = !ct_stack_code_at(s, node->start, node->memory, &size),
                               .memos = {nothing, nothing}};
    lane->edges[number] = (struct ct_stack_edge){
        .function = function + 1, .insns = interrupted || way != CT_WAY_NONE ? CT_STACK_TURNS : node->n};
    return CT_OK;
}
