/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/walk_ways.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "flow/walk_insns.h"

_Static_assert(offsetof(struct ct_flow, kind) + offsetof(struct ct_walk_way_end, space) ==
                   offsetof(struct ct_flow, space),
               "the end of a way has the members of its record");

int ct_walk_keep_ways(struct ct_walk *w, struct ct_ctx *ctx)
{
    const size_t size = sizeof *w->ways << CT_WALK_WAY_BITS;
    w->ways = aligned_alloc(64, size);
    if (!w->ways)
        return ct_fail_nomem(ctx, "instruction walk");
    memset(w->ways, 0, size);
    return CT_OK;
}

/* Returns the way that is kept from an address, or another one: the caller has to compare. */
static const struct ct_walk_way *way_at(const struct ct_walk *w, uint64_t addr)
{
    const struct ct_walk_way *way = ct_walk_way_line(w, addr);
    return way + (way->start != addr);
}

/* Keeps the way that led to w->insn. An N atom of a branch that is always taken contradicts the program. An E
 * atom may concern exceptions or the return stack. Ways that are too long for a slot are not kept. */
static void keep_way(const struct ct_walk *w, const struct ct_walk_range *range)
{
    struct ct_walk_way *line = ct_walk_way_line(w, range->start);
    const struct ct_insn *last = &w->insn;
    const bool indirect = last->type == CT_INSN_IBR;
    const bool branch = last->type == CT_INSN_BR || indirect;
    const bool stack = w->stack.enabled && (indirect || last->sub == CT_INSN_SUB_LINK);
    const bool special[2] = {branch && !last->cond, stack || last->sub == CT_INSN_SUB_ERET};
    const int64_t taken = (int64_t)((last->type == CT_INSN_BR ? last->target : w->addr) - range->start);
    if (range->n > UINT16_MAX || taken != (int32_t)taken)
        return;
    line[1] = line[0];
    line[0] = (struct ct_walk_way){.memory = w->fetch.memory,
                                   .start = range->start,
                                   .taken = (int32_t)taken,
                                   .n = (uint16_t)range->n,
                                   .special = (uint8_t)(special[0] | special[1] << 1),
                                   .last = {.kind = CT_FLOW_RANGE,
                                            .isa = CT_ISA_A64,
                                            .type = last->type,
                                            .sub = last->sub,
                                            .cond = last->cond,
                                            .last_size = last->size,
                                            .space = (uint8_t)ct_walk_space(w)}};
}

static uint64_t end_of(const struct ct_walk_way *way)
{
    return way->start + 4u * way->n;
}

/* Follows a way that is kept, and leaves the same state as ct_walk_plainly_to_waypoint. */
static void go_way(struct ct_walk *w, const struct ct_walk_way *way, struct ct_walk_range *range)
{
    *range = (struct ct_walk_range){.start = way->start, .n = way->n, .last_cond = way->last.cond};
    w->insn = (struct ct_insn){.target = way->start + (uint64_t)way->taken,
                               .type = way->last.type,
                               .sub = way->last.sub,
                               .size = way->last.last_size,
                               .cond = way->last.cond,
                               .isa = CT_ISA_A64};
    w->addr = end_of(way);
}

static bool is_way(const struct ct_walk *w, const struct ct_walk_way *way, uint32_t space)
{
    return way->start == w->addr && way->memory == w->fetch.memory && way->last.space == space;
}

enum ct_walk_found ct_walk_to_waypoint(struct ct_walk *w, struct ct_walk_range *range)
{
    if (!w->ways || w->isa != CT_ISA_A64 || w->it_left)
        return ct_walk_plainly_to_waypoint(w, range);
    const struct ct_walk_way *way = way_at(w, w->addr);
    if (is_way(w, way, ct_walk_space(w))) {
        go_way(w, way, range);
        return CT_WALK_FOUND;
    }
    const enum ct_walk_found found = ct_walk_plainly_to_waypoint(w, range);
    if (found == CT_WALK_FOUND)
        keep_way(w, range);
    return found;
}

/* Returns whether the walk only has to go on along A64 code that it knows. */
static bool goes_on(const struct ct_walk *w)
{
    return w->ways && w->isa == CT_ISA_A64 && !w->it_left && !w->need_address && !w->need_context &&
           !w->doubt && !w->stale && !w->stack.pop_pending && !w->config.atom_returns;
}

void ct_walk_follow_ways(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    if (!goes_on(w))
        return;
    const uint32_t space = ct_walk_space(w);
    const unsigned first = w->atoms_done;
    unsigned i = first;
    while (i < elem->n && sink->cap - sink->count >= CT_WALK_STEP_RECORDS && !w->need_address) {
        const struct ct_walk_way *way = way_at(w, w->addr);
        const unsigned executed = elem->v >> i & 1;
        if (!is_way(w, way, space) || way->special >> executed & 1)
            break;
        struct ct_flow *record = &sink->records[sink->count++];
        const uint64_t end = end_of(way);
        const uint64_t taken = way->start + (uint64_t)way->taken;
        *record = (struct ct_flow){.offset = w->offset, .start = way->start, .end = end, .n = way->n};
        memcpy((uint8_t *)record + offsetof(struct ct_flow, kind), &way->last, sizeof way->last);
        record->exec = (uint8_t)executed;
        /* No branch, because atoms are random. */
        w->addr = end ^ ((end ^ taken) & -(uint64_t)executed);
        w->need_address = executed & (way->last.type == CT_INSN_IBR);
        i++;
    }
    w->atoms_done = i;
    w->placed = w->placed || i > first;
}
