/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/fast_own.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "base/table_memory.h"
#include "flow/edge_table.h"
#include "flow/walk_seam.h"

/* number of steps and marks for which the builder must have room before an element: as many as it has atoms
 * or records */
#define ROOM (sizeof((struct ct_fast *)0)->records / sizeof(struct ct_flow))

int ct_fast_new(struct ct_ctx *ctx, const struct ct_source *source, const struct ct_memory *memory,
                const struct ct_fast_options *options, struct ct_fast **out)
{
    CT_REQUIRE_OUT(ctx, out, source, memory);
    struct ct_fast_options o;
    int rc = ct_options_read(ctx, "ct_fast_new", options, &o, sizeof o);
    if (rc)
        return rc;
    const struct ct_walk_options walk = {.size = sizeof walk, .split_source_ranges = o.split_source_ranges};
    struct ct_fast *f = calloc(1, sizeof *f);
    if (!f)
        return ct_fail_nomem(ctx, "fast walk");
    f->ctx = ctx;
    f->edges = o.counts;
    f->insn_atoms = source->protocol == CT_PROTOCOL_ETM3;
    f->domain_stale = true;
    rc = ct_step_builder_init(&f->builder, ctx, source);
    if (!rc)
        rc = ct_walk_new(ctx, source, memory, &walk, &f->walk);
    if (!rc)
        rc = ct_graph_new(ctx, &f->builder.graph);
    if (!rc)
        rc = ct_blocks_init(&f->blocks, ctx, f->walk, f->builder.graph);
    f->targets = ct_table_memory((size_t)1 << CT_TARGETS_SHIFT, sizeof *f->targets);
    if (!rc && !f->targets)
        rc = ct_fail_nomem(ctx, "fast walk");
    if (!rc && f->edges && !o.cycles) {
        f->builder.counts = false;
        f->counts = true;
    }
    if (rc) {
        ct_fast_free(f);
        return rc;
    }
    f->pft = f->walk->config.atom_returns;
    f->along = f->counts && !f->pft ? CT_FAST_FIRST : 0;
    *out = f;
    return CT_OK;
}

void ct_fast_free(struct ct_fast *f)
{
    if (!f)
        return;
    ct_walk_free(f->walk);
    ct_blocks_deinit(&f->blocks);
    ct_graph_free(f->builder.graph);
    free(f->runs);
    ct_array_free(f->links, f->link_cap, sizeof *f->links);
    free(f->stretches);
    ct_fast_free_legs(f);
    free(f->targets);
    free(f);
}

const struct ct_graph *ct_fast_graph(const struct ct_fast *f)
{
    if (!f)
        return NULL;
    return f->builder.graph;
}

struct ct_graph *ct_fast_own_graph(struct ct_fast *f)
{
    return f->builder.graph;
}

void ct_fast_share_rest(struct ct_fast *f, uint64_t *rest)
{
    f->shared_rest = rest;
}

uint64_t *ct_fast_shared_rest(const struct ct_fast *f)
{
    return f->shared_rest;
}

const struct ct_flow_sums *ct_fast_sums(const struct ct_fast *f)
{
    return &f->sums;
}

void ct_fast_clear_sums(struct ct_fast *f)
{
    f->sums = (struct ct_flow_sums){0};
}

/* For counts: takes the last step out of the counts and gives it to the builder, because its edge may change:
 * an exception may follow. */
static void open_tail(struct ct_fast *f)
{
    struct ct_block *last = &f->blocks.blocks[f->last];
    if (!f->open)
        return;
    if (!ct_fast_is_indirect(f))
        last->count[f->last_exec]--;
    ct_step_open(&f->builder, ct_block_node(&f->blocks, f->last), last->n, f->last_exec);
    f->builder.pending_marks = f->marks;
    f->sums.ranges++;
    f->sums.instructions += last->n;
    f->sums.branches += f->last_exec && last->flags & CT_BLOCK_BRANCH;
    f->open = false;
}

/* Returns the pair of the last block and a target, made when it is new. The walk keeps its state. NULL when
 * out of memory. */
static struct ct_branch_target *pair_to(struct ct_fast *f, uint64_t addr, uint8_t isa)
{
    struct ct_branch_target *pair = ct_blocks_known_pair(&f->blocks, f->last, addr, isa);
    if (pair)
        return pair;
    const struct ct_walk walk = *f->walk;
    pair = ct_blocks_pair(&f->blocks, f->last, addr, isa);
    *f->walk = walk;
    return pair;
}

/* Sets the edge of the builder's last step, which leads to `addr`. When the step was of block f->last, the
 * edge comes from the block, and the graph need not look for it. */
static int settle_next(struct ct_fast *f, uint64_t addr, uint8_t isa)
{
    struct ct_blocks *b = &f->blocks;
    struct ct_step_builder *steps = &f->builder;
    const struct ct_block *last = &b->blocks[f->last];
    uint8_t next_isa;
    if (f->domain_stale || !f->last || !steps->pending || steps->node != last->node ||
        last->domain != f->domain || ct_blocks_are_full(b))
        return ct_step_settle(steps, CT_EDGE_NEXT, addr);
    if (steps->exec && last->flags & CT_BLOCK_INDIRECT) {
        struct ct_branch_target *pair = pair_to(f, addr, isa);
        if (pair)
            ct_step_settle_as(steps, ct_pair_edge(b, pair));
    } else if (ct_block_target(b, f->last, steps->exec, &next_isa) == addr) {
        ct_step_settle_as(steps, ct_block_edge(b, f->last, steps->exec));
    } else {
        return ct_step_settle(steps, CT_EDGE_NEXT, addr);
    }
    return b->error;
}

void ct_fast_leave(struct ct_fast *f)
{
    struct ct_walk *w = f->walk;
    const struct ct_block *last = &f->blocks.blocks[f->last];
    if (!f->quick)
        return;
    const bool indirect = ct_fast_is_indirect(f);
    f->quick = false;
    w->placed = true;
    w->stack.pop_pending = false;
    if (f->have_addr && indirect) {
        ct_walk_go_to(w, f->addr, f->addr_isa);
    } else if (f->cur) {
        ct_walk_go_to(w, f->blocks.blocks[f->cur].addr, f->blocks.blocks[f->cur].isa);
    } else if (indirect) {
        ct_walk_go_to(w, last->end, last->isa);
        w->it_left = last->it_left;
        w->need_address = true;
        w->stack.pop_pending = w->stack.enabled && !f->pft;
    } else {
        uint8_t isa;
        uint64_t addr = ct_block_target(&f->blocks, f->last, f->last_exec, &isa);
        ct_walk_go_to(w, addr, isa);
        w->it_left = f->last_exec && last->flags & CT_BLOCK_BRANCH ? 0 : last->it_left;
    }
    if (f->have_addr && !indirect)
        ct_walk_come_to(w, f->addr, f->addr_isa);
    f->have_addr = false;
    open_tail(f);
}

int ct_fast_absorb(struct ct_fast *f)
{
    struct ct_step_batch batch;
    ct_step_drop_given(&f->builder);
    ct_step_give(&f->builder, &batch);
    return batch.count || batch.mark_count ? ct_edges_add(f->edges, &batch) : CT_OK;
}

int ct_fast_enter_context(struct ct_fast *f)
{
    size_t context = CT_NO_NUMBER;
    int rc = ct_edges_enter(f->edges, &context);
    f->domain_stale = false;
    return rc ? rc : ct_blocks_domain(&f->blocks, f->builder.memory, (uint32_t)context, &f->domain);
}

/* Sets the domain of the next step: the current memory and, for counts, the current context. With cycles, a
 * step that waits for its count may keep the table in the context before. */
static int enter_domain(struct ct_fast *f)
{
    if (f->counts || (f->edges && ct_fast_reach_context(f)))
        return ct_fast_enter_context(f);
    if (f->blocks.error)
        return f->blocks.error;
    f->domain_stale = false;
    return ct_blocks_domain(&f->blocks, f->builder.memory, CT_NO_NUMBER, &f->domain);
}

/* For counts: sets the edge of the builder's last step, which leads to `addr`, and adds all steps of the
 * builder to the table. */
static int enter_counts(struct ct_fast *f, uint64_t addr, uint8_t isa)
{
    int rc = settle_next(f, addr, isa);
    if (!rc)
        rc = ct_fast_absorb(f);
    f->marks = 0;
    return rc;
}

uint32_t ct_fast_enter(struct ct_fast *f, unsigned executed)
{
    struct ct_walk *w = f->walk;
    struct ct_walk_range range;
    if (w->need_address || w->need_context || w->doubt || w->jumped || w->paused || w->it_left ||
        w->stack.pop_pending || (w->stack.enabled && w->stack.wait_address))
        return 0;
    uint64_t addr = w->addr;
    uint8_t isa = w->isa;
    bool stale = f->domain_stale;
    bool found = !stale || !f->edges ||
                 (ct_walk_to_waypoint(w, &range) == CT_WALK_FOUND &&
                  (executed || !ct_walk_is_always_taken(w, &range)));
    uint32_t block = 0;
    if (found && stale && f->counts)
        f->blocks.error = enter_counts(f, addr, isa);
    if (found && stale && !f->blocks.error)
        f->blocks.error = enter_domain(f);
    if (found && !f->blocks.error)
        block = ct_blocks_at(&f->blocks, addr, isa, f->domain);
    const struct ct_block *there = &f->blocks.blocks[block];
    if (there->flags & CT_BLOCK_SLOW || ct_block_contradicts(there, executed))
        block = 0;
    ct_walk_go_to(w, addr, isa);
    if (block && f->builder.timestamp_held && !f->counts && !f->blocks.error)
        f->blocks.error = ct_step_put_timestamp(&f->builder);
    if (block && !f->blocks.error)
        f->blocks.error = f->counts ? enter_counts(f, addr, isa) : settle_next(f, addr, isa);
    f->open = false;
    f->cur = block;
    return f->blocks.error ? 0 : block;
}

uint32_t ct_fast_turn(struct ct_fast *f, struct ct_branch_target **pair)
{
    struct ct_return_stack *stack = &f->walk->stack;
    uint64_t addr = f->addr;
    uint8_t isa = f->addr_isa;
    bool indirect = ct_fast_is_indirect(f);
    *pair = NULL;
    if (f->have_addr && !indirect) {
        const struct ct_block *cur = &f->blocks.blocks[f->cur];
        f->have_addr = cur->addr != addr || cur->isa != isa;
        return f->have_addr ? 0 : f->cur;
    }
    if (!f->have_addr) {
        if (!indirect || !stack->enabled || f->pft || !stack->count)
            return 0;
        addr = stack->entries[stack->top].addr;
        isa = stack->entries[stack->top].isa;
    }
    *pair = ct_blocks_pair(&f->blocks, f->last, addr, isa);
    if (!*pair || !(*pair)->next)
        return 0;
    if (!f->have_addr)
        ct_return_stack_pop(stack, &addr, &isa);
    f->have_addr = false;
    f->cur = (*pair)->next;
    ct_fast_remember_target(f, addr, isa, f->cur);
    return f->cur;
}

bool ct_fast_pft_return(struct ct_fast *f, const struct ct_block *block, bool target)
{
    struct ct_return_stack *stack = &f->walk->stack;
    bool returns = stack->enabled && !target;
    if (returns && !ct_return_stack_pop(stack, &f->addr, &f->addr_isa))
        return false;
    f->have_addr = returns;
    if (block->flags & CT_BLOCK_LINK)
        ct_return_stack_push(stack, block->end, block->isa);
    return true;
}

/* Returns true for a CONTEXT element that repeats the current context in A64 (elsewhere the element may
 * change the instruction set). */
static bool repeats_context(const struct ct_fast *f, const struct ct_elem *elem)
{
    const struct ct_elem *last = &f->context_elem;
    return f->walk->sf && elem->n == last->n && elem->v == last->v &&
           ((elem->aux ^ last->aux) & ~(unsigned)CT_CONTEXT_SILENT) == 0;
}

/* Gives an element to the plain walk, as far as there is room. Returns true when the element is done. */
static bool walk_plain(struct ct_fast *f, const struct ct_elem *elem, uint64_t end)
{
    size_t count;
    ct_fast_leave(f);
    f->domain_stale |= elem->kind == CT_ELEM_CONTEXT && !repeats_context(f, elem);
    if (elem->kind == CT_ELEM_CONTEXT)
        f->context_elem = *elem;
    size_t taken = ct_walk_run(f->walk, elem, 1, end, f->records, ROOM, &count);
    ct_flow_add_up(&f->sums, f->records, count);
    for (size_t i = 0; i < count && !f->blocks.error; i++) {
        const struct ct_flow *r = &f->records[i];
        const bool settles = r->kind == CT_FLOW_RANGE && !r->stale;
        if (settles && f->builder.timestamp_held)
            f->blocks.error = ct_step_put_timestamp(&f->builder);
        if (settles && !f->blocks.error)
            f->blocks.error = settle_next(f, r->start, r->isa);
        if (!f->blocks.error)
            f->blocks.error = ct_step_add_flow(&f->builder, r);
    }
    return taken;
}

/* Takes an element that only makes a mark. */
static bool put_mark(struct ct_fast *f, const struct ct_elem *elem, uint64_t end)
{
    if (f->counts) {
        if (++f->marks < CT_FAST_MARKS)
            return true;
        f->marks--;
        return walk_plain(f, elem, end);
    }
    struct ct_flow record = {.offset = ct_elem_offset(elem, end), .kind = CT_FLOW_ELEM, .elem = *elem};
    record.isa = f->have_addr ? f->addr_isa : f->blocks.blocks[f->cur ? f->cur : f->last].isa;
    if (!f->blocks.error)
        f->blocks.error = ct_step_add_flow(&f->builder, &record);
    return true;
}

static bool take_address(struct ct_fast *f, const struct ct_elem *elem, uint64_t end)
{
    if (elem->n > CT_IS_UNKNOWN || (f->quick && f->have_addr))
        return walk_plain(f, elem, end);
    if (!f->quick) {
        ct_walk_on_address(f->walk, elem);
        return true;
    }
    f->addr = elem->v;
    f->addr_isa = ct_walk_isa(f->walk, elem->n);
    f->have_addr = true;
    return true;
}

int ct_fast_forget(struct ct_fast *f)
{
    ct_fast_leave(f);
    if (f->counts && !f->blocks.error)
        f->blocks.error = ct_fast_count_sync(f);
    if (!f->blocks.error)
        f->blocks.error = ct_fast_spend_legs(f);
    if (f->runs)
        memset(f->runs, 0, sizeof *f->runs << CT_MEMO_SHIFT);
    ct_fast_forget_stretches(f);
    ct_fast_forget_links(f);
    ct_fast_forget_legs(f);
    ct_blocks_clear(&f->blocks);
    memset(f->targets, 0, sizeof *f->targets << CT_TARGETS_SHIFT);
    f->last = 0;
    f->domain_stale = true;
    return f->blocks.error;
}

int ct_fast_set_memory(struct ct_fast *f, const struct ct_memory *memory, uint32_t number)
{
    CT_REQUIRE_OF(f, memory);
    if (number == f->builder.memory)
        return f->blocks.error;
    ct_fast_leave(f);
    ct_walk_set_memory(f->walk, memory);
    f->builder.memory = number;
    f->domain_stale = true;
    /* Each context needs another domain in the new memory. */
    if (f->blocks.domain_count > CT_DOMAINS_MAX / 2)
        ct_fast_forget(f);
    return f->blocks.error;
}

/* Takes elements, the first of which is ATOMS. Returns how many are done. */
static size_t take_atoms(struct ct_fast *f, const struct ct_elem *elems, size_t size, uint64_t end)
{
    struct ct_walk *w = f->walk;
    struct ct_elem group;
    size_t done = 0;
    if (ct_blocks_are_full(&f->blocks))
        ct_fast_forget(f);
    size_t count = f->counts ? ct_fast_group(f, elems, size, &group) : 1;
    unsigned atoms = f->counts ? ct_fast_count_atoms(f, &group) : ct_fast_steps_atoms(f, elems);
    for (; done < count && atoms >= elems[done].n; done++)
        atoms -= elems[done].n;
    w->atoms_done = atoms;
    return done == count || !walk_plain(f, &elems[done], end) ? done : done + 1;
}

/* Takes one or more elements. Returns how many are done; 0 when the first one has to be given again when
 * there is new room. */
static size_t take(struct ct_fast *f, const struct ct_elem *elem, size_t size, uint64_t end)
{
    switch (elem->kind) {
    case CT_ELEM_ATOMS:
        return f->insn_atoms ? walk_plain(f, elem, end) : take_atoms(f, elem, size, end);
    case CT_ELEM_ADDRESS:
        return take_address(f, elem, end);
    case CT_ELEM_CYCLES:
    case CT_ELEM_EVENT:
    case CT_ELEM_TIMESTAMP:
        return f->quick ? put_mark(f, elem, end) : walk_plain(f, elem, end);
    case CT_ELEM_CONTEXT:
        return f->quick && repeats_context(f, elem) ? put_mark(f, elem, end) : walk_plain(f, elem, end);
    default:
        return walk_plain(f, elem, end);
    }
}

static bool has_room(const struct ct_step_builder *b)
{
    return b->count + ROOM <= CT_STEP_BATCH && b->mark_count + ROOM <= CT_STEP_MARKS;
}

int ct_fast_run(struct ct_fast *f, const struct ct_elem *elems, size_t size, uint64_t end, size_t *taken,
                struct ct_step_batch *batch)
{
    CT_REQUIRE_OF(f, elems || !size, taken, batch);
    struct ct_step_builder *b = &f->builder;
    size_t done = 0;
    ct_step_drop_given(b);
    *batch = (struct ct_step_batch){.graph = b->graph};
    while (done < size && !f->blocks.error) {
        if (!has_room(b)) {
            if (!f->edges)
                break;
            f->blocks.error = ct_fast_absorb(f);
            ct_step_drop_given(b);
        }
        if (f->quick)
            done += f->counts ? ct_fast_count_burst(f, elems + done, size - done)
                              : ct_fast_cycles_burst(f, elems + done, size - done);
        if (done == size || !has_room(b))
            continue;
        done += take(f, &elems[done], size - done, end);
    }
    *taken = done;
    if (!f->blocks.error && !f->edges && !has_room(b))
        ct_step_give(b, batch);
    return f->blocks.error;
}

int ct_fast_flush(struct ct_fast *f, struct ct_step_batch *batch)
{
    CT_REQUIRE_OF(f, batch);
    ct_step_drop_given(&f->builder);
    *batch = (struct ct_step_batch){.graph = f->builder.graph};
    if (!f->edges) {
        ct_step_give(&f->builder, batch);
        return f->blocks.error;
    }
    if (f->counts)
        ct_fast_leave(f);
    if (!f->blocks.error)
        f->blocks.error = ct_fast_absorb(f);
    if (!f->blocks.error && f->counts)
        f->blocks.error = ct_fast_count_sync(f);
    if (!f->blocks.error)
        f->blocks.error = ct_fast_spend_legs(f);
    return f->blocks.error;
}

int ct_fast_rest(struct ct_fast *f, struct ct_step_batch *batch)
{
    ct_fast_leave(f);
    return ct_fast_flush(f, batch);
}

void ct_fast_jump(struct ct_fast *f)
{
    ct_walk_jump(f->walk);
    ct_step_drop(&f->builder);
}

void ct_fast_seam(const struct ct_fast *f, struct ct_seam *seam)
{
    const struct ct_elem *context = &f->context_elem;
    ct_walk_seam(f->walk, seam);
    ct_step_builder_seam(&f->builder, seam);
    ct_seam_put(seam, context->v);
    ct_seam_put(seam, (uint64_t)context->aux << 16 | (uint64_t)context->n << 8 | context->kind);
}
