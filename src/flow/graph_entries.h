/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of a program graph (coretap/graph.h) for the engine that makes it, and for a thread that reads a
 * graph to which another thread adds. */
#pragma once

#include <stdbool.h>

#include "coretap/graph.h"

/* Do what ct_graph_node and ct_graph_edge do for a node or an edge that was not given to these functions
 * before. It is looked up only if ct_graph_node and the like may have added it. The node of an edge must be
 * in the graph. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_graph_new_node(struct ct_graph *graph, const struct ct_node *node, uint32_t *number);
int ct_graph_new_edge(struct ct_graph *graph, const struct ct_edge *edge, uint32_t *number);

/* Set *number to the number of a node or an edge. Return false when the graph does not have it, and when
 * there was no memory to find out. */
bool ct_graph_has_node(struct ct_graph *graph, const struct ct_node *node, uint32_t *number);
bool ct_graph_has_edge(struct ct_graph *graph, const struct ct_edge *edge, uint32_t *number);

/* Return the node or edge with a number. Another thread may add to the graph meanwhile. */
struct ct_node ct_graph_copy_node(struct ct_graph *graph, uint32_t node);
struct ct_edge ct_graph_copy_edge(struct ct_graph *graph, uint32_t edge);
