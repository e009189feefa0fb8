/* SPDX-License-Identifier: Apache-2.0 */
/* coretap edge_events: one event for each traversal of an edge of the waypoint graph, with the edge's number
 * and the cycles that it took (paper 2, section II-B). An event has eight bytes; events are in execution
 * order.
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

/* The first eight bytes of a file of events: "CTEDGES" and the version. */
#define CT_EDGE_EVENTS_MAGIC "CTEDGES\1"

/* An event. In a file both numbers are little-endian. */
struct ct_edge_event {
    /* Number of the edge, in the order of first traversal by all streams. CT_EDGE_EVENT_OTHER plus an enum
     * ct_edge_event_kind stands for an event of another kind. */
    uint32_t number;
    /* Cycles since the previous traversal, also when a filter left that one out; CT_EDGE_EVENT_UNCOUNTED:
     * unknown. For other kinds a value that depends on the kind. */
    uint32_t cycles;
};

#define CT_EDGE_EVENT_UNCOUNTED UINT32_MAX
#define CT_EDGE_EVENT_OTHER     UINT32_C(0xffffff00)

/* Other kinds of events, with the meaning of `cycles`. Eight bytes follow an event of a WIDE kind; they are
 * not an event. */
enum ct_edge_event_kind {
    CT_EDGE_EVENT_STREAM,    /* a stream begins: its trace ID in bits 7:0, the number of its buffer above */
    CT_EDGE_EVENT_SYNC,      /* a synchronisation point; 1: decoding (re)starts here */
    CT_EDGE_EVENT_ON,        /* tracing was switched on: enum ct_trace_on */
    CT_EDGE_EVENT_GAP,       /* trace is missing from here on: enum ct_gap */
    CT_EDGE_EVENT_OVERFLOW,  /* like GAP, because the trace unit overflowed; 0 */
    CT_EDGE_EVENT_NO_ACCESS, /* no image has the code that ran here; 0 */
    CT_EDGE_EVENT_EXCEPTION, /* number of the exception, as traced */
    CT_EDGE_EVENT_RETURN,    /* from an exception; 0 */
    CT_EDGE_EVENT_CONTEXT,   /* the context ID from here on; UINT32_MAX: unknown */
    CT_EDGE_EVENT_CYCLES,    /* cycles that belong to no edge; at most UINT32_MAX */
    CT_EDGE_EVENT_END,       /* the stream ends; 0 */
    CT_EDGE_EVENT_WIDE = 0x80,
    CT_EDGE_EVENT_TIMESTAMP = 0x80, /* 0; the eight bytes are the timestamp, little-endian */
};

struct ct_edge_events;

/* Makes an object that writes events. The edges of all streams are numbered in `edges` (not owned), which
 * other objects in the same thread may share. `write` gets the magic, then events in large pieces.
 * CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_edge_events_new(struct ct_ctx *ctx, struct ct_graph *edges, ct_write_fn *write, void *user,
                              struct ct_edge_events **out);
CT_API void ct_edge_events_free(struct ct_edge_events *events);

/* Begins a stream, given by the number of its buffer in the capture and its trace ID. CT_ERR_ARG, what
 * `write` returned. */
CT_API int ct_edge_events_begin(struct ct_edge_events *events, uint32_t buffer, uint8_t id);

/* Takes a batch of steps of the stream. CT_ERR_ARG, also before a stream has begun; CT_ERR_NOMEM;
 * CT_ERR_LIMIT with more than CT_GRAPH_MAX edges; what `write` returned. */
CT_API int ct_edge_events_take(struct ct_edge_events *events, const struct ct_step_batch *batch);

/* Writes the events that are still buffered. CT_ERR_ARG, what `write` returned. */
CT_API int ct_edge_events_flush(struct ct_edge_events *events);

/* Returns how many edges were traversed so far; events of other kinds are not counted. */
CT_API uint64_t ct_edge_events_count(const struct ct_edge_events *events);

#ifdef __cplusplus
}
#endif
#endif
