/* Edge statistics, for those who count many steps at once. */
#ifndef CT_FLOW_EDGE_TABLE_H
#define CT_FLOW_EDGE_TABLE_H

#include "coretap/edges.h"

/* The place of the current context, in which a step is certain to come. CT_ERR_NOMEM. */
int ct_edges_enter(struct ct_edges *edges, size_t *context);

/* As ct_edges_add_stats, in the context at a place. */
int ct_edges_add_at(struct ct_edges *edges, size_t context, uint32_t edge, const struct ct_edge_stats *stats);

#endif
