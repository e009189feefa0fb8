/* SPDX-License-Identifier: Apache-2.0 */
/* coretap graph: the graph of the code that ran. Nodes are pieces of straight-line code, edges lead from one
 * to the next. Both have 32-bit numbers in the order of their first traversal. The arrays only grow, and an
 * entry never changes. What ran, as pieces of code:
 *
 *     const struct ct_node *nodes = ct_graph_nodes(graph, &node_count);
 *     const struct ct_edge *edges = ct_graph_edges(graph, &edge_count);
 *     for (uint32_t i = 0; i < edge_count; i++)
 *         if (edges[i].kind == CT_EDGE_NEXT)
 *             printf("0x%llx -> 0x%llx\n", (unsigned long long)nodes[edges[i].from].last,
 *                    (unsigned long long)edges[i].next);
 *
 * The arrays of a graph that grows move: take them again with each batch. */
#ifndef CORETAP_GRAPH_H
#define CORETAP_GRAPH_H

#include "coretap/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_node_flag {
    /* The node ends before a waypoint: at an exception, the end of the images, a single instruction
     * (ETMv3). */
    CT_NODE_CUT = 1,
    /* The node is n instructions from start on, in an unknown order (Q); last and end are start. */
    CT_NODE_NOPATH = 2,
};

/* A node: consecutive instructions. */
struct ct_node {
    uint64_t start;    /* address of the first instruction */
    uint64_t last;     /* address of the last instruction, which is a waypoint unless CUT */
    uint64_t end;      /* address after the last instruction */
    uint32_t n;        /* number of instructions; may be 0 for NOPATH, meaning unknown */
    uint8_t space;     /* enum ct_space: the memory space that they were read from */
    uint8_t isa;       /* enum ct_isa */
    uint8_t type;      /* of the last instruction: enum ct_insn_type */
    uint8_t sub;       /* enum ct_insn_sub */
    uint8_t cond;      /* 1: the last instruction is conditional */
    uint8_t last_size; /* its size in bytes */
    uint8_t flags;     /* enum ct_node_flag */
    uint8_t pad;       /* 0 */
    uint32_t memory;   /* number of the memory generation (ct_maps_generation), or 0 */
};

/* A set of memories, by number. */
struct ct_memory_set {
    const uint8_t *has; /* 1 for each memory in the set; NULL: all are */
    size_t count;       /* length of `has`; higher numbers are not in the set */
};

/* Returns whether memory `number` is in the set. */
static inline int ct_memory_set_has(const struct ct_memory_set *set, uint32_t number)
{
    return !set->has || (number < set->count && set->has[number]);
}

enum ct_edge_kind {
    CT_EDGE_NEXT,        /* execution continued at `next` */
    CT_EDGE_INTERRUPTED, /* an exception was taken; `next` is its preferred return address, 0 when the trace
                            does not contain it. Its mark comes directly after the step */
    CT_EDGE_OPEN,        /* what ran next is unknown (gap, tracing off, no access): `next` is 0 */
};

/* An edge: execution leaves a node for an address. */
struct ct_edge {
    uint64_t next;  /* address */
    uint32_t from;  /* number of the node */
    uint8_t exec;   /* 1: the last instruction was executed (a branch: taken); 0: it was not (N atom) */
    uint8_t kind;   /* enum ct_edge_kind */
    uint8_t pad[2]; /* 0 */
};

/* Maximal number of nodes, and of edges, in a graph: 40 bytes for a node, 16 for an edge and 16 for each in
 * the index, so 730 MB. */
#define CT_GRAPH_MAX (UINT32_C(1) << 23)

struct ct_graph;

/* Makes an empty graph. CT_ERR_NOMEM. */
CT_API int ct_graph_new(struct ct_ctx *ctx, struct ct_graph **out);
CT_API void ct_graph_free(struct ct_graph *graph);

/* Finds the number of a node or an edge, or adds it. Two are the same when all their members are equal.
 * CT_ERR_ARG for an edge whose node does not exist; CT_ERR_NOMEM; CT_ERR_LIMIT beyond CT_GRAPH_MAX. */
CT_API int ct_graph_node(struct ct_graph *graph, const struct ct_node *node, uint32_t *number);
CT_API int ct_graph_edge(struct ct_graph *graph, const struct ct_edge *edge, uint32_t *number);

/* Adds nodes and edges that the graph is known not to have, without a search; their numbers follow the
 * existing ones. The node of an edge must exist or be among the nodes. CT_ERR_ARG, CT_ERR_NOMEM; CT_ERR_LIMIT
 * beyond CT_GRAPH_MAX. */
CT_API int ct_graph_append(struct ct_graph *graph, const struct ct_node *nodes, uint32_t node_count,
                           const struct ct_edge *edges, uint32_t edge_count);

/* Returns all nodes and all edges, by number. Borrowed until the next one is added. */
CT_API const struct ct_node *ct_graph_nodes(const struct ct_graph *graph, uint32_t *count);
CT_API const struct ct_edge *ct_graph_edges(const struct ct_graph *graph, uint32_t *count);

#ifdef __cplusplus
}
#endif
#endif
