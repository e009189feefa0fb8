/* SPDX-License-Identifier: Apache-2.0 */
/* Edge statistics for engines that count many steps at once, and for the parts of a trace whose counts are
 * merged. */
#pragma once

#include <stdbool.h>

#include "base/seam.h"
#include "coretap/edges.h"
#include "flow/graph_map.h"

/* Finds the index of the current context, and adds the context when it is new. The caller must then count a
 * step in it. CT_ERR_NOMEM. */
int ct_edges_enter(struct ct_edges *edges, size_t *context);

/* Adds statistics of an edge as ct_edges_add_stats does, but in the context with an index. */
int ct_edges_add_at(struct ct_edges *edges, size_t context, uint32_t edge, const struct ct_edge_stats *stats);

/* Makes `part` the table of a part of a trace, which ct_edges_take adds to the table of the whole. It holds
 * more contexts than that table. Once ct_edges_part_is_full returns true, it has to be taken and emptied. */
void ct_edges_make_part(struct ct_edges *part);
bool ct_edges_part_is_full(const struct ct_edges *part);

/* Adds the counts of a part, whose edges are numbered as in `part_graph`, and zeroes them there. `graph` gets
 * all nodes and edges of the part (ct_graph_map_all). `map` is kept from call to call. CT_ERR_NOMEM,
 * CT_ERR_LIMIT. */
int ct_edges_take(struct ct_edges *edges, struct ct_graph *graph, struct ct_edges *part,
                  struct ct_graph *part_graph, struct ct_graph_map *map);

/* Zeroes the counts of a part without adding them to another table. */
void ct_edges_drop(struct ct_edges *part);

/* Empties the list of contexts of a part that was taken. Their indices are then invalid. */
void ct_edges_forget_contexts(struct ct_edges *part);

/* Saves the current context, on which the counts of all later steps depend. */
void ct_edges_seam(const struct ct_edges *edges, struct ct_seam *seam);
