/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the state of the engine to hops, which follow the trace in its place, and takes it back. */
#include "flow/fast_own.h"

bool ct_fast_takes_hops(const struct ct_fast *f)
{
    return f->edges && (f->counts || (f->builder.counts && !f->walk->stack.enabled));
}

bool ct_fast_has_returns(const struct ct_fast *f)
{
    return f->walk->stack.enabled;
}

bool ct_fast_counts_cycles(const struct ct_fast *f)
{
    return !f->counts;
}

struct ct_blocks *ct_fast_blocks(struct ct_fast *f)
{
    return &f->blocks;
}

struct ct_edges *ct_fast_edges(struct ct_fast *f)
{
    return f->edges;
}

struct ct_flow_sums *ct_fast_own_sums(struct ct_fast *f)
{
    return &f->sums;
}

bool ct_fast_is_at_place(const struct ct_fast *f)
{
    return f->quick && !f->walk->atoms_done && !ct_fast_is_lost(f);
}

bool ct_fast_is_as_wide(const struct ct_fast *f, bool sf)
{
    const bool was = f->blocks.blocks[f->last].isa == CT_ISA_A64;
    return sf == was && f->walk->sf == was;
}

struct ct_fast_place ct_fast_place(const struct ct_fast *f)
{
    return (struct ct_fast_place){
        .last = f->last, .cur = f->cur, .exec = f->last_exec, .have_addr = f->have_addr};
}

uint16_t ct_fast_domain(const struct ct_fast *f)
{
    return f->domain;
}

/* ---- counts alone ---- */

bool ct_fast_is_open(const struct ct_fast *f)
{
    return f->open;
}

/* Subtracts one from the count of the last step. A step that executed an indirect branch has none: its edge
 * is counted once the target is known. */
void ct_fast_uncount(struct ct_fast *f)
{
    if (!ct_fast_is_indirect(f))
        f->blocks.blocks[f->last].count[f->last_exec]--;
}

void ct_fast_count(struct ct_fast *f)
{
    if (!ct_fast_is_indirect(f))
        f->blocks.blocks[f->last].count[f->last_exec]++;
}

void ct_fast_go_to(struct ct_fast *f, const struct ct_fast_place *place)
{
    f->last = place->last;
    f->last_exec = place->exec;
    f->cur = place->cur;
    f->have_addr = false;
    f->marks = 0;
    f->alone = (struct ct_memo){.last = f->last, .flags = f->last_exec ? CT_MEMO_EXEC : 0};
    f->tail = &f->alone;
    if (ct_fast_is_indirect(f))
        f->alone.flags |= CT_MEMO_INDIRECT;
    ct_fast_count(f);
}

/* ---- cycles ---- */

static bool has_context(const struct ct_step_builder *b)
{
    for (size_t i = 0; i < b->mark_count; i++)
        if (b->marks[i].kind == CT_MARK_ELEM && b->marks[i].elem.kind == CT_ELEM_CONTEXT)
            return true;
    return false;
}

bool ct_fast_reach_context(struct ct_fast *f)
{
    f->blocks.error = ct_fast_absorb(f);
    ct_step_drop_given(&f->builder);
    return !f->blocks.error && !has_context(&f->builder);
}

/* Adds all steps but the last to the table, and replaces the last block by that of the current context.
 * Returns false when that is not possible here. */
static bool settle_context(struct ct_fast *f)
{
    struct ct_blocks *blocks = &f->blocks;
    if (!ct_fast_reach_context(f))
        return false;
    if (f->domain_stale || blocks->domains[f->domain].context == CT_NO_NUMBER)
        blocks->error = ct_fast_enter_context(f);
    if (blocks->error)
        return false;
    const struct ct_block last = blocks->blocks[f->last];
    if (last.domain == f->domain)
        return true;
    uint32_t number = ct_blocks_at(blocks, last.addr, last.isa, f->domain);
    bool indirect = ct_fast_is_indirect(f);
    uint32_t cur = number && !indirect ? ct_blocks_link(blocks, number, f->last_exec) : 0;
    if (!number || (!cur && !indirect))
        return false;
    f->last = number;
    f->cur = cur;
    return true;
}

bool ct_fast_settle_step(struct ct_fast *f)
{
    const struct ct_step_builder *b = &f->builder;
    return ct_fast_is_at_place(f) && b->pending && !b->waiting && !b->timestamp_held && settle_context(f);
}

bool ct_fast_settle(struct ct_fast *f)
{
    return (f->have_addr || f->cur) && ct_fast_settle_step(f);
}

void ct_fast_resume(struct ct_fast *f, const struct ct_fast_place *place, uint64_t address)
{
    const struct ct_block *cur = &f->blocks.blocks[place->cur];
    f->last = place->last;
    f->last_exec = place->exec;
    f->have_addr = f->quick = false;
    f->walk->placed = true;
    f->walk->need_address = ct_fast_is_indirect(f);
    if (!f->walk->need_address)
        ct_walk_go_to(f->walk, cur->addr, cur->isa);
    if (place->have_addr)
        ct_walk_come_to(f->walk, address & ~UINT64_C(1), ct_walk_isa(f->walk, address & 1));
}

void ct_fast_leave_by(struct ct_fast *f, uint32_t edge)
{
    f->builder.edge[f->builder.count - 1] = edge;
    f->builder.pending = false;
}
