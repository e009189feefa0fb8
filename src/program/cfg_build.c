/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the blocks and edges of the code that was explored. */
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"
#include "base/search.h"
#include "program/cfg.h"

#define MOST (UINT32_C(1) << 31)

/* The edges of one block, which are collected to be sorted. */
struct draft {
    struct ct_cfg_edge *edges;
    size_t count;
    size_t room;
    uint32_t from; /* the block they leave */
};

static int by_address(const void *a, const void *b)
{
    const struct ct_cfg_work *x = a, *y = b;
    return ct_order(x->addr, y->addr);
}

static int too_many(struct ct_cfg *cfg, const char *what)
{
    return ct_fail(cfg->ctx, CT_ERR_LIMIT,
                   "%s: the program has more than 2^31 %s of code; its control-flow graph was not built; "
                   "name a smaller program",
                   cfg->name, what);
}

/* ---- blocks ---- */

/* Measures the block that starts at `start`. It ends where another block starts or, if `stop` is not 0, at
 * `stop`. */
static void measure(const struct ct_cfg *cfg, uint64_t start, enum ct_isa isa, uint64_t stop,
                    struct ct_cfg_block *block)
{
    struct ct_insn insn = {0};
    *block = (struct ct_cfg_block){.start = start,
                                   .last = start,
                                   .end = start,
                                   .function = CT_CFG_NONE,
                                   .first_out = CT_CFG_NONE,
                                   .first_in = CT_CFG_NONE,
                                   .loop = CT_CFG_NONE,
                                   .dominator = CT_CFG_NONE,
                                   .isa = (uint8_t)isa};
    for (uint64_t at = start;;) {
        const uint8_t *mark = ct_cfg_mark(cfg, at);
        bool begins = stop ? at >= stop : at != start && mark && *mark & CT_CFG_MARK_LEADER;
        if (begins || !mark || !(*mark & CT_CFG_MARK_INSN) ||
            (*mark & CT_CFG_MARK_ISA) >> CT_CFG_MARK_SHIFT != isa ||
            !ct_cfg_insn(cfg, at, isa, &insn, NULL)) {
            block->cut = !begins;
            break;
        }
        block->last = at;
        block->end = at += insn.size;
        block->n++;
        block->type = insn.type;
        block->sub = insn.sub;
        block->cond = insn.cond;
        if (ct_cfg_ends_block(&insn))
            break;
    }
}

static int add_block(struct ct_cfg *cfg, const struct ct_cfg_block *block, struct ct_cfg_here *here)
{
    int rc = cfg->blocks.count < MOST ? CT_CFG_ROOM(cfg, &cfg->blocks) : too_many(cfg, "blocks");
    if (rc)
        return rc;
    cfg->blocks.at[cfg->blocks.count++] = *block;
    here->block = (uint32_t)cfg->blocks.count;
    return CT_OK;
}

static uint32_t block_from(const struct ct_cfg *cfg, uint64_t start)
{
    const struct ct_cfg_here *here = ct_cfg_here(cfg, start);
    return here ? here->block - 1 : CT_CFG_NONE;
}

/* Inserts a block into `order`, which is sorted. When a large program learns branch targets, most blocks are
 * behind the insertion point, so they are moved with one memmove, and no block is read. */
static int add_to_order(struct ct_cfg *cfg, uint32_t block)
{
    int rc = CT_CFG_ROOM(cfg, &cfg->order);
    if (rc)
        return rc;
    const size_t count = cfg->order.count++;
    uint32_t *order = cfg->order.at;
    const uint64_t start = cfg->blocks.at[block].start;
    const bool is_last = !count || cfg->blocks.at[order[count - 1]].start <= start;
    const size_t at = is_last ? count : CT_COUNT_WHILE(count, i, cfg->blocks.at[order[i]].start <= start);
    memmove(order + at + 1, order + at, (count - at) * sizeof *order);
    order[at] = block;
    return CT_OK;
}

/* ---- edges ---- */

static void link_edge(struct ct_cfg *cfg, uint32_t number)
{
    struct ct_cfg_edge *edge = &cfg->edges.at[number];
    struct ct_cfg_block *from = &cfg->blocks.at[edge->from];
    if (from->first_out == CT_CFG_NONE)
        from->first_out = number;
    else
        cfg->edges.at[from->last_out].next_out = number;
    from->last_out = number;
    if (edge->to == CT_CFG_NONE)
        return;
    edge->next_in = cfg->blocks.at[edge->to].first_in;
    cfg->blocks.at[edge->to].first_in = number;
}

static int add_edge(struct ct_cfg *cfg, struct ct_cfg_edge edge)
{
    int rc = cfg->edges.count < MOST ? CT_CFG_ROOM(cfg, &cfg->edges) : too_many(cfg, "edges");
    if (rc)
        return rc;
    edge.next_out = edge.next_in = CT_CFG_NONE;
    cfg->edges.at[cfg->edges.count] = edge;
    link_edge(cfg, (uint32_t)cfg->edges.count++);
    return CT_OK;
}

static uint32_t find_edge(const struct ct_cfg *cfg, uint32_t block, enum ct_cfg_kind kind, uint64_t target)
{
    for (uint32_t e = cfg->blocks.at[block].first_out; e != CT_CFG_NONE; e = cfg->edges.at[e].next_out)
        if (cfg->edges.at[e].kind == kind && cfg->edges.at[e].target == target)
            return e;
    return CT_CFG_NONE;
}

/* Finds the block to which an edge leads. It is often the next one in memory, so that is tried first. */
static uint32_t block_behind(const struct ct_cfg *cfg, uint32_t from, uint64_t start)
{
    const size_t next = (size_t)from + 1;
    return next < cfg->blocks.count && cfg->blocks.at[next].start == start ? (uint32_t)next
                                                                           : block_from(cfg, start);
}

static int propose(struct ct_cfg *cfg, struct draft *draft, enum ct_cfg_kind kind, uint64_t target,
                   enum ct_cfg_origin origin)
{
    if (!CT_MAKE_ROOM(draft->edges, draft->room, draft->count + 1))
        return ct_fail_nomem(cfg->ctx, cfg->name);
    draft->edges[draft->count++] = (struct ct_cfg_edge){
        .target = target,
        .to = kind < CT_CFG_RETURN ? block_behind(cfg, draft->from, target) : CT_CFG_NONE,
        .kind = (uint8_t)kind,
        .origin = (uint8_t)origin};
    return CT_OK;
}

static uint32_t whole(const struct ct_cfg *cfg, uint32_t function)
{
    uint32_t of = function == CT_CFG_NONE ? CT_CFG_NONE : cfg->funcs.at[function].part_of;
    return of == CT_CFG_NONE ? function : of;
}

/* Returns the kind of a jump: inside of its function, or to the entry of another one. */
static enum ct_cfg_kind kind_of_jump(const struct ct_cfg *cfg, const struct ct_cfg_block *block,
                                     uint64_t target)
{
    uint32_t to = ct_cfg_function_at(cfg, target);
    return to == CT_CFG_NONE || whole(cfg, to) == block->function ? CT_CFG_BRANCH : CT_CFG_TAIL;
}

static bool call_returns(const struct ct_cfg *cfg, uint64_t target)
{
    uint32_t callee = ct_cfg_function_at(cfg, target);
    return callee == CT_CFG_NONE || cfg->funcs.at[callee].returns;
}

static int propose_computed(struct ct_cfg *cfg, struct draft *draft, const struct ct_cfg_block *block)
{
    uint32_t number = ct_addr_map_get(&cfg->table_at, block->last);
    if (block->sub == CT_INSN_SUB_LINK) {
        int rc = propose(cfg, draft, CT_CFG_UNKNOWN, 0, CT_CFG_CODE);
        return rc ? rc : propose(cfg, draft, CT_CFG_CALLED, block->end, CT_CFG_CODE);
    }
    if (block->sub != CT_INSN_SUB_NONE)
        return propose(cfg, draft, CT_CFG_RETURN, 0, CT_CFG_CODE);
    if (number == CT_ADDR_NONE)
        return propose(cfg, draft, CT_CFG_UNKNOWN, 0, CT_CFG_CODE);
    const struct ct_cfg_table table = cfg->tables.at[number];
    int rc = CT_OK;
    for (uint32_t i = 0; !rc && i < table.count; i++) {
        uint64_t target = cfg->targets.at[table.first + i];
        rc = propose(cfg, draft, kind_of_jump(cfg, block, target), target, CT_CFG_TABLE);
    }
    return rc;
}

static int propose_all(struct ct_cfg *cfg, struct draft *draft, const struct ct_cfg_block *block)
{
    struct ct_insn insn;
    int rc = CT_OK;
    bool falls = block->cond || (block->type != CT_INSN_BR && block->type != CT_INSN_IBR);
    if (block->type == CT_INSN_IBR) {
        rc = propose_computed(cfg, draft, block);
    } else if (block->type == CT_INSN_BR &&
               ct_cfg_insn(cfg, block->last, (enum ct_isa)block->isa, &insn, NULL)) {
        bool calls = block->sub == CT_INSN_SUB_LINK;
        rc = propose(cfg, draft, calls ? CT_CFG_CALL : kind_of_jump(cfg, block, insn.target), insn.target,
                     CT_CFG_CODE);
        if (!rc && calls && call_returns(cfg, insn.target))
            rc = propose(cfg, draft, CT_CFG_CALLED, block->end, CT_CFG_CODE);
    }
    return rc || !falls || block->cut ? rc : propose(cfg, draft, CT_CFG_NEXT, block->end, CT_CFG_CODE);
}

static int by_kind(const void *a, const void *b)
{
    const struct ct_cfg_edge *x = a, *y = b;
    return ct_order(x->kind, y->kind) ?: ct_order(x->target, y->target);
}

static int add_edges(struct ct_cfg *cfg, uint32_t from, struct draft *draft)
{
    draft->count = 0;
    draft->from = from;
    int rc = propose_all(cfg, draft, &cfg->blocks.at[from]);
    if (!rc && draft->count)
        qsort(draft->edges, draft->count, sizeof *draft->edges, by_kind);
    for (size_t i = 0; !rc && i < draft->count; i++) {
        draft->edges[i].from = from;
        if (find_edge(cfg, from, (enum ct_cfg_kind)draft->edges[i].kind, draft->edges[i].target) ==
            CT_CFG_NONE)
            rc = add_edge(cfg, draft->edges[i]);
    }
    return rc;
}

/* ---- functions of blocks ---- */

static uint32_t function_by_symbol(const struct ct_cfg *cfg, uint64_t addr)
{
    const struct ct_symbol *symbol = ct_symbols_at(cfg->symbols, addr, NULL);
    return symbol ? whole(cfg, ct_cfg_function_at(cfg, symbol->addr)) : CT_CFG_NONE;
}

/* Returns the function from which the code was reached, unless a function that was found later starts
 * there. */
static uint32_t function_of(const struct ct_cfg *cfg, const struct ct_cfg_work *leader)
{
    uint32_t function = function_by_symbol(cfg, leader->addr);
    if (function == CT_CFG_NONE)
        function = whole(cfg, ct_cfg_function_at(cfg, leader->addr));
    return function != CT_CFG_NONE ? function : whole(cfg, ct_cfg_function_at(cfg, leader->owner));
}

/* ---- all blocks ---- */

/* Makes a block inside of an older one, which now ends before it. The edges of the older block move to the
 * new one. */
static int split(struct ct_cfg *cfg, uint32_t number, uint32_t part)
{
    struct ct_cfg_block *block = &cfg->blocks.at[number];
    struct ct_cfg_block *rest = &cfg->blocks.at[part];
    struct ct_cfg_block first;
    measure(cfg, block->start, (enum ct_isa)block->isa, rest->start, &first);
    if (first.end != rest->start || rest->start >= block->end || rest->isa != block->isa)
        return CT_OK; /* they overlap, but with different instructions */
    rest->function = first.function = block->function;
    rest->first_out = block->first_out;
    rest->last_out = block->last_out;
    for (uint32_t e = rest->first_out; e != CT_CFG_NONE; e = cfg->edges.at[e].next_out)
        cfg->edges.at[e].from = part;
    first.first_in = block->first_in;
    *block = first;
    return add_edge(
        cfg, (struct ct_cfg_edge){.from = number, .to = part, .target = rest->start, .kind = CT_CFG_NEXT});
}

static int make_blocks(struct ct_cfg *cfg)
{
    int rc = CT_OK;
    if (cfg->leaders.count)
        qsort(cfg->leaders.at, cfg->leaders.count, sizeof *cfg->leaders.at, by_address);
    for (size_t i = 0; !rc && i < cfg->leaders.count; i++) {
        const struct ct_cfg_work *leader = &cfg->leaders.at[i];
        struct ct_cfg_block block;
        measure(cfg, leader->addr, (enum ct_isa)leader->isa, 0, &block);
        struct ct_cfg_here *here = ct_cfg_here(cfg, leader->addr);
        if (block.n == 0 || !here)
            continue;
        block.function = function_of(cfg, leader);
        rc = add_block(cfg, &block, here);
    }
    cfg->leaders.count = 0;
    return rc;
}

/* Makes the edges of the blocks from `first` on. Parts of older blocks get theirs when they are split off,
 * the last part first. */
static int make_edges(struct ct_cfg *cfg, size_t first)
{
    struct draft draft = {0};
    int rc = CT_OK;
    for (size_t i = cfg->blocks.count; !rc && first && i-- > first;) {
        uint32_t around = ct_cfg_block_at(cfg, cfg->blocks.at[i].start);
        if (around != CT_CFG_NONE)
            rc = split(cfg, around, (uint32_t)i);
    }
    for (size_t i = first; !rc && i < cfg->blocks.count; i++)
        rc = add_to_order(cfg, (uint32_t)i);
    for (size_t i = first; !rc && i < cfg->blocks.count; i++)
        rc = add_edges(cfg, (uint32_t)i, &draft);
    free(draft.edges);
    return rc;
}

static int add_late_calls(struct ct_cfg *cfg)
{
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < cfg->late.count; i++) {
        uint32_t from = ct_cfg_block_at(cfg, cfg->late.at[i].from);
        uint32_t to = block_from(cfg, cfg->late.at[i].to);
        bool there = false;
        if (from == CT_CFG_NONE)
            continue;
        for (uint32_t e = cfg->blocks.at[from].first_out; e != CT_CFG_NONE; e = cfg->edges.at[e].next_out)
            there |= cfg->edges.at[e].kind == CT_CFG_CALLED;
        if (!there)
            rc = add_edge(cfg,
                          (struct ct_cfg_edge){
                              .from = from, .to = to, .target = cfg->late.at[i].to, .kind = CT_CFG_CALLED});
    }
    cfg->late.count = 0;
    return rc;
}

int ct_cfg_build(struct ct_cfg *cfg)
{
    size_t first = cfg->blocks.count;
    int rc = make_blocks(cfg) ?: make_edges(cfg, first) ?: add_late_calls(cfg);
    cfg->built = true;
    return rc;
}

/* ---- edges from outside ---- */

static int make_target(struct ct_cfg *cfg, uint32_t from, uint64_t target, enum ct_isa isa)
{
    uint32_t function = CT_CFG_NONE;
    const struct ct_cfg_block *block = &cfg->blocks.at[from];
    /* a block has no function when no function starts at the symbol that covers it */
    const uint64_t owner =
        block->function == CT_CFG_NONE ? block->start : cfg->funcs.at[block->function].entry;
    int rc = CT_OK;
    if (block->sub == CT_INSN_SUB_LINK)
        rc = ct_cfg_function_make(cfg, target, isa, NULL, &function);
    if (!rc)
        rc = ct_cfg_leader(cfg, target, isa, function == CT_CFG_NONE ? owner : target);
    if (!rc)
        rc = ct_cfg_explore(cfg);
    return rc ? rc : ct_cfg_build(cfg);
}

int ct_cfg_add_edge(struct ct_cfg *cfg, uint64_t last, uint64_t target, enum ct_isa isa,
                    enum ct_cfg_origin origin, uint32_t *edge)
{
    CT_REQUIRE_OF(cfg, edge);
    uint32_t from = ct_cfg_block_at(cfg, last);
    const struct ct_cfg_block *block = from == CT_CFG_NONE ? NULL : &cfg->blocks.at[from];
    bool calls = block && block->sub == CT_INSN_SUB_LINK;
    if (!block || block->last != last || block->type != CT_INSN_IBR || (block->sub && !calls))
        return CT_ERR_NOT_FOUND;
    int rc = make_target(cfg, from, target, isa);
    if (rc)
        return rc;
    from = ct_cfg_block_at(cfg, last); /* the target may have split the block */
    if (block_from(cfg, target) == CT_CFG_NONE)
        return CT_ERR_NOT_FOUND;
    enum ct_cfg_kind kind = calls ? CT_CFG_CALL : kind_of_jump(cfg, &cfg->blocks.at[from], target);
    *edge = find_edge(cfg, from, kind, target);
    if (*edge != CT_CFG_NONE)
        return CT_OK;
    rc = add_edge(cfg, (struct ct_cfg_edge){.from = from,
                                            .to = block_from(cfg, target),
                                            .target = target,
                                            .kind = (uint8_t)kind,
                                            .origin = (uint8_t)origin});
    *edge = (uint32_t)cfg->edges.count - 1;
    return rc;
}
