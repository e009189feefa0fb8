/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/stream_events.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/ctx.h"

int ct_stream_events_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_stream_events **out)
{
    struct ct_stream_events *e = calloc(1, sizeof *e);
    if (!e)
        return ct_fail_nomem(ctx, "events");
    int rc = ct_events_new(ctx, source, &e->events);
    if (rc) {
        free(e);
        return rc;
    }
    *out = e;
    return CT_OK;
}

void ct_stream_events_free(struct ct_stream_events *e)
{
    if (!e)
        return;
    ct_events_free(e->events);
    free(e);
}

int ct_stream_events_give(struct ct_stream_events *e, const struct ct_stream *stream,
                          const struct ct_chain_sink *sink)
{
    struct ct_event_batch batch = ct_event_columns_batch(&e->columns);
    e->columns.count = e->columns.mark_count = 0;
    return batch.count || batch.mark_count ? sink->events(sink->user, stream, &batch) : 0;
}

/* Counts events that were added to the columns, and passes them to the receiver when the columns are full or
 * these are the `last` ones. */
static int put(struct ct_stream_events *e, size_t made, bool last, const struct ct_stream *stream,
               const struct ct_chain_sink *sink)
{
    ct_event_columns_add(&e->columns, e->made, made);
    return last || !ct_event_columns_have_room(&e->columns) ? ct_stream_events_give(e, stream, sink) : 0;
}

int ct_stream_events_add(struct ct_stream_events *e, const struct ct_stream *stream,
                         const struct ct_elem_batch *batch, const struct ct_chain_sink *sink)
{
    size_t done = 0;
    int rc = 0;
    while (!rc && done < batch->count) {
        size_t made;
        done += ct_events_from_elems(e->events, batch->elems + done, batch->count - done, batch->end, e->made,
                                     CT_COLUMNS_STEP, &made);
        rc = put(e, made, done == batch->count, stream, sink);
    }
    return rc;
}

int ct_stream_events_follow(struct ct_stream_events *e, const struct ct_stream *stream,
                            const struct ct_flow_batch *batch, const struct ct_chain_sink *sink)
{
    size_t done = 0;
    int rc = 0;
    ct_events_set_memory(e->events, batch->memory);
    while (!rc && done < batch->count) {
        size_t made;
        done += ct_events_from_flow(e->events, batch->records + done, batch->count - done, e->made,
                                    CT_COLUMNS_STEP, &made);
        rc = put(e, made, done == batch->count, stream, sink);
    }
    return rc;
}
