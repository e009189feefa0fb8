/* SPDX-License-Identifier: Apache-2.0 */
/* The program as blocks with links, for the fast engine. A block is straight code up to its waypoint; its
 * links are the blocks that execution went to from there. Blocks are made when execution first gets there and
 * never change, but for their counters. Number 0 is no block. */
#ifndef CT_FLOW_BLOCKS_H
#define CT_FLOW_BLOCKS_H

#include "coretap/graph.h"
#include "flow/block_index.h"
#include "flow/walk.h"

/* The most blocks, and the most pairs of a branch and a target; with more of them the engine begins anew.
 * They take 80 and 48 bytes each, and blocks an index of 544 bytes for each 128 addresses of instructions. */
#define CT_BLOCKS_MAX (UINT32_C(1) << 20)

#define CT_NO_NUMBER UINT32_MAX

enum ct_block_flag {
    CT_BLOCK_INDIRECT = 1, /* when executed, it goes where only the trace or the return stack tells */
    CT_BLOCK_LINK = 2,     /* when executed, it pushes its return address to the return stack */
    CT_BLOCK_BRANCH = 4,   /* when executed, execution does not go on right behind it */
    CT_BLOCK_SLOW = 8,     /* the plain walk has to take its atoms */
    CT_BLOCK_ALWAYS = 16,  /* its branch is always taken, so that an N atom contradicts the program */
};

/* A block, in the 64 bytes of a cache line. */
struct ct_block {
    uint32_t next[2]; /* the block that follows when it was not executed, and when it was; 0: not looked for
                         yet */
    uint32_t edge[2]; /* the number of the edge to there in the graph, or CT_NO_NUMBER */
    uint64_t count[2];
    uint64_t addr;
    uint64_t end;
    uint32_t node; /* its number in the graph, or CT_NO_NUMBER */
    uint32_t n;    /* instructions */
    uint8_t flags; /* enum ct_block_flag */
    uint8_t isa;
    uint8_t target_isa;
    uint8_t dead;    /* bits 0 and 1: no block follows on that side */
    uint8_t it_left; /* of an IT block: instructions that are left of it behind the block */
    uint8_t space;
    uint16_t domain; /* whose code and counters these are */
};

/* What is read once of a block, when it is linked or numbered. */
struct ct_block_info {
    uint64_t target;
    uint8_t type, sub, cond, last_size;
};

/* An indirect branch with one of its targets: a pair. */
struct ct_branch_target {
    uint64_t addr;
    uint64_t count;
    uint32_t from; /* the block of the branch; 0: the entry is free */
    uint32_t next; /* the block at addr; 0: not looked for yet */
    uint32_t edge;
    uint8_t isa;
    uint8_t pad[3];
};

/* A memory and a context. The blocks of a domain are read in its memory and count for its context. */
struct ct_domain {
    uint32_t memory; /* number of the memory */
    uint32_t context;
};

#define CT_DOMAINS_MAX 65536u

/* the most domains of which blocks are shared; those of a part alone have numbers from here on */
#define CT_SHARED_DOMAINS 4096u

struct ct_edge_context;
struct ct_shared_program;

struct ct_blocks {
    struct ct_walk *walk; /* reads the instructions */
    struct ct_graph *graph;
    struct ct_ctx *ctx;
    struct ct_shared_program
        *shared;             /* what other parts of the stream meet too, or NULL; held by the graph */
    struct ct_block *blocks; /* of blocks that are shared those that this part came to; the others are
                                zeros */
    struct ct_block_info *infos;
    struct ct_block_index index;
    uint32_t count, cap; /* `count` is the highest number + 1 */
    uint32_t block_room; /* of `blocks`: as `cap`, or more when there was no memory for the rest */
    struct ct_branch_target *pairs;
    struct ct_domain *domains;
    uint32_t domain_count, domain_cap;
    uint32_t pair_count, pair_cap; /* pair_cap is a power of two, of which at most a quarter is used */
    uint32_t generation;           /* how often all blocks were forgotten */
    bool repeats;                  /* two blocks may be one node: some were forgotten, or are of one memory in
                                      two contexts */
    int error;                     /* CT_ERR_NOMEM or CT_ERR_LIMIT: why the last call returned nothing */
};

int ct_blocks_init(struct ct_blocks *b, struct ct_ctx *ctx, struct ct_walk *walk, struct ct_graph *graph);
void ct_blocks_deinit(struct ct_blocks *b);

/* Returns true when there is not room for as many blocks or pairs as one element may need. */
static inline bool ct_blocks_are_full(const struct ct_blocks *b)
{
    return b->count > CT_BLOCKS_MAX - 128 || b->pair_count > CT_BLOCKS_MAX - 128 ||
           b->index.count > CT_BLOCK_CHUNKS_MAX - 128;
}

/* Lets new blocks share what parts of a stream meet. */
void ct_blocks_share(struct ct_blocks *b, struct ct_shared_program *shared);

/* Forgets all blocks, pairs and domains. Nothing is shared any more. */
void ct_blocks_clear(struct ct_blocks *b);

/* Returns the block at `addr`, made when it is new; the walk's fields addr, isa and insn change. 0: its
 * instructions cannot be read or have no end, or b->error says why. */
uint32_t ct_blocks_at(struct ct_blocks *b, uint64_t addr, uint8_t isa, uint16_t domain);

/* Returns the block at `addr` when it was met before; else 0. Changes nothing. */
uint32_t ct_blocks_find(const struct ct_blocks *b, uint64_t addr, uint8_t isa, uint16_t domain);

/* Finds the number of a domain, which is added when it is new. `who` is the context that has the number
 * `context`, NULL for CT_NO_NUMBER. CT_ERR_NOMEM; CT_ERR_LIMIT when there are CT_DOMAINS_MAX of them, which
 * ct_blocks_clear forgets. */
int ct_blocks_domain(struct ct_blocks *b, uint32_t memory, uint32_t context,
                     const struct ct_edge_context *who, uint16_t *domain);

/* Returns true when an N atom of the block contradicts the program. */
static inline bool ct_block_contradicts(const struct ct_block *block, unsigned executed)
{
    return !executed && block->flags & CT_BLOCK_ALWAYS;
}

/* Returns the block that follows when `executed` is as said; an executed block must not be INDIRECT. 0 as in
 * ct_blocks_at, inside of an IT block, and when the following block is SLOW. */
uint32_t ct_blocks_link(struct ct_blocks *b, uint32_t block, unsigned executed);

/* Returns the address where execution goes on, and its instruction set. */
uint64_t ct_block_target(const struct ct_blocks *b, uint32_t block, unsigned executed, uint8_t *isa);

/* Returns the slot where the search for a pair begins. */
static inline uint32_t ct_pair_place(const struct ct_blocks *b, uint32_t from, uint64_t addr)
{
    uint32_t mixed = (uint32_t)(addr >> 2) * UINT32_C(0x9e3779b1);
    return ((mixed >> 12) ^ from) & (b->pair_cap - 1);
}

/* Returns the pair of a branch and its target when it was met before and has its number, else NULL. */
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

/* Returns the pair of a branch and its target, made when it is new; NULL without memory. */
struct ct_branch_target *ct_blocks_pair(struct ct_blocks *b, uint32_t from, uint64_t addr, uint8_t isa);

/* Returns the number of a node or an edge in the graph; CT_NO_NUMBER when b->error says why. */
uint32_t ct_block_node(struct ct_blocks *b, uint32_t block);
uint32_t ct_block_edge(struct ct_blocks *b, uint32_t block, unsigned executed);
uint32_t ct_pair_edge(struct ct_blocks *b, struct ct_branch_target *pair);

#endif
