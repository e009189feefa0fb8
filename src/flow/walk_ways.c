/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/walk_ways.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"

_Static_assert(offsetof(struct ct_flow, pad) + 1 - offsetof(struct ct_flow, n) == CT_WALK_RECORD_SIZE,
               "these members lie side by side");

int ct_walk_keep_ways(struct ct_walk *w, struct ct_ctx *ctx)
{
    const size_t size = sizeof *w->ways << CT_WALK_WAY_BITS;
    w->ways = aligned_alloc(_Alignof(struct ct_walk_way), size);
    if (!w->ways)
        return ct_fail_nomem(ctx, "instruction walk");
    memset(w->ways, 0, size);
    return CT_OK;
}

/* Gives the place where the way from w->addr on is kept. Fibonacci hashing: addresses of code differ in their
 * low bits. */
static struct ct_walk_way *way_at(const struct ct_walk *w)
{
    return &w->ways[w->addr * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CT_WALK_WAY_BITS)];
}

static void copy_record(void *to, const void *from)
{
    memcpy(to, from, CT_WALK_RECORD_SIZE);
}

static void *record_of(struct ct_flow *flow)
{
    return (uint8_t *)flow + offsetof(struct ct_flow, n);
}

/* Makes the record of a way that was walked just now. */
static struct ct_flow way_record(const struct ct_walk *w, uint32_t n)
{
    const struct ct_insn *last = &w->insn;
    return (struct ct_flow){.n = n,
                            .kind = CT_FLOW_RANGE,
                            .isa = CT_ISA_A64,
                            .type = last->type,
                            .sub = last->sub,
                            .cond = last->cond,
                            .last_size = last->size,
                            .space = (uint8_t)ct_walk_space(w),
                            .loop = last->loop};
}

/* Keeps the way that was gone to w->insn. An N atom for a branch that is always taken contradicts the
 * program; an E atom may have to do with exceptions or with the return stack. */
static void keep_way(const struct ct_walk *w, struct ct_walk_way *way, const struct ct_walk_range *range)
{
    const struct ct_insn *last = &w->insn;
    const bool indirect = last->type == CT_INSN_IBR;
    const bool branch = last->type == CT_INSN_BR || indirect;
    const bool stack = w->stack.enabled && (indirect || last->sub == CT_INSN_SUB_LINK);
    struct ct_flow record = way_record(w, range->n);
    *way = (struct ct_walk_way){.memory = w->fetch.memory,
                                .start = range->start,
                                .end = w->addr,
                                .taken = last->type == CT_INSN_BR ? last->target : w->addr,
                                .special = {branch && !last->cond, stack || last->sub == CT_INSN_SUB_ERET},
                                .space = (uint8_t)ct_walk_space(w)};
    copy_record(way->record, record_of(&record));
}

/* Goes a way that is kept, and leaves the same state behind as ct_walk_plainly_to_waypoint. */
static void go_way(struct ct_walk *w, const struct ct_walk_way *way, struct ct_walk_range *range)
{
    struct ct_flow record;
    copy_record(record_of(&record), way->record);
    *range = (struct ct_walk_range){.start = way->start, .n = record.n, .last_cond = record.cond};
    w->insn = (struct ct_insn){.target = way->taken,
                               .type = record.type,
                               .sub = record.sub,
                               .size = record.last_size,
                               .cond = record.cond,
                               .loop = record.loop,
                               .isa = CT_ISA_A64};
    w->addr = way->end;
}

static bool is_way(const struct ct_walk *w, const struct ct_walk_way *way, uint32_t space)
{
    return way->start == w->addr && way->memory == w->fetch.memory && way->space == space;
}

enum ct_walk_found ct_walk_to_waypoint(struct ct_walk *w, struct ct_walk_range *range)
{
    if (!w->ways || w->isa != CT_ISA_A64 || w->it_left)
        return ct_walk_plainly_to_waypoint(w, range);
    struct ct_walk_way *way = way_at(w);
    if (is_way(w, way, ct_walk_space(w))) {
        go_way(w, way, range);
        return CT_WALK_FOUND;
    }
    const enum ct_walk_found found = ct_walk_plainly_to_waypoint(w, range);
    if (found == CT_WALK_FOUND)
        keep_way(w, way, range);
    return found;
}

/* Tells whether nothing is asked of the walk but to go on along A64 code that it knows. */
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
        const struct ct_walk_way *way = way_at(w);
        const unsigned executed = elem->v >> i & 1;
        if (!is_way(w, way, space) || way->special[executed])
            break;
        struct ct_flow *record = &sink->records[sink->count++];
        *record = (struct ct_flow){.offset = w->offset, .start = way->start, .end = way->end};
        copy_record(record_of(record), way->record);
        record->exec = (uint8_t)executed;
        /* No branch: atoms are at random. */
        w->addr = way->end ^ ((way->end ^ way->taken) & -(uint64_t)executed);
        w->need_address = executed & (record->type == CT_INSN_IBR);
        i++;
    }
    w->atoms_done = i;
    w->placed = w->placed || i > first;
}
