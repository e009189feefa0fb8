/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers that nodes and edges of a part of a trace have in the graph of the whole trace. Each part has a
 * graph of its own, to which its thread adds without a lock. The thread that puts the parts together finds
 * the entries of the part in the graph of the whole by their content, each of them once. */
#pragma once

#include <stdbool.h>

#include "coretap/graph.h"

struct ct_graph_map {
    struct ct_ctx *ctx;                /* set by the owner */
    uint32_t *nodes, *edges;           /* by number in the part: the number in the whole, or UINT32_MAX */
    uint32_t node_room, edge_room;     /* entries of these arrays */
    uint32_t node_count, edge_count;   /* all numbers below have been mapped by ct_graph_map_all */
    uint32_t noted_nodes, noted_edges; /* see ct_graph_map_note */
};

void ct_graph_map_free(struct ct_graph_map *map);

/* Sets `numbers` to the numbers in `whole` of edges of a part, in their order. Adds those that are new, each
 * after its node if that is new, too. Another thread may use the part meanwhile. CT_ERR_NOMEM,
 * CT_ERR_LIMIT. */
int ct_graph_map_edges(struct ct_graph_map *map, struct ct_graph *whole, struct ct_graph *part,
                       const uint32_t *edges, size_t count, uint32_t *numbers);

/* Adds all nodes and edges of a part to `whole`, in their order: when the parts of a trace are added in
 * order, `whole` is numbered as the graph of the whole trace. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_graph_map_all(struct ct_graph_map *map, struct ct_graph *whole, struct ct_graph *part);

/* Records how many nodes and edges the part has. */
void ct_graph_map_note(struct ct_graph_map *map, const struct ct_graph *part);

/* Returns whether `whole` has all nodes and edges that the part had when ct_graph_map_note was called. False
 * also when there was no memory to find out. Another thread may use the part meanwhile. */
bool ct_graph_map_known(struct ct_graph_map *map, struct ct_graph *whole, struct ct_graph *part);
