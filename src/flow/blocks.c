/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/room.h"
#include "base/table_memory.h"
#include "flow/graph_entries.h"

#define FIRST_CAP 1024u

int ct_blocks_init(struct ct_blocks *b, struct ct_ctx *ctx, struct ct_walk *walk, struct ct_graph *graph)
{
    *b = (struct ct_blocks){
        .walk = walk, .graph = graph, .ctx = ctx, .count = 1, .cap = FIRST_CAP, .block_room = FIRST_CAP};
    b->blocks = ct_array_grow(NULL, 0, FIRST_CAP, sizeof *b->blocks);
    b->infos = ct_array_grow(NULL, 0, FIRST_CAP, sizeof *b->infos);
    const bool indexed = ct_block_index_init(&b->index);
    b->pair_cap = FIRST_CAP;
    b->pairs = calloc(FIRST_CAP, sizeof *b->pairs);
    if (!b->blocks || !b->infos || !indexed || !b->pairs) {
        ct_blocks_deinit(b);
        return ct_fail_nomem(ctx, "program blocks");
    }
    b->blocks[0] = (struct ct_block){.flags = CT_BLOCK_SLOW};
    return CT_OK;
}

void ct_blocks_deinit(struct ct_blocks *b)
{
    ct_array_free(b->blocks, b->block_room, sizeof *b->blocks);
    ct_array_free(b->infos, b->cap, sizeof *b->infos);
    ct_block_index_deinit(&b->index);
    free(b->pairs);
    free(b->domains);
    b->domains = NULL;
    b->blocks = NULL;
    b->infos = NULL;
    b->pairs = NULL;
}

void ct_blocks_clear(struct ct_blocks *b)
{
    b->count = 1;
    b->domain_count = 0;
    b->generation++;
    b->repeats = true;
    ct_block_index_clear(&b->index);
    b->pair_count = 0;
    memset(b->pairs, 0, b->pair_cap * sizeof *b->pairs);
}

static int no_memory(struct ct_blocks *b)
{
    return b->error = ct_fail_nomem(b->ctx, "program blocks");
}

static int grow(struct ct_blocks *b)
{
    const uint32_t cap = b->cap * 2;
    struct ct_block *blocks = ct_array_grow(b->blocks, b->block_room, cap, sizeof *blocks);
    if (blocks) {
        b->blocks = blocks;
        b->block_room = cap;
    }
    struct ct_block_info *infos = blocks ? ct_array_grow(b->infos, b->cap, cap, sizeof *infos) : NULL;
    if (!infos)
        return no_memory(b);
    b->infos = infos;
    b->cap = cap;
    return CT_OK;
}

/* Adds a block. Returns its number, or 0 when out of memory. */
static uint32_t add(struct ct_blocks *b, const struct ct_block *block, const struct ct_block_info *info)
{
    const struct ct_block_key key = ct_block_key(block->addr, block->isa, block->space, block->domain);
    if (b->count == b->cap && grow(b))
        return 0;
    uint32_t *place = ct_block_index_place(&b->index, key);
    if (!place) {
        no_memory(b);
        return 0;
    }
    b->blocks[b->count] = *block;
    b->infos[b->count] = *info;
    return *place = b->count++;
}

/* ---- domains ---- */

int ct_blocks_domain(struct ct_blocks *b, uint32_t memory, uint32_t context, uint16_t *domain)
{
    uint32_t i = 0;
    while (i < b->domain_count && (b->domains[i].memory != memory || b->domains[i].context != context))
        i++;
    for (uint32_t k = 0; k < b->domain_count && i == b->domain_count; k++)
        b->repeats |= b->domains[k].memory == memory;
    if (i >= CT_DOMAINS_MAX)
        return ct_fail(b->ctx, CT_ERR_LIMIT,
                       "program blocks: there are more than %u memories and contexts, which is the limit; "
                       "select fewer contexts",
                       CT_DOMAINS_MAX);
    if (!CT_MAKE_ROOM(b->domains, b->domain_cap, i + 1))
        return ct_fail_nomem(b->ctx, "program blocks");
    if (i == b->domain_count)
        b->domains[b->domain_count++] = (struct ct_domain){memory, context};
    *domain = (uint16_t)i;
    return CT_OK;
}

/* ---- blocks ---- */

static uint8_t flags_of(const struct ct_walk *w, const struct ct_walk_range *range)
{
    const struct ct_insn *insn = &w->insn;
    uint8_t flags = 0;
    if (insn->type == CT_INSN_IBR)
        flags |= CT_BLOCK_INDIRECT | CT_BLOCK_BRANCH;
    if (insn->type == CT_INSN_BR)
        flags |= CT_BLOCK_BRANCH;
    if (insn->sub == CT_INSN_SUB_LINK && flags && w->stack.enabled)
        flags |= CT_BLOCK_LINK;
    if (insn->sub == CT_INSN_SUB_ERET && w->config.eret_is_return)
        flags |= CT_BLOCK_SLOW;
    if (ct_walk_is_always_taken(w, range))
        flags |= CT_BLOCK_ALWAYS;
    return flags;
}

uint32_t ct_blocks_find(const struct ct_blocks *b, uint64_t addr, uint8_t isa, uint16_t domain)
{
    return ct_block_index_find(&b->index, ct_block_key(addr, isa, (uint8_t)ct_walk_space(b->walk), domain));
}

/* Reads the instructions from an address to the next waypoint, and makes a block of them. Returns its number,
 * or 0 as ct_blocks_at does. */
static uint32_t read_block(struct ct_blocks *b, uint64_t addr, uint8_t isa, uint16_t domain)
{
    struct ct_walk *w = b->walk;
    struct ct_walk_range range;
    ct_walk_go_to(w, addr, isa);
    if (ct_walk_to_waypoint(w, &range) != CT_WALK_FOUND)
        return 0;
    const struct ct_block block = {.edge = {CT_NO_NUMBER, CT_NO_NUMBER},
                                   .node = CT_NO_NUMBER,
                                   .addr = addr,
                                   .end = w->addr,
                                   .n = range.n,
                                   .flags = flags_of(w, &range),
                                   .isa = isa,
                                   .target_isa = w->insn.isa,
                                   .it_left = w->it_left,
                                   .space = (uint8_t)ct_walk_space(w),
                                   .domain = domain};
    const struct ct_block_info info = {.target = w->insn.target,
                                       .type = w->insn.type,
                                       .sub = w->insn.sub,
                                       .cond = range.last_cond,
                                       .last_size = w->insn.size};
    return b->error ? 0 : add(b, &block, &info);
}

uint32_t ct_blocks_at(struct ct_blocks *b, uint64_t addr, uint8_t isa, uint16_t domain)
{
    const uint32_t there = ct_blocks_find(b, addr, isa, domain);
    return there ? there : read_block(b, addr, isa, domain);
}

uint64_t ct_block_target(const struct ct_blocks *b, uint32_t block, unsigned executed, uint8_t *isa)
{
    const struct ct_block *from = &b->blocks[block];
    if (executed && from->flags & CT_BLOCK_BRANCH) {
        *isa = from->target_isa;
        return b->infos[block].target;
    }
    *isa = from->isa;
    return from->end;
}

/* Returns the block, or 0 when the fast engine must not execute it. */
static uint32_t quick_block(const struct ct_blocks *b, uint32_t block)
{
    return b->blocks[block].flags & CT_BLOCK_SLOW ? 0 : block;
}

/* Finds or makes the block that follows `block` in the program. Returns 0 as ct_blocks_link does. */
static uint32_t find_next(struct ct_blocks *b, uint32_t block, unsigned executed)
{
    const struct ct_block *from = &b->blocks[block];
    uint8_t isa;
    const uint64_t addr = ct_block_target(b, block, executed, &isa);
    const bool in_it = from->it_left && !(executed && from->flags & CT_BLOCK_BRANCH);
    return in_it ? 0 : quick_block(b, ct_blocks_at(b, addr, isa, from->domain));
}

uint32_t ct_blocks_link(struct ct_blocks *b, uint32_t block, unsigned executed)
{
    struct ct_block *from = &b->blocks[block];
    if (from->next[executed] || from->dead >> executed & 1)
        return from->next[executed];
    const uint32_t next = find_next(b, block, executed);
    from = &b->blocks[block];
    from->next[executed] = next;
    if (!next && !b->error)
        from->dead |= (uint8_t)(1u << executed);
    return next;
}

static struct ct_branch_target *find_pair(const struct ct_blocks *b, uint32_t from, uint64_t addr,
                                          uint8_t isa)
{
    uint32_t at = ct_pair_place(b, from, addr);
    for (;; at = (at + 1) & (b->pair_cap - 1)) {
        struct ct_branch_target *pair = &b->pairs[at];
        if (!pair->from || (pair->from == from && pair->addr == addr && pair->isa == isa))
            return pair;
    }
}

static int grow_pairs(struct ct_blocks *b)
{
    uint32_t cap = b->pair_cap;
    struct ct_branch_target *old = b->pairs;
    struct ct_branch_target *pairs = ct_table_memory((size_t)cap * 2, sizeof *pairs);
    if (!pairs)
        return no_memory(b);
    b->pairs = pairs;
    b->pair_cap = cap * 2;
    for (uint32_t i = 0; i < cap; i++)
        if (old[i].from)
            *find_pair(b, old[i].from, old[i].addr, old[i].isa) = old[i];
    free(old);
    return CT_OK;
}

struct ct_branch_target *ct_blocks_pair(struct ct_blocks *b, uint32_t from, uint64_t addr, uint8_t isa)
{
    struct ct_branch_target *pair = find_pair(b, from, addr, isa);
    if (pair->from)
        return pair;
    if (b->pair_count * 4 >= b->pair_cap) {
        if (grow_pairs(b))
            return NULL;
        pair = find_pair(b, from, addr, isa);
    }
    uint32_t next = quick_block(b, ct_blocks_at(b, addr, isa, b->blocks[from].domain));
    b->pair_count++;
    *pair =
        (struct ct_branch_target){.addr = addr, .from = from, .next = next, .edge = CT_NO_NUMBER, .isa = isa};
    return pair;
}

uint32_t ct_block_node(struct ct_blocks *b, uint32_t block)
{
    struct ct_block *k = &b->blocks[block];
    const struct ct_block_info *info = &b->infos[block];
    if (k->node != CT_NO_NUMBER)
        return k->node;
    struct ct_node node = {.start = k->addr,
                           .last = k->end - info->last_size,
                           .end = k->end,
                           .n = k->n,
                           .memory = b->domains[k->domain].memory,
                           .space = k->space,
                           .isa = k->isa,
                           .type = info->type,
                           .sub = info->sub,
                           .cond = info->cond,
                           .last_size = info->last_size};
    const int rc = (b->repeats ? ct_graph_node : ct_graph_new_node)(b->graph, &node, &k->node);
    if (rc)
        b->error = rc;
    return k->node;
}

/* Returns the number of an edge. `is_new`: it was not numbered before. */
static uint32_t edge_of(struct ct_blocks *b, uint32_t block, unsigned executed, uint64_t next, bool is_new)
{
    struct ct_edge edge = {
        .next = next, .from = ct_block_node(b, block), .exec = (uint8_t)executed, .kind = CT_EDGE_NEXT};
    uint32_t number = CT_NO_NUMBER;
    if (edge.from == CT_NO_NUMBER) /* the node has no number, and b->error says why */
        return number;
    const int rc = (is_new && !b->repeats ? ct_graph_new_edge : ct_graph_edge)(b->graph, &edge, &number);
    if (rc)
        b->error = rc;
    return number;
}

uint32_t ct_block_edge(struct ct_blocks *b, uint32_t block, unsigned executed)
{
    uint8_t isa;
    uint32_t *number = &b->blocks[block].edge[executed];
    if (*number == CT_NO_NUMBER)
        *number = edge_of(b, block, executed, ct_block_target(b, block, executed, &isa), true);
    return *number;
}

uint32_t ct_pair_edge(struct ct_blocks *b, struct ct_branch_target *pair)
{
    if (pair->edge == CT_NO_NUMBER)
        pair->edge = edge_of(b, pair->from, 1, pair->addr, pair->isa == CT_ISA_A64);
    return pair->edge;
}
