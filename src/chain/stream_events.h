/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the events of one trace ID from its elements or from flow records, in batches. */
#pragma once

#include "analysis/event_columns.h"
#include "coretap/decode.h"

struct ct_stream_events {
    struct ct_events *events;
    struct ct_event_columns columns;
    struct ct_event made[CT_COLUMNS_STEP];
};

/* Makes the object for a source. CT_ERR_NOMEM. */
int ct_stream_events_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_stream_events **out);
void ct_stream_events_free(struct ct_stream_events *events);

/* Passes the events in the columns to the receiver. Returns what the receiver returned. */
int ct_stream_events_give(struct ct_stream_events *events, const struct ct_stream *stream,
                          const struct ct_chain_sink *sink);

/* Makes events from a batch of elements and passes them to the receiver. */
int ct_stream_events_add(struct ct_stream_events *events, const struct ct_stream *stream,
                         const struct ct_elem_batch *batch, const struct ct_chain_sink *sink);

/* Makes events from a batch of flow records. One object is given elements or records, never both. */
int ct_stream_events_follow(struct ct_stream_events *events, const struct ct_stream *stream,
                            const struct ct_flow_batch *batch, const struct ct_chain_sink *sink);
