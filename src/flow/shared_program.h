/* SPDX-License-Identifier: Apache-2.0 */
/* The program as all parts of one stream know it: its graph and its blocks, under numbers that are the same
 * in all parts. What was published never changes, except that links of blocks are added. Each part copies
 * what it reaches, has its own numbers and counts alone, so its results do not depend on other threads. */
#pragma once

#include "coretap/edges.h"
#include "flow/blocks.h"

/* A block as it was read, with what the parts found out about it. The fields behind `next_same` are 0 or
 * CT_NO_NUMBER until they are known; all threads read and write them without a lock. */
struct ct_shared_block {
    struct ct_block block; /* without links, numbers and counts */
    struct ct_block_info info;
    uint32_t next_same; /* the next block in the same slot of the index; guarded by the lock */
    uint32_t next[2];   /* the blocks that follow, as in struct ct_block */
    uint32_t node;      /* the shared number of its node */
    uint32_t edge[2];   /* the shared numbers of the edges to `next` */
};

struct ct_shared_program;

/* Makes an empty program for at most `most` blocks, which must be less than CT_BLOCKS_MAX. The caller holds
 * it. CT_ERR_NOMEM. */
int ct_shared_program_new(struct ct_ctx *ctx, uint32_t most, struct ct_shared_program **out);

/* Add and remove one holder of the program; the last release frees it. Both accept NULL. */
struct ct_shared_program *ct_shared_program_hold(struct ct_shared_program *p);
void ct_shared_program_release(struct ct_shared_program *p);

/* Returns the address of a number that all parts read and write: how long hops of ETMv4 rest the next time,
 * in bytes; initially 0. */
uint64_t *ct_shared_program_rest(struct ct_shared_program *p);

/* ---- the graph ---- */

/* Set *id to the shared number of a node or an edge, and add it when it is new. CT_ERR_NOMEM, or
 * CT_ERR_LIMIT. */
int ct_shared_program_node(struct ct_shared_program *p, const struct ct_node *node, uint32_t *id);
int ct_shared_program_edge(struct ct_shared_program *p, const struct ct_edge *edge, uint32_t *id);

/* Return the node or edge with a shared number. */
struct ct_node ct_shared_program_node_at(struct ct_shared_program *p, uint32_t id);
struct ct_edge ct_shared_program_edge_at(struct ct_shared_program *p, uint32_t id);

/* What a graph that shares is. */
enum ct_graph_part {
    CT_GRAPH_WHOLE,          /* that of a whole stream, with nodes and edges */
    CT_GRAPH_OWN_NUMBERS,    /* of a part that counts: no nodes and edges, but numbers of its own */
    CT_GRAPH_SHARED_NUMBERS, /* of a part that gives steps: its numbers are the shared ones */
};

/* Lets an empty graph share nodes and edges. Its own numbers stay in the order of the first traversals. For
 * parts ct_graph_nodes and ct_graph_edges return only how many have own numbers. */
void ct_graph_share(struct ct_graph *graph, struct ct_shared_program *shared, enum ct_graph_part part);

/* Do what ct_graph_node and ct_graph_edge do. `is_new`: these functions were not given the same node or edge
 * before. `id`: where its shared number is kept, or NULL; when the number is not known yet, it is looked up
 * and stored there. */
int ct_graph_node_as(struct ct_graph *graph, const struct ct_node *node, bool is_new, uint32_t *id,
                     uint32_t *number);
int ct_graph_edge_as(struct ct_graph *graph, const struct ct_edge *edge, bool is_new, uint32_t *id,
                     uint32_t *number);

/* Return the node or edge with a number in a graph, which may share. */
struct ct_node ct_graph_node_at(const struct ct_graph *graph, uint32_t node);
struct ct_edge ct_graph_edge_at(const struct ct_graph *graph, uint32_t edge);

/* Set *number to the number in `graph` of a node or an edge of a part, and add it when it is new. The graph
 * shares the program with the part; it must have the node of the edge. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_graph_take_node(struct ct_graph *graph, const struct ct_graph *part, uint32_t node, uint32_t *number);
int ct_graph_take_edge(struct ct_graph *graph, const struct ct_graph *part, uint32_t edge, uint32_t *number);

/* Sets `numbers` to the numbers in `graph` of the edges with shared numbers, in their order. Adds those that
 * are new, each after its node if that is new, too. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_graph_take_shared_edges(struct ct_graph *graph, const uint32_t *ids, size_t count, uint32_t *numbers);

/* Return the shared number of a node or an edge of a part. */
uint32_t ct_graph_node_id(const struct ct_graph *part, uint32_t node);
uint32_t ct_graph_edge_id(const struct ct_graph *part, uint32_t edge);

/* Set *number to the number in `graph` of the node or edge with a shared number. Return false when it is not
 * there. */
bool ct_graph_has_node(const struct ct_graph *graph, uint32_t id, uint32_t *number);
bool ct_graph_has_edge(const struct ct_graph *graph, uint32_t id, uint32_t *number);

/* ---- blocks ---- */

/* Returns the maximal number of shared blocks. Other blocks of a part are numbered from there on. */
uint32_t ct_shared_program_most(const struct ct_shared_program *p);

/* Returns the block with a number, which must be published. */
struct ct_shared_block *ct_shared_program_block(const struct ct_shared_program *p, uint32_t number);

/* Returns the number of the block at an address, or 0 when no part reached it. */
uint32_t ct_shared_program_find(struct ct_shared_program *p, const struct ct_block *at);

/* Sets *number to the number of a block, and adds the block when it is new; to 0 when there is no room for
 * more. CT_ERR_NOMEM. */
int ct_shared_program_add(struct ct_shared_program *p, const struct ct_block *block,
                          const struct ct_block_info *info, uint32_t *number);

/* Sets *domain to the number of a memory and a context, and adds them when they are new; `context` is NULL
 * where contexts are not told apart. *domain is CT_SHARED_DOMAINS when there is no room for more.
 * CT_ERR_NOMEM. */
int ct_shared_program_domain(struct ct_shared_program *p, uint32_t memory,
                             const struct ct_edge_context *context, uint32_t *domain);
