/* SPDX-License-Identifier: Apache-2.0 */
/* coretap edges: how often each edge was traversed, and how many cycles that took, by context. A chain gives
 * one for each stream when the options ask for counts. By hand, from batches of steps:
 *
 *     ct_edges_new(ctx, NULL, &edges);
 *     ct_edges_add(edges, batch);    // each batch
 *     struct ct_edge_stats all = ct_edges_get(edges, CT_EDGES_ALL, 0);
 *     printf("edge 0: %llu times\n", (unsigned long long)all.count);
 *     ct_edges_free(edges); */
#ifndef CORETAP_EDGES_H
#define CORETAP_EDGES_H

#include "coretap/base.h"
#include "coretap/steps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Statistics of one edge. Cycles are those of its timed steps, including shares of common cycle counts. */
struct ct_edge_stats {
    uint64_t count;     /* traversals */
    uint64_t timed;     /* traversals whose cycles are known */
    uint64_t sum;       /* cycles of those */
    uint64_t square_lo; /* sum of the squares of the cycles: the lower 64 bits */
    uint64_t square_hi; /* sum of the squares of the cycles: the upper 64 bits */
    uint32_t min, max;  /* fewest and most cycles of one traversal; 0 when `timed` is 0 */
};

/* The context in which code ran, from a CONTEXT element; before the first one `known` is 0. */
struct ct_edge_context {
    uint32_t ctxt; /* context ID */
    uint32_t vmid;
    uint8_t el_sec; /* as in packets: exception level in bits 1:0, security state in 5:4 */
    uint8_t known;  /* enum ct_elem_context: SF, CTXT, VMID, EL */
    uint8_t others; /* 1: stands for all contexts beyond the limit */
    uint8_t pad;    /* 0 */
    uint32_t edges; /* edges with this number and higher ones were not traversed in it */
    uint64_t steps; /* traversals */
};

/* Sums over all contexts. */
struct ct_edge_totals {
    uint64_t steps;
    uint64_t cycles;   /* of steps */
    uint64_t unplaced; /* cycles of CYCLES marks; 0 where only traversals are counted */
};

struct ct_edges;

struct ct_edges_options {
    size_t size;           /* sizeof(struct ct_edges_options) */
    uint32_t max_contexts; /* contexts that are told apart, 1 to 65536; 0: 256. All others are counted
                              together */
};

/* Makes an empty table; `options` may be NULL. Takes 48 bytes for each edge of each context, in blocks of 256
 * edges. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_edges_new(struct ct_ctx *ctx, const struct ct_edges_options *options, struct ct_edges **out);
CT_API void ct_edges_free(struct ct_edges *edges);

/* Adds the steps of one batch. Batches come in the order of one stream; CONTEXT marks in them set the
 * context. CT_ERR_NOMEM. */
CT_API int ct_edges_add(struct ct_edges *edges, const struct ct_step_batch *batch);

/* Sets the context of the steps that follow, from a CONTEXT element. */
CT_API void ct_edges_set_context(struct ct_edges *edges, const struct ct_elem *context);

/* Adds statistics to `edge`, which is below CT_GRAPH_MAX, in the current context. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_edges_add_stats(struct ct_edges *edges, uint32_t edge, const struct ct_edge_stats *stats);

/* Compares contexts by who ran, as for qsort: negative, zero or positive. `edges` and `steps` are not
 * compared. */
CT_API int ct_edge_context_order(const struct ct_edge_context *a, const struct ct_edge_context *b);

/* Returns the contexts, in the order of their first step. */
CT_API const struct ct_edge_context *ct_edges_contexts(const struct ct_edges *edges, size_t *count);

/* Returns the statistics of an edge in one context; CT_EDGES_ALL: in all contexts. Zeros when it was not
 * traversed. */
#define CT_EDGES_ALL SIZE_MAX
CT_API struct ct_edge_stats ct_edges_get(const struct ct_edges *edges, size_t context, uint32_t edge);

/* Returns the sums over all contexts. */
CT_API struct ct_edge_totals ct_edges_totals(const struct ct_edges *edges);

#ifdef __cplusplus
}
#endif
#endif
