/* SPDX-License-Identifier: Apache-2.0 */
/* coretap edge_events: an event for each traversal of an edge of the waypoint graph, with its number and the
 * cycles that it took (paper 2, section II-B). Events are eight bytes each, in the order of execution.
 *
 *     struct ct_graph *edges;
 *     struct ct_edge_events *events;
 *     ct_graph_new(ctx, &edges);
 *     ct_edge_events_new(ctx, edges, write, file, &events);
 *     ct_edge_events_begin(events, 0, 0x10);
 *     ct_edge_events_take(events, &batch); */
#ifndef CORETAP_EDGE_EVENTS_H
#define CORETAP_EDGE_EVENTS_H

#include "coretap/base.h"
#include "coretap/graph.h"
#include "coretap/steps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* First eight bytes of a file of events: "CTEDGES" and the version. */
#define CT_EDGE_EVENTS_MAGIC "CTEDGES\1"

/* An event. In a file both numbers are little-endian. */
struct ct_edge_event {
    /* Of the edge, in the order of first traversal by all streams; from CT_EDGE_EVENT_OTHER on: what else
     * happened, CT_EDGE_EVENT_OTHER and enum ct_edge_event_kind. */
    uint32_t number;
    /* Since execution came to the edge's node, so since the traversal before, also where a filter left that
     * out; CT_EDGE_EVENT_UNCOUNTED: not known. Others: see their kind. */
    uint32_t cycles;
};

#define CT_EDGE_EVENT_UNCOUNTED UINT32_MAX
#define CT_EDGE_EVENT_OTHER     UINT32_C(0xffffff00)

/* What is in `cycles` in place of them. Behind a WIDE kind eight bytes follow that are no event. */
enum ct_edge_event_kind {
    CT_EDGE_EVENT_STREAM,    /* a stream begins: its trace ID in bits 7:0, the number of its buffer above */
    CT_EDGE_EVENT_SYNC,      /* a point of synchronisation; 1: decoding (re)starts here */
    CT_EDGE_EVENT_ON,        /* tracing was switched on: enum ct_trace_on */
    CT_EDGE_EVENT_GAP,       /* trace is missing from here on: enum ct_gap */
    CT_EDGE_EVENT_OVERFLOW,  /* the same, because the trace unit overflowed; 0 */
    CT_EDGE_EVENT_NO_ACCESS, /* what ran here is not seen: no image has code there; 0 */
    CT_EDGE_EVENT_EXCEPTION, /* number, as traced */
    CT_EDGE_EVENT_RETURN,    /* from an exception; 0 */
    CT_EDGE_EVENT_CONTEXT,   /* the context ID from here on; UINT32_MAX: not known */
    CT_EDGE_EVENT_CYCLES,    /* cycles that belong to no edge; at most UINT32_MAX */
    CT_EDGE_EVENT_END,       /* the stream is over; 0 */
    CT_EDGE_EVENT_WIDE = 0x80,
    CT_EDGE_EVENT_TIMESTAMP = 0x80, /* 0; the eight bytes are the timestamp, little-endian */
};

struct ct_edge_events;

/* Makes an object that writes events. The edges of all streams are numbered in `edges` (not owned), which may
 * be shared with other objects in the same thread. `write` gets events, the magic first, in large pieces.
 * CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_edge_events_new(struct ct_ctx *ctx, struct ct_graph *edges, ct_write_fn *write, void *user,
                              struct ct_edge_events **out);
CT_API void ct_edge_events_free(struct ct_edge_events *events);

/* Begins a stream: the number of its buffer in the capture, and its trace ID. CT_ERR_ARG, what `write`
 * returned. */
CT_API int ct_edge_events_begin(struct ct_edge_events *events, uint32_t buffer, uint8_t id);

/* Takes a batch of steps of the stream. CT_ERR_ARG, CT_ERR_NOMEM; CT_ERR_LIMIT with more than CT_GRAPH_MAX
 * edges; what `write` returned. */
CT_API int ct_edge_events_take(struct ct_edge_events *events, const struct ct_step_batch *batch);

/* Hands out what is held back. CT_ERR_ARG, what `write` returned. */
CT_API int ct_edge_events_flush(struct ct_edge_events *events);

/* Returns how many edges were traversed so far: events that are not of another kind. */
CT_API uint64_t ct_edge_events_count(const struct ct_edge_events *events);

#ifdef __cplusplus
}
#endif
#endif
