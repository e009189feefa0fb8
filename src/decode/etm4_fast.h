/* Bytes of an ETMv4 or ETE straight to elements: bursts of common packets, and the plain decoder and resolver for one
 * packet where something else comes. The elements are those of the plain layers, byte for byte. */
#ifndef CT_DECODE_ETM4_FAST_H
#define CT_DECODE_ETM4_FAST_H

#include "analysis/event_columns.h"
#include "decode/protocol.h"

struct ct_etm4_fast;

/* For the decoder and resolver of a stream, which are shared and not owned. *out is NULL when bursts are of no use to
 * the source: it traces speculation. CT_ERR_NOMEM. */
int ct_etm4_fast_new(struct ct_ctx *ctx, struct ct_etm4_decoder *decoder, struct ct_etm4_resolver *resolver,
                     struct ct_etm4_fast **out);
void ct_etm4_fast_free(struct ct_etm4_fast *fast);

/* The decoder and the resolver were reset. */
void ct_etm4_fast_reset(struct ct_etm4_fast *fast);

/* At most `cap` (at least CT_RESOLVE_MIN) elements with the offsets of their packets; result: how many. Packets
 * and elements are counted in `stats`. */
size_t ct_etm4_fast_run(struct ct_etm4_fast *fast, struct ct_work *work, struct ct_elem *elems, size_t cap,
                        struct ct_stream_stats *stats);

/* The same to events in columns, added as far as there is room. `events` is the state of the event stream. */
void ct_etm4_fast_events(struct ct_etm4_fast *fast, struct ct_work *work, struct ct_events *events,
                         struct ct_event_columns *columns, struct ct_stream_stats *stats);

#endif
