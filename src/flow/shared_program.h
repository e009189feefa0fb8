/* SPDX-License-Identifier: Apache-2.0 */
/* The program as the parts of one stream meet it: its graph and its blocks, under numbers that are the same
 * in all parts. What was published never changes, but for the links of blocks, which are only added. Each
 * part copies what it comes to, numbers it by its own way and counts by itself; so its results do not depend
 * on what other threads do. */
#ifndef CT_FLOW_SHARED_PROGRAM_H
#define CT_FLOW_SHARED_PROGRAM_H

#include "coretap/edges.h"
#include "flow/blocks.h"

/* A block as it was read, and what parts found out about it. The members behind `next_same` are 0 or
 * CT_NO_NUMBER until they are known. They are read and written by all threads at once. */
struct ct_shared_block {
    struct ct_block block; /* without links, numbers and counts */
    struct ct_block_info info;
    uint32_t next_same; /* the next block in the same slot of the index; guarded by the lock */
    uint32_t next[2];   /* blocks that follow, as in struct ct_block */
    uint32_t node;      /* its shared number */
    uint32_t edge[2];   /* the shared numbers of the edges to there */
};

struct ct_shared_program;

/* Makes an empty program, which the caller holds, for at most `most` blocks, less than CT_BLOCKS_MAX.
 * CT_ERR_NOMEM. */
int ct_shared_program_new(struct ct_ctx *ctx, uint32_t most, struct ct_shared_program **out);

/* Keep the program, and let it go; who is the last one to do that frees it. NULL is no program. */
struct ct_shared_program *ct_shared_program_hold(struct ct_shared_program *p);
void ct_shared_program_release(struct ct_shared_program *p);

/* Returns the place of a number that all parts read and write: how long hops of ETMv4 rest the next time, in
 * bytes, 0 at first. */
uint64_t *ct_shared_program_rest(struct ct_shared_program *p);

/* ---- the graph ---- */

/* Return the shared number of a node or an edge, which is added when it is new. CT_ERR_NOMEM,
 * CT_ERR_LIMIT. */
int ct_shared_program_node(struct ct_shared_program *p, const struct ct_node *node, uint32_t *id);
int ct_shared_program_edge(struct ct_shared_program *p, const struct ct_edge *edge, uint32_t *id);

/* Return what has a shared number. */
struct ct_node ct_shared_program_node_at(struct ct_shared_program *p, uint32_t id);
struct ct_edge ct_shared_program_edge_at(struct ct_shared_program *p, uint32_t id);

/* Lets an empty graph share nodes and edges. Its own numbers stay in the order of the first traversals. With
 * `numbers_alone` it keeps no nodes and edges besides, so that ct_graph_nodes and ct_graph_edges only count
 * them. */
void ct_graph_share(struct ct_graph *graph, struct ct_shared_program *shared, bool numbers_alone);

/* The same as ct_graph_node and ct_graph_edge. `is_new`: these functions were not given it before. `id` is
 * where the shared number is kept, or NULL; if it is not there yet, it is looked for and put there. */
int ct_graph_node_as(struct ct_graph *graph, const struct ct_node *node, bool is_new, uint32_t *id,
                     uint32_t *number);
int ct_graph_edge_as(struct ct_graph *graph, const struct ct_edge *edge, bool is_new, uint32_t *id,
                     uint32_t *number);

/* Return what has a number in a graph, which may share. */
struct ct_node ct_graph_node_at(const struct ct_graph *graph, uint32_t node);
struct ct_edge ct_graph_edge_at(const struct ct_graph *graph, uint32_t edge);

/* Return the number that a node or an edge of a part has in `graph`, which shares the same program and gets
 * it when it is new; the node of an edge has to be there. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_graph_take_node(struct ct_graph *graph, const struct ct_graph *part, uint32_t node, uint32_t *number);
int ct_graph_take_edge(struct ct_graph *graph, const struct ct_graph *part, uint32_t edge, uint32_t *number);

/* Return the shared number of a node or an edge of a part. */
uint32_t ct_graph_node_id(const struct ct_graph *part, uint32_t node);
uint32_t ct_graph_edge_id(const struct ct_graph *part, uint32_t edge);

/* Find the number in `graph` of what has a shared number; they return false when it is not there. */
bool ct_graph_has_node(const struct ct_graph *graph, uint32_t id, uint32_t *number);
bool ct_graph_has_edge(const struct ct_graph *graph, uint32_t id, uint32_t *number);

/* ---- blocks ---- */

/* Blocks of a part that are not shared have numbers from here on. */
uint32_t ct_shared_program_most(const struct ct_shared_program *p);

/* Returns the block of a number that was published. */
struct ct_shared_block *ct_shared_program_block(const struct ct_shared_program *p, uint32_t number);

/* Finds the number of the block at an address. 0: nobody came there. */
uint32_t ct_shared_program_find(struct ct_shared_program *p, const struct ct_block *at);

/* Adds a block unless it is there by now. *number is 0 when there is no room for more. CT_ERR_NOMEM. */
int ct_shared_program_add(struct ct_shared_program *p, const struct ct_block *block,
                          const struct ct_block_info *info, uint32_t *number);

/* Finds the number of a memory and a context, which is added when it is new; `context` is NULL where contexts
 * are not told apart. *domain is CT_SHARED_DOMAINS when there is no room for more. CT_ERR_NOMEM. */
int ct_shared_program_domain(struct ct_shared_program *p, uint32_t memory,
                             const struct ct_edge_context *context, uint32_t *domain);

#endif
