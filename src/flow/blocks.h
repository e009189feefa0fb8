/* SPDX-License-Identifier: Apache-2.0 */
/* The program as blocks with links, for the fast engine. A block is straight code up to its waypoint. Its
 * links lead to the blocks where execution continued. A block is made when execution first reaches it; after
 * that only its links, numbers and counters change. Number 0 is no block. */
#pragma once

#include "coretap/graph.h"
#include "flow/block_index.h"
#include "flow/walk.h"

/* Maximal number of blocks, and of pairs of a branch and a target; when there would be more, the engine
 * begins anew. They take 80 and 48 bytes each, and blocks also an index of 544 bytes for each 128 instruction
 * addresses. */
#define CT_BLOCKS_MAX (UINT32_C(1) << 20)

#define CT_NO_NUMBER UINT32_MAX

enum ct_block_flag {
    CT_BLOCK_INDIRECT = 1, /* when executed, only the trace or the return stack tells its target */
    CT_BLOCK_LINK = 2,     /* when executed, it pushes its return address to the return stack */
    CT_BLOCK_BRANCH = 4,   /* when executed, execution does not continue right behind it */
    CT_BLOCK_SLOW = 8,     /* the plain walk has to take its atoms */
    CT_BLOCK_ALWAYS = 16,  /* its branch is always taken, so that an N atom contradicts the program */
};

/* One block. It fills a cache line of 64 bytes. */
struct ct_block {
    uint32_t next[2]; /* the block that follows when its waypoint was not executed, and when it was; 0: not
                         known */
    uint32_t edge[2]; /* the numbers of the edges to these in the graph, or CT_NO_NUMBER */
    uint64_t count[2];
    uint64_t addr;
    uint64_t end;
    uint32_t node; /* number of its node in the graph, or CT_NO_NUMBER */
    uint32_t n;    /* instructions */
    uint8_t flags; /* enum ct_block_flag */
    uint8_t isa;
    uint8_t target_isa;
    uint8_t dead;    /* bits 0 and 1: no block follows on that side */
    uint8_t it_left; /* number of instructions behind the block that are still in its IT block */
    uint8_t space;
    uint16_t domain; /* index of its memory and context */
};

/* The rarely used data of a block: read once, when it is linked or numbered. */
struct ct_block_info {
    uint64_t target;
    uint8_t type, sub, cond, last_size;
};

/* A pair: an indirect branch with one of its targets. */
struct ct_branch_target {
    uint64_t addr;
    uint64_t count;
    uint32_t from; /* the block of the branch; 0: the entry is free */
    uint32_t next; /* the block at addr; 0: the fast engine cannot execute it */
    uint32_t edge;
    uint8_t isa;
    uint8_t pad[3];
};

/* A memory and a context: the code of its blocks is read in the memory and counts for the context. */
struct ct_domain {
    uint32_t memory; /* number of the memory */
    uint32_t context;
};

#define CT_DOMAINS_MAX 65536u

struct ct_blocks {
    struct ct_walk *walk; /* used for reading instructions */
    struct ct_graph *graph;
    struct ct_ctx *ctx;
    struct ct_block *blocks; /* by number */
    struct ct_block_info *infos;
    struct ct_block_index index;
    uint32_t count, cap; /* `count`: the highest number + 1 */
    uint32_t block_room; /* of `blocks`: `cap`, or more when there was no memory for the rest */
    struct ct_branch_target *pairs;
    struct ct_domain *domains;
    uint32_t domain_count;
    size_t domain_cap;
    uint32_t pair_count, pair_cap; /* pair_cap: a power of two, at most a quarter of which is used */
    uint32_t generation;           /* how often all blocks have been forgotten */
    bool repeats; /* two blocks may have the same node: blocks were forgotten, or one memory has two contexts
                   */
    int error;    /* 0, CT_ERR_NOMEM or CT_ERR_LIMIT: why the last call failed */
};

int ct_blocks_init(struct ct_blocks *b, struct ct_ctx *ctx, struct ct_walk *walk, struct ct_graph *graph);
void ct_blocks_deinit(struct ct_blocks *b);

/* Returns true when there may be no room for the blocks or pairs that one element needs. */
static inline bool ct_blocks_are_full(const struct ct_blocks *b)
{
    return b->count > CT_BLOCKS_MAX - 128 || b->pair_count > CT_BLOCKS_MAX - 128 ||
           b->index.count > CT_BLOCK_CHUNKS_MAX - 128;
}

/* Forgets all blocks, pairs and domains. */
void ct_blocks_clear(struct ct_blocks *b);

/* Returns the block at `addr`, and makes it when it is new. Changes the fields addr, isa and insn of the
 * walk. Returns 0 when its instructions cannot be read or do not end, or when b->error is set. */
uint32_t ct_blocks_at(struct ct_blocks *b, uint64_t addr, uint8_t isa, uint16_t domain);

/* Returns the block at `addr`, or 0 when there is none yet. Changes nothing. */
uint32_t ct_blocks_find(const struct ct_blocks *b, uint64_t addr, uint8_t isa, uint16_t domain);

/* Finds the number of a domain, and adds the domain when it is new. `context`: the number of a context, or
 * CT_NO_NUMBER. CT_ERR_NOMEM; CT_ERR_LIMIT when there are CT_DOMAINS_MAX domains (ct_blocks_clear forgets
 * them). */
int ct_blocks_domain(struct ct_blocks *b, uint32_t memory, uint32_t context, uint16_t *domain);

/* Returns true when the atom contradicts the program: an N atom (executed = 0) of a branch that is always
 * taken. */
static inline bool ct_block_contradicts(const struct ct_block *block, unsigned executed)
{
    return !executed && block->flags & CT_BLOCK_ALWAYS;
}

/* Returns the block that follows `block`, whose waypoint was executed or not; an executed one must not be
 * INDIRECT. Returns 0 as ct_blocks_at does, inside an IT block, and when the following block is SLOW. */
uint32_t ct_blocks_link(struct ct_blocks *b, uint32_t block, unsigned executed);

/* Returns the address where execution continues behind a block, and sets *isa to its instruction set. */
uint64_t ct_block_target(const struct ct_blocks *b, uint32_t block, unsigned executed, uint8_t *isa);

/* Returns the index in `pairs` where the search for a pair begins. */
static inline uint32_t ct_pair_place(const struct ct_blocks *b, uint32_t from, uint64_t addr)
{
    uint32_t mixed = (uint32_t)(addr >> 2) * UINT32_C(0x9e3779b1);
    return ((mixed >> 12) ^ from) & (b->pair_cap - 1);
}

/* Returns the pair of a branch and a target. NULL when there is none yet, or its edge has no number. */
static inline struct ct_branch_target *ct_blocks_known_pair(const struct ct_blocks *b, uint32_t from,
                                                            uint64_t addr, uint8_t isa)
{
    uint32_t at = ct_pair_place(b, from, addr);
    for (;; at = (at + 1) & (b->pair_cap - 1)) {
        struct ct_branch_target *pair = &b->pairs[at];
        if (pair->from == from && pair->addr == addr && pair->isa == isa)
            return pair->edge == CT_NO_NUMBER ? NULL : pair;
        if (!pair->from)
            return NULL;
    }
}

/* Returns the pair of a branch and a target, and makes it when it is new; NULL when out of memory. */
struct ct_branch_target *ct_blocks_pair(struct ct_blocks *b, uint32_t from, uint64_t addr, uint8_t isa);

/* Return the number in the graph of a block's node, of one of its edges, or of a pair's edge, and add it when
 * it is new. CT_NO_NUMBER when b->error is set. */
uint32_t ct_block_node(struct ct_blocks *b, uint32_t block);
uint32_t ct_block_edge(struct ct_blocks *b, uint32_t block, unsigned executed);
uint32_t ct_pair_edge(struct ct_blocks *b, struct ct_branch_target *pair);
