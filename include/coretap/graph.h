/* SPDX-License-Identifier: Apache-2.0 */
/* coretap graph: what the runs along the binary consist of. Nodes are pieces of straight code, edges the ways
 * out of them. Both have 32-bit numbers in the order of their first traversal; the arrays only grow, and an
 * entry never changes once it is made. */
#ifndef CORETAP_GRAPH_H
#define CORETAP_GRAPH_H

#include "coretap/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_node_flag {
    /* The node ends before a waypoint: an exception, the end of the images, a single instruction (ETMv3). */
    CT_NODE_CUT = 1,
    /* The node is n instructions from start on, in an unknown order (Q); last and end are start. */
    CT_NODE_NOPATH = 2,
};

/* Instructions one behind the other. */
struct ct_node {
    uint64_t start;    /* address of the first instruction */
    uint64_t last;     /* address of the last instruction, which is a waypoint unless CUT */
    uint64_t end;      /* behind it */
    uint32_t n;        /* instructions; 0 is possible for NOPATH: their number is not known */
    uint8_t space;     /* enum ct_space: the memory space in which they were read */
    uint8_t isa;       /* enum ct_isa */
    uint8_t type;      /* of the last instruction: enum ct_insn_type */
    uint8_t sub;       /* enum ct_insn_sub */
    uint8_t cond;      /* 1: the last instruction is conditional */
    uint8_t last_size; /* bytes of it */
    uint8_t flags;     /* enum ct_node_flag */
    uint8_t pad;       /* 0 */
    uint32_t memory;   /* of the generation (ct_maps_generation), or 0 */
};

/* Memories by their number. */
struct ct_memory_set {
    const uint8_t *has; /* 1 for those that are in it; NULL: all are */
    size_t count;       /* of `has`; those behind are not in it */
};

/* Tells whether memory `number` is in the set. */
static inline int ct_memory_set_has(const struct ct_memory_set *set, uint32_t number)
{
    return !set->has || (number < set->count && set->has[number]);
}

enum ct_edge_kind {
    CT_EDGE_NEXT,        /* execution went on at `next` */
    CT_EDGE_INTERRUPTED, /* an exception was taken; `next` is its preferred return address, 0 when the trace
                            does not tell. Its mark is right behind the step */
    CT_EDGE_OPEN,        /* what came next is not known (gap, tracing off, no access): `next` is 0 */
};

/* One way out of a node. */
struct ct_edge {
    uint64_t next;  /* address */
    uint32_t from;  /* number of the node */
    uint8_t exec;   /* 1: the last instruction was executed (a branch: taken); 0: it was not (N atom) */
    uint8_t kind;   /* enum ct_edge_kind */
    uint8_t pad[2]; /* 0 */
};

/* Nodes, and edges, of a graph at most: 40 bytes a node, 16 an edge and 16
 * for the index of each, so 730 MB. */
#define CT_GRAPH_MAX (UINT32_C(1) << 23)

struct ct_graph;

/* Makes an empty graph. CT_ERR_NOMEM. */
CT_API int ct_graph_new(struct ct_ctx *ctx, struct ct_graph **out);
CT_API void ct_graph_free(struct ct_graph *graph);

/* Gives the number of a node or an edge, which is added when it is not there. Two are the same when they are
 * equal in all their members. CT_ERR_ARG for an edge whose node is not there yet; CT_ERR_NOMEM; CT_ERR_LIMIT
 * when there are CT_GRAPH_MAX. */
CT_API int ct_graph_node(struct ct_graph *graph, const struct ct_node *node, uint32_t *number);
CT_API int ct_graph_edge(struct ct_graph *graph, const struct ct_edge *edge, uint32_t *number);

/* Adds nodes and edges that the graph does not have, without looking for them; their numbers follow those
 * that are there. An edge's node has to be there or among the nodes. CT_ERR_ARG, CT_ERR_NOMEM; CT_ERR_LIMIT
 * when there are CT_GRAPH_MAX. */
CT_API int ct_graph_append(struct ct_graph *graph, const struct ct_node *nodes, uint32_t node_count,
                           const struct ct_edge *edges, uint32_t edge_count);

/* Returns all nodes and all edges, by number. Borrowed until the next one is added. */
CT_API const struct ct_node *ct_graph_nodes(const struct ct_graph *graph, uint32_t *count);
CT_API const struct ct_edge *ct_graph_edges(const struct ct_graph *graph, uint32_t *count);

#ifdef __cplusplus
}
#endif
#endif
