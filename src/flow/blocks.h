/* SPDX-License-Identifier: Apache-2.0 */
/* The program as blocks with links, for the fast way: a block is straight code up to its waypoint, and its
 * links are the blocks behind it. Blocks are made when execution first gets there and never change, but for
 * their counters. Number 0 is no block. */
#ifndef CT_FLOW_BLOCKS_H
#define CT_FLOW_BLOCKS_H

#include "coretap/graph.h"
#include "flow/walk.h"

/* Blocks, and pairs, at most; when there are so many all begins anew. 80 and
 * 48 bytes each, index included. */
#define CT_BLOCKS_MAX (UINT32_C(1) << 20)

#define CT_NO_NUMBER UINT32_MAX

enum ct_block_flag {
    CT_BLOCK_INDIRECT = 1, /* executed, it goes where only the trace or the return stack knows */
    CT_BLOCK_LINK = 2,     /* executed, it leaves its return address on the return stack */
    CT_BLOCK_BRANCH = 4,   /* executed, it does not go on behind itself */
    CT_BLOCK_SLOW = 8,     /* its atoms are for the plain walk */
    CT_BLOCK_ALWAYS = 16,  /* … so are its N atoms, which contradict it */
};

/* 64 bytes: a line of the cache. */
struct ct_block {
    uint32_t next[2]; /* block behind it when it was not executed, and when it was; 0: not looked for yet */
    uint32_t edge[2]; /* number in the graph of the edge to there, or CT_NO_NUMBER */
    uint64_t count[2];
    uint64_t addr;
    uint64_t end;
    uint32_t node; /* number in the graph, or CT_NO_NUMBER */
    uint32_t n;    /* instructions */
    uint8_t flags; /* enum ct_block_flag */
    uint8_t isa;
    uint8_t target_isa;
    uint8_t dead;    /* bit 0, 1: there is no block behind that side */
    uint8_t it_left; /* of an IT block, behind it */
    uint8_t space;
    uint16_t domain; /* whose code and counters these are */
};

/* What is needed once. */
struct ct_block_info {
    uint64_t target;
    uint32_t next_same; /* chain of the index */
    uint8_t type, sub, cond, last_size;
};

/* An indirect branch and one of its targets. */
struct ct_branch_target {
    uint64_t addr;
    uint64_t count;
    uint32_t from; /* block; 0: free */
    uint32_t next; /* block at addr; 0: as with links */
    uint32_t edge;
    uint8_t isa;
    uint8_t pad[3];
};

/* Blocks of one domain are of one memory, and their counters are those of one context. */
struct ct_domain {
    uint32_t memory; /* number */
    uint32_t context;
};

#define CT_DOMAINS_MAX 65536u

struct ct_blocks {
    struct ct_walk *walk; /* reads the instructions */
    struct ct_graph *graph;
    struct ct_ctx *ctx;
    struct ct_block *blocks;
    struct ct_block_info *infos;
    uint32_t *heads; /* index by address: twice as many as there is room */
    uint32_t count, cap;
    struct ct_branch_target *pairs;
    struct ct_domain *domains;
    uint32_t domain_count;
    uint32_t pair_count, pair_cap; /* a power of two, at most a quarter of it used */
    uint32_t generation;           /* how often all were forgotten */
    int error;                     /* CT_ERR_NOMEM, CT_ERR_LIMIT: why the last call gave nothing */
};

int ct_blocks_init(struct ct_blocks *b, struct ct_ctx *ctx, struct ct_walk *walk, struct ct_graph *graph);
void ct_blocks_deinit(struct ct_blocks *b);

/* True when there is no room for so many as one element may need. */
static inline bool ct_blocks_are_full(const struct ct_blocks *b)
{
    return b->count > CT_BLOCKS_MAX - 128 || b->pair_count > CT_BLOCKS_MAX - 128;
}

/* Forgets all of them. */
void ct_blocks_clear(struct ct_blocks *b);

/* The block at `addr` in the memory space of the walk; its fields addr, isa and insn change. 0: it cannot be
 * read or has no end, or b->error says why. */
uint32_t ct_blocks_at(struct ct_blocks *b, uint64_t addr, uint8_t isa, uint16_t domain);

/* The same when it was met before; else 0, and nothing changes. */
uint32_t ct_blocks_find(const struct ct_blocks *b, uint64_t addr, uint8_t isa, uint16_t domain);

/* The number of a domain, which is added when it is not there. CT_ERR_NOMEM; CT_ERR_LIMIT when there are
 * CT_DOMAINS_MAX: ct_blocks_clear forgets them. */
int ct_blocks_domain(struct ct_blocks *b, uint32_t memory, uint32_t context, uint16_t *domain);

/* True when an atom of the block is a contradiction. */
static inline bool ct_block_contradicts(const struct ct_block *block, unsigned executed)
{
    return !executed && block->flags & CT_BLOCK_ALWAYS;
}

/* The block behind `block`, which is not INDIRECT when `executed`; 0 as above, inside of an IT block, and for
 * one that is SLOW. */
uint32_t ct_blocks_link(struct ct_blocks *b, uint32_t block, unsigned executed);

/* Where execution is behind it. */
uint64_t ct_block_target(const struct ct_blocks *b, uint32_t block, unsigned executed, uint8_t *isa);

/* Where the search for a pair begins. */
static inline uint32_t ct_pair_place(const struct ct_blocks *b, uint32_t from, uint64_t addr)
{
    uint32_t mixed = (uint32_t)(addr >> 2) * UINT32_C(0x9e3779b1);
    return ((mixed >> 12) ^ from) & (b->pair_cap - 1);
}

/* The pair of a branch and its target when it is there and has its number; else NULL. */
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

/* The pair of a branch and its target; NULL without memory. */
struct ct_branch_target *ct_blocks_pair(struct ct_blocks *b, uint32_t from, uint64_t addr, uint8_t isa);

/* Numbers in the graph; CT_NO_NUMBER when b->error says why. */
uint32_t ct_block_node(struct ct_blocks *b, uint32_t block);
uint32_t ct_block_edge(struct ct_blocks *b, uint32_t block, unsigned executed);
uint32_t ct_pair_edge(struct ct_blocks *b, struct ct_branch_target *pair);

#endif
