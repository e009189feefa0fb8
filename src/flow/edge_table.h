/* SPDX-License-Identifier: Apache-2.0 */
/* Edge statistics for engines that count many steps at once, and for parts of a trace whose counts are
 * merged. */
#ifndef CT_FLOW_EDGE_TABLE_H
#define CT_FLOW_EDGE_TABLE_H

#include <stdbool.h>

#include "base/seam.h"
#include "coretap/edges.h"

/* Finds the index of the current context, which is made when it has none; a step in it has to follow.
 * CT_ERR_NOMEM. */
int ct_edges_enter(struct ct_edges *edges, size_t *context);

/* Adds statistics as ct_edges_add_stats does, in the context with an index. */
int ct_edges_add_at(struct ct_edges *edges, size_t context, uint32_t edge, const struct ct_edge_stats *stats);

/* Maps the numbers of nodes and edges of one graph to those of another. */
struct ct_graph_map {
    uint32_t *nodes, *edges;
    uint32_t node_count, edge_count;   /* how many nodes and edges are mapped */
    uint32_t noted_nodes, noted_edges; /* up to where the arrays have shared numbers */
};

void ct_graph_map_free(struct ct_graph_map *map);

/* Notes which nodes and edges `part` has now that are not mapped yet. CT_ERR_NOMEM. */
int ct_graph_map_note(struct ct_graph_map *map, struct ct_ctx *ctx, const struct ct_graph *part);

/* Returns whether `graph`, which shares the program of the part, has all that was noted; the map then has
 * their numbers. The part may be in use by another thread. */
bool ct_graph_map_known(struct ct_graph_map *map, const struct ct_graph *graph);

/* Makes the table that of a part of a trace, which the table of the whole takes later. It tells more contexts
 * apart than that one does, and has to be taken and emptied before they are more than it can hold. */
void ct_edges_make_part(struct ct_edges *part);
bool ct_edges_part_is_full(const struct ct_edges *part);

/* Adds the counts of a part, whose numbers are those of `part_graph`, and zeroes them there. `graph` shares
 * the program with it and gets all of its nodes and edges in their order: when the parts of a trace are taken
 * in order it is numbered as that of the whole. `map` is kept from one call to the next. CT_ERR_NOMEM,
 * CT_ERR_LIMIT. */
int ct_edges_take(struct ct_edges *edges, struct ct_graph *graph, struct ct_edges *part,
                  const struct ct_graph *part_graph, struct ct_graph_map *map);

/* Zeroes the counts of a part that nobody takes. */
void ct_edges_drop(struct ct_edges *part);

/* Empties the list of contexts of a part that was taken. Nobody may use their indices any more. */
void ct_edges_forget_contexts(struct ct_edges *part);

/* Saves the current context, on which the counts of all later steps depend. */
void ct_edges_seam(const struct ct_edges *edges, struct ct_seam *seam);

#endif
