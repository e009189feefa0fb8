/* SPDX-License-Identifier: Apache-2.0 */
/* Edge statistics, for those who count many steps at once. */
#ifndef CT_FLOW_EDGE_TABLE_H
#define CT_FLOW_EDGE_TABLE_H

#include <stdbool.h>

#include "base/seam.h"
#include "coretap/edges.h"

/* The place of the current context, in which a step is certain to come. CT_ERR_NOMEM. */
int ct_edges_enter(struct ct_edges *edges, size_t *context);

/* As ct_edges_add_stats, in the context at a place. */
int ct_edges_add_at(struct ct_edges *edges, size_t context, uint32_t edge, const struct ct_edge_stats *stats);

/* The number of a node or edge that is there; false when it is not. */
bool ct_graph_find_node(const struct ct_graph *graph, const struct ct_node *node, uint32_t *number);
bool ct_graph_find_edge(const struct ct_graph *graph, const struct ct_edge *edge, uint32_t *number);

/* Numbers of one graph in another one. */
struct ct_graph_map {
    uint32_t *nodes, *edges;
    uint32_t node_count, edge_count; /* that are known */
};

void ct_graph_map_free(struct ct_graph_map *map);

/* Whether `graph` has the first so many nodes and edges of `part`, which the map knows then. CT_ERR_NOMEM. */
int ct_graph_map_known(struct ct_graph_map *map, struct ct_ctx *ctx, const struct ct_graph *graph,
                       const struct ct_graph *part, uint32_t nodes, uint32_t edges, bool *known);

/* A table for a part of a trace, to be taken by another one. It tells more contexts apart than that one does,
 * and has to be taken and emptied before they are more than it can hold. */
void ct_edges_make_part(struct ct_edges *part);
bool ct_edges_part_is_full(const struct ct_edges *part);

/* Adds what a part has, whose numbers are those of `part_graph`, and leaves zeros there. `graph` gets all of
 * its nodes and edges in their order: when the parts of a trace are taken in order it is numbered as that of
 * the whole. `map` is kept from one call to the next. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_edges_take(struct ct_edges *edges, struct ct_graph *graph, struct ct_edges *part,
                  const struct ct_graph *part_graph, struct ct_graph_map *map);

/* Leaves zeros. */
void ct_edges_drop(struct ct_edges *part);

/* The contexts of a part that was taken, for numbers of which nobody has a use any more. */
void ct_edges_forget_contexts(struct ct_edges *part);

/* The context, of which all that comes depends. */
void ct_edges_seam(const struct ct_edges *edges, struct ct_seam *seam);

#endif
